'use strict';
// db.pragma(source, { simple }): runs one PRAGMA, gives its rows or its first value.

const HANDLE = require('./handle');
const { booleanOption } = require('./options');

module.exports = function pragma(source, optionsGiven) {
  const options = optionsGiven == null ? {} : optionsGiven;
  if (typeof source !== 'string') throw new TypeError('Expected first argument to be a string');
  if (typeof options !== 'object') throw new TypeError('Expected second argument to be an options object');
  const simple = booleanOption(options, 'simple');
  return this[HANDLE].pragma(`PRAGMA ${source}`, simple);
};
