'use strict';

// The module under test and what every test file needs around it: temporary places that vanish
// with their test, and assertions about errors. Compiling the loadable extension is in extension.js;
// running the files is scripts/test-js.mjs.
//
// SEALITE_TEST_MODULE names another package to test (a path): the replaced package, which proves
// that an expectation is true there too.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const test = require('node:test');

const modulePath = path.resolve(process.env.SEALITE_TEST_MODULE || path.join(__dirname, '..', '..'));
const isPeer = require(path.join(modulePath, 'package.json')).name !== 'sealite';
const Database = require(modulePath);
const { SqliteError } = Database;

const OPEN = 'The database connection is not open';
const BUSY = 'This database connection is busy executing a query';
const LOCKED = 'This statement is busy executing a query';

/** A test of behaviour that differs from the replaced package on purpose (docs/compat.md). */
function overruled(name, fn) {
  const skip = isPeer ? 'sealite differs from the replaced package here on purpose' : false;
  test(name, { skip }, fn);
}

const cleanups = new WeakMap();

/** Runs `fn` after the test `t`; the last registered runs first. */
function afterTest(t, fn) {
  if (!cleanups.has(t)) {
    const list = [];
    cleanups.set(t, list);
    t.after(() => {
      while (list.length > 0) list.pop()();
    });
  }
  cleanups.get(t).push(fn);
}

/** A new directory that is removed after the test. */
function tempDir(t) {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'sealite-test-'));
  afterTest(t, () => fs.rmSync(dir, { recursive: true, force: true, maxRetries: 3 }));
  return dir;
}

/** A path in a new directory of the test; nothing exists there yet. */
function tempFile(t, name = 'test.db') {
  return path.join(tempDir(t), name);
}

/** Opens a database (in memory unless `file` is given) that is closed after the test. */
function open(t, file = ':memory:', options = undefined) {
  const db = new Database(file, options);
  afterTest(t, () => closeQuietly(db));
  return db;
}

/** Opens a new database on disk that is closed and removed after the test. */
function openFile(t, options = undefined) {
  return open(t, tempFile(t), options);
}

// A test that failed half way may leave an iterator open; the failure is what shall be seen.
function closeQuietly(db) {
  try {
    db.close();
  } catch (error) {
    if (error.message !== BUSY) throw error;
  }
}

/** Asserts that `fn` throws exactly this class and message; for SqliteError also the code. */
function throwsLike(fn, Class, message, code) {
  let error;
  let threw = false;
  try {
    fn();
  } catch (thrown) {
    error = thrown;
    threw = true;
  }
  assert.ok(threw, `nothing was thrown, expected ${Class.name}: ${message}`);
  isError(error, Class, message, code);
  return error;
}

function isError(error, Class, message, code) {
  assert.ok(error instanceof Class, `expected ${Class.name}, got ${error && error.stack}`);
  assert.equal(Object.getPrototypeOf(error), Class.prototype);
  if (message instanceof RegExp) assert.match(error.message, message);
  else assert.equal(error.message, message);
  if (Class === SqliteError) assert.equal(error.code, code);
  else if (Class !== Error) assert.equal('code' in error, false, 'errors of the library carry no code');
}

const throwsOpen = (fn) => throwsLike(fn, TypeError, OPEN);
const throwsBusy = (fn) => throwsLike(fn, TypeError, BUSY);
const throwsLocked = (fn) => throwsLike(fn, TypeError, LOCKED);
const throwsNotADb = (fn) => throwsLike(fn, SqliteError, 'file is not a database', 'SQLITE_NOTADB');

/** Runs `fn` and gives back what it threw, whatever that is. */
function thrownBy(fn) {
  try {
    fn();
  } catch (thrown) {
    return { thrown };
  }
  return assert.fail('nothing was thrown');
}

/** Makes the table `numbers` with n from 1 to `count`. */
function fillNumbers(db, count) {
  db.exec('CREATE TABLE numbers (n INTEGER)');
  const insert = db.prepare('INSERT INTO numbers VALUES (?)');
  for (let n = 1; n <= count; n += 1) insert.run(n);
  return db;
}

module.exports = {
  Database,
  SqliteError,
  modulePath,
  isPeer,
  OPEN,
  BUSY,
  LOCKED,
  overruled,
  afterTest,
  tempDir,
  tempFile,
  open,
  openFile,
  isError,
  throwsLike,
  throwsOpen,
  throwsBusy,
  throwsLocked,
  throwsNotADb,
  thrownBy,
  fillNumbers,
};
