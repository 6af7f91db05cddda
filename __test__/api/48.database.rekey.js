'use strict';

// rekey() (C-31.6 to C-31.9). States are also in 42.integrity.js.

const test = require('node:test');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const {
  SqliteError, overruled, open, openFile, throwsLike, throwsNotADb, throwsOpen, throwsBusy, thrownBy,
} = require('../support/database.js');
const { KEY, OTHER, SCHEMES, openKeyed, writeKeyed, writePlain, values, isPlain } = require('../support/keyed.js');

const logicError = (fn) => throwsLike(fn, SqliteError, 'SQL logic error', 'SQLITE_ERROR');

test('the key must be a Buffer (C-31.1)', (t) => {
  const db = openKeyed(t, writeKeyed(t));
  for (const value of ['x', new Uint8Array(8), new ArrayBuffer(8), Object('x'), 5, null, undefined, {}]) {
    throwsLike(() => db.rekey(value), TypeError, 'Expected the key to be a Buffer');
  }
  assert.deepEqual(values(db), [1, 2, 3]);
});

for (const cipher of SCHEMES) {
  for (const wal of [false, true]) {
    test(`${cipher}: a new key in ${wal ? 'WAL' : 'DELETE'} mode, the mode stays (C-31.6, C-31.9)`, (t) => {
      const file = writeKeyed(t, { cipher, wal });
      const db = openKeyed(t, file, KEY, cipher);
      db.exec('INSERT INTO t VALUES (4)');
      const key = Buffer.from(OTHER);
      assert.equal(db.rekey(key), 0);
      assert.deepEqual(key, OTHER);
      assert.equal(db.pragma('journal_mode', { simple: true }), wal ? 'wal' : 'delete');
      assert.deepEqual(values(db), [1, 2, 3, 4]);
      db.exec('INSERT INTO t VALUES (5)').close();
      assert.deepEqual(values(openKeyed(t, file, OTHER, cipher)), [1, 2, 3, 4, 5]);
      throwsNotADb(() => values(openKeyed(t, file, KEY, cipher)));
      throwsNotADb(() => values(open(t, file)));
      assert.equal(openKeyed(t, file, OTHER, cipher).pragma('integrity_check', { simple: true }), 'ok');
    });
  }

  test(`${cipher}: a plain database becomes an encrypted one (C-31.6)`, (t) => {
    const file = writePlain(t);
    const db = open(t, file);
    db.pragma(`cipher = '${cipher}'`);
    assert.equal(db.rekey(KEY), 0);
    assert.deepEqual(values(db), [1, 2, 3]);
    db.close();
    assert.equal(isPlain(file), false);
    assert.deepEqual(values(openKeyed(t, file, KEY, cipher)), [1, 2, 3]);
  });

  test(`${cipher}: an empty Buffer decrypts (C-31.6)`, (t) => {
    const file = writeKeyed(t, { cipher });
    const db = openKeyed(t, file, KEY, cipher);
    assert.equal(db.rekey(Buffer.alloc(0)), 0);
    assert.deepEqual(values(db), [1, 2, 3]);
    db.close();
    assert.equal(isPlain(file), true);
    assert.deepEqual(values(open(t, file)), [1, 2, 3]);
  });
}

test('a larger database is rekeyed as a whole', (t) => {
  const db = openKeyed(t, writeKeyed(t));
  db.exec('CREATE TABLE big (n INTEGER PRIMARY KEY, b)');
  const insert = db.prepare('INSERT INTO big (b) VALUES (randomblob(3000))');
  db.transaction(() => { for (let n = 0; n < 300; n += 1) insert.run(); })();
  db.exec('DELETE FROM big WHERE n % 3 = 0');
  const sum = (database) => database.prepare('select count(*), sum(length(b)), sum(n) from big').raw().get();
  const before = sum(db);
  db.pragma('cache_size = 10');
  db.rekey(OTHER);
  assert.deepEqual(sum(db), before);
  db.close();
  const again = openKeyed(t, db.name, OTHER);
  assert.deepEqual(sum(again), before);
  assert.equal(again.pragma('integrity_check', { simple: true }), 'ok');
});

