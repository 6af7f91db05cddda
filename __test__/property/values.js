'use strict';

// Hostile values for the property test, and what becomes of a value that is bound. What is done with
// them is in actions.js.

const { SqliteError, isPeer } = require('../support/database.js');

const NO_VALUE = [TypeError, 'SQLite3 can only bind numbers, strings, bigints, buffers, and null'];
const TOO_BIG = [RangeError, 'The bound string, buffer, or bigint is too big'];

const NUMBERS = [0, -0, 1, -1, 0.1, 2 ** 31, 2 ** 32, 2 ** 53, 2 ** 53 - 1, -(2 ** 53), 2 ** 63, -(2 ** 63), 2 ** 64, 5e-324,
  Number.MAX_VALUE, Infinity, -Infinity, NaN];
const BIGINTS = [0n, -1n, 2n ** 31n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n), 2n ** 63n, -(2n ** 63n) - 1n,
  2n ** 64n, -(2n ** 64n), 2n ** 1000n];
const STRINGS = ['', 'text', 'ä€😀', '\0', 'a\0b', '\ud800', '\udc00', 'a\udfffb\ud83d', '\u2028', '\ufeff', 'x'.repeat(70000), 'é'.repeat(20),
  "'", '__proto__', 'constructor', '1e999', '-'.repeat(33)];
const VIEWS = [Uint8Array, Uint8ClampedArray, Int8Array, Uint16Array, Int16Array, Uint32Array, Int32Array, Float32Array, Float64Array,
  BigInt64Array, BigUint64Array, DataView];

const bytesOf = (view) => Buffer.from(Buffer.from(view.buffer, view.byteOffset, view.byteLength));

/** What `select ?` gives for a value, or the error that binding it throws. */
function outcomeOf(value) {
  switch (typeof value) {
    case 'undefined': return { gives: null };
    case 'number': return { gives: Number.isNaN(value) ? null : value };
    case 'bigint': return BigInt.asIntN(64, value) === value ? { gives: value } : { throws: TOO_BIG };
    case 'string': return { gives: Buffer.from(value).toString() };
    case 'object':
      if (value === null) return { gives: null };
      if (isPeer && value instanceof DataView) return { throws: [Error, 'Invalid argument'] };
      if (ArrayBuffer.isView(value)) return value.byteLength > 536870888 ? { throws: TOO_BIG } : { gives: bytesOf(value) };
  }
  return { throws: NO_VALUE };
}

/** Makers of values. `chance` is the source of choices, `disturb` does something to the world. */
function makers(chance, disturb) {
  const { pick, upTo, odds } = chance;

  function view() {
    const View = pick(VIEWS);
    const memory = odds(4) ? new SharedArrayBuffer(64) : new ArrayBuffer(64);
    new Uint8Array(memory).forEach((_, at, bytes) => (bytes[at] = at * 37));
    return new View(memory, 8 * upTo(3), upTo(5));
  }

  function detached() {
    const value = new Uint8Array(new ArrayBuffer(32));
    structuredClone(value.buffer, { transfer: [value.buffer] });
    return value;
  }

  function resized() {
    const memory = new ArrayBuffer(64, { maxByteLength: 128 });
    const value = odds(2) ? new Uint8Array(memory) : new Uint8Array(memory, 16, 16);
    // Node 18 has no resizable memory.
    memory.resize?.(pick([0, 8, 40, 128]));
    return value;
  }

  // Memory that is never touched takes none.
  const huge = () => new Uint8Array(new ArrayBuffer(pick([2 ** 29, 2 ** 31, 2 ** 31 + 1, 2 ** 32])));

  const buffer = () => Buffer.from(Array.from({ length: upTo(40) }, () => upTo(256)));

  function plain() {
    const simple = [() => pick(NUMBERS), () => pick(NUMBERS), () => pick(BIGINTS), () => pick(STRINGS), () => pick(STRINGS), buffer, view, view,
      detached, resized, () => null, () => undefined, () => true, () => Symbol('s'), () => Symbol.iterator, () => new Date(NaN), () => /x/,
      () => new Map(), () => Object(1), () => Object('s'), () => Object(1n), () => new ArrayBuffer(8), () => Promise.resolve(1), () => () => 1,
      () => new (class Point { x = 1; })(), () => new SqliteError('x', 'y'), () => new Proxy(new Uint8Array(4), {}), () => new Proxy(() => 1, {})];
    return odds(1500) ? huge() : pick(simple)();
  }

  /** A value that can be bound. */
  const bindable = () => pick([() => pick(NUMBERS), () => pick(BIGINTS.slice(0, 7)), () => pick(STRINGS), buffer, view, () => null])();

  /** An object that does something whenever it is looked at. */
  function proxy(target) {
    const trap = (name) => (...args) => {
      disturb();
      return Reflect[name](...args);
    };
    const names = ['get', 'has', 'getOwnPropertyDescriptor', 'ownKeys', 'getPrototypeOf', 'set', 'defineProperty', 'apply', 'construct'];
    return new Proxy(target, Object.fromEntries(names.map((name) => [name, trap(name)])));
  }

  function withGetters(keys) {
    const object = odds(3) ? Object.create(null) : {};
    for (const key of keys) {
      const value = plain();
      if (odds(3)) object[key] = value;
      else Object.defineProperty(object, key, { get() { disturb(); return value; }, enumerable: odds(2), configurable: true });
    }
    return object;
  }

  function named() {
    const object = withGetters(['a', 'b', '1', '2', ...(odds(4) ? ['__proto__'] : [])].filter(() => !odds(8)));
    return odds(4) ? proxy(object) : object;
  }

  function list() {
    const array = Array.from({ length: upTo(5) }, plain);
    if (odds(4)) delete array[0];
    if (odds(6)) array.length = pick([0, 1, 3, 100]);
    if (odds(4)) {
      const value = plain();
      Object.defineProperty(array, upTo(3), { get() { disturb(); if (odds(3)) array.length = upTo(4); return value; }, configurable: true });
    }
    return odds(6) ? proxy(array) : array;
  }

  /** Converts itself to anything, and does something then. */
  function converting() {
    const convert = () => { disturb(); return pick(['select 1', '', 'x', 5]); };
    return { toString: convert, valueOf: convert, [Symbol.toPrimitive]: odds(2) ? convert : undefined, then: odds(3) ? convert : undefined };
  }

  const any = () => pick([plain, plain, plain, named, list, converting, () => proxy(odds(2) ? {} : () => plain())])();
  const args = () => Array.from({ length: pick([0, 1, 1, 1, 2, 2, 3]) }, () => pick([plain, plain, named, list, any])());

  return { plain, bindable, any, args, named, list, buffer, converting, proxy };
}

module.exports = { makers, outcomeOf, STRINGS };
