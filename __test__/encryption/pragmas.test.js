'use strict';

// What the PRAGMAs about keys answer and which errors they raise: cipher, legacy, kdf_iter,
// hmac_check, cipher_salt, key, hexkey, rekey, hexrekey. What the settings do to a file is in
// keys.test.js and damaged-pages.test.js.

const test = require('node:test');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const {
  SqliteError, open, openFile, overruled, tempFile, throwsLike, throwsNotADb,
} = require('../support/database.js');
const { fill, isWhole, makeFile, openWith, unlock } = require('./lock.js');

const key = Buffer.from('pragmas');
const chacha20 = { pragmas: ["cipher='chacha20'"], key };
const fails = (db, source, message, code = 'SQLITE_ERROR') => {
  throwsLike(() => db.pragma(source), SqliteError, message, code);
};

/** Runs PRAGMAs in order on one connection; each answers one row whose only column is named by its value. */
function answers(db, steps) {
  for (const [source, answer] of steps) {
    if (typeof answer === 'string') assert.deepEqual(db.pragma(source), [{ [answer]: answer }], source);
    else if (answer === null) assert.deepEqual(db.pragma(source), [], source);
    else fails(db, source, answer.error);
  }
}

test('cipher answers the scheme in lower case, takes any case and knows what it does not know', (t) => {
  answers(openFile(t), [
    ['cipher', 'chacha20'],
    ["cipher='AES256CBC'", 'aes256cbc'],
    ['cipher', 'aes256cbc'],
    ["cipher='ChaCha20'", 'chacha20'],
    ['cipher=aes256cbc', 'aes256cbc'],
    ['cipher(chacha20)', 'chacha20'],
    ["cipher='x'", { error: "Cipher 'x' unknown." }],
    ["cipher='chacha'", { error: "Cipher 'chacha' unknown." }],
    ["cipher=''", { error: "Cipher '' unknown." }],
    ['cipher=3', { error: "Cipher '3' unknown." }],
    ['cipher', 'chacha20'],
  ]);
});

test('kdf_iter: integers in range are taken, out of range changes nothing, text is an error', (t) => {
  answers(openFile(t), [
    ['kdf_iter', '64007'],
    ['kdf_iter=1000', '1000'],
    ['kdf_iter=0', '1000'],
    ['kdf_iter=-5', '1000'],
    ['kdf_iter=+7', '7'],
    ['kdf_iter=1', '1'],
    ['kdf_iter=2147483647', '2147483647'],
    ['kdf_iter=0x10', '16'],
    ["kdf_iter='0x7fffffff'", '2147483647'],
    ["kdf_iter='12abc'", '12'],
    ['kdf_iter=1.5', '1'],
    ['kdf_iter=2147483648', { error: "Malformed integer value '2147483648'." }],
    ['kdf_iter=99999999999', { error: "Malformed integer value '99999999999'." }],
    ["kdf_iter='0x80000000'", { error: "Malformed integer value '0x80000000'." }],
    ["kdf_iter='abc'", { error: "Malformed integer value 'abc'." }],
    ["kdf_iter=''", { error: "Malformed integer value ''." }],
    ['kdf_iter', '1'],
    ['KDF_ITER', '1'],
  ]);
});

test('legacy is 0 or 1 and nothing else', (t) => {
  answers(openFile(t), [
    ['legacy', '0'],
    ['legacy=1', '1'],
    ['legacy=2', '1'],
    ['legacy=-1', '1'],
    ['legacy=on', { error: "Malformed integer value 'on'." }],
    ['legacy', '1'],
    ['legacy=0', '0'],
  ]);
});

test('each scheme has its own parameters; one it does not have is an unknown pragma', (t) => {
  const db = openFile(t);
  answers(db, [
    ["cipher='aes256cbc'", 'aes256cbc'],
    ['kdf_iter', '4001'],
    ['legacy=1', '1'],
    ['legacy_page_size', '0'],
    ['plaintext_header_size', null],
    ["cipher='chacha20'", 'chacha20'],
    ['kdf_iter', '64007'],
    ['legacy', '0'],
    ['legacy_page_size', '4096'],
    ['hmac_use', null],
  ]);
});

