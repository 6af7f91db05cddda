'use strict';
// db.transaction(fn): a function that runs `fn` inside BEGIN … COMMIT, or inside a savepoint when
// a transaction is open already. Its variants differ in their BEGIN.

const HANDLE = require('./handle');

const SAVEPOINT = '`\t_bs3.\t`';

// The statements of each database, prepared once.
const statementsOf = new WeakMap();

module.exports = function transaction(fn) {
  if (typeof fn !== 'function') throw new TypeError('Expected first argument to be a function');
  const statements = prepareStatements(this);
  const variants = {
    default: { value: variant(fn, this, statements, statements.begin) },
    deferred: { value: variant(fn, this, statements, statements.beginDeferred) },
    immediate: { value: variant(fn, this, statements, statements.beginImmediate) },
    exclusive: { value: variant(fn, this, statements, statements.beginExclusive) },
    database: { value: this, enumerable: true },
  };
  for (const name of ['default', 'deferred', 'immediate', 'exclusive']) {
    Object.defineProperties(variants[name].value, variants);
  }
  return variants.default.value;
};

function prepareStatements(db) {
  const known = statementsOf.get(db);
  if (known !== undefined) return known;
  const prepare = (sql) => db[HANDLE].prepare(sql, db);
  const statements = {
    begin: prepare('BEGIN'),
    beginDeferred: prepare('BEGIN DEFERRED'),
    beginImmediate: prepare('BEGIN IMMEDIATE'),
    beginExclusive: prepare('BEGIN EXCLUSIVE'),
    commit: prepare('COMMIT'),
    rollback: prepare('ROLLBACK'),
    savepoint: prepare(`SAVEPOINT ${SAVEPOINT}`),
    release: prepare(`RELEASE ${SAVEPOINT}`),
    rollbackTo: prepare(`ROLLBACK TO ${SAVEPOINT}`),
  };
  statementsOf.set(db, statements);
  return statements;
}

function variant(fn, db, statements, begin) {
  return function sqliteTransaction(...args) {
    const nested = db[HANDLE].inTransaction();
    const start = nested ? statements.savepoint : begin;
    const finish = nested ? statements.release : statements.commit;
    start.run();
    try {
      const result = Reflect.apply(fn, this, args);
      if (result && typeof result.then === 'function') {
        throw new TypeError('Transaction function cannot return a promise');
      }
      finish.run();
      return result;
    } catch (error) {
      undo(db, statements, nested);
      throw error;
    }
  };
}

// Nothing is left to undo when SQLite or the function ended the transaction itself.
function undo(db, statements, nested) {
  if (!db[HANDLE].inTransaction()) return;
  if (nested) {
    statements.rollbackTo.run();
    statements.release.run();
  } else {
    statements.rollback.run();
  }
}
