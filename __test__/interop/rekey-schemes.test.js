'use strict';

// A database goes from each scheme to each other one, and to none and back, by rekey: the new key and
// scheme open it, here and in the replaced package, and the old ones do not. Most pairs differ in the
// bytes they reserve, so that the pages are laid out anew. Within one scheme: rekey.test.js.

const test = require('node:test');
const assert = require('node:assert/strict');
const { tempFile } = require('../support/database.js');
const { otherSchemes } = require('../support/schemes.js');
const { DIRECTIONS, shared } = require('./processes.js');

const processOf = shared();
const schemes = {
  'chacha20': ["cipher='chacha20'", 'legacy=0', 'kdf_iter=10'],
  'aes256cbc': ["cipher='aes256cbc'", 'legacy=0'],
  ...otherSchemes,
};
const [oldKey, newKey] = ['old key', 'new key'].map((text) => Buffer.from(text));
const sound = (number) => ({ cells: 40, numbers: [number], wrongBodies: 0, integrity: 'ok' });

for (const direction of DIRECTIONS) {
  for (const [from, fromPragmas] of Object.entries(schemes)) {
    test(`${from} to every other scheme: ${direction.join(' to ')}`, async (t) => {
      const [writer, reader] = await Promise.all(direction.map(processOf));
      for (const [to, toPragmas] of Object.entries(schemes)) {
        for (const journalMode of ['delete', 'wal']) {
          if (to === from) continue;
          const pair = `${from} to ${to}, ${journalMode}`;
          const file = tempFile(t);
          const db = await writer.open(file, { pragmas: fromPragmas, key: oldKey });
          await db.pragma(`journal_mode=${journalMode}`);
          await db.work('fillCells', 40, 900);
          await db.get('SELECT count(*) FROM cell');
          for (const pragma of toPragmas) await db.pragma(pragma);
          await db.rekey(newKey);
          await db.work('commitCells', 1);
          await db.close();
          const again = await reader.open(file, { pragmas: toPragmas, key: newKey });
          assert.deepEqual(await again.work('readCells'), sound(1), pair);
          await again.work('commitCells', 2);
          await again.close();
          const refused = await reader.open(file, { pragmas: fromPragmas, key: oldKey });
          await assert.rejects(refused.all('SELECT * FROM cell'), { code: 'SQLITE_NOTADB' }, pair);
          await refused.close();
        }
      }
    });

    test(`${from} to plain and back: ${direction.join(' to ')}`, async (t) => {
      const [writer, reader] = await Promise.all(direction.map(processOf));
      const file = tempFile(t);
      const db = await writer.open(file, { pragmas: fromPragmas, key: oldKey });
      await db.work('fillCells', 40, 900);
      await db.rekey(Buffer.alloc(0));
      await db.close();
      const plain = await reader.open(file, { pragmas: fromPragmas });
      assert.deepEqual(await plain.work('readCells'), sound(0));
      await plain.rekey(newKey);
      await plain.close();
      const again = await writer.open(file, { pragmas: fromPragmas, key: newKey });
      assert.deepEqual(await again.work('readCells'), sound(0));
      await again.close();
    });
  }
}
