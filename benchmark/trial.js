// One trial in a process of its own: one configuration, one engine. The job comes as JSON in the first
// argument, the figures leave as JSON on standard output.
//
// Not here: which jobs there are (trials.js), who starts them (index.mjs).

'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { MESSAGES, createSchema } = require('../examples/mail-app/schema.js');
const { setupPragma } = require('../examples/mail-app/setup-pragma.js');

const PASSPHRASE = Buffer.from('correct horse battery staple');
const RAW_LEN = 3000;
const ROWS_PER_SELECT = 50;
const FOLDER_COUNT = 3;
const MIB = 1024 * 1024;

const SQL = {
  insert: `INSERT INTO messages
    (mailbox_id, uid, date, flags, subject, from_addr, to_addr, message_id, raw)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  select: `SELECT id, date, flags, subject FROM messages WHERE mailbox_id = ?
    ORDER BY date DESC LIMIT ${ROWS_PER_SELECT}`,
  update: 'UPDATE messages SET flags = ? WHERE id = ?',
  delete: 'DELETE FROM messages WHERE id = ?',
};

function runTrial(job) {
  const Database = require(job.modulePath);
  new Database(':memory:').close(); // loads the addon, which is no part of opening a mailbox
  const file = path.join(job.folder, 'mailbox.sqlite');
  const prefill = messages(0, job.prefill);
  if (job.first.length > 0) createFile(new Database(file), job);

  const start = performance.now();
  const db = setUp(new Database(file), job, prefill);
  const setupMs = performance.now() - start;

  const size = { mib: (value(db, 'page_count') * value(db, 'page_size')) / MIB };
  const autoVacuum = value(db, 'auto_vacuum');
  const suites = {};
  let firstUid = job.prefill;
  for (const suite of job.suites) {
    suites[suite.name] = runSuite(db, suite, firstUid, job.prefill);
    firstUid += suite.insert;
  }
  checkCount(db, job.prefill, Object.values(suites));
  const sqlite = db.prepare('SELECT sqlite_version() AS v').get().v;
  db.close();
  checkEncryption(file, job.scheme);
  return { setupMs, ...size, autoVacuum, suites, versions: { node: process.versions.node, sqlite } };
}

/** A file on which PRAGMAs are in force that come too late in the service's order. */
function createFile(db, { scheme, first }) {
  if (scheme !== null) {
    db.pragma(`cipher='${scheme}'`);
    db.key(PASSPHRASE);
  }
  for (const [name, setting] of first) db.pragma(`${name}=${setting}`);
  db.exec('CREATE TABLE t (a); DROP TABLE t');
  db.close();
}

/** Open has happened; key, PRAGMAs, tables, and the first messages in one transaction. */
function setUp(db, job, prefill) {
  setupPragma(db, {
    passphrase: PASSPHRASE,
    tempDirectory: job.folder,
    schemes: job.scheme === null ? [] : [job.scheme],
    pragmas: job.pragmas,
  });
  createSchema(db, [MESSAGES]);
  const insert = db.prepare(SQL.insert);
  db.transaction(() => {
    for (const message of prefill) insert.run(message);
  })();
  return db;
}

/** What was done of each kind, and how fast. Deletes take away what the inserts added. */
function runSuite(db, suite, firstUid, prefill) {
  const insert = db.prepare(SQL.insert);
  const select = db.prepare(SQL.select);
  const update = db.prepare(SQL.update);
  const remove = db.prepare(SQL.delete);
  const fresh = messages(firstUid, suite.insert);
  const ids = [];
  const timed = (kind, most, operation) => time(Math.min(suite[kind], most), suite.limitMs ?? Infinity, operation);
  return {
    insert: timed('insert', Infinity, (i) => ids.push(insert.run(fresh[i]).lastInsertRowid)),
    select: timed('select', Infinity, (i) => {
      if (select.all((i % FOLDER_COUNT) + 1).length !== ROWS_PER_SELECT) throw new Error('a listing is too short');
    }),
    update: timed('update', Infinity, (i) => update.run(`\\Seen ${firstUid}`, ((i * 7919) % prefill) + 1)),
    // Evaluated last, so all ids are known.
    delete: timed('delete', ids.length, (i) => remove.run(ids[i])),
  };
}

function time(count, limitMs, operation) {
  const start = performance.now();
  let done = 0;
  let elapsedMs = 0;
  while (done < count && elapsedMs < limitMs) {
    operation(done);
    done += 1;
    elapsedMs = performance.now() - start;
  }
  return { done, perSecond: done / (elapsedMs / 1000) };
}

/** Made before the clock starts. A third of them carries a flag, so the partial index is in use. */
function messages(firstUid, count) {
  return Array.from({ length: count }, (_, n) => {
    const uid = firstUid + n;
    return [
      (uid % FOLDER_COUNT) + 1,
      uid,
      1_700_000_000_000 + uid * 60_000,
      Math.floor(uid / FOLDER_COUNT) % 3 === 0 ? '\\Seen' : null,
      `Subject of message number ${uid}`,
      `sender${uid % 50}@example.org`,
      'me@example.com',
      `<${uid}@mail.example>`,
      Buffer.alloc(RAW_LEN, `line ${uid} of a mail that is as long as most are\r\n`),
    ];
  });
}

function value(db, pragma) {
  return db.pragma(pragma, { simple: true });
}

/** A fast engine that loses messages has not won. */
function checkCount(db, prefill, suites) {
  const expected = suites.reduce((n, suite) => n + suite.insert.done - suite.delete.done, prefill);
  assert.equal(db.prepare('SELECT count(*) AS n FROM messages').get().n, expected);
}

/** A figure for "encrypted" must come from a file that is. */
function checkEncryption(file, scheme) {
  const clear = fs.readFileSync(file).toString('latin1', 0, 15) === 'SQLite format 3';
  assert.equal(clear, scheme === null, `scheme ${scheme}, but the file ${clear ? 'is' : 'is not'} clear text`);
}

process.stdout.write(JSON.stringify(runTrial(JSON.parse(process.argv[2]))));
