'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');
const { tempDir, tempFile } = require('../support/database');
const { KEY, installed, readByPeer } = require('./client');

test('drizzle: tables, inserts, joins, prepared statements, transactions, migrations', async (t) => {
  await installed();
  const Database = require('better-sqlite3');
  const { drizzle } = require('drizzle-orm/better-sqlite3');
  const { migrate } = require('drizzle-orm/better-sqlite3/migrator');
  const { blob, integer, sqliteTable, text } = require('drizzle-orm/sqlite-core');
  const { eq, sql } = require('drizzle-orm');
  const mailboxes = sqliteTable('mailboxes', { id: integer('id').primaryKey(), name: text('name').notNull() });
  const messages = sqliteTable('messages', {
    id: integer('id').primaryKey({ autoIncrement: true }),
    mailboxId: integer('mailbox_id').references(() => mailboxes.id),
    subject: text('subject'),
    raw: blob('raw', { mode: 'buffer' }),
    big: blob('big', { mode: 'bigint' }),
  });
  const file = tempFile(t);
  const client = new Database(file);
  client.pragma("cipher='chacha20'");
  client.key(Buffer.from(KEY));
  const db = drizzle(client);
  migrate(db, { migrationsFolder: migrations(t) });
  db.insert(mailboxes).values([{ id: 1, name: 'INBOX' }, { id: 2, name: 'Trash' }]).run();
  const inserted = db.insert(messages).values({ mailboxId: 1, subject: 'one', raw: Buffer.from([7]), big: 2n ** 60n }).returning().get();
  assert.deepEqual([inserted.id, inserted.subject, inserted.big], [1, 'one', 2n ** 60n]);
  assert.throws(() => db.transaction((trx) => {
    trx.delete(messages).run();
    throw new Error('rolled back');
  }), /rolled back/);
  const byName = db.select({ name: mailboxes.name, subject: messages.subject }).from(messages)
    .innerJoin(mailboxes, eq(mailboxes.id, messages.mailboxId)).where(eq(mailboxes.name, sql.placeholder('name'))).prepare();
  assert.deepEqual(byName.all({ name: 'INBOX' }), [{ name: 'INBOX', subject: 'one' }]);
  assert.deepEqual(db.get(sql`SELECT count(*) AS n FROM ${messages}`), { n: 1 });
  client.close();
  assert.deepEqual(await readByPeer(file, 'SELECT name FROM mailboxes ORDER BY id'), [{ name: 'INBOX' }, { name: 'Trash' }]);
});

/** A folder as drizzle-kit writes it. */
function migrations(t) {
  const folder = tempDir(t);
  fs.mkdirSync(path.join(folder, 'meta'));
  fs.writeFileSync(path.join(folder, 'meta', '_journal.json'), JSON.stringify({
    version: '7', dialect: 'sqlite', entries: [{ idx: 0, version: '6', when: 1700000000000, tag: '0000_first', breakpoints: true }],
  }));
  fs.writeFileSync(path.join(folder, '0000_first.sql'), `CREATE TABLE mailboxes (id integer PRIMARY KEY, name text NOT NULL);
--> statement-breakpoint
CREATE TABLE messages (id integer PRIMARY KEY AUTOINCREMENT, mailbox_id integer REFERENCES mailboxes(id), subject text, raw blob, big blob);`);
  return folder;
}
