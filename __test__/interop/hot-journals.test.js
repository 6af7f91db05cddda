'use strict';

// A process of one package is killed in the middle of a transaction in a rollback mode; the other
// package finds the last committed state. Journals are read with journal.js to be sure that each
// case is the one it says. What a wrong key does to such a file is in guard.test.js.

const test = require('node:test');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const { overruled, tempFile } = require('../support/database.js');
const { otherSchemes } = require('../support/schemes.js');
const { DIRECTIONS, shared, start } = require('./processes.js');
const { readJournal, playedBackPages } = require('./journal.js');
const { seededRandom } = require('./random.js');

const processOf = shared();
const key = Buffer.from('hot journal');
const locks = {
  chacha20: { pragmas: ["cipher='chacha20'"], key },
  'chacha20 legacy': { pragmas: ["cipher='chacha20'", 'legacy=1'], key },
  aes256cbc: { pragmas: ["cipher='aes256cbc'"], key },
  'no encryption': { pragmas: [] },
};
const cells = 60;
const sound = (number) => ({ cells, numbers: [number], wrongBodies: 0, integrity: 'ok' });

/** A body that fills most of a page, so that a transaction touches a page for each cell. */
const bodyLengthFor = (pageSize) => Math.floor(pageSize * 0.7);

async function create(process, file, lock, { pageSize = 4096, journalMode = 'delete' } = {}) {
  const db = await process.open(file, lock);
  await db.pragma(`page_size=${pageSize}`);
  await db.pragma(`journal_mode=${journalMode}`);
  await db.work('fillCells', cells, bodyLengthFor(pageSize));
  await db.work('commitCells', 1);
  return db;
}

/** The reader finds `number` everywhere, goes on writing, and no journal is left. */
async function recovers(side, file, lock, number) {
  const process = await processOf(side);
  const db = await process.open(file, lock);
  assert.deepEqual(await db.work('readCells'), sound(number));
  await db.work('commitCells', number + 1);
  assert.deepEqual(await db.work('readCells'), sound(number + 1));
  await db.close();
  assert.equal(playedBackPages(`${file}-journal`).length, 0);
}

/** Kills a writer in a transaction that has spilled; the journal is hot and the file half-written. */
async function killAfterSpill(t, side, file, lock, settings) {
  const writer = await start(t, side);
  const db = await create(writer, file, lock, settings);
  const committed = fs.readFileSync(file);
  await db.work('leaveOpen', 2, 5);
  await writer.kill();
  assert.ok(!fs.readFileSync(file).equals(committed), 'nothing of the transaction has reached the file');
  return readJournal(`${file}-journal`);
}

for (const [writer, reader] of DIRECTIONS) {
  const way = `${writer} to ${reader}`;

  for (const [name, lock] of Object.entries(locks)) {
    for (const journalMode of ['delete', 'truncate', 'persist']) {
      test(`${name} in ${journalMode} mode, killed after a spill: ${way}`, async (t) => {
        const file = tempFile(t);
        const segments = await killAfterSpill(t, writer, file, lock, { journalMode });
        assert.ok(segments.length > 1, `the journal has ${segments.length} segment`);
        await recovers(reader, file, lock, 1);
      });
    }

    test(`${name}, killed during the first transaction of a new file: ${way}`, async (t) => {
      const file = tempFile(t);
      const process = await start(t, writer);
      const db = await process.open(file, lock);
      await db.work('leaveFirstOpen', cells, 2000);
      await process.kill();
      assert.ok(fs.statSync(file).size > 0, 'the transaction has not spilled');
      assert.equal(readJournal(`${file}-journal`)[0].originalPages, 0);
      const again = await (await processOf(reader)).open(file, lock);
      assert.deepEqual(await again.all('SELECT name FROM sqlite_master'), []);
      await again.work('fillCells', cells, 500);
      assert.deepEqual(await again.work('readCells'), sound(0));
      await again.close();
    });

    test(`${name}, killed before anything was synced: ${way}`, async (t) => {
      const file = tempFile(t);
      const process = await start(t, writer);
      const db = await create(process, file, lock);
      await db.work('leaveOpen', 2, 2000);
      await process.kill();
      // Before its first sync a journal begins with zeros, which means: nothing to play back.
      assert.ok(fs.statSync(`${file}-journal`).size > 4096);
      assert.deepEqual(readJournal(`${file}-journal`), []);
      await recovers(reader, file, lock, 1);
    });
  }

  for (const pageSize of [1024, 65536]) {
    test(`chacha20 with pages of ${pageSize} bytes, killed after a spill: ${way}`, async (t) => {
      const file = tempFile(t);
      await killAfterSpill(t, writer, file, locks.chacha20, { pageSize });
      await recovers(reader, file, locks.chacha20, 1);
    });
  }

  for (const name of Object.keys(locks)) {
    for (const pageSize of [512, 4096]) {
      test(`${name}, pages of ${pageSize} bytes, ended just before the journal was deleted: ${way}`, async (t) => {
        const file = tempFile(t);
        // A legacy file does not tell its page size before it is decrypted.
        const lock = { ...locks[name], pragmas: [...locks[name].pragmas, `legacy_page_size=${pageSize}`] };
        const process = await processOf(writer);
        const db = await create(process, file, lock, { pageSize });
        await db.work('commitKeepingJournal', 2, `${file}-kept`);
        assert.deepEqual(await db.work('readCells'), sound(2));
        await db.close();
        fs.renameSync(`${file}-kept`, `${file}-journal`);
        assert.equal(readJournal(`${file}-journal`).length, 1);
        assert.ok(playedBackPages(`${file}-journal`).includes(1));
        await recovers(reader, file, lock, 1);
      });
    }
  }

  for (const [name, pragmas] of Object.entries(otherSchemes)) {
    test(`${name}, killed after a spill: ${way}`, async (t) => {
      const file = tempFile(t);
      await killAfterSpill(t, writer, file, { pragmas, key });
      assert.ok(playedBackPages(`${file}-journal`).length > 0);
      await recovers(reader, file, { pragmas, key }, 1);
    });
  }

  test(`a savepoint and a growing file, killed after a spill: ${way}`, async (t) => {
    const file = tempFile(t);
    const process = await start(t, writer);
    const db = await create(process, file, locks.chacha20);
    const before = `CREATE TABLE extra (body BLOB); INSERT INTO extra SELECT randomblob(3000) FROM cell;
      SAVEPOINT s; DELETE FROM extra; ROLLBACK TO s;`;
    await db.work('leaveOpen', 2, 5, before);
    await process.kill();
    assert.ok(playedBackPages(`${file}-journal`).includes(1));
    await recovers(reader, file, locks.chacha20, 1);
    const again = await (await processOf(reader)).open(file, locks.chacha20);
    assert.deepEqual(await again.all("SELECT name FROM sqlite_master WHERE name = 'extra'"), []);
    await again.close();
  });
}

