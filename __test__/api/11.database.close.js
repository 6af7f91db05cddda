'use strict';

// close() and what is left of a closed database (C-3.11, C-3.12). What each call does on a closed
// database is also a column of 42.integrity.js.

const test = require('node:test');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const { open, openFile, throwsBusy, throwsOpen, throwsLike } = require('../support/database.js');

test('close() returns the database, also a second time (C-3.11)', (t) => {
  const db = openFile(t);
  assert.equal(db.open, true);
  assert.equal(db.close(), db);
  assert.equal(db.open, false);
  assert.equal(db.close(), db);
  assert.equal(db.open, false);
});

test('a closed database refuses everything that needs it (C-5.3)', (t) => {
  const db = openFile(t);
  const statement = db.prepare('select 1');
  db.close();
  throwsOpen(() => db.prepare('select 1'));
  throwsOpen(() => db.exec('select 1'));
  throwsOpen(() => db.pragma('user_version'));
  throwsOpen(() => db.explain('select 1'));
  throwsOpen(() => db.transaction(() => {}));
  throwsOpen(() => db.loadExtension('x'));
  throwsOpen(() => db.key(Buffer.from('a')));
  throwsOpen(() => db.rekey(Buffer.from('a')));
  throwsOpen(() => statement.get());
});

test('argument types are checked before the state (C-5.1)', (t) => {
  const db = open(t);
  db.close();
  throwsLike(() => db.exec(1), TypeError, 'Expected first argument to be a string');
  throwsLike(() => db.prepare(1), TypeError, 'Expected first argument to be a string');
  throwsLike(() => db.pragma(1), TypeError, 'Expected first argument to be a string');
  throwsLike(() => db.explain(1), TypeError, 'Expected first argument to be a string');
  throwsLike(() => db.loadExtension(), TypeError, 'Expected first argument to be a string');
  throwsLike(() => db.key('x'), TypeError, 'Expected the key to be a Buffer');
  throwsLike(() => db.rekey('x'), TypeError, 'Expected the key to be a Buffer');
  throwsLike(() => db.transaction(1), TypeError, 'Expected first argument to be a function');
  throwsLike(() => db.defaultSafeIntegers(1), TypeError, 'Expected first argument to be a boolean');
  throwsLike(() => db.unsafeMode(1), TypeError, 'Expected first argument to be a boolean');
});

test('statements are finalised: the file can be written by others at once (C-3.11)', (t) => {
  const db = openFile(t).exec('CREATE TABLE t (x); INSERT INTO t VALUES (1), (2)');
  const statements = Array.from({ length: 50 }, () => db.prepare('select * from t'));
  statements.forEach((statement) => statement.get());
  db.close();
  const other = open(t, db.name, { timeout: 0 });
  other.exec('PRAGMA journal_mode=WAL; INSERT INTO t VALUES (3)');
  assert.equal(other.prepare('select count(*) from t').pluck().get(), 3);
  statements.forEach((statement) => throwsOpen(() => statement.get()));
});

test('an open iterator forbids close() and nothing happens (C-3.11)', (t) => {
  const db = openFile(t);
  const rows = db.prepare('select 1 union all select 2').iterate();
  throwsBusy(() => db.close());
  assert.equal(db.open, true);
  rows.next();
  throwsBusy(() => db.close());
  assert.deepEqual(rows.next(), { value: { 1: 2 }, done: false });
  rows.return();
  db.close();
  assert.equal(db.open, false);
});

test('close() inside a callback is refused (C-3.11)', (t) => {
  const seen = [];
  const db = open(t, ':memory:', { verbose: () => throwsBusy(() => db.close()) && seen.push(db.open) });
  db.exec('select 1');
  assert.deepEqual(seen, [true]);
});

test('an open transaction is rolled back and the WAL files go away (C-3.11)', (t) => {
  const db = openFile(t);
  db.pragma('journal_mode = WAL');
  db.exec('CREATE TABLE t (x); INSERT INTO t VALUES (1); BEGIN; INSERT INTO t VALUES (2)');
  assert.equal(fs.existsSync(`${db.name}-wal`), true);
  db.close();
  assert.equal(fs.existsSync(`${db.name}-wal`), false);
  assert.equal(fs.existsSync(`${db.name}-shm`), false);
  assert.deepEqual(open(t, db.name).prepare('select x from t').pluck().all(), [1]);
});

test('the WAL stays while another connection uses it (C-3.11)', (t) => {
  const first = openFile(t);
  first.pragma('journal_mode = WAL');
  first.exec('CREATE TABLE t (x)');
  const other = open(t, first.name);
  other.exec('INSERT INTO t VALUES (1)');
  first.close();
  assert.equal(fs.existsSync(`${first.name}-wal`), true);
  other.close();
  assert.equal(fs.existsSync(`${first.name}-wal`), false);
});

const fdDir = '/proc/self/fd';
const noFdDir = fs.existsSync(fdDir) ? false : `no ${fdDir} on this system to see open files in`;

test('file descriptors are released at once (C-3.12)', { skip: noFdDir }, (t) => {
  const db = openFile(t).exec('CREATE TABLE t (x)');
  const uses = () => fs.readdirSync(fdDir).filter((fd) => {
    try {
      return fs.readlinkSync(`${fdDir}/${fd}`).startsWith(db.name);
    } catch {
      return false; // the descriptor of the directory that is being read
    }
  });
  db.prepare('select * from t').all();
  assert.ok(uses().length > 0);
  db.close();
  assert.deepEqual(uses(), []);
});
