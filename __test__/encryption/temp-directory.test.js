'use strict';

// PRAGMA temp_store_directory: where SQLite puts its temporary files, for one connection. In the replaced
// package it does nothing. That the files are unreadable there, too, is in unreadable-files.test.js.

const test = require('node:test');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { open, openFile, overruled, tempDir, tempFile, throwsLike, SqliteError } = require('../support/database.js');

const noProc = fs.existsSync('/proc/self/fd') ? false : 'needs /proc/self/fd to see files without a name';

/** The directories of the files without a name that this process has open. */
function directoriesInUse() {
  const linkOf = (fd) => {
    try {
      return fs.readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return ''; // that of the listing itself
    }
  };
  const links = fs.readdirSync('/proc/self/fd').map(linkOf);
  return links.filter((link) => link.endsWith(' (deleted)') && !link.includes('-shm')).map((link) => path.dirname(link));
}

/** Makes a temporary table so large that it is in a file, which stays open. */
function spill(db, table = 'draft') {
  db.pragma('temp_store=1');
  db.pragma('temp.cache_size=10');
  db.exec(`CREATE TEMP TABLE ${table} AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
    SELECT i, hex(randomblob(500)) AS body FROM n`);
}

const setDirectory = (db, dir) => db.pragma(`temp_store_directory='${dir.replaceAll("'", "''")}'`);
const getDirectory = (db) => db.pragma('temp_store_directory');

overruled('answers the directory as it was written, and nothing when there is none', (t) => {
  const db = open(t);
  const dir = path.join(tempDir(t), "it's ü");
  fs.mkdirSync(dir);
  assert.deepEqual(getDirectory(db), []);
  assert.deepEqual(setDirectory(db, dir), []);
  assert.deepEqual(getDirectory(db), [{ temp_store_directory: dir }]);
  assert.deepEqual(getDirectory(open(t)), [], 'another connection has none');
  setDirectory(db, '.');
  assert.deepEqual(getDirectory(db), [{ temp_store_directory: '.' }]);
  setDirectory(db, '');
  assert.deepEqual(getDirectory(db), []);
});

overruled('refuses what is no directory, and leaves what was set', (t) => {
  const db = open(t);
  const dir = tempDir(t);
  setDirectory(db, dir);
  fs.writeFileSync(path.join(dir, 'file'), '');
  for (const wrong of [path.join(dir, 'nowhere'), path.join(dir, 'file'), '\u0001']) {
    throwsLike(() => setDirectory(db, wrong), SqliteError, 'not a writable directory', 'SQLITE_ERROR');
  }
  assert.deepEqual(getDirectory(db), [{ temp_store_directory: dir }]);
});

const unwritable = process.getuid?.() === 0 ? 'root may write everywhere' : process.platform === 'win32' && 'needs the modes of Unix';
test('refuses a directory without permission to write', { skip: unwritable }, (t) => {
  const dir = tempDir(t);
  fs.chmodSync(dir, 0o500);
  throwsLike(() => setDirectory(open(t), dir), SqliteError, 'not a writable directory', 'SQLITE_ERROR');
});

test('each connection has its own, for sorts and temporary tables, also as a temporary main database', { skip: noProc }, (t) => {
  const dirs = [tempDir(t), tempDir(t), tempDir(t)];
  const dbs = [openFile(t), openFile(t), open(t, '')];
  dbs.forEach((db, i) => {
    setDirectory(db, dirs[i]);
    spill(db);
  });
  assert.deepEqual(directoriesInUse().sort(), [...dirs].sort());
  for (const db of dbs) {
    assert.equal(db.prepare('SELECT count(*) FROM draft').pluck().get(), 500);
    db.close();
  }
  assert.deepEqual(directoriesInUse(), []);
  for (const dir of dirs) assert.deepEqual(fs.readdirSync(dir), []);
});

test('a change counts for files that are opened later; temporary tables stay', { skip: noProc }, (t) => {
  const db = openFile(t);
  const [first, second] = [tempDir(t), tempDir(t)];
  setDirectory(db, first);
  spill(db);
  setDirectory(db, second);
  assert.deepEqual(directoriesInUse(), [first]);
  db.exec("ATTACH '' AS other");
  db.pragma('other.cache_size=10');
  db.exec('CREATE TABLE other.copy AS SELECT * FROM draft');
  assert.deepEqual(directoriesInUse().sort(), [first, second].sort());
  assert.equal(db.prepare('SELECT count(*) FROM draft').pluck().get(), 500);
});

overruled('works beside attached databases, VACUUM and a rekey', (t) => {
  const db = open(t, tempFile(t));
  db.pragma("cipher='chacha20'");
  db.key(Buffer.from('key'));
  setDirectory(db, tempDir(t));
  db.exec(`ATTACH '${tempFile(t, 'other.db')}' AS other; CREATE TABLE other.t AS SELECT 1 AS x; CREATE TABLE u AS SELECT 2 AS y; VACUUM other`);
  setDirectory(db, '');
  db.exec('VACUUM');
  db.rekey(Buffer.from('new'));
  assert.deepEqual(db.prepare('SELECT x, y FROM t, u').get(), { x: 1, y: 2 });
});

overruled('is refused while a statement is running', (t) => {
  const db = open(t);
  const rows = db.prepare('VALUES (1), (2)').iterate();
  rows.next();
  throwsLike(() => db.prepare(`PRAGMA temp_store_directory='${tempDir(t)}'`), SqliteError,
    'temporary storage cannot be changed while a statement is running', 'SQLITE_ERROR');
  rows.return();
});

test('a directory that has vanished is passed over', { skip: noProc }, (t) => {
  const db = openFile(t);
  const dir = tempDir(t);
  setDirectory(db, dir);
  fs.rmdirSync(dir);
  spill(db);
  assert.equal(directoriesInUse().length, 1);
  assert.notEqual(directoriesInUse()[0], dir);
});
