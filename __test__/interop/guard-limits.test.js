'use strict';

// Where a look at page 1 alone would not protect a crashed database: a key that was right before
// another process changed it, a cipher whose tags are not checked, a record of page 1 that a power cut
// tore. What is asked in the ordinary case is in guard.test.js and guard-journals.test.js.

const assert = require('node:assert/strict');
const crypto = require('node:crypto');
const { open, overruled } = require('../support/database.js');
const { otherModes } = require('../support/schemes.js');
const { start, unlockHere } = require('./processes.js');
const { crash, read, restore, isUntouched, hasEveryCommit } = require('./crashed.js');
const { readJournal, playedBackPages } = require('./journal.js');
const workloads = require('./workloads.js');

const keys = ['the first key', 'the second key'].map((text) => Buffer.from(text));
const lockOf = (cipher, key) => ({ pragmas: [`cipher='${cipher}'`], key });

for (const cipher of ['chacha20', 'aes256cbc']) {
  overruled(`${cipher}: a connection with the key of before recovers nothing that was written under the new one`, async (t) => {
    const process = await start(t, 'ours');
    const { file } = await makeFile(t, process, lockOf(cipher, keys[0]));
    const old = unlockHere(open(t, file), lockOf(cipher, keys[0]));
    assert.equal(workloads.readCells(old).cells, 60);

    const db = await process.open(file, lockOf(cipher, keys[0]));
    await db.pragma(`cipher='${cipher}'`);
    await db.rekey(keys[1]);
    await db.work('commitCells', 2);
    await db.work('leaveOpen', 3, 5, '');
    await process.kill();
    const bytes = read(file);
    assert.ok(playedBackPages(`${file}-journal`).length > 0, 'no hot journal was left');

    assert.throws(() => workloads.readCells(old), { code: 'SQLITE_NOTADB' });
    isUntouched(file, bytes, 'the old key');
    old.close();
    isUntouched(file, bytes, 'close() under the old key');
    hasEveryCommit(unlockHere(open(t, file), lockOf(cipher, keys[1])));
  });
}

overruled('chacha20 with hmac_check=0: a wrong key recovers nothing, the right one does', async (t) => {
  const { bytes } = await crash(t, 'ours', lockOf('chacha20', keys[0]));
  const file = restore(t, bytes);
  const unchecked = (key) => ({ pragmas: ["cipher='chacha20'", 'hmac_check=0'], key });
  const wrong = unlockHere(open(t, file), unchecked(keys[1]));
  assert.throws(() => workloads.readCells(wrong), { code: 'SQLITE_NOTADB' });
  wrong.close();
  isUntouched(file, bytes, 'a wrong key');
  hasEveryCommit(unlockHere(open(t, file), unchecked(keys[0])));
});

for (const [name, pageSize] of [['sqlcipher without HMAC', 4096], ['sqlcipher legacy 1', 1024]]) {
  overruled(`${name}: a wrong key recovers nothing, the right one does`, async (t) => {
    const [lock, wrongLock] = keys.map((key) => ({ pragmas: otherModes[name], key }));
    const { bytes } = await crash(t, 'ours', lock, { pageSize });
    const file = restore(t, bytes);
    const wrong = unlockHere(open(t, file), wrongLock);
    assert.throws(() => workloads.readCells(wrong), { code: 'SQLITE_NOTADB' });
    wrong.close();
    isUntouched(file, bytes, 'a wrong key');
    hasEveryCommit(unlockHere(open(t, file), lock));
  });
}

for (const [name, lock] of Object.entries({ plain: {}, chacha20: lockOf('chacha20', keys[0]), aes256cbc: lockOf('aes256cbc', keys[0]) })) {
  overruled(`${name}: a torn record of page 1 does not lock the owner out`, async (t) => {
    const { bytes } = await crash(t, 'ours', lock, { within: 'CREATE TABLE spilled (x);', settings: ['synchronous=OFF'] });
    const journal = bytes['-journal'];
    const file = restore(t, bytes);
    const [{ pageSize, sectorSize, pages }] = readJournal(`${file}-journal`);
    const at = sectorSize + pages.indexOf(1) * (pageSize + 8) + 4;
    assert.ok(pages.includes(1) && pages.length > 2, 'page 1 is not among several records');
    crypto.randomFillSync(journal, at, pageSize);
    const torn = restore(t, { ...bytes, '-journal': journal });
    const db = unlockHere(open(t, torn), lock);
    assert.equal(db.prepare('SELECT count(*) FROM cell').pluck().get(), 60);

    if (name === 'plain') return;
    const refused = restore(t, { ...bytes, '-journal': journal });
    const other = unlockHere(open(t, refused), { ...lock, key: keys[1] });
    assert.throws(() => workloads.readCells(other), { code: 'SQLITE_NOTADB' });
    other.close();
    isUntouched(refused, { ...bytes, '-journal': journal }, 'a wrong key');
  });
}

async function makeFile(t, process, lock) {
  const file = restore(t, { '': Buffer.alloc(0) });
  const db = await process.open(file, lock);
  await db.work('fillCells', 60, 2500);
  await db.work('commitCells', 1);
  return { file };
}
