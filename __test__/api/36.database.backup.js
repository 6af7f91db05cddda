'use strict';

// db.backup(): arguments, steps and progress, what ends up in the file, what is left after an abort,
// and keys of copies. That the replaced package opens the copies, and other processes, are in
// interop/backup.test.js.

const test = require('node:test');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const {
  Database, SqliteError, OPEN, overruled, afterTest, tempDir, tempFile, open, openFile, isError, fillNumbers,
} = require('../support/database.js');
const { KEY, OTHER, SCHEMES, openKeyed, values, isPlain } = require('../support/keyed.js');

const STEP_TYPE = 'Expected progress callback to return a number or undefined';

/** The reason that a promise is rejected with. */
async function rejection(promise) {
  const settled = await promise.then((value) => ({ value }), (reason) => ({ reason }));
  assert.ok('reason' in settled, `fulfilled with ${JSON.stringify(settled.value)}`);
  return settled.reason;
}

async function rejectsLike(promise, Class, message, code) {
  isError(await rejection(promise), Class, message, code);
}

/** A database on disk with at least `pages` pages. */
function openBig(t, pages, file = tempFile(t)) {
  const db = open(t, file);
  db.exec('CREATE TABLE big (x)');
  const insert = db.prepare('INSERT INTO big VALUES (zeroblob(4000))');
  db.transaction(() => { for (let i = 0; i < pages; i += 1) insert.run(); })();
  return db;
}

const pageCount = (db) => db.pragma('page_count', { simple: true });
const bigRows = (db) => db.prepare('SELECT count(*) FROM big').pluck().get();
const integrity = (db) => db.pragma('integrity_check', { simple: true });
const leftovers = (file) => fs.readdirSync(path.dirname(file)).filter((name) => name.startsWith(path.basename(file)));

test('wrong arguments are rejections, never exceptions (C-27.1, C-27.2)', async (t) => {
  const db = open(t);
  const dir = tempDir(t);
  const file = path.join(dir, 'copy.db');
  const wrong = [
    [[], 'Expected first argument to be a string'],
    [[null], 'Expected first argument to be a string'],
    [[Buffer.from(file)], 'Expected first argument to be a string'],
    [[file, 'main'], 'Expected second argument to be an options object'],
    [[file, () => {}], 'Expected second argument to be an options object'],
    [[''], 'Backup filename cannot be an empty string'],
    [[' \t\n'], 'Backup filename cannot be an empty string'],
    [[' :memory: '], 'Invalid backup filename ":memory:"'],
    [[file, { attached: undefined }], 'Expected the "attached" option to be a string'],
    [[file, { attached: null }], 'Expected the "attached" option to be a string'],
    [[file, { attached: '' }], 'The "attached" option cannot be an empty string'],
    [[file, { progress: 5 }], 'Expected the "progress" option to be a function'],
    [[file, { progress: {}, attached: '' }], 'The "attached" option cannot be an empty string'],
    [[path.join(dir, 'nowhere', 'copy.db')], 'Cannot save backup because the directory does not exist'],
    [[`file:${path.join(dir, 'nowhere', 'copy.db')}`], 'Cannot save backup because the directory does not exist'],
  ];
  for (const [args, message] of wrong) {
    const promise = db.backup(...args);
    assert.ok(promise instanceof Promise);
    await rejectsLike(promise, TypeError, message);
  }
  assert.deepEqual(fs.readdirSync(dir), []);
});

test('the method, and objects that are no database (C-3.8, C-27.1)', async (t) => {
  const { backup } = Database.prototype;
  assert.deepEqual([backup.name, backup.length], ['backup', 2]);
  for (const receiver of [{}, undefined, Object.create(Database.prototype)]) {
    const reason = await rejection(backup.call(receiver, tempFile(t)));
    assert.ok(reason instanceof TypeError, reason.stack);
  }
});

test('a whole copy, without options and with empty ones (C-27.2, C-27.8)', async (t) => {
  const db = fillNumbers(openFile(t), 10);
  for (const options of [undefined, null, {}, { progress: null }, { progress: undefined, attached: 'main' }]) {
    const file = tempFile(t, ' copy.db');
    assert.deepEqual(await db.backup(`  ${file}  `, options), { totalPages: 2, remainingPages: 0 });
    const copy = open(t, file);
    assert.deepEqual(copy.prepare('SELECT n FROM numbers').pluck().all(), db.prepare('SELECT n FROM numbers').pluck().all());
    assert.equal(integrity(copy), 'ok');
  }
});

