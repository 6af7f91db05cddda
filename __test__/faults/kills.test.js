'use strict';

// A process that is killed at a random moment of a rekey, in every transition and both journal modes:
// afterwards exactly one of the two keys opens the file, and all is there. Kills between any two
// calls, and power cuts, are in power-cuts.test.js.
//
// 40 kills; SEALITE_TEST_KILLS sets another number.

const test = require('node:test');
const path = require('node:path');
const { fork } = require('node:child_process');
const { once } = require('node:events');
const { Database, isPeer, modulePath, tempDir } = require('../support/database.js');
const { seededRandom } = require('../interop/random.js');
const { transitions, copyTo, isRefused, make, whichOpens } = require('./transitions.js');

const KILLS = Number(process.env.SEALITE_TEST_KILLS || 40);
const CELLS = 400;
const skip = isPeer && 'the replaced package loses such files';

/** Starts a process that rekeys; fulfilled when it begins, with the process. */
async function startRekey(file, locks) {
  const child = fork(path.join(__dirname, 'rekey-child.js'), [modulePath, file, JSON.stringify(locks)], { execArgv: [] });
  await once(child, 'message');
  return child;
}

/** Kills it after so many milliseconds; fulfilled when it is gone. */
async function endAfter(child, milliseconds) {
  const exit = once(child, 'exit');
  const timer = setTimeout(() => child.kill('SIGKILL'), milliseconds);
  await exit;
  clearTimeout(timer);
}

async function timeRekey(file, locks) {
  const child = await startRekey(file, locks);
  const startedAt = performance.now();
  await endAfter(child, 60_000);
  return performance.now() - startedAt;
}

test(`${KILLS} kills at random moments of a rekey lose nothing`, { skip }, async (t) => {
  const { random, seed } = seededRandom();
  const cases = [];
  for (const journalMode of ['delete', 'wal']) {
    for (const [name, locks] of Object.entries(transitions)) {
      const file = path.join(tempDir(t), 'test.db');
      if (isRefused(Database, file, locks, journalMode)) continue;
      make(Database, file, locks[0], journalMode, { cells: CELLS });
      cases.push({ what: `${name}, ${journalMode}`, file, locks, opened: [0, 0] });
    }
  }
  const dir = tempDir(t);
  for (let round = 0; round < KILLS; round += 1) {
    const { what, file, locks, opened, duration } = cases[round % cases.length];
    const usual = duration ?? await timeRekey(copyTo(file, dir), locks);
    cases[round % cases.length].duration = usual;
    const target = copyTo(file, dir);
    await endAfter(await startRekey(target, locks), random() * usual);
    try {
      const order = round % 2 ? [0, 1] : [1, 0];
      opened[whichOpens(Database, target, locks, { cells: CELLS, numbers: [1], order }).index] += 1;
    } catch (error) {
      error.message = `${what}, kill ${round}, seed ${seed}: ${error.message}`;
      throw error;
    }
  }
  const total = [0, 1].map((index) => cases.reduce((sum, { opened }) => sum + opened[index], 0));
  console.log(`${KILLS} kills, seed ${seed}: the old key opened ${total[0]} times, the new one ${total[1]} times`);
});
