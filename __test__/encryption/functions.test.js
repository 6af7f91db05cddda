'use strict';

// The SQL functions of the cipher library: sqlite3mc_config, sqlite3mc_codec_data, sqlite3mc_version
// and the encryption of single values, sqlite3mc_vle_…; all as in the replaced package. Values that
// the other package made are in ../interop/values.test.js.

const test = require('node:test');
const assert = require('node:assert/strict');
const { SqliteError, open, openFile, overruled, tempFile, throwsLike } = require('../support/database.js');

const value = (db, expression) => db.prepare(`SELECT ${expression}`).pluck().get();
const config = (db, args) => value(db, `sqlite3mc_config(${args})`);

/** Asks in order on one connection. */
function answers(db, steps) {
  for (const [args, expected] of steps) assert.equal(config(db, args), expected, args);
}
const fails = (db, expression, message) => {
  throwsLike(() => value(db, expression), SqliteError, message, 'SQLITE_ERROR');
};

// C-31.17
test('config: cipher, its default and the ends of its range', (t) => {
  answers(open(t), [
    ["'cipher'", 'chacha20'],
    ["'CIPHER'", 'chacha20'],
    ["x'636970686572'", 'chacha20'],
    ["'default:cipher'", 'chacha20'],
    ["'Min:Cipher'", 'aes128cbc'],
    ["'max:cipher'", ''],
    ["'cipher', 'RC4'", 'rc4'],
    ["'cipher'", 'rc4'],
    ["'default:cipher'", 'chacha20'],
    ["'default:cipher', 'aes256cbc'", 'aes256cbc'],
    ["'cipher'", 'aes256cbc'],
    ["'default:cipher'", 'aes256cbc'],
    ["'min:cipher', 'rc4'", 'rc4'],
    ["'cipher'", 'rc4'],
    ["'cipher', 'nope'", null],
    ["'cipher', 3", null],
    ["'cipher', NULL", null],
    ["'cipher', x'726334'", null],
    ["'cipher', 'chacha20', 1", null],
    ["'cipher'", 'rc4'],
  ]);
});

test('config: hmac_check and mc_legacy_wal', (t) => {
  answers(open(t), [
    ["'hmac_check'", 1],
    ["'min:hmac_check'", 0],
    ["'max:hmac_check'", 1],
    ["'hmac_check', 0", 0],
    ["'hmac_check'", 0],
    ["'default:hmac_check'", 1],
    ["'default:hmac_check', 0", 0],
    ["'default:hmac_check'", 1],
    ["'hmac_check', 2", null],
    ["'hmac_check', -1", null],
    ["'hmac_check', '0'", null],
    ["'hmac_check', 1.0", null],
    ["'hmac_check', NULL", null],
    ["'hmac_check', 4294967297", 1],
    ["'max:hmac_check', 0", 0],
    ["'hmac_check'", 0],
    ["'mc_legacy_wal'", 0],
    ["'mc_legacy_wal', 1", 1],
    ["'default:mc_legacy_wal'", 0],
    ["'default:mc_legacy_wal', 1", 1],
    ["'default:mc_legacy_wal'", 1],
    ["'max:mc_legacy_wal'", 1],
  ]);
});

test('config: the global settings as numbers', (t) => {
  answers(open(t), [
    ["'GLOBAL'", 'cipher,hmac_check,mc_legacy_wal'],
    ["'global', 'cipher'", 3],
    ["'global', 'min:cipher'", 1],
    ["'global', 'max:cipher'", 16],
    ["'global', 'default:cipher', 2", 2],
    ["'cipher'", 'aes256cbc'],
    ["'global', 'cipher', 0", null],
    ["'global', 'cipher', 'rc4'", null],
    ["'global', 'min:cipher', 3", null],
    ["'global', 'hmac_check', 0", 0],
    ["'global', 'hmac_check', -1", null],
    ["'global', 'max:hmac_check', 0", null],
    ["'global', 'nope'", null],
  ]);
});

test('config: the parameters of each scheme in order', (t) => {
  answers(open(t), [
    ["'chacha20'", 'legacy,legacy_page_size,kdf_iter,plaintext_header_size'],
    ["'aes128cbc'", 'legacy,legacy_page_size'],
    ["'aes256cbc'", 'legacy,legacy_page_size,kdf_iter'],
    ["'sqlcipher'", 'legacy,legacy_page_size,kdf_iter,fast_kdf_iter,hmac_use,hmac_pgno,hmac_salt_mask,'
      + 'kdf_algorithm,hmac_algorithm,hmac_algorithm_compat,plaintext_header_size'],
    ["'rc4'", 'legacy,legacy_page_size'],
    ["'Ascon128'", 'kdf_iter,plaintext_header_size'],
    ["'aegis'", 'tcost,mcost,pcost,algorithm,plaintext_header_size'],
    ["'default:chacha20'", null],
    ["'nope'", null],
    ["''", null],
    ['NULL', null],
    ['1', null],
  ]);
});

