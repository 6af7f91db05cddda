'use strict';

// unsafeMode() (C-29). What it allows while iterating is also a column of 42.integrity.js.

const test = require('node:test');
const assert = require('node:assert/strict');
const { SqliteError, open, openFile, fillNumbers, throwsLike, throwsBusy, throwsLocked } = require('../support/database.js');

const refusesWrite = (fn, message) => throwsLike(fn, SqliteError, message, 'SQLITE_ERROR');
const SEARCH = 'CREATE VIRTUAL TABLE search USING fts5(body); INSERT INTO search VALUES (\'word\')';

test('a connection is defensive by default (C-29.1)', (t) => {
  const db = openFile(t).exec(`CREATE TABLE t (x); ${SEARCH}`);
  assert.deepEqual(db.pragma('journal_mode = OFF'), [{ journal_mode: 'delete' }]);
  db.pragma('writable_schema = ON');
  assert.equal(db.pragma('writable_schema', { simple: true }), 0);
  refusesWrite(() => db.exec("UPDATE sqlite_master SET name = 'x'"), 'table sqlite_master may not be modified');
  refusesWrite(() => db.exec('DELETE FROM search_data'), 'table search_data may not be modified');
});

test('unsafe mode lifts that, and safe mode brings it back (C-29.2)', (t) => {
  const db = openFile(t).exec(`CREATE TABLE t (x); ${SEARCH}`);
  assert.equal(db.unsafeMode(), db);
  assert.deepEqual(db.pragma('journal_mode = OFF'), [{ journal_mode: 'off' }]);
  assert.deepEqual(db.pragma('journal_mode = DELETE'), [{ journal_mode: 'delete' }]);
  db.exec('DELETE FROM search_data WHERE 0');
  db.pragma('writable_schema = ON');
  assert.equal(db.pragma('writable_schema', { simple: true }), 1);
  db.exec("UPDATE sqlite_master SET name = name WHERE 0");
  db.pragma('writable_schema = OFF');
  db.unsafeMode(false);
  refusesWrite(() => db.exec('DELETE FROM search_data'), 'table search_data may not be modified');
  assert.deepEqual(db.pragma('journal_mode = OFF'), [{ journal_mode: 'delete' }]);
});

test('unsafe mode lets run, exec, pragma and transactions run while iterating (C-29.2)', (t) => {
  const db = fillNumbers(open(t), 3);
  const insert = db.prepare('INSERT INTO numbers VALUES (?)');
  const statement = db.prepare('select n from numbers where n <= 3');
  const rows = statement.iterate();
  rows.next();
  for (const call of [() => insert.run(10), () => db.exec('select 1'), () => db.pragma('cache_size'), db.transaction(() => {})]) {
    throwsBusy(call);
    db.unsafeMode();
    call();
    db.unsafeMode(false);
    throwsBusy(call);
  }
  db.unsafeMode(true);
  throwsBusy(() => db.close());
  throwsBusy(() => db.loadExtension('x'));
  throwsLocked(() => statement.get());
  assert.deepEqual([...rows], [{ n: 2 }, { n: 3 }]);
});

test('unsafe mode does not lift the rule for callbacks (C-29.2, C-21.2)', (t) => {
  let inside = null;
  const db = open(t, ':memory:', { verbose: () => inside && inside() }).unsafeMode();
  inside = () => {
    inside = null;
    throwsBusy(() => db.exec('select 1'));
    throwsBusy(() => db.pragma('cache_size'));
    db.unsafeMode(false);
  };
  db.exec('select 1');
});

test('it takes a boolean and works at any time, per connection (C-29.3)', (t) => {
  const [db, other] = [open(t), open(t)];
  for (const value of [undefined, null, 0, 1, 'true']) {
    throwsLike(() => db.unsafeMode(value), TypeError, 'Expected first argument to be a boolean');
  }
  db.unsafeMode();
  const rows = [db.prepare('select 1').iterate(), other.prepare('select 1').iterate()];
  db.exec('select 1');
  throwsBusy(() => other.exec('select 1'));
  rows.forEach((iterator) => iterator.return());
  db.close();
  assert.equal(db.unsafeMode(), db);
  assert.equal(db.unsafeMode(false), db);
});
