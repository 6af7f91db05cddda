'use strict';

// exec() (C-7). Its logging is in 43.verbose.js.

const test = require('node:test');
const assert = require('node:assert/strict');
const { SqliteError, open, openFile, throwsBusy, throwsOpen, throwsLike } = require('../support/database.js');

const values = (db) => db.prepare('select x from t order by rowid').pluck().all();

test('the SQL must be a primitive string (C-5.3)', (t) => {
  const db = open(t);
  for (const sql of [undefined, null, 0, {}, [], Object('select 1')]) {
    throwsLike(() => db.exec(sql), TypeError, 'Expected first argument to be a string');
  }
});

test('all statements run, rows are dropped, the database is returned (C-7.1)', (t) => {
  const db = open(t);
  const sql = "CREATE TABLE t (x); INSERT INTO t VALUES (1); select * from t;\n-- between\n;; INSERT INTO t VALUES (';'), (3)";
  assert.equal(db.exec(sql), db);
  assert.deepEqual(values(db), [1, ';', 3]);
});

test('a query runs to its end (C-7.1)', (t) => {
  const db = open(t).exec('CREATE TABLE t (x)');
  db.exec('INSERT INTO t VALUES (1), (2), (3) RETURNING x; select 1 from t');
  assert.equal(values(db).length, 3);
  throwsLike(
    () => db.exec('select abs(x) from (select 1 as x union all select -9223372036854775808)'),
    SqliteError, 'integer overflow', 'SQLITE_ERROR',
  );
});

test('text without a statement does nothing (C-7.1)', (t) => {
  const db = open(t);
  for (const sql of ['', ' ', ';', ';;;', '-- a', '/* a */', '/* open', ' ; -- a\n;']) assert.equal(db.exec(sql), db);
});

test('an error stops, what ran before stays (C-7.2)', (t) => {
  const db = open(t).exec('CREATE TABLE t (x UNIQUE)');
  throwsLike(
    () => db.exec('INSERT INTO t VALUES (1); INSERT INTO t VALUES (1); INSERT INTO t VALUES (2)'),
    SqliteError, 'UNIQUE constraint failed: t.x', 'SQLITE_CONSTRAINT_UNIQUE',
  );
  assert.deepEqual(values(db), [1]);
  throwsLike(() => db.exec('INSERT INTO t VALUES (3); nonsense; INSERT INTO t VALUES (4)'),
    SqliteError, 'near "nonsense": syntax error', 'SQLITE_ERROR');
  assert.deepEqual(values(db), [1, 3]);
  db.exec('INSERT INTO t VALUES (5)');
  assert.deepEqual(values(db), [1, 3, 5]);
});

test('parameters in the text are NULL (C-7.3)', (t) => {
  const db = open(t).exec('CREATE TABLE t (x); INSERT INTO t VALUES (?), (:a), (@b), ($c), (?7)');
  assert.deepEqual(values(db), [null, null, null, null, null]);
});

test('text after a NUL is ignored (C-7.4)', (t) => {
  const db = open(t).exec('CREATE TABLE t (x); INSERT INTO t VALUES (1);\0 INSERT INTO t VALUES (2)');
  assert.deepEqual(values(db), [1]);
});

test('it needs an open database that is not in use (C-7.5)', (t) => {
  const db = open(t);
  const rows = db.prepare('select 1').iterate();
  throwsBusy(() => db.exec('select 1'));
  throwsBusy(() => db.exec(''));
  rows.return();
  assert.equal(db.exec('select 1'), db);
  db.close();
  throwsOpen(() => db.exec('select 1'));
  throwsOpen(() => db.exec(''));
});

test('a read-only connection reads and does not write (C-7.5)', (t) => {
  const db = open(t, openFile(t).exec('CREATE TABLE t (x)').name, { readonly: true });
  db.exec('select * from t');
  throwsLike(() => db.exec('INSERT INTO t VALUES (1)'), SqliteError, 'attempt to write a readonly database', 'SQLITE_READONLY');
});

test('extra arguments are ignored (C-5.4)', (t) => {
  const db = open(t);
  assert.equal(db.exec('select 1', 5, {}), db);
});
