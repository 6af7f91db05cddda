'use strict';

// A process that ends in the middle of a re-key leaves a database that one of the two keys opens,
// whole. The replaced package draws a new salt that is then only in the journal's or the WAL's page
// 1, and loses such files, so none of this is asked of it.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const { open, overruled, tempFile } = require('../support/database.js');
const { otherSchemes } = require('../support/schemes.js');
const { shared, start, unlockHere, within } = require('./processes.js');
const { readJournal, playedBackPages } = require('./journal.js');
const { read, restore, isUntouched } = require('./crashed.js');
const { seededRandom } = require('./random.js');
const workloads = require('./workloads.js');

const processOf = shared();
const schemes = {
  'chacha20': ["cipher='chacha20'"],
  'aes256cbc': ["cipher='aes256cbc'"],
  'chacha20 legacy': ["cipher='chacha20'", 'legacy=1'],
  ...otherSchemes,
};
const keys = ['old key', 'new key'].map((text) => Buffer.from(text));
const sound = (number, cells) => ({ cells, numbers: [number], wrongBodies: 0, integrity: 'ok' });

for (const [name, pragmas] of Object.entries(schemes)) {
  const [oldLock, newLock] = keys.map((key) => ({ pragmas, key }));

  // An empty journal is taken as it is and written to; its second name keeps what the commit deletes.
  // Together with the file as it is then, this is the state of a process killed just before that.
  function rekeyKeepingJournal(t) {
    const file = tempFile(t);
    const db = unlockHere(open(t, file), oldLock);
    workloads.fillCells(db, 40, 2500);
    workloads.commitCells(db, 1);
    const before = fs.readFileSync(file);
    db.pragma('cache_size=10');
    fs.writeFileSync(`${file}-journal`, '');
    fs.linkSync(`${file}-journal`, `${file}-kept`);
    for (const pragma of pragmas) db.pragma(pragma);
    db.rekey(keys[1]);
    db.close();
    return { before, after: fs.readFileSync(file), journal: fs.readFileSync(`${file}-kept`) };
  }

  overruled(`${name}: ended before the journal of a re-key was deleted, the old key gets all back`, (t) => {
    const { before, after, journal } = rekeyKeepingJournal(t);
    const half = Math.floor(after.length / 2 / 4096) * 4096;
    const states = {
      'all pages written': after,
      'all but page 1 written': Buffer.concat([before.subarray(0, 4096), after.subarray(4096)]),
      'the first half written': Buffer.concat([after.subarray(0, half), before.subarray(half)]),
      'only page 1 written': Buffer.concat([after.subarray(0, 4096), before.subarray(4096)]),
      'nothing written': before,
    };
    for (const [state, bytes] of Object.entries(states)) {
      const crashed = { '': bytes, '-journal': journal };
      const file = restore(t, crashed);
      assert.ok(playedBackPages(`${file}-journal`).includes(1), 'the kept journal is not hot');
      assert.equal(readJournal(`${file}-journal`)[0].pageSize, 4096);
      const refused = unlockHere(open(t, file), newLock);
      assert.throws(() => workloads.readCells(refused), { code: 'SQLITE_NOTADB' }, state);
      refused.close();
      isUntouched(file, crashed, `the new key, ${state}`);
      const db = unlockHere(open(t, file), oldLock);
      assert.deepEqual(workloads.readCells(db), sound(1, 40), state);
      workloads.commitCells(db, 2);
      db.close();
      const again = unlockHere(open(t, file), oldLock);
      assert.deepEqual(workloads.readCells(again), sound(2, 40), state);
    }
  });

  overruled(`${name}: re-keyed in WAL mode before anything was read, then killed`, async (t) => {
    const file = tempFile(t);
    await within(t, 'ours', (first) => create(first, file, oldLock, 'wal', 40));
    const second = await start(t, 'ours');
    const db = await second.open(file, oldLock);
    await db.pragma('wal_autocheckpoint=0');
    for (const pragma of pragmas) await db.pragma(pragma);
    await db.rekey(keys[1]);
    await db.work('commitCells', 3);
    await second.kill();
    const bytes = read(file);
    const refused = unlockHere(open(t, file), oldLock);
    assert.throws(() => workloads.readCells(refused), { code: 'SQLITE_NOTADB' });
    refused.close();
    isUntouched(file, bytes, 'the old key');
    assert.deepEqual(workloads.readCells(unlockHere(open(t, file), newLock)), sound(3, 40));
  });

  for (const [journalMode, what, first, second] of [
    ['delete', 'a re-key', ...keys], ['wal', 'a re-key', ...keys], ['wal', 'encryption and decryption', undefined, keys[1]],
  ]) {
    overruled(`${name} in ${journalMode} mode: killed at any moment of ${what}, one key opens the file`, async (t) => {
      const { random, seed } = seededRandom();
      const file = tempFile(t);
      await within(t, 'ours', (maker) => create(maker, file, { pragmas, key: first }, journalMode, 1000));
      const duration = await timeRekey(file, pragmas, [first, second]);
      let pair = [second, first];
      let changed = 0;
      for (let round = 0; round < 8; round += 1) {
        await killWhileRekeying(t, file, pragmas, pair, random() * duration * 1.2);
        if (await whichOpens(file, pragmas, pair) === 1) {
          pair = [pair[1], pair[0]];
          changed += 1;
        }
      }
      console.log(`${name}, ${journalMode}, ${what}, seed ${seed}: the old key opened ${8 - changed} times,`
        + ` the new one ${changed} times`);
    });
  }
}

async function create(process, file, lock, journalMode, cells) {
  const db = await process.open(file, lock);
  await db.pragma(`journal_mode=${journalMode}`);
  await db.work('fillCells', cells, 2000);
  await db.close();
}

async function rekey(process, file, pragmas, [oldKey, newKey], onStart = () => {}) {
  const db = await process.open(file, { pragmas, key: oldKey });
  await db.pragma('cache_size=20');
  await db.get('SELECT count(*) FROM cell');
  for (const pragma of pragmas) await db.pragma(pragma);
  onStart();
  // No key: the database is plain.
  await db.rekey(newKey ?? Buffer.alloc(0));
  await db.close();
}

async function timeRekey(file, pragmas, pair) {
  let startedAt = 0;
  await rekey(await processOf('ours'), file, pragmas, pair, () => { startedAt = Date.now(); });
  return Date.now() - startedAt;
}

async function killWhileRekeying(t, file, pragmas, pair, afterMs) {
  const process = await start(t, 'ours');
  await new Promise((resolve) => {
    const ended = rekey(process, file, pragmas, pair, () => setTimeout(resolve, afterMs));
    ended.catch((error) => assert.equal(error.code, 'ENDED'));
  });
  await process.kill();
}

/** The index of the one key that opens the file with its whole content. */
async function whichOpens(file, pragmas, candidates) {
  const process = await processOf('ours');
  const found = [];
  for (const [index, key] of candidates.entries()) {
    const db = await process.open(file, { pragmas, key });
    try {
      assert.deepEqual(await db.work('readCells'), sound(0, 1000));
      found.push(index);
    } catch (error) {
      assert.equal(error.code, 'SQLITE_NOTADB', error.message);
    }
    await db.close();
  }
  assert.equal(found.length, 1, `${found.length} of the two keys open the file`);
  return found[0];
}
