'use strict';

// What a child process does in one go, without waiting for messages: known content to write and to
// check, transactions that are left open, endless ones that wait to be killed, shared writing.
//
// The content: table `cell`, whose every row fills a good part of a page and carries the number of
// the transaction that wrote it. A transaction writes its number into all rows, so after any
// recovery all rows must show one number, and each body must be the one of row and number.

const crypto = require('node:crypto');
const fs = require('node:fs');

function bodyOf(id, number, length) {
  let text = '';
  for (let part = 0; text.length < length; part += 1) {
    text += crypto.createHash('sha256').update(`${id}/${number}/${part}`).digest('hex');
  }
  return text.slice(0, length);
}

function createCells(db, cells, bodyLength) {
  db.exec('CREATE TABLE cell (id INTEGER PRIMARY KEY, number INTEGER NOT NULL, body TEXT NOT NULL)');
  const insert = db.prepare('INSERT INTO cell VALUES (?, 0, ?)');
  for (let id = 1; id <= cells; id += 1) insert.run(id, bodyOf(id, 0, bodyLength));
}

/** Creates the table and fills it in one transaction. */
function fillCells(db, cells, bodyLength) {
  db.transaction(createCells)(db, cells, bodyLength);
}

function writeCells(db, number) {
  const update = db.prepare('UPDATE cell SET number = ?, body = ? WHERE id = ?');
  for (const { id, length } of db.prepare('SELECT id, length(body) AS length FROM cell').all()) {
    update.run(number, bodyOf(id, number, length), id);
  }
}

/** One committed transaction. */
function commitCells(db, number) {
  db.transaction(writeCells)(db, number);
}

/** Writes and leaves the transaction open; with a small cache most pages have gone to the disk. */
function leaveOpen(db, number, cachePages, before = '') {
  db.pragma(`cache_size=${cachePages}`);
  db.exec(`BEGIN;${before}`);
  writeCells(db, number);
}

/**
 * Commits, but a second name keeps the journal that the commit deletes. Put back beside the file it
 * makes the state of a process that ended just before the deletion: page 1 and all others written,
 * every record counted.
 */
function commitKeepingJournal(db, number, keptName) {
  db.exec('BEGIN');
  writeCells(db, number);
  fs.linkSync(`${db.name}-journal`, keptName);
  db.exec('COMMIT');
}

/** The first transaction of a new file, left open after it has spilled. */
function leaveFirstOpen(db, cells, bodyLength) {
  db.pragma('cache_size=5');
  db.exec('BEGIN');
  createCells(db, cells, bodyLength);
}

/** Commits one number after the other and logs each; ends only when killed. */
function commitForever(db, first, logFile) {
  const log = fs.openSync(logFile, 'a');
  for (let number = first; ; number += 1) {
    commitCells(db, number);
    fs.writeSync(log, `${number}\n`);
  }
}

/** What the table shows: the numbers in it, how many bodies are wrong, and integrity_check. */
function readCells(db) {
  const rows = db.prepare('SELECT id, number, body FROM cell ORDER BY id').all();
  return {
    cells: rows.length,
    numbers: [...new Set(rows.map((row) => row.number))],
    wrongBodies: rows.filter((row) => row.body !== bodyOf(row.id, row.number, row.body.length)).length,
    integrity: db.pragma('integrity_check', { simple: true }),
  };
}

/**
 * Writes and reads beside another process until the time is over. Each commit adds the next number
 * of this side and counts it in `tally`; each read checks that tally and rows agree. The last
 * committed number goes to the log, for the case that this process is killed.
 */
function shareWriting(db, side, milliseconds, logFile) {
  const endAt = Date.now() + milliseconds;
  const log = logFile ? fs.openSync(logFile, 'a') : null;
  const insert = db.prepare('INSERT INTO entry (side, number, body) VALUES (?, ?, ?)');
  const count = db.prepare('UPDATE tally SET entries = entries + 1 WHERE side = ?');
  const next = db.prepare('SELECT entries + 1 AS number FROM tally WHERE side = ?').pluck();
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = db.prepare('COMMIT');
  const compare = db.prepare(`
    SELECT side, entries, (SELECT count(*) FROM entry WHERE entry.side = tally.side) AS found FROM tally`);
  const done = { commits: 0, reads: 0, busy: 0 };
  while (Date.now() < endAt) {
    try {
      begin.run();
      const number = next.get(side);
      insert.run(side, number, bodyOf(side, number, 40 + (number % 50) * 40));
      count.run(side);
      commit.run();
      done.commits += 1;
      if (log) fs.writeSync(log, `${number}\n`);
      if (done.commits % 8 === 0) {
        for (const row of compare.all()) {
          if (row.entries !== row.found) throw new Error(`${row.side}: tally ${row.entries}, rows ${row.found}`);
        }
        done.reads += 1;
      }
    } catch (error) {
      if (!String(error.code).startsWith('SQLITE_BUSY')) throw error;
      if (db.inTransaction) db.exec('ROLLBACK');
      done.busy += 1;
    }
  }
  return done;
}

/** The end of shareWriting(): per side the tally, the rows, the highest number and wrong bodies. */
function readShared(db) {
  const wrong = { ours: 0, peer: 0 };
  for (const { side, number, body } of db.prepare('SELECT side, number, body FROM entry').iterate()) {
    if (body !== bodyOf(side, number, body.length)) wrong[side] += 1;
  }
  const sides = db.prepare(`
    SELECT side, entries, count(number) AS rows, ifnull(max(number), 0) AS highest
    FROM tally LEFT JOIN entry USING (side) GROUP BY side`).all();
  return { sides, wrong, integrity: db.pragma('integrity_check', { simple: true }) };
}

/** Runs each [sql, ...args] on the tables as `setup` makes them: what it answers and what it leaves. */
function tryEach(db, setup, dump, statements) {
  db.exec(setup);
  return statements.map(([sql, ...args]) => {
    db.exec('BEGIN');
    try {
      return { ...answerOf(db, sql, args), rows: dump.map((query) => db.prepare(query).raw().all()) };
    } finally {
      db.exec('ROLLBACK');
    }
  });
}

function answerOf(db, sql, args) {
  try {
    const statement = db.prepare(sql).bind(...args);
    const { reader, readonly, source } = statement;
    const value = reader ? statement.raw().all() : statement.run().changes;
    return { value, reader, readonly, source, text: statement.toString() };
  } catch (error) {
    return { error: `${error.name} ${error.code}: ${error.message}` };
  }
}

module.exports = {
  tryEach,
  fillCells, commitCells, leaveOpen, commitKeepingJournal, leaveFirstOpen, commitForever, readCells,
  shareWriting, readShared,
};
