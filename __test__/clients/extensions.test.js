'use strict';

const assert = require('node:assert/strict');
const test = require('node:test');
const { tempFile } = require('../support/database');
const { KEY, installed, readByPeer } = require('./client');

function openEncrypted(t) {
  const Database = require('better-sqlite3-multiple-ciphers');
  const file = tempFile(t);
  const db = new Database(file);
  db.pragma("cipher='chacha20'");
  db.key(Buffer.from(KEY));
  t.after(() => db.close());
  return { db, file };
}

test('sqlite-vec: vectors in an encrypted database, nearest neighbours', async (t) => {
  await installed();
  const sqliteVec = require('sqlite-vec');
  const { db, file } = openEncrypted(t);
  sqliteVec.load(db);
  assert.match(db.prepare('SELECT vec_version()').pluck().get(), /^v0\.1\./);
  db.exec('CREATE VIRTUAL TABLE points USING vec0(id INTEGER PRIMARY KEY, at FLOAT[2])');
  const insert = db.prepare('INSERT INTO points (id, at) VALUES (?, ?)');
  for (const [id, x, y] of [[1n, 0, 0], [2n, 1, 1], [3n, 5, 5]]) insert.run(id, new Float32Array([x, y]));
  const near = db.prepare('SELECT id, distance FROM points WHERE at MATCH ? AND k = 2 ORDER BY distance').all(new Float32Array([0.9, 0.9]));
  assert.deepEqual(near.map(({ id }) => id), [2, 1]);
  assert.ok((await readByPeer(file, "SELECT name FROM sqlite_schema WHERE name = 'points'")).length === 1);
});

test('sqlite-regex: regular expressions over encrypted rows', async (t) => {
  await installed();
  const { getLoadablePath } = await import('sqlite-regex');
  const { db, file } = openEncrypted(t);
  db.loadExtension(getLoadablePath());
  db.exec("CREATE TABLE messages (subject TEXT); INSERT INTO messages VALUES ('Invoice 2026-01'), ('Holiday')");
  assert.deepEqual(db.prepare("SELECT subject FROM messages WHERE subject REGEXP '[0-9]{4}-[0-9]{2}'").pluck().all(), ['Invoice 2026-01']);
  assert.equal(db.prepare("SELECT regex_find('[0-9]+', subject) FROM messages").pluck().get(), '2026');
  assert.deepEqual(await readByPeer(file, 'SELECT count(*) AS n FROM messages'), [{ n: 2 }]);
});
