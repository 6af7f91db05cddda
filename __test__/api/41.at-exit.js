'use strict';

// What becomes of open databases when a process or a worker ends (C-32.2, C-32.3) and when they
// are collected (C-32.5).

const test = require('node:test');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const { spawnSync } = require('node:child_process');
const { Worker } = require('node:worker_threads');
const {
  Database, modulePath, overruled, open, tempFile, throwsBusy,
} = require('../support/database.js');
const { collect, collectUntil } = require('../support/gc.js');

/** Code that leaves a WAL database behind with an open statement, iterator and transaction. */
const untidy = (file, ending) => `
  const Database = require(${JSON.stringify(modulePath)});
  const db = new Database(${JSON.stringify(file)});
  db.pragma('journal_mode = WAL');
  db.exec('CREATE TABLE t (x); INSERT INTO t VALUES (1), (2); BEGIN; INSERT INTO t VALUES (3)');
  db.function('f', (x) => x);
  db.aggregate('a', { start: () => [], step: (list, x) => { list.push(x); }, inverse: (list) => { list.shift(); }, result: (list) => list.length });
  db.table('v', { columns: ['y'], * rows(x) { yield [x]; yield [x]; } });
  const statement = db.prepare('select x from t');
  const rows = db.prepare('select f(x), y, a(x) over (rows 1 preceding) from t, v(x)').iterate();
  rows.next();
  globalThis.kept = [db, statement, rows];
  ${ending}`;

const run = (code) => spawnSync(process.execPath, ['-e', code], { encoding: 'utf8' });
const content = (t, file) => open(t, file).prepare('select x from t').pluck().all();

test('a process that ends normally closes its databases (C-32.2)', (t) => {
  const file = tempFile(t);
  const { status, signal, stderr } = run(untidy(file, ''));
  assert.deepEqual([status, signal], [0, null], stderr);
  assert.equal(fs.existsSync(`${file}-wal`), false);
  assert.deepEqual(content(t, file), [1, 2]);
});

for (const [what, ending, code] of [
  ['process.exit()', 'process.exit(7)', 7],
  ['an uncaught exception', "throw new Error('on purpose')", 1],
]) {
  test(`after ${what} the data is safe (C-32.3)`, (t) => {
    const file = tempFile(t);
    const { status, signal } = run(untidy(file, ending));
    assert.deepEqual([status, signal], [code, null]);
    assert.deepEqual(content(t, file), [1, 2]);
    assert.equal(fs.existsSync(`${file}-wal`), true);
  });
}

test('a worker that ends closes its databases (C-32.2)', async (t) => {
  const file = tempFile(t);
  const worker = new Worker(untidy(file, ''), { eval: true });
  const code = await new Promise((resolve, reject) => worker.on('exit', resolve).on('error', reject));
  assert.equal(code, 0);
  assert.equal(fs.existsSync(`${file}-wal`), false);
  assert.deepEqual(content(t, file), [1, 2]);
});

test('a worker that exits closes its databases (C-32.2)', async (t) => {
  const file = tempFile(t);
  const worker = new Worker(untidy(file, 'process.exit(3)'), { eval: true });
  const code = await new Promise((resolve, reject) => worker.on('exit', resolve).on('error', reject));
  assert.equal(code, 3);
  assert.equal(fs.existsSync(`${file}-wal`), false);
  assert.deepEqual(content(t, file), [1, 2]);
});

const fdDir = '/proc/self/fd';
const noFdDir = fs.existsSync(fdDir) ? false : `no ${fdDir} on this system to see open files in`;

function isOpenFile(file) {
  return fs.readdirSync(fdDir).some((fd) => {
    try {
      return fs.readlinkSync(`${fdDir}/${fd}`) === file;
    } catch {
      return false; // the descriptor of the directory that is being read
    }
  });
}

