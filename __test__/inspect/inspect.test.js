'use strict';

// Database.inspect: what a file is and what its key needs. That the answer is right is shown by opening
// the file with it; that nothing is written and no lock is lost, by looking.

const test = require('node:test');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { Database, isPeer, open, tempDir, tempFile, throwsLike } = require('../support/database.js');
const { otherModes, otherSchemes } = require('../support/schemes.js');
const { manifest, copyStored, lockOf } = require('../interop/stored.js');
const { crash, restore } = require('../interop/crashed.js');
const { start } = require('../interop/processes.js');
const { seededRandom } = require('../interop/random.js');

const KEY = 'correct horse';
const PLAIN_HEADER_SALT = '0102030405060708090a0b0c0d0e0f10';

// The replaced package has no such method.
const here = (name, fn) => test(name, { skip: isPeer ? 'the replaced package cannot inspect' : false }, fn);

/** Opens a file with what was found out about it; fails when that does not open it. */
function openFound(t, file, { pragmas }, key) {
  const db = open(t, file, { fileMustExist: true });
  for (const pragma of pragmas) db.pragma(pragma);
  db.key(Buffer.from(key));
  return db;
}

/** Names, bytes and times of everything in the folder of a file. */
function everythingBeside(file) {
  const folder = path.dirname(file);
  return fs.readdirSync(folder).sort().map((name) => {
    const { mtimeMs, ctimeMs, size } = fs.statSync(path.join(folder, name));
    return { name, mtimeMs, ctimeMs, size, bytes: fs.readFileSync(path.join(folder, name)).toString('base64') };
  });
}

/** Inspects and asserts that it left no trace. */
function inspectOnly(file, options) {
  const before = everythingBeside(file);
  const found = Database.inspect(file, options);
  assert.deepEqual(everythingBeside(file), before, 'inspect changed something');
  return found;
}

/** Writes a small database with these PRAGMAs before the key, and gives its path. */
function write(t, pragmas, { key = KEY, pageSize = 4096 } = {}) {
  const db = open(t, tempFile(t));
  db.pragma(`page_size=${pageSize}`);
  for (const pragma of pragmas) db.pragma(pragma);
  if (key !== null) db.key(Buffer.from(key));
  db.exec('CREATE TABLE t (x); INSERT INTO t VALUES (1), (2), (3); PRAGMA user_version=-7; PRAGMA application_id=99');
  db.close();
  return db.name;
}

const paramsOf = (pragmas) => Object.fromEntries(pragmas.map((pragma) => pragma.split('=')).map(([name, value]) => [name, value.replaceAll("'", '')]));

for (const entry of manifest) {
  here(`${entry.file}: what is found opens it`, (t) => {
    const file = copyStored(t, entry.file);
    const { pragmas, key } = lockOf(entry);
    const { cipher, legacy, ...params } = paramsOf(pragmas);
    const text = typeof key === 'string' ? key.replace(/^"(.*)"$/, '$1') : key;
    const { database } = inspectOnly(file, { key: text ?? null, params });
    assert.equal(database.cipher, cipher ?? null);
    assert.equal(database.page1From, entry.hotWal ? 'wal' : 'file');
    if (entry.pageSize) assert.equal(database.pageSize, entry.pageSize);
    assert.deepEqual(database.problems, []);
    if (text === undefined) return;
    const db = openFound(t, file, database, text);
    assert.ok(db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get() > 0);
    if (entry.messages) assert.equal(db.prepare('SELECT count(*) FROM messages').pluck().get(), entry.messages);
  });
}

for (const [name, pragmas] of Object.entries({ ...otherSchemes, ...otherModes })) {
  here(`${name}: found with the short derivation of this test, and opens`, (t) => {
    const file = write(t, pragmas);
    const { kdf_iter: kdfIter, tcost, mcost, ...others } = paramsOf(pragmas);
    const unusual = ['hmac_algorithm_compat', 'hmac_pgno', 'hmac_salt_mask', 'fast_kdf_iter'];
    const stated = { kdf_iter: kdfIter, tcost, mcost, ...Object.fromEntries(unusual.map((key) => [key, others[key]])) };
    const params = Object.fromEntries(Object.entries(stated).filter(([, value]) => value !== undefined));
    const { database } = inspectOnly(file, { key: KEY, params });
    assert.equal(database.cipher, others.cipher);
    const db = openFound(t, file, database, KEY);
    assert.deepEqual(db.prepare('SELECT x FROM t').pluck().all(), [1, 2, 3]);
    assert.equal(database.pageSize, db.pragma('page_size', { simple: true }));
    assert.equal(database.userVersion, -7);
    assert.equal(database.applicationId, 99);
    assert.equal(database.pageCount, db.pragma('page_count', { simple: true }));
  });
}

