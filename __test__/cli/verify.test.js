'use strict';

// verify: every changed byte is found in the schemes with a tag, and told by its page; in the others
// what SQLite's integrity check sees. inspect on the command line, keys, usage, exit codes.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const { Database, open } = require('../support/database.js');
const { otherSchemes } = require('../support/schemes.js');
const { seededRandom } = require('../interop/random.js');
const { KEY, cliTest, run, runJson, write } = require('./cli.js');
const verify = require('../../lib/verify.js');

const MINE = ['--key-env', 'KEY'];
const FAST = ['--set', 'kdf_iter=10'];
const FLIPS = 1000;
const TAGGED = {
  'chacha20': ["cipher='chacha20'", 'kdf_iter=10'],
  'chacha20 legacy': ["cipher='chacha20'", 'legacy=1'],
  'sqlcipher': otherSchemes.sqlcipher,
  'sqlcipher legacy 4': otherSchemes['sqlcipher legacy 4'],
  'ascon128': otherSchemes.ascon128,
  'aegis': otherSchemes.aegis,
};

/** Whether reading every page shows that something is wrong, and where. */
function findingsIn(file, pragmas) {
  const db = new Database(file, { readonly: true });
  try {
    for (const pragma of pragmas) db.pragma(pragma);
    db.key(Buffer.from(KEY));
    return verify(db);
  } catch (error) {
    assert.match(error.code, /^SQLITE_(NOTADB|CORRUPT)/);
    return { ok: false, badPages: [1] };
  } finally {
    db.close();
  }
}

cliTest(`${FLIPS} changed bytes in the schemes with a tag are all found, in the right page`, (t) => {
  const { random, seed } = seededRandom();
  t.diagnostic(`SEALITE_TEST_SEED=${seed}`);
  const schemes = Object.entries(TAGGED);
  let found = 0;
  for (const [index, [name, pragmas]] of schemes.entries()) {
    const file = write(t, pragmas);
    const whole = fs.readFileSync(file);
    assert.equal(findingsIn(file, pragmas).ok, true, name);
    const share = Math.floor(FLIPS / schemes.length) + (index < FLIPS % schemes.length ? 1 : 0);
    for (let n = 0; n < share; n += 1) {
      // Page 1 has the most that could be overlooked: every third change is there.
      const at = Math.floor(random() * (n % 3 === 0 ? 100 : whole.length));
      const bytes = Buffer.from(whole);
      bytes[at] ^= 1 + Math.floor(random() * 255);
      fs.writeFileSync(file, bytes);
      const { ok, badPages } = findingsIn(file, pragmas);
      assert.equal(ok, false, `${name}: byte ${at} was changed from ${whole[at]} to ${bytes[at]} and nothing noticed`);
      if (at >= 4096) assert.deepEqual(badPages, [Math.floor(at / 4096) + 1], name);
      found += 1;
    }
  }
  assert.equal(found, FLIPS);
});

cliTest('all bad pages are told', (t) => {
  const file = write(t);
  const bytes = fs.readFileSync(file);
  for (const page of [3, 5]) bytes[(page - 1) * 4096 + 77] ^= 4;
  fs.writeFileSync(file, bytes);
  const { code, ok, badPages, problems } = runJson(['verify', file, ...MINE, ...FAST]);
  assert.deepEqual({ code, ok, badPages }, { code: 4, ok: false, badPages: [3, 5] });
  assert.deepEqual(problems, ['page 3: SQLITE_CORRUPT', 'page 5: SQLITE_CORRUPT']);
  assert.match(run(['verify', file, ...MINE, ...FAST]).out, /damaged; bad pages: 3, 5\n/);
});

cliTest('a page that was never written is no damage as long as it is free', (t) => {
  const file = write(t);
  const db = open(t, file);
  db.pragma("cipher='chacha20'");
  db.pragma('kdf_iter=10');
  db.key(Buffer.from(KEY));
  db.pragma('secure_delete=0');
  db.exec("CREATE TABLE u (y); INSERT INTO u VALUES (zeroblob(40000)); DELETE FROM u; INSERT INTO t (y) VALUES ('end')");
  const pageCount = db.pragma('page_count', { simple: true });
  assert.ok(db.pragma('freelist_count', { simple: true }) > 5);
  db.close();
  const bytes = fs.readFileSync(file);
  // The trunk of the list of free pages is the first of them that is not a leaf; the last page is a leaf.
  bytes.fill(0, (pageCount - 1) * 4096);
  fs.writeFileSync(file, bytes);
  assert.equal(runJson(['verify', file, ...MINE, ...FAST]).ok, true);
  bytes.fill(0, 2 * 4096, 3 * 4096);
  fs.writeFileSync(file, bytes);
  assert.deepEqual(runJson(['verify', file, ...MINE, ...FAST]).badPages, [3]);
});

