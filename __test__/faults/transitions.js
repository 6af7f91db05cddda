'use strict';

// The ways to change a key that lose nothing: another key, another scheme with as many reserved bytes
// and with others, from plain and to plain; and how such a file is made and recognised.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const workloads = require('../interop/workloads.js');

const lock = (key, ...pragmas) => ({ pragmas, key });
const plain = lock(null);
const chacha20 = (key) => lock(key, "cipher='chacha20'", 'legacy=0', 'kdf_iter=10');
const sqlcipher = (key) => lock(key, "cipher='sqlcipher'", 'legacy=0', 'kdf_iter=10');
const ascon128 = (key) => lock(key, "cipher='ascon128'", 'kdf_iter=10');
const aes256cbc = (key) => lock(key, "cipher='aes256cbc'", 'legacy=0');
const aegis = (key) => lock(key, "cipher='aegis'", 'tcost=1', 'mcost=64');
const rc4 = (key) => lock(key, "cipher='rc4'");

/** Name: what opens the file before and after. */
const transitions = {
  'another key': [chacha20('old key'), chacha20('new key')],
  'another key of a scheme without a tag': [aes256cbc('old key'), aes256cbc('new key')],
  'another scheme': [chacha20('old key'), ascon128('new key')],
  'a scheme that reserves more': [chacha20('old key'), sqlcipher('new key')],
  'a scheme that reserves less': [aegis('old key'), chacha20('new key')],
  'a scheme that reserves nothing': [chacha20('old key'), rc4('new key')],
  'encrypting': [plain, chacha20('new key')],
  'encrypting without reserved bytes': [plain, aes256cbc('new key')],
  'decrypting': [sqlcipher('old key'), plain],
  'decrypting without reserved bytes': [aes256cbc('old key'), plain],
};

const SUFFIXES = ['', '-journal', '-wal', '-shm'];

/** Sets scheme and key on an open database; a plain one needs nothing. */
function unlock(db, { pragmas, key }) {
  for (const pragma of pragmas) db.pragma(pragma);
  if (key !== null) db.key(Buffer.from(key));
  return db;
}

/** Changes to what `to` says. */
function rekey(db, { pragmas, key }) {
  for (const pragma of pragmas) db.pragma(pragma);
  db.rekey(Buffer.from(key ?? ''));
}

/** A database with known content (workloads.js) in this journal mode, closed. */
function make(Database, file, from, journalMode, { cells, bodyLength = 2000 }) {
  const db = unlock(new Database(file), from);
  db.pragma(`journal_mode=${journalMode}`);
  workloads.fillCells(db, cells, bodyLength);
  workloads.commitCells(db, 1);
  db.close();
}

/** Whether this journal mode allows this transition. */
function isRefused(Database, file, [from, to], journalMode) {
  if (journalMode !== 'wal' || from.key !== null || to.key === null) return false;
  make(Database, file, from, journalMode, { cells: 1 });
  const db = unlock(new Database(file), from);
  try {
    rekey(db, to);
    return false;
  } catch (error) {
    assert.equal(error.code, 'SQLITE_ERROR');
    return true;
  } finally {
    db.close();
    remove(file);
  }
}

/** What the file shows under this lock, or the code of the error; then it is closed. */
function look(Database, file, candidate) {
  const db = unlock(new Database(file), candidate);
  try {
    return workloads.readCells(db);
  } catch (error) {
    if (error.code === undefined) throw error;
    return error.code;
  } finally {
    db.close();
  }
}

/**
 * The index of the one lock that opens the file, with content that is whole: `cells` rows of one of
 * the `numbers` of transactions. `order` is the order of trying: the wrong one must do no harm.
 */
function whichOpens(Database, file, locks, { cells, numbers, order = [0, 1] }) {
  const found = [];
  const seen = {};
  for (const index of order) {
    seen[index] = look(Database, file, locks[index]);
    if (seen[index] === 'SQLITE_NOTADB') continue;
    found.push(index);
    assert.deepEqual({ ...seen[index], numbers: [] }, { cells, numbers: [], wrongBodies: 0, integrity: 'ok' });
    assert.equal(seen[index].numbers.length, 1);
    assert.ok(numbers.includes(seen[index].numbers[0]), `transaction ${seen[index].numbers[0]} is not one of ${numbers}`);
  }
  assert.equal(found.length, 1, `${found.length} of the two keys open the file: ${JSON.stringify(seen)}`);
  return { index: found[0], number: seen[found[0]].numbers[0] };
}

function remove(file) {
  for (const suffix of SUFFIXES) fs.rmSync(file + suffix, { force: true });
}

/** File, journal and WAL as they are now, under the same name in another directory. */
function copyTo(file, dir) {
  const target = path.join(dir, path.basename(file));
  remove(target);
  for (const suffix of SUFFIXES.slice(0, 3)) {
    if (fs.existsSync(file + suffix)) fs.copyFileSync(file + suffix, target + suffix);
  }
  return target;
}

module.exports = { transitions, SUFFIXES, unlock, rekey, make, isRefused, whichOpens, remove, copyTo };
