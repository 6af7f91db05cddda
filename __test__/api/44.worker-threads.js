'use strict';

// Several threads (C-32.1, C-32.4, C-32.6, C-10.2).

const test = require('node:test');
const assert = require('node:assert/strict');
const { once } = require('node:events');
const { Worker } = require('node:worker_threads');
const { SqliteError, modulePath, afterTest, overruled, open, openFile, tempFile } = require('../support/database.js');

/** Starts `code` in a worker that has Database, SqliteError, parentPort and workerData. */
function startWorker(t, code, workerData = undefined) {
  const head = `
    const Database = require(${JSON.stringify(modulePath)});
    const { SqliteError } = Database;
    const { parentPort, workerData } = require('node:worker_threads');`;
  const worker = new Worker(head + code, { eval: true, workerData });
  afterTest(t, () => worker.terminate());
  return worker;
}

/** The first message of a worker; its uncaught errors reject. */
async function answer(worker) {
  const [message] = await once(worker, 'message');
  return message;
}

test('rows and results can be posted between threads (C-32.1)', async (t) => {
  const got = await answer(startWorker(t, `
    const db = new Database(':memory:');
    db.exec('CREATE TABLE t (a, b, c, d)');
    const result = db.prepare('INSERT INTO t VALUES (?, ?, ?, ?)').run(5n, 1.5, 'text', Buffer.from('blob'));
    parentPort.postMessage([result, db.prepare('select * from t').get(), db.prepare('select 7').safeIntegers().pluck().get()]);`));
  const [result, { d, ...row }, seven] = got;
  assert.deepEqual(result, { changes: 1, lastInsertRowid: 1 });
  assert.deepEqual(row, { a: 5, b: 1.5, c: 'text' });
  assert.equal(Buffer.from(d).toString(), 'blob');
  assert.equal(seven, 7n);
});

test('threads write to the same file in turns (C-32.1)', async (t) => {
  const db = openFile(t);
  db.pragma('journal_mode = WAL');
  db.exec('CREATE TABLE t (worker, n)');
  const code = `
    const db = new Database(workerData.file, { timeout: 30000 });
    const insert = db.prepare('INSERT INTO t VALUES (?, ?)');
    for (let n = 0; n < 50; n += 1) insert.run(workerData.worker, n);
    db.close();
    parentPort.postMessage('done');`;
  const workers = [1, 2, 3].map((worker) => startWorker(t, code, { file: db.name, worker }));
  assert.deepEqual(await Promise.all(workers.map(answer)), ['done', 'done', 'done']);
  assert.deepEqual(db.prepare('select worker, count(*) as n from t group by worker').all(), [
    { worker: 1, n: 50 }, { worker: 2, n: 50 }, { worker: 3, n: 50 },
  ]);
});

test('an encrypted file can be used by several threads', async (t) => {
  const file = tempFile(t);
  const db = open(t, file);
  db.key(Buffer.from('secret'));
  db.exec('CREATE TABLE t (x); INSERT INTO t VALUES (5)');
  const code = `
    const db = new Database(workerData);
    db.key(Buffer.from('secret'));
    parentPort.postMessage(db.prepare('select x from t').pluck().get());
    db.close();`;
  assert.deepEqual(await Promise.all([1, 2, 3].map(() => answer(startWorker(t, code, file)))), [5, 5, 5]);
});

test('each thread has its own classes (C-10.2, C-4.14)', async (t) => {
  const { constructor: Statement } = open(t).prepare('select 1');
  Statement.mark = 'main';
  afterTest(t, () => delete Statement.mark);
  const seen = await answer(startWorker(t, `
    const db = new Database(':memory:');
    let own = false;
    try { db.exec('nonsense'); } catch (error) { own = error instanceof SqliteError && error.code; }
    parentPort.postMessage([String(db.prepare('select 1').constructor.mark), own]);`));
  assert.deepEqual(seen, ['undefined', 'SQLITE_ERROR']);
  assert.equal(Statement.mark, 'main');
});

test('safe integers and verbose belong to their connection (C-20.2)', async (t) => {
  const lines = [];
  const db = open(t, ':memory:', { verbose: (line) => lines.push(line) }).defaultSafeIntegers();
  const type = await answer(startWorker(t, `
    parentPort.postMessage(typeof new Database(':memory:').prepare('select 1').pluck().get());`));
  assert.equal(type, 'number');
  assert.deepEqual(lines, []);
  assert.equal(db.prepare('select 1').pluck().get(), 1n);
});

test('databases, statements and iterators cannot be posted (C-32.1)', (t) => {
  const db = open(t);
  const statement = db.prepare('select 1');
  const rows = statement.iterate();
  for (const value of [db, statement, rows]) {
    // A copy of its plain properties at most, nothing that could be executed.
    let copy = {};
    try {
      copy = structuredClone(value);
    } catch (error) {
      assert.equal(error.name, 'DataCloneError');
    }
    for (const name of ['prepare', 'get', 'next']) assert.equal(copy[name], undefined);
  }
  rows.return();
});

test('many short-lived workers in a row do no harm (C-32.6)', async (t) => {
  const db = open(t);
  for (let round = 0; round < 10; round += 1) {
    const worker = startWorker(t, `
      const db = new Database(':memory:');
      const rows = db.prepare('select 1 union all select 2').iterate();
      rows.next();
      parentPort.postMessage('ready');
      if (workerData % 2) process.exit(0);`, round);
    const ended = once(worker, 'exit');
    assert.equal(await answer(worker), 'ready');
    if (round % 3 === 0) await worker.terminate();
    await ended;
  }
  assert.equal(db.prepare('select 5').pluck().get(), 5);
});

