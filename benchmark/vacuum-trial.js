// One stage of benchmark:vacuum in a process of its own: `fill` makes a mailbox with every second message
// deleted, `vacuum` opens it, vacuums and says how long that took and the most memory the process had.

'use strict';

const path = require('node:path');
const { createSchema, MESSAGES } = require('../examples/mail-app/schema.js');
const { PRODUCTION, setupPragma } = require('../examples/mail-app/setup-pragma.js');
const { fill } = require('./workloads.js');

const PASSPHRASE = Buffer.from('correct horse battery staple');
const MIB = 1024 * 1024;

function open({ module, scheme, folder, directory }) {
  const Database = require(module);
  const db = new Database(path.join(folder, 'mailbox.sqlite'));
  // The empty directory is SQLite's way to say: as if none had been named.
  setupPragma(db, { passphrase: PASSPHRASE, tempDirectory: directory ?? '', schemes: scheme === null ? [] : [scheme], pragmas: PRODUCTION });
  return db;
}

const stages = {
  fill(db, { messages }) {
    createSchema(db, [MESSAGES]);
    for (let first = 0; first < messages; first += 1000) fill(db, first, Math.min(1000, messages - first));
    db.exec('DELETE FROM messages WHERE id % 2 = 0; PRAGMA wal_checkpoint(TRUNCATE)');
    return {};
  },
  vacuum(db) {
    const pages = db.pragma('page_count', { simple: true }) * db.pragma('page_size', { simple: true });
    const start = performance.now();
    db.exec('VACUUM');
    const seconds = (performance.now() - start) / 1000;
    return { mib: pages / MIB, seconds, peakMib: process.resourceUsage().maxRSS / 1024 };
  },
};

const job = JSON.parse(process.argv[2]);
const db = open(job);
process.stdout.write(JSON.stringify(stages[job.stage](db, job)));
db.close();
