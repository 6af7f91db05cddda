'use strict';

// The stored files of __test__/fixtures and their manifest; a test gets a copy, never the file.

const fs = require('node:fs');
const path = require('node:path');
const { tempDir } = require('../support/database.js');

const folder = path.join(__dirname, '..', 'fixtures');
const manifest = JSON.parse(fs.readFileSync(path.join(folder, 'manifest.json'), 'utf8'));
/** Those of the replaced package hold a mailbox, those of SQLCipher one table. */
const mailboxes = manifest.filter(({ table }) => table === undefined);
const sqlcipherFiles = manifest.filter(({ table }) => table !== undefined);

/** Copies a stored database, with its WAL if it has one; gives the path of the copy. */
function copyStored(t, name) {
  const target = path.join(tempDir(t), name);
  for (const suffix of ['', '-wal']) {
    const source = path.join(folder, name + suffix);
    if (fs.existsSync(source)) fs.copyFileSync(source, target + suffix);
  }
  return target;
}

/** How a stored database is opened, for unlock() of processes.js. */
function lockOf({ pragmas, key }) {
  if (key === null) return { pragmas };
  return { pragmas, key: key.hex === undefined ? key.text : Buffer.from(key.hex, 'hex') };
}

module.exports = { manifest, mailboxes, sqlcipherFiles, copyStored, lockOf };
