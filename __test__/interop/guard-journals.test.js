'use strict';

// Which page proves the key before a hot journal is played back: (a) page 1 in the journal, if its
// counted records have one; (b) page 1 of the file otherwise; (c) none, when nothing is played back.
// What follows from a wrong key in general is in guard.test.js; the journals are made by a kill and,
// where no kill can make them, by changing bytes of such a journal.

const test = require('node:test');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { open, overruled, tempFile } = require('../support/database.js');
const { start, unlockHere } = require('./processes.js');
const { readJournal, playedBackPages } = require('./journal.js');
const { crash, read, restore, isUntouched, hasEveryCommit } = require('./crashed.js');
const workloads = require('./workloads.js');

const key = Buffer.from('the right key');
const locks = {
  chacha20: { pragmas: ["cipher='chacha20'"], key },
  aes256cbc: { pragmas: ["cipher='aes256cbc'"], key },
};
const wrongKey = Buffer.from('wrong');
const wrongLocks = [{}, { ...locks.chacha20, key: wrongKey }, { ...locks.aes256cbc, key: wrongKey }];
const PAGE_1_CHANGES = 'PRAGMA user_version=77;';
const COUNT_AT = 8;

function refusesWithoutTouching(t, file, bytes) {
  for (const wrongLock of wrongLocks) {
    const db = unlockHere(open(t, file), wrongLock);
    assert.throws(() => workloads.readCells(db), { code: 'SQLITE_NOTADB' });
    isUntouched(file, bytes, 'a read');
    db.close();
    isUntouched(file, bytes, 'close()');
  }
}

/** Bytes of a database whose page 1 was being overwritten at the moment of the crash. */
function tear(bytes, from, to) {
  const torn = Buffer.from(bytes['']);
  torn.fill(0xa5, from, to);
  return { ...bytes, '': torn };
}

