'use strict';

// The process under the faulty disk: does the job that it is given on its standard input and prints
// the answer as JSON. What a job is stands at its function.

const fs = require('node:fs');
const path = require('node:path');
const { Disk } = require('./disk.js');
const { copyTo, remove, rekey, unlock, whichOpens } = require('./transitions.js');
const workloads = require('../interop/workloads.js');

const job = JSON.parse(fs.readFileSync(0, 'utf8'));
const Database = require(job.modulePath);
const disk = new Disk(job.control);

/** What can be interrupted; `prepare` is done before, on a healthy disk. */
const actions = {
  rekey: { run: (db) => rekey(db, job.locks[1]) },
  commit: { run: (db) => workloads.commitCells(db, 2) },
  checkpoint: {
    prepare: (db) => workloads.commitCells(db, 2),
    run: (db) => db.pragma('wal_checkpoint(TRUNCATE)'),
  },
  vacuum: { run: (db) => db.exec('VACUUM') },
  backup: {
    run: (db) => db.backup(job.target),
    check: () => whichOpens(Database, job.target, job.locks, job.expected),
  },
};
const action = actions[job.action];

/** A small cache, so that pages go to the disk before the commit, too. */
function openPrepared() {
  const db = unlock(new Database(job.file), job.locks[0]);
  db.pragma('cache_size=5');
  db.pragma('wal_autocheckpoint=0');
  db.prepare('SELECT count(*) FROM cell').get();
  if (action.prepare) action.prepare(db);
  return db;
}

const jobs = {
  /**
   * For each fault: lets the n-th call of its kind fail during the action, each on a fresh copy of the
   * database, for n from `first` in steps until the action makes fewer calls. Gives for each the code of
   * the error, and what is then found: beside the process, and on the same connection.
   */
  async fail() {
    const results = [];
    for (const fault of job.faults) {
      for (let n = fault.first; ; n += fault.step) {
        const result = await failOnce(fault, n);
        if (result.failed === 0) break;
        results.push({ ...fault, n, ...result });
      }
    }
    return results;
  },

  /** Records a rekey, a commit after it and the close; what was there before is left in `aside`. */
  async record() {
    const db = openPrepared();
    db.pragma(`synchronous=${job.synchronous}`);
    workloads.commitCells(db, 2);
    copyTo(job.file, job.aside);
    disk.record(1);
    action.run(db);
    disk.record(2);
    workloads.commitCells(db, 3);
    disk.record(3);
    db.close();
    disk.mend();
    return null;
  },
};

async function failOnce({ kind, error, lasting }, n) {
  remove(job.file);
  fs.rmSync(job.target, { force: true });
  copyTo(job.original, path.dirname(job.file));
  const db = openPrepared();
  disk.fail(kind, n, error, lasting);
  let code = 'none';
  try {
    await action.run(db);
  } catch (thrown) {
    code = thrown.code ?? String(thrown);
  }
  const { failed } = disk.get();
  disk.mend();
  const result = { code, failed, target: fs.existsSync(job.target) };
  if (failed === 0) {
    db.close();
    return result;
  }
  if (code === 'none' && action.check) result.check = attempt(action.check);
  // As if the process ended here: a copy, which others open.
  const copy = copyTo(job.file, job.aside);
  const order = n % 2 ? [0, 1] : [1, 0];
  result.beside = attempt(() => whichOpens(Database, copy, job.locks, { ...job.expected, order }));
  result.here = attempt(() => goesOn(db));
  result.closed = attempt(() => db.close().open);
  result.after = attempt(() => whichOpens(Database, job.file, job.locks, { ...job.expected, numbers: [9], order }));
  return result;
}

/** The number of the transaction that the connection shows, whole; and it can write. */
function goesOn(db) {
  const before = workloads.readCells(db);
  workloads.commitCells(db, 9);
  const after = workloads.readCells(db);
  for (const { integrity, wrongBodies, numbers } of [before, after]) {
    if (integrity !== 'ok' || wrongBodies !== 0 || numbers.length !== 1) throw new Error('the content is not whole');
  }
  return before.numbers[0];
}

function attempt(fn) {
  try {
    return fn();
  } catch (error) {
    return { error: `${error.code ?? ''} ${error.message}`.trim() };
  }
}

jobs[job.name]().then((answer) => process.stdout.write(JSON.stringify(answer)));