test('no file is made before the call returns (C-27.3)', async (t) => {
  const file = tempFile(t, 'copy.db');
  const promise = fillNumbers(open(t), 1).backup(file);
  assert.equal(fs.existsSync(file), false);
  await promise;
  assert.equal(fs.existsSync(file), true);
});

test('a closed database, and one that is closed at once (C-27.4)', async (t) => {
  const file = tempFile(t, 'copy.db');
  const db = fillNumbers(openFile(t), 1);
  const early = db.backup(file);
  db.close();
  await rejectsLike(early, TypeError, OPEN);
  await rejectsLike(db.backup(file), TypeError, OPEN);
  assert.deepEqual(leftovers(file), []);
});

test('it may be called in a callback and while iterating (C-27.4)', async (t) => {
  const files = [tempFile(t, 'a.db'), tempFile(t, 'b.db')];
  const promises = [];
  const db = openFile(t, { verbose: () => { if (promises.length === 0) promises.push(db.backup(files[0])); } });
  db.exec('CREATE TABLE numbers (n); INSERT INTO numbers VALUES (1), (2), (3)');
  const rows = db.prepare('SELECT n FROM numbers').pluck().iterate();
  assert.equal(rows.next().value, 1);
  promises.push(db.backup(files[1]));
  for (const promise of promises) assert.equal((await promise).remainingPages, 0);
  assert.deepEqual([...rows], [2, 3]);
  for (const file of files) assert.equal(open(t, file).prepare('SELECT count(*) FROM numbers').pluck().get(), 3);
});

test('a destination that is a directory, or no database (C-27.5)', async (t) => {
  const db = fillNumbers(openFile(t), 10);
  const dir = tempDir(t);
  const error = await rejection(db.backup(dir));
  assert.ok(error instanceof SqliteError && /^SQLITE_CANTOPEN/.test(error.code), error.stack);
  const file = path.join(dir, 'letter.txt');
  fs.writeFileSync(file, 'this is no database, and it is to stay what it is. '.repeat(100));
  const before = fs.readFileSync(file);
  await rejectsLike(db.backup(file), SqliteError, 'file is not a database', 'SQLITE_NOTADB');
  assert.deepEqual(fs.readFileSync(file), before);
  assert.deepEqual(fs.readdirSync(dir), ['letter.txt']);
});

test('an unknown attached database (C-27.5)', async (t) => {
  await rejectsLike(fillNumbers(open(t), 1).backup(tempFile(t), { attached: 'nope' }), SqliteError, 'unknown database nope', 'SQLITE_ERROR');
});

overruled('an unknown attached database leaves no file (overrules C-27.5, C-36.4)', async (t) => {
  const file = tempFile(t);
  await rejectsLike(open(t).backup(file, { attached: 'nope' }), SqliteError, 'unknown database nope', 'SQLITE_ERROR');
  assert.deepEqual(leftovers(file), []);
});

test('a first step without pages, then a hundred at a time, one per turn (C-27.6, C-27.7)', async (t) => {
  const db = openBig(t, 350);
  const total = pageCount(db);
  const seen = [];
  let turns = 0;
  let counting = true;
  setImmediate(function turn() {
    turns += 1;
    if (counting) setImmediate(turn);
  });
  const result = await db.backup(tempFile(t, 'copy.db'), {
    progress(...args) {
      assert.equal(this, undefined);
      assert.equal(args.length, 1);
      assert.deepEqual(Object.keys(args[0]), ['totalPages', 'remainingPages']);
      assert.equal(Object.getPrototypeOf(args[0]), Object.prototype);
      seen.push({ ...args[0], turns });
      // The database is free meanwhile (C-27.6).
      assert.equal(db.prepare('SELECT 1').pluck().get(), 1);
    },
  });
  counting = false;
  assert.deepEqual(seen.map(({ remainingPages }) => remainingPages), [total, total - 100, total - 200, total - 300]);
  assert.ok(seen.every(({ totalPages }) => totalPages === total));
  for (let i = 1; i < seen.length; i += 1) assert.ok(seen[i].turns - seen[i - 1].turns === 1, JSON.stringify(seen));
  assert.deepEqual(result, { totalPages: total, remainingPages: 0 });
});

