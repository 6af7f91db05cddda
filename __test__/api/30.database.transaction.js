'use strict';

// transaction() (C-22).

const test = require('node:test');
const assert = require('node:assert/strict');
const {
  SqliteError, open, openFile, throwsLike, throwsBusy, throwsOpen, thrownBy,
} = require('../support/database.js');

const VARIANTS = ['default', 'deferred', 'immediate', 'exclusive'];
const SAVEPOINT = '`\t_bs3.\t`';

/** A database with table t, and a log of the statements it executed since. */
function logged(t) {
  const log = [];
  const db = openFile(t, { verbose: (sql) => log.push(sql) }).exec('CREATE TABLE t (x UNIQUE)');
  log.length = 0;
  return { db, log, insert: db.prepare('INSERT INTO t VALUES (?)'), rows: () => db.prepare('select x from t').pluck().all() };
}

test('the argument must be a function (C-22.1)', (t) => {
  const db = open(t);
  for (const fn of [undefined, null, 5, 'x', {}, [], Symbol('x')]) {
    throwsLike(() => db.transaction(fn), TypeError, 'Expected first argument to be a function');
  }
});

test('it gives a new function with its variants (C-22.1)', (t) => {
  const db = open(t);
  const fn = () => {};
  const transaction = db.transaction(fn);
  assert.notEqual(transaction, fn);
  assert.notEqual(transaction, db.transaction(fn));
  assert.equal(transaction.default, transaction);
  assert.equal(new Set(VARIANTS.map((name) => transaction[name])).size, 4);
  for (const variant of VARIANTS.map((name) => transaction[name])) {
    assert.equal(typeof variant, 'function');
    assert.equal(variant.name, 'sqliteTransaction');
    assert.equal(variant.length, 0);
    for (const name of VARIANTS) {
      const { value, writable, enumerable, configurable } = Object.getOwnPropertyDescriptor(variant, name);
      assert.deepEqual([value, writable, enumerable, configurable], [transaction[name], false, false, false]);
    }
    const database = Object.getOwnPropertyDescriptor(variant, 'database');
    assert.deepEqual(database, { value: db, writable: false, enumerable: true, configurable: false });
    for (const name of ['run', 'get', 'all', 'iterate', 'reader', 'source']) assert.equal(name in variant, false);
  }
});

test('a closed database refuses the first one (C-22.2)', (t) => {
  const db = open(t);
  db.close();
  throwsOpen(() => db.transaction(() => {}));
});

test('a later one can be made in any state, calling it needs an open database (C-21.1)', (t) => {
  let inside = null;
  const db = open(t, ':memory:', { verbose: () => inside && inside() });
  const first = db.transaction(() => 5);
  inside = () => {
    assert.equal(typeof db.transaction(() => {}), 'function');
    throwsBusy(() => first());
  };
  db.exec('select 1');
  inside = null;
  db.close();
  const late = db.transaction(() => 6);
  throwsOpen(() => first());
  throwsOpen(() => late());
});

for (const [name, begin] of Object.entries({
  default: 'BEGIN', deferred: 'BEGIN DEFERRED', immediate: 'BEGIN IMMEDIATE', exclusive: 'BEGIN EXCLUSIVE',
})) {
  test(`${name} executes ${begin} and COMMIT around the function (C-22.3)`, (t) => {
    const { db, log, insert, rows } = logged(t);
    const transaction = db.transaction(() => {
      assert.equal(db.inTransaction, true);
      insert.run('a');
      return 'result';
    });
    assert.equal(transaction[name](), 'result');
    assert.equal(db.inTransaction, false);
    assert.deepEqual(log, [begin, "INSERT INTO t VALUES ('a')", 'COMMIT']);
    assert.deepEqual(rows(), ['a']);
  });

  test(`${name} uses a savepoint inside a transaction (C-22.4)`, (t) => {
    const { db, log, insert } = logged(t);
    const transaction = db.transaction(() => insert.run(1n));
    db.exec('BEGIN');
    transaction[name]();
    assert.equal(db.inTransaction, true);
    db.exec('COMMIT');
    assert.deepEqual(log, ['BEGIN', `SAVEPOINT ${SAVEPOINT}`, 'INSERT INTO t VALUES (1)', `RELEASE ${SAVEPOINT}`, 'COMMIT']);
  });

  test(`${name} hands on this and arguments (C-22.3)`, (t) => {
    const transaction = open(t).transaction(function (...args) {
      return [this, ...args];
    })[name];
    assert.deepEqual(transaction(1, 'x'), [undefined, 1, 'x']);
    const receiver = { transaction };
    assert.equal(receiver.transaction(2)[0], receiver);
    assert.deepEqual(transaction.call(receiver, 3), [receiver, 3]);
  });
}

