'use strict';

// Encryption as JavaScript sees it (C-31): what a locked database does, the PRAGMAs, ATTACH, and
// files that are no database. key() is in 47.database.key.js, rekey() in 48.database.rekey.js; what
// each scheme writes is in ../encryption.

const test = require('node:test');
const assert = require('node:assert/strict');
const crypto = require('node:crypto');
const fs = require('node:fs');
const util = require('node:util');
const {
  Database, SqliteError, isPeer, overruled, open, openFile, tempFile, throwsLike, throwsNotADb, thrownBy,
} = require('../support/database.js');
const { KEY, OTHER, SCHEMES, openKeyed, writeKeyed, writePlain, values, isPlain } = require('../support/keyed.js');

const otherScheme = (cipher) => SCHEMES.find((name) => name !== cipher);

for (const cipher of SCHEMES) {
  test(`${cipher}: what was written with a key can be read with it only (C-31.10, C-31.16)`, (t) => {
    const file = writeKeyed(t, { cipher });
    assert.equal(isPlain(file), false);
    assert.deepEqual(values(openKeyed(t, file, KEY, cipher)), [1, 2, 3]);
    throwsNotADb(() => values(openKeyed(t, file, OTHER, cipher)));
    throwsNotADb(() => values(open(t, file)));
  });

  test(`${cipher}: VACUUM keeps the encryption (C-31.16)`, (t) => {
    const file = writeKeyed(t, { cipher });
    openKeyed(t, file, KEY, cipher).exec('VACUUM').close();
    assert.equal(isPlain(file), false);
    assert.deepEqual(values(openKeyed(t, file, KEY, cipher)), [1, 2, 3]);
  });

  test(`${cipher}: the wrong scheme fails, the right one on the same connection works (C-31.14)`, (t) => {
    const file = writeKeyed(t, { cipher });
    const db = openKeyed(t, file, KEY, otherScheme(cipher));
    throwsNotADb(() => db.pragma('journal_mode = WAL'));
    db.pragma(`cipher = '${cipher}'`);
    db.key(KEY);
    assert.deepEqual(db.pragma('journal_mode = WAL'), [{ journal_mode: 'wal' }]);
    assert.deepEqual(values(db), [1, 2, 3]);
  });

  for (const mode of ['delete', 'truncate', 'persist', 'memory', 'wal']) {
    test(`${cipher}: journal mode ${mode} works (C-31.18)`, (t) => {
      const file = writeKeyed(t, { cipher });
      const db = openKeyed(t, file, KEY, cipher);
      assert.deepEqual(db.pragma(`journal_mode = ${mode}`), [{ journal_mode: mode }]);
      db.exec('BEGIN; INSERT INTO t VALUES (4); ROLLBACK; INSERT INTO t VALUES (5)');
      db.close();
      assert.deepEqual(values(openKeyed(t, file, KEY, cipher)), [1, 2, 3, 5]);
    });
  }
}

test('a locked file lets some calls through and fails those that read (C-31.10)', (t) => {
  const file = writeKeyed(t);
  const db = open(t, file);
  assert.equal(db.open, true);
  assert.equal(typeof db.transaction(() => {}), 'function');
  assert.deepEqual(db.pragma('cipher'), [{ chacha20: 'chacha20' }]);
  assert.equal(db.exec('begin; commit'), db);
  assert.equal(db.function('f', () => 1), db);
  for (const read of [
    () => db.prepare('select 1'), () => db.prepare('select * from t'), () => db.exec('select 1'),
    () => db.pragma('user_version'), () => db.pragma('cache_size'), () => db.pragma('journal_mode'),
    () => db.exec('begin immediate'), () => db.explain('select 1'),
  ]) {
    throwsNotADb(read);
  }
});

test('answers of PRAGMAs name their column after the value (C-31.11)', (t) => {
  const answers = {
    cipher: 'chacha20',
    "cipher = 'aes256cbc'": 'aes256cbc',
    "cipher = 'CHACHA20'": 'chacha20',
    kdf_iter: '64007',
    'kdf_iter = 4000': '4000',
    legacy: '0',
    'legacy = 1': '1',
    "key = 'x'": 'ok',
    "hexkey = 'aabb'": 'ok',
    "rekey = 'x'": 'ok',
    "hexrekey = 'aabb'": 'ok',
  };
  for (const [text, answer] of Object.entries(answers)) {
    assert.deepEqual(openFile(t).pragma(text), [{ [answer]: answer }], text);
    assert.equal(openFile(t).pragma(text, { simple: true }), answer, text);
  }
});

test('PRAGMAs that only a shell has answer nothing (C-31.11)', (t) => {
  for (const text of ["textkey = 'x'", "textrekey = 'x'"]) assert.deepEqual(openFile(t).pragma(text), []);
});

test('an unknown scheme and a malformed key are errors (C-31.12)', (t) => {
  const db = openFile(t);
  throwsLike(() => db.pragma("cipher = 'bogus'"), SqliteError, "Cipher 'bogus' unknown.", 'SQLITE_ERROR');
  throwsLike(() => db.pragma("hexkey = 'abc'"), SqliteError, 'Malformed hex string', 'SQLITE_ERROR');
  assert.deepEqual(db.pragma('cipher'), [{ chacha20: 'chacha20' }]);
});

