'use strict';
// Public entry: the Database constructor with its methods, and SqliteError. No logic: what a
// method does is in lib/<method>.js, what SQLite does is in the native addon.

const HANDLE = require('./lib/handle');
const SqliteError = require('./lib/sqlite-error');
const direct = require('./lib/direct');
const { key, rekey } = require('./lib/key');
const { loadBinding } = require('./lib/binding');
const { checkDirectory, checkOptions } = require('./lib/options');

function Database(filenameGiven, options) {
  if (new.target === undefined) return new Database(filenameGiven, options);
  const checked = checkOptions(filenameGiven, options);
  const binding = loadBinding(checked.nativeBinding);
  checkDirectory(checked);
  const { name, source, memory, readonly, fileMustExist, timeout, verbose, cipher } = checked;
  const handle = new binding.Database(source, readonly, fileMustExist, timeout, verbose, cipher);
  Object.defineProperties(this, {
    [HANDLE]: { value: handle },
    name: { get: () => name, enumerable: true },
    open: { get: () => handle.isOpen(), enumerable: true },
    inTransaction: { get: () => handle.inTransaction(), enumerable: true },
    readonly: { get: () => readonly, enumerable: true },
    memory: { get: () => memory, enumerable: true },
  });
}

Object.assign(Database.prototype, {
  prepare: direct.prepare,
  key,
  rekey,
  transaction: require('./lib/transaction'),
  pragma: require('./lib/pragma'),
  explain: require('./lib/explain'),
  function: require('./lib/function'),
  aggregate: require('./lib/aggregate'),
  table: require('./lib/table'),
  backup: require('./lib/backup'),
  serialize: require('./lib/serialize'),
  loadExtension: direct.loadExtension,
  exec: direct.exec,
  close: direct.close,
  defaultSafeIntegers: direct.defaultSafeIntegers,
  unsafeMode: direct.unsafeMode,
  [Symbol.for('nodejs.util.inspect.custom')]: require('./lib/inspect'),
});

if (Symbol.dispose) {
  Object.defineProperty(Database.prototype, Symbol.dispose, {
    value: function dispose() { direct.close.call(this); },
    writable: true,
    configurable: true,
  });
}

// Not enumerable, so that the constructor lists the same as in better-sqlite3.
Object.defineProperty(Database, 'keyCache', { value: require('./lib/key-cache'), writable: true, configurable: true });

module.exports = Database;
module.exports.SqliteError = SqliteError;