test('small and empty databases (C-27.8)', async (t) => {
  const seen = [];
  const progress = (state) => { seen.push(state); };
  const db = fillNumbers(openFile(t), 1);
  assert.deepEqual(await db.backup(tempFile(t, 'copy.db'), { progress }), { totalPages: 2, remainingPages: 0 });
  assert.deepEqual(seen, [{ totalPages: 2, remainingPages: 2 }]);
  const file = tempFile(t, 'copy.db');
  assert.deepEqual(await open(t).backup(file, { progress }), { totalPages: 0, remainingPages: 0 });
  assert.equal(seen.length, 1);
  assert.equal(integrity(open(t, file)), 'ok');
});

test('what progress returns is the size of the next steps (C-27.7)', async (t) => {
  const db = openBig(t, 60);
  const total = pageCount(db);
  const answers = [10, undefined, 0, -5, 0.4, 5.5, 1e-9, undefined, 20.4, Infinity];
  const sizes = [10, 10, 0, 0, 0, 6, 0, 0, 20];
  const seen = [];
  const result = await db.backup(tempFile(t, 'copy.db'), {
    progress: ({ remainingPages }) => {
      seen.push(total - remainingPages);
      return answers[seen.length - 1];
    },
  });
  const expected = [0];
  for (const size of sizes) expected.push(expected[expected.length - 1] + size);
  assert.deepEqual(seen, expected);
  assert.deepEqual(result, { totalPages: total, remainingPages: 0 });
});

test('anything else that progress returns aborts (C-27.7)', async (t) => {
  const db = fillNumbers(openFile(t), 1);
  const file = tempFile(t, 'copy.db');
  for (const answer of [null, '5', NaN, true, false, 5n, [], {}, () => 5, Object(5), Symbol('5')]) {
    await rejectsLike(db.backup(file, { progress: () => answer }), TypeError, STEP_TYPE);
    assert.deepEqual(leftovers(file), []);
  }
});

test('an exception of progress is handed on, and a new file vanishes (C-27.11)', async (t) => {
  const db = openBig(t, 350);
  for (const reason of [new Error('own'), 'text', null, undefined]) {
    for (const calls of [1, 3]) {
      const file = tempFile(t, 'copy.db');
      let count = 0;
      const progress = () => {
        count += 1;
        if (count === calls) throw reason;
      };
      assert.equal(await rejection(db.backup(file, { progress })), reason);
      assert.deepEqual(leftovers(file), []);
    }
  }
  assert.equal(bigRows(db), 350);
});

test('writes of the same connection reach the copy (C-27.9)', async (t) => {
  const db = openBig(t, 1);
  const before = pageCount(db);
  const file = tempFile(t, 'copy.db');
  const seen = [];
  const result = await db.backup(file, {
    progress: (state) => {
      seen.push(state);
      if (seen.length === 1) db.transaction(() => { for (let i = 0; i < 300; i += 1) db.exec('INSERT INTO big VALUES (zeroblob(4000))'); })();
      if (seen.length === 2) db.exec('DELETE FROM big WHERE rowid = 1');
    },
  });
  assert.equal(seen[0].totalPages, before);
  assert.deepEqual(result, { totalPages: pageCount(db), remainingPages: 0 });
  const copy = open(t, file);
  assert.equal(bigRows(copy), 300);
  assert.equal(integrity(copy), 'ok');
});

test('an existing database is replaced as a whole, or keeps its content (C-27.10)', async (t) => {
  const file = tempFile(t, 'copy.db');
  const old = openBig(t, 500, file);
  old.exec('CREATE TABLE old (x)');
  old.close();
  const before = fs.readFileSync(file);
  const db = fillNumbers(openFile(t), 3000);
  const reason = new Error('enough');
  let count = 0;
  const progress = () => {
    count += 1;
    if (count === 3) throw reason;
    return 3;
  };
  assert.equal(await rejection(db.backup(file, { progress })), reason);
  assert.deepEqual(fs.readFileSync(file), before);
  assert.deepEqual(leftovers(file), ['copy.db']);
  await db.backup(file);
  const copy = open(t, file);
  assert.deepEqual(copy.prepare('SELECT name FROM sqlite_schema').pluck().all(), ['numbers']);
  assert.equal(copy.prepare('SELECT count(*) FROM numbers').pluck().get(), 3000);
  assert.equal(pageCount(copy), pageCount(db));
  assert.equal(integrity(copy), 'ok');
});

