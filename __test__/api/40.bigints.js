'use strict';

// Safe integers (C-20): which integers come back as bigint, from rows and to callbacks. Binding bigints is
// in 20.statement.run.js.

const test = require('node:test');
const assert = require('node:assert/strict');
const { open, throwsLike } = require('../support/database.js');

const BIG = 2n ** 60n + 1n;
const BORDERS = [
  0n, 1n, -1n, 2n ** 31n - 1n, 2n ** 31n, -(2n ** 31n) - 1n, 2n ** 32n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, -(2n ** 53n) - 1n,
  2n ** 63n - 1n, -(2n ** 63n),
];

test('integers are numbers unless asked for (C-20.4, C-15.1)', (t) => {
  const statement = open(t).prepare('select ?').pluck();
  for (const value of BORDERS) assert.equal(statement.get(value), Number(value));
});

test('safeIntegers() turns them into bigints, exactly (C-20.1)', (t) => {
  const statement = open(t).prepare('select ?').pluck().safeIntegers();
  for (const value of BORDERS) assert.equal(statement.get(value), value);
  assert.equal(statement.get(1.5), 1.5);
  assert.equal(statement.get(2), 2);
  statement.safeIntegers(false);
  assert.equal(statement.get(BIG), Number(BIG));
  assert.equal(statement.safeIntegers(true).get(BIG), BIG);
});

test('every mode and way to execute follows (C-20.1)', (t) => {
  const db = open(t).exec(`CREATE TABLE t (x); INSERT INTO t VALUES (${BIG}), (1)`);
  const statement = db.prepare('select x from t').safeIntegers();
  assert.deepEqual(statement.get(), { x: BIG });
  assert.deepEqual(statement.all(), [{ x: BIG }, { x: 1n }]);
  assert.deepEqual([...statement.iterate()], [{ x: BIG }, { x: 1n }]);
  assert.deepEqual(statement.raw().all(), [[BIG], [1n]]);
  assert.deepEqual(statement.expand().get(), { t: { x: BIG } });
});

test('lastInsertRowid follows, changes stays a number (C-11.2, C-11.3, C-20.1)', (t) => {
  const db = open(t).exec('CREATE TABLE t (x INTEGER PRIMARY KEY)');
  const insert = db.prepare('INSERT INTO t VALUES (?)');
  assert.equal(insert.safeIntegers(), insert);
  assert.deepEqual(insert.run(BIG), { changes: 1, lastInsertRowid: BIG });
  assert.deepEqual(insert.safeIntegers(false).run(5n), { changes: 1, lastInsertRowid: 5 });
});

test('the default holds for statements prepared afterwards (C-20.2)', (t) => {
  const db = open(t);
  const before = db.prepare('select 1').pluck();
  assert.equal(db.defaultSafeIntegers(), db);
  const after = db.prepare('select 1').pluck();
  assert.deepEqual([before.get(), after.get()], [1, 1n]);
  db.defaultSafeIntegers(false);
  assert.deepEqual([before.get(), after.get(), db.prepare('select 1').pluck().get()], [1, 1n, 1]);
  assert.equal(db.defaultSafeIntegers(true).prepare('select 1').pluck().safeIntegers(false).get(), 1);
});

test('the default takes a boolean, at any time (C-20.2, C-5.3)', (t) => {
  const db = open(t);
  for (const value of [undefined, null, 0, 1, 'true']) {
    throwsLike(() => db.defaultSafeIntegers(value), TypeError, 'Expected first argument to be a boolean');
  }
  const rows = db.prepare('select 1').iterate();
  assert.equal(db.defaultSafeIntegers(), db);
  rows.return();
  db.close();
  assert.equal(db.defaultSafeIntegers(false), db);
});

test('a bigint can be bound whatever the setting, also as a key (C-20.4)', (t) => {
  const db = open(t).exec(`CREATE TABLE t (id INTEGER PRIMARY KEY, x); INSERT INTO t VALUES (${BIG}, 'found')`);
  for (const safe of [false, true]) {
    assert.equal(db.prepare('select x from t where id = ?').safeIntegers(safe).pluck().get(BIG), 'found');
  }
});

/** What integer arguments look like to a function, an aggregate and a table. */
const SEEN = {
  function(db, options) {
    db.function('f', options, (x) => typeof x);
    return () => db.prepare('select f(5)').pluck().get();
  },
  aggregate(db, options) {
    db.aggregate('a', { ...options, step: (acc, x) => typeof x });
    return () => db.prepare('select a(5)').pluck().get();
  },
  table(db, options) {
    db.table('v', { ...options, columns: ['x'], * rows(p) { yield [typeof p]; } });
    return () => db.prepare('select x from v(5)').pluck().get();
  },
};
for (const [kind, register] of Object.entries(SEEN)) {
  test(`a ${kind} has its own setting (C-15.4, C-20.3)`, (t) => {
    for (const safe of [false, true]) {
      const db = open(t).defaultSafeIntegers(!safe);
      const seen = register(db, { safeIntegers: safe });
      const expected = safe ? 'bigint' : 'number';
      assert.equal(seen(), expected);
      db.defaultSafeIntegers(safe);
      assert.equal(seen(), expected);
    }
  });

  test(`a ${kind} keeps the default of its time (C-20.3)`, (t) => {
    const db = open(t).defaultSafeIntegers();
    const seen = register(db, {});
    // A table asks when it is first used, the others when they are registered.
    if (kind === 'table') assert.equal(seen(), 'bigint');
    db.defaultSafeIntegers(false);
    assert.equal(seen(), 'bigint');
    assert.equal(register(db, {})(), 'number');
  });
}

test('a table asks for the default when it is first used (C-20.3)', (t) => {
  const db = open(t).defaultSafeIntegers();
  const seen = SEEN.table(db, {});
  db.defaultSafeIntegers(false);
  assert.equal(seen(), 'number');
});

test('callbacks get bigints exactly and give them back (C-20.3, C-23.7)', (t) => {
  const db = open(t);
  const got = [];
  db.function('f', { safeIntegers: true }, (x) => { got.push(x); return x; });
  const statement = db.prepare('select f(?)').pluck().safeIntegers();
  for (const value of BORDERS) assert.equal(statement.get(value), value);
  assert.deepEqual(got, BORDERS);
  assert.equal(statement.get(1.5), 1.5);
});
