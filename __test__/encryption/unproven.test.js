'use strict';

// Keys that no tag can prove, as hmac_check=0 or hmac_use=0 says so: while page 1 does not look like that
// of a database nothing is written, and the WAL is not checkpointed when the database is closed.

const test = require('node:test');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const { open, overruled, tempFile } = require('../support/database.js');
const { isWhole, makeFile, openWith } = require('./lock.js');

const key = Buffer.from('right');
const wrong = Buffer.from('wrong');
const locks = {
  'chacha20 with hmac_check=0': [["cipher='chacha20'", 'kdf_iter=7'], ['hmac_check=0']],
  'ascon128 with hmac_check=0': [["cipher='ascon128'", 'kdf_iter=7'], ['hmac_check=0']],
  'sqlcipher with hmac_check=0': [["cipher='sqlcipher'", 'kdf_iter=7'], ['hmac_check=0']],
  'sqlcipher with hmac_use=0': [["cipher='sqlcipher'", 'kdf_iter=7', 'hmac_use=0'], []],
};

/** A database and a WAL with content that a killed process left. */
function crashed(t, pragmas) {
  const file = makeFile(t, tempFile(t), { pragmas, key }, 'journal_mode=wal');
  const db = openWith(t, file, { pragmas, key });
  db.exec('CREATE TABLE other (x); DROP TABLE other');
  const copy = tempFile(t);
  for (const suffix of ['', '-wal']) fs.copyFileSync(file + suffix, copy + suffix);
  db.close();
  return copy;
}
const bytesOf = (file) => ['', '-wal'].map((suffix) => fs.readFileSync(file + suffix));

for (const [name, [pragmas, unchecked]] of Object.entries(locks)) {
  overruled(`${name}: under a wrong key nothing is written, not even at close`, (t) => {
    const file = crashed(t, pragmas);
    const before = bytesOf(file);
    const db = openWith(t, file, { pragmas: [...pragmas, ...unchecked], key: wrong });
    assert.throws(() => db.prepare('SELECT * FROM note').all(), { code: /^SQLITE_(ERROR|CORRUPT|NOTADB)$/ });
    assert.throws(() => db.pragma('user_version = 5'), { code: 'SQLITE_NOTADB' });
    assert.throws(() => db.rekey(Buffer.from('new')), { code: 'SQLITE_NOTADB' });
    db.close();
    assert.deepEqual(bytesOf(file), before);
  });

  test(`${name}: under the right key everything works`, (t) => {
    const file = crashed(t, pragmas);
    const db = openWith(t, file, { pragmas: [...pragmas, ...unchecked], key });
    isWhole(db);
    db.pragma('user_version = 5');
    db.close();
    assert.equal(fs.existsSync(`${file}-wal`), false);
    const again = openWith(t, file, { pragmas, key });
    assert.equal(again.pragma('user_version', { simple: true }), 5);
    isWhole(again);
  });
}

overruled('a new database under such a key can be written', (t) => {
  const db = openWith(t, tempFile(t), { pragmas: locks['sqlcipher with hmac_use=0'][0], key });
  db.exec('CREATE TABLE t (x); INSERT INTO t VALUES (1)');
  db.close();
  const again = openWith(t, db.name, { pragmas: locks['sqlcipher with hmac_use=0'][0], key });
  assert.deepEqual(again.prepare('SELECT x FROM t').pluck().all(), [1]);
  assert.throws(() => open(t, db.name).exec('SELECT * FROM t'));
});
