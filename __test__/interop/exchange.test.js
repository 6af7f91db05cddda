'use strict';

// A file written by one package is read, changed and vacuumed by the other, and read again by the
// first: both directions, all journal modes, schemes, legacy modes, parameters and page sizes. Re-keyed files are in rekey.test.js, crashed ones in hot-journals.test.js.

const test = require('node:test');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const { tempFile, tempDir } = require('../support/database.js');
const { otherModes, otherSchemes } = require('../support/schemes.js');
const { DIRECTIONS, shared } = require('./processes.js');

const processOf = shared();

const key = Buffer.from('exchange of files');
const chacha20 = { pragmas: ["cipher='chacha20'"], key };
const aes256cbc = { pragmas: ["cipher='aes256cbc'"], key };
const extend = (lock, ...pragmas) => ({ ...lock, pragmas: [...lock.pragmas, ...pragmas] });

const rawKey = '00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff';
const locks = {
  'chacha20': chacha20,
  'chacha20 legacy': extend(chacha20, 'legacy=1'),
  'chacha20 kdf_iter=1': extend(chacha20, 'kdf_iter=1'),
  'chacha20 kdf_iter=1000': extend(chacha20, 'kdf_iter=1000'),
  'chacha20 by default': { pragmas: [], key },
  "chacha20 raw key x''": { pragmas: chacha20.pragmas, key: `"x'${rawKey}'"` },
  'chacha20 raw key raw:': { pragmas: chacha20.pragmas, key: `'raw:${rawKey}'` },
  'chacha20 raw key and salt': { pragmas: chacha20.pragmas, key: `'raw:${rawKey}0102030405060708090a0b0c0d0e0f10'` },
  'chacha20 text key': { pragmas: chacha20.pragmas, key: "'Schlüssel 会議 ''quoted'''" },
  'chacha20 binary key': { pragmas: chacha20.pragmas, key: Buffer.from([0, 255, 39, 34, 0, 1, 254]) },
  'aes256cbc': aes256cbc,
  'aes256cbc legacy': extend(aes256cbc, 'legacy=1'),
  'aes256cbc kdf_iter=1000': extend(aes256cbc, 'kdf_iter=1000'),
  'aes256cbc long key': { pragmas: aes256cbc.pragmas, key: Buffer.alloc(70, 'long key ') },
  'no encryption': { pragmas: [] },
};
for (const [name, pragmas] of Object.entries({ ...otherSchemes, ...otherModes })) locks[name] = { pragmas, key };
for (const scheme of ['sqlcipher', 'ascon128', 'aegis']) {
  const pragmas = otherSchemes[scheme];
  locks[`${scheme} with its own derivation`] = { pragmas: [`cipher='${scheme}'`], key };
  locks[`${scheme} raw key`] = { pragmas, key: `"x'${rawKey}'"` };
  locks[`${scheme} raw key and salt`] = { pragmas, key: `'raw:${rawKey}0102030405060708090a0b0c0d0e0f10'` };
  // The file starts with SQLite's magic, and its salt is known to those who open it.
  const salt = "cipher_salt='0102030405060708090a0b0c0d0e0f10'";
  locks[`${scheme} plain header`] = { pragmas: [...pragmas, 'plaintext_header_size=32', salt], key, plainHeader: true };
}

/** Opens as `lock` says, writes the first content and closes. */
async function write(process, file, lock, settings) {
  const db = await process.open(file, lock);
  for (const setting of settings) await db.pragma(setting);
  await db.work('fillCells', 40, 300);
  await db.work('commitCells', 1);
  await db.close();
}

/** Reads what must be there, changes it, vacuums and leaves the number `number`. */
async function readAndChange(process, file, lock, found, number, journalMode) {
  const db = await process.open(file, lock);
  assert.deepEqual(await db.work('readCells'), { cells: 40, numbers: [found], wrongBodies: 0, integrity: 'ok' });
  if (journalMode) {
    // A WAL database stays one; the other three modes belong to the connection, not to the file.
    assert.equal((await db.pragma('journal_mode')) === 'wal', journalMode === 'wal');
    await db.pragma(`journal_mode=${journalMode}`);
  }
  await db.work('commitCells', number);
  await db.exec('VACUUM');
  assert.equal(await db.pragma('integrity_check'), 'ok');
  await db.close();
}

