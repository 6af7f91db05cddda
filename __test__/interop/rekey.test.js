'use strict';

// A database that one package gave a new key opens in the other under that key alone: in DELETE and
// in WAL mode, also when the WAL with the re-keyed pages was left behind by a killed process.
// A process that ends while it re-keys is in rekey-crash.test.js.

const test = require('node:test');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const { tempFile } = require('../support/database.js');
const { otherSchemes } = require('../support/schemes.js');
const { DIRECTIONS, shared, start } = require('./processes.js');

const processOf = shared();
const schemes = {
  'chacha20': ["cipher='chacha20'"],
  'aes256cbc': ["cipher='aes256cbc'"],
  'chacha20 legacy': ["cipher='chacha20'", 'legacy=1'],
  ...otherSchemes,
};
const keys = ['first key', 'second key', 'third key'].map((text) => Buffer.from(text));
const sound = (number) => ({ cells: 40, numbers: [number], wrongBodies: 0, integrity: 'ok' });

async function create(process, file, pragmas, journalMode) {
  const db = await process.open(file, { pragmas, key: keys[0] });
  await db.pragma(`journal_mode=${journalMode}`);
  await db.work('fillCells', 40, 900);
  return db;
}

/** A first read opens the WAL; without it the replaced package draws a new salt (and may lose the file). */
const readFirst = (db) => db.get('SELECT count(*) FROM cell');

/** The parameters as they have to stand when the new key is derived. */
async function rekey(db, pragmas, key, form) {
  for (const pragma of pragmas) await db.pragma(pragma);
  if (form === 'method') await db.rekey(key);
  else if (form === 'hexrekey') await db.pragma(`hexrekey='${key.toString('hex')}'`);
  else await db.pragma(`rekey='${key}'`);
}

/**
 * Opens under the right key and checks; the wrong keys come after it, because they ruin a hot WAL in
 * the replaced package. Gives an open connection under the right key.
 */
async function opensUnder(process, file, pragmas, key, number) {
  const first = await process.open(file, { pragmas, key });
  assert.deepEqual(await first.work('readCells'), sound(number));
  await first.close();
  for (const wrong of keys.filter((other) => other !== key)) {
    const refused = await process.open(file, { pragmas, key: wrong });
    await assert.rejects(refused.all('SELECT * FROM cell'), { code: 'SQLITE_NOTADB' });
    await refused.close();
  }
  const db = await process.open(file, { pragmas, key });
  assert.deepEqual(await db.work('readCells'), sound(number));
  return db;
}

for (const direction of DIRECTIONS) {
  for (const [name, pragmas] of Object.entries(schemes)) {
    for (const journalMode of ['delete', 'wal']) {
      for (const form of ['method', 'rekey', 'hexrekey']) {
        test(`${name} in ${journalMode} mode, re-keyed by ${form}: ${direction.join(' to ')} and back`, async (t) => {
          const file = tempFile(t);
          const [first, second] = await Promise.all(direction.map(processOf));
          let db = await create(first, file, pragmas, journalMode);
          await readFirst(db);
          await rekey(db, pragmas, keys[1], form);
          await db.work('commitCells', 1);
          await db.close();
          db = await opensUnder(second, file, pragmas, keys[1], 1);
          assert.equal(await db.pragma('journal_mode'), journalMode);
          await rekey(db, pragmas, keys[2], form);
          await db.work('commitCells', 2);
          await db.close();
          await (await opensUnder(first, file, pragmas, keys[2], 2)).close();
        });
      }
    }

    test(`${name}: a re-keyed WAL left by a killed process: ${direction.join(' to ')}`, async (t) => {
      const file = tempFile(t);
      const [writer, reader] = direction;
      const first = await start(t, writer);
      const db = await create(first, file, pragmas, 'wal');
      await db.pragma('wal_autocheckpoint=0');
      await db.pragma('wal_checkpoint(TRUNCATE)');
      await readFirst(db);
      await rekey(db, pragmas, keys[1], 'method');
      await db.work('commitCells', 7);
      await first.kill();
      assert.ok(fs.statSync(`${file}-wal`).size > fs.statSync(file).size, 'the new pages are in the WAL only');
      const again = await opensUnder(await processOf(reader), file, pragmas, keys[1], 7);
      await again.close();
      assert.equal(fs.existsSync(`${file}-wal`), false);
    });
  }
}