here('legacy modes are found at each page size', (t) => {
  for (const pageSize of [512, 2048, 8192, 65536]) {
    for (const cipher of ['chacha20', 'rc4', 'aes256cbc']) {
      const file = write(t, [`cipher='${cipher}'`, 'legacy=1', `legacy_page_size=${pageSize}`], { pageSize });
      const { database } = inspectOnly(file, { key: KEY, cipher });
      assert.equal(database.pageSize, pageSize, cipher);
      assert.deepEqual(openFound(t, file, database, KEY).prepare('SELECT x FROM t').pluck().all(), [1, 2, 3]);
    }
  }
});

here('a header in clear is found, with the salt from the parameters or from a raw key', (t) => {
  for (const cipher of ['chacha20', 'ascon128', 'aegis', 'sqlcipher']) {
    for (const length of [16, 32, 96]) {
      const fast = cipher === 'aegis' ? { tcost: 1, mcost: 64 } : { kdf_iter: 10 };
      const pragmas = [`cipher='${cipher}'`, ...Object.entries(fast).map((pair) => pair.join('=')), `plaintext_header_size=${length}`];
      const file = write(t, [...pragmas, `cipher_salt='${PLAIN_HEADER_SALT}'`]);
      const { database, kind } = inspectOnly(file, { key: KEY, params: { ...fast, cipher_salt: PLAIN_HEADER_SALT } });
      assert.equal(kind, 'plain-header');
      assert.equal(database.cipher, cipher);
      assert.deepEqual(openFound(t, file, database, KEY).prepare('SELECT x FROM t').pluck().all(), [1, 2, 3]);
      assert.equal(inspectOnly(file, { key: KEY, params: fast, cipher }).database, null, 'opened without the salt');
    }
  }
  const raw = `raw:${'ab'.repeat(32)}${PLAIN_HEADER_SALT}`;
  const file = write(t, ["cipher='chacha20'", 'plaintext_header_size=40'], { key: raw });
  const found = inspectOnly(file, { key: raw });
  assert.equal(found.database.plaintextHeaderSize, 40);
  assert.equal(found.derivations, 0);
});

here('raw keys in both notations need no derivation', (t) => {
  const hex = '00112233445566778899aabbccddeeff'.repeat(2);
  const file = write(t, ["cipher='chacha20'"], { key: `x'${hex}'` });
  for (const key of [`x'${hex}'`, `raw:${hex}`, Buffer.concat([Buffer.from('raw:'), Buffer.from(hex, 'hex')])]) {
    const { database, derivations } = inspectOnly(file, { key });
    assert.equal(database.cipher, 'chacha20');
    assert.equal(derivations, 0);
  }
});

here('a wrong key opens nothing; the derivations are few and the key is nowhere in the answer', (t) => {
  for (const pragmas of [["cipher='chacha20'"], ["cipher='sqlcipher'", 'legacy=2', 'legacy_page_size=4096'], ["cipher='aegis'"]]) {
    const file = write(t, pragmas);
    const found = inspectOnly(file, { key: 'not this one' });
    assert.equal(found.database, null);
    assert.ok(found.tried.length > 3 && found.derivations > 0 && found.derivations < 12, `${found.derivations} derivations`);
    assert.ok(!JSON.stringify(found).includes('not this one'));
    const right = inspectOnly(file, { key: KEY });
    assert.ok(right.database !== null && !JSON.stringify(right).includes(KEY));
  }
});

here('without a key: the kinds of file', (t) => {
  const folder = tempDir(t);
  const kindOf = (name, bytes) => {
    fs.writeFileSync(path.join(folder, name), bytes);
    return Database.inspect(path.join(folder, name)).kind;
  };
  assert.equal(kindOf('empty', ''), 'empty');
  assert.equal(kindOf('zeros', Buffer.alloc(4096)), 'zeros');
  assert.equal(kindOf('text', 'this is no database'.repeat(100)), 'unknown');
  assert.equal(kindOf('plain', fs.readFileSync(write(t, [], { key: null }))), 'plain');
  const chacha = fs.readFileSync(write(t, ["cipher='chacha20'"]));
  assert.equal(kindOf('chacha20', chacha), 'encrypted');
  assert.equal(kindOf('legacy', fs.readFileSync(write(t, ["cipher='chacha20'", 'legacy=1']))), 'unknown');
  const { pageSizes, reserve, database } = Database.inspect(path.join(folder, 'chacha20'));
  assert.deepEqual({ pageSizes, reserve, database }, { pageSizes: [4096], reserve: 32, database: null });
  assert.equal(Database.inspect(path.join(folder, 'plain')).database.cipher, null);
  fs.writeFileSync(path.join(folder, 'half'), chacha.subarray(0, 6000));
  assert.match(Database.inspect(path.join(folder, 'half')).description, /not a multiple of a page/);
  assert.deepEqual(Database.inspect(path.join(folder, 'half'), { key: KEY }).database.problems, [
    'the file ends within a page (6000 bytes)', 'the header counts 2 pages, the file has 1',
  ]);
});