test('an attached database (C-27.12)', async (t) => {
  const db = openFile(t);
  const other = fillNumbers(openFile(t), 7);
  db.prepare('ATTACH ? AS side').run(other.name);
  const file = tempFile(t, 'copy.db');
  await db.backup(file, { attached: 'side' });
  assert.equal(open(t, file).prepare('SELECT count(*) FROM numbers').pluck().get(), 7);
});

test('a temporary and an in-memory database, and a Buffer (C-27)', async (t) => {
  const sources = [open(t, ''), open(t, ':memory:'), open(t, fillNumbers(open(t), 1).serialize())];
  for (const db of sources) {
    db.exec('CREATE TABLE IF NOT EXISTS numbers (n); INSERT INTO numbers VALUES (8)');
    const file = tempFile(t, 'copy.db');
    await db.backup(file);
    assert.equal(open(t, file).prepare('SELECT max(n) FROM numbers').pluck().get(), 8);
  }
});

test('close() ends a running backup (C-27.13)', async (t) => {
  const db = openBig(t, 350);
  const file = tempFile(t, 'copy.db');
  let count = 0;
  await rejectsLike(db.backup(file, {
    progress: () => {
      count += 1;
      if (count === 2) db.close();
    },
  }), TypeError, OPEN);
  assert.equal(count, 2);
  assert.deepEqual(leftovers(file), []);
  assert.equal(bigRows(open(t, db.name)), 350);
});

test('several at once, and the files are free afterwards (C-27.14)', async (t) => {
  const db = openBig(t, 250);
  const files = [1, 2, 3].map((number) => tempFile(t, `copy${number}.db`));
  const results = await Promise.all(files.map((file) => db.backup(file)));
  assert.ok(results.every(({ remainingPages }) => remainingPages === 0));
  for (const file of files) {
    const copy = open(t, file, { timeout: 0 });
    copy.exec('BEGIN EXCLUSIVE; INSERT INTO big VALUES (1); COMMIT');
    assert.equal(bigRows(copy), 251);
  }
});

test('a database in WAL mode with content that is not checkpointed', async (t) => {
  const db = openFile(t);
  db.pragma('journal_mode = WAL');
  fillNumbers(db, 50);
  const file = tempFile(t, 'copy.db');
  await db.backup(file);
  assert.equal(open(t, file).prepare('SELECT count(*) FROM numbers').pluck().get(), 50);
});

for (const pageSize of [512, 65536]) {
  test(`pages of ${pageSize} bytes`, async (t) => {
    const db = openFile(t);
    db.pragma(`page_size = ${pageSize}`);
    fillNumbers(db, 50);
    const file = tempFile(t, 'copy.db');
    await db.backup(file);
    const copy = open(t, file);
    assert.equal(copy.pragma('page_size', { simple: true }), pageSize);
    assert.equal(copy.prepare('SELECT count(*) FROM numbers').pluck().get(), 50);
  });
}

// ------------------------------------------------------------------------------------- locks

/** Locks a database until the test ends or the result is called. */
function locked(t, file, create = '') {
  const holder = open(t, file);
  holder.exec(`${create}; BEGIN EXCLUSIVE`);
  let held = true;
  const release = () => {
    if (held) holder.exec('COMMIT');
    held = false;
  };
  afterTest(t, release);
  return release;
}

overruled('a destination that stays locked is SQLITE_BUSY, and timers go on (overrules C-27.15, C-36.4)', async (t) => {
  const file = tempFile(t, 'copy.db');
  locked(t, file, 'CREATE TABLE old (x)');
  const db = openFile(t, { timeout: 200 });
  fillNumbers(db, 1);
  let ticks = 0;
  const timer = setInterval(() => { ticks += 1; }, 5);
  afterTest(t, () => clearInterval(timer));
  const begin = Date.now();
  await rejectsLike(db.backup(file), SqliteError, 'database is locked', 'SQLITE_BUSY');
  assert.ok(Date.now() - begin >= 195, `gave up after ${Date.now() - begin} ms`);
  assert.ok(ticks >= 5, `${ticks} ticks`);
  assert.equal(db.pragma('busy_timeout', { simple: true }), 200);
});

