'use strict';

// Files and keys that nobody means well with. A scheme with a tag notices every changed bit and every
// missing byte; the others never end the process. Damage at chosen places, and what it is called, is in
// ../encryption/damaged-pages.test.js.
//
// Seeds are printed with a failure; SEALITE_TEST_SEED repeats it, SEALITE_TEST_FULL=1 tries more.

const test = require('node:test');
const assert = require('node:assert/strict');
const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { isPeer, modulePath, open, overruled, tempDir, tempFile } = require('../support/database.js');
const { otherModes, otherSchemes } = require('../support/schemes.js');
const { fill, isWhole, makeFile, openWith } = require('../encryption/lock.js');
const { crash, restore } = require('../interop/crashed.js');
const { shared } = require('../interop/processes.js');
const { seededRandom } = require('../interop/random.js');

const FLIPS = process.env.SEALITE_TEST_FULL ? 1000 : 80;
const key = Buffer.from('bad files');
const cheap = (pragmas) => ({ pragmas, key });
const locks = Object.fromEntries(Object.entries({
  'chacha20': ["cipher='chacha20'", 'kdf_iter=10'],
  'chacha20 legacy': ["cipher='chacha20'", 'legacy=1'],
  'aes256cbc': ["cipher='aes256cbc'"],
  'aes256cbc legacy': ["cipher='aes256cbc'", 'legacy=1'],
  ...otherSchemes,
  ...otherModes,
}).map(([name, pragmas]) => [name, cheap(pragmas)]));
const isTagged = (name) => !/^aes|^rc4|without HMAC|legacy 1$/.test(name);
const REFUSED = ['SQLITE_NOTADB', 'SQLITE_CORRUPT'];

const pageSizeOf = (name) => (/sqlcipher legacy [123]/.test(name) ? 1024 : 4096);

/** What lies under no tag: the header fields of page 1 where they are clear, and filler behind a short tag. */
function isFree(name, at) {
  const pageSize = pageSizeOf(name);
  if (at >= 16 && at < 24) return !name.startsWith('chacha20');
  const shortTag = /sqlcipher legacy [23]|compat=0/.test(name);
  return shortTag && at % pageSize >= pageSize - 12;
}

/** Reads every page, as a user would; true, or the code of the error. */
function readAll(t, file, lock) {
  const db = openWith(t, file, lock);
  try {
    isWhole(db);
    return true;
  } catch (error) {
    return error.code;
  } finally {
    db.close();
  }
}

/** Reads and writes whatever is there; only the process has to survive. */
function useAnyhow(t, file, lock) {
  for (const sql of ['SELECT sum(length(body)) FROM note', 'PRAGMA integrity_check', 'UPDATE note SET body = 1', 'VACUUM']) {
    const db = openWith(t, file, lock);
    try {
      const statement = db.prepare(sql);
      if (statement.reader) statement.all();
      else statement.run();
    } catch (error) {
      assert.match(String(error.code), /^SQLITE_/, error.stack);
    }
    db.close();
  }
}

