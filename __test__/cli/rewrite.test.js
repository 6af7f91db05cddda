'use strict';

// encrypt, decrypt, rekey, convert, backup: the new file holds everything, the old one stays as it is
// until the new one is complete, and a file that others have open is not touched.

const assert = require('node:assert/strict');
const { spawn, spawnSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { Database, open } = require('../support/database.js');
const { manifest, copyStored, lockOf } = require('../interop/stored.js');
const { start } = require('../interop/processes.js');
const { seededRandom } = require('../interop/random.js');
const { CLI, ENV, KEY, OTHER, ROWS, cliTest, run, runJson, write, rowsIn, beside } = require('./cli.js');

const MINE = ['--key-env', 'KEY'];
const FAST = ['--set', 'kdf_iter=10'];
const whole = (journalMode = 'delete') => ({ count: ROWS, sound: 'ok', journalMode });

for (const wal of [false, true]) {
  const mode = wal ? 'wal' : 'delete';

  cliTest(`${mode}: a plain database is encrypted, its key changed, its scheme changed, and decrypted`, (t) => {
    const file = write(t, [], { key: null, wal });
    fs.chmodSync(file, 0o640);
    const encrypted = runJson(['encrypt', file, ...MINE, '--cipher', 'sqlcipher', '--set', 'kdf_iter=10']);
    assert.deepEqual([encrypted.code, encrypted.pragmas], [0, ["cipher='sqlcipher'", 'kdf_iter=10']]);
    assert.deepEqual(rowsIn(t, file, encrypted.pragmas, KEY), whole(mode));
    const rekeyed = runJson(['rekey', file, ...MINE, ...FAST, '--new-key-env', 'OTHER']);
    assert.deepEqual([rekeyed.code, rekeyed.pragmas], [0, ["cipher='sqlcipher'", 'kdf_iter=10']]);
    assert.deepEqual(rowsIn(t, file, rekeyed.pragmas, OTHER), whole(mode));
    const converted = runJson(['convert', file, '--key-env', 'OTHER', ...FAST, '--to-cipher', 'aegis', '--to-set', 'tcost=1', '--to-set', 'mcost=64']);
    assert.deepEqual([converted.code, converted.pragmas], [0, ["cipher='aegis'", 'tcost=1', 'mcost=64']]);
    assert.deepEqual(rowsIn(t, file, converted.pragmas, OTHER), whole(mode));
    const decrypted = runJson(['decrypt', file, '--key-env', 'OTHER', '--set', 'tcost=1', '--set', 'mcost=64']);
    assert.deepEqual([decrypted.code, decrypted.pragmas], [0, []]);
    assert.deepEqual(rowsIn(t, file, [], null), whole(mode));
    assert.equal(fs.statSync(file).mode & 0o777, 0o640);
    assert.deepEqual(beside(file).filter((name) => name !== 'mail.db-shm'), ['mail.db']);
  });
}

cliTest('a hot WAL is folded in', (t) => {
  const entry = manifest.find(({ file }) => file === 'hot-wal-chacha20.db');
  const file = copyStored(t, entry.file);
  const { key } = lockOf(entry);
  const { code, pages, pragmas } = runJson(['convert', file, '--key-fd', '0', '--to-set', 'kdf_iter=10'], { input: key });
  assert.equal(code, 0);
  assert.ok(pages > 0 && !fs.existsSync(`${file}-wal`));
  const db = open(t, file);
  for (const pragma of pragmas) db.pragma(pragma);
  db.key(key);
  assert.equal(db.prepare('SELECT count(*) FROM messages').pluck().get(), entry.messages);
});

cliTest('SQLCipher 1 to 4: written with their own page size or told that of the file', (t) => {
  for (const legacy of [1, 2, 3, 4]) {
    const file = write(t, [], { key: null });
    const { code, pragmas } = runJson(['encrypt', file, ...MINE, '--cipher', 'sqlcipher', '--set', 'kdf_iter=10', '--set', `legacy=${legacy}`]);
    assert.equal(code, 0);
    assert.equal(pragmas.includes('legacy_page_size=4096'), legacy < 4);
    assert.equal(rowsIn(t, file, pragmas, KEY).count, ROWS);
  }
});

cliTest('with a header in clear the new salt is told', (t) => {
  const file = write(t, [], { key: null });
  const { pragmas } = runJson(['encrypt', file, ...MINE, '--set', 'plaintext_header_size=32', '--set', 'kdf_iter=10']);
  assert.equal(fs.readFileSync(file).toString('latin1', 0, 15), 'SQLite format 3');
  assert.match(pragmas.at(-1), /^cipher_salt='[0-9A-F]{32}'$/);
  assert.equal(rowsIn(t, file, pragmas, KEY).count, ROWS);
});

cliTest('a parameter that the scheme does not have, or a value that it cannot have, is refused', (t) => {
  const file = write(t, [], { key: null });
  const before = fs.readFileSync(file);
  for (const [cipher, setting, message] of [
    ['chacha20', 'kdf_itr=10', "The scheme chacha20 has no parameter 'kdf_itr'"],
    ['chacha20', 'rekey=x', "The scheme chacha20 has no parameter 'rekey'"],
    ['chacha20', 'journal_mode=off', "The scheme chacha20 has no parameter 'journal_mode'"],
    ['chacha20', 'kdf_iter=0', "'0' is not a value of the parameter 'kdf_iter'"],
    ['chacha20', 'legacy_page_size=1000', "'1000' is not a value of the parameter 'legacy_page_size'"],
    ['aegis', 'algorithm=99', "'99' is not a value of the parameter 'algorithm'"],
    ['aegis', 'algorithm=aes', "'aes' is not a value of the parameter 'algorithm'"],
  ]) {
    const { code, err } = run(['encrypt', file, ...MINE, '--cipher', cipher, '--set', setting]);
    assert.deepEqual([code, err], [2, `sealite: ${message}\nTry 'sealite --help'.\n`], setting);
  }
  assert.ok(fs.readFileSync(file).equals(before));
});

cliTest('a journal that was kept for later use does not stay with its pages in clear', (t) => {
  const file = write(t, [], { key: null });
  const db = open(t, file);
  db.pragma('journal_mode = PERSIST');
  db.exec("UPDATE t SET y = 'changed'");
  db.close();
  assert.match(fs.readFileSync(`${file}-journal`, 'latin1'), /row 1 row 1/);
  assert.equal(run(['encrypt', file, ...MINE, ...FAST]).code, 0);
  assert.deepEqual(beside(file), ['mail.db']);
});

cliTest('a file with another name is not replaced, as that name would keep the old content', (t) => {
  const file = write(t, [], { key: null });
  const before = fs.readFileSync(file);
  fs.linkSync(file, `${file}.link`);
  const { code, err } = run(['encrypt', file, ...MINE, ...FAST]);
  assert.deepEqual([code, err], [1, `sealite: ${file} has another name (a hard link), which would keep the old content: use --output\n`]);
  assert.ok(fs.readFileSync(file).equals(before));
  fs.rmSync(`${file}.link`);
  assert.equal(run(['encrypt', file, ...MINE, ...FAST]).code, 0);
});

cliTest('a name beside which another database left its WAL or its journal is not taken', (t) => {
  const file = write(t);
  for (const suffix of ['-wal', '-journal']) {
    const copy = path.join(path.dirname(file), 'copy.db');
    fs.writeFileSync(copy + suffix, '');
    for (const words of [['backup', file, copy], ['decrypt', file, '--output', copy]]) {
      const { code, err } = run([...words, ...MINE, ...FAST]);
      assert.deepEqual([code, err], [1, `sealite: ${copy}${suffix} exists already\n`]);
    }
    assert.ok(!fs.existsSync(copy));
    fs.rmSync(copy + suffix);
  }
});

cliTest('a name that Database would cut is refused, and others are files whatever they look like', (t) => {
  const file = write(t);
  const cut = `${file} `;
  fs.copyFileSync(file, cut);
  const { code, err } = run(['verify', cut, ...MINE, ...FAST]);
  assert.deepEqual([code, err], [2, `sealite: The name '${cut}' ends in white space\nTry 'sealite --help'.\n`]);
  const folder = path.dirname(file);
  for (const name of [' mail.db', 'file:mail.db?mode=ro', ':memory:']) {
    // Windows has no such names.
    if (process.platform === 'win32' && name !== ' mail.db') continue;
    fs.copyFileSync(file, path.join(folder, name));
    const result = runIn(folder, ['verify', name, ...MINE, ...FAST], { SQLITE_USE_URI: '1' });
    assert.deepEqual([result.status, result.stderr], [0, ''], name);
  }
});

const runIn = (cwd, words, env) => spawnSync(process.execPath, [CLI, ...words], {
  cwd, encoding: 'utf8', env: { ...process.env, ...ENV, ...env },
});

cliTest('--output leaves the original as it is, and no name is taken from another file', (t) => {
  const file = write(t);
  const before = fs.readFileSync(file);
  const output = path.join(path.dirname(file), 'plain.db');
  assert.equal(run(['decrypt', file, ...MINE, ...FAST, '--output', output]).code, 0);
  assert.ok(fs.readFileSync(file).equals(before));
  assert.deepEqual(rowsIn(t, output, [], null), whole());
  const again = run(['decrypt', file, ...MINE, ...FAST, '--output', output]);
  assert.deepEqual([again.code, again.err], [1, `sealite: ${output} exists already\n`]);
  assert.deepEqual(beside(file), ['mail.db', 'plain.db']);
});

cliTest('a link stays a link to the new file', (t) => {
  const file = write(t);
  const link = path.join(path.dirname(file), 'link.db');
  fs.symlinkSync(file, link);
  assert.equal(run(['decrypt', link, ...MINE, ...FAST]).code, 0);
  assert.ok(fs.lstatSync(link).isSymbolicLink());
  assert.equal(rowsIn(t, file, [], null).count, ROWS);
});

for (const journalMode of ['wal', 'delete']) {
  cliTest(`${journalMode}: a file that another process has open is refused and stays as it is`, async (t) => {
    const file = write(t);
    const other = await start(t, 'ours');
    const db = await other.open(file, { pragmas: ["cipher='chacha20'", 'kdf_iter=10'], key: Buffer.from(KEY) });
    await db.pragma(`journal_mode=${journalMode}`);
    await db.get('SELECT count(*) AS n FROM t');
    const before = fs.readFileSync(file);
    const refused = run(['rekey', file, ...MINE, ...FAST, '--new-key-env', 'OTHER']);
    // Idle connections outside WAL mode hold no lock; only Linux lists the open files.
    if (journalMode === 'wal' || process.platform === 'linux') {
      assert.equal(refused.code, 5, refused.err);
      assert.match(refused.err, /is in use by another connection|is open in process/);
      assert.ok(fs.readFileSync(file).equals(before));
      assert.ok(beside(file).every((name) => !name.endsWith('.new')));
      assert.deepEqual(await db.get('SELECT count(*) AS n FROM t'), { n: ROWS });
    }
    await db.close();
    assert.equal(run(['rekey', file, ...MINE, ...FAST, '--new-key-env', 'OTHER']).code, 0);
  });
}

cliTest('a failure leaves the original and nothing else', (t) => {
  const file = write(t);
  const before = fs.readFileSync(file);
  const attempts = [
    [['rekey', file, '--key-env', 'OTHER', ...FAST, '--new-key-env', 'KEY'], 3],
    [['convert', file, ...MINE, ...FAST, '--to-cipher', 'rot13'], 1],
    [['encrypt', file, ...MINE], 1],
    [['decrypt', file, '--key-env', 'NO_SUCH_VARIABLE', ...FAST], 3],
    [['convert', file, ...MINE, ...FAST, '--to-cipher', 'aegis', '--to-set', 'mcost=7'], 1],
  ];
  for (const [words, code] of attempts) {
    const ended = run(words);
    assert.equal(ended.code, code, `${words.join(' ')}: ${ended.err}`);
    assert.match(ended.err, /^sealite: .+\n$/);
    assert.ok(fs.readFileSync(file).equals(before), words.join(' '));
    assert.deepEqual(beside(file), ['mail.db']);
  }
});

cliTest('backup copies under the same key while another process writes', async (t) => {
  const file = write(t, undefined, { wal: true });
  const other = await start(t, 'ours');
  const db = await other.open(file, { pragmas: ["cipher='chacha20'", 'kdf_iter=10'], key: Buffer.from(KEY) });
  await db.exec("BEGIN IMMEDIATE; INSERT INTO t (y) VALUES ('not yet')");
  const copy = path.join(path.dirname(file), 'copy.db');
  const { code, pages } = runJson(['backup', file, copy, ...MINE, ...FAST]);
  assert.equal(code, 0);
  assert.ok(pages > 5);
  assert.equal(rowsIn(t, copy, ["cipher='chacha20'", 'kdf_iter=10'], KEY).count, ROWS);
  await db.exec('COMMIT');
  assert.equal(run(['backup', file, copy, ...MINE, ...FAST]).code, 1);
  assert.ok(beside(file).every((name) => !name.endsWith('.new')));
});

cliTest('killed at any moment, the file opens with one of the two keys and all its rows', async (t) => {
  const { random, seed } = seededRandom();
  t.diagnostic(`SEALITE_TEST_SEED=${seed}`);
  const pragmas = ["cipher='chacha20'", 'kdf_iter=10'];
  const file = write(t, pragmas, { wal: true });
  const keys = ['KEY', 'OTHER'];
  const env = { KEY, OTHER };
  let kills = 0;
  let took = 0;
  let now = 0;
  for (let n = 0; n < 12; n += 1) {
    const words = ['rekey', file, '--key-env', keys[now], ...FAST, '--new-key-env', keys[1 - now]];
    const child = spawn(process.execPath, [CLI, ...words], { env: { ...process.env, ...env }, stdio: 'ignore' });
    const ended = new Promise((resolve) => { child.once('exit', (code, signal) => resolve(signal ?? code)); });
    // Once as a whole, for the time that it takes here; then for a part of it.
    const startedAt = Date.now();
    if (n > 0) setTimeout(() => child.kill('SIGKILL'), random() * took);
    const end = await ended;
    if (n === 0) took = Date.now() - startedAt;
    if (end === 'SIGKILL') kills += 1;
    const opening = keys.filter((name) => Database.inspect(file, { key: env[name], params: { kdf_iter: 10 } }).database !== null);
    assert.equal(opening.length, 1, `after ${n} runs`);
    now = keys.indexOf(opening[0]);
    if (end === 0) assert.equal(opening[0], words.at(-1));
    assert.deepEqual({ ...rowsIn(t, file, pragmas, env[opening[0]]), journalMode: null }, { ...whole(), journalMode: null });
  }
  assert.ok(kills > 3, `${kills} kills`);
});