test('PRAGMA key without a value is an error (C-31.12)', (t) => {
  throwsLike(() => openFile(t).pragma('key'), SqliteError, 'SQL logic error', 'SQLITE_ERROR');
});

overruled('its message is that of this call, not of an earlier one (overrules C-31.12)', (t) => {
  const db = openFile(t);
  throwsLike(() => db.pragma("cipher = 'bogus'"), SqliteError, "Cipher 'bogus' unknown.", 'SQLITE_ERROR');
  throwsLike(() => db.pragma('key'), SqliteError, 'SQL logic error', 'SQLITE_ERROR');
});

test('key PRAGMAs act when they are compiled, and are readers (C-31.13, C-10.4)', (t) => {
  const file = writeKeyed(t);
  const prepared = open(t, file);
  assert.equal(prepared.prepare(`PRAGMA key = '${KEY}'`).reader, true);
  assert.deepEqual(values(prepared), [1, 2, 3]);
  const executed = open(t, file).exec(`PRAGMA key = '${KEY}'`);
  assert.deepEqual(values(executed), [1, 2, 3]);
});

test('PRAGMA hexkey takes the bytes of the passphrase in hex (C-31.11)', (t) => {
  const file = writeKeyed(t);
  const db = open(t, file);
  db.pragma(`hexkey = '${KEY.toString('hex')}'`);
  assert.deepEqual(values(db), [1, 2, 3]);
});

test('ATTACH takes a key, literal or bound (C-31.15)', (t) => {
  const file = writeKeyed(t, { key: OTHER });
  for (const main of [openKeyed(t, writeKeyed(t)), open(t), open(t, writePlain(t))]) {
    main.exec(`ATTACH '${file}' AS literal KEY '${OTHER}'`);
    assert.deepEqual(values(main, 'literal'), [1, 2, 3]);
    main.exec('DETACH literal');
    main.prepare('ATTACH ? AS bound KEY ?').run(file, String(OTHER));
    assert.deepEqual(values(main, 'bound'), [1, 2, 3]);
  }
});

test('ATTACH with a wrong key or none fails and leaves nothing attached (C-31.15)', (t) => {
  const [main, file] = [openKeyed(t, writeKeyed(t)), writeKeyed(t)];
  throwsNotADb(() => main.exec(`ATTACH '${file}' AS other KEY 'wrong'`));
  throwsNotADb(() => main.exec(`ATTACH '${file}' AS other`));
  throwsNotADb(() => main.exec(`ATTACH '${writePlain(t)}' AS other`));
  assert.deepEqual(main.pragma('database_list').map((row) => row.name), ['main']);
  main.exec(`ATTACH '${writePlain(t)}' AS other KEY ''`);
  assert.deepEqual(values(main, 'other'), [1, 2, 3]);
  assert.deepEqual(values(main), [1, 2, 3]);
});

overruled('the option cipher sets the scheme (overrules C-2.3)', (t) => {
  for (const cipher of SCHEMES) {
    const file = writeKeyed(t, { cipher });
    const db = open(t, file, { cipher });
    assert.deepEqual(db.pragma('cipher'), [{ [cipher]: cipher }]);
    db.key(KEY);
    assert.deepEqual(values(db), [1, 2, 3]);
  }
  assert.equal(open(t, openFile(t).name, { cipher: 'AES256CBC' }).pragma('cipher', { simple: true }), 'aes256cbc');
});

overruled('the option cipher must be the name of a scheme and is checked after verbose (overrules C-2.14)', (t) => {
  const file = openFile(t).name;
  const type = 'Expected the "cipher" option to be a string';
  for (const cipher of [undefined, null, 5, {}, true, Object('chacha20')]) {
    throwsLike(() => new Database(file, { cipher }), TypeError, type);
  }
  throwsLike(() => new Database(file, { cipher: 'bogus' }), SqliteError, "Cipher 'bogus' unknown.", 'SQLITE_ERROR');
  throwsLike(() => new Database(file, { cipher: '' }), SqliteError, "Cipher '' unknown.", 'SQLITE_ERROR');
  throwsLike(() => new Database(file, { cipher: 5, verbose: 5 }), TypeError, 'Expected the "verbose" option to be a function');
  throwsLike(() => new Database(file, { cipher: "x'; select 1" }), SqliteError, /unknown/, 'SQLITE_ERROR');
});

// 16 kB that look random and are the same in every run.
const NOISE = Buffer.concat(Array.from({ length: 256 }, (_, n) => crypto.createHash('sha512').update(`noise ${n}`).digest()));

