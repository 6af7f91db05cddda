'use strict';

// One changed byte, place by place: what an authenticated scheme reports and what the others let
// through. Page 1 is NOTADB, all other pages CORRUPT; a bad page stops nobody from reading the rest.

const test = require('node:test');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const { open, overruled, tempFile, throwsNotADb, throwsLike, SqliteError } = require('../support/database.js');
const { otherModes, otherSchemes } = require('../support/schemes.js');
const { bodyOf, isWhole, makeFile, openWith, unlock } = require('./lock.js');

const key = Buffer.from('damage');
const chacha20 = { pragmas: ["cipher='chacha20'"], key };
const chacha20Legacy = { pragmas: ["cipher='chacha20'", 'legacy=1'], key };
const aes256cbc = { pragmas: ["cipher='aes256cbc'"], key };
const PAGE = 4096;
const ROW_1_AT = 2 * PAGE;

/** Changes bytes of a closed file: one bit of the byte at `at`, or all of `length` bytes to zero. */
function damage(file, at, length = 0) {
  const bytes = fs.readFileSync(file);
  if (length > 0) bytes.fill(0, at, at + length);
  else bytes[at] ^= 0x04;
  fs.writeFileSync(file, bytes);
}

const bodyFrom = (db, id) => db.prepare('SELECT body FROM note WHERE id = ?').pluck().get(id);
const isCorrupt = (fn) => throwsLike(fn, SqliteError, 'database disk image is malformed', 'SQLITE_CORRUPT');

const placesOnPage1 = {
  'the first byte of the salt': 0,
  'the last byte of the salt': 15,
  'the page size': 16,
  'the write version': 18,
  'the read version': 19,
  'the reserved length': 20,
  'the schema': 3000,
  'the first byte of the body': 24,
  'the nonce': PAGE - 32,
  'the counter in the nonce': PAGE - 17,
  'the tag': PAGE - 16,
  'the last byte of the tag': PAGE - 1,
};

const placesOnOtherPages = {
  'the body': 100,
  'the end of the body': PAGE - 33,
  'the nonce': PAGE - 30,
  'the tag': PAGE - 5,
};

for (const [name, lock] of [['chacha20', chacha20], ['chacha20 legacy', chacha20Legacy]]) {
  for (const [place, at] of Object.entries(placesOnPage1)) {
    test(`${name}: a changed bit in ${place} of page 1 is NOTADB`, (t) => {
      const file = makeFile(t, tempFile(t), lock);
      damage(file, at);
      const db = openWith(t, file, lock);
      throwsNotADb(() => bodyFrom(db, 1));
      db.close();
      damage(file, at);
      isWhole(openWith(t, file, lock));
    });
  }

  for (const [place, at] of Object.entries(placesOnOtherPages)) {
    test(`${name}: a changed bit in ${place} of another page is CORRUPT, and the other pages are readable`, (t) => {
      const file = makeFile(t, tempFile(t), lock);
      damage(file, ROW_1_AT + at);
      const db = openWith(t, file, lock);
      isCorrupt(() => bodyFrom(db, 1));
      assert.equal(bodyFrom(db, 15), bodyOf(15));
      isCorrupt(() => bodyFrom(db, 1));
      db.exec("UPDATE note SET body = 'written all the same' WHERE id = 15");
      assert.equal(bodyFrom(db, 15), 'written all the same');
    });
  }

  test(`${name}: a page of zeros is CORRUPT, page 1 of zeros NOTADB`, (t) => {
    const file = makeFile(t, tempFile(t), lock);
    damage(file, ROW_1_AT, PAGE);
    isCorrupt(() => bodyFrom(openWith(t, file, lock), 1));
    damage(file, 0, PAGE);
    throwsNotADb(() => bodyFrom(openWith(t, file, lock), 1));
  });

  test(`${name}: two pages that changed places are CORRUPT`, (t) => {
    const file = makeFile(t, tempFile(t), lock);
    const bytes = fs.readFileSync(file);
    const third = Buffer.from(bytes.subarray(2 * PAGE, 3 * PAGE));
    bytes.copy(bytes, 2 * PAGE, 3 * PAGE, 4 * PAGE);
    third.copy(bytes, 3 * PAGE);
    fs.writeFileSync(file, bytes);
    const db = openWith(t, file, lock);
    isCorrupt(() => bodyFrom(db, 1));
    isCorrupt(() => bodyFrom(db, 2));
  });
}

// The salt counts as it makes another key; bytes 16 to 24 of page 1 are under no tag in these schemes.
const lengthsOfTails = { 'sqlcipher': 80, 'sqlcipher legacy 4': 80, 'ascon128': 32, 'aegis': 64, 'aegis-128x4': 48 };

