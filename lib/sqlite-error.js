'use strict';
// class SqliteError: an Error whose `code` is the name of SQLite's extended result code.
// A function and not a class, because it may be called without `new`.

function SqliteError(message, code) {
  const target = new.target === undefined ? SqliteError : new.target;
  if (typeof code !== 'string') {
    throw new TypeError('Expected second argument to be a string');
  }
  const error = Reflect.construct(Error, ['' + message], target);
  // Not assigned: a setter on a prototype would take it.
  Object.defineProperty(error, 'code', { value: code, writable: true, enumerable: true, configurable: true });
  if (typeof Error.captureStackTrace === 'function') {
    Error.captureStackTrace(error, target);
  }
  return error;
}

Object.setPrototypeOf(SqliteError, Error);
Object.defineProperty(SqliteError, 'prototype', {
  value: Object.create(Error.prototype, {
    constructor: { value: SqliteError, writable: true, configurable: true },
    name: { value: 'SqliteError', writable: true, configurable: true },
  }),
  writable: false,
});

module.exports = SqliteError;