overruled('a source that stays locked is SQLITE_BUSY and leaves no file (overrules C-27.15, C-36.4)', async (t) => {
  const db = fillNumbers(openFile(t, { timeout: 50 }), 1);
  locked(t, db.name);
  const file = tempFile(t, 'copy.db');
  await rejectsLike(db.backup(file), SqliteError, 'database is locked', 'SQLITE_BUSY');
  assert.deepEqual(leftovers(file), []);
});

overruled('a lock that goes away in time is waited for (overrules C-27.15)', async (t) => {
  const db = fillNumbers(openFile(t), 1);
  const file = tempFile(t, 'copy.db');
  const releases = [locked(t, db.name), locked(t, file, 'CREATE TABLE old (x)')];
  setTimeout(releases[0], 60);
  setTimeout(releases[1], 120);
  assert.deepEqual(await db.backup(file), { totalPages: 2, remainingPages: 0 });
  assert.deepEqual(open(t, file).prepare('SELECT n FROM numbers').pluck().all(), [1]);
});

overruled('the own write transaction has to end first (overrules C-27.15)', async (t) => {
  const db = fillNumbers(openFile(t, { timeout: 60 }), 1);
  const file = tempFile(t, 'copy.db');
  db.exec('BEGIN; INSERT INTO numbers VALUES (2)');
  await rejectsLike(db.backup(file), SqliteError, 'database is locked', 'SQLITE_BUSY');
  assert.deepEqual(leftovers(file), []);
  const promise = db.backup(file);
  setTimeout(() => db.exec('COMMIT'), 20);
  await promise;
  assert.deepEqual(open(t, file).prepare('SELECT n FROM numbers').pluck().all(), [1, 2]);
});

overruled('the own file is no destination, by whatever name (overrules C-27.15, C-36.4)', async (t) => {
  const db = fillNumbers(openFile(t), 5);
  const link = path.join(path.dirname(db.name), 'link.db');
  const hard = path.join(path.dirname(db.name), 'hard.db');
  fs.symlinkSync(db.name, link);
  fs.linkSync(db.name, hard);
  for (const file of [db.name, link, hard, path.join(path.dirname(db.name), '.', 'test.db')]) {
    await rejectsLike(db.backup(file), SqliteError, 'source and destination must be distinct', 'SQLITE_ERROR');
  }
  assert.equal(db.prepare('SELECT count(*) FROM numbers').pluck().get(), 5);
  assert.equal(integrity(db), 'ok');
});

// -------------------------------------------------------------------------------------- keys

const insertX = 'CREATE TABLE t (x); INSERT INTO t VALUES (1), (2), (3)';

/** An encrypted database on disk with table t. */
function openSecret(t, cipher, key = KEY) {
  const db = openKeyed(t, tempFile(t), key, cipher);
  db.exec(insertX);
  return db;
}

/** The copy opens with this key and scheme alone, and is whole. */
function opensWith(t, file, key, cipher) {
  const copy = openKeyed(t, file, key, cipher);
  assert.deepEqual(values(copy), [1, 2, 3]);
  assert.equal(integrity(copy), 'ok');
  copy.close();
  assert.throws(() => values(open(t, file)), { code: 'SQLITE_NOTADB' });
  assert.throws(() => values(openKeyed(t, file, Buffer.from('wrong'), cipher)), { code: 'SQLITE_NOTADB' });
}

