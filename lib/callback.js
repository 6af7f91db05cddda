'use strict';
// What function, aggregate and table have in common: options, and how many arguments a function takes.

const { booleanOption } = require('./options');

const MAX_ARGUMENTS = 100;

// `safeIntegers` is undefined when the default of the database is to be used.
function functionOptions(options) {
  return {
    safeIntegers: 'safeIntegers' in options ? booleanOption(options, 'safeIntegers') : undefined,
    deterministic: booleanOption(options, 'deterministic'),
    directOnly: booleanOption(options, 'directOnly'),
    varargs: booleanOption(options, 'varargs'),
  };
}

// The length of a function may be redefined to anything.
function functionLength(length) {
  if (!Number.isInteger(length) || length < 0) {
    throw new TypeError('Expected function.length to be a positive integer');
  }
  return length;
}

function argumentCount(length) {
  if (functionLength(length) > MAX_ARGUMENTS) {
    throw new RangeError(`User-defined functions cannot have more than ${MAX_ARGUMENTS} arguments`);
  }
  return length;
}

module.exports = { functionOptions, functionLength, argumentCount };
