'use strict';
// Database.keyCache({ entries, ttl }): keeps derived keys for the whole process; null erases them and
// switches it off. The keys are in the native addon, and JavaScript never sees one.

const MAX_ENTRIES = 1024;
const MAX_TTL = 24 * 60 * 60 * 1000;

module.exports = (load) => function keyCache(options) {
  if (options === null) return load(null).keyCache(0, 0);
  if (typeof options !== 'object') throw new TypeError('Expected the first argument to be an options object or null');
  const { entries = 16, ttl = 60000 } = options;
  check('entries', entries, MAX_ENTRIES);
  check('ttl', ttl, MAX_TTL);
  return load(null).keyCache(entries, ttl);
};

function check(name, value, max) {
  if (typeof value !== 'number') throw new TypeError(`Expected the "${name}" option to be a number`);
  if (!Number.isInteger(value) || value < 1 || value > max) {
    throw new RangeError(`Expected the "${name}" option to be a whole number from 1 to ${max}`);
  }
}
