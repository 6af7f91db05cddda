'use strict';
// db.serialize({ attached }): the database as a Buffer, in clear. `new Database(buffer)` opens it.

const HANDLE = require('./handle');
const { attachedOption } = require('./options');

module.exports = function serialize(optionsGiven) {
  const options = optionsGiven == null ? {} : optionsGiven;
  if (typeof options !== 'object') throw new TypeError('Expected first argument to be an options object');
  return this[HANDLE].serialize(attachedOption(options));
};