for (const [name, lock] of Object.entries(locks)) {
  for (const pageSize of [512, 4096, 65536]) {
    overruled(`${name}, pages of ${pageSize} bytes, (a) page 1 in the journal proves the key`, async (t) => {
      const { bytes } = await crash(t, 'ours', lock, { pageSize, within: PAGE_1_CHANGES });
      const file = restore(t, bytes);
      assert.ok(playedBackPages(`${file}-journal`).includes(1));
      refusesWithoutTouching(t, file, bytes);
      const db = unlockHere(open(t, file), lock);
      hasEveryCommit(db);
      assert.equal(db.pragma('user_version', { simple: true }), 0);
    });

    overruled(`${name}, pages of ${pageSize} bytes, (b) page 1 of the file proves the key`, async (t) => {
      const { bytes } = await crash(t, 'ours', lock, { pageSize });
      const file = restore(t, bytes);
      assert.ok(!playedBackPages(`${file}-journal`).includes(1));
      refusesWithoutTouching(t, file, bytes);
      hasEveryCommit(unlockHere(open(t, file), lock));
    });
  }

  // The commit was writing page 1 when the power went: the journal alone has it whole.
  for (const [what, from] of [['its second half', 2048], ['all but its first 24 bytes', 24], ['the whole', 0]]) {
    overruled(`${name}, (a) with page 1 of the file torn (${what}): the journal's page 1 proves the key`, async (t) => {
      const { bytes } = await crash(t, 'ours', lock, { within: PAGE_1_CHANGES });
      const torn = tear(bytes, from, 4096);
      const file = restore(t, torn);
      refusesWithoutTouching(t, file, torn);
      hasEveryCommit(unlockHere(open(t, file), lock));
    });
  }

  overruled(`${name}, (b) with page 1 of the file damaged: no key is proved, nothing is played back`, async (t) => {
    const { bytes } = await crash(t, 'ours', lock);
    const torn = tear(bytes, 0, 4096);
    const file = restore(t, torn);
    const db = unlockHere(open(t, file), lock);
    assert.throws(() => workloads.readCells(db), { code: 'SQLITE_NOTADB' });
    db.close();
    isUntouched(file, torn, 'the attempt and close()');
  });

  test(`${name}, (c) a journal that counts no record is played back by any key and changes nothing`, async (t) => {
    const { committed, bytes } = await crash(t, 'ours', lock);
    const journal = Buffer.from(bytes['-journal']);
    journal.writeUInt32BE(0, COUNT_AT);
    const file = restore(t, { '': committed[''], '-journal': journal });
    assert.deepEqual(playedBackPages(`${file}-journal`), []);
    for (const wrongLock of wrongLocks) {
      const db = unlockHere(open(t, file), wrongLock);
      assert.throws(() => workloads.readCells(db), { code: 'SQLITE_NOTADB' });
      db.close();
      assert.ok(fs.readFileSync(file).equals(committed['']));
    }
    hasEveryCommit(unlockHere(open(t, file), lock));
  });

  test(`${name}, (c) the first transaction of a new file is undone under any key`, async (t) => {
    const made = tempFile(t);
    const process = await start(t, 'ours');
    await (await process.open(made, lock)).work('leaveFirstOpen', 60, 2500);
    await process.kill();
    const bytes = read(made);
    assert.equal(readJournal(`${made}-journal`)[0].originalPages, 0);
    for (const anyLock of [lock, ...wrongLocks]) {
      const file = restore(t, bytes);
      const db = unlockHere(open(t, file), anyLock);
      assert.deepEqual(db.prepare('SELECT name FROM sqlite_master').all(), []);
      db.exec('CREATE TABLE mine (a)');
      db.close();
      assert.equal(fs.existsSync(`${file}-journal`), false);
      const again = unlockHere(open(t, file), anyLock);
      assert.deepEqual(again.prepare('SELECT name FROM sqlite_master').pluck().all(), ['mine']);
    }
  });

  test(`${name}, (c) the journal of a commit over several files, whose super-journal is gone`, async (t) => {
    const { committed, bytes } = await crash(t, 'ours', lock);
    const file = restore(t, { '': committed[''] });
    const journal = withSuperJournal(bytes['-journal'], path.join(path.dirname(file), 'gone-mj'));
    fs.writeFileSync(`${file}-journal`, journal);
    for (const wrongLock of wrongLocks) {
      const db = unlockHere(open(t, file), wrongLock);
      assert.throws(() => workloads.readCells(db), { code: 'SQLITE_NOTADB' });
      db.close();
      assert.ok(fs.readFileSync(file).equals(committed['']));
    }
    hasEveryCommit(unlockHere(open(t, file), lock));
  });

  test(`${name}: a left-over journal beside an empty file belongs to nothing`, async (t) => {
    const { bytes } = await crash(t, 'ours', lock);
    for (const anyLock of [lock, ...wrongLocks]) {
      const file = restore(t, { '': Buffer.alloc(0), '-journal': bytes['-journal'] });
      const db = unlockHere(open(t, file), anyLock);
      assert.deepEqual(db.prepare('SELECT name FROM sqlite_master').all(), []);
      assert.equal(fs.statSync(file).size, 0);
      db.exec('CREATE TABLE mine (a)');
      db.close();
      assert.equal(fs.existsSync(`${file}-journal`), false);
    }
  });

  test(`${name}: a left-over WAL beside an empty file belongs to nothing`, async (t) => {
    const { bytes } = await crash(t, 'ours', lock, { journalMode: 'wal' });
    for (const anyLock of [lock, ...wrongLocks]) {
      const file = restore(t, { '': Buffer.alloc(0), '-wal': bytes['-wal'] });
      const db = unlockHere(open(t, file), anyLock);
      assert.deepEqual(db.prepare('SELECT name FROM sqlite_master').all(), []);
      db.exec('CREATE TABLE mine (a)');
      db.close();
      assert.equal(fs.existsSync(`${file}-wal`), false);
    }
  });
}

/** Appends the record that names a super-journal: page number of the lock page, name, length, sum, magic. */
function withSuperJournal(journal, name) {
  const text = Buffer.from(name);
  const sectorLength = 512;
  const padding = Buffer.alloc((sectorLength - (journal.length % sectorLength)) % sectorLength);
  const numbers = Buffer.alloc(12);
  numbers.writeUInt32BE(2 ** 30 / 4096 + 1, 0);
  numbers.writeUInt32BE(text.length, 4);
  numbers.writeUInt32BE(text.reduce((sum, byte) => sum + byte, 0), 8);
  const magic = Buffer.from('d9d505f920a163d7', 'hex');
  return Buffer.concat([journal, padding, numbers.subarray(0, 4), text, numbers.subarray(4), magic]);
}