const parametersOf = {
  aes128cbc: { legacy: '0', legacy_page_size: '0' },
  aes256cbc: { legacy: '0', legacy_page_size: '0', kdf_iter: '4001' },
  chacha20: { legacy: '0', legacy_page_size: '4096', kdf_iter: '64007', plaintext_header_size: '0' },
  sqlcipher: {
    legacy: '0', legacy_page_size: '4096', kdf_iter: '256000', fast_kdf_iter: '2', hmac_use: '1', hmac_pgno: '1',
    hmac_salt_mask: '58', kdf_algorithm: '2', hmac_algorithm: '2', hmac_algorithm_compat: '1', plaintext_header_size: '0',
  },
  rc4: { legacy: '1', legacy_page_size: '0' },
  ascon128: { kdf_iter: '64007', plaintext_header_size: '0' },
  aegis: { tcost: '2', mcost: '19456', pcost: '1', algorithm: 'aegis-256', plaintext_header_size: '0' },
};

test('each of the seven schemes has these parameters with these defaults, and no others', (t) => {
  const all = new Set(Object.values(parametersOf).flatMap(Object.keys));
  const db = openFile(t);
  for (const [scheme, defaults] of Object.entries(parametersOf)) {
    answers(db, [[`cipher='${scheme}'`, scheme]]);
    answers(db, [...all].map((name) => [name, defaults[name] ?? null]));
    answers(db, [...all].filter((name) => !(name in defaults)).map((name) => [`${name}=1`, null]));
  }
});

test('sqlcipher: legacy 1 to 4 set five parameters, 0 sets itself alone; values out of range change nothing', (t) => {
  const names = ['legacy_page_size', 'kdf_iter', 'hmac_use', 'kdf_algorithm', 'hmac_algorithm'];
  const presets = {
    1: ['1024', '4000', '0', '0', '0'],
    2: ['1024', '4000', '1', '0', '0'],
    4: ['4096', '256000', '1', '2', '2'],
    3: ['1024', '64000', '1', '0', '0'],
    0: ['1024', '64000', '1', '0', '0'],
    5: ['1024', '64000', '1', '0', '0'],
  };
  const db = openFile(t);
  answers(db, [["cipher='sqlcipher'", 'sqlcipher']]);
  for (const legacy of ['1', '2', '4', '3', '0', '5']) {
    answers(db, [[`legacy=${legacy}`, legacy === '5' ? '0' : legacy]]);
    answers(db, names.map((name, n) => [name, presets[legacy][n]]));
  }
  answers(db, [
    ['plaintext_header_size=24', '0'],
    ['plaintext_header_size=32', '32'],
    ['plaintext_header_size=112', '32'],
    ['hmac_salt_mask=256', '58'],
    ['hmac_salt_mask=255', '255'],
    ['hmac_pgno=3', '1'],
    ['hmac_pgno=0', '0'],
    ['kdf_algorithm=3', '0'],
    ["hmac_algorithm='SHA1'", { error: "Malformed integer value 'SHA1'." }],
  ]);
});

test('aegis: an algorithm by name in any case or by number, answered by its name', (t) => {
  answers(openFile(t), [
    ["cipher='aegis'", 'aegis'],
    ["algorithm='aegis-128l'", 'aegis-128l'],
    ["algorithm='AEGIS-256X4'", 'aegis-256x4'],
    ['algorithm=2', 'aegis-128x2'],
    ['algorithm=7', 'aegis-128x2'],
    ['algorithm=0', 'aegis-128x2'],
    ["algorithm='aegis'", 'aegis-128x2'],
    ['algorithm', 'aegis-128x2'],
  ]);
});

overruled('aegis: parameters that Argon2 refuses, or that need more than 4 GiB, give no key of zeros', (t) => {
  for (const refused of ['mcost=7', 'mcost=4194305', 'pcost=2147483647']) {
    const db = openFile(t);
    answers(db, [["cipher='aegis'", 'aegis'], ['tcost=1', '1']]);
    db.pragma(refused);
    fails(db, "key='x'", 'The cipher refuses its parameters');
    assert.deepEqual(db.prepare('SELECT 1 AS one').all(), [{ one: 1 }]);
  }
});

