'use strict';
// Functions that build row objects with literal shapes, for the native side to call.
//
// `rowBuilders(names)` gives `row(values…)`, which returns one object, and
// `rows(array, at, values…)`, which puts `batchLength` objects into an array; or null when these
// names need defining one by one, or when code generation is forbidden in this process.

const MAX_VALUES = 64;
const MAX_BATCH = 16;
const MAX_KNOWN = 500;

const known = new Map();

function rowBuilders(names) {
  const key = JSON.stringify(names);
  let builders = known.get(key);
  if (builders === undefined) {
    builders = make(names);
    if (known.size === MAX_KNOWN) known.clear();
    known.set(key, builders);
  }
  return builders;
}

function make(names) {
  if (new Set(names).size !== names.length || names.includes('__proto__')) return null;
  const batchLength = Math.max(1, Math.min(MAX_BATCH, Math.floor(MAX_VALUES / names.length)));
  try {
    return {
      row: new Function(...parameters(names, 0), `'use strict'; return ${literal(names, 0)};`),
      rows: batchBuilder(names, batchLength),
      batchLength,
    };
  } catch (error) {
    if (error instanceof EvalError) return null;
    throw error;
  }
}

function batchBuilder(names, batchLength) {
  const all = [];
  const lines = [];
  for (let index = 0; index < batchLength; index += 1) {
    all.push(...parameters(names, index));
    lines.push(`array[at + ${index}] = ${literal(names, index)};`);
  }
  return new Function('array', 'at', ...all, `'use strict'; ${lines.join(' ')}`);
}

const parameters = (names, row) => names.map((_, column) => `v${row}_${column}`);

const literal = (names, row) =>
  `{ ${names.map((name, column) => `${JSON.stringify(name)}: v${row}_${column}`).join(', ')} }`;

const runResult = (changes, lastInsertRowid) => ({ changes, lastInsertRowid });

const iteratorResult = (value, done) => ({ value, done });

module.exports = { rowBuilders, runResult, iteratorResult };
