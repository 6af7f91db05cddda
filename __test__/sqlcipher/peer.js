'use strict';

// SQLCipher itself as a process: tests/sqlcipher-peer, which `npm run test:sqlcipher` builds and names in
// SEALITE_SQLCIPHER.

const assert = require('node:assert/strict');
const { spawnSync } = require('node:child_process');

const program = process.env.SEALITE_SQLCIPHER;

/**
 * Runs SQL on a file, one statement after the other, in a new process; gives the rows of each, as arrays.
 * The process closes the file, or with `ending` '.abort' dies with everything open.
 */
function sqlcipher(file, statements, ending = undefined) {
  const lines = ending ? [...statements, ending] : statements;
  const { stdout, status, signal, error } = spawnSync(program, [file], { input: `${lines.join('\n')}\n`, encoding: 'utf8' });
  assert.equal(error, undefined);
  if (ending) assert.equal(signal, 'SIGABRT');
  else assert.equal(status, 0);
  const answers = stdout.trim().split('\n').map((line) => JSON.parse(line));
  assert.equal(answers.length, statements.length);
  answers.forEach((answer, at) => assert.equal(answer.error, undefined, statements[at]));
  return answers;
}

/** The error of the last statement. */
function sqlcipherError(file, statements) {
  const { stdout } = spawnSync(program, [file], { input: `${statements.join('\n')}\n`, encoding: 'utf8' });
  return JSON.parse(stdout.trim().split('\n').at(-1)).error;
}

module.exports = { sqlcipher, sqlcipherError };
