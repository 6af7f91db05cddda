'use strict';

// Which key opens a file and which does not: right, wrong, none, another scheme, legacy modes,
// parameters, the forms of a key, the salt. Files here are closed in order; what a wrong key meets
// after a crash is in interop/guard.test.js. Answers and errors of the PRAGMAs are in pragmas.test.js.

const test = require('node:test');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const { open, tempFile, throwsNotADb } = require('../support/database.js');
const { otherSchemes } = require('../support/schemes.js');
const { MARKER, openWith, unlock, isWhole, makeFile, fill } = require('./lock.js');

const key = Buffer.from('correct horse');
const locks = {
  'chacha20': { pragmas: ["cipher='chacha20'"], key },
  'chacha20 legacy': { pragmas: ["cipher='chacha20'", 'legacy=1'], key },
  'aes256cbc': { pragmas: ["cipher='aes256cbc'"], key },
  'aes256cbc legacy': { pragmas: ["cipher='aes256cbc'", 'legacy=1'], key },
};
for (const [name, pragmas] of Object.entries(otherSchemes)) locks[name] = { pragmas, key };
// A codec of the newer layout of aes256cbc recognises the older one by itself.
const opensToo = { 'aes256cbc legacy': ['aes256cbc'] };
const read = (db) => db.prepare('SELECT * FROM note').all();

for (const [name, lock] of Object.entries(locks)) {
  test(`${name}: the right key opens, also read-only and for writing`, (t) => {
    const file = makeFile(t, tempFile(t), lock);
    isWhole(openWith(t, file, lock, { readonly: true }));
    const db = openWith(t, file, lock);
    isWhole(db);
    db.exec("UPDATE note SET body = 'changed' WHERE id = 7");
    db.close();
    assert.equal(openWith(t, file, lock).prepare('SELECT body FROM note WHERE id = 7').pluck().get(), 'changed');
  });

  test(`${name}: nothing readable is in the file`, (t) => {
    const bytes = fs.readFileSync(makeFile(t, tempFile(t), lock));
    assert.equal(bytes.includes(MARKER), false);
    assert.equal(bytes.includes('SQLite format 3'), false);
    assert.equal(bytes.includes('CREATE TABLE'), false);
  });

  test(`${name}: a wrong key is refused at every access, and the right one then works on the same connection`, (t) => {
    for (const journalMode of ['delete', 'wal']) {
      const file = makeFile(t, tempFile(t), lock, `journal_mode=${journalMode}`);
      const before = fs.readFileSync(file);
      const db = openWith(t, file, { ...lock, key: Buffer.from('Correct horse') });
      for (let turn = 0; turn < 2; turn += 1) {
        throwsNotADb(() => read(db));
        throwsNotADb(() => db.exec('CREATE TABLE oops (x)'));
        throwsNotADb(() => db.pragma('journal_mode=WAL'));
        unlock(db, { ...lock, key: Buffer.from('another') });
      }
      unlock(db, lock);
      isWhole(db);
      db.close();
      assert.ok(fs.readFileSync(file).equals(before));
    }
  });

  test(`${name}: without a key the file is not a database`, (t) => {
    const file = makeFile(t, tempFile(t), lock);
    const db = open(t, file);
    throwsNotADb(() => read(db));
    throwsNotADb(() => db.prepare('SELECT * FROM sqlite_master').all());
    unlock(db, lock);
    isWhole(db);
  });

  for (const [otherName, otherLock] of Object.entries(locks)) {
    if (otherName === name || (opensToo[name] || []).includes(otherName)) continue;
    test(`${name}: ${otherName} with the same key is refused, and ${name} then works on the same connection`, (t) => {
      for (const journalMode of ['delete', 'wal']) {
        const file = makeFile(t, tempFile(t), lock, `journal_mode=${journalMode}`);
        const db = openWith(t, file, otherLock);
        throwsNotADb(() => db.pragma('journal_mode=WAL'));
        throwsNotADb(() => read(db));
        unlock(db, { pragmas: [lock.pragmas[0], 'legacy=0', ...lock.pragmas.slice(1)], key });
        assert.equal(db.pragma('journal_mode=WAL', { simple: true }), 'wal');
        isWhole(db);
        db.exec("INSERT INTO note VALUES (99, 'written')");
        db.close();
        assert.equal(read(openWith(t, file, lock)).length, 21);
      }
    });
  }

  test(`${name}: a wrong key set on a working connection makes reads fail, the right one repairs it`, (t) => {
    const db = fill(openWith(t, tempFile(t), lock));
    isWhole(db);
    db.key(Buffer.from('wrong'));
    throwsNotADb(() => db.exec('SELECT * FROM note'));
    unlock(db, lock);
    isWhole(db);
  });

  test(`${name}: VACUUM keeps the key`, (t) => {
    const file = makeFile(t, tempFile(t), lock);
    const db = openWith(t, file, lock);
    db.exec('DELETE FROM note WHERE id > 10; VACUUM');
    db.close();
    assert.equal(read(openWith(t, file, lock)).length, 10);
    throwsNotADb(() => read(openWith(t, file, { ...lock, key: Buffer.from('x') })));
  });

  test(`${name}: an empty file stays empty until the first write, and any key opens it until then`, (t) => {
    const file = tempFile(t);
    const first = openWith(t, file, { ...lock, key: Buffer.from('never used') });
    assert.deepEqual(first.prepare('SELECT * FROM sqlite_master').all(), []);
    first.close();
    assert.equal(fs.statSync(file).size, 0);
    makeFile(t, file, lock);
    isWhole(openWith(t, file, lock));
  });
}

