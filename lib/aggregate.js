'use strict';
// db.aggregate(name, options): makes a function of many rows known to SQL.

const HANDLE = require('./handle');
const { argumentCount, functionLength, functionOptions } = require('./callback');

module.exports = function defineAggregate(name, options) {
  if (typeof name !== 'string') throw new TypeError('Expected first argument to be a string');
  if (typeof options !== 'object' || options === null) {
    throw new TypeError('Expected second argument to be an options object');
  }
  if (name === '') throw new TypeError('User-defined function name cannot be an empty string');

  const start = 'start' in options ? options.start : null;
  const step = callbackOption(options, 'step');
  if (step === null) throw new TypeError('Missing required option "step"');
  const inverse = callbackOption(options, 'inverse');
  const result = callbackOption(options, 'result');
  const { safeIntegers, deterministic, directOnly, varargs } = functionOptions(options);
  const count = varargs ? -1 : stepCount(step, inverse);

  const callbacks = [typeof start === 'function' ? start : () => start, step, inverse, result];
  this[HANDLE].aggregate(name, count, callbacks, safeIntegers, deterministic, directOnly);
  return this;
};

function callbackOption(options, key) {
  const value = key in options ? options[key] : null;
  if (value == null) return null;
  if (typeof value !== 'function') throw new TypeError(`Expected the "${key}" option to be a function`);
  return value;
}

// The first parameter is the accumulator.
function stepCount(step, inverse) {
  const lengths = inverse === null ? [step] : [step, inverse];
  return argumentCount(Math.max(1, ...lengths.map((fn) => functionLength(fn.length))) - 1);
}
