'use strict';

// Two processes, one with each package, write to the same chacha20 WAL database at once while both
// read: nothing but "busy" may go wrong and no committed row may be lost, also when one of them is
// killed in between and comes back.

const test = require('node:test');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const { tempFile } = require('../support/database.js');
const { SIDES, start, within } = require('./processes.js');

const lock = { pragmas: ["cipher='chacha20'"], key: Buffer.from('one file, two packages') };
const SCHEMA = `
  CREATE TABLE entry (side TEXT, number INTEGER, body TEXT, PRIMARY KEY (side, number));
  CREATE TABLE tally (side TEXT PRIMARY KEY, entries INTEGER NOT NULL);
  INSERT INTO tally VALUES ('ours', 0), ('peer', 0);`;
const wholeMs = 10_000;
const beforeKillMs = 2_000;
const afterKillMs = 3_000;

async function createShared(t, side) {
  const file = tempFile(t);
  await within(t, side, async (process) => {
    const db = await process.open(file, lock);
    await db.pragma('journal_mode=WAL');
    await db.exec(SCHEMA);
    await db.close();
  });
  return file;
}

async function openShared(process, file) {
  const db = await process.open(file, lock, { timeout: 2000 });
  await db.pragma('wal_autocheckpoint=100');
  await db.pragma('synchronous=NORMAL');
  return db;
}

/** Checks through each package that every side's rows are whole; `commits` is {side: [least, most]}. */
async function nothingIsLost(t, file, commits) {
  for (const reader of SIDES) {
    await within(t, reader, async (process) => {
      const db = await process.open(file, lock);
      const found = await db.work('readShared');
      assert.equal(found.integrity, 'ok');
      assert.deepEqual(found.wrong, { ours: 0, peer: 0 });
      assert.deepEqual(found.sides.map(({ side }) => side).sort(), ['ours', 'peer']);
      for (const { side, entries, rows, highest } of found.sides) {
        const [least, most] = commits[side];
        assert.ok(rows >= least && rows <= most, `${side}: ${rows} rows, reported ${least} to ${most}`);
        assert.deepEqual([entries, highest], [rows, rows], side);
      }
      await db.close();
    });
  }
}

const lastReported = (log) => Number(fs.readFileSync(log, 'utf8').trim().split('\n').pop());
const isEnd = (error) => assert.equal(error.code, 'ENDED');
const describe = (side, { commits, reads, busy }) => `${side} ${commits} transactions, ${reads} reads, ${busy} busy`;

test(`for ${wholeMs / 1000} seconds both write and read, nothing is lost`, async (t) => {
  const file = await createShared(t, 'ours');
  const processes = await Promise.all(SIDES.map((side) => start(t, side)));
  const connections = await Promise.all(processes.map((process) => openShared(process, file)));
  const [ours, peer] = await Promise.all(connections.map((db, n) => db.work('shareWriting', SIDES[n], wholeMs)));
  console.log(`${describe('ours', ours)}; ${describe('peer', peer)}`);
  assert.ok(ours.commits > 0 && peer.commits > 0, 'one side never got to write');
  await Promise.all(processes.map((process) => process.stop()));
  await nothingIsLost(t, file, { ours: [ours.commits, ours.commits], peer: [peer.commits, peer.commits] });
});

for (const victim of SIDES) {
  const survivor = SIDES.find((side) => side !== victim);
  test(`${victim} is killed while both write, and comes back`, async (t) => {
    const file = await createShared(t, survivor);
    const log = `${file}.log`;
    const living = await start(t, survivor);
    const done = (await openShared(living, file)).work('shareWriting', survivor, beforeKillMs + afterKillMs);
    const dying = await start(t, victim);
    const cut = (await openShared(dying, file)).work('shareWriting', victim, wholeMs, log).catch(isEnd);
    await new Promise((resolve) => setTimeout(resolve, beforeKillMs));
    await dying.kill();
    await cut;
    const reported = lastReported(log);
    const back = await start(t, victim);
    const again = await (await openShared(back, file)).work('shareWriting', victim, afterKillMs / 2);
    const whole = await done;
    await Promise.all([living.stop(), back.stop()]);
    console.log(`${victim} ${reported} transactions, killed, then ${again.commits}; ${survivor} ${whole.commits}`);
    assert.ok(reported > 0 && again.commits > 0 && whole.commits > 0);
    await nothingIsLost(t, file, {
      // Killed between a commit and its report, one transaction more is there.
      [victim]: [reported + again.commits, reported + again.commits + 1],
      [survivor]: [whole.commits, whole.commits],
    });
  });
}

test('after all processes were killed at once, either package recovers the WAL', async (t) => {
  for (const first of SIDES) {
    const file = await createShared(t, 'peer');
    const commits = {};
    const processes = await Promise.all(SIDES.map((side) => start(t, side)));
    const running = [];
    for (const process of processes) {
      const db = await openShared(process, file);
      running.push(db.work('shareWriting', process.side, wholeMs, `${file}.${process.side}`).catch(isEnd));
    }
    await new Promise((resolve) => setTimeout(resolve, 800));
    await Promise.all(processes.map((process) => process.kill()));
    await Promise.all(running);
    for (const side of SIDES) {
      const reported = lastReported(`${file}.${side}`);
      commits[side] = [reported, reported + 1];
    }
    await within(t, first, async (process) => {
      const db = await process.open(file, lock);
      assert.equal(await db.pragma('integrity_check'), 'ok');
      await db.close();
    });
    await nothingIsLost(t, file, commits);
  }
});