async function exchange(t, direction, lock, { settings = [], journalMode = 'delete' }) {
  const file = tempFile(t);
  const [first, second] = await Promise.all(direction.map(processOf));
  await write(first, file, lock, [...settings, `journal_mode=${journalMode}`]);
  await readAndChange(second, file, lock, 1, 2, journalMode);
  await readAndChange(first, file, lock, 2, 3, journalMode);
  await readAndChange(second, file, lock, 3, 4, journalMode);
  return file;
}

for (const direction of DIRECTIONS) {
  const way = direction.join(' to ');

  for (const [name, lock] of Object.entries(locks)) {
    test(`${name}: ${way} and back`, async (t) => {
      const file = await exchange(t, direction, lock, {});
      const isPlain = fs.readFileSync(file).subarray(0, 15).toString('latin1') === 'SQLite format 3';
      assert.equal(isPlain, lock.key === undefined || lock.plainHeader === true);
    });
  }

  for (const scheme of [chacha20, aes256cbc]) {
    for (const journalMode of ['wal', 'truncate', 'persist']) {
      test(`${scheme.pragmas[0]} in ${journalMode} mode: ${way} and back`, async (t) => {
        await exchange(t, direction, scheme, { journalMode });
      });
    }
    for (const pageSize of [512, 1024, 8192, 65536]) {
      test(`${scheme.pragmas[0]} with pages of ${pageSize} bytes: ${way} and back`, async (t) => {
        await exchange(t, direction, scheme, { settings: [`page_size=${pageSize}`], journalMode: 'wal' });
      });
    }
    for (const autoVacuum of ['full', 'incremental']) {
      test(`${scheme.pragmas[0]} with auto_vacuum=${autoVacuum}: ${way} and back`, async (t) => {
        await exchange(t, direction, scheme, { settings: [`auto_vacuum=${autoVacuum}`] });
      });
    }
  }

  for (const [name, pragmas] of Object.entries({ ...otherSchemes, ...otherModes })) {
    test(`${name} in wal mode: ${way} and back`, async (t) => {
      await exchange(t, direction, { pragmas, key }, { journalMode: 'wal' });
    });
  }

  for (const [name, pragmas] of Object.entries(otherSchemes)) {
    for (const pageSize of [1024, 65536]) {
      test(`${name} with pages of ${pageSize} bytes: ${way} and back`, async (t) => {
        const legacy = name === 'rc4' || name.includes('legacy') ? [`legacy_page_size=${pageSize}`] : [];
        const lock = { pragmas: [...pragmas, ...legacy], key };
        await exchange(t, direction, lock, { settings: [`page_size=${pageSize}`], journalMode: 'wal' });
      });
    }
  }

  test(`legacy files of other page sizes need legacy_page_size: ${way} and back`, async (t) => {
    for (const scheme of [chacha20, aes256cbc]) {
      await exchange(t, direction, extend(scheme, 'legacy=1', 'legacy_page_size=1024'), {});
    }
  });

  test(`VACUUM INTO makes a file under the same key: ${way}`, async (t) => {
    const [first, second] = await Promise.all(direction.map(processOf));
    for (const lock of [chacha20, aes256cbc]) {
      const file = tempFile(t);
      const copy = `${tempDir(t)}/copy.db`;
      await write(first, file, lock, []);
      const db = await first.open(file, lock);
      await db.run('VACUUM INTO ?', copy);
      await db.close();
      await readAndChange(second, copy, lock, 1, 2);
    }
  });

  test(`an attached file with its own key and scheme: ${way}`, async (t) => {
    const [first, second] = await Promise.all(direction.map(processOf));
    const main = tempFile(t, 'main.db');
    const side = tempFile(t, 'side.db');
    await write(first, main, chacha20, []);
    const db = await first.open(main, chacha20);
    await db.pragma("cipher='aes256cbc'");
    await db.run('ATTACH ? AS side KEY ?', side, 'key of the side');
    await db.exec('CREATE TABLE side.cell AS SELECT * FROM main.cell');
    await db.close();
    await readAndChange(second, main, chacha20, 1, 2);
    await readAndChange(second, side, { pragmas: aes256cbc.pragmas, key: "'key of the side'" }, 1, 2);
  });
}
