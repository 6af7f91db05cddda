'use strict';

// How the encryption tests open databases: `lock` is {pragmas, key}, the key bytes or the text of a
// PRAGMA; a small table with known rows is in each file.

const assert = require('node:assert/strict');
const { open } = require('../support/database.js');

const ROWS = 20;
const MARKER = 'readable only with the key';
const bodyOf = (id) => `${MARKER} ${id} `.repeat(100).slice(0, 3000);

function unlock(db, { pragmas = [], key } = {}) {
  for (const pragma of pragmas) db.pragma(pragma);
  if (Buffer.isBuffer(key)) db.key(key);
  else if (key !== undefined) db.pragma(`key=${key}`);
  return db;
}

/** Opens for the time of the test, with scheme and key set. */
function openWith(t, file, lock, options) {
  return unlock(open(t, file, options), lock);
}

/** Every row on a page of its own; page 1 is the schema, page 2 the root, page 3 the row with id 1. */
function fill(db) {
  db.exec('CREATE TABLE note (id INTEGER PRIMARY KEY, body TEXT)');
  const insert = db.prepare('INSERT INTO note VALUES (?, ?)');
  db.transaction(() => {
    for (let id = 1; id <= ROWS; id += 1) insert.run(id, bodyOf(id));
  })();
  return db;
}

function isWhole(db) {
  const rows = db.prepare('SELECT id, body FROM note ORDER BY id').all();
  assert.equal(rows.length, ROWS);
  for (const { id, body } of rows) assert.equal(body, bodyOf(id));
  assert.equal(db.pragma('integrity_check', { simple: true }), 'ok');
}

/** A new file with the table in it, closed. */
function makeFile(t, file, lock, ...settings) {
  const db = openWith(t, file, lock);
  for (const setting of settings) db.pragma(setting);
  fill(db).close();
  return file;
}

module.exports = { MARKER, ROWS, bodyOf, unlock, openWith, fill, isWhole, makeFile };
