'use strict';

// Keys and settings in the names of files: file:mail.db?cipher=chacha20&key=secret. Only with the
// option `uri` (the replaced package: with SQLITE_USE_URI=1 in the environment).

const test = require('node:test');
const assert = require('node:assert/strict');
const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { Database, SqliteError, open, overruled, tempDir, tempFile, throwsLike, throwsNotADb } = require('../support/database.js');

const uri = (file, parameters) => `file:${file}?${parameters}`;
const openUri = (t, file, parameters, options) => open(t, uri(file, parameters), { uri: true, ...options });
const rows = (db, schema = 'main') => db.prepare(`SELECT x FROM ${schema}.t`).pluck().all();
const setting = (db, name) => db.pragma(name, { simple: true });

/** A database with one row, made with the parameters of its name. */
function make(t, parameters) {
  const file = tempFile(t);
  const db = openUri(t, file, parameters);
  db.exec('CREATE TABLE t (x); INSERT INTO t VALUES (1)');
  db.close();
  return file;
}

overruled('without the option, file: is part of a name', (t) => {
  const dir = tempDir(t);
  fs.mkdirSync(path.join(dir, 'file:'));
  const before = process.cwd();
  process.chdir(dir);
  try {
    open(t, 'file:/a?key=k').exec('CREATE TABLE t (x)');
    assert.equal(fs.readFileSync('file:/a?key=k').toString('latin1', 0, 15), 'SQLite format 3');
  } finally {
    process.chdir(before);
  }
  assert.throws(() => new Database(':memory:', { uri: 1 }), { message: 'Expected the "uri" option to be a boolean' });
});

overruled('key, textkey and hexkey of any length under the scheme and the parameters of the name', (t) => {
  const long = 'k'.repeat(200);
  const hex = Buffer.from(long).toString('hex');
  for (const [key, settings, pragmas] of [
    [`key=${long}`, 'cipher=AES256CBC', ["cipher='aes256cbc'"]],
    [`textkey=${long}`, 'cipher=chacha20&kdf_iter=7', ['kdf_iter=7']],
    [`hexkey=${hex}`, 'kdf_iter=7', ['kdf_iter=7']],
    [`key=other&hexkey=${hex}0`, 'kdf_iter=7', ['kdf_iter=7']],
    [`hexkey=&key=${long}&textkey=other`, 'kdf_iter=7', ['kdf_iter=7']],
    [`key=${long.replace('k', '%6b')}`, 'kdf_iter=7&cipher=sqlcipher&legacy=2', ["cipher='sqlcipher'", 'legacy=2', 'kdf_iter=7']],
    [`key=${long}`, 'cipher=aegis&tcost=1&mcost=64&algorithm=aegis-128l', ["cipher='aegis'", 'tcost=1', 'mcost=64', 'algorithm=1']],
  ]) {
    const file = make(t, `${settings}&${key}`);
    const db = open(t, file);
    for (const pragma of pragmas) db.pragma(pragma);
    db.key(Buffer.from(long));
    assert.deepEqual(rows(db), [1], settings);
    assert.deepEqual(rows(openUri(t, file, `${settings}&${key}`)), [1]);
    if (settings.includes('chacha20')) throwsNotADb(() => rows(openUri(t, file, `${settings}&key=${long.slice(0, 199)}`)));
    const wrong = openUri(t, file, `${settings}&key=x${long}`);
    throwsNotADb(() => rows(wrong));
  }
});

overruled('an empty key is no encryption', (t) => {
  const file = make(t, 'key=&textkey=k');
  assert.equal(fs.readFileSync(file).toString('latin1', 0, 15), 'SQLite format 3');
});

overruled('settings without a key last; values that are none change nothing', (t) => {
  const db = openUri(t, tempFile(t), 'cipher=aes256cbc&kdf_iter=77&hmac_check=off&mc_legacy_wal=maybe');
  assert.deepEqual(['cipher', 'kdf_iter', 'temp.kdf_iter', 'hmac_check', 'mc_legacy_wal'].map((name) => setting(db, name)),
    ['aes256cbc', '77', '77', '0', '0']);
  const bad = openUri(t, tempFile(t), 'kdf_iter=abc&legacy=9&legacy_page_size=1000');
  assert.deepEqual(['kdf_iter', 'legacy', 'legacy_page_size'].map((name) => setting(bad, name)), ['64007', '0', '4096']);
});

overruled('a scheme that there is none of', (t) => {
  const file = tempFile(t);
  for (const parameters of ['cipher=nope', 'cipher=nope&key=k']) {
    throwsLike(() => new Database(uri(file, parameters), { uri: true }), SqliteError, "unknown cipher 'nope'", 'SQLITE_ERROR');
  }
  const db = open(t, ':memory:', { uri: true });
  for (const sql of [`ATTACH '${uri(file, 'cipher=nope')}' AS a KEY 'k'`, `ATTACH '${uri(file, 'cipher=nope&key=k')}' AS a`]) {
    assert.throws(() => db.exec(sql), { code: 'SQLITE_ERROR' });
  }
  assert.deepEqual(db.pragma('database_list').map(({ name }) => name), ['main']);
});