overruled('a database with pages of 512 bytes is not re-keyed to a scheme that reserves more than 32', (t) => {
  for (const scheme of ['sqlcipher', 'aegis']) {
    for (const lock of [{}, chacha20]) {
      const file = makeFile(t, tempFile(t), { pragmas: ['page_size=512', ...(lock.pragmas || [])], key: lock.key });
      const db = openWith(t, file, lock);
      db.pragma(`cipher='${scheme}'`);
      fails(db, "rekey='x'", 'Rekeying failed. The page size is too small for the cipher.');
      isWhole(db);
      db.close();
      isWhole(openWith(t, file, lock));
    }
  }
});

test('rc4: legacy is 1 and stays 1', (t) => {
  answers(openFile(t), [["cipher='rc4'", 'rc4'], ['legacy=0', '1'], ['legacy=1', '1'], ['legacy_page_size=512', '512']]);
});

test('cipher_salt: the salted schemes have one, the others none', (t) => {
  for (const [scheme, { kdf_iter: rounds }] of Object.entries(parametersOf)) {
    const salted = ['chacha20', 'sqlcipher', 'ascon128', 'aegis'].includes(scheme);
    const db = openFile(t);
    answers(db, [[`cipher='${scheme}'`, scheme]]);
    if (rounds !== undefined) answers(db, [['kdf_iter=1', '1']]);
    answers(db, [["key='x'", 'ok']]);
    const salt = db.pragma('cipher_salt', { simple: true });
    assert.equal(/^[0-9A-F]{32}$/.test(salt), salted, scheme);
  }
});

test('legacy_page_size takes 0 and powers of two from 512 to 65536', (t) => {
  answers(openFile(t), [
    ['legacy_page_size=1024', '1024'],
    ['legacy_page_size=1000', '1024'],
    ['legacy_page_size=131072', '1024'],
    ['legacy_page_size=65536', '65536'],
    ['legacy_page_size=0', '0'],
  ]);
});

test('hmac_check is a boolean; a word that is none counts as true', (t) => {
  const steps = { off: '0', yes: '1', no: '0', maybe: '1', 5: '1', 0: '0', true: '1', false: '0', on: '1' };
  const db = openFile(t);
  answers(db, [['hmac_check', '1']]);
  for (const [value, answer] of Object.entries(steps)) {
    answers(db, [[`hmac_check=${value}`, answer], ['hmac_check', answer]]);
  }
});

test('settings of main last; those of temp hold for one key()', (t) => {
  const db = openFile(t);
  answers(db, [
    ['temp.kdf_iter=33', '33'],
    ['kdf_iter', '64007'],
    ['main.kdf_iter', '64007'],
    ['temp.kdf_iter', '33'],
    ["key='x'", 'ok'],
    ['temp.kdf_iter', '64007'],
    ['kdf_iter=44', '44'],
    ["key='x'", 'ok'],
    ['kdf_iter', '44'],
    ['temp.kdf_iter', '44'],
    ["temp.cipher='aes256cbc'", 'aes256cbc'],
    ['cipher', 'chacha20'],
    ['temp.cipher', 'aes256cbc'],
    ["key='x'", 'ok'],
    ['temp.cipher', 'chacha20'],
  ]);
});

test('settings belong to the connection', (t) => {
  const first = openFile(t);
  answers(first, [['kdf_iter=5', '5'], ["cipher='aes256cbc'", 'aes256cbc']]);
  answers(openFile(t), [['cipher', 'chacha20'], ['kdf_iter', '64007']]);
});

test('a schema that does not exist', (t) => {
  const db = openFile(t);
  const sources = ["key='x'", "hexkey='00'", "rekey='x'", 'cipher', "cipher='chacha20'", 'kdf_iter=3', 'cipher_salt'];
  for (const source of sources) fails(db, `nope.${source}`, 'unknown database nope');
});

test('key answers ok, whatever the key; without a value it is an error', (t) => {
  answers(openFile(t), [
    ["key='right or wrong'", 'ok'],
    ['key=12345', 'ok'],
    ["key=''", 'ok'],
    ['key', { error: 'SQL logic error' }],
  ]);
});