for (const cipher of SCHEMES) {
  for (const mode of ['DELETE', 'WAL']) {
    overruled(`${cipher}, ${mode}: the copy has the key of the source (overrules C-27.5, C-36.8)`, async (t) => {
      const db = openKeyed(t, tempFile(t), KEY, cipher);
      db.pragma(`journal_mode = ${mode}`);
      db.exec(insertX);
      const file = tempFile(t, 'copy.db');
      assert.deepEqual(await db.backup(file), { totalPages: 2, remainingPages: 0 });
      assert.equal(isPlain(file), false);
      opensWith(t, file, KEY, cipher);
      db.exec('INSERT INTO t VALUES (4)');
      // Once more over the copy of before, which opens with the same key.
      await db.backup(file);
      assert.deepEqual(values(openKeyed(t, file, KEY, cipher)), [1, 2, 3, 4]);
    });
  }

  overruled(`${cipher}: writes of the same connection reach the encrypted copy`, async (t) => {
    const db = openSecret(t, cipher);
    const file = tempFile(t, 'copy.db');
    let count = 0;
    await db.backup(file, {
      progress: () => {
        count += 1;
        if (count === 1) db.exec('CREATE TABLE u AS SELECT zeroblob(900000) AS z');
        if (count === 2) db.exec('INSERT INTO t VALUES (4); BEGIN; DELETE FROM t; ROLLBACK');
        return 50;
      },
    });
    assert.ok(count > 2);
    const copy = openKeyed(t, file, KEY, cipher);
    assert.deepEqual(values(copy), [1, 2, 3, 4]);
    assert.equal(copy.prepare('SELECT length(z) FROM u').pluck().get(), 900000);
    assert.equal(integrity(copy), 'ok');
  });

  overruled(`${cipher}: { key: null } makes a plain copy`, async (t) => {
    const file = tempFile(t, 'copy.db');
    await openSecret(t, cipher).backup(file, { key: null });
    assert.equal(isPlain(file), true);
    const copy = open(t, file);
    assert.deepEqual(values(copy), [1, 2, 3]);
    assert.equal(integrity(copy), 'ok');
    // Nothing is reserved any more: byte 20 of the header.
    assert.equal(fs.readFileSync(file)[20], 0);
  });

  overruled(`${cipher}: another key, under the scheme of the source`, async (t) => {
    const file = tempFile(t, 'copy.db');
    await openSecret(t, cipher).backup(file, { key: OTHER });
    opensWith(t, file, OTHER, cipher);
  });

  for (const target of SCHEMES) {
    overruled(`from ${cipher} to a copy under ${target}, and from plain to it`, async (t) => {
      const plain = openFile(t).exec(insertX);
      for (const db of [openSecret(t, cipher), plain]) {
        const file = tempFile(t, 'copy.db');
        await db.backup(file, { cipher: target, key: OTHER });
        opensWith(t, file, OTHER, target);
        assert.deepEqual(values(db), [1, 2, 3]);
      }
    });
  }
}

overruled('a plain database stays plain, also with { key: null }', async (t) => {
  const db = openFile(t).exec(insertX);
  for (const options of [{}, { key: null }]) {
    const file = tempFile(t, 'copy.db');
    await db.backup(file, options);
    assert.equal(isPlain(file), true);
    assert.deepEqual(values(open(t, file)), [1, 2, 3]);
  }
});

overruled('a plain database is encrypted under the scheme that the connection has selected', async (t) => {
  const db = open(t, tempFile(t), { cipher: 'aes256cbc' }).exec(insertX);
  for (const source of [db, open(t, db.serialize(), { cipher: 'aes256cbc' })]) {
    const file = tempFile(t, 'copy.db');
    await source.backup(file, { key: KEY });
    opensWith(t, file, KEY, 'aes256cbc');
  }
});

overruled('parameters of the scheme go with the copy', async (t) => {
  const db = open(t, tempFile(t));
  db.pragma("cipher='chacha20'");
  db.pragma('kdf_iter=1000');
  db.key(KEY);
  db.exec(insertX);
  for (const [options, key] of [[{}, KEY], [{ key: OTHER }, OTHER]]) {
    const file = tempFile(t, 'copy.db');
    await db.backup(file, options);
    const copy = open(t, file);
    copy.pragma('kdf_iter=1000');
    copy.key(key);
    assert.deepEqual(values(copy), [1, 2, 3]);
  }
});

overruled('the salt is that of the source under its key, and a new one under another', async (t) => {
  const db = openSecret(t, 'chacha20');
  const salt = (file) => fs.readFileSync(file).toString('hex', 0, 16);
  const files = [tempFile(t, 'a.db'), tempFile(t, 'b.db')];
  await db.backup(files[0]);
  await db.backup(files[1], { key: KEY });
  assert.equal(salt(files[0]), salt(db.name));
  assert.notEqual(salt(files[1]), salt(db.name));
  opensWith(t, files[1], KEY, 'chacha20');
  // Over a copy with another salt: that of the file counts.
  const before = salt(files[1]);
  await db.backup(files[1], { key: KEY });
  assert.equal(salt(files[1]), before);
  opensWith(t, files[1], KEY, 'chacha20');
});

