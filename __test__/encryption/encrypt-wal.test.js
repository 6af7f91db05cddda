'use strict';

// Encrypting a plain database that is in WAL mode, decrypting it there, and moving the reserve: with
// the same call as in the other journal modes. The replaced package refuses the first.

const test = require('node:test');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const { open, overruled, tempFile, thrownBy, throwsNotADb } = require('../support/database.js');
const { otherModes, otherSchemes } = require('../support/schemes.js');
const { MARKER, fill, isWhole, makeFile, openWith } = require('./lock.js');

const key = Buffer.from('encrypt in WAL mode');
const locks = {
  chacha20: ["cipher='chacha20'", 'kdf_iter=10'],
  'chacha20 legacy': ["cipher='chacha20'", 'legacy=1'],
  aes256cbc: ["cipher='aes256cbc'"],
  ...otherSchemes,
  'aes128cbc legacy': otherModes['aes128cbc legacy'],
  'sqlcipher without HMAC': otherModes['sqlcipher without HMAC'],
};
const plain = {};
const contents = (file) => ['', '-wal'].map((suffix) => file + suffix).filter((name) => fs.existsSync(name))
  .map((name) => fs.readFileSync(name).toString('latin1')).join('');

for (const [name, pragmas] of Object.entries(locks)) {
  overruled(`${name}: encrypted in WAL mode and decrypted again`, (t) => {
    const file = makeFile(t, tempFile(t), plain, 'journal_mode=wal');
    const db = openWith(t, file, { pragmas });
    assert.equal(db.pragma(`rekey='${key}'`, { simple: true }), 'ok');
    assert.ok(!contents(file).includes(MARKER), 'nothing is left in clear');
    isWhole(db);
    db.exec('CREATE TABLE other (x); DROP TABLE other');
    assert.equal(db.pragma('journal_mode', { simple: true }), 'wal');
    const other = openWith(t, file, { pragmas, key });
    isWhole(other);
    other.close();
    db.rekey(Buffer.alloc(0));
    isWhole(db);
    assert.equal(db.pragma('journal_mode', { simple: true }), 'wal');
    db.close();
    isWhole(open(t, file));
  });
}

overruled('the salt is a new one, also when nothing was read before', (t) => {
  const salts = [1, 2].map(() => {
    const db = open(t, makeFile(t, tempFile(t), plain, 'journal_mode=wal'));
    db.rekey(key);
    return db.pragma('cipher_salt', { simple: true });
  });
  assert.notEqual(salts[0], salts[1]);
  for (const salt of salts) assert.notEqual(salt, Buffer.from('SQLite format 3\0').toString('hex').toUpperCase());
});

overruled('while another connection reads: SQLITE_BUSY and nothing has changed; afterwards it works', (t) => {
  const file = makeFile(t, tempFile(t), plain, 'journal_mode=wal');
  const db = open(t, file, { timeout: 0 });
  const reader = open(t, file);
  // In the WAL, so that the reader needs it.
  db.exec("CREATE TABLE other (x); INSERT INTO other VALUES ('a')");
  reader.exec('BEGIN');
  isWhole(reader);
  db.exec("INSERT INTO other VALUES ('b')");
  assert.equal(thrownBy(() => db.rekey(key)).thrown.code, 'SQLITE_BUSY');
  isWhole(db);
  isWhole(reader);
  reader.exec('COMMIT');
  isWhole(open(t, file));
  db.rekey(key);
  isWhole(db);
  throwsNotADb(() => reader.prepare('SELECT * FROM note').all());
  reader.key(key);
  isWhole(reader);
  assert.deepEqual(reader.prepare('SELECT x FROM other').pluck().all(), ['a', 'b']);
});

overruled('while another connection writes: SQLITE_BUSY and nothing is lost', (t) => {
  const file = makeFile(t, tempFile(t), plain, 'journal_mode=wal');
  const db = open(t, file, { timeout: 0 });
  const writer = open(t, file);
  writer.exec('BEGIN IMMEDIATE; CREATE TABLE other (x)');
  assert.equal(thrownBy(() => db.rekey(key)).thrown.code, 'SQLITE_BUSY');
  writer.exec('COMMIT');
  db.rekey(key);
  isWhole(db);
  assert.deepEqual(db.prepare('SELECT * FROM other').all(), []);
});

overruled('inside a transaction it is refused; the database stays plain and whole', (t) => {
  const file = makeFile(t, tempFile(t), plain, 'journal_mode=wal');
  const db = open(t, file);
  assert.equal(thrownBy(() => db.transaction(() => db.rekey(key))()).thrown.code, 'SQLITE_ERROR');
  isWhole(db);
  db.close();
  isWhole(open(t, file));
});

overruled('killed before the checkpoint: the plain file and its WAL open under the new key, and lose nothing without one', (t) => {
  for (const pragmas of [locks.chacha20, locks.aes256cbc, locks.rc4, locks.sqlcipher]) {
    const file = makeFile(t, tempFile(t), plain, 'journal_mode=wal');
    const copy = tempFile(t);
    fs.copyFileSync(file, copy);
    const db = openWith(t, file, { pragmas });
    db.rekey(key);
    fs.copyFileSync(`${file}-wal`, `${copy}-wal`);
    db.close();
    const without = open(t, copy);
    throwsNotADb(() => without.prepare('SELECT * FROM note').all());
    without.close();
    const opened = openWith(t, copy, { pragmas, key });
    isWhole(opened);
    opened.close();
    assert.ok(!contents(copy).includes(MARKER));
    isWhole(openWith(t, copy, { pragmas, key }));
  }
});

overruled('a new database in WAL mode is encrypted before it has content', (t) => {
  const db = open(t, tempFile(t));
  db.pragma('journal_mode=wal');
  db.rekey(key);
  fill(db);
  isWhole(db);
  db.close();
  isWhole(openWith(t, db.name, { key }));
});