test('hexkey answers ok, or says what is malformed', (t) => {
  answers(openFile(t), [
    ["hexkey='00fF'", 'ok'],
    ['hexkey', { error: 'SQL logic error' }],
    ["hexkey=''", { error: 'SQL logic error' }],
    ["hexkey='abc'", { error: 'Malformed hex string' }],
    ["hexkey='zz'", { error: 'Malformed hex string' }],
  ]);
});

test('rekey and hexrekey answer ok, or the error of the reason', (t) => {
  const file = makeFile(t, tempFile(t), chacha20);
  const db = openWith(t, file, chacha20);
  answers(db, [
    ["rekey='second'", 'ok'],
    ["hexrekey='746869'", 'ok'],
    ["hexrekey='a'", { error: 'Malformed hex string' }],
    ["hexrekey='zz'", { error: 'Malformed hex string' }],
  ]);
  isWhole(db);
  db.close();
  isWhole(openWith(t, file, { ...chacha20, key: Buffer.from('thi') }));
});

test('an in-memory or temporary database takes no key', (t) => {
  const setting = 'Setting key not supported for in-memory or temporary databases.';
  const rekeying = 'Rekeying not supported for in-memory or temporary databases.';
  const memory = open(t);
  fails(memory, "key='x'", setting);
  fails(memory, "hexkey='00'", setting);
  fails(memory, "rekey='x'", rekeying);
  fails(memory, "hexrekey='00'", rekeying);
  const db = openFile(t);
  fails(db, "temp.key='x'", setting);
  fails(db, "temp.rekey='x'", rekeying);
  assert.deepEqual(memory.prepare('SELECT 1 AS one').all(), [{ one: 1 }]);
});

test('rekey under a wrong key, none, or read-only: the error, and the file is as it was', (t) => {
  for (const journalMode of ['delete', 'wal']) {
    const file = makeFile(t, tempFile(t), chacha20, `journal_mode=${journalMode}`);
    const before = fs.readFileSync(file);
    const wrong = openWith(t, file, { ...chacha20, key: Buffer.from('wrong') });
    fails(wrong, "rekey='x'", 'file is not a database', 'SQLITE_NOTADB');
    throwsNotADb(() => wrong.rekey(Buffer.from('x')));
    unlock(wrong, chacha20);
    isWhole(wrong);
    wrong.close();
    const without = open(t, file);
    fails(without, "rekey='x'", 'file is not a database', 'SQLITE_NOTADB');
    without.close();
    const readonly = openWith(t, file, chacha20, { readonly: true });
    fails(readonly, "rekey='x'", 'attempt to write a readonly database', 'SQLITE_READONLY');
    readonly.close();
    assert.ok(fs.readFileSync(file).equals(before), journalMode);
    isWhole(openWith(t, file, chacha20));
  }
});

test('rekey of a legacy database to another page size is refused, the old key stays', (t) => {
  const legacy = { pragmas: ["cipher='chacha20'", 'legacy=1'], key };
  const file = makeFile(t, tempFile(t), legacy);
  const db = openWith(t, file, legacy);
  isWhole(db);
  db.pragma('legacy_page_size=1024');
  fails(db, "rekey='x'", 'Rekeying failed. Pagesize cannot be changed for an encrypted database.');
  isWhole(db);
  db.close();
  isWhole(openWith(t, file, legacy));
});

overruled('rekey inside a transaction is refused, which goes on under the old key (overrules C-31.8)', (t) => {
  for (const journalMode of ['delete', 'wal']) {
    const file = makeFile(t, tempFile(t), chacha20, `journal_mode=${journalMode}`);
    const db = openWith(t, file, chacha20);
    db.exec("BEGIN; INSERT INTO note VALUES (50, 'pending')");
    throwsLike(() => db.rekey(Buffer.from('second')), SqliteError, 'SQL logic error', 'SQLITE_ERROR');
    assert.throws(() => db.pragma("rekey='second'"), { code: 'SQLITE_ERROR' });
    assert.equal(db.inTransaction, true);
    db.exec('ROLLBACK');
    isWhole(db);
    db.close();
    isWhole(openWith(t, file, chacha20));
  }
});