test('config: a parameter, its levels and its range', (t) => {
  answers(open(t), [
    ["'chacha20', 'KDF_ITER'", 64007],
    ["'chacha20', 'min:kdf_iter'", 1],
    ["'chacha20', 'Max:kdf_iter'", 2147483647],
    ["'chacha20', 'kdf_iter', 5", 5],
    ["'chacha20', 'kdf_iter'", 5],
    ["'chacha20', 'default:kdf_iter'", 64007],
    ["'chacha20', 'default:kdf_iter', 6", 6],
    ["'chacha20', 'kdf_iter'", 6],
    ["'chacha20', 'kdf_iter', 0", null],
    ["'chacha20', 'kdf_iter', -1", null],
    ["'chacha20', 'kdf_iter', '7'", null],
    ["'chacha20', 'kdf_iter', 7.0", null],
    ["'chacha20', 'kdf_iter', NULL", null],
    ["'chacha20', 'kdf_iter', 2147483648", null],
    ["'chacha20', 'kdf_iter', 4294967297", 1],
    ["'chacha20', 'min:kdf_iter', 8", null],
    ["'chacha20', x'6b64665f69746572'", null],
    ["'chacha20', NULL", null],
    ["'chacha20', 'nope'", null],
    ["'nope', 'kdf_iter'", null],
    ["NULL, 'kdf_iter'", null],
    ["'chacha20', 'legacy_page_size', 1000", 1000],
    ["'sqlcipher', 'plaintext_header_size', 24", 24],
    ["'rc4', 'legacy', 0", null],
    ["'aegis', 'algorithm'", 4],
    ["'aegis', 'algorithm', 2", 2],
    ["'aegis', 'algorithm', 'aegis-256x4'", null],
    ["'aegis', 'algorithm', 7", null],
  ]);
});

test('config: legacy of sqlcipher moves five others at the same level', (t) => {
  answers(open(t), [
    ["'sqlcipher', 'legacy', 2", 2],
    ["'sqlcipher', 'kdf_iter'", 4000],
    ["'sqlcipher', 'default:kdf_iter'", 256000],
    ["'sqlcipher', 'default:legacy', 1", 1],
    ["'sqlcipher', 'default:hmac_use'", 0],
    ["'sqlcipher', 'default:legacy', 0", 0],
    ["'sqlcipher', 'default:hmac_use'", 0],
  ]);
});

test('config: what is set holds for the next key, as a PRAGMA on temp does', (t) => {
  const db = openFile(t);
  answers(db, [["'cipher', 'aes256cbc'", 'aes256cbc']]);
  db.key(Buffer.from('k'));
  db.exec('CREATE TABLE t (x)');
  assert.equal(config(db, "'cipher'"), 'chacha20');
  db.close();
  const again = open(t, db.name);
  again.pragma("cipher='aes256cbc'");
  again.key(Buffer.from('k'));
  assert.deepEqual(again.prepare('SELECT * FROM t').all(), []);
});

test('codec_data gives the salt of an encrypted database', (t) => {
  const db = openFile(t);
  db.exec(`ATTACH '${tempFile(t)}' AS plain KEY ''`);
  assert.equal(value(db, "sqlite3mc_codec_data('cipher_salt')"), null);
  const keyed = openFile(t);
  keyed.key(Buffer.from('k'));
  keyed.exec(`CREATE TABLE t (x); ATTACH '${tempFile(t)}' AS plain KEY ''`);
  const salt = keyed.pragma('cipher_salt', { simple: true });
  assert.match(salt, /^[0-9A-F]{32}$/);
  assert.equal(value(keyed, "sqlite3mc_codec_data('cipher_salt')"), salt);
  assert.equal(value(keyed, "sqlite3mc_codec_data('CIPHER_SALT', 'main')"), salt);
  for (const args of ["'cipher_salt', 'plain'", "'cipher_salt', 'nope'", "'cipher_salt', NULL", "'x'", 'NULL']) {
    assert.equal(value(keyed, `sqlite3mc_codec_data(${args})`), null, args);
  }
});

test('version names the library whose formats these are', (t) => {
  assert.equal(value(open(t), 'sqlite3mc_version()'), 'SQLite3 Multiple Ciphers 2.4.0');
});

