'use strict';

// A plain database in WAL mode that we encrypt, while its process is then killed: the replaced package
// opens it under the new key, writes, and we read that.

const assert = require('node:assert/strict');
const { overruled, tempFile } = require('../support/database.js');
const { otherSchemes } = require('../support/schemes.js');
const { shared, start } = require('./processes.js');

const processOf = shared();
const key = Buffer.from('encrypted in WAL mode');
const schemes = { chacha20: ["cipher='chacha20'"], aes256cbc: ["cipher='aes256cbc'"], ...otherSchemes };

for (const [name, pragmas] of Object.entries(schemes)) {
  for (const maker of ['ours', 'peer']) {
    overruled(`${name}: a plain WAL database of ${maker}, encrypted by ours, is the peer's to read and write`, async (t) => {
      const file = tempFile(t);
      const made = await (await processOf(maker)).open(file);
      await made.pragma('journal_mode=wal');
      await made.work('fillCells', 40, 300);
      await made.close();

      const process = await start(t, 'ours');
      const db = await process.open(file, { pragmas });
      await db.rekey(key);
      await process.kill();

      const peer = await (await processOf('peer')).open(file, { pragmas, key });
      assert.deepEqual(await peer.work('readCells'), { cells: 40, numbers: [0], wrongBodies: 0, integrity: 'ok' });
      await peer.work('commitCells', 1);
      await peer.close();
      const again = await (await processOf('ours')).open(file, { pragmas, key });
      assert.deepEqual(await again.work('readCells'), { cells: 40, numbers: [1], wrongBodies: 0, integrity: 'ok' });
      assert.equal(await again.pragma('journal_mode'), 'wal');
      await again.close();
    });
  }
}
