'use strict';

// After a crash the first attempt uses no key, a wrong key or the other scheme: it gets NOTADB, no
// byte of file, journal and WAL changes, also when it closes, and the right key then finds every
// commit. The replaced package destroys most such databases, so none of this is asked of it.
// Which page proves the key, and when none has to, is in guard-journals.test.js.

const test = require('node:test');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const { open, overruled, isPeer, tempFile } = require('../support/database.js');
const { otherSchemes } = require('../support/schemes.js');
const { SIDES, start, unlockHere } = require('./processes.js');
const { crash, restore, isUntouched, hasEveryCommit } = require('./crashed.js');
const workloads = require('./workloads.js');

const key = Buffer.from('the right key');
// A setting made for a wrong attempt lasts, so the right one takes legacy=1 back.
const locks = {
  chacha20: { pragmas: ["cipher='chacha20'", 'legacy=0'], key },
  aes256cbc: { pragmas: ["cipher='aes256cbc'", 'legacy=0'], key },
  plain: { key: "''" },
};

/** What may be set before the first read by somebody who does not know better. */
function wrongLocks(name) {
  if (name === 'plain') return { 'a key of chacha20': locks.chacha20, 'a key of aes256cbc': locks.aes256cbc };
  const other = name === 'chacha20' ? 'aes256cbc' : 'chacha20';
  return {
    'no key': {},
    'a wrong key': { ...locks[name], key: Buffer.from('a wrong key') },
    'the other scheme': locks[other],
    'the legacy mode': { key, pragmas: [locks[name].pragmas[0], 'legacy=1'] },
  };
}

// The mail service's first statement is journal_mode=WAL; the others are what people do next.
const attempts = [
  (db) => db.pragma('journal_mode=WAL'),
  (db) => db.prepare('SELECT count(*) FROM cell').get(),
  (db) => db.pragma('user_version'),
  (db) => db.pragma('user_version=5'),
  (db) => db.pragma('journal_mode=DELETE'),
  (db) => db.pragma('journal_mode=TRUNCATE'),
  (db) => db.exec('BEGIN IMMEDIATE'),
  (db) => db.exec('CREATE TABLE oops (x)'),
  (db) => db.exec('VACUUM'),
  (db) => db.pragma('integrity_check'),
];

// The key of aes256cbc leaves the first 16 bytes of a plain file as they are, so SQLite gets as far as
// the file format version behind them and may call the file read-only instead; never for long.
const refusals = ['SQLITE_NOTADB', 'SQLITE_READONLY'];

function failsEverywhere(db, file, bytes) {
  const isPlain = bytes[''].subarray(0, 15).toString('latin1') === 'SQLite format 3';
  for (const [n, attempt] of attempts.entries()) {
    const allowed = isPlain && n > 0 ? refusals : ['SQLITE_NOTADB'];
    assert.throws(() => attempt(db), ({ code }) => allowed.includes(code), String(attempt));
    isUntouched(file, bytes, String(attempt));
  }
}

/** How the right key gets its turn after the failed attempt. */
const secondTurns = {
  'on the same connection': (t, db) => db,
  'on another one after close': (t, db, file, bytes) => {
    db.close();
    isUntouched(file, bytes, 'close()');
    return open(t, file);
  },
  'on another one beside it': (t, db, file) => open(t, file),
};

for (const [name, pragmas] of Object.entries(otherSchemes)) {
  for (const journalMode of ['delete', 'wal']) {
    for (const side of SIDES) {
      overruled(`${name} in ${journalMode} mode, crashed by ${side}: a wrong first try harms nothing`, async (t) => {
        const lock = { pragmas, key };
        const { bytes } = await crash(t, side, lock, { journalMode });
        const wrongs = { 'no key': {}, 'a wrong key': { pragmas, key: Buffer.from('a wrong key') }, 'chacha20': locks.chacha20 };
        for (const [wrongName, wrongLock] of Object.entries(wrongs)) {
          await t.test(`${wrongName}, then the right key`, (t) => {
            const file = restore(t, bytes);
            const first = unlockHere(open(t, file), wrongLock);
            failsEverywhere(first, file, bytes);
            hasEveryCommit(unlockHere(first, lock));
          });
        }
      });
    }
  }
}

