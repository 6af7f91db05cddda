'use strict';
// Builds rows for the native side to call: from values, or from batches that it packed.
//
// A batch is cells in memory that both sides see, plus one string with the short texts of all its
// rows, so that a row costs no calls between the two. What goes into a cell is in
// `src/js/packed.rs`. Statements that give many rows get generated code with literal shapes; where
// code generation is forbidden, loops do.
//
// Nothing here runs code that others may have put on the prototypes: methods are taken once, and
// elements are defined where a prototype has a setter for them.

const MAX_KNOWN = 500;

// As in `src/js/packed.rs`.
const CELL_COUNT = 1024;
const INTEGER = 1;
const REAL = 2;
const TEXT = 3;
const BIGINT = 4;
const OTHER = 5;

const NOTHING = 0;

// The cells, their kinds, and what a method left here instead of making it.
const memory = new ArrayBuffer(CELL_COUNT * 9 + 4);
const integers = new Int32Array(memory, 0, CELL_COUNT * 2);
const reals = new Float64Array(memory, 0, CELL_COUNT);
const bigints = new BigInt64Array(memory, 0, CELL_COUNT);
const kinds = new Uint8Array(memory, CELL_COUNT * 8, CELL_COUNT);
const left = new Int32Array(memory, CELL_COUNT * 9, 1);

const { defineProperty } = Object;
const { apply } = Reflect;
const substring = Function.prototype.call.bind(String.prototype.substring);
// Nothing changes it. Not frozen: that takes `in` off its fast way.
const NO_ELEMENTS = [];
const NO_PROPERTIES = Object.freeze({});

const known = new Map();
const readers = new WeakMap();
const readerOf = Function.prototype.call.bind(WeakMap.prototype.get, readers);

// `row(values…)` gives one row of the shape 'flat'; or null.
function rowBuilder(names) {
  return remembered(`row ${JSON.stringify(names)}`, () => {
    const values = names.map((_, column) => `v${column}`);
    return generated(values, `return ${literal('flat', names, values)};`);
  });
}

// Has `get` of the statement make its rows from the memory; whether it can.
function readOne(statement, names) {
  const reader = remembered(`one ${JSON.stringify(names)}`, () => {
    const cells = names.map((_, column) => cellCode(0, column));
    const make = generated(
      ['kinds', 'integers', 'substring', 'cell'],
      `return (text, others) => (${literal('flat', names, cells)});`,
    );
    return make && make(kinds, integers, substring, cell);
  });
  if (reader) readers.set(statement, reader);
  return reader !== null;
}

// Takes the place of native methods: a native method that calls a function to make its result costs
// far more than one that leaves the parts for its caller.
function finishHere(prototype) {
  const { get, run } = prototype;
  const methods = {
    get() {
      const value = apply(get, this, arguments);
      if (left[0] === NOTHING) return value;
      left[0] = NOTHING;
      return readerOf(this)(value);
    },
    run() {
      // It gives nothing, but what another copy of this file has finished.
      return apply(run, this, arguments) ?? { changes: cell(0), lastInsertRowid: cell(1) };
    },
  };
  for (const name of ['get', 'run']) {
    defineProperty(prototype, name, { __proto__: null, value: methods[name], writable: true, enumerable: true, configurable: true });
  }
}

// `rows(array, count, text, others…)` appends `count` rows of the shape 'flat', 'raw' or 'pluck'
// from the memory to the array.
function rowsBuilder(shape, names, often) {
  if (shape === 'pluck') return plucked;
  return (often && generatedRows(shape, names)) || (shape === 'raw' ? arrays(names.length) : objects(names));
}

function generatedRows(shape, names) {
  const key = shape === 'raw' ? `raw ${names.length}` : `rows ${JSON.stringify(names)}`;
  return remembered(key, () => {
    const cells = names.map((_, column) => cellCode('k', column));
    const make = generated(
      ['kinds', 'integers', 'substring', 'cell', 'NO_ELEMENTS', 'define'],
      `return ((array, count, text, ...others) => {
        let at = array.length;
        for (let k = 0, end = count * ${names.length}; k !== end; k += ${names.length}, at += 1) {
          const row = ${literal(shape, names, cells)};
          if (at in NO_ELEMENTS) define(array, at, row); else array[at] = row;
        }
      });`,
    );
    return make && make(kinds, integers, substring, cell, NO_ELEMENTS, define);
  });
}

