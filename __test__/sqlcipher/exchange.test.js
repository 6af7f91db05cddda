'use strict';

// Files handed to and fro between sealite and SQLCipher itself, in both journal modes, also as a process
// that died leaves them.

const test = require('node:test');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const { open, tempFile } = require('../support/database.js');
const { start, unlockHere } = require('../interop/processes.js');
const { sqlcipher, sqlcipherError } = require('./peer.js');

const SALT = '00112233445566778899aabbccddeeff';
const RAW = '2dd29ca851e7b56e4697b0e1f08507293d761a05ce4d1b628663f411a8086d99';
const PASSPHRASE = Buffer.from('correct horse');
const scheme = "cipher='sqlcipher'";
const peerKey = `PRAGMA key='${PASSPHRASE}'`;

/** Name: how we open the file, and what SQLCipher is told. */
const variants = {
  'SQLCipher 4, its default': [{ pragmas: [scheme, 'legacy=4'] }, [peerKey]],
  ...Object.fromEntries([1, 2, 3, 4].map((version) => [`the format of SQLCipher ${version}`, [
    { pragmas: [scheme, `legacy=${version}`] }, [peerKey, `PRAGMA cipher_compatibility=${version}`],
  ]])),
  'a plaintext header of 32 bytes': [
    { pragmas: [scheme, 'legacy=4', 'plaintext_header_size=32', `cipher_salt='${SALT}'`] },
    [peerKey, 'PRAGMA cipher_plaintext_header_size=32', `PRAGMA cipher_salt="x'${SALT}'"`],
  ],
  'a raw key': [{ pragmas: [scheme, 'legacy=4'], key: Buffer.from(`x'${RAW}'`) }, [`PRAGMA key="x'${RAW}'"`]],
  'a raw key with its salt': [
    { pragmas: [scheme, 'legacy=4'], key: Buffer.from(`x'${RAW}${SALT}'`) }, [`PRAGMA key="x'${RAW}${SALT}'"`],
  ],
  'a raw key and a plaintext header': [
    { pragmas: [scheme, 'legacy=4', 'plaintext_header_size=32'], key: Buffer.from(`x'${RAW}${SALT}'`) },
    [`PRAGMA key="x'${RAW}${SALT}'"`, 'PRAGMA cipher_plaintext_header_size=32'],
  ],
  'fewer rounds and larger pages': [
    { pragmas: [scheme, 'legacy=4', 'kdf_iter=1000', 'legacy_page_size=8192'] },
    [peerKey, 'PRAGMA kdf_iter=1000', 'PRAGMA cipher_page_size=8192'],
  ],
  'SHA-256 for everything': [
    { pragmas: [scheme, 'legacy=4', 'kdf_algorithm=1', 'hmac_algorithm=1'] },
    [peerKey, 'PRAGMA cipher_kdf_algorithm=PBKDF2_HMAC_SHA256', 'PRAGMA cipher_hmac_algorithm=HMAC_SHA256'],
  ],
  'HMAC with SHA-1, keys with SHA-512': [
    { pragmas: [scheme, 'legacy=4', 'hmac_algorithm=0'] }, [peerKey, 'PRAGMA cipher_hmac_algorithm=HMAC_SHA1'],
  ],
  'no HMAC': [{ pragmas: [scheme, 'legacy=4', 'hmac_use=0'] }, [peerKey, 'PRAGMA cipher_use_hmac=OFF']],
};

const CREATE = 'CREATE TABLE note (id INTEGER PRIMARY KEY, writer TEXT, body BLOB)';
const insert = (writer) => `
  WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 40)
  INSERT INTO note (writer, body) SELECT '${writer}', zeroblob(300 * (i % 9)) FROM n`.replaceAll('\n', ' ');
const COUNT = 'SELECT writer, count(*), sum(length(body)) FROM note GROUP BY writer ORDER BY writer';
const rows = (...writers) => writers.map((writer) => [writer, 40, 46200]);

/** What we see in the file; it is closed again. */
function look(t, file, lock) {
  const db = unlockHere(open(t, file), { key: PASSPHRASE, ...lock });
  const seen = { rows: db.prepare(COUNT).raw().all(), integrity: db.pragma('integrity_check', { simple: true }) };
  db.close();
  return seen;
}

/** What SQLCipher sees; cipher_integrity_check names each page whose HMAC is wrong. */
function lookThere(file, keyed) {
  const answers = sqlcipher(file, [...keyed, COUNT, 'PRAGMA integrity_check', 'PRAGMA cipher_integrity_check']);
  const [found, integrity, damaged] = answers.slice(-3);
  assert.deepEqual(damaged, []);
  return { rows: found, integrity: integrity[0][0] };
}

const whole = (...writers) => ({ rows: rows(...writers), integrity: 'ok' });