for (const [what, use] of [
  ['', () => {}],
  [' with a statement', (db) => db.prepare('select x from t').get()],
  [' with a finished iterator', (db) => [...db.prepare('select x from t').iterate()]],
  [' with an unfinished iterator', (db) => db.prepare('select x from t').iterate().next()],
  [' in a transaction', (db) => db.exec('BEGIN; INSERT INTO t VALUES (5)')],
]) {
  test(`an unreferenced database${what} is closed by collection (C-32.5)`, { skip: noFdDir }, async (t) => {
    const file = tempFile(t);
    (function openAndForget() {
      const db = new Database(file);
      db.exec('CREATE TABLE t (x); INSERT INTO t VALUES (1), (2)');
      use(db);
    })();
    assert.equal(isOpenFile(file), true);
    assert.equal(await collectUntil(() => !isOpenFile(file)), true);
    assert.deepEqual(content(t, file), [1, 2]);
  });
}

// The replaced package keeps such a database open for ever.
for (const [what, use] of [
  ['function', (db) => db.function('f', () => Number(db.open)).prepare('select f()').get()],
  ['aggregate', (db) => db.aggregate('a', { start: () => [db], step: () => {}, result: () => Number(db.open) }).prepare('select a()').get()],
  ['table', (db) => db.table('v', { columns: ['x'], * rows() { yield [Number(db.open)]; } }).prepare('select x from v').get()],
  ['factory', (db) => db.table('m', () => ({ columns: ['x'], * rows() { yield [db.name]; } })).exec('CREATE VIRTUAL TABLE v USING m')],
  ['table that is iterated', (db) => db.table('v', { columns: ['x'], * rows() { yield [1]; yield [db.name]; } }).prepare('select x from v').iterate().next()],
]) {
  overruled(`an unreferenced database with a ${what} that refers to it is closed by collection (C-32.5)`, async (t) => {
    if (noFdDir) return t.skip(noFdDir);
    const file = tempFile(t);
    (function openAndForget() {
      const db = new Database(file, { verbose: () => db });
      db.exec('CREATE TABLE t (x)');
      use(db);
    })();
    assert.equal(isOpenFile(file), true);
    assert.equal(await collectUntil(() => !isOpenFile(file)), true);
  });
}

for (const [what, keep, use] of [
  ['a statement', (db) => db.prepare('select x from t').pluck(), (kept) => kept.get()],
  ['an iterator', (db) => db.prepare('select x from t').pluck().iterate(), (kept) => kept.next().value],
  ['a transaction function', (db) => db.transaction(() => 1), (kept) => kept()],
]) {
  test(`${what} keeps its database alive (C-32.5, C-10.10)`, async (t) => {
    const kept = (function openAndKeepOne() {
      const db = new Database(tempFile(t));
      db.exec('CREATE TABLE t (x); INSERT INTO t VALUES (1), (2)');
      return keep(db);
    })();
    let rounds = 0;
    await collectUntil(() => (rounds += 1) > 3);
    assert.equal(use(kept), 1);
    const db = kept.database || kept.statement.database;
    if (kept.return) kept.return();
    db.close();
  });
}

test('the verbose function lives as long as its database (C-32.5)', async (t) => {
  let calls = 0;
  const db = open(t, ':memory:', { verbose: (() => () => { calls += 1; })() });
  let rounds = 0;
  await collectUntil(() => (rounds += 1) > 3);
  db.exec('select 1');
  assert.equal(calls, 1);
});

test('many forgotten databases and statements do no harm (C-32.5)', (t) => {
  for (let round = 0; round < 200; round += 1) {
    const db = new Database(':memory:');
    db.exec('CREATE TABLE t (x); INSERT INTO t VALUES (1), (2)');
    for (let n = 0; n < 5; n += 1) db.prepare('select x from t').iterate().next();
    if (round % 50 === 0) collect();
  }
  collect();
  const db = open(t);
  const rows = db.prepare('select 1').iterate();
  throwsBusy(() => db.close());
  rows.return();
});
