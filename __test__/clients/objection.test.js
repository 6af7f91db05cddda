'use strict';

const assert = require('node:assert/strict');
const test = require('node:test');
const { tempFile } = require('../support/database');
const { KEY, installed, readByPeer } = require('./client');

test('objection: models with relations, graphs and a transaction', async (t) => {
  await installed();
  const { Model, transaction } = require('objection');
  const file = tempFile(t);
  const knex = require('knex')({
    client: 'better-sqlite3', connection: { filename: file }, useNullAsDefault: true,
    pool: { afterCreate(db, done) { db.pragma("cipher='chacha20'"); db.key(Buffer.from(KEY)); done(null, db); } },
  });
  class Message extends Model {
    static tableName = 'messages';
  }
  class Mailbox extends Model {
    static tableName = 'mailboxes';
    static relationMappings = {
      messages: { relation: Model.HasManyRelation, modelClass: Message, join: { from: 'mailboxes.id', to: 'messages.mailboxId' } },
    };
  }
  try {
    await knex.schema
      .createTable('mailboxes', (table) => { table.increments(); table.string('name'); })
      .createTable('messages', (table) => { table.increments(); table.integer('mailboxId').references('mailboxes.id'); table.string('subject'); });
    Model.knex(knex);
    await Mailbox.query().insertGraph({ name: 'INBOX', messages: [{ subject: 'one' }, { subject: 'two' }] });
    await assert.rejects(transaction(Mailbox.knex(), async (trx) => {
      await Mailbox.query(trx).insert({ name: 'never' });
      throw new Error('rolled back');
    }), /rolled back/);
    const inbox = await Mailbox.query().findOne({ name: 'INBOX' }).withGraphFetched('messages');
    assert.deepEqual(inbox.messages.map(({ subject }) => subject), ['one', 'two']);
    assert.equal(await Message.query().patch({ subject: 'changed' }).where('id', 2), 1);
    assert.equal(await Mailbox.query().resultSize(), 1);
  } finally {
    await knex.destroy();
  }
  assert.deepEqual(await readByPeer(file, 'SELECT subject FROM messages ORDER BY id'), [{ subject: 'one' }, { subject: 'changed' }]);
});
