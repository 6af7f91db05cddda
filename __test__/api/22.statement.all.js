'use strict';

// all() (C-12). Shapes of a single row are in 21.statement.get.js.

const test = require('node:test');
const assert = require('node:assert/strict');
const { SqliteError, open, fillNumbers, throwsLike } = require('../support/database.js');
const { bindingTests } = require('../support/binding.js');

bindingTests('all', (statement, args) => statement.raw().all(...args)[0]);

test('it gives an array of all rows in order (C-12.1)', (t) => {
  const db = fillNumbers(open(t), 5);
  const rows = db.prepare('select n from numbers order by n desc').all();
  assert.ok(Array.isArray(rows));
  assert.equal(Object.getPrototypeOf(rows), Array.prototype);
  assert.deepEqual(rows, [{ n: 5 }, { n: 4 }, { n: 3 }, { n: 2 }, { n: 1 }]);
  assert.deepEqual(db.prepare('select n from numbers where n > 5').all(), []);
});

test('every mode works for many rows (C-14.1)', (t) => {
  const db = fillNumbers(open(t), 1000);
  const statement = db.prepare("select n, 'text ' || n as s, n * 0.5 as f, null as z from numbers");
  const expected = Array.from({ length: 1000 }, (_, i) => ({ n: i + 1, s: `text ${i + 1}`, f: (i + 1) / 2, z: null }));
  assert.deepEqual(statement.all(), expected);
  assert.deepEqual(statement.pluck().all(), expected.map((row) => row.n));
  assert.deepEqual(statement.raw().all(), expected.map((row) => Object.values(row)));
  assert.deepEqual(statement.expand().all(), expected.map(({ n, ...rest }) => ({ numbers: { n }, $: rest })));
});

test('column types may differ from row to row (C-15.1)', (t) => {
  const db = open(t).exec(`
    CREATE TABLE t (x);
    INSERT INTO t VALUES (1), (1.5), ('one'), ('größe'), ('漢字'), (x'01'), (null), (''), (x''), (9007199254740993),
      ('a' || char(0) || 'b')`);
  assert.deepEqual(db.prepare('select x from t').pluck().all(), [
    1, 1.5, 'one', 'größe', '漢字', Buffer.of(1), null, '', Buffer.alloc(0), 9007199254740992, 'a\0b',
  ]);
});

test('rows do not share anything', (t) => {
  const db = fillNumbers(open(t), 3);
  const rows = db.prepare("select n, x'0102' as b from numbers").all();
  rows[0].b[0] = 99;
  rows[0].n = 'changed';
  assert.deepEqual(rows.slice(1), [{ n: 2, b: Buffer.of(1, 2) }, { n: 3, b: Buffer.of(1, 2) }]);
});

test('long texts and blobs come back whole', (t) => {
  const db = open(t).exec('CREATE TABLE t (s TEXT, b BLOB)');
  const insert = db.prepare('INSERT INTO t VALUES (?, ?)');
  const rows = [10, 1000, 100000, 3000000].map((length, index) => ({
    s: 'aé漢😀'[index % 3].repeat(length),
    b: Buffer.alloc(length, index + 1),
  }));
  rows.forEach(({ s, b }) => insert.run(s, b));
  assert.deepEqual(db.prepare('select * from t').all(), rows);
});

test('an error half way is thrown and leaves a usable statement (C-11.5)', (t) => {
  const db = open(t).exec('CREATE TABLE t (x); INSERT INTO t VALUES (1), (2), (-9223372036854775808)');
  const statement = db.prepare('select abs(x) as x from t limit ?');
  throwsLike(() => statement.all(3n), SqliteError, 'integer overflow', 'SQLITE_ERROR');
  assert.deepEqual(statement.all(2n), [{ x: 1 }, { x: 2 }]);
  db.exec('DELETE FROM t');
  assert.deepEqual(statement.all(3n), []);
});

test('with RETURNING all changed rows come back (C-12.2)', (t) => {
  const db = open(t).exec('CREATE TABLE t (x)');
  assert.deepEqual(db.prepare('INSERT INTO t VALUES (1), (2) RETURNING x, rowid').all(), [
    { x: 1, rowid: 1 }, { x: 2, rowid: 2 },
  ]);
});
