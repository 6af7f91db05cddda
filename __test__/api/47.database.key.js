'use strict';

// key() (C-31.1 to C-31.5, C-31.7, C-31.8). States are also in 42.integrity.js.

const test = require('node:test');
const assert = require('node:assert/strict');
const {
  SqliteError, overruled, open, openFile, tempFile, throwsLike, throwsBusy, throwsNotADb, throwsOpen,
} = require('../support/database.js');
const { KEY, OTHER, openKeyed, writeKeyed, writePlain, values } = require('../support/keyed.js');

const logicError = (fn) => throwsLike(fn, SqliteError, 'SQL logic error', 'SQLITE_ERROR');

test('the key must be a Buffer (C-31.1)', (t) => {
  const file = writeKeyed(t);
  const db = open(t, file);
  const wrong = [
    'correct horse', new Uint8Array(KEY), new ArrayBuffer(8), Object('x'), 5, null, undefined, {}, [1, 2],
    new DataView(new ArrayBuffer(4)),
  ];
  for (const value of wrong) throwsLike(() => db.key(value), TypeError, 'Expected the key to be a Buffer');
  throwsLike(() => db.key(), TypeError, 'Expected the key to be a Buffer');
  db.key(KEY);
  assert.deepEqual(values(db), [1, 2, 3]);
});

test('it returns 0 and leaves the Buffer as it is (C-31.1, C-31.2)', (t) => {
  const db = open(t, writeKeyed(t));
  const key = Buffer.from(KEY);
  assert.equal(db.key(key), 0);
  assert.deepEqual(key, KEY);
  key.fill(0);
  assert.deepEqual(values(db), [1, 2, 3]);
});

// A NUL at the very end cannot count in schemes that derive with HMAC, which pads its key with them.
test('every byte of the key counts, NUL and binary ones too (C-31.2)', (t) => {
  const keys = ['a\0b', 'a\0c', 'a', [0, 1], [0xff, 0xfe, 0x80]].map((bytes) => Buffer.from(bytes));
  const files = keys.map((key) => writeKeyed(t, { key }));
  files.forEach((file, index) => {
    keys.forEach((key, other) => {
      const db = openKeyed(t, file, key);
      if (index === other) assert.deepEqual(values(db), [1, 2, 3]);
      else throwsNotADb(() => values(db));
      db.close();
    });
  });
});

test('a view of a larger buffer gives its own bytes only (C-31.2)', (t) => {
  const larger = Buffer.concat([Buffer.from('xx'), KEY, Buffer.from('yy')]);
  const db = openKeyed(t, writeKeyed(t), larger.subarray(2, 2 + KEY.length));
  assert.deepEqual(values(db), [1, 2, 3]);
});

test('it is the same as PRAGMA key with that text (C-31.2)', (t) => {
  const db = open(t, writeKeyed(t));
  assert.deepEqual(db.pragma(`key = '${KEY}'`), [{ ok: 'ok' }]);
  assert.deepEqual(values(db), [1, 2, 3]);
  const file = tempFile(t);
  const writer = open(t, file);
  writer.pragma("key = 'größe'");
  writer.exec('CREATE TABLE t (x)').close();
  assert.deepEqual(values(openKeyed(t, file, Buffer.from('größe'))), []);
});

test('a wrong key shows at the next access, and the right one may follow (C-31.4)', (t) => {
  const db = open(t, writeKeyed(t));
  for (let round = 0; round < 3; round += 1) {
    assert.equal(db.key(OTHER), 0);
    throwsNotADb(() => db.prepare('select 1'));
  }
  assert.equal(db.key(KEY), 0);
  assert.deepEqual(values(db), [1, 2, 3]);
});

test('a wrong key after good reads fails the following ones, until the right one comes again (C-31.4)', (t) => {
  const db = openKeyed(t, writeKeyed(t));
  assert.deepEqual(values(db), [1, 2, 3]);
  db.key(OTHER);
  throwsNotADb(() => values(db));
  db.key(KEY);
  assert.deepEqual(values(db), [1, 2, 3]);
  db.exec('INSERT INTO t VALUES (4)');
  assert.deepEqual(values(db), [1, 2, 3, 4]);
});

test('a key for a plain database shows at the next access; without one it is readable again (C-31.4)', (t) => {
  const db = open(t, writePlain(t));
  assert.equal(db.key(KEY), 0);
  throwsNotADb(() => values(db));
  db.pragma("key = ''");
  assert.deepEqual(values(db), [1, 2, 3]);
});

test('a Buffer without memory is refused with the generic text of its code, and nothing changes (C-31.3, C-31.5)', (t) => {
  const db = openKeyed(t, writeKeyed(t));
  logicError(() => db.key(Buffer.alloc(0)));
  assert.deepEqual(values(db), [1, 2, 3]);
});

overruled('any empty Buffer is refused alike (overrules C-31.5)', (t) => {
  const db = openKeyed(t, writeKeyed(t));
  for (const empty of [Buffer.alloc(0), Buffer.from('abc').subarray(1, 1), Buffer.from(new ArrayBuffer(8), 4, 0), Buffer.from('')]) {
    logicError(() => db.key(empty));
    assert.deepEqual(values(db), [1, 2, 3]);
  }
});

test('in-memory and temporary databases take no key (C-31.7)', (t) => {
  for (const name of [':memory:', '']) {
    const db = open(t, name);
    logicError(() => db.key(KEY));
    throwsLike(
      () => db.pragma("key = 'x'"), SqliteError, 'Setting key not supported for in-memory or temporary databases.', 'SQLITE_ERROR',
    );
    db.exec('CREATE TABLE t (x)');
    assert.deepEqual(values(db), []);
  }
});

test('it needs an open database outside callbacks; the argument comes first (C-31.8, C-5.1)', (t) => {
  let inside = null;
  const db = open(t, writeKeyed(t), { verbose: () => inside && inside() });
  db.key(KEY);
  inside = () => throwsBusy(() => db.key(OTHER));
  db.exec('select 1');
  inside = null;
  assert.deepEqual(values(db), [1, 2, 3]);
  db.close();
  throwsOpen(() => db.key(KEY));
  throwsLike(() => db.key('x'), TypeError, 'Expected the key to be a Buffer');
});

test('a new file is encrypted from its first byte on', (t) => {
  const db = openFile(t);
  db.key(KEY);
  db.exec('CREATE TABLE t (x); INSERT INTO t VALUES (5)').close();
  throwsNotADb(() => values(open(t, db.name)));
  assert.deepEqual(values(openKeyed(t, db.name)), [5]);
});

test('a key may be set by several connections to the same file', (t) => {
  const file = writeKeyed(t);
  const [first, second] = [openKeyed(t, file), openKeyed(t, file)];
  first.exec('INSERT INTO t VALUES (4)');
  assert.deepEqual(values(second), [1, 2, 3, 4]);
  second.exec('INSERT INTO t VALUES (5)');
  assert.deepEqual(values(first), [1, 2, 3, 4, 5]);
});
