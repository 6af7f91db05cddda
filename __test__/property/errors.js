'use strict';

// Which errors may come out of a call, whatever is done to it: those of the contract, those of the
// language for what the caller did, and what the caller's own code threw. Anything else is a fault.

const path = require('node:path');
const { SqliteError, modulePath } = require('../support/database.js');

/** The messages of the library, without those of SqliteErrors. */
const MESSAGES = [
  /^Expected (the "\w+" option|first argument|second argument|last argument|function\.length|the key|progress callback) to (be|return) /, /^The "(key|cipher)" option (cannot be empty|needs a "key")$/,
  /^Option "timeout" cannot be greater than/, /^(Misspelled option|Option "memory" was removed)/,
  /^In-memory\/temporary databases cannot be readonly$/, /^Cannot (open database|save backup) because the directory does not exist$/,
  /^A database file name cannot contain a NUL character$/,
  /^The database connection is not open$/, /^This (database connection|statement) is busy executing a query$/,
  /^Too many active database iterators$/, /^The supplied SQL string contains (no statements|more than one statement)$/,
  /^Statements can only be constructed by the db\.prepare\(\) method$/, /^Disabled constructor$/, /^Illegal invocation$/,
  /^This statement (does not return data\. Use run\(\) instead|already has bound parameters)$/,
  /^The \w+\(\) method (is only for statements that return data|can only be invoked once per statement object)$/,
  /^SQLite3 can only bind numbers, strings, bigints, buffers, and null$/, /^The bound string, buffer, or bigint is too big$/,
  /^Too (few|many) parameter values were provided$/, /^Missing named parameters?( "[^]*")?$/, /^You cannot specify named parameters in two different objects$/,
  /^Named parameters can only be passed within plain objects$/, /^Transaction function cannot return a promise$/,
  /^User-defined function/, /^Missing required option "step"$/, /^Virtual table module /,
  /^Backup filename cannot be an empty string$/, /^Invalid backup filename/, /^The "attached" option cannot be an empty string$/,
  /^Class constructor \w+ cannot be invoked without 'new'$/, /^binding\.initialize is not a function$/,
];

/** Codes that say that the library used SQLite wrongly, or failed without a reason. */
const FAULTY_CODES = /^(SQLITE_(OK|MISUSE|INTERNAL|ROW|DONE|RANGE|NOMEM)|UNKNOWN_SQLITE_ERROR_.*|SQLITE_CORRUPT.*|SQLITE_IOERR.*)$/;

/** Why `error` may not have been thrown, or undefined. `own` are the values that the caller's code threw. */
function faultIn(error, own, place) {
  if (own.has(error)) return undefined;
  // Two backups to the same new file: the one that fails deletes it under the other.
  if (place === 'backup' && error?.code === 'SQLITE_IOERR_FSTAT') return undefined;
  if (error instanceof SqliteError) return faultInSqlite(error);
  if (!(error instanceof Error)) return 'a value that nobody threw';
  if (Object.hasOwn(error, 'code') && !/^(ERR_|MODULE_NOT_FOUND$)/.test(error.code)) return `code ${String(error.code)} on ${error.name}`;
  // Node's, for a nativeBinding that does not exist.
  if (error.code === 'MODULE_NOT_FOUND') return undefined;
  const { message } = error;
  if (MESSAGES.some((known) => known.test(message))) {
    return error instanceof TypeError || error instanceof RangeError ? undefined : `class ${error.name}`;
  }
  // The language's own errors are right for what the caller's objects do; in our files they are faults.
  const top = String(error.stack).split('\n').find((line) => /^ {4}at /.test(line)) ?? '';
  const inside = top.includes(path.join(modulePath, 'lib')) || top.includes(path.join(modulePath, 'index.js'));
  if (error.constructor === Error || inside) return `an error that the contract does not know (${top.trim()})`;
  return undefined;
}

function faultInSqlite({ code, message }) {
  if (typeof code !== 'string' || FAULTY_CODES.test(code)) return `code ${String(code)}`;
  if (message === '' || message === 'not an error' || message === 'bad parameter or other API misuse') return 'a message without a reason';
  return undefined;
}

module.exports = { faultIn };