test('rekey with a damaged page fails, and the old key still opens the rest', (t) => {
  for (const journalMode of ['delete', 'wal']) {
    const file = makeFile(t, tempFile(t), chacha20, `journal_mode=${journalMode}`);
    const bytes = fs.readFileSync(file);
    bytes[10 * 4096 + 100] ^= 1;
    fs.writeFileSync(file, bytes);
    const db = openWith(t, file, chacha20);
    db.pragma('cache_size=5');
    throwsLike(() => db.rekey(Buffer.from('x')), SqliteError, 'database disk image is malformed', 'SQLITE_CORRUPT');
    db.close();
    const again = openWith(t, file, chacha20);
    assert.equal(again.prepare('SELECT count(*) FROM note WHERE id = 1').pluck().get(), 1);
    throwsNotADb(() => openWith(t, file, { ...chacha20, key: Buffer.from('x') }).exec('SELECT * FROM note'));
  }
});

test('another connection is shut out by a rekey until it has the new key', (t) => {
  for (const journalMode of ['delete', 'wal']) {
    const file = makeFile(t, tempFile(t), chacha20, `journal_mode=${journalMode}`);
    const first = openWith(t, file, chacha20);
    const second = openWith(t, file, chacha20);
    isWhole(first);
    isWhole(second);
    first.rekey(Buffer.from('new'));
    throwsNotADb(() => second.prepare('SELECT * FROM note').all());
    second.key(Buffer.from('new'));
    isWhole(second);
  }
});

test('cipher_salt: nothing without a codec, the salt of the file with one, none in aes256cbc', (t) => {
  const salt = '0102030405060708090A0B0C0D0E0F10';
  const bad = { error: 'Invalid cipher salt. Length < 32 or invalid hex digits.' };
  const db = openFile(t);
  answers(db, [
    ['cipher_salt', null],
    ["cipher_salt=''", null],
    ["cipher_salt='0011'", bad],
    ["cipher_salt='zz0102030405060708090a0b0c0d0e0f'", bad],
    [`cipher_salt='${salt.toLowerCase()}'`, 'ok'],
    ['cipher_salt', null],
    ["key='x'", 'ok'],
    ['cipher_salt', salt],
    [`cipher_salt='${salt}'`, { error: "Cipher salt can't be changed." }],
  ]);
  fill(db);
  answers(db, [['cipher_salt', salt]]);
  const other = openWith(t, tempFile(t), { pragmas: ["cipher='aes256cbc'"], key });
  answers(other, [['cipher_salt', null]]);
});

test('the PRAGMAs act when they are prepared, also if they are never run', (t) => {
  const db = openFile(t);
  db.prepare('PRAGMA kdf_iter=123');
  db.prepare("PRAGMA cipher='aes256cbc'");
  answers(db, [['cipher', 'aes256cbc'], ["cipher='chacha20'", 'chacha20'], ['kdf_iter', '123']]);
  const file = makeFile(t, tempFile(t), chacha20);
  const keyed = open(t, file);
  keyed.prepare("PRAGMA key='pragmas'");
  isWhole(keyed);
});

test('a simple pragma gives the value as text; an unknown name gives no rows', (t) => {
  const db = openFile(t);
  assert.equal(db.pragma('kdf_iter', { simple: true }), '64007');
  assert.equal(db.pragma("key='x'", { simple: true }), 'ok');
  const unknown = ['cipher_provider', 'cipher_version', "textkey='x'", "textrekey='x'", 'memory_security', 'no_such'];
  answers(db, unknown.map((source) => [source, null]));
});

test('a key turns secure_delete on', (t) => {
  const db = openWith(t, tempFile(t), chacha20);
  assert.equal(db.pragma('secure_delete', { simple: true }), 1);
});

overruled('mc_legacy_wal=1 is answered and loses no frames in a crash', (t) => {
  const file = makeFile(t, tempFile(t), chacha20, 'journal_mode=wal');
  const db = openWith(t, file, { pragmas: ['mc_legacy_wal=1', ...chacha20.pragmas], key });
  db.exec("UPDATE note SET body = 'in the WAL' WHERE id = 1");
  const copy = tempFile(t);
  for (const suffix of ['', '-wal']) fs.copyFileSync(file + suffix, copy + suffix);
  const again = openWith(t, copy, chacha20);
  assert.equal(again.prepare('SELECT body FROM note WHERE id = 1').pluck().get(), 'in the WAL');
});
