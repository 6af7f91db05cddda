'use strict';

// error.hint: on SQLITE_NOTADB, and on nothing else, what the file looks like and what it was tried with.

const test = require('node:test');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const { open, overruled, tempFile, thrownBy } = require('../support/database.js');
const { makeFile, openWith, isWhole } = require('./lock.js');

const key = Buffer.from('secret of the hint');
const chacha20 = { pragmas: ["cipher='chacha20'", 'kdf_iter=7'], key };
const read = (db) => db.prepare('SELECT * FROM note').all();

function hintOf(fn) {
  const { thrown } = thrownBy(fn);
  assert.equal(thrown.code, 'SQLITE_NOTADB');
  assert.equal(thrown.message, 'file is not a database');
  assert.equal(Object.keys(thrown).includes('hint'), false);
  assert.doesNotMatch(thrown.hint, /secret/);
  return thrown.hint;
}

overruled('without a key, with a wrong one, under the wrong scheme', (t) => {
  const file = makeFile(t, tempFile(t), chacha20);
  const size = fs.statSync(file).size;
  const looks = `The file (${size} bytes) looks like an encrypted database (page size 4096, 32 reserved bytes per page). `
    + 'This fits chacha20, ascon128. ';
  const db = open(t, file);
  assert.equal(hintOf(() => read(db)), `${looks}It was read without a key.`);
  db.key(Buffer.from('wrong secret'));
  const config = 'cipher=chacha20, legacy=0, legacy_page_size=4096, kdf_iter=64007, plaintext_header_size=0';
  assert.equal(hintOf(() => read(db)), `${looks}It was read with a key, under ${config}.`);
  db.pragma("cipher='rc4'");
  db.key(key);
  assert.match(hintOf(() => db.pragma('journal_mode=wal')), /under cipher=rc4, legacy=1/);
  assert.match(hintOf(() => db.rekey(key)), /under cipher=rc4/);
  assert.match(hintOf(() => db.exec('CREATE TABLE t (x)')), /under cipher=rc4/);
  assert.match(hintOf(() => open(t).exec(`ATTACH '${file}' AS a KEY 'wrong secret'`)), /It was read with a key/);
});

overruled('a plain database that was given a key', (t) => {
  const db = openWith(t, makeFile(t, tempFile(t), {}), chacha20);
  assert.match(hintOf(() => read(db)), /^The file \(\d+ bytes\) looks like a plain SQLite database \(page size 4096, 0 reserved/);
});

overruled('schemes of other reserves, and those that show nothing', (t) => {
  for (const [pragmas, hint] of [
    [["cipher='aes256cbc'"], /0 reserved bytes per page\)\. This fits aes256cbc, aes128cbc\./],
    [["cipher='sqlcipher'", 'kdf_iter=7'], /80 reserved bytes per page\)\. This fits sqlcipher\./],
    [["cipher='aegis'", 'tcost=1', 'mcost=64'], /64 reserved bytes per page\)\. This fits aegis\./],
    [['plaintext_header_size=32', 'kdf_iter=7'], /has a plain SQLite header over an encrypted or damaged page .*With plaintext_header_size, this fits chacha20/],
    [["cipher='rc4'"], /shows no database header.* rc4\. Its length fits page sizes 512, 1024, 2048, 4096/],
  ]) {
    const file = makeFile(t, tempFile(t), { pragmas, key });
    assert.match(hintOf(() => read(openWith(t, file, { pragmas, key: Buffer.from('wrong') }))), hint);
  }
});

overruled('files cut short, with something added, and no databases at all', (t) => {
  const file = makeFile(t, tempFile(t), chacha20);
  const bytes = fs.readFileSync(file);
  fs.writeFileSync(file, bytes.subarray(0, 4000));
  assert.match(hintOf(() => read(openWith(t, file, chacha20))), /It is shorter than one page\./);
  fs.writeFileSync(file, Buffer.concat([bytes, Buffer.from('x')]));
  assert.match(hintOf(() => read(open(t, file))), /Its length is not a multiple of a page size/);
  fs.writeFileSync(file, 'This is a text and no database. '.repeat(100));
  assert.match(hintOf(() => read(open(t, file))), /shows no database header/);
  fs.writeFileSync(file, Buffer.alloc(8192));
  assert.match(hintOf(() => read(open(t, file))), /begins with nothing but zeros/);
});

overruled('a WAL beside it', (t) => {
  const file = makeFile(t, tempFile(t), chacha20, 'journal_mode=wal');
  const db = openWith(t, file, chacha20);
  db.exec('CREATE TABLE other (x)');
  assert.match(hintOf(() => read(open(t, file))), /A -wal file lies beside it\./);
  isWhole(db);
});

overruled('other errors have none', (t) => {
  const db = open(t);
  for (const fn of [() => db.exec('nope'), () => db.prepare('SELECT * FROM nope')]) {
    assert.equal('hint' in thrownBy(fn).thrown, false);
  }
});
