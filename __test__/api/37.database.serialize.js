'use strict';

// db.serialize() and databases from a Buffer.

const test = require('node:test');
const assert = require('node:assert/strict');
const {
  Database, SqliteError, overruled, tempFile, open, openFile, throwsLike, throwsNotADb, throwsOpen, fillNumbers,
} = require('../support/database.js');
const { KEY, SCHEMES, openKeyed, values } = require('../support/keyed.js');

const numbers = (db) => db.prepare('SELECT n FROM numbers ORDER BY n').pluck().all();
const schema = (db) => db.prepare('SELECT name FROM sqlite_schema').pluck().all();

test('the image is a Buffer with the database (C-28.1)', (t) => {
  const db = fillNumbers(openFile(t), 3);
  for (const options of [undefined, null, {}, { attached: 'main' }]) {
    const image = db.serialize(options);
    assert.ok(Buffer.isBuffer(image));
    assert.equal(image.toString('latin1', 0, 16), 'SQLite format 3\0');
    assert.deepEqual(numbers(open(t, image)), [1, 2, 3]);
  }
});

test('the method, and objects that are no database (C-3.8)', () => {
  const { serialize } = Database.prototype;
  assert.deepEqual([serialize.name, serialize.length], ['serialize', 1]);
  for (const receiver of [{}, undefined, Object.create(Database.prototype)]) {
    assert.throws(() => serialize.call(receiver), TypeError);
  }
});

test('wrong options (C-28.1)', (t) => {
  const db = open(t);
  for (const options of ['main', 5, true, () => {}, Symbol('x')]) {
    throwsLike(() => db.serialize(options), TypeError, 'Expected first argument to be an options object');
  }
  for (const attached of [undefined, null, 5, {}]) {
    throwsLike(() => db.serialize({ attached }), TypeError, 'Expected the "attached" option to be a string');
  }
  throwsLike(() => db.serialize({ attached: '' }), TypeError, 'The "attached" option cannot be an empty string');
});

test('an attached database (C-28.1)', (t) => {
  const db = open(t).exec("ATTACH ':memory:' AS side; CREATE TABLE side.numbers (n); INSERT INTO side.numbers VALUES (9)");
  assert.deepEqual(numbers(open(t, db.serialize({ attached: 'side' }))), [9]);
});

test('the own transaction and the WAL are in the image (C-28.2)', (t) => {
  const memory = fillNumbers(open(t), 2);
  memory.exec('BEGIN; INSERT INTO numbers VALUES (3)');
  const image = memory.serialize();
  memory.exec('ROLLBACK');
  assert.deepEqual([numbers(open(t, image)), numbers(memory)], [[1, 2, 3], [1, 2]]);
  const db = openFile(t);
  db.pragma('journal_mode = WAL');
  fillNumbers(db, 400);
  assert.ok(db.serialize().length === db.pragma('page_count', { simple: true }) * 4096);
});

test('a closed database (C-28.2)', (t) => {
  const db = open(t);
  db.close();
  throwsOpen(() => db.serialize());
});

test('an empty database (C-28.3)', (t) => {
  for (const db of [open(t), openFile(t)]) {
    const image = db.serialize();
    assert.equal(image.length, 4096);
    const again = open(t, image);
    assert.deepEqual(schema(again), []);
    assert.equal(again.serialize().length, 4096);
    again.exec('CREATE TABLE t (x)');
    assert.deepEqual(schema(again), ['t']);
  }
});

overruled('making the image of an empty file does not write to it', (t) => {
  const db = openFile(t);
  db.serialize();
  assert.equal(db.pragma('page_count', { simple: true }), 0);
  const readonly = open(t, db.name, { readonly: true });
  assert.equal(readonly.serialize().length, 4096);
});

overruled('an unknown or unreadable database says so (overrules C-28.4, C-36.3)', (t) => {
  throwsLike(() => open(t).serialize({ attached: 'nope' }), SqliteError, 'unknown database nope', 'SQLITE_ERROR');
  throwsLike(() => open(t).serialize({ attached: 'main\0' }), SqliteError, 'unknown database main\0', 'SQLITE_ERROR');
  const { name } = openKeyed(t, tempFile(t), KEY).exec('CREATE TABLE t (x)');
  throwsNotADb(() => open(t, name).serialize());
});

