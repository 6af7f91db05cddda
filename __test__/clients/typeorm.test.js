'use strict';

const assert = require('node:assert/strict');
const test = require('node:test');
const { tempFile } = require('../support/database');
const { KEY, installed, readByPeer } = require('./client');

test('typeorm: entities without decorators, relations, blobs, transactions, a migration', async (t) => {
  await installed();
  const { DataSource, EntitySchema } = require('typeorm');
  const Mailbox = new EntitySchema({
    name: 'Mailbox',
    columns: { id: { type: Number, primary: true, generated: true }, name: { type: String } },
    relations: { messages: { type: 'one-to-many', target: 'Message', inverseSide: 'mailbox' } },
  });
  const Message = new EntitySchema({
    name: 'Message',
    columns: {
      id: { type: Number, primary: true, generated: true },
      subject: { type: String },
      raw: { type: 'blob', nullable: true },
      date: { type: 'datetime' },
    },
    relations: { mailbox: { type: 'many-to-one', target: 'Mailbox', joinColumn: true, inverseSide: 'messages' } },
  });
  class AddFlags1700000000000 {
    async up(runner) { await runner.query('ALTER TABLE message ADD COLUMN flags TEXT'); }

    async down(runner) { await runner.query('ALTER TABLE message DROP COLUMN flags'); }
  }
  const file = tempFile(t);
  const source = new DataSource({
    type: 'better-sqlite3', database: file, entities: [Mailbox, Message], synchronize: true, migrations: [AddFlags1700000000000],
    prepareDatabase(db) {
      db.pragma("cipher='chacha20'");
      db.pragma(`key='${KEY}'`);
    },
  });
  await source.initialize();
  try {
    const date = new Date('2026-01-02T03:04:05.000Z');
    const inbox = await source.getRepository('Mailbox').save({ name: 'INBOX' });
    const messages = source.getRepository('Message');
    await messages.save([
      { subject: 'one', raw: Buffer.from([1, 2, 3]), date, mailbox: inbox },
      { subject: 'two', date, mailbox: inbox },
    ]);
    await assert.rejects(source.transaction(async (manager) => {
      await manager.delete('Message', { subject: 'one' });
      throw new Error('rolled back');
    }), /rolled back/);
    const found = await source.getRepository('Mailbox').findOne({ where: { name: 'INBOX' }, relations: { messages: true } });
    assert.deepEqual(found.messages.map(({ subject }) => subject).sort(), ['one', 'two']);
    const one = await messages.findOneByOrFail({ subject: 'one' });
    assert.deepEqual([[...one.raw], one.date.getTime()], [[1, 2, 3], date.getTime()]);
    await source.runMigrations();
    const columns = await source.query('SELECT name FROM pragma_table_info(?)', ['message']);
    assert.ok(columns.some(({ name }) => name === 'flags'));
  } finally {
    await source.destroy();
  }
  assert.deepEqual(await readByPeer(file, 'SELECT count(*) AS n FROM message'), [{ n: 2 }]);
});
