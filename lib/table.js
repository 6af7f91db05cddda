'use strict';
// db.table(name, definition | factory): makes a generator function a table of SQL.
//
// Here definitions are checked and rows are brought into the order of the columns; SQLite is answered
// by the native side, which gets a function that makes definitions: one for a table that has the name
// of its module, one per CREATE VIRTUAL TABLE from a factory.

const HANDLE = require('./handle');
const { functionLength } = require('./callback');

const MAX_PARAMETERS = 32;
const GeneratorFunctionPrototype = Object.getPrototypeOf(function* () {});

module.exports = function defineTable(name, source) {
  if (typeof name !== 'string') throw new TypeError('Expected first argument to be a string');
  if (name === '') throw new TypeError('Virtual table module name cannot be an empty string');
  const isFactory = typeof source === 'function';
  if (!isFactory && (typeof source !== 'object' || source === null)) {
    throw new TypeError('Expected second argument to be a function or a table definition object');
  }
  const define = isFactory ? factoryOf(source, name) : always(read(source, 'used', name));
  this[HANDLE].table(name, define, !isFactory);
  return this;
};

const always = (definition) => () => definition;

function factoryOf(factory, moduleName) {
  return (module, database, table, ...args) => {
    const definition = Reflect.apply(factory, { module, database, table }, args);
    if (typeof definition !== 'object' || definition === null) {
      throw new TypeError(`Virtual table module "${moduleName}" did not return a table definition object`);
    }
    return read(definition, 'returned', moduleName);
  };
}

// Checks a definition and gives what the native side needs of it.
function read(definition, verb, moduleName) {
  const own = (key) => Object.prototype.hasOwnProperty.call(definition, key);
  const complain = (problem, Class = TypeError) => {
    throw new Class(`Virtual table module "${moduleName}" ${verb} a table definition ${problem}`);
  };
  const optionalBoolean = (key) => {
    if (!own(key)) return undefined;
    const value = definition[key];
    if (typeof value !== 'boolean') complain(`with an invalid "${key}" property (should be a boolean)`);
    return value;
  };

  if (!own('rows')) complain('without a "rows" property');
  if (!own('columns')) complain('without a "columns" property');
  const { rows } = definition;
  if (typeof rows !== 'function' || Object.getPrototypeOf(rows) !== GeneratorFunctionPrototype) {
    complain('with an invalid "rows" property (should be a generator function)');
  }
  const columns = columnsOf(definition, complain);
  const parameters = parametersOf(definition, own('parameters'), complain);
  const both = parameters.find((name) => columns.includes(name));
  if (both !== undefined) complain(`with column "${both}" which was ambiguously defined as both a column and parameter`);
  const safeIntegers = optionalBoolean('safeIntegers');
  const directOnly = optionalBoolean('directOnly') === true;
  return {
    declaration: declaration(parameters, columns), parameters, safeIntegers, directOnly, scan: scanner(rows, columns, moduleName),
  };
}

function columnsOf({ columns: given }, complain) {
  const columns = copyOfStrings(given);
  if (columns === null) complain('with an invalid "columns" property (should be an array of strings)');
  if (new Set(columns).size !== columns.length) complain('with duplicate column names');
  if (columns.length === 0) complain('with zero columns', RangeError);
  return columns;
}

function parametersOf(definition, isGiven, complain) {
  const parameters = isGiven ? copyOfStrings(definition.parameters) : numbered(functionLength(definition.rows.length));
  if (parameters === null) complain('with an invalid "parameters" property (should be an array of strings)');
  if (new Set(parameters).size !== parameters.length) complain('with duplicate parameter names');
  if (parameters.length > MAX_PARAMETERS) complain(`with more than the maximum number of ${MAX_PARAMETERS} parameters`, RangeError);
  return parameters;
}

// A longer list is refused anyway.
const numbered = (count) => Array.from({ length: Math.min(count, MAX_PARAMETERS + 1) }, (_, index) => `$${index + 1}`);

// Null for anything but an array of strings; holes are no strings.
function copyOfStrings(value) {
  if (!Array.isArray(value)) return null;
  const copy = [];
  for (let index = 0; index < value.length; index += 1) {
    const item = value[index];
    if (typeof item !== 'string') return null;
    // Not assigned: a setter on Array.prototype would take it.
    Object.defineProperty(copy, index, { value: item, writable: true, enumerable: true, configurable: true });
  }
  return copy;
}

function declaration(parameters, columns) {
  const quoted = (name) => `"${name.replace(/"/g, '""')}"`;
  const hidden = parameters.map((name) => `${quoted(name)} HIDDEN`);
  return `CREATE TABLE x(${[...hidden, ...columns.map(quoted)].join(', ')})`;
}

// `scan(...parameters)` starts the generator and gives `next()`: an array of columns, or undefined at the end.
function scanner(rows, columns, moduleName) {
  const places = new Map(columns.map((name, index) => [name, index]));
  const complain = (problem) => {
    throw new TypeError(`Virtual table module "${moduleName}" yielded ${problem}`);
  };
  const inOrder = (row) => {
    // Every place of the copy gets its value, or the row is refused.
    const values = columns.slice();
    const keys = Object.keys(row);
    for (const key of keys) {
      const at = places.get(key);
      if (at === undefined) complain(`a row with an undeclared column "${key}"`);
      values[at] = row[key];
    }
    if (keys.length < columns.length) complain('a row with missing columns');
    return values;
  };
  const valuesOf = (row) => {
    if (Array.isArray(row)) {
      if (row.length !== columns.length) complain('a row with an incorrect number of columns');
      return row;
    }
    if (typeof row !== 'object' || row === null) complain("something that isn't a valid row object");
    return inOrder(row);
  };
  return (...parameters) => {
    const generator = Reflect.apply(rows, undefined, parameters);
    return () => {
      const { value, done } = generator.next();
      return done ? undefined : valuesOf(value);
    };
  };
}
