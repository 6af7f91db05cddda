'use strict';

// Runs the command line in a process of its own, and makes databases for it.

const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');
const { isPeer, open, tempFile } = require('../support/database.js');

const CLI = path.join(__dirname, '..', '..', 'cli', 'sealite.js');
const KEY = 'correct horse';
const OTHER = 'battery staple';
const ENV = { KEY, OTHER };
const ROWS = 200;

/** A test of the command line, which the replaced package has none of. */
const cliTest = (name, fn) => test(name, { skip: isPeer ? 'the replaced package has no command line' : false }, fn);

/** Runs `sealite ...words`; `input` is what file descriptor 0 gives. */
function run(words, { input = '', env = ENV } = {}) {
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, [CLI, ...words], {
    input, encoding: 'utf8', env: { ...process.env, ...env },
  });
  return { code: signal ?? status, out: stdout, err: stderr };
}

/** The same with `--json`; gives what it printed as an object, and the exit code. */
function runJson(words, options) {
  const { code, out, err } = run([...words, '--json'], options);
  return { code, err, ...JSON.parse(out) };
}

/** Writes a database under these PRAGMAs and key (null: plain); gives its path. */
function write(t, pragmas = ["cipher='chacha20'", 'kdf_iter=10'], { key = KEY, wal = false, name = 'mail.db' } = {}) {
  const db = open(t, tempFile(t, name));
  if (key !== null) {
    for (const pragma of pragmas) db.pragma(pragma);
    db.key(Buffer.from(key));
  }
  if (wal) db.pragma('journal_mode=WAL');
  db.exec('CREATE TABLE t (x INTEGER PRIMARY KEY, y TEXT)');
  const insert = db.prepare('INSERT INTO t (y) VALUES (?)');
  db.transaction(() => { for (let n = 0; n < ROWS; n += 1) insert.run(`row ${n} `.repeat(20)); })();
  db.close();
  return db.name;
}

/** Opens it and asserts nothing but that its rows are there; gives the connection. */
function rowsIn(t, file, pragmas, key) {
  const db = open(t, file, { fileMustExist: true });
  for (const pragma of pragmas) db.pragma(pragma);
  if (key !== null) db.key(Buffer.from(key));
  const count = db.prepare('SELECT count(*) FROM t').pluck().get();
  const sound = db.pragma('integrity_check', { simple: true });
  const journalMode = db.pragma('journal_mode', { simple: true });
  db.close();
  return { count, sound, journalMode };
}

/** The names in the folder of a file. */
const beside = (file) => fs.readdirSync(path.dirname(file)).sort();

module.exports = { CLI, KEY, OTHER, ENV, ROWS, cliTest, run, runJson, write, rowsIn, beside };