for (const [name, tail] of Object.entries(lengthsOfTails)) {
  const lock = { pragmas: otherSchemes[name] || otherModes[name], key };
  const inTail = [PAGE - tail - 1, PAGE - tail, PAGE - tail + 16, PAGE - 1];

  test(`${name}: a changed bit in salt, body, nonce or tag of page 1 is NOTADB`, (t) => {
    const file = makeFile(t, tempFile(t), lock);
    for (const at of [0, 15, 24, 3000, ...inTail]) {
      damage(file, at);
      const db = openWith(t, file, lock);
      throwsNotADb(() => bodyFrom(db, 1));
      db.close();
      damage(file, at);
    }
    isWhole(openWith(t, file, lock));
  });

  test(`${name}: a changed bit in body, nonce or tag of another page is CORRUPT, and the other pages are readable`, (t) => {
    const file = makeFile(t, tempFile(t), lock);
    for (const at of [0, 100, ...inTail]) {
      damage(file, ROW_1_AT + at);
      const db = openWith(t, file, lock);
      isCorrupt(() => bodyFrom(db, 1));
      assert.equal(bodyFrom(db, 15), bodyOf(15));
      db.close();
      damage(file, ROW_1_AT + at);
    }
    isWhole(openWith(t, file, lock));
  });

  test(`${name}: a page of zeros, and a page in the place of another, are CORRUPT`, (t) => {
    const file = makeFile(t, tempFile(t), lock);
    const bytes = fs.readFileSync(file);
    bytes.copy(bytes, ROW_1_AT, 3 * PAGE, 4 * PAGE);
    fs.writeFileSync(file, bytes);
    isCorrupt(() => bodyFrom(openWith(t, file, lock), 1));
    damage(file, ROW_1_AT, PAGE);
    isCorrupt(() => bodyFrom(openWith(t, file, lock), 1));
    damage(file, 0, PAGE);
    throwsNotADb(() => bodyFrom(openWith(t, file, lock), 1));
  });

  test(`${name}: hmac_check=0 reads what is before the damage on a page`, (t) => {
    const file = makeFile(t, tempFile(t), lock);
    damage(file, ROW_1_AT + PAGE - tail - 50);
    const db = openWith(t, file, { ...lock, pragmas: [...lock.pragmas, 'hmac_check=0'] });
    const body = bodyFrom(db, 1);
    assert.notEqual(body, bodyOf(1));
    assert.equal(body.slice(0, 2700), bodyOf(1).slice(0, 2700));
    isCorrupt(() => bodyFrom(openWith(t, file, lock), 1));
  });
}

test('chacha20: hmac_check=0 reads a damaged page, and holds for one key() only', (t) => {
  const file = makeFile(t, tempFile(t), chacha20);
  damage(file, ROW_1_AT + PAGE - 32 - 50);
  const db = open(t, file);
  unlock(db, { pragmas: [...chacha20.pragmas, 'hmac_check=0'], key });
  const body = bodyFrom(db, 1);
  const differing = [...body].filter((letter, n) => letter !== bodyOf(1)[n]).length;
  assert.equal(differing, 1);
  assert.equal(db.pragma('hmac_check', { simple: true }), '1');
  unlock(db, chacha20);
  isCorrupt(() => bodyFrom(db, 1));
});

test('aes256cbc: a changed bit in bytes 16 to 24 of page 1 is NOTADB, as they are compared with their copy', (t) => {
  for (let at = 16; at < 24; at += 1) {
    const file = makeFile(t, tempFile(t), aes256cbc);
    damage(file, at);
    throwsNotADb(() => bodyFrom(openWith(t, file, aes256cbc), 1));
    damage(file, at);
    isWhole(openWith(t, file, aes256cbc));
  }
});

test('aes256cbc: bytes 0 to 8 of page 1 are filler', (t) => {
  const file = makeFile(t, tempFile(t), aes256cbc);
  for (let at = 0; at < 8; at += 1) damage(file, at);
  isWhole(openWith(t, file, aes256cbc));
});

test('aes256cbc has no tag: a changed bit of a body is read as other content, or found by SQLite', (t) => {
  const file = makeFile(t, tempFile(t), aes256cbc);
  damage(file, ROW_1_AT + PAGE - 200);
  const db = openWith(t, file, aes256cbc);
  assert.notEqual(bodyFrom(db, 1), bodyOf(1));
  assert.equal(bodyFrom(db, 2), bodyOf(2));
  damage(file, ROW_1_AT);
  const again = openWith(t, file, aes256cbc);
  isCorrupt(() => again.prepare('SELECT sum(length(body)) FROM note').get());
});

test('chacha20: a changed bit in a WAL frame: SQLite drops the frame by its checksum, and what follows', (t) => {
  const file = makeFile(t, tempFile(t), chacha20, 'journal_mode=wal');
  const db = openWith(t, file, chacha20);
  db.pragma('wal_autocheckpoint=0');
  db.exec("UPDATE note SET body = 'in the WAL' WHERE id = 1");
  const copy = tempFile(t);
  fs.copyFileSync(file, copy);
  fs.copyFileSync(`${file}-wal`, `${copy}-wal`);
  assert.equal(bodyFrom(openWith(t, copy, chacha20), 1), 'in the WAL');
  fs.copyFileSync(file, `${copy}2`);
  fs.copyFileSync(`${file}-wal`, `${copy}2-wal`);
  damage(`${copy}2-wal`, 32 + 24 + 500);
  isWhole(openWith(t, `${copy}2`, chacha20));
});

overruled('a last page that is cut short is not shown, and hides nothing else', (t) => {
  for (const lock of [chacha20, aes256cbc]) {
    const file = makeFile(t, tempFile(t), lock);
    const bytes = fs.readFileSync(file);
    bytes.write('forged', bytes.length - 300);
    fs.writeFileSync(file, bytes.subarray(0, bytes.length - 1));
    const db = openWith(t, file, lock);
    assert.equal(bodyFrom(db, 1), bodyOf(1));
    isCorrupt(() => db.prepare('SELECT id, body FROM note').all());
    fs.writeFileSync(file, bytes.subarray(0, PAGE - 1));
    throwsNotADb(() => openWith(t, file, lock).prepare('SELECT * FROM note').all());
  }
});
