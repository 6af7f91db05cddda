'use strict';

const assert = require('node:assert/strict');
const test = require('node:test');
const { tempFile } = require('../support/database');
const { KEY, installed, readByPeer } = require('./client');

test('kysely: migrations, inserts, streams, transactions', async (t) => {
  await installed();
  const Database = require('better-sqlite3');
  const { Kysely, SqliteDialect } = await import('kysely');
  const { Migrator } = await import('kysely/migration');
  const file = tempFile(t);
  const database = new Database(file);
  database.pragma("cipher='chacha20'");
  database.key(Buffer.from(KEY));
  const db = new Kysely({ dialect: new SqliteDialect({ database }) });
  try {
    const first = {
      up: (k) => k.schema.createTable('messages').addColumn('id', 'integer', (c) => c.primaryKey()).addColumn('subject', 'text').addColumn('raw', 'blob').execute(),
    };
    const { error, results } = await new Migrator({ db, provider: { getMigrations: async () => ({ first }) } }).migrateToLatest();
    assert.equal(error, undefined);
    assert.equal(results[0].status, 'Success');
    const { insertId } = await db.insertInto('messages').values({ subject: 'one', raw: Buffer.from([9, 8]) }).executeTakeFirstOrThrow();
    assert.equal(insertId, 1n);
    await assert.rejects(db.transaction().execute(async (trx) => {
      await trx.deleteFrom('messages').execute();
      throw new Error('rolled back');
    }), /rolled back/);
    await db.insertInto('messages').values([{ subject: 'two' }, { subject: 'three' }]).execute();
    const streamed = [];
    for await (const { subject } of db.selectFrom('messages').select('subject').orderBy('id').stream()) streamed.push(subject);
    assert.deepEqual(streamed, ['one', 'two', 'three']);
    const { numUpdatedRows } = await db.updateTable('messages').set({ subject: '2' }).where('id', '=', 2).executeTakeFirstOrThrow();
    assert.equal(numUpdatedRows, 1n);
    const tables = await db.introspection.getTables();
    assert.ok(tables.some(({ name }) => name === 'messages'));
  } finally {
    await db.destroy();
  }
  assert.deepEqual(await readByPeer(file, 'SELECT subject FROM messages ORDER BY id'), ['one', '2', 'three'].map((subject) => ({ subject })));
});