test('savepoints of the user work inside (C-22.4)', (t) => {
  const { db, insert, rows } = logged(t);
  db.transaction(() => {
    insert.run('a');
    db.exec('SAVEPOINT mine');
    insert.run('b');
    db.transaction(() => insert.run('c'))();
    db.exec('ROLLBACK TO mine; RELEASE mine');
    insert.run('d');
  })();
  assert.deepEqual(rows(), ['a', 'd']);
});

test('a transaction begun by SAVEPOINT counts as one (C-22.4)', (t) => {
  const { db, log, insert } = logged(t);
  db.exec('SAVEPOINT mine');
  db.transaction(() => insert.run(1n))();
  db.exec('RELEASE mine');
  assert.equal(log[1], `SAVEPOINT ${SAVEPOINT}`);
});

for (const value of [new Error('own'), 'text', null, undefined, 0, {}]) {
  test(`what the function throws is thrown on after a rollback: ${String(value)} (C-22.5)`, (t) => {
    const { db, log, insert, rows } = logged(t);
    const transaction = db.transaction(() => {
      insert.run(1n);
      throw value;
    });
    assert.equal(thrownBy(transaction).thrown, value);
    assert.equal(db.inTransaction, false);
    assert.deepEqual(log, ['BEGIN', 'INSERT INTO t VALUES (1)', 'ROLLBACK']);
    assert.deepEqual(rows(), []);
    log.length = 0;
    db.exec('BEGIN');
    insert.run(2n);
    assert.equal(thrownBy(transaction).thrown, value);
    assert.equal(db.inTransaction, true);
    db.exec('COMMIT');
    assert.deepEqual(log.slice(3, -1), ['INSERT INTO t VALUES (1)', `ROLLBACK TO ${SAVEPOINT}`, `RELEASE ${SAVEPOINT}`]);
    assert.deepEqual(rows(), [2]);
  });
}

test('nothing is executed when the transaction is gone already (C-22.5)', (t) => {
  const { db, log, insert } = logged(t);
  insert.run(1n);
  log.length = 0;
  const gone = db.transaction(() => db.exec('INSERT OR ROLLBACK INTO t VALUES (1)'));
  throwsLike(gone, SqliteError, 'UNIQUE constraint failed: t.x', 'SQLITE_CONSTRAINT_UNIQUE');
  assert.deepEqual(log, ['BEGIN', 'INSERT OR ROLLBACK INTO t VALUES (1)']);
  log.length = 0;
  const own = new Error('own');
  const byHand = db.transaction(() => {
    db.exec('ROLLBACK');
    throw own;
  });
  assert.equal(thrownBy(byHand).thrown, own);
  assert.deepEqual(log, ['BEGIN', 'ROLLBACK']);
});

test('an inner failure that is caught leaves the outer transaction intact (C-22.6)', (t) => {
  const { db, insert, rows } = logged(t);
  const inner = db.transaction((value) => {
    insert.run(value);
    insert.run('taken');
  });
  db.transaction(() => {
    insert.run('taken');
    throwsLike(() => inner('b'), SqliteError, 'UNIQUE constraint failed: t.x', 'SQLITE_CONSTRAINT_UNIQUE');
    assert.equal(db.inTransaction, true);
    insert.run('c');
  })();
  assert.deepEqual(rows(), ['taken', 'c']);
});

