'use strict';

// Checkpoints of the WAL through pragma() (C-8.10).

const test = require('node:test');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const { open, openFile, tempFile } = require('../support/database.js');

/** A WAL database whose log holds `count` rows of a kilobyte. */
function walDatabase(t, count = 50) {
  const db = openFile(t);
  db.pragma('journal_mode = WAL');
  db.exec('CREATE TABLE t (x)');
  fill(db, 't', count);
  return db;
}

function fill(db, table, count) {
  const insert = db.prepare(`INSERT INTO ${table} VALUES (zeroblob(1024))`);
  for (let n = 0; n < count; n += 1) insert.run();
}

const walSize = (file) => fs.statSync(`${file}-wal`).size;

test('a checkpoint tells busy, log and checkpointed (C-8.10)', (t) => {
  const db = walDatabase(t);
  const [row] = db.pragma('wal_checkpoint(PASSIVE)');
  assert.deepEqual(Object.keys(row), ['busy', 'log', 'checkpointed']);
  assert.equal(row.busy, 0);
  assert.ok(row.log > 0);
  assert.equal(row.checkpointed, row.log);
});

test('after a RESTART the WAL is written from its start again (C-8.10)', (t) => {
  const db = walDatabase(t);
  for (let round = 0; round < 3; round += 1) {
    const before = walSize(db.name);
    assert.equal(db.pragma('wal_checkpoint(RESTART)')[0].busy, 0);
    fill(db, 't', 10);
    assert.equal(walSize(db.name), before);
  }
});

test('TRUNCATE empties the WAL', (t) => {
  const db = walDatabase(t);
  assert.deepEqual(db.pragma('wal_checkpoint(TRUNCATE)'), [{ busy: 0, log: 0, checkpointed: 0 }]);
  assert.equal(walSize(db.name), 0);
});

test('without a schema all attached databases are checkpointed, with one only that (C-8.10)', (t) => {
  const db = walDatabase(t);
  const file = tempFile(t, 'attached.db');
  db.prepare('ATTACH ? AS other').run(file);
  db.pragma('other.journal_mode = WAL');
  db.exec('CREATE TABLE other.u (x)');
  const grow = () => {
    fill(db, 't', 30);
    fill(db, 'other.u', 30);
  };
  grow();
  db.pragma('other.wal_checkpoint(TRUNCATE)');
  assert.equal(walSize(file), 0);
  assert.ok(walSize(db.name) > 0);
  grow();
  db.pragma('wal_checkpoint(TRUNCATE)');
  assert.equal(walSize(file), 0);
  assert.equal(walSize(db.name), 0);
});

test('a reader in the way shows in the column busy', (t) => {
  const db = walDatabase(t);
  db.pragma('busy_timeout = 0');
  const reader = open(t, db.name);
  const rows = reader.prepare('select * from t').iterate();
  rows.next();
  fill(db, 't', 5);
  assert.equal(db.pragma('wal_checkpoint(TRUNCATE)')[0].busy, 1);
  rows.return();
  assert.equal(db.pragma('wal_checkpoint(TRUNCATE)')[0].busy, 0);
});

test('the last connection checkpoints when it closes', (t) => {
  const db = walDatabase(t);
  const count = db.prepare('select count(*) from t').pluck().get();
  db.close();
  assert.equal(fs.existsSync(`${db.name}-wal`), false);
  assert.equal(open(t, db.name).prepare('select count(*) from t').pluck().get(), count);
});
