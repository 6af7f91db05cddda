'use strict';

// Several databases on one connection: plain and encrypted, under schemes and keys of their own. What
// ATTACH takes over, what it needs, copying between them, and DETACH.

const test = require('node:test');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const { open, overruled, tempFile } = require('../support/database.js');
const { otherSchemes } = require('../support/schemes.js');
const { MARKER, fill, isWhole, makeFile, openWith } = require('./lock.js');

const key = Buffer.from('key of the main database');
const other = 'key of the other one';
const locks = {
  plain: { pragmas: [] },
  chacha20: { pragmas: ["cipher='chacha20'", 'kdf_iter=10'], key },
  aes256cbc: { pragmas: ["cipher='aes256cbc'"], key },
  ...Object.fromEntries(Object.entries(otherSchemes).map(([name, pragmas]) => [name, { pragmas, key }])),
};
const quoted = (text) => `'${text}'`;
const names = (db) => db.pragma('database_list').map(({ name }) => name).filter((name) => name !== 'temp');
const hasMarker = (file) => fs.readFileSync(file).includes(MARKER);

for (const [mainName, main] of Object.entries(locks)) {
  for (const [name, lock] of Object.entries(locks)) {
    test(`${name} attached to ${mainName}: copied both ways, detached, whole under its own key`, (t) => {
      const db = openWith(t, makeFile(t, tempFile(t), main), main);
      const file = tempFile(t);
      for (const pragma of lock.pragmas) db.pragma(pragma);
      db.exec(`ATTACH ${quoted(file)} AS a KEY ${lock.key ? quoted(other) : "''"}`);
      db.exec('CREATE TABLE a.note (id INTEGER PRIMARY KEY, body TEXT); INSERT INTO a.note SELECT * FROM main.note');
      db.exec('CREATE TABLE main.back AS SELECT * FROM a.note; DROP TABLE main.note; ALTER TABLE main.back RENAME TO note');
      isWhole(db);
      db.exec('DETACH a');
      assert.deepEqual(names(db), ['main']);
      assert.equal(hasMarker(file), name === 'plain');
      isWhole(openWith(t, file, { ...lock, key: lock.key && Buffer.from(other) }));
      db.close();
      isWhole(openWith(t, db.name, main));
    });
  }
}

test('without KEY the attached database is under the key of main, if that has one', (t) => {
  for (const lock of [locks.chacha20, locks.aes256cbc, locks.plain]) {
    const db = openWith(t, makeFile(t, tempFile(t), lock), lock);
    for (const clause of ['', 'KEY NULL']) {
      const file = tempFile(t);
      db.exec(`ATTACH ${quoted(file)} AS a ${clause}; CREATE TABLE a.note AS SELECT * FROM main.note; DETACH a`);
      isWhole(openWith(t, file, lock));
    }
  }
});

test('a wrong key, none, and a key for a plain database: NOTADB, and nothing is attached', (t) => {
  const encrypted = makeFile(t, tempFile(t), locks.chacha20);
  const plain = makeFile(t, tempFile(t), locks.plain);
  for (const [lock, file, clause] of [
    [locks.plain, encrypted, ''], [locks.plain, encrypted, "KEY ''"], [locks.plain, encrypted, "KEY 'wrong'"],
    [locks.aes256cbc, encrypted, ''], [locks.chacha20, plain, ''], [locks.plain, plain, "KEY 'k'"],
  ]) {
    const db = openWith(t, makeFile(t, tempFile(t), lock), lock);
    assert.throws(() => db.exec(`ATTACH ${quoted(file)} AS a ${clause}`), { code: 'SQLITE_NOTADB' }, clause);
    assert.deepEqual(names(db), ['main']);
    isWhole(db);
  }
  for (const clause of ['KEY 5', 'KEY 1.5']) {
    assert.throws(() => open(t).exec(`ATTACH ${quoted(tempFile(t))} AS a ${clause}`), { code: 'SQLITE_ERROR', message: 'Invalid key value' });
  }
});

test('a read-only connection reads an attached database and writes neither', (t) => {
  const file = makeFile(t, tempFile(t), { ...locks.aes256cbc, key: Buffer.from(other) });
  const db = openWith(t, makeFile(t, tempFile(t), locks.chacha20), locks.chacha20, { readonly: true });
  const before = fs.readFileSync(file);
  db.pragma("cipher='aes256cbc'");
  db.exec(`ATTACH ${quoted(file)} AS a KEY ${quoted(other)}`);
  assert.equal(db.prepare('SELECT count(*) FROM main.note JOIN a.note USING (id, body)').pluck().get(), 20);
  for (const schema of ['main', 'a']) {
    assert.throws(() => db.exec(`DELETE FROM ${schema}.note`), { code: 'SQLITE_READONLY' });
  }
  assert.throws(() => db.pragma("a.rekey='x'"), { code: 'SQLITE_READONLY' });
  db.close();
  assert.ok(fs.readFileSync(file).equals(before));
});

test('VACUUM INTO writes under the key of main; a plain main writes in clear', (t) => {
  for (const lock of [locks.chacha20, locks.aes256cbc, locks.sqlcipher, locks.plain]) {
    const db = openWith(t, makeFile(t, tempFile(t), lock), lock);
    const copy = tempFile(t);
    db.prepare('VACUUM INTO ?').run(copy);
    assert.equal(hasMarker(copy), lock === locks.plain);
    isWhole(openWith(t, copy, lock));
  }
});

test('key, rekey and cipher of an attached database are its own', (t) => {
  const db = openWith(t, makeFile(t, tempFile(t), locks.chacha20), locks.chacha20);
  const file = tempFile(t);
  db.exec(`ATTACH ${quoted(file)} AS a KEY ''`);
  db.pragma("a.cipher='aes256cbc'");
  db.pragma(`a.key=${quoted(other)}`);
  db.exec('CREATE TABLE a.note AS SELECT * FROM main.note');
  db.pragma("a.cipher='rc4'");
  db.pragma("a.rekey='third'");
  assert.equal(db.pragma('cipher', { simple: true }), 'chacha20');
  db.exec('DETACH a');
  isWhole(db);
  isWhole(openWith(t, file, { pragmas: ["cipher='rc4'"], key: Buffer.from('third') }));
});

overruled('a key for an attached database inside a transaction is refused', (t) => {
  const db = fill(openWith(t, tempFile(t), locks.chacha20));
  db.exec(`ATTACH ${quoted(tempFile(t))} AS a KEY ${quoted(other)}; BEGIN; CREATE TABLE a.t (x)`);
  assert.throws(() => db.pragma("a.key='x'"), { code: 'SQLITE_ERROR' });
  db.exec('COMMIT');
  assert.deepEqual(db.prepare('SELECT * FROM a.t').all(), []);
});