// The replaced package damages journals of 512-byte pages that have several segments, so only we
// can be asked about these.
for (const [name, { pragmas, key: anyKey }] of Object.entries(locks)) {
  const lock = { pragmas: [...pragmas, 'legacy_page_size=512'], key: anyKey };

  overruled(`${name} with pages of 512 bytes and several segments, killed after a spill: ours to ours`, async (t) => {
    const file = tempFile(t);
    const segments = await killAfterSpill(t, 'ours', file, lock, { pageSize: 512 });
    assert.ok(segments.length > 1);
    await recovers('ours', file, lock, 1);
  });

  overruled(`${name} with pages of 512 bytes and several segments, rolled back: ours`, async (t) => {
    const file = tempFile(t);
    const db = await create(await processOf('ours'), file, lock, { pageSize: 512 });
    await db.work('leaveOpen', 2, 5);
    assert.ok(readJournal(`${file}-journal`).length > 1);
    await db.exec('ROLLBACK');
    assert.deepEqual(await db.work('readCells'), sound(1));
    await db.close();
  });
}

/** Kills the writer at some moment of endless transactions; gives the last number it reported. */
async function killAtRandom(t, side, file, lock, first, afterMs) {
  const log = `${file}.log`;
  fs.writeFileSync(log, '');
  const writer = await start(t, side);
  const db = await writer.open(file, lock);
  await db.pragma('cache_size=20');
  const done = db.work('commitForever', first, log).catch((error) => assert.equal(error.code, 'ENDED'));
  while (fs.statSync(log).size === 0) await sleep(2);
  await sleep(afterMs);
  await writer.kill();
  await done;
  return Number(fs.readFileSync(log, 'utf8').trim().split('\n').pop());
}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

for (const [name, pageSize, directions] of [
  ['chacha20', 4096, DIRECTIONS],
  ['aes256cbc', 4096, DIRECTIONS],
  ['chacha20', 512, [['ours', 'ours']]],
]) {
  for (const [writer, reader] of directions) {
    const declare = pageSize === 512 ? overruled : test;
    declare(`${name} with pages of ${pageSize} bytes, killed at random moments: ${writer} to ${reader}`, async (t) => {
      const { random, seed } = seededRandom();
      const file = tempFile(t);
      const lock = locks[name];
      await (await create(await processOf(writer), file, lock, { pageSize })).close();
      let number = 1;
      let hot = 0;
      for (let round = 0; round < 8; round += 1) {
        const reported = await killAtRandom(t, writer, file, lock, number + 1, random() * 40);
        hot += playedBackPages(`${file}-journal`).length > 0 ? 1 : 0;
        number = await lastNumber(reader, file, lock, reported);
      }
      console.log(`${name}, ${pageSize}, ${writer} to ${reader}, seed ${seed}: ${number} transactions,`
        + ` ${hot} of 8 kills left a journal to play back`);
      await recovers(writer, file, lock, number);
    });
  }
}

/** A kill between commit and report leaves one transaction more than was reported. */
async function lastNumber(side, file, lock, reported) {
  const db = await (await processOf(side)).open(file, lock);
  const found = await db.work('readCells');
  await db.close();
  const [number] = found.numbers;
  assert.deepEqual(found, sound(number));
  assert.ok(number === reported || number === reported + 1, `found ${number}, reported ${reported}`);
  return number;
}
