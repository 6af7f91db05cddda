'use strict';

// A full disk and calls that fail, one after the other, in the middle of what writes: the right error is
// thrown, the file holds the state before or the one after under one key, also for others who look
// at that moment, and the connection works on.
//
// Of reads and writes every ninth fails, of the others each; SEALITE_TEST_FULL=1 lets all fail.

const test = require('node:test');
const assert = require('node:assert/strict');
const path = require('node:path');
const { Database, tempDir } = require('../support/database.js');
const { seededRandom } = require('../interop/random.js');
const { skip, runUnderDisk } = require('./disk.js');
const { transitions, isRefused, make } = require('./transitions.js');

const CELLS = 12;
const faults = [
  { kind: 'write', error: 'ENOSPC', lasting: true },
  { kind: 'write', error: 'EIO' },
  { kind: 'sync', error: 'EIO' },
  { kind: 'read', error: 'EIO' },
  { kind: 'truncate', error: 'EIO' },
  { kind: 'unlink', error: 'EACCES' },
];

/** The fault with the calls that it hits. */
function placed(fault, random) {
  const many = ['read', 'write'].includes(fault.kind) && !process.env.SEALITE_TEST_FULL;
  const step = many ? 9 : 1;
  return { ...fault, first: 1 + Math.floor(random() * step), step };
}

/** Runs an action under all faults; `t` gets a database in this journal mode, keyed by the first lock. */
function failEach(t, action, locks, journalMode, numbers) {
  const original = path.join(tempDir(t), 'test.db');
  if (isRefused(Database, original, locks, journalMode)) return t.skip('not possible in WAL mode');
  make(Database, original, locks[0], journalMode, { cells: CELLS });
  const dir = tempDir(t);
  const { random, seed } = seededRandom();
  const { answer } = runUnderDisk(t, dir, {
    name: 'fail',
    action,
    locks,
    faults: faults.map((fault) => placed(fault, random)),
    original,
    file: path.join(dir, 'test.db'),
    target: path.join(dir, 'copy.db'),
    aside: tempDir(t),
    expected: { cells: CELLS, numbers },
  }, { temporaryHere: true });
  for (const result of answer) result.what = `call ${result.n}, ${result.kind} ${result.error}, seed ${seed}: ${JSON.stringify(result)}`;
  assert.ok(answer.length > 0, 'nothing has failed');
  for (const result of answer) checkOne(result);
  return answer;
}

function checkOne({ what, error, code, beside, here, closed, after }) {
  if (code !== 'none') assert.match(code, error === 'ENOSPC' ? /^SQLITE_FULL$/ : /^SQLITE_IOERR_/, what);
  assert.equal(beside.error, undefined, what);
  assert.equal(here.error, undefined, what);
  assert.equal(closed, false, what);
  assert.equal(after.number, 9, what);
}

for (const journalMode of ['delete', 'wal']) {
  for (const [name, locks] of Object.entries(transitions)) {
    test(`rekey, ${name}, in ${journalMode} mode: the old key after an error, the new one without`, { skip }, (t) => {
      for (const { what, code, here, after } of failEach(t, 'rekey', locks, journalMode, [1]) ?? []) {
        assert.equal(here, 1, what);
        assert.equal(after.index, code === 'none' ? 1 : 0, what);
      }
    });
  }

  const [keyed] = transitions['another key'];
  const locks = [keyed, { ...keyed, key: 'another' }];

  test(`a commit in ${journalMode} mode is there or is not`, { skip }, (t) => {
    for (const { what, code, here } of failEach(t, 'commit', locks, journalMode, [1, 2])) {
      assert.equal(here, code === 'none' ? 2 : 1, what);
    }
  });

  test(`VACUUM in ${journalMode} mode loses nothing`, { skip }, (t) => {
    for (const { what, here } of failEach(t, 'vacuum', locks, journalMode, [1])) assert.equal(here, 1, what);
  });

  test(`a backup in ${journalMode} mode is whole, or there is no file`, { skip }, (t) => {
    for (const { what, kind, code, target, check, here } of failEach(t, 'backup', locks, journalMode, [1])) {
      assert.equal(here, 1, what);
      if (code === 'none') assert.equal(check.number, 1, what);
      else if (kind !== 'unlink') assert.equal(target, false, what);
    }
  });

  if (journalMode === 'wal') {
    test('a checkpoint loses nothing', { skip }, (t) => {
      for (const { what, here } of failEach(t, 'checkpoint', locks, journalMode, [2])) assert.equal(here, 2, what);
    });
  }
}
