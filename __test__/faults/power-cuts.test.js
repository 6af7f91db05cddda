'use strict';

// Killed between any two calls of a rekey or a VACUUM, or the power cut there with what was not synced
// lost or torn: one of the two keys opens the file, with all its data; trying the other first does no
// harm. What has returned stays where SQLite promises that (WAL with synchronous=FULL, else EXTRA).
//
// SEALITE_TEST_FULL=1 tries every moment and more power cuts.

const test = require('node:test');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { Database, tempDir } = require('../support/database.js');
const { seededRandom } = require('../interop/random.js');
const { skip, runUnderDisk } = require('./disk.js');
const { transitions, SUFFIXES, isRefused, make, remove, whichOpens } = require('./transitions.js');
const { filesAfter } = require('./power.js');

const CELLS = 12;
const FULL = Boolean(process.env.SEALITE_TEST_FULL);
const KILLS = FULL ? Infinity : 4;
const POWER_CUTS = FULL ? 500 : 8;
/** Which key opens and which transaction is seen: before the action, after it, after the next commit. */
const statesOf = { rekey: [[0, 2], [1, 2], [1, 3]], vacuum: [[0, 2], [0, 2], [0, 3]] };
const modes = [
  { journalMode: 'delete', synchronous: 'FULL', durable: false },
  { journalMode: 'delete', synchronous: 'EXTRA', durable: true },
  { journalMode: 'wal', synchronous: 'NORMAL', durable: false },
  { journalMode: 'wal', synchronous: 'FULL', durable: true },
];

function record(t, action, locks, { journalMode, synchronous }) {
  const [dir, aside] = [tempDir(t), tempDir(t)];
  const file = path.join(dir, 'test.db');
  make(Database, file, locks[0], journalMode, { cells: CELLS });
  const job = { name: 'record', action, locks, synchronous, file, aside };
  const { changes } = runUnderDisk(t, dir, job);
  const base = Object.fromEntries(SUFFIXES.map((suffix) => `test.db${suffix}`)
    .filter((name) => fs.existsSync(path.join(aside, name)))
    .map((name) => [name, fs.readFileSync(path.join(aside, name))]));
  return { base, changes };
}

/** `count` different numbers from 1 to `last`, or all. */
function moments(last, count, random) {
  if (count > last) return Array.from({ length: last }, (_, n) => n + 1);
  return Array.from({ length: count }, () => 1 + Math.floor(random() * last));
}

/** The losses where files are as they were written, and the directory is as it was synced last. */
function directoryLost() {
  let isDirectory = true;
  return () => {
    const share = isDirectory ? 0 : 0.2;
    isDirectory = false;
    return share;
  };
}

/** Tries a number of moments of an action, under the first lock, in this mode. */
function interrupt(t, action, locks, mode) {
  const dir = tempDir(t);
  const file = path.join(dir, 'test.db');
  if (isRefused(Database, file, locks, mode.journalMode)) return t.skip('not possible in WAL mode');
  const { base, changes } = record(t, action, locks, mode);
  const { random, seed } = seededRandom();

  /** Without `losses` it was a kill. Gives the index of the key that opens. */
  function check(count, losses, durable) {
    remove(file);
    const files = filesAfter(base, changes, count, losses);
    for (const [entry, bytes] of Object.entries(files)) fs.writeFileSync(path.join(dir, entry), bytes);
    const { mark } = changes[count - 1];
    const what = `${losses ? 'power cut' : 'killed'} after ${count} of ${changes.length} changes, phase ${mark}, seed ${seed}`;
    const order = count % 2 ? [0, 1] : [1, 0];
    let found;
    try {
      found = whichOpens(Database, file, locks, { cells: CELLS, numbers: [2, 3], order });
    } catch (error) {
      error.message = `${what}: ${error.message}`;
      throw error;
    }
    const allowed = statesOf[action].slice(durable ? mark - 1 : 0, mark + 1);
    assert.ok(allowed.some(([index, number]) => index === found.index && number === found.number), `${what}: ${JSON.stringify(found)}`);
    return found.index;
  }

  const opened = [0, 0];
  for (const count of moments(changes.length, KILLS, random)) opened[check(count, null, true)] += 1;
  for (let count = 1; count <= changes.length; count += 1) opened[check(count, directoryLost(), mode.durable)] += 1;
  for (let n = 0; n < POWER_CUTS; n += 1) {
    const [count] = moments(changes.length, 1, random);
    opened[check(count, random, mode.durable)] += 1;
  }
  return console.log(`${t.name}: ${changes.length} changes, the old key opened ${opened[0]} times, the new one ${opened[1]} times, seed ${seed}`);
}

for (const mode of modes) {
  const how = `${mode.journalMode}, synchronous=${mode.synchronous}`;

  for (const [name, locks] of Object.entries(transitions)) {
    test(`${name}, ${how}`, { skip }, (t) => interrupt(t, 'rekey', locks, mode));
  }

  test(`VACUUM, ${how}`, { skip }, (t) => {
    const [keyed] = transitions['another key'];
    interrupt(t, 'vacuum', [keyed, { ...keyed, key: 'another' }], mode);
  });
}