// Bad input: how `spoil` makes the file of a keyed database, and with which code reading it fails.
const SPOILED = {
  'random bytes': [(file) => fs.writeFileSync(file, NOISE), /NOTADB/],
  'the first 100 bytes of it': [(file) => fs.truncateSync(file, 100), /NOTADB/],
  'all but its first page cut off': [(file) => fs.truncateSync(file, 4096), /CORRUPT|NOTADB/],
  'one byte less': [(file) => fs.truncateSync(file, fs.statSync(file).size - 1), /CORRUPT|NOTADB|IOERR/],
  'a plain text': [(file) => fs.writeFileSync(file, 'Dear reader,\n'.repeat(1000)), /NOTADB/],
  'zeros': [(file) => fs.writeFileSync(file, Buffer.alloc(8192)), /NOTADB/],
};

for (const cipher of SCHEMES) {
  for (const [what, [spoil, code]] of Object.entries(SPOILED)) {
    for (const key of [KEY, null]) {
      const how = key ? 'with a key' : 'without a key';
      test(`bad file, ${cipher}, ${how}: ${what} is an error and stays as it is`, (t) => {
        const file = writeKeyed(t, { cipher });
        spoil(file);
        const before = fs.readFileSync(file);
        const db = key ? openKeyed(t, file, key, cipher) : open(t, file);
        for (const read of [() => values(db), () => db.exec('INSERT INTO t VALUES (4)'), () => db.pragma('journal_mode = WAL')]) {
          const { thrown } = thrownBy(read);
          assert.ok(thrown instanceof SqliteError, String(thrown));
          assert.match(thrown.code, key ? code : /NOTADB/);
          if (!/NOTADB/.test(thrown.code)) break; // page 1 is fine: what follows may rightly write
        }
        db.close();
        assert.deepEqual(fs.readFileSync(file), before);
        assert.equal(fs.existsSync(`${file}-journal`), false);
      });
    }
  }

  for (const [what, attempt] of Object.entries({
    'a wrong key': (db) => db.pragma(`cipher = '${cipher}'`) && db.key(OTHER),
    'no key': () => {},
    'the wrong scheme': (db) => db.pragma(`cipher = '${otherScheme(cipher)}'`) && db.key(KEY),
    'an unknown scheme': (db) => assert.throws(() => db.pragma("cipher = 'bogus'"), SqliteError),
    'a key that is no Buffer': (db) => assert.throws(() => db.key('text'), TypeError),
  })) {
    test(`bad key, ${cipher}: after ${what} the file is unchanged and the right key works on the same connection`, (t) => {
      const file = writeKeyed(t, { cipher });
      const before = fs.readFileSync(file);
      const db = open(t, file);
      attempt(db);
      const uses = [
        () => values(db), () => db.exec('INSERT INTO t VALUES (4)'), () => db.exec('VACUUM'),
        () => db.pragma('journal_mode = WAL'), () => db.pragma('user_version = 5'), () => db.transaction(() => {}).immediate(),
      ];
      for (const use of uses) {
        throwsNotADb(use);
      }
      const { thrown } = thrownBy(() => db.rekey(OTHER));
      // The replaced package says SQLITE_ERROR where the wrong scheme has other reserved bytes.
      assert.match(thrown.code, isPeer ? /NOTADB|ERROR/ : /NOTADB/);
      assert.deepEqual(fs.readFileSync(file), before);
      db.pragma(`cipher = '${cipher}'`);
      db.key(KEY);
      assert.deepEqual(values(db), [1, 2, 3]);
      db.exec('INSERT INTO t VALUES (4)');
      assert.deepEqual(values(db), [1, 2, 3, 4]);
    });
  }
}

test('a zero-length file is an empty database, with any key or none', (t) => {
  for (const key of [null, KEY, OTHER]) {
    const file = tempFile(t);
    fs.writeFileSync(file, '');
    const db = key ? openKeyed(t, file, key) : open(t, file);
    assert.deepEqual(db.prepare('select * from sqlite_master').all(), []);
    db.close();
    assert.equal(fs.statSync(file).size, 0);
    const writer = key ? openKeyed(t, file, key) : open(t, file);
    writer.exec('CREATE TABLE t (x)');
    assert.equal(isPlain(file), !key);
  }
});

test('errors, inspect and JSON show nothing of a key', (t) => {
  const secret = Buffer.from('unmistakable secret');
  const db = openKeyed(t, writeKeyed(t), secret);
  const { thrown } = thrownBy(() => values(db));
  const inspect = (value) => util.inspect(value, { showHidden: true, depth: 5 });
  const shown = [inspect(db), JSON.stringify(db), inspect(thrown), thrown.stack];
  for (const text of shown) assert.doesNotMatch(text, /unmistakable/);
});

test('a keyed file holds none of its texts, nor does its WAL or journal', (t) => {
  for (const mode of ['wal', 'delete']) {
    const db = openKeyed(t, tempFile(t));
    db.pragma(`journal_mode = ${mode}`);
    db.exec("CREATE TABLE t (x); INSERT INTO t VALUES ('needle in a haystack'); BEGIN; UPDATE t SET x = x || ' twice'");
    db.pragma('cache_size = 0');
    for (const suffix of ['', '-wal', '-journal']) {
      const file = db.name + suffix;
      if (fs.existsSync(file)) assert.equal(fs.readFileSync(file).includes('needle'), false, suffix);
    }
    db.exec('COMMIT');
  }
});