test('an empty Buffer leaves a plain database alone (C-31.6)', (t) => {
  const file = writePlain(t);
  const before = fs.readFileSync(file);
  const db = open(t, file);
  assert.equal(db.rekey(Buffer.alloc(0)), 0);
  assert.deepEqual(values(db), [1, 2, 3]);
  db.close();
  assert.deepEqual(fs.readFileSync(file), before);
});

overruled('any empty Buffer decrypts alike (overrules C-31.5)', (t) => {
  for (const empty of [Buffer.from('abc').subarray(1, 1), Buffer.from(new ArrayBuffer(8), 4, 0), Buffer.from('')]) {
    const file = writeKeyed(t);
    const db = openKeyed(t, file);
    assert.equal(db.rekey(empty), 0);
    db.close();
    assert.equal(isPlain(file), true);
  }
});

test('a new file becomes an encrypted one of one page (C-31.6, C-31.16)', (t) => {
  const db = openFile(t);
  assert.equal(db.rekey(KEY), 0);
  assert.equal(fs.statSync(db.name).size, 4096);
  db.exec('CREATE TABLE t (x); INSERT INTO t VALUES (1); VACUUM').close();
  const again = open(t, db.name);
  again.pragma(`key = '${KEY}'`);
  assert.deepEqual(values(again), [1]);
});

test('a database that is not unlocked cannot be rekeyed and stays as it is (C-31.6)', (t) => {
  const file = writeKeyed(t);
  const before = fs.readFileSync(file);
  throwsNotADb(() => open(t, file).rekey(OTHER));
  throwsNotADb(() => openKeyed(t, file, OTHER).rekey(KEY));
  // Without a key there is nothing to take away: whether that is told or not, nothing happens.
  const locked = open(t, file);
  try {
    assert.equal(locked.rekey(Buffer.alloc(0)), 0);
  } catch (error) {
    assert.equal(error.code, 'SQLITE_NOTADB');
  }
  assert.deepEqual(fs.readFileSync(file), before);
  assert.deepEqual(values(openKeyed(t, file)), [1, 2, 3]);
});

test('a read-only connection cannot rekey (C-31.6)', (t) => {
  const file = writeKeyed(t);
  const db = openKeyed(t, file, KEY, undefined, { readonly: true });
  throwsLike(() => db.rekey(OTHER), SqliteError, 'attempt to write a readonly database', 'SQLITE_READONLY');
  assert.deepEqual(values(db), [1, 2, 3]);
});

test('a lock of another connection forbids it, and the old key stays (C-31.6)', (t) => {
  const file = writeKeyed(t);
  const holder = openKeyed(t, file);
  const db = openKeyed(t, file, KEY, undefined, { timeout: 0 });
  holder.exec('BEGIN IMMEDIATE');
  throwsLike(() => db.rekey(OTHER), SqliteError, 'database is locked', 'SQLITE_BUSY');
  assert.deepEqual(values(db), [1, 2, 3]);
  holder.exec('COMMIT');
  db.exec('INSERT INTO t VALUES (4)');
  assert.equal(db.rekey(OTHER), 0);
  db.close();
  holder.close();
  assert.deepEqual(values(openKeyed(t, file, OTHER)), [1, 2, 3, 4]);
});

test('in-memory and temporary databases take no key (C-31.7)', (t) => {
  for (const name of [':memory:', '']) {
    const db = open(t, name);
    logicError(() => db.rekey(KEY));
    const message = 'Rekeying not supported for in-memory or temporary databases.';
    throwsLike(() => db.pragma("rekey = 'x'"), SqliteError, message, 'SQLITE_ERROR');
    assert.equal(db.prepare('select 5').pluck().get(), 5);
  }
});

test('it needs an open database outside callbacks; the argument comes first (C-31.8, C-5.1)', (t) => {
  let inside = null;
  const db = open(t, writeKeyed(t), { verbose: () => inside && inside() });
  db.key(KEY);
  inside = () => throwsBusy(() => db.rekey(OTHER));
  db.exec('select 1');
  inside = null;
  db.close();
  throwsOpen(() => db.rekey(KEY));
  throwsLike(() => db.rekey('x'), TypeError, 'Expected the key to be a Buffer');
});

