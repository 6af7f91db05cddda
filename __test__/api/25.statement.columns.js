'use strict';

// columns() (C-19).

const test = require('node:test');
const assert = require('node:assert/strict');
const { open, throwsLike, throwsBusy, throwsOpen } = require('../support/database.js');

const column = (name, origin, table, type) => ({ name, column: origin, table, database: origin && 'main', type });

test('it tells name, origin and declared type of each column (C-19.1)', (t) => {
  const db = open(t).exec(`
    CREATE TABLE t (a TEXT, b WHATthe, c, d integer, e VARCHAR(10) NOT NULL);
    CREATE VIEW v AS SELECT a AS renamed FROM t`);
  const of = (sql) => db.prepare(sql).columns();
  assert.deepEqual(of('select * from t'), [
    column('a', 'a', 't', 'TEXT'),
    column('b', 'b', 't', 'WHATthe'),
    column('c', 'c', 't', null),
    column('d', 'd', 't', of('select d from t')[0].type),
    column('e', 'e', 't', 'VARCHAR(10)'),
  ]);
  assert.match(of('select d from t')[0].type, /^integer$/i);
  assert.deepEqual(Object.keys(of('select a from t')[0]), ['name', 'column', 'table', 'database', 'type']);
  assert.deepEqual(of('select a as x, 1 + 1, a from t as y'), [
    column('x', 'a', 't', 'TEXT'),
    column('1 + 1', null, null, null),
    column('a', 'a', 't', 'TEXT'),
  ]);
  assert.deepEqual(of('select renamed from v'), [column('renamed', 'a', 't', 'TEXT')]);
  assert.deepEqual(of('select n from (select a as n from t)'), [column('n', 'a', 't', 'TEXT')]);
  assert.deepEqual(of('select rowid from t'), [column('rowid', 'rowid', 't', 'INTEGER')]);
  assert.equal(of('select a, a from t').length, 2);
  assert.equal(Object.getPrototypeOf(of('select a from t')[0]), Object.prototype);
});

test('attached databases are named (C-19.1)', (t) => {
  const db = open(t).exec("ATTACH ':memory:' AS other; CREATE TABLE other.t (a)");
  assert.deepEqual(db.prepare('select a from other.t').columns(), [
    { name: 'a', column: 'a', table: 't', database: 'other', type: null },
  ]);
});

test('it is for statements that return data (C-19.2)', (t) => {
  const db = open(t).exec('CREATE TABLE t (x)');
  const message = 'The columns() method is only for statements that return data';
  throwsLike(() => db.prepare('INSERT INTO t VALUES (1)').columns(), TypeError, message);
  assert.equal(db.prepare('INSERT INTO t VALUES (1) RETURNING x').columns()[0].column, 'x');
  assert.deepEqual(db.prepare('VALUES (1)').columns()[0].name, 'column1');
});

test('new columns show once the statement has been executed again (C-19.2)', (t) => {
  const db = open(t).exec('CREATE TABLE t (a)');
  const statement = db.prepare('select * from t');
  assert.equal(statement.columns().length, 1);
  db.exec('ALTER TABLE t ADD COLUMN b REAL');
  statement.get();
  assert.deepEqual(statement.columns(), [column('a', 'a', 't', null), column('b', 'b', 't', 'REAL')]);
});

test('it works while iterating, not in callbacks, not when closed (C-19.3)', (t) => {
  let inside = null;
  const db = open(t, ':memory:', { verbose: () => inside && inside() });
  const statement = db.prepare('select 1 as x');
  const rows = statement.iterate();
  assert.equal(statement.columns()[0].name, 'x');
  rows.next();
  assert.equal(statement.columns()[0].name, 'x');
  rows.return();
  inside = () => throwsBusy(() => statement.columns());
  db.exec('select 1');
  inside = null;
  db.close();
  throwsOpen(() => statement.columns());
});