test('aes256cbc: the first write in the newer layout turns a legacy file into it', (t) => {
  const file = makeFile(t, tempFile(t), locks['aes256cbc legacy']);
  const db = openWith(t, file, locks.aes256cbc);
  isWhole(db);
  db.exec('CREATE TABLE more (x)');
  db.close();
  isWhole(openWith(t, file, locks.aes256cbc));
  throwsNotADb(() => read(openWith(t, file, locks['aes256cbc legacy'])));
});

test('aes256cbc: only the first 32 bytes of a passphrase count', (t) => {
  const long = Buffer.alloc(60, 'abcdefghij');
  const file = makeFile(t, tempFile(t), { ...locks.aes256cbc, key: long });
  isWhole(openWith(t, file, { ...locks.aes256cbc, key: long.subarray(0, 32) }));
  throwsNotADb(() => read(openWith(t, file, { ...locks.aes256cbc, key: long.subarray(0, 31) })));
});

test('aes256cbc: kdf_iter is taken and has no effect', (t) => {
  const file = makeFile(t, tempFile(t), { pragmas: ["cipher='aes256cbc'", 'kdf_iter=17'], key });
  isWhole(openWith(t, file, locks.aes256cbc));
});

test('chacha20: kdf_iter must be the one the file was made with; in legacy mode it has no effect', (t) => {
  const file = makeFile(t, tempFile(t), { pragmas: ["cipher='chacha20'", 'kdf_iter=17'], key });
  isWhole(openWith(t, file, { pragmas: ["cipher='chacha20'", 'kdf_iter=17'], key }));
  throwsNotADb(() => read(openWith(t, file, locks.chacha20)));
  const legacy = makeFile(t, tempFile(t), { pragmas: ["cipher='chacha20'", 'legacy=1', 'kdf_iter=17'], key });
  isWhole(openWith(t, legacy, locks['chacha20 legacy']));
});

test('chacha20: the parameters set before key() count, later ones do not', (t) => {
  const file = tempFile(t);
  const db = openWith(t, file, locks.chacha20);
  db.pragma('kdf_iter=17');
  db.pragma("cipher='aes256cbc'");
  fill(db).close();
  isWhole(openWith(t, file, locks.chacha20));
});

test('chacha20 is the scheme when none was chosen', (t) => {
  const file = makeFile(t, tempFile(t), { key });
  isWhole(openWith(t, file, locks.chacha20));
});

test('chacha20: page 1 begins with the salt, bytes 16 to 24 stay readable', (t) => {
  const file = makeFile(t, tempFile(t), locks.chacha20);
  const bytes = fs.readFileSync(file);
  const salt = openWith(t, file, locks.chacha20).pragma('cipher_salt', { simple: true });
  assert.equal(salt, bytes.subarray(0, 16).toString('hex').toUpperCase());
  assert.deepEqual([...bytes.subarray(16, 24)], [16, 0, 1, 1, 32, 64, 32, 32]);
});

test('chacha20: each write of a page takes a new nonce, each file a new salt', (t) => {
  const nonces = new Set();
  const salts = new Set();
  let pages = 0;
  for (let n = 0; n < 3; n += 1) {
    const file = makeFile(t, tempFile(t), locks.chacha20);
    for (let write = 0; write < 2; write += 1) {
      const db = openWith(t, file, locks.chacha20);
      db.exec('UPDATE note SET body = body');
      db.exec('VACUUM');
      db.close();
      const bytes = fs.readFileSync(file);
      salts.add(bytes.toString('hex', 0, 16));
      for (let end = 4096; end <= bytes.length; end += 4096) {
        nonces.add(bytes.toString('hex', end - 32, end - 16));
        pages += 1;
      }
    }
  }
  assert.equal(nonces.size, pages);
  assert.equal(salts.size, 3);
});

