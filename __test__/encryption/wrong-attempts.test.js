'use strict';

// What a wrong attempt may not leave behind on a connection, and legacy files whose page size nobody
// named while a WAL or a hot journal is pending. The replaced package refuses or damages all of these.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const { open, overruled, tempFile } = require('../support/database.js');
const { otherModes, otherSchemes } = require('../support/schemes.js');
const { bodyOf, isWhole, makeFile, openWith, unlock } = require('./lock.js');

const key = Buffer.from('attempts');
const right = {
  chacha20: ["cipher='chacha20'", 'legacy=0', 'kdf_iter=10'],
  aes256cbc: ["cipher='aes256cbc'", 'legacy=0'],
  ...otherSchemes,
};
const wrong = [...[1, 2, 3].map((legacy) => otherModes[`sqlcipher legacy ${legacy}`]), ["cipher='rc4'", 'legacy_page_size=1024'],
  ["cipher='aes256cbc'", 'legacy=1', 'legacy_page_size=512'], ["cipher='chacha20'", 'legacy=1', 'legacy_page_size=8192']];

for (const [name, pragmas] of Object.entries(right)) {
  overruled(`${name} opens and is written after legacy attempts with other page sizes on the same connection`, (t) => {
    // On temp, so that they hold for one key.
    for (const attempt of wrong.map((settings) => settings.map((setting) => `temp.${setting}`))) {
      if (attempt[0].includes(`'${name}'`) && name === 'rc4') continue;
      const file = makeFile(t, tempFile(t), { pragmas, key });
      const db = openWith(t, file, { pragmas: attempt, key });
      assert.throws(() => db.prepare('SELECT * FROM note').all(), { code: 'SQLITE_NOTADB' }, attempt.join());
      unlock(db, { pragmas, key });
      isWhole(db);
      db.exec('CREATE TABLE after (x)');
      db.close();
      isWhole(openWith(t, file, { pragmas, key }));
    }
  });
}

const legacy = { 'rc4': ["cipher='rc4'"], 'aes256cbc legacy': ["cipher='aes256cbc'", 'legacy=1'], 'aes128cbc legacy': otherModes['aes128cbc legacy'] };

/** Copies of a database that is open, as a crash would leave them. */
function copyOf(t, file, ...suffixes) {
  const copy = tempFile(t);
  for (const suffix of ['', ...suffixes]) fs.copyFileSync(file + suffix, copy + suffix);
  return copy;
}

for (const [name, pragmas] of Object.entries(legacy)) {
  for (const pageSize of [1024, 8192]) {
    const lock = { pragmas, key };

    overruled(`${name} with pages of ${pageSize} bytes and a WAL, opened without its page size`, (t) => {
      const file = makeFile(t, tempFile(t), { pragmas: [...pragmas, `page_size=${pageSize}`], key }, 'journal_mode=wal');
      const db = openWith(t, file, lock);
      db.exec("UPDATE note SET body = 'in the WAL' WHERE id = 1");
      const copy = copyOf(t, file, '-wal');
      db.close();
      const again = openWith(t, copy, lock);
      assert.equal(again.prepare('SELECT body FROM note WHERE id = 1').pluck().get(), 'in the WAL');
      again.prepare('UPDATE note SET body = ? WHERE id = 1').run(bodyOf(1));
      isWhole(again);
    });

    overruled(`${name} with pages of ${pageSize} bytes and a hot journal, opened without its page size`, (t) => {
      const file = makeFile(t, tempFile(t), { pragmas: [...pragmas, `page_size=${pageSize}`], key });
      const db = openWith(t, file, lock);
      db.pragma('cache_size=3');
      db.exec("BEGIN; UPDATE note SET body = replace(body, 'readable', 'spilled')");
      const copy = copyOf(t, file, '-journal');
      db.exec('ROLLBACK');
      assert.ok(!fs.readFileSync(copy).equals(fs.readFileSync(file)), 'nothing was spilled');
      isWhole(openWith(t, copy, lock));
      assert.equal(fs.existsSync(`${copy}-journal`), false);
    });
  }
}

overruled('the first key of a connection may be a legacy one of another page size than that of the file', (t) => {
  const file = makeFile(t, tempFile(t), { pragmas: ["cipher='rc4'", 'page_size=512'], key });
  isWhole(openWith(t, file, { pragmas: ["cipher='rc4'", 'legacy_page_size=512'], key }));
  isWhole(openWith(t, file, { pragmas: ["cipher='rc4'"], key }));
  assert.throws(() => open(t, file).exec('SELECT * FROM note'), { code: 'SQLITE_NOTADB' });
});
