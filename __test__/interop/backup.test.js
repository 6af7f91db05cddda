'use strict';

// backup() between processes and packages: the replaced package opens our encrypted copies, a process
// that keeps writing does not keep the copy from ending, and nothing readable reaches the disk on the way.
// Arguments, steps and aborts are in api/36.database.backup.js.

const test = require('node:test');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { open, tempDir, tempFile, afterTest } = require('../support/database.js');
const { SCHEMES, KEY, OTHER, openKeyed } = require('../support/keyed.js');
const { shared, start } = require('./processes.js');

const processOf = shared();
const MARKER = 'THE-MARKER-NOBODY-MAY-READ';
const SOUND = { cells: 60, numbers: [0], wrongBodies: 0, integrity: 'ok' };

/** A database with known content, as the workloads of the child processes check it. */
async function makeCells(t, lock, journalMode = 'delete') {
  const file = tempFile(t);
  const process = await processOf('ours');
  const db = await process.open(file, lock);
  await db.pragma(`journal_mode=${journalMode}`);
  await db.work('fillCells', 60, 900);
  await db.close();
  return file;
}

async function readByPeer(file, lock) {
  const process = await processOf('peer');
  const db = await process.open(file, lock);
  const found = await db.work('readCells');
  await db.close();
  return found;
}

for (const cipher of SCHEMES) {
  const lock = { pragmas: [`cipher='${cipher}'`], key: KEY };

  for (const mode of ['delete', 'wal']) {
    test(`the replaced package opens a ${cipher} copy under the key of the source (${mode})`, async (t) => {
      const db = openKeyed(t, await makeCells(t, lock, mode), KEY, cipher);
      const file = tempFile(t, 'copy.db');
      await db.backup(file);
      assert.deepEqual(await readByPeer(file, lock), SOUND);
    });
  }

  test(`the replaced package opens a copy under another ${cipher} key, and a plain one`, async (t) => {
    const sources = [
      openKeyed(t, await makeCells(t, lock), KEY, cipher),
      openKeyed(t, await makeCells(t, { pragmas: ["cipher='chacha20'"], key: KEY }), KEY, 'chacha20'),
      open(t, await makeCells(t, undefined)),
    ];
    for (const db of sources) {
      const files = [tempFile(t, 'secret.db'), tempFile(t, 'plain.db')];
      await db.backup(files[0], { cipher, key: OTHER });
      await db.backup(files[1], { key: null });
      assert.deepEqual(await readByPeer(files[0], { ...lock, key: OTHER }), SOUND);
      assert.deepEqual(await readByPeer(files[1], undefined), SOUND);
    }
  });

  test(`the replaced package opens the image of a ${cipher} database as a file`, async (t) => {
    const image = openKeyed(t, await makeCells(t, lock), KEY, cipher).serialize();
    const file = tempFile(t, 'image.db');
    fs.writeFileSync(file, image);
    assert.deepEqual(await readByPeer(file, undefined), SOUND);
  });

  test(`a ${cipher} copy and its journal are never readable, also over an existing copy`, async (t) => {
    const dir = tempDir(t);
    const db = openKeyed(t, tempFile(t), KEY, cipher);
    db.exec(`CREATE TABLE mail (id INTEGER PRIMARY KEY, body TEXT);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9000)
      INSERT INTO mail SELECT i, replace(hex(zeroblob(100)), '00', '${MARKER} ') FROM n`);
    const file = path.join(dir, 'copy.db');
    const companions = new Set();
    const progress = () => {
      for (const name of fs.readdirSync(dir)) {
        companions.add(name);
        assert.equal(fs.readFileSync(path.join(dir, name)).includes(MARKER), false, name);
      }
      return 1500;
    };
    // More than SQLite keeps in its cache, so that pages are on the disk before the end.
    assert.ok((await db.backup(file, { progress })).totalPages > 4500);
    db.exec('UPDATE mail SET id = -id');
    await db.backup(file, { progress });
    progress();
    assert.ok(companions.has('copy.db') && companions.has('copy.db-journal'), [...companions].join());
    assert.equal(openKeyed(t, file, KEY, cipher).prepare('SELECT max(id) FROM mail').pluck().get(), -1);
  });
}

/** A process of the replaced package that commits small changes until it is killed. */
async function startWriter(t, file, lock) {
  const process = await start(t, 'peer');
  const db = await process.open(file, lock, { timeout: 10_000 });
  await db.pragma('synchronous=OFF');
  let stopped = false;
  const commits = { count: 0 };
  const loop = (async () => {
    for (let id = 1; !stopped; id = (id % 20_000) + 1) {
      await db.run('UPDATE n SET t = ? WHERE id = ?', `changed ${commits.count}`, id);
      commits.count += 1;
    }
  })();
  const stop = async () => {
    stopped = true;
    await loop;
  };
  // Its commits have begun when the copy does.
  while (commits.count === 0) await new Promise(setImmediate);
  return { commits, stop };
}

for (const journalMode of ['wal', 'delete']) {
  test(`the copy ends while another process keeps writing (${journalMode})`, async (t) => {
    const lock = { pragmas: ["cipher='chacha20'"], key: KEY };
    const db = openKeyed(t, tempFile(t), KEY, 'chacha20');
    db.pragma(`journal_mode=${journalMode}`);
    db.exec(`CREATE TABLE n (id INTEGER PRIMARY KEY, t TEXT);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
      INSERT INTO n SELECT i, 'text that fills a page sooner than a number would, row ' || i FROM n`);
    const writer = await startWriter(t, db.name, lock);
    const file = tempFile(t, 'copy.db');
    let restarts = 0;
    let before = Infinity;
    let seen = -1;
    let ticks = 0;
    const timer = setInterval(() => { ticks += 1; }, 1);
    afterTest(t, () => clearInterval(timer));
    const result = await db.backup(file, {
      progress: ({ totalPages, remainingPages }) => {
        if (remainingPages > before + 5) restarts += 1;
        before = remainingPages;
        // With some pages copied it waits for a commit, so that there is a reason to start again.
        const waits = restarts === 0 && totalPages - remainingPages >= 20 && writer.commits.count === seen;
        seen = writer.commits.count;
        return waits ? 0 : 10;
      },
    });
    const { count } = writer.commits;
    await writer.stop();
    assert.equal(result.remainingPages, 0);
    assert.ok(restarts > 0 && count > 0, `${restarts} restarts, ${count} commits: nothing was tested`);
    assert.ok(ticks > 0);
    const copy = openKeyed(t, file, KEY, 'chacha20');
    assert.equal(copy.prepare('SELECT count(*) FROM n').pluck().get(), 20000);
    assert.equal(copy.pragma('integrity_check', { simple: true }), 'ok');
  });
}