for (const [name, lock] of Object.entries(locks)) {
  const noticed = isTagged(name) ? 'is noticed' : 'ends no process';

  overruled(`${name}: a changed bit anywhere ${noticed}`, (t) => {
    const { random, seed } = seededRandom();
    const file = makeFile(t, tempFile(t), lock);
    const bytes = fs.readFileSync(file);
    for (let n = 0; n < FLIPS; n += 1) {
      const at = Math.floor(random() * bytes.length);
      const changed = Buffer.from(bytes);
      changed[at] ^= 1 << Math.floor(random() * 8);
      fs.writeFileSync(file, changed);
      if (!isTagged(name)) useAnyhow(t, file, lock);
      else if (!isFree(name, at)) assert.ok(REFUSED.includes(readAll(t, file, lock)), `byte ${at}, seed ${seed}`);
    }
    fs.writeFileSync(file, bytes);
    assert.equal(readAll(t, file, lock), true);
  });

  overruled(`${name}: a file that was cut short ${noticed}`, (t) => {
    const { random, seed } = seededRandom();
    const file = makeFile(t, tempFile(t), lock);
    const bytes = fs.readFileSync(file);
    const pageSize = pageSizeOf(name);
    // SQLite takes a file of one byte for an empty one.
    const lengths = [2, 15, 16, 23, 24, 99, 100, 511, 512, pageSize - 1, pageSize, pageSize + 1, bytes.length - pageSize, bytes.length - 1];
    for (let n = 0; n < FLIPS / 8; n += 1) lengths.push(2 + Math.floor(random() * (bytes.length - 2)));
    for (const length of lengths) {
      fs.writeFileSync(file, bytes.subarray(0, length));
      const found = isTagged(name) ? readAll(t, file, lock) : useAnyhow(t, file, lock);
      if (isTagged(name)) assert.ok(REFUSED.includes(found), `${length} bytes: ${found}, seed ${seed}`);
    }
  });

  overruled(`${name}: pages that changed places, and a page of zeros: ${noticed}`, (t) => {
    const file = makeFile(t, tempFile(t), lock);
    const bytes = fs.readFileSync(file);
    const pageSize = pageSizeOf(name);
    const page = (no) => bytes.subarray((no - 1) * pageSize, no * pageSize);
    const changes = [[1, 2], [2, 1], [3, 4], [5, 2]];
    for (const [target, source] of changes) {
      for (const content of [page(source), Buffer.alloc(pageSize)]) {
        const changed = Buffer.from(bytes);
        content.copy(changed, (target - 1) * pageSize);
        fs.writeFileSync(file, changed);
        if (isTagged(name)) assert.ok(REFUSED.includes(readAll(t, file, lock)), `${source} for ${target}`);
        else useAnyhow(t, file, lock);
      }
    }
  });

  overruled(`${name}: any page size, versions and reserve in the header end no process`, (t) => {
    const { random } = seededRandom();
    const file = makeFile(t, tempFile(t), lock);
    const bytes = fs.readFileSync(file);
    const headers = [[0, 3, 1, 1, 0], [0, 0, 1, 1, 0], [2, 0, 1, 1, 255], [0, 1, 2, 2, 80], [16, 0, 9, 9, 32], [255, 255, 1, 1, 0]];
    for (let n = 0; n < FLIPS / 8; n += 1) headers.push(Array.from({ length: 8 }, () => Math.floor(random() * 256)));
    for (const header of headers) {
      const changed = Buffer.from(bytes);
      Buffer.from(header).copy(changed, 16);
      fs.writeFileSync(file, changed);
      useAnyhow(t, file, lock);
    }
  });
}

for (const name of ['chacha20', 'aes256cbc', 'sqlcipher', 'ascon128']) {
  for (const journalMode of ['delete', 'wal']) {
    overruled(`${name}: changed bits in what a killed process left (${journalMode}) end no process`, async (t) => {
      const { random, seed } = seededRandom();
      const { bytes } = await crash(t, 'ours', locks[name], { journalMode });
      const suffix = journalMode === 'wal' ? '-wal' : '-journal';
      for (let n = 0; n < FLIPS / 4; n += 1) {
        const changed = Buffer.from(bytes[suffix]);
        // The headers more often than their share.
        const at = Math.floor(random() * (random() < 0.5 ? 100 : changed.length));
        changed[at] ^= 1 << Math.floor(random() * 8);
        const file = restore(t, { ...bytes, [suffix]: changed });
        const db = openWith(t, file, locks[name]);
        try {
          db.prepare('SELECT sum(length(body)) FROM cell').get();
          db.exec('UPDATE cell SET body = 1');
        } catch (error) {
          assert.match(String(error.code), /^SQLITE_/, `byte ${at}, seed ${seed}: ${error.stack}`);
        }
        db.close();
      }
    });
  }
}

const processOf = shared();
const keys = {
  'of one byte': Buffer.from([0]),
  'of 1 MiB': Buffer.alloc(2 ** 20, 'long key '),
  'that is no UTF-8': Buffer.from([0xff, 0xfe, 0xc0, 0x80, 0xed, 0xa0, 0x80]),
  'with NUL inside': Buffer.from('a\0b'),
};

