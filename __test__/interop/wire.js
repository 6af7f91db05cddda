'use strict';

// How values travel as JSON between a test and its child processes: bytes become {"$hex": "..."}.
// The two processes may run different versions of Node, so nothing engine-specific is used.

function encode(value) {
  if (ArrayBuffer.isView(value)) {
    return { $hex: Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex') };
  }
  if (Array.isArray(value)) return value.map(encode);
  if (value !== null && typeof value === 'object') return mapValues(value, encode);
  return value;
}

function decode(value) {
  if (Array.isArray(value)) return value.map(decode);
  if (value === null || typeof value !== 'object') return value;
  if (typeof value.$hex === 'string') return Buffer.from(value.$hex, 'hex');
  return mapValues(value, decode);
}

function mapValues(object, fn) {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, fn(value)]));
}

module.exports = { encode, decode };
