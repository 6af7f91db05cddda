'use strict';
// db.function(name, options, fn): makes a JavaScript function known to SQL.

const HANDLE = require('./handle');
const { argumentCount, functionOptions } = require('./callback');

module.exports = function defineFunction(name, optionsGiven, fnGiven) {
  let options = optionsGiven == null ? {} : optionsGiven;
  let fn = fnGiven;
  if (typeof options === 'function') {
    fn = options;
    options = {};
  }
  if (typeof name !== 'string') throw new TypeError('Expected first argument to be a string');
  if (typeof fn !== 'function') throw new TypeError('Expected last argument to be a function');
  if (typeof options !== 'object') throw new TypeError('Expected second argument to be an options object');
  if (name === '') throw new TypeError('User-defined function name cannot be an empty string');

  const { safeIntegers, deterministic, directOnly, varargs } = functionOptions(options);
  const count = varargs ? -1 : argumentCount(fn.length);
  this[HANDLE].function(name, count, fn, safeIntegers, deterministic, directOnly);
  return this;
};
