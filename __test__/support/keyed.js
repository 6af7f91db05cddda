'use strict';

// Encrypted databases for the tests of keys: writing one, opening one, looking at its file.

const fs = require('node:fs');
const { open, tempFile } = require('./database.js');

const KEY = Buffer.from('correct horse');
const OTHER = Buffer.from('battery staple');
// Schemes that these tests go through; each further scheme has its own tests beside its vectors.
const SCHEMES = ['chacha20', 'aes256cbc'];
const PLAIN_HEADER = 'SQLite format 3\0';

/** Opens `file` with a key, as `cipher` (the default scheme when left out). */
function openKeyed(t, file, key = KEY, cipher = undefined, options = undefined) {
  const db = open(t, file, options);
  if (cipher) db.pragma(`cipher='${cipher}'`);
  db.key(key);
  return db;
}

/** Writes an encrypted database with table t (1, 2, 3) and gives its path; nothing is left open. */
function writeKeyed(t, { key = KEY, cipher = undefined, wal = false } = {}) {
  const db = openKeyed(t, tempFile(t), key, cipher);
  if (wal) db.pragma('journal_mode = WAL');
  db.exec('CREATE TABLE t (x); INSERT INTO t VALUES (1), (2), (3)');
  db.close();
  return db.name;
}

/** The same without encryption. */
function writePlain(t) {
  const db = open(t, tempFile(t));
  db.exec('CREATE TABLE t (x); INSERT INTO t VALUES (1), (2), (3)');
  db.close();
  return db.name;
}

const values = (db, schema = 'main') => db.prepare(`select x from ${schema}.t order by rowid`).pluck().all();
const isPlain = (file) => fs.readFileSync(file).toString('latin1', 0, 16) === PLAIN_HEADER;

module.exports = { KEY, OTHER, SCHEMES, openKeyed, writeKeyed, writePlain, values, isPlain };