test('the functions take so many arguments and no others', (t) => {
  const db = open(t);
  const list = db.prepare("SELECT name, narg FROM pragma_function_list WHERE name LIKE 'sqlite3mc%' ORDER BY 1, 2").raw().all();
  assert.deepEqual(list, [
    ['sqlite3mc_codec_data', 1], ['sqlite3mc_codec_data', 2],
    ['sqlite3mc_config', 1], ['sqlite3mc_config', 2], ['sqlite3mc_config', 3],
    ['sqlite3mc_version', 0],
    ['sqlite3mc_vle_decrypt', 1], ['sqlite3mc_vle_decrypt', 2],
    ['sqlite3mc_vle_encrypt', 1], ['sqlite3mc_vle_encrypt', 2],
    ['sqlite3mc_vle_key', 1], ['sqlite3mc_vle_key', 2], ['sqlite3mc_vle_key', 3], ['sqlite3mc_vle_key', 4],
  ]);
  fails(db, 'sqlite3mc_config()', 'wrong number of arguments to function sqlite3mc_config()');
});

test('vle_key: its arguments and their errors', (t) => {
  const db = open(t);
  const passphrase = 'The passphrase parameter must have type TEXT or BLOB';
  const salt = 'The salt parameter must have type TEXT or BLOB, but can be NULL';
  const algorithm = 'The algorithm parameter must have type TEXT';
  fails(db, 'sqlite3mc_vle_key(NULL)', passphrase);
  fails(db, 'sqlite3mc_vle_key(5)', passphrase);
  fails(db, "sqlite3mc_vle_key('p', 5)", salt);
  fails(db, "sqlite3mc_vle_key('p', 's', NULL)", algorithm);
  fails(db, "sqlite3mc_vle_key('p', 's', x'63')", algorithm);
  for (const name of ['chacha200', 'aegis', 'rc4']) fails(db, `sqlite3mc_vle_key('p', 's', '${name}')`, 'Unsupported cipher type');
  fails(db, "sqlite3mc_vle_key('p', 's', 'c', 5)", 'The options parameter must have type TEXT');
  const ok = (rounds) => `Ok. Options(kdf_iter=${rounds})`;
  for (const [args, rounds] of [
    ["''", 64007], ["x'70', NULL", 64007], ["'p', '', 'CHACHA20', 'kdf_iter=10'", 10], ["'p', x'', 'a', 'kdf_iter=11'", 11],
    ["'p', 's', 'c', 'KDF=0x10'", 16], ["'p', 's', 'c', 'x=y,k=7 '", 7], ["'p', 's', 'c', 'kdf_iter=12abc'", 64007],
    ["'p', 's', 'c', 'kdf_iter=-5'", 64007],
  ]) assert.equal(value(db, `sqlite3mc_vle_key(${args})`), ok(rounds), args);
});

test('vle: values come back with their types under both algorithms', (t) => {
  const db = open(t);
  for (const [algorithm, number] of [['chacha20', 3], ['ascon128', 6]]) {
    value(db, `sqlite3mc_vle_key('p', 's', '${algorithm}', 'kdf_iter=10')`);
    for (const [literal, type, length] of [
      ['5', 'integer', 45], ['-9223372036854775808', 'integer', 45], ['-1.5', 'real', 45], ['2.0', 'real', 45],
      ["'Größe'", 'text', 44], ["x'00ff'", 'blob', 39],
    ]) {
      const [head, sealed, kind, same] = db.prepare(`WITH v AS MATERIALIZED (SELECT sqlite3mc_vle_encrypt(${literal}) AS s)
        SELECT hex(substr(s, 1, 4)), length(s), typeof(sqlite3mc_vle_decrypt(s)), sqlite3mc_vle_decrypt(s) IS ${literal} FROM v`).raw().get();
      assert.deepEqual([head, sealed, kind, same], [`EC010${number}00`, length, type, 1], `${algorithm} ${literal}`);
    }
  }
});

test('vle: scope, wrong key, changed and foreign values', (t) => {
  const db = open(t);
  fails(db, "sqlite3mc_vle_encrypt('a')", 'VLE key not set');
  fails(db, "sqlite3mc_vle_decrypt(x'00')", 'VLE key not set');
  value(db, "sqlite3mc_vle_key('p', 's', 'c', 'kdf_iter=10')");
  const opened = (scope, other) => `sqlite3mc_vle_decrypt(sqlite3mc_vle_encrypt('a'${scope})${other})`;
  assert.equal(value(db, opened(", 's'", ", x'73'")), 'a');
  assert.equal(value(db, opened(', 5', ", ''")), 'a');
  fails(db, opened(", 's'", ", 't'"), 'AEAD authentication failed');
  for (const empty of ['NULL', "''", "x''"]) {
    fails(db, `sqlite3mc_vle_encrypt(${empty})`, 'sqlite3mc_vle_encrypt: Failed to pack value');
  }
  for (const other of ['NULL', "'a'", '5']) fails(db, `sqlite3mc_vle_decrypt(${other})`, 'sqlite3mc_vle_decrypt requires a BLOB');
  fails(db, "sqlite3mc_vle_decrypt(x'ec')", 'Encrypted content too short');
  fails(db, 'sqlite3mc_vle_decrypt(zeroblob(50))', 'Invalid VLE header in encrypted value');
  const sealed = value(db, "sqlite3mc_vle_encrypt('a')");
  value(db, "sqlite3mc_vle_key('q', 's', 'c', 'kdf_iter=10')");
  assert.throws(() => db.prepare('SELECT sqlite3mc_vle_decrypt(?)').get(sealed), { message: 'AEAD authentication failed' });
});