for (const [name, lock] of Object.entries(locks)) {
  for (const journalMode of ['delete', 'truncate', 'persist', 'wal']) {
    for (const side of SIDES) {
      overruled(`${name} in ${journalMode} mode, crashed by ${side}: a wrong first try harms nothing`, async (t) => {
        const { bytes } = await crash(t, side, lock, { journalMode });
        for (const [wrongName, wrongLock] of Object.entries(wrongLocks(name))) {
          for (const [turnName, turn] of Object.entries(secondTurns)) {
            await t.test(`${wrongName}, then the right key ${turnName}`, (t) => {
              const file = restore(t, bytes);
              const first = unlockHere(open(t, file), wrongLock);
              failsEverywhere(first, file, bytes);
              const second = unlockHere(turn(t, first, file, bytes), lock);
              hasEveryCommit(second);
            });
          }
        }
      });
    }
  }

  overruled(`${name}: several wrong attempts in a row, each on a connection of its own`, async (t) => {
    for (const journalMode of ['delete', 'wal']) {
      const { bytes } = await crash(t, 'ours', lock, { journalMode });
      const file = restore(t, bytes);
      for (const wrongLock of [...Object.values(wrongLocks(name)), ...Object.values(wrongLocks(name))]) {
        const db = unlockHere(open(t, file), wrongLock);
        failsEverywhere(db, file, bytes);
        db.close();
        isUntouched(file, bytes, 'close()');
      }
      hasEveryCommit(unlockHere(open(t, file), lock));
    }
  });

  overruled(`${name}: a wrong key cannot be changed into another one by rekey`, async (t) => {
    for (const journalMode of ['delete', 'wal']) {
      const { bytes } = await crash(t, 'ours', lock, { journalMode });
      for (const wrongLock of Object.values(wrongLocks(name)).filter((wrong) => wrong.key)) {
        const file = restore(t, bytes);
        const db = unlockHere(open(t, file), wrongLock);
        for (const pragma of wrongLock.pragmas) db.pragma(pragma);
        assert.throws(() => db.rekey(Buffer.from('new')), { code: 'SQLITE_NOTADB' });
        db.close();
        isUntouched(file, bytes, 'rekey() and close()');
        hasEveryCommit(unlockHere(open(t, file), lock));
      }
    }
  });

  overruled(`${name}: a read-only connection with a wrong key and a hot WAL changes nothing`, async (t) => {
    const { bytes } = await crash(t, 'ours', lock, { journalMode: 'wal' });
    for (const wrongLock of Object.values(wrongLocks(name))) {
      const file = restore(t, bytes);
      const db = unlockHere(open(t, file, { readonly: true }), wrongLock);
      assert.throws(() => db.prepare('SELECT count(*) FROM cell').get(), { code: 'SQLITE_NOTADB' });
      isUntouched(file, bytes, 'a read');
      db.close();
      isUntouched(file, bytes, 'close()');
      hasEveryCommit(unlockHere(open(t, file), lock));
    }
  });

  test(`${name}: a read-only connection cannot play back a journal under any key, and changes nothing`, async (t) => {
    const { bytes } = await crash(t, 'ours', lock, { journalMode: 'delete' });
    for (const anyLock of [lock, ...Object.values(wrongLocks(name))]) {
      const file = restore(t, bytes);
      const db = unlockHere(open(t, file, { readonly: true }), anyLock);
      assert.throws(() => db.prepare('SELECT count(*) FROM cell').get(), { code: 'SQLITE_READONLY_ROLLBACK' });
      db.close();
      isUntouched(file, bytes, 'the attempt and close()');
    }
  });

  overruled(`${name}: a checkpoint under a wrong key loses nothing`, async (t) => {
    const { bytes } = await crash(t, 'ours', lock, { journalMode: 'wal' });
    for (const mode of ['PASSIVE', 'FULL', 'RESTART', 'TRUNCATE']) {
      for (const wrongLock of Object.values(wrongLocks(name))) {
        const file = restore(t, bytes);
        const db = unlockHere(open(t, file), wrongLock);
        assert.throws(() => db.prepare('SELECT count(*) FROM cell').get(), { code: 'SQLITE_NOTADB' });
        try {
          db.pragma(`wal_checkpoint(${mode})`);
        } catch (error) {
          assert.equal(error.code, 'SQLITE_NOTADB');
        }
        db.close();
        hasEveryCommit(unlockHere(open(t, file), lock));
      }
    }
  });

  overruled(`${name}: attached with a wrong key or none, a crashed file is refused and not touched`, async (t) => {
    for (const journalMode of ['delete', 'wal']) {
      const { bytes } = await crash(t, 'ours', lock, { journalMode });
      for (const scheme of ['chacha20', 'aes256cbc']) {
        for (const clause of ["KEY 'a wrong key'", name === 'plain' ? "KEY 'the right key'" : "KEY ''"]) {
          const file = restore(t, bytes);
          const db = unlockHere(open(t, tempFile(t)), locks.chacha20);
          db.exec('CREATE TABLE own (x)');
          db.pragma(`cipher='${scheme}'`);
          assert.throws(() => db.prepare(`ATTACH ? AS crashed ${clause}`).run(file), { code: 'SQLITE_NOTADB' });
          isUntouched(file, bytes, `ATTACH with ${scheme} ${clause}`);
          assert.deepEqual(db.prepare('SELECT * FROM own').all(), []);
          db.close();
          hasEveryCommit(unlockHere(open(t, file), lock));
        }
      }
    }
  });

  overruled(`${name}: a failed attempt leaves no lock behind for another process`, async (t) => {
    for (const journalMode of ['delete', 'wal']) {
      const { bytes } = await crash(t, 'ours', lock, { journalMode });
      const file = restore(t, bytes);
      const db = unlockHere(open(t, file), Object.values(wrongLocks(name))[0]);
      failsEverywhere(db, file, bytes);
      const process = await start(t, 'ours');
      const other = await process.open(file, lock, { timeout: 100 });
      await other.work('commitCells', 4);
      assert.deepEqual((await other.work('readCells')).numbers, [4]);
      await process.stop();
    }
  });
}

// Without the crash there is nothing to recover, and both packages keep the file as it is.
for (const [name, lock] of Object.entries(locks)) {
  test(`${name}: a wrong attempt on a file that was closed in order changes nothing`, (t) => {
    for (const journalMode of isPeer ? ['delete'] : ['delete', 'wal']) {
      const file = restore(t, {});
      const db = unlockHere(open(t, file), lock);
      db.pragma(`journal_mode=${journalMode}`);
      workloads.fillCells(db, 60, 2500);
      workloads.commitCells(db, 2);
      db.close();
      const bytes = { '': fs.readFileSync(file) };
      for (const wrongLock of Object.values(wrongLocks(name))) {
        const wrong = unlockHere(open(t, file), wrongLock);
        failsEverywhere(wrong, file, bytes);
        wrong.close();
        isUntouched(file, bytes, 'close()');
      }
      hasEveryCommit(unlockHere(open(t, file), lock));
    }
  });
}
