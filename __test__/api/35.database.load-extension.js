'use strict';

// loadExtension() (C-26). The extension is ours: ../support/test_extension.c.

const test = require('node:test');
const assert = require('node:assert/strict');
const path = require('node:path');
const { SqliteError, overruled, open, tempFile, throwsLike, throwsBusy, throwsOpen, thrownBy } = require('../support/database.js');
const { testWithExtension, suffix } = require('../support/extension.js');

test('path and entry point must be strings (C-26.1)', (t) => {
  const db = open(t);
  for (const value of [undefined, null, 5, {}, [], Object('x'), Buffer.from('x')]) {
    throwsLike(() => db.loadExtension(value), TypeError, 'Expected first argument to be a string');
    throwsLike(() => db.loadExtension('x', value), TypeError, 'Expected second argument to be a string');
  }
  throwsLike(() => db.loadExtension(), TypeError, 'Expected first argument to be a string');
});

overruled('a NUL is refused, and cuts nothing (C-26.1)', (t) => {
  const message = 'The path and the entry point of an extension cannot contain a NUL character';
  for (const args of [['nowhere\0.so'], ['\0'], ['nowhere', 'entry\0']]) {
    throwsLike(() => open(t).loadExtension(...args), TypeError, message);
  }
});

testWithExtension('its functions can be used at once; the database is returned (C-26.5)', (t, extension) => {
  const db = open(t);
  throwsLike(() => db.prepare('select arg_count()'), SqliteError, 'no such function: arg_count', 'SQLITE_ERROR');
  assert.equal(db.loadExtension(extension), db);
  assert.deepEqual(db.prepare('select arg_count() as a, arg_count(1, 2, 3) as b').get(), { a: 0, b: 3 });
  const version = db.prepare('select sqlite_version()').pluck().get().split('.').map(Number);
  assert.equal(db.prepare('select api_version()').pluck().get(), version[0] * 1e6 + version[1] * 1e3 + version[2]);
});

testWithExtension('the suffix of the system may be left out (C-26.2)', (t, extension) => {
  const db = open(t).loadExtension(extension.slice(0, -suffix.length));
  assert.equal(db.prepare('select arg_count(5)').pluck().get(), 1);
});

testWithExtension('an entry point may be named (C-26.1)', (t, extension) => {
  const db = open(t).loadExtension(extension, 'only_arg_count');
  assert.equal(db.prepare('select arg_count(5)').pluck().get(), 1);
  throwsLike(() => db.prepare('select api_version()'), SqliteError, 'no such function: api_version', 'SQLITE_ERROR');
});

testWithExtension('an extension belongs to its connection', (t, extension) => {
  open(t).loadExtension(extension);
  throwsLike(() => open(t).prepare('select arg_count()'), SqliteError, 'no such function: arg_count', 'SQLITE_ERROR');
});

test('a file that is not there gives the text of the loader (C-26.3)', (t) => {
  const db = open(t);
  const { thrown } = thrownBy(() => db.loadExtension(tempFile(t, 'missing')));
  assert.ok(thrown instanceof SqliteError);
  assert.equal(thrown.code, 'SQLITE_ERROR');
  assert.match(thrown.message, /missing/);
});

test('a file that is no library gives the text of the loader (C-26.3)', (t) => {
  const { thrown } = thrownBy(() => open(t).loadExtension(path.join(__dirname, '..', 'support', 'test_extension.c')));
  assert.ok(thrown instanceof SqliteError);
  assert.equal(thrown.code, 'SQLITE_ERROR');
  assert.match(thrown.message, /test_extension/);
});

testWithExtension('a wrong entry point gives the text of the loader (C-26.3)', (t, extension) => {
  const { thrown } = thrownBy(() => open(t).loadExtension(extension, 'no_such_entry'));
  assert.ok(thrown instanceof SqliteError);
  assert.equal(thrown.code, 'SQLITE_ERROR');
  assert.match(thrown.message, /no_such_entry/);
});

test('it needs an open database that is not in use, unsafe or not (C-26.4)', (t) => {
  let inside = null;
  const db = open(t, ':memory:', { verbose: () => inside && inside() });
  const rows = db.prepare('select 1').iterate();
  throwsBusy(() => db.loadExtension('x'));
  db.unsafeMode();
  throwsBusy(() => db.loadExtension('x'));
  rows.return();
  inside = () => throwsBusy(() => db.loadExtension('x'));
  db.exec('select 1');
  inside = null;
  db.close();
  throwsOpen(() => db.loadExtension('x'));
});

testWithExtension('the SQL function load_extension() is always refused (C-26.6)', (t, extension) => {
  const db = open(t);
  const refused = () => throwsLike(
    () => db.prepare('select load_extension(?)').get(extension), SqliteError, 'not authorized', 'SQLITE_ERROR',
  );
  refused();
  db.loadExtension(extension);
  refused();
  assert.throws(() => db.loadExtension(extension, 'no_such_entry'), SqliteError);
  refused();
});