for (const cipher of SCHEMES) {
  test(`the image of a ${cipher} database is in clear (C-28.5)`, (t) => {
    const db = openKeyed(t, tempFile(t), KEY, cipher);
    db.exec('CREATE TABLE t (x); INSERT INTO t VALUES (1), (2)');
    const image = db.serialize();
    assert.equal(image.toString('latin1', 0, 16), 'SQLite format 3\0');
    const copy = open(t, image);
    assert.deepEqual(values(copy), [1, 2]);
    assert.equal(copy.pragma('integrity_check', { simple: true }), 'ok');
    copy.exec('INSERT INTO t VALUES (3)');
    assert.deepEqual([values(copy), values(db)], [[1, 2, 3], [1, 2]]);
  });
}

test('a database from a Buffer is private and can grow (C-28.6)', (t) => {
  const image = fillNumbers(open(t), 3).serialize();
  const db = open(t, image);
  assert.deepEqual([db.name, db.memory, db.readonly, db.open], [':memory:', true, false, true]);
  image.fill(0);
  assert.deepEqual(numbers(db), [1, 2, 3]);
  db.exec('CREATE TABLE blobs AS SELECT randomblob(1000000) AS b');
  assert.equal(db.prepare('SELECT length(b) FROM blobs').pluck().get(), 1000000);
  assert.equal(db.pragma('integrity_check', { simple: true }), 'ok');
});

test('a read-only database from a Buffer (C-28.6)', (t) => {
  const db = open(t, fillNumbers(open(t), 3).serialize(), { readonly: true });
  assert.deepEqual([db.readonly, db.memory], [true, true]);
  assert.deepEqual(numbers(db), [1, 2, 3]);
  throwsLike(() => db.exec('INSERT INTO numbers VALUES (4)'), SqliteError, 'attempt to write a readonly database', 'SQLITE_READONLY');
});

test('there and back changes no byte (C-28.6)', (t) => {
  const image = fillNumbers(open(t), 2000).serialize();
  const db = open(t, image);
  assert.deepEqual(db.serialize(), image);
  numbers(db);
  assert.deepEqual(db.serialize(), image);
});

test('a Buffer that is a part of another, and without new (C-28.6)', (t) => {
  const image = fillNumbers(open(t), 3).serialize();
  const larger = Buffer.concat([Buffer.alloc(100, 7), image, Buffer.alloc(100, 7)]);
  assert.deepEqual(numbers(open(t, larger.subarray(100, 100 + image.length))), [1, 2, 3]);
  const db = Database(image, { fileMustExist: true });
  assert.deepEqual(numbers(db), [1, 2, 3]);
  db.close();
});

test('a Buffer without a database (C-28.7)', (t) => {
  const db = open(t, Buffer.alloc(5000, 'this is no database'));
  throwsNotADb(() => schema(db));
});

test('an empty Buffer (C-28.7)', (t) => {
  const db = open(t, Buffer.alloc(0));
  assert.deepEqual(schema(db), []);
  db.exec('CREATE TABLE t (x)');
  assert.deepEqual(schema(db), ['t']);
});

overruled('an empty Buffer, read-only', (t) => {
  const db = open(t, Buffer.alloc(0), { readonly: true });
  throwsLike(() => db.exec('CREATE TABLE t (x)'), SqliteError, 'attempt to write a readonly database', 'SQLITE_READONLY');
});

test('an image in WAL mode (C-28.7)', (t) => {
  const db = openFile(t);
  db.pragma('journal_mode = WAL');
  fillNumbers(db, 1);
  const image = db.serialize();
  assert.deepEqual([...image.subarray(18, 20)], [2, 2]);
  throwsLike(() => schema(open(t, image)), SqliteError, 'unable to open database file', 'SQLITE_CANTOPEN');
  image.fill(1, 18, 20);
  assert.deepEqual(numbers(open(t, image)), [1]);
});

test('other views of memory are no Buffers (C-28.8)', () => {
  for (const value of [new Uint8Array(4096), new ArrayBuffer(4096), new DataView(new ArrayBuffer(4096)), [1, 2]]) {
    throwsLike(() => new Database(value), TypeError, 'Expected first argument to be a string');
  }
});