overruled('vle: a value that is cut short is refused; the replaced package reads past its end', (t) => {
  const db = open(t);
  value(db, "sqlite3mc_vle_key('p', 's', 'c', 'kdf_iter=10')");
  const sealed = value(db, "sqlite3mc_vle_encrypt('a')");
  for (let length = 0; length < sealed.length; length += 1) {
    assert.throws(() => db.prepare('SELECT sqlite3mc_vle_decrypt(?)').get(sealed.subarray(0, length)), {
      code: 'SQLITE_ERROR', message: length <= 36 ? 'Encrypted content too short' : 'AEAD authentication failed',
    });
  }
});

overruled('what sets or shows settings and keys is not for views, triggers and defaults of a file', (t) => {
  const db = open(t);
  db.exec('CREATE TABLE t (x)');
  for (const expression of ["sqlite3mc_config('hmac_check', 0)", "sqlite3mc_vle_key('k')", "sqlite3mc_codec_data('cipher_salt')"]) {
    const message = `unsafe use of ${expression.split('(')[0]}()`;
    const unsafe = (sql) => throwsLike(() => db.exec(sql), SqliteError, message, 'SQLITE_ERROR');
    db.exec(`CREATE VIEW v AS SELECT ${expression}; CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT ${expression}; END`);
    unsafe('SELECT * FROM v');
    unsafe('INSERT INTO t VALUES (1)');
    db.exec('DROP VIEW v; DROP TRIGGER r');
    // One's own are nobody else's.
    db.exec(`CREATE TEMP VIEW v AS SELECT ${expression}; SELECT * FROM v; DROP VIEW v`);
  }
});

test('vle_encrypt and vle_decrypt are for views, triggers and generated columns, too', (t) => {
  const db = open(t);
  db.exec("SELECT sqlite3mc_vle_key('k', 's', 'chacha20', 'kdf_iter=1')");
  db.exec(`CREATE TABLE given (x);
    CREATE TABLE t (sealed, clear AS (sqlite3mc_vle_decrypt(sealed)));
    CREATE VIEW v AS SELECT sqlite3mc_vle_decrypt(sealed) AS x FROM t;
    CREATE TRIGGER r AFTER INSERT ON given BEGIN INSERT INTO t VALUES (sqlite3mc_vle_encrypt(new.x)); END`);
  db.exec("INSERT INTO given VALUES ('secret')");
  assert.deepEqual(db.prepare('SELECT clear, x FROM t, v').raw().get(), ['secret', 'secret']);
});

overruled('verbose does not show the key of values', (t) => {
  const seen = [];
  const db = open(t, ':memory:', { verbose: (sql) => seen.push(sql) });
  const rest = "'salt', 'chacha20', 'kdf_iter=1'";
  value(db, `sqlite3mc_vle_key('secret', ${rest})`);
  db.prepare(`SELECT sqlite3mc_vle_key(?, ${rest}), 'shown'`).get('secret');
  assert.deepEqual(seen, ["SELECT sqlite3mc_vle_key('***')", "SELECT sqlite3mc_vle_key('***'), 'shown'"]);
});

test('vle: a key that is set at a row of an iterator counts until the next row', (t) => {
  const db = open(t).exec('CREATE TABLE t (x)');
  const set = db.prepare("SELECT sqlite3mc_vle_key(?, 's', 'chacha20', 'kdf_iter=1')");
  for (let n = 1; n <= 10; n += 1) {
    set.get(`key ${n}`);
    db.exec(`INSERT INTO t VALUES (sqlite3mc_vle_encrypt(${n}))`);
  }
  const sealed = db.prepare('SELECT sqlite3mc_vle_decrypt(x) FROM t WHERE rowid = ?').pluck();
  const keys = db.prepare("SELECT rowid AS n, sqlite3mc_vle_key('key ' || rowid, 's', 'chacha20', 'kdf_iter=1') FROM t");
  const seen = [];
  for (const { n } of keys.iterate()) seen.push(sealed.get(n));
  assert.deepEqual(seen, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
});