overruled('an existing file that the key of the copy does not open is left alone', async (t) => {
  const plain = openFile(t).exec(insertX);
  const secret = openSecret(t, 'chacha20');
  const pairs = [[plain, secret], [secret, plain], [openSecret(t, 'chacha20', OTHER), secret]];
  for (const [db, there] of pairs) {
    const file = tempFile(t, 'copy.db');
    await there.backup(file);
    const before = fs.readFileSync(file);
    await rejectsLike(db.backup(file), SqliteError, 'file is not a database', 'SQLITE_NOTADB');
    assert.deepEqual(fs.readFileSync(file), before);
    assert.deepEqual(leftovers(file), ['copy.db']);
  }
});

overruled('a source without its key, or with a wrong one, leaves no file', async (t) => {
  const { name } = openSecret(t, 'chacha20');
  for (const db of [open(t, name), openKeyed(t, name, OTHER)]) {
    for (const options of [{}, { key: null }, { key: KEY }]) {
      const file = tempFile(t, 'copy.db');
      await rejectsLike(db.backup(file, options), SqliteError, 'file is not a database', 'SQLITE_NOTADB');
      assert.deepEqual(leftovers(file), []);
    }
  }
});

overruled('an abort of an encrypted copy leaves what was there', async (t) => {
  const db = openSecret(t, 'chacha20');
  db.exec('CREATE TABLE u AS SELECT zeroblob(2000000) AS z');
  const file = tempFile(t, 'copy.db');
  await db.backup(file);
  const before = fs.readFileSync(file);
  db.exec('UPDATE u SET z = randomblob(2000000); INSERT INTO t VALUES (4)');
  for (const options of [{}, { key: OTHER, cipher: 'aes256cbc' }]) {
    const target = options.key ? tempFile(t, 'copy.db') : file;
    let count = 0;
    const progress = () => {
      count += 1;
      if (count === 4) throw new Error('enough');
    };
    await rejectsLike(db.backup(target, { ...options, progress }), Error, 'enough');
    assert.deepEqual(leftovers(target), options.key ? [] : ['copy.db']);
  }
  assert.deepEqual(fs.readFileSync(file), before);
});

overruled('the key of the source cannot be changed during a backup', async (t) => {
  const db = openSecret(t, 'chacha20');
  const file = tempFile(t, 'copy.db');
  const codes = [];
  await db.backup(file, {
    progress: () => {
      for (const change of [() => db.rekey(OTHER), () => db.rekey(Buffer.alloc(0)), () => db.key(OTHER), () => db.pragma("rekey='x'")]) {
        assert.throws(change, (error) => codes.push(error.code) > 0);
      }
    },
  });
  assert.deepEqual(codes, Array(4).fill('SQLITE_ERROR'));
  opensWith(t, file, KEY, 'chacha20');
  db.rekey(OTHER);
  assert.deepEqual(values(db), [1, 2, 3]);
});

overruled('the options key and cipher are checked', async (t) => {
  const db = openSecret(t, 'chacha20');
  const file = tempFile(t, 'copy.db');
  const wrong = [
    [{ key: undefined }, 'Expected the "key" option to be a Buffer or null'],
    [{ key: 'secret' }, 'Expected the "key" option to be a Buffer or null'],
    [{ key: new Uint8Array(4) }, 'Expected the "key" option to be a Buffer or null'],
    [{ key: Buffer.alloc(0) }, 'The "key" option cannot be empty'],
    [{ key: KEY, cipher: undefined }, 'Expected the "cipher" option to be a string'],
    [{ cipher: 'chacha20' }, 'The "cipher" option needs a "key"'],
    [{ cipher: 'chacha20', key: null }, 'The "cipher" option needs a "key"'],
  ];
  for (const [options, message] of wrong) await rejectsLike(db.backup(file, options), TypeError, message);
  await rejectsLike(db.backup(`${file}\0`), TypeError, 'A database file name cannot contain a NUL character');
  await rejectsLike(db.backup(file, { key: KEY, cipher: 'rot13' }), SqliteError, "Cipher 'rot13' unknown.", 'SQLITE_ERROR');
  assert.deepEqual(leftovers(file), []);
});

overruled('an attached encrypted database is copied under its own key', async (t) => {
  const { name } = openSecret(t, 'chacha20');
  const db = openFile(t);
  db.prepare('ATTACH ? AS side KEY ?').run(name, KEY.toString());
  const file = tempFile(t, 'copy.db');
  await db.backup(file, { attached: 'side' });
  opensWith(t, file, KEY, 'chacha20');
});
