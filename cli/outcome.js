'use strict';
// How a command can end: exit codes, and the errors that choose one.

const EXIT = {
  ok: 0,
  // Anything that is not named below: a full disk, a file that cannot be opened.
  failed: 1,
  usage: 2,
  // No key, or none that opens the file.
  key: 3,
  // `verify` found damage.
  damaged: 4,
  // Another connection has the file open or locked.
  inUse: 5,
};

/** An end of a command that the user is told in one line. */
class Failure extends Error {
  constructor(message, exitCode = EXIT.failed) {
    super(message);
    this.exitCode = exitCode;
  }
}

function exitCodeOf(error) {
  if (error.exitCode !== undefined) return error.exitCode;
  if (error.code === 'SQLITE_NOTADB') return EXIT.key;
  return /^SQLITE_(BUSY|LOCKED)/.test(error.code) ? EXIT.inUse : EXIT.failed;
}

function messageOf(error) {
  return error.code && String(error.code).startsWith('SQLITE_') ? `${error.message} (${error.code})` : error.message;
}

module.exports = { EXIT, Failure, exitCodeOf, messageOf };
