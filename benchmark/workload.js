// One workload of one side, in a process of its own: the job comes as JSON in the first argument, the figure
// leaves as JSON on standard output. Runs under Node and, for bun:sqlite, under Bun.

'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { createSchema, MESSAGES } = require('../examples/mail-app/schema.js');
const { PRODUCTION, setupPragma } = require('../examples/mail-app/setup-pragma.js');
const { WORKLOADS, fill } = require('./workloads.js');

const PASSPHRASE = Buffer.from('correct horse battery staple');

function main(job) {
  const workload = WORKLOADS.find(({ name }) => name === job.workload);
  const Database = load(job.module);
  if (workload.keyCache) Database.keyCache?.({ entries: 8, ttl: 60_000 });
  const file = path.join(job.folder, 'mailbox.sqlite');
  const open = () => openMailbox(Database, file, job);
  const db = open();
  createTables(db);
  const filled = Math.min(workload.prefill ?? 0, job.most);
  if (filled > 0) fill(db, 0, filled);
  const figure = workload.run({ db, open, filled, times: (n) => Math.ceil(n * job.scale) });
  db.close();
  checkEncryption(file, job.scheme);
  return { figure, runtime: process.versions.bun ? `Bun ${process.versions.bun}` : `Node ${process.versions.node}` };
}

/** The SQLite modules of the runtimes have other names for the same calls. */
function load(module) {
  switch (module) {
    case 'node:sqlite': return require('node:sqlite').DatabaseSync;
    case 'bun:sqlite': return require('bun:sqlite').Database;
    default: return require(module);
  }
}

function openMailbox(Database, file, { scheme, folder }) {
  const db = new Database(file);
  if (db.pragma) {
    setupPragma(db, { passphrase: PASSPHRASE, tempDirectory: folder, schemes: scheme ? [scheme] : [] });
  } else {
    db.exec('PRAGMA journal_mode=WAL');
    for (const [name, value] of PRODUCTION) db.exec(`PRAGMA ${name}=${value}`);
  }
  return db;
}

function createTables(db) {
  if (db.pragma) createSchema(db, [MESSAGES]);
  else {
    db.exec(MESSAGES);
    for (const name of ['INBOX', 'Sent Mail', 'Trash']) {
      db.exec(`INSERT INTO mailboxes (name, path, uidvalidity, uidnext) VALUES ('${name}', '${name}', 1, 1)`);
    }
  }
}

/** A figure for "encrypted" must come from a file that is. */
function checkEncryption(file, scheme) {
  const clear = fs.readFileSync(file).toString('latin1', 0, 15) === 'SQLite format 3';
  if (clear !== (scheme === null)) throw new Error(`scheme ${scheme}, but the file ${clear ? 'is' : 'is not'} clear text`);
}

process.stdout.write(JSON.stringify(main(JSON.parse(process.argv[2]))));