for (const [name, [lock, keyed]] of Object.entries(variants)) {
  for (const journalMode of ['delete', 'wal']) {
    const without = name === 'no HMAC' || name.endsWith('SQLCipher 1');
    const lookAt = without ? (file) => {
      const [found, integrity] = sqlcipher(file, [...keyed, COUNT, 'PRAGMA integrity_check']).slice(-2);
      return { rows: found, integrity: integrity[0][0] };
    } : (file) => lookThere(file, keyed);

    test(`${name}, ${journalMode}: ours opens in SQLCipher, which writes, and back`, (t) => {
      const file = tempFile(t);
      const db = unlockHere(open(t, file), { key: PASSPHRASE, ...lock });
      db.pragma(`journal_mode=${journalMode}`);
      db.exec(`${CREATE}; ${insert('ours')}`);
      db.close();
      assert.deepEqual(lookAt(file), whole('ours'));
      sqlcipher(file, [...keyed, insert('theirs')]);
      assert.deepEqual(look(t, file, lock), whole('ours', 'theirs'));
    });

    test(`${name}, ${journalMode}: SQLCipher's opens here, we write, and back`, (t) => {
      const file = tempFile(t);
      sqlcipher(file, [...keyed, `PRAGMA journal_mode=${journalMode}`, CREATE, insert('theirs')]);
      const db = unlockHere(open(t, file), { key: PASSPHRASE, ...lock });
      assert.equal(db.pragma('journal_mode', { simple: true }), journalMode);
      db.exec(insert('ours'));
      db.close();
      assert.deepEqual(lookAt(file), whole('ours', 'theirs'));
    });
  }

  test(`${name}: a WAL that SQLCipher left when it died`, (t) => {
    const file = tempFile(t);
    sqlcipher(file, [...keyed, 'PRAGMA journal_mode=wal', 'PRAGMA wal_autocheckpoint=0', CREATE, insert('theirs')], '.abort');
    assert.ok(fs.statSync(`${file}-wal`).size > 4096);
    assert.deepEqual(look(t, file, lock), whole('theirs'));
    assert.equal(fs.existsSync(`${file}-wal`), false);
  });

  test(`${name}: a WAL that we left when we died`, async (t) => {
    const file = tempFile(t);
    const process = await start(t, 'ours');
    const db = await process.open(file, { key: PASSPHRASE, ...lock });
    await db.pragma('journal_mode=wal');
    await db.pragma('wal_autocheckpoint=0');
    await db.exec(`${CREATE}; ${insert('ours')}`);
    await process.kill();
    assert.ok(fs.statSync(`${file}-wal`).size > 4096);
    const [found] = sqlcipher(file, [...keyed, COUNT]).slice(-1);
    assert.deepEqual(found, rows('ours'));
  });

  // The other way round SQLCipher takes our journal for torn: its checksums are over the stored pages.
  test(`${name}: a rollback journal that SQLCipher left when it died is played back`, (t) => {
    const file = tempFile(t);
    sqlcipher(file, [...keyed, CREATE, insert('theirs'), insert('more')]);
    const before = fs.readFileSync(file);
    const transaction = ['PRAGMA cache_size=2', 'BEGIN', 'UPDATE note SET body=zeroblob(700)'];
    sqlcipher(file, [...keyed, ...transaction], '.abort');
    assert.ok(fs.existsSync(`${file}-journal`));
    assert.ok(!fs.readFileSync(file).subarray(0, before.length).equals(before), 'nothing has spilled');
    assert.deepEqual(look(t, file, lock), whole('more', 'theirs'));
  });
}

test('a wrong key is refused in both', (t) => {
  const [lock, keyed] = variants['SQLCipher 4, its default'];
  const file = tempFile(t);
  sqlcipher(file, [...keyed, CREATE, insert('theirs')]);
  assert.throws(() => look(t, file, { ...lock, key: Buffer.from('wrong') }), { code: 'SQLITE_NOTADB' });
  assert.match(sqlcipherError(file, ["PRAGMA key='wrong'", COUNT]), /file is not a database/);
});

test('a rekey in either opens in the other', (t) => {
  const [lock, keyed] = variants['SQLCipher 4, its default'];
  const file = tempFile(t);
  sqlcipher(file, [...keyed, CREATE, insert('theirs'), "PRAGMA rekey='second'"]);
  const db = unlockHere(open(t, file), { ...lock, key: Buffer.from('second') });
  assert.deepEqual(db.prepare(COUNT).raw().all(), rows('theirs'));
  for (const pragma of lock.pragmas) db.pragma(pragma);
  db.rekey(Buffer.from('third'));
  db.close();
  assert.deepEqual(lookThere(file, ["PRAGMA key='third'"]), whole('theirs'));
});
