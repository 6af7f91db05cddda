'use strict';

// While a transaction is open and after its process was killed, file, journal and WAL hold nothing
// readable of a keyed database. A plain database with the same work shows that the marker would be
// found. Files without a name are looked at in unreadable-files.test.js.

const test = require('node:test');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { tempDir } = require('../support/database.js');
const { otherSchemes } = require('../support/schemes.js');
const { start } = require('../interop/processes.js');

const MARKER = 'THE-MARKER-NOBODY-MAY-READ';
const key = Buffer.from('no leaks');
const locks = {
  'chacha20': { pragmas: ["cipher='chacha20'"], key },
  'chacha20 legacy': { pragmas: ["cipher='chacha20'", 'legacy=1'], key },
  'aes256cbc': { pragmas: ["cipher='aes256cbc'"], key },
  'aes256cbc legacy': { pragmas: ["cipher='aes256cbc'", 'legacy=1'], key },
};
for (const [name, pragmas] of Object.entries(otherSchemes)) locks[name] = { pragmas, key };

/** Names of the files in the directory that contain the marker, and of all that are not empty. */
function scan(dir) {
  const contentOf = (name) => fs.readFileSync(path.join(dir, name));
  const files = fs.readdirSync(dir).filter((name) => !name.endsWith('-shm') && contentOf(name).length > 0);
  return { files, readable: files.filter((name) => contentOf(name).includes(MARKER)) };
}

/** Works with the marker in every column, stops in the middle of a transaction, scans, kills, scans. */
async function work(t, lock, journalMode) {
  const dir = tempDir(t);
  const process = await start(t, 'ours');
  const db = await process.open(path.join(dir, 'mail.db'), lock);
  await db.pragma(`journal_mode=${journalMode}`);
  await db.pragma('wal_autocheckpoint=0');
  await db.exec(`CREATE TABLE mail (id INTEGER PRIMARY KEY, body TEXT); CREATE TABLE "${MARKER}" (x)`);
  await db.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
    INSERT INTO mail SELECT i, replace(hex(zeroblob(100)), '00', '${MARKER} ') FROM n`);
  const stages = [scan(dir)];
  await db.pragma('cache_size=5');
  await db.exec(`BEGIN; UPDATE mail SET body = body || '${MARKER}' || id;
    SAVEPOINT s; UPDATE mail SET body = '${MARKER}' || body; ROLLBACK TO s; DELETE FROM mail WHERE id % 7 = 0`);
  stages.push(scan(dir));
  await process.kill();
  stages.push(scan(dir));
  return stages;
}

for (const [name, lock] of Object.entries(locks)) {
  for (const journalMode of ['delete', 'persist', 'truncate', 'wal']) {
    test(`${name} in ${journalMode} mode: nothing readable, in a transaction and after a kill`, async (t) => {
      const companion = journalMode === 'wal' ? 'mail.db-wal' : 'mail.db-journal';
      const stages = await work(t, lock, journalMode);
      for (const { readable } of stages) assert.deepEqual(readable, []);
      for (const { files } of stages.slice(1)) assert.deepEqual([...files].sort(), ['mail.db', companion]);
    });
  }
}

test('without a key the marker is found in all of them', async (t) => {
  for (const [journalMode, companion] of [['delete', 'mail.db-journal'], ['wal', 'mail.db-wal']]) {
    const stages = await work(t, {}, journalMode);
    assert.ok(stages.some(({ readable }) => readable.includes(companion)), `${companion} never shows the marker`);
    if (journalMode === 'delete') assert.ok(stages[0].readable.includes('mail.db'));
  }
});
