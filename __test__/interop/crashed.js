'use strict';

// Databases as a killed process leaves them: the bytes of file, journal and WAL, made once and
// restored for every attempt, and what must be found in them afterwards.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { tempFile, tempDir } = require('../support/database.js');
const { start } = require('./processes.js');
const { playedBackPages } = require('./journal.js');
const workloads = require('./workloads.js');

const SUFFIXES = ['', '-journal', '-wal'];
const CELLS = 60;
/** The number of the last committed transaction in every crashed database. */
const COMMITTED = 2;

/**
 * Makes a database, commits, and is killed in a third transaction that has spilled.
 * `within` is SQL that runs first in that transaction, `settings` are PRAGMAs of the connection. Gives {file: bytes before it, bytes: after}.
 */
async function crash(t, side, lock, { journalMode = 'delete', pageSize = 4096, within = '', settings = [] } = {}) {
  const file = tempFile(t, 'crashed.db');
  const process = await start(t, side);
  const db = await process.open(file, lock);
  await db.pragma(`page_size=${pageSize}`);
  await db.pragma(`journal_mode=${journalMode}`);
  await db.pragma('wal_autocheckpoint=0');
  for (const setting of settings) await db.pragma(setting);
  await db.work('fillCells', CELLS, Math.floor(pageSize * 0.7));
  await db.work('commitCells', 1);
  if (journalMode === 'wal') await db.pragma('wal_checkpoint(TRUNCATE)');
  await db.work('commitCells', COMMITTED);
  const committed = read(file);
  await db.work('leaveOpen', COMMITTED + 1, 5, within);
  await process.kill();
  const bytes = read(file);
  if (journalMode === 'wal') assert.ok(bytes['-wal'].length > committed['-wal'].length, 'nothing has spilled');
  else assert.ok(playedBackPages(`${file}-journal`).length > 0, 'no hot journal was left');
  return { committed, bytes };
}

/** The bytes of file, journal and WAL; what does not exist is missing. */
function read(file) {
  const present = SUFFIXES.filter((suffix) => fs.existsSync(file + suffix));
  return Object.fromEntries(present.map((suffix) => [suffix, fs.readFileSync(file + suffix)]));
}

/** Writes the bytes to a new directory; gives the path of the database. */
function restore(t, bytes) {
  const file = path.join(tempDir(t), 'restored.db');
  for (const [suffix, content] of Object.entries(bytes)) fs.writeFileSync(file + suffix, content);
  return file;
}

/** Asserts that no byte of file, journal and WAL differs from `bytes`. */
function isUntouched(file, bytes, when) {
  const found = read(file);
  assert.deepEqual(Object.keys(found), Object.keys(bytes), `${when}: files came or went`);
  for (const [suffix, content] of Object.entries(bytes)) {
    assert.ok(found[suffix].equals(content), `${when}: the ${suffix || 'database'} file was changed`);
  }
}

/** Asserts that `db` shows the last committed transaction, whole, and can be written. */
function hasEveryCommit(db) {
  const sound = (number) => ({ cells: CELLS, numbers: [number], wrongBodies: 0, integrity: 'ok' });
  assert.deepEqual(workloads.readCells(db), sound(COMMITTED));
  workloads.commitCells(db, 9);
  assert.deepEqual(workloads.readCells(db), sound(9));
}

module.exports = { crash, read, restore, isUntouched, hasEveryCommit };