test('a worker can be terminated while JavaScript of a callback runs (C-32.4)', async (t) => {
  const file = tempFile(t);
  const worker = startWorker(t, `
    const verbose = (sql) => {
      if (!/select 1/.test(sql)) return;
      parentPort.postMessage('inside');
      for (;;);
    };
    const db = new Database(workerData, { verbose });
    db.exec('CREATE TABLE t (x); INSERT INTO t VALUES (1); BEGIN; INSERT INTO t VALUES (2)');
    db.exec('select 1');`, file);
  assert.equal(await answer(worker), 'inside');
  assert.equal(await worker.terminate(), 1);
  assert.deepEqual(open(t, file).prepare('select x from t').pluck().all(), [1]);
});

overruled('a worker that is terminated between many callbacks ends (overrules C-32.4)', async (t) => {
  const worker = startWorker(t, `
    let calls = 0;
    const db = new Database(':memory:', { verbose: () => { if ((calls += 1) === 1000) parentPort.postMessage('going'); } });
    db.exec('select 1;'.repeat(20000000));`);
  assert.equal(await answer(worker), 'going');
  const startedAt = Date.now();
  assert.equal(await worker.terminate(), 1);
  assert.ok(Date.now() - startedAt < 30000);
});

// A query that would run for hours, which calls `called()` all the time.
const ENDLESS = `
  const counted = () => { if ((calls += 1) === 1000) parentPort.postMessage('going'); return 1; };
  let calls = 0;
  const endless = 'WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) ';
  const db = new Database(':memory:');`;
const CALLED_FOR_EVER = {
  'a function': "db.function('called', counted); db.exec(endless + 'SELECT called() FROM n');",
  'an aggregate': "db.aggregate('called', { step: counted }); db.exec(endless + 'SELECT called() FROM n');",
  'a window function': `
    db.aggregate('called', { step: () => {}, inverse: counted });
    db.exec(endless + 'SELECT called() OVER (ROWS 1 PRECEDING) FROM n');`,
  'an iterated table': `
    db.table('called', { columns: ['x'], * rows() { for (;;) yield [counted()]; } });
    for (const row of db.prepare('SELECT * FROM called').iterate());`,
  'a table': "db.table('called', { columns: ['x'], * rows() { for (;;) yield [counted()]; } }); db.exec('SELECT * FROM called');",
};
for (const [kind, code] of Object.entries(CALLED_FOR_EVER)) {
  overruled(`a worker that is terminated while ${kind} is called for ever ends (overrules C-32.4, C-36.7)`, async (t) => {
    const worker = startWorker(t, ENDLESS + code);
    assert.equal(await answer(worker), 'going');
    const startedAt = Date.now();
    assert.equal(await worker.terminate(), 1);
    assert.ok(Date.now() - startedAt < 30000);
  });
}

const STUCK_IN = {
  'a function': "db.function('stuck', stuck); db.exec('SELECT stuck()');",
  'the start of an aggregate': "db.aggregate('stuck', { start: stuck, step: () => {} }); db.exec('SELECT stuck()');",
  'the result of an aggregate': "db.aggregate('stuck', { step: () => {}, result: stuck }); db.exec('SELECT stuck()');",
  'the rows of a table': "db.table('stuck', { columns: ['x'], * rows() { stuck(); } }); db.exec('SELECT * FROM stuck');",
  'a factory': "db.table('stuck', stuck); db.exec('CREATE VIRTUAL TABLE t USING stuck');",
};
for (const [place, code] of Object.entries(STUCK_IN)) {
  test(`a worker can be terminated, and can exit, in ${place} (C-32.4)`, async (t) => {
    for (const [stuck, exitCode] of [['for (;;);', 1], ['process.exit(7);', 7]]) {
      const worker = startWorker(t, `
        const stuck = () => { parentPort.postMessage('inside'); ${stuck} };
        const db = new Database(':memory:');
        ${code}`);
      const exited = once(worker, 'exit');
      assert.equal(await answer(worker), 'inside');
      if (exitCode === 1) await worker.terminate();
      assert.deepEqual(await exited, [exitCode]);
    }
  });
}

test('functions belong to the connection of their thread (C-32.1)', async (t) => {
  const db = openFile(t);
  db.function('f', () => 'main');
  const seen = await answer(startWorker(t, `
    const db = new Database(workerData);
    let message;
    try { db.prepare('select f()'); } catch (error) { message = error.message; }
    db.function('f', () => 'worker');
    parentPort.postMessage([message, db.prepare('select f()').pluck().get()]);`, db.name));
  assert.deepEqual(seen, ['no such function: f', 'worker']);
  assert.equal(db.prepare('select f()').pluck().get(), 'main');
});

test('an uncaught SqliteError ends a worker with that error', async (t) => {
  const worker = startWorker(t, "new Database(':memory:').exec('nonsense');");
  const [error] = await once(worker, 'error');
  assert.equal(error instanceof SqliteError, false);
  assert.equal(error.message, 'near "nonsense": syntax error');
  assert.equal(error.code, 'SQLITE_ERROR');
});
