'use strict';

// explain() (C-9).

const test = require('node:test');
const assert = require('node:assert/strict');
const { SqliteError, open, throwsBusy, throwsOpen, throwsLike } = require('../support/database.js');

test('it gives the program of the statement (C-9.1)', (t) => {
  const rows = open(t).explain('select 1');
  assert.ok(Array.isArray(rows));
  for (const row of rows) {
    assert.equal(Object.getPrototypeOf(row), Object.prototype);
    assert.deepEqual(Object.keys(row), ['addr', 'opcode', 'p1', 'p2', 'p3', 'p4', 'p5', 'comment']);
  }
  assert.ok(rows.some((row) => row.opcode === 'Halt'));
});

test('with QUERY PLAN it gives the plan (C-9.2)', (t) => {
  const db = open(t).exec('CREATE TABLE t (x); CREATE INDEX by_x ON t (x)');
  const rows = db.explain('QUERY PLAN select * from t where x = 5');
  assert.deepEqual(Object.keys(rows[0]), ['id', 'parent', 'notused', 'detail']);
  assert.match(rows[0].detail, /by_x/);
});

test('parameters need no values and nothing is executed (C-9.3)', (t) => {
  const db = open(t).exec('CREATE TABLE t (x)');
  assert.ok(db.explain('INSERT INTO t VALUES (?), (:a), (@b), ($c), (?9)').length > 0);
  assert.ok(db.explain('INSERT INTO t VALUES (?)', 5, { a: 1 }).length > 0);
  assert.equal(db.prepare('select count(*) from t').pluck().get(), 0);
});

test('errors are those of prepare (C-9.4)', (t) => {
  const db = open(t);
  for (const sql of [undefined, null, 5, {}, Object('select 1')]) {
    throwsLike(() => db.explain(sql), TypeError, 'Expected first argument to be a string');
  }
  throwsLike(() => db.explain(''), SqliteError, 'incomplete input', 'SQLITE_ERROR');
  throwsLike(() => db.explain('explain select 1'), SqliteError, 'near "explain": syntax error', 'SQLITE_ERROR');
  throwsLike(() => db.explain('select * from nowhere'), SqliteError, 'no such table: nowhere', 'SQLITE_ERROR');
  throwsLike(() => db.explain('select 1; select 2'), RangeError, 'The supplied SQL string contains more than one statement');
});

test('it works while iterating, not in callbacks, not when closed (C-9.4)', (t) => {
  let inside = null;
  const db = open(t, ':memory:', { verbose: () => inside && inside() });
  const rows = db.prepare('select 1').iterate();
  rows.next();
  assert.ok(db.explain('select 1').length > 0);
  rows.return();
  inside = () => throwsBusy(() => db.explain('select 1'));
  db.exec('select 1');
  inside = null;
  db.close();
  throwsOpen(() => db.explain('select 1'));
});

test('numbers follow the default for safe integers (C-9.5)', (t) => {
  const db = open(t).defaultSafeIntegers();
  assert.equal(typeof db.explain('select 1')[0].addr, 'bigint');
  assert.equal(typeof db.defaultSafeIntegers(false).explain('select 1')[0].addr, 'number');
});