test('chacha20: rekey draws a new salt in DELETE mode and keeps it in WAL mode', (t) => {
  for (const [journalMode, same] of [['delete', false], ['wal', true]]) {
    const file = makeFile(t, tempFile(t), locks.chacha20, `journal_mode=${journalMode}`);
    const salt = fs.readFileSync(file).toString('hex', 0, 16);
    const db = openWith(t, file, locks.chacha20);
    isWhole(db);
    db.rekey(Buffer.from('next'));
    isWhole(db);
    db.close();
    assert.equal(fs.readFileSync(file).toString('hex', 0, 16) === salt, same, journalMode);
    isWhole(openWith(t, file, { ...locks.chacha20, key: Buffer.from('next') }));
    throwsNotADb(() => read(openWith(t, file, locks.chacha20)));
  }
});

const hex = '00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff';
const saltHex = '0102030405060708090a0b0c0d0e0f10';
const rawForms = {
  "x'' and hex digits": `"x'${hex}'"`,
  "X'' and upper case": `"X'${hex.toUpperCase()}'"`,
  'raw: and hex digits': `'raw:${hex}'`,
  'raw: and bytes': Buffer.concat([Buffer.from('raw:'), Buffer.from(hex, 'hex')]),
  'raw: with a salt, which an existing file overrules': `'raw:${hex}${saltHex}'`,
};

for (const [name, form] of Object.entries(rawForms)) {
  test(`chacha20: a raw key given as ${name}`, (t) => {
    const pragmas = ["cipher='chacha20'"];
    const file = makeFile(t, tempFile(t), { pragmas, key: `'raw:${hex}'` });
    isWhole(openWith(t, file, { pragmas, key: form }));
  });
}

test('chacha20: a salt in the raw key, or in cipher_salt, is the salt of a new file', (t) => {
  const withRaw = makeFile(t, tempFile(t), { pragmas: ["cipher='chacha20'"], key: `'raw:${hex}${saltHex}'` });
  assert.equal(fs.readFileSync(withRaw).toString('hex', 0, 16), saltHex);
  const withPragma = makeFile(t, tempFile(t), { pragmas: ["cipher='chacha20'", `cipher_salt='${saltHex}'`], key });
  assert.equal(fs.readFileSync(withPragma).toString('hex', 0, 16), saltHex);
  isWhole(openWith(t, withPragma, locks.chacha20));
});

test('chacha20: raw: with another length is an ordinary passphrase; aes256cbc knows no raw keys', (t) => {
  const short = makeFile(t, tempFile(t), { pragmas: ["cipher='chacha20'"], key: "'raw:0011'" });
  isWhole(openWith(t, short, { pragmas: ["cipher='chacha20'"], key: Buffer.from('raw:0011') }));
  const other = makeFile(t, tempFile(t), { pragmas: ["cipher='aes256cbc'"], key: `'raw:${hex}'` });
  isWhole(openWith(t, other, { pragmas: ["cipher='aes256cbc'"], key: Buffer.from(`raw:${hex}`) }));
});

test('the forms of a passphrase: text, bytes and hexkey are the same bytes; text ends at a NUL', (t) => {
  for (const scheme of ['chacha20', 'aes256cbc']) {
    const pragmas = [`cipher='${scheme}'`];
    const file = makeFile(t, tempFile(t), { pragmas, key: Buffer.from("gr\u00fc\u00df 'x' \u4f1a") });
    isWhole(openWith(t, file, { pragmas, key: "'gr\u00fc\u00df ''x'' \u4f1a'" }));
    const db = openWith(t, file, { pragmas });
    db.pragma(`hexkey='${Buffer.from("gr\u00fc\u00df 'x' \u4f1a").toString('hex').toUpperCase()}'`);
    isWhole(db);
    const number = makeFile(t, tempFile(t), { pragmas, key: '-5' });
    isWhole(openWith(t, number, { pragmas, key: Buffer.from('-5') }));
    const withNul = makeFile(t, tempFile(t), { pragmas, key: Buffer.from('a\0b') });
    throwsNotADb(() => read(openWith(t, withNul, { pragmas, key: "'a'" })));
    isWhole(openWith(t, withNul, { pragmas, key: Buffer.from('a\0b') }));
  }
});

test('a key on a plain database is refused at the first access, and the empty key gives it back', (t) => {
  for (const scheme of ['chacha20', 'aes256cbc']) {
    const file = makeFile(t, tempFile(t), {});
    const before = fs.readFileSync(file);
    const db = openWith(t, file, { pragmas: [`cipher='${scheme}'`], key });
    throwsNotADb(() => read(db));
    db.pragma("key=''");
    isWhole(db);
    db.close();
    assert.ok(fs.readFileSync(file).equals(before));
  }
});