overruled('cipher_salt of the name counts for each key of that file', (t) => {
  const salt = '000102030405060708090A0B0C0D0E0F';
  const db = openUri(t, tempFile(t), `kdf_iter=7&cipher_salt=${salt}`);
  db.key(Buffer.from('k'));
  assert.equal(setting(db, 'cipher_salt'), salt);
  const bad = openUri(t, tempFile(t), 'kdf_iter=7&key=k&cipher_salt=zz');
  assert.match(setting(bad, 'cipher_salt'), /^[0-9A-F]{32}$/);
});

overruled('ATTACH: key and settings of the name, for that database only', (t) => {
  const file = make(t, 'cipher=aes256cbc&key=k');
  for (const [parameters, clause] of [['cipher=aes256cbc&key=k', ''], ['cipher=aes256cbc', "KEY 'k'"]]) {
    const db = open(t, ':memory:', { uri: true });
    db.exec(`ATTACH '${uri(file, parameters)}' AS a ${clause}`);
    assert.deepEqual(rows(db, 'a'), [1]);
    assert.equal(setting(db, 'cipher'), 'chacha20');
    assert.equal(setting(db, 'temp.cipher'), 'chacha20');
  }
  const wrong = open(t, ':memory:', { uri: true });
  assert.throws(() => wrong.exec(`ATTACH '${uri(file, 'cipher=aes256cbc&key=x')}' AS a`), { code: 'SQLITE_NOTADB' });
});

overruled('VACUUM INTO a name with its own key', (t) => {
  const db = openUri(t, make(t, 'cipher=aes256cbc&key=k'), 'cipher=aes256cbc&key=k');
  const copy = tempFile(t);
  db.exec(`VACUUM INTO '${uri(copy, 'cipher=chacha20&kdf_iter=7&key=other')}'`);
  assert.deepEqual(rows(openUri(t, copy, 'kdf_iter=7&key=other')), [1]);
});

overruled('name shows no key whose parameter is escaped, and every other name as it is', (t) => {
  for (const [parameters, shown] of [
    ['kdf_iter=7&k%65y=secret', 'kdf_iter=7&k%65y=***'],
    ['%74extkey%00s=secret&mode=rwc', '%74extkey%00s=***&mode=rwc'],
    ['monkey=1&key=', 'monkey=1&key=***'],
  ]) {
    const file = tempFile(t);
    assert.equal(openUri(t, file, parameters).name, uri(file, shown));
  }
  const plain = `${tempFile(t)}&key=a`;
  assert.equal(open(t, plain, { uri: true }).name, plain);
});

overruled('the error of a file that cannot be opened shows no key', (t) => {
  const db = open(t, ':memory:', { uri: true });
  const missing = uri(tempFile(t), 'mode=ro&key=secret');
  for (const sql of [`ATTACH '${missing}' AS a`, `VACUUM INTO '${missing}'`]) {
    throwsLike(() => db.exec(sql), SqliteError, `unable to open database: ${missing.replace('secret', '***')}`, 'SQLITE_CANTOPEN');
  }
});

overruled('name shows no key where names are URIs for the whole process', (t) => {
  const name = uri(tempFile(t), 'kdf_iter=7&key=secret');
  const script = `console.log(new (require(${JSON.stringify(path.join(__dirname, '..', '..'))}))(${JSON.stringify(name)}).name)`;
  const { stdout } = spawnSync(process.execPath, ['-e', script], { encoding: 'utf8', env: { ...process.env, SQLITE_USE_URI: '1' } });
  assert.equal(stdout, `${name.replace('secret', '***')}\n`);
});

overruled('name and verbose show no key', (t) => {
  const seen = [];
  const db = openUri(t, tempFile(t), 'kdf_iter=7&hexkey=6b&mode=rwc', { verbose: (sql) => seen.push(sql) });
  assert.match(db.name, /\?kdf_iter=7&hexkey=\*\*\*&mode=rwc$/);
  db.exec(`ATTACH '${uri(tempFile(t), 'kdf_iter=7&key=secret')}' AS a`);
  db.prepare('ATTACH ? AS b').run(uri(tempFile(t), 'key=secret&kdf_iter=7'));
  db.exec(`VACUUM INTO '${uri(tempFile(t), 'key=secret')}'`);
  for (const [open, close] of ['""', '``', '[]']) {
    db.exec(`ATTACH ${open}${uri(tempFile(t), 'key=secret')}${close} AS c`);
    db.exec('DETACH c');
  }
  assert.equal(seen.length, 9);
  for (const sql of seen) assert.doesNotMatch(sql, /secret/);
});