test('a function that ended the transaction itself makes the commit fail (C-22.7)', (t) => {
  const { db, insert } = logged(t);
  const message = 'cannot commit - no transaction is active';
  for (const sql of ['COMMIT', 'ROLLBACK']) {
    throwsLike(db.transaction(() => db.exec(sql)), SqliteError, message, 'SQLITE_ERROR');
  }
  insert.run(1n);
  const swallowing = db.transaction(() => {
    try {
      db.transaction(() => db.exec('INSERT OR ROLLBACK INTO t VALUES (1)'))();
    } catch {
      // The rollback ended the outer transaction as well.
    }
  });
  throwsLike(swallowing, SqliteError, message, 'SQLITE_ERROR');
  assert.equal(db.inTransaction, false);
});

test('a failed commit is rolled back (C-22.8)', (t) => {
  const { db } = logged(t);
  db.exec('CREATE TABLE parent (id INTEGER PRIMARY KEY); CREATE TABLE child (id REFERENCES parent DEFERRABLE INITIALLY DEFERRED)');
  const orphan = db.transaction(() => db.exec('INSERT INTO child VALUES (1)'));
  throwsLike(orphan, SqliteError, 'FOREIGN KEY constraint failed', 'SQLITE_CONSTRAINT_FOREIGNKEY');
  assert.equal(db.inTransaction, false);
  assert.equal(db.prepare('select count(*) from child').pluck().get(), 0);
});

test('a promise is refused and everything rolled back (C-22.9)', async (t) => {
  const { db, insert, rows } = logged(t);
  const thenable = Object.assign(() => {}, { then() {} });
  const makers = [async () => insert.run(1), () => Promise.resolve(insert.run(1)), () => insert.run(1) && { then() {} },
    () => insert.run(1) && thenable];
  for (const fn of makers) {
    throwsLike(db.transaction(fn), TypeError, 'Transaction function cannot return a promise');
    assert.equal(db.inTransaction, false);
    assert.deepEqual(rows(), []);
  }
});

test('other results are handed on (C-22.9)', (t) => {
  const db = open(t);
  const notThenable = { then: 5 };
  assert.equal(db.transaction(() => notThenable)(), notThenable);
  assert.deepEqual([...db.transaction(function* () { yield 1; })()], [1]);
  for (const value of [undefined, null, 0, '', false]) assert.equal(db.transaction(() => value)(), value);
});

test('the function is not called when BEGIN fails (C-22.10)', (t) => {
  const { db } = logged(t);
  let calls = 0;
  const count = (database) => database.transaction(() => { calls += 1; });
  db.exec('BEGIN IMMEDIATE');
  const other = open(t, db.name, { timeout: 0 });
  throwsLike(() => count(other).immediate(), SqliteError, 'database is locked', 'SQLITE_BUSY');
  throwsLike(() => count(other).exclusive(), SqliteError, 'database is locked', 'SQLITE_BUSY');
  db.exec('ROLLBACK');
  const rows = other.prepare('select 1').iterate();
  throwsBusy(() => count(other)());
  rows.return();
  assert.equal(calls, 0);
});

test('others see the changes after the outermost commit (C-22.11)', (t) => {
  const { db, insert } = logged(t);
  db.pragma('journal_mode = WAL');
  const other = open(t, db.name);
  const seen = () => other.prepare('select count(*) from t').pluck().get();
  db.transaction(() => {
    db.transaction(() => insert.run(1))();
    assert.equal(seen(), 0);
  })();
  assert.equal(seen(), 1);
});

test('BEGIN IMMEDIATE and EXCLUSIVE work on a read-only connection (C-22.11)', (t) => {
  const { db } = logged(t);
  const reader = open(t, db.name, { readonly: true });
  for (const name of ['immediate', 'exclusive']) {
    assert.equal(reader.transaction(() => reader.prepare('select count(*) from t').pluck().get())[name](), 0);
  }
});

test('closing the database inside makes the commit fail (C-22.12)', (t) => {
  const { db, insert } = logged(t);
  throwsOpen(db.transaction(() => {
    insert.run(1);
    db.close();
  }));
  assert.equal(open(t, db.name).prepare('select count(*) from t').pluck().get(), 0);
});

test('an iterator left open inside makes the commit fail (C-22.12)', (t) => {
  const { db, insert } = logged(t);
  let rows;
  throwsBusy(db.transaction(() => {
    insert.run(1);
    rows = db.prepare('select 1').iterate();
  }));
  assert.equal(db.inTransaction, true);
  rows.return();
  db.exec('ROLLBACK');
});