here('a hot journal: page 1 is found in it when that of the file is not whole', async (t) => {
  const lock = { pragmas: ["cipher='chacha20'", 'kdf_iter=10'], key: Buffer.from(KEY) };
  const { bytes } = await crash(t, 'ours', lock, { within: 'PRAGMA user_version=5' });
  const file = restore(t, bytes);
  const params = { kdf_iter: 10 };
  const found = inspectOnly(file, { key: KEY, params });
  assert.equal(found.journal.hot, true);
  assert.ok(found.journal.records > 0);
  assert.equal(found.database.cipher, 'chacha20');
  assert.equal(found.database.page1From, 'journal');
  const superJournal = Buffer.from('/no/such/folder/super-mj0123456789');
  const end = Buffer.alloc(8);
  end.writeUInt32BE(superJournal.length);
  const named = Buffer.concat([bytes['-journal'], Buffer.alloc(4), superJournal, end, bytes['-journal'].subarray(0, 8)]);
  assert.equal(inspectOnly(restore(t, { ...bytes, '-journal': named }), { key: KEY, params }).journal.hot, false);
  const torn = Buffer.from(bytes['']);
  torn.fill(0x55, 1000, 3000);
  assert.equal(inspectOnly(restore(t, { ...bytes, '': torn }), { key: KEY, params }).database.page1From, 'journal');
  assert.equal(inspectOnly(restore(t, { '': torn }), { key: KEY, params }).database, null);
});

here('a WAL: frames up to the last commit count', async (t) => {
  const lock = { pragmas: ["cipher='chacha20'", 'kdf_iter=10'], key: Buffer.from(KEY) };
  const { bytes } = await crash(t, 'ours', lock, { journalMode: 'wal' });
  const { wal, database } = inspectOnly(restore(t, bytes), { key: KEY, params: { kdf_iter: 10 } });
  assert.ok(wal.valid && wal.committedFrames > 0 && wal.frames > wal.committedFrames);
  assert.equal(database.journalMode, 'wal');
});

here('a WAL counts as far as its checksums are right', (t) => {
  const entry = manifest.find(({ file }) => file === 'hot-wal-chacha20.db');
  const { key } = lockOf(entry);
  const file = copyStored(t, entry.file);
  const whole = fs.readFileSync(`${file}-wal`);
  const inspectWith = (at) => {
    const bytes = Buffer.from(whole);
    bytes[at] ^= 1;
    fs.writeFileSync(`${file}-wal`, bytes);
    const { wal, database } = inspectOnly(file, { key });
    return { frames: wal.frames, valid: wal.valid, page1From: database.page1From };
  };
  const frames = (whole.length - 32) / (4096 + 24);
  assert.deepEqual(inspectWith(whole.length - 1), { frames: frames - 1, valid: true, page1From: 'wal' });
  assert.deepEqual(inspectWith(32 + 24 + 100), { frames: 0, valid: true, page1From: 'file' });
  assert.deepEqual(inspectWith(20), { frames: 0, valid: false, page1From: 'file' });
});

here('the locks of this process on the file stay', async (t) => {
  const file = write(t, [], { key: null });
  const db = open(t, file);
  db.exec('BEGIN IMMEDIATE; INSERT INTO t VALUES (4)');
  assert.equal(Database.inspect(file).database.cipher, null);
  const other = await (await start(t, 'ours')).open(file, undefined, { timeout: 0 });
  await assert.rejects(other.exec('INSERT INTO t VALUES (5)'), { code: 'SQLITE_BUSY' });
  const { journal } = Database.inspect(file);
  assert.equal(journal.hot, false, 'the journal of a running transaction is taken for one that a crash left');
  db.exec('COMMIT');
  await other.exec('INSERT INTO t VALUES (5)');
});