overruled('inside a transaction it is refused and the transaction goes on (overrules C-31.8)', (t) => {
  const file = writeKeyed(t);
  const db = openKeyed(t, file);
  db.exec('BEGIN; INSERT INTO t VALUES (4)');
  const { thrown } = thrownBy(() => db.rekey(OTHER));
  assert.ok(thrown instanceof Error);
  assert.throws(() => db.pragma("rekey = 'x'"));
  assert.equal(db.inTransaction, true);
  assert.deepEqual(values(db), [1, 2, 3, 4]);
  db.exec('ROLLBACK');
  assert.deepEqual(values(db), [1, 2, 3]);
  db.close();
  assert.deepEqual(values(openKeyed(t, file)), [1, 2, 3]);
});

test('PRAGMA rekey and hexrekey do the same (C-31.11)', (t) => {
  const file = writeKeyed(t);
  const db = openKeyed(t, file);
  assert.deepEqual(db.pragma("rekey = 'second'"), [{ ok: 'ok' }]);
  assert.deepEqual(values(db), [1, 2, 3]);
  assert.deepEqual(db.pragma(`hexrekey = '${OTHER.toString('hex')}'`), [{ ok: 'ok' }]);
  db.close();
  assert.deepEqual(values(openKeyed(t, file, OTHER)), [1, 2, 3]);
});

test('statements prepared before go on with the new key', (t) => {
  const db = openKeyed(t, writeKeyed(t));
  const [insert, select] = [db.prepare('INSERT INTO t VALUES (?)'), db.prepare('select x from t').pluck()];
  select.all();
  db.rekey(OTHER);
  insert.run(4);
  assert.deepEqual(select.all(), [1, 2, 3, 4]);
  db.close();
  assert.deepEqual(values(openKeyed(t, db.name, OTHER)), [1, 2, 3, 4]);
});

overruled('while any database of the connection is read it is refused, in unsafe mode and by a prepared PRAGMA too', (t) => {
  for (const main of ['plain', 'aes256cbc']) {
    const file = main === 'plain' ? writePlain(t) : writeKeyed(t, { cipher: main });
    const db = main === 'plain' ? open(t, file) : openKeyed(t, file, KEY, main);
    db.exec(`ATTACH '${writePlain(t)}' AS aux KEY ''`);
    const wanted = values(db);
    const iterators = [1, 2].map(() => db.prepare('SELECT * FROM aux.t').iterate());
    for (const iterator of iterators) iterator.next();
    const message = 'Rekeying is not possible while a statement is running';
    throwsLike(() => db.prepare("PRAGMA rekey='x'"), SqliteError, message, 'SQLITE_ERROR');
    db.unsafeMode();
    throwsLike(() => db.pragma("rekey='x'"), SqliteError, message, 'SQLITE_ERROR');
    db.pragma('main.user_version=5');
    for (const iterator of iterators) iterator.return();
    assert.deepEqual(values(db), wanted);
    assert.equal(db.pragma('integrity_check', { simple: true }), 'ok');
  }
});

test('decrypted in WAL mode and closed, the file stands alone', (t) => {
  const file = writeKeyed(t, { wal: true });
  const db = openKeyed(t, file);
  assert.deepEqual(values(db), [1, 2, 3]);
  db.rekey(Buffer.alloc(0));
  db.close();
  assert.ok(!fs.existsSync(`${file}-wal`));
  assert.ok(isPlain(file));
  assert.deepEqual(values(open(t, file)), [1, 2, 3]);
});

test('in WAL mode the salt of the file stays, as the replaced package expects it (C-31.9)', (t) => {
  for (const wal of [true, false]) {
    const file = writeKeyed(t, { wal });
    const salt = () => fs.readFileSync(file).toString('hex', 0, 16);
    const before = salt();
    const db = openKeyed(t, file);
    assert.deepEqual(values(db), [1, 2, 3]);
    db.rekey(Buffer.from(OTHER));
    db.close();
    assert.equal(salt() === before, wal);
  }
});