cliTest('without tags the structure is checked', (t) => {
  for (const pragmas of [["cipher='aes256cbc'"], ["cipher='rc4'"]]) {
    const file = write(t, pragmas);
    const sound = runJson(['verify', file, ...MINE]);
    assert.deepEqual([sound.code, sound.authenticated, sound.structureChecked], [0, false, true]);
    const bytes = fs.readFileSync(file);
    bytes.fill(0x5a, 2 * 4096, 2 * 4096 + 64);
    fs.writeFileSync(file, bytes);
    const { code, ok, problems, badPages } = runJson(['verify', file, ...MINE]);
    assert.deepEqual([code, ok], [4, false]);
    assert.ok(problems.length > 0 && badPages.includes(3), problems.join('; '));
  }
  const plain = write(t, [], { key: null });
  assert.equal(runJson(['verify', plain]).structureChecked, true);
});

cliTest('a file that is cut short, and a wrong key', (t) => {
  const file = write(t);
  const bytes = fs.readFileSync(file);
  fs.writeFileSync(file, bytes.subarray(0, 3 * 4096));
  assert.equal(run(['verify', file, ...MINE, ...FAST]).code, 4);
  fs.writeFileSync(file, bytes);
  assert.equal(run(['verify', file, '--key-env', 'OTHER', ...FAST]).code, 3);
  assert.equal(run(['verify', `${file}.missing`, ...MINE]).code, 1);
});

cliTest('inspect tells what opens a file, and exits with 3 when the key does not', (t) => {
  const file = write(t, ["cipher='sqlcipher'", 'legacy=2', 'legacy_page_size=4096']);
  const right = runJson(['inspect', file, ...MINE]);
  assert.deepEqual([right.code, right.database.pragmas], [0, ["cipher='sqlcipher'", 'legacy=2', 'legacy_page_size=4096']]);
  assert.match(run(['inspect', file, ...MINE]).out, /PRAGMA legacy=2;/);
  const wrong = run(['inspect', file, '--key-env', 'OTHER']);
  assert.equal(wrong.code, 3);
  assert.match(wrong.out, /The key does not open it\. Tried:/);
  const without = runJson(['inspect', file]);
  assert.deepEqual([without.code, without.database, without.kind], [0, null, 'unknown']);
});

cliTest('keys: lines of a descriptor in turn, hex digits, and nothing that shows them', (t) => {
  const file = write(t);
  const hex = Buffer.from(KEY).toString('hex');
  assert.equal(run(['verify', file, '--key-fd', '0', ...FAST], { input: `${KEY}\n` }).code, 0);
  assert.equal(run(['verify', file, '--key-fd', '0', ...FAST], { input: `${KEY}\r\nmore\n` }).code, 0);
  assert.equal(run(['verify', file, '--key-fd', '0', '--hex', ...FAST], { input: hex }).code, 0);
  assert.equal(run(['rekey', file, '--key-fd', '0', '--new-key-fd', '0', ...FAST], { input: `${KEY}\nsecond\n` }).code, 0);
  const ended = run(['verify', file, '--key-fd', '0', ...FAST], { input: 'wrong one\n' });
  assert.equal(ended.code, 3);
  assert.ok(!`${ended.out}${ended.err}`.includes('wrong one'));
  assert.match(run(['verify', file, '--key-fd', '0', '--hex'], { input: 'xyz' }).err, /not made of hex digits/);
  assert.match(run(['verify', file, '--key-fd', '0'], { input: '' }).err, /has no further line/);
  assert.match(run(['verify', file]).err, /No key: give --key-env or --key-fd/);
});

cliTest('wrong usage exits with 2, in words or in JSON', (t) => {
  const cases = [['nonsense'], ['verify'], ['verify', 'a', 'b'], ['verify', 'a', '--key', 'x'], ['verify', 'a', '--key-env', 'A', '--key-fd', '0'],
    ['rekey', 'a', '--key-env', 'KEY', '--set', 'kdf_iter'], ['decrypt', 'a', '--to-cipher', 'rc4']];
  const file = write(t);
  for (const words of cases) {
    const { code, err } = run(words.map((word) => (word === 'a' ? file : word)));
    assert.equal(code, 2, `${words.join(' ')}: ${err}`);
    assert.match(err, /^sealite: .+\nTry 'sealite --help'\.\n$/);
  }
  assert.equal(runJson(['nonsense']).error.exitCode, 2);
  assert.equal(run(['--help']).code, 0);
  assert.match(run(['--version']).out, /^\d+\.\d+\.\d+\n$/);
});