here('while another process keeps writing, the key always opens, in WAL and in DELETE mode', async (t) => {
  for (const journalMode of ['wal', 'delete']) {
    const file = tempFile(t);
    const process = await start(t, 'ours');
    const db = await process.open(file, { pragmas: ["cipher='chacha20'", 'kdf_iter=10'], key: Buffer.from(KEY) });
    await db.pragma(`journal_mode=${journalMode}`);
    await db.exec('CREATE TABLE t (x)');
    let writing = true;
    const writer = (async () => {
      while (writing) await db.exec('INSERT INTO t VALUES (randomblob(9000)); DELETE FROM t WHERE rowid % 5 = 0');
    })();
    for (let n = 0; n < 100; n += 1) {
      const { database } = Database.inspect(file, { key: KEY, params: { kdf_iter: 10 } });
      assert.ok(database, `${journalMode}, look ${n}`);
      await new Promise((resolve) => { setImmediate(resolve); });
    }
    writing = false;
    await writer;
    await db.close();
  }
});

here('any bytes can be inspected', (t) => {
  const { random, seed } = seededRandom();
  t.diagnostic(`SEALITE_TEST_SEED=${seed}`);
  const folder = tempDir(t);
  const good = { '': fs.readFileSync(write(t, ["cipher='aes256cbc'"])) };
  const starts = ['SQLite format 3\0', '\x37\x7f\x06\x82', '\xd9\xd5\x05\xf9\x20\xa1\x63\xd7', ''].map((text) => Buffer.from(text, 'latin1'));
  for (let n = 0; n < 300; n += 1) {
    const file = path.join(folder, `f${n}`);
    for (const suffix of ['', '-wal', '-journal']) {
      const length = Math.floor(random() ** 3 * 9000);
      const bytes = Buffer.from(Array.from({ length }, () => Math.floor(random() * 256)));
      starts[Math.floor(random() * starts.length)].copy(bytes);
      if (random() < 0.3 && length > 24) Buffer.from([16, 0, 1, 1, 32, 64, 32, 32]).copy(bytes, 16);
      if (suffix !== '' && random() < 0.3) continue;
      fs.writeFileSync(file + suffix, suffix === '' && random() < 0.3 ? good[''].subarray(0, length) : bytes);
    }
    const found = Database.inspect(file, { key: KEY, cipher: ['aes256cbc', 'rc4', 'aes128cbc'][n % 3] });
    assert.equal(typeof found.kind, 'string');
    if (n % 30 === 0) Database.inspect(file, { key: KEY, params: { kdf_iter: 1, tcost: 1, mcost: 8 } });
  }
});

here('arguments that cannot be meant are refused', (t) => {
  const file = write(t, ["cipher='aes256cbc'"]);
  const refused = (Class, message, ...args) => throwsLike(() => Database.inspect(...args), Class, message);
  refused(TypeError, 'Expected first argument to be a string');
  refused(TypeError, 'Expected first argument to be a string', Buffer.from('x'));
  refused(TypeError, 'A database file name cannot be empty', ' ');
  refused(TypeError, 'A database file name cannot contain a NUL character', 'a\0b');
  refused(TypeError, 'Expected second argument to be an options object', file, 'key');
  refused(TypeError, 'Expected the "key" option to be a string or a Buffer', file, { key: 7 });
  refused(TypeError, 'The "key" option cannot be empty', file, { key: '' });
  refused(TypeError, 'Expected the "cipher" option to be a string', file, { cipher: 1 });
  refused(TypeError, "Cipher 'rot13' unknown.", file, { cipher: 'rot13' });
  refused(TypeError, 'Expected the "params" option to be an object', file, { params: 'kdf_iter=1' });
  refused(TypeError, "Unknown cipher parameter 'nonsense'", file, { params: { nonsense: 1 } });
  refused(TypeError, "Unknown cipher parameter 'tcost'", file, { cipher: 'rc4', params: { tcost: 1 } });
  refused(TypeError, "'0' is not a value of the cipher parameter 'kdf_iter'", file, { params: { kdf_iter: 0 } });
  refused(TypeError, "Expected the cipher parameter 'kdf_iter' to be a string or an integer", file, { params: { kdf_iter: 1.5 } });
  refused(TypeError, 'Invalid cipher salt. Length < 32 or invalid hex digits.', file, { params: { cipher_salt: 'ab' } });
  refused(RangeError, "The cipher parameter 'kdf_iter' cannot be greater than 10000000 here", file, { params: { kdf_iter: 2 ** 31 - 1 } });
  for (const missing of [`${file}.missing`, path.dirname(file)]) {
    throwsLike(() => Database.inspect(missing), Database.SqliteError, 'unable to open database file', 'SQLITE_CANTOPEN');
  }
  assert.equal(fs.existsSync(`${file}.missing`), false);
});
