'use strict';

const assert = require('node:assert/strict');
const test = require('node:test');
const { tempDir, tempFile } = require('../support/database');
const fs = require('node:fs');
const path = require('node:path');
const { KEY, installed, readByPeer } = require('./client');

function connect(knex, filename, extra = {}) {
  return knex({
    client: 'better-sqlite3',
    connection: { filename },
    useNullAsDefault: true,
    pool: {
      afterCreate(db, done) {
        db.pragma("cipher='chacha20'");
        db.pragma(`key='${KEY}'`);
        done(null, db);
      },
    },
    ...extra,
  });
}

test('knex: schema, inserts, queries, blobs, transactions and their rollback', async (t) => {
  await installed();
  const file = tempFile(t);
  const db = connect(require('knex'), file);
  try {
    await db.schema.createTable('messages', (table) => {
      table.increments('id');
      table.string('subject').notNullable();
      table.binary('raw');
      table.boolean('seen').defaultTo(false);
    });
    const [first] = await db('messages').insert({ subject: 'Grüße', raw: Buffer.from([0, 1, 255]) });
    assert.equal(first, 1);
    const returned = await db('messages').insert({ subject: 'second' }).returning(['id', 'subject']);
    assert.deepEqual(returned, [{ id: 2, subject: 'second' }]);
    assert.equal(await db('messages').where('id', 1).update({ seen: true }), 1);
    await assert.rejects(db.transaction(async (trx) => {
      await trx('messages').insert({ subject: 'never' });
      throw new Error('rolled back');
    }), /rolled back/);
    await db.transaction((trx) => trx('messages').insert({ subject: 'third' }));
    const row = await db('messages').where({ subject: 'Grüße' }).first();
    assert.deepEqual([...row.raw], [0, 1, 255]);
    assert.deepEqual(await db('messages').pluck('subject').orderBy('id'), ['Grüße', 'second', 'third']);
    await assert.rejects(db('messages').insert({ subject: null }), { code: 'SQLITE_CONSTRAINT_NOTNULL' });
  } finally {
    await db.destroy();
  }
  assert.deepEqual(await readByPeer(file, 'SELECT count(*) AS n, sum(seen) AS seen FROM messages'), [{ n: 3, seen: 1 }]);
});

test('knex: migrations up and down, and a stream', async (t) => {
  await installed();
  const directory = tempDir(t);
  fs.writeFileSync(path.join(directory, '01_first.js'), `
    exports.up = (knex) => knex.schema.createTable('items', (table) => { table.increments(); table.text('name'); });
    exports.down = (knex) => knex.schema.dropTable('items');`);
  const file = tempFile(t);
  const db = connect(require('knex'), file, { migrations: { directory } });
  try {
    await db.migrate.latest();
    await db.batchInsert('items', Array.from({ length: 500 }, (_, i) => ({ name: `item ${i}` })), 100);
    let streamed = 0;
    for await (const row of db('items').stream()) streamed += row.name.startsWith('item') ? 1 : 0;
    assert.equal(streamed, 500);
    assert.equal(await db.migrate.currentVersion(), '01');
    await db.migrate.rollback();
    assert.equal(await db.schema.hasTable('items'), false);
  } finally {
    await db.destroy();
  }
  assert.deepEqual(await readByPeer(file, 'SELECT count(*) AS n FROM knex_migrations'), [{ n: 0 }]);
});

test('knex: a wrong key is told with its code', async (t) => {
  await installed();
  const file = tempFile(t);
  const knex = require('knex');
  const db = connect(knex, file);
  await db.schema.createTable('t', (table) => table.increments());
  await db.destroy();
  const wrong = knex({
    client: 'better-sqlite3', connection: { filename: file }, useNullAsDefault: true,
    pool: { afterCreate(handle, done) { handle.pragma("key='wrong'"); done(null, handle); } },
  });
  await assert.rejects(wrong('t').select(), { code: 'SQLITE_NOTADB' });
  await wrong.destroy();
});