const cellCode = (k, column) => `(kinds[${k} + ${column}] === ${INTEGER}
  ? integers[2 * ${k} + ${2 * column}] : kinds[${k} + ${column}] === ${TEXT}
  ? substring(text, integers[2 * ${k} + ${2 * column}], integers[2 * ${k} + ${2 * column + 1}])
  : cell(${k} + ${column}, text, others))`;

function plucked(array, count, text, ...others) {
  for (let k = 0, at = array.length; k !== count; k += 1, at += 1) add(array, at, cell(k, text, others));
}

const arrays = (width) => function rows(array, count, text, ...others) {
  for (let k = 0, at = array.length, end = count * width; k !== end; at += 1) {
    const row = [];
    for (let column = 0; column !== width; column += 1, k += 1) add(row, column, cell(k, text, others));
    add(array, at, row);
  }
};

const objects = (names) => function rows(array, count, text, ...others) {
  // What Object.prototype has, be it a setter or `__proto__`, must be defined.
  const put = names.some((name) => name in NO_PROPERTIES) ? define : assign;
  for (let k = 0, at = array.length, end = count * names.length; k !== end; at += 1) {
    const row = {};
    for (let column = 0; column !== names.length; column += 1, k += 1) put(row, names[column], cell(k, text, others));
    add(array, at, row);
  }
};

// Appends rows that are made already.
function append(array, ...rows) {
  for (let index = 0, at = array.length; index !== rows.length; index += 1, at += 1) add(array, at, rows[index]);
}

function cell(k, text, others) {
  switch (kinds[k]) {
    case TEXT: return substring(text, integers[2 * k], integers[2 * k + 1]);
    case INTEGER: return integers[2 * k];
    case REAL: return reals[k];
    case BIGINT: return bigints[k];
    case OTHER: return others[integers[2 * k]];
    default: return null;
  }
}

// Apart from `assign`, so that V8 sees nothing but elements here.
function add(array, at, value) {
  if (at in NO_ELEMENTS) define(array, at, value);
  else array[at] = value;
}

function define(target, name, value) {
  defineProperty(target, name, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
}

function assign(target, name, value) {
  target[name] = value;
}

function remembered(key, make) {
  let builder = known.get(key);
  if (builder === undefined) {
    builder = make();
    if (known.size === MAX_KNOWN) known.clear();
    known.set(key, builder);
  }
  return builder;
}

function generated(parameters, body) {
  try {
    return new Function(...parameters, `'use strict'; ${body}`);
  } catch (error) {
    if (error instanceof EvalError) return null;
    throw error;
  }
}

function literal(shape, names, values) {
  if (shape === 'raw') return `[${values.join(', ')}]`;
  return `{ ${names.map((name, column) => `${key(name)}: ${values[column]}`).join(', ')} }`;
}

// In brackets it is an own property like any other.
const key = (name) => (name === '__proto__' ? '["__proto__"]' : JSON.stringify(name));

// An array of the arguments, whatever setters Array.prototype has.
const list = (...values) => values;

// Gives a new statement its own properties.
function describe(statement, reader, readonly, source, database, busy) {
  defineProperty(statement, 'reader', fixed(reader));
  defineProperty(statement, 'readonly', fixed(readonly));
  defineProperty(statement, 'source', fixed(source));
  defineProperty(statement, 'database', fixed(database));
  return defineProperty(statement, 'busy', { __proto__: null, get: busy, enumerable: true });
}

const fixed = (value) => ({ __proto__: null, value, enumerable: true });

const iteratorResult = (value, done) => ({ value, done });

module.exports = { memory, rowBuilder, rowsBuilder, readOne, append, list, describe, iteratorResult, finishHere };
