'use strict';

// Where the key of a connection meets another one: a file that somebody else creates meanwhile, a
// database that VACUUM writes for an attached one, a key in the middle of a transaction.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const { open, overruled, tempFile } = require('../support/database.js');
const { isWhole, makeFile, openWith, unlock } = require('./lock.js');

const chacha20 = { pragmas: ["cipher='chacha20'"], key: Buffer.from('first') };
const aes256cbc = { pragmas: ["cipher='aes256cbc'"], key: Buffer.from('second') };

overruled('two connections that key the same new file: the second works after the first has written', (t) => {
  const file = tempFile(t);
  const second = openWith(t, file, chacha20);
  makeFile(t, file, chacha20);
  isWhole(second);
  second.exec('UPDATE note SET body = body WHERE id = 1');
  isWhole(openWith(t, file, chacha20));
});

overruled('VACUUM of an attached database into a file keeps its key, also from a plain main', (t) => {
  const attached = makeFile(t, tempFile(t), aes256cbc);
  const copy = tempFile(t);
  const db = open(t, tempFile(t));
  db.pragma("cipher='aes256cbc'");
  db.prepare("ATTACH ? AS other KEY 'second'").run(attached);
  db.prepare('VACUUM other INTO ?').run(copy);
  assert.notEqual(fs.readFileSync(copy).toString('latin1', 0, 15), 'SQLite format 3');
  isWhole(openWith(t, copy, aes256cbc));
});

overruled('a key inside a transaction is refused, and the transaction goes on', (t) => {
  const file = makeFile(t, tempFile(t), chacha20);
  const db = openWith(t, file, chacha20);
  db.exec('BEGIN; DELETE FROM note WHERE id = 1');
  assert.throws(() => unlock(db, aes256cbc), { code: 'SQLITE_ERROR' });
  db.exec('ROLLBACK');
  isWhole(db);
});