for (const [name, { pragmas }] of Object.entries(locks)) {
  test(`${name}: a key ${Object.keys(keys).join(', ')}: the same in both packages`, async (t) => {
    for (const [what, odd] of Object.entries(keys)) {
      const file = makeFile(t, tempFile(t), { pragmas, key: odd });
      const peer = await (await processOf('peer')).open(file, { pragmas, key: odd });
      assert.equal(await peer.pragma('integrity_check'), 'ok', what);
      await peer.close();
      const cut = { pragmas, key: Buffer.concat([odd.subarray(0, 31), Buffer.from('?')]) };
      // Without a tag and with a clear header a wrong key shows as any kind of nonsense.
      const found = readAll(t, file, cut);
      if (name.endsWith('without HMAC')) assert.notEqual(found, true, what);
      else assert.equal(found, 'SQLITE_NOTADB', what);
    }
  });
}

test('a key of 1 MiB by PRAGMA, hexkey and rekey', (t) => {
  const long = 'k'.repeat(2 ** 20);
  const db = open(t, tempFile(t));
  db.pragma('kdf_iter=10');
  db.pragma(`key='${long}'`);
  fill(db);
  db.pragma(`rekey='${long}2'`);
  db.pragma(`hexrekey='${Buffer.from(long).toString('hex')}'`);
  db.close();
  isWhole(openWith(t, db.name, { pragmas: ['kdf_iter=10'], key: Buffer.from(long) }));
});

test('absurd parameters change nothing or are errors; the connection goes on', (t) => {
  const db = open(t, tempFile(t));
  for (const scheme of ['chacha20', 'sqlcipher', 'ascon128']) {
    db.pragma(`cipher='${scheme}'`);
    const before = db.pragma('kdf_iter', { simple: true });
    for (const value of ['0', '-1', '-2147483648']) assert.equal(db.pragma(`kdf_iter=${value}`, { simple: true }), before);
    for (const value of ['2147483648', '4294967296', "'x'"]) {
      assert.throws(() => db.pragma(`kdf_iter=${value}`), { code: 'SQLITE_ERROR', message: /^Malformed integer value/ });
    }
  }
  for (const size of [-1, 0, 3, 511, 513, 131072]) db.pragma(`page_size=${size}`);
  db.pragma("cipher='sqlcipher'");
  for (const size of [3, 511, 513, 131072]) assert.equal(db.pragma(`legacy_page_size=${size}`, { simple: true }), '4096');
  db.pragma('kdf_iter=10');
  db.key(key);
  fill(db);
  isWhole(db);
  assert.equal(db.pragma('page_size', { simple: true }), 4096);
});

/** Runs a script under a limit of address space; the status and what it printed. */
function withLimit(kilobytes, script) {
  const command = `ulimit -v ${kilobytes} && exec "$0" -e "$1"`;
  return spawnSync('sh', ['-c', command, process.execPath, script], { encoding: 'utf8' });
}

// Less than the 4 GiB that are asked for.
const LIMIT = 4_000_000;
const whyNoLimit = isPeer ? 'about sealite alone' : process.platform !== 'linux' ? 'needs ulimit -v'
  : withLimit(LIMIT, '').status !== 0 && 'this Node does not start under the limit';

test('Argon2 memory that cannot be had is an error', { skip: whyNoLimit }, (t) => {
  const file = path.join(tempDir(t), 'test.db');
  const { stdout, status } = withLimit(LIMIT, `
    const db = new (require(${JSON.stringify(modulePath)}))(${JSON.stringify(file)});
    for (const pragma of ["cipher='aegis'", 'tcost=1', 'mcost=4194304']) db.pragma(pragma);
    try { db.key(Buffer.from('x')); } catch (error) { console.log(error.code); }`);
  assert.deepEqual([status, stdout], [0, 'SQLITE_ERROR\n']);
});
