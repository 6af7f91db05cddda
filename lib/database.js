'use strict';
// Makes a Database constructor over one source of the native addon: the default entry and those for
// one platform each have their own. No logic: what a method does is in lib/<method>.js, what SQLite
// does is in the native addon, and which addon that is, `load` says.

const HANDLE = require('./handle');
const createInspect = require('./database-inspect');
const createKeyCache = require('./key-cache');
const direct = require('./direct');
const { key, rekey } = require('./key');
const { checkDirectory, checkOptions } = require('./options');
const prepareBinding = require('./prepare-binding');

const METHODS = {
  prepare: direct.prepare,
  key,
  rekey,
  transaction: require('./transaction'),
  pragma: require('./pragma'),
  explain: require('./explain'),
  function: require('./function'),
  aggregate: require('./aggregate'),
  table: require('./table'),
  backup: require('./backup'),
  serialize: require('./serialize'),
  loadExtension: direct.loadExtension,
  exec: direct.exec,
  close: direct.close,
  defaultSafeIntegers: direct.defaultSafeIntegers,
  unsafeMode: direct.unsafeMode,
  [Symbol.for('nodejs.util.inspect.custom')]: require('./inspect'),
};

// `loadAddon` gets the option `nativeBinding`; with `fixed` that option is refused.
module.exports = function createDatabase(loadAddon, { fixed = false } = {}) {
  const load = (nativeBinding) => prepareBinding(loadAddon(nativeBinding));

  function Database(filenameGiven, options) {
    if (new.target === undefined) return new Database(filenameGiven, options);
    const checked = checkOptions(filenameGiven, options, { fixed });
    const binding = load(checked.nativeBinding);
    checkDirectory(checked);
    const { name, source, memory, readonly, fileMustExist, timeout, verbose, cipher, uri } = checked;
    const handle = new binding.Database(source, readonly, fileMustExist, timeout, verbose, cipher, uri);
    Object.defineProperties(this, {
      [HANDLE]: { value: handle },
      name: { get: () => name, enumerable: true },
      open: { get: () => handle.isOpen(), enumerable: true },
      inTransaction: { get: () => handle.inTransaction(), enumerable: true },
      readonly: { get: () => readonly, enumerable: true },
      memory: { get: () => memory, enumerable: true },
    });
  }

  Object.assign(Database.prototype, METHODS);
  // Not enumerable: SqliteError alone is (C-1.1).
  for (const statics of [createInspect(load), createKeyCache(load)]) {
    Object.defineProperty(Database, statics.name, { value: statics, writable: true, configurable: true });
  }
  if (Symbol.dispose) {
    Object.defineProperty(Database.prototype, Symbol.dispose, { value: dispose, writable: true, configurable: true });
  }
  return Database;
};

function dispose() {
  direct.close.call(this);
}
