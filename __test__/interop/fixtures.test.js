'use strict';

// Files that the replaced package wrote open here with the content their manifest states: all page
// sizes, schemes, kinds of keys and parameters, and WALs that a killed process left behind; and files
// of SQLCipher itself.
// The manifest's digests were computed with the replaced package; see contentDigest().

const test = require('node:test');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const { open, overruled, tempDir } = require('../support/database.js');
const { contentDigest } = require('./content.js');
const { manifest, mailboxes, sqlcipherFiles, copyStored, lockOf } = require('./stored.js');
const { unlockHere, shared } = require('./processes.js');

const processOf = shared();

/** Everything the manifest says about a stored file, as `db` sees it. */
function describe(db) {
  return {
    messages: db.prepare('SELECT count(*) FROM messages').pluck().get(),
    searchable: db.prepare('SELECT count(*) FROM search').pluck().get(),
    pageSize: db.pragma('page_size', { simple: true }),
    journalMode: db.pragma('journal_mode', { simple: true }),
    content: contentDigest(db),
  };
}

function expected({ messages, searchable, pageSize, journalMode, content }) {
  return { messages, searchable, pageSize, journalMode, content };
}

test('the manifest lists each scheme and each special file', () => {
  const names = manifest.map((entry) => entry.file);
  assert.equal(names.length, 34);
  assert.equal(sqlcipherFiles.length, 5);
  const stored = fs.readdirSync(`${__dirname}/../fixtures`).filter((name) => name.endsWith('.db'));
  assert.deepEqual(stored.sort(), [...names].sort());
});

for (const entry of mailboxes) {
  test(`${entry.file} opens read-only with the stated content`, (t) => {
    const file = copyStored(t, entry.file);
    const before = fs.readFileSync(file);
    const db = unlockHere(open(t, file, { readonly: true }), lockOf(entry));
    assert.deepEqual(describe(db), expected(entry));
    db.close();
    assert.ok(fs.readFileSync(file).equals(before), 'a read-only connection changed the file');
  });

  test(`${entry.file} opens for writing, is sound, takes a change and shows it again`, (t) => {
    const file = copyStored(t, entry.file);
    const lock = lockOf(entry);
    const db = unlockHere(open(t, file), lock);
    assert.deepEqual(describe(db), expected(entry));
    assert.equal(db.pragma('integrity_check', { simple: true }), 'ok');
    assert.equal(db.prepare("SELECT count(*) > 0 FROM search WHERE search MATCH 'meeting'").pluck().get(), 1);
    db.prepare('UPDATE messages SET subject = ? WHERE id = 1').run('changed here');
    db.prepare('DELETE FROM messages WHERE id = 2').run();
    db.close();
    const again = unlockHere(open(t, file), lock);
    assert.equal(again.prepare('SELECT subject FROM messages WHERE id = 1').pluck().get(), 'changed here');
    assert.equal(again.prepare('SELECT count(*) FROM messages').pluck().get(), entry.messages - 1);
    assert.equal(again.pragma('integrity_check', { simple: true }), 'ok');
  });

  test(`${entry.file}, changed here, goes back to the replaced package`, async (t) => {
    const file = copyStored(t, entry.file);
    const lock = lockOf(entry);
    const db = unlockHere(open(t, file), lock);
    db.prepare('UPDATE messages SET subject = ?').run('handed back');
    db.close();
    const peer = await processOf('peer');
    const connection = await peer.open(file, lock);
    const found = await connection.get("SELECT count(*) AS n FROM messages WHERE subject = 'handed back'");
    assert.deepEqual(found, { n: entry.messages });
    assert.equal(await connection.pragma('integrity_check'), 'ok');
    await connection.close();
  });

  if (entry.key === null) continue;

  // The replaced package recovers a WAL under whatever key it is given, and damages the file.
  const testHere = entry.hotWal ? overruled : test;
  testHere(`${entry.file} does not open under another key, and is not changed by the attempt`, (t) => {
    const file = copyStored(t, entry.file);
    const before = fs.readFileSync(file);
    const db = unlockHere(open(t, file), { ...lockOf(entry), key: Buffer.from('not the key') });
    assert.throws(() => db.prepare('SELECT count(*) FROM messages').get(), { code: 'SQLITE_NOTADB' });
    db.close();
    assert.ok(fs.readFileSync(file).equals(before));
    const again = unlockHere(open(t, file), lockOf(entry));
    assert.deepEqual(describe(again), expected(entry));
  });
}

for (const entry of sqlcipherFiles) {
  const { file: name, table, rows, lastRow, pageSize, journalMode } = entry;
  const read = (db) => {
    assert.equal(db.prepare(`SELECT count(*) FROM ${table}`).pluck().get(), rows);
    assert.deepEqual(db.prepare(`SELECT * FROM ${table} ORDER BY rowid DESC`).raw().get(), [rows, lastRow]);
    assert.equal(db.pragma('page_size', { simple: true }), pageSize);
    assert.equal(db.pragma('journal_mode', { simple: true }), journalMode);
    assert.equal(db.pragma('integrity_check', { simple: true }), 'ok');
  };

  test(`${name} of SQLCipher opens read-only and for writing, here and in the replaced package`, async (t) => {
    const file = copyStored(t, name);
    const lock = lockOf(entry);
    const readonly = unlockHere(open(t, file, { readonly: true }), lock);
    read(readonly);
    readonly.close();
    const db = unlockHere(open(t, file), lock);
    read(db);
    db.prepare(`UPDATE ${table} SET b = 'changed here' WHERE a % 2`).run();
    db.close();
    const connection = await (await processOf('peer')).open(file, lock);
    const found = await connection.get(`SELECT count(*) AS n FROM ${table} WHERE b = 'changed here'`);
    assert.deepEqual(found, { n: rows / 2 });
    assert.equal(await connection.pragma('integrity_check'), 'ok');
    await connection.close();
  });
}

test('a hot WAL holds rows that the file alone does not', (t) => {
  for (const entry of mailboxes.filter(({ hotWal }) => hotWal)) {
    const file = copyStored(t, entry.file);
    const bare = `${tempDir(t)}/bare.db`;
    fs.copyFileSync(file, bare);
    const db = unlockHere(open(t, bare), lockOf(entry));
    assert.notEqual(db.prepare('SELECT count(*) FROM messages').pluck().get(), entry.messages);
  }
});
