// The workloads of `npm run benchmark:peers`: what one side does while the clock runs. Each is made from a
// mailbox with the service's production PRAGMAs and gives one figure, in units per second or a size.
//
// Not here: which sides there are (sides.mjs), the process around a workload (workload.js).

'use strict';

const { randomBytes } = require('node:crypto');

const RAW_LEN = 3000;
const ROWS_PER_LISTING = 50;
const SMALL_ROWS = 100;
const MAILBOXES_IN_MEMORY = 40;

const INSERT = `INSERT INTO messages
  (mailbox_id, uid, date, flags, subject, from_addr, to_addr, message_id, raw)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** One message as the nine values of INSERT; the body does not compress and differs each time. */
function message(uid) {
  return [
    (uid % 3) + 1,
    uid,
    1_700_000_000_000 + uid * 60_000,
    Math.floor(uid / 3) % 3 === 0 ? '\\Seen' : null,
    `Subject of message number ${uid}`,
    `sender${uid % 50}@example.org`,
    'me@example.com',
    `<${uid}@mail.example>`,
    randomBytes(RAW_LEN),
  ];
}

function messages(firstUid, count) {
  return Array.from({ length: count }, (_, n) => message(firstUid + n));
}

/** Adds messages in one transaction. */
function fill(db, firstUid, count) {
  const insert = db.prepare(INSERT);
  db.exec('BEGIN');
  for (const values of messages(firstUid, count)) insert.run(...values);
  db.exec('COMMIT');
}

/** A table of 100 rows: NULL, integer, real and text, the text of 12 to 24 letters. */
function smallTable(db) {
  db.exec('CREATE TABLE small (n, i INTEGER PRIMARY KEY, r REAL, t TEXT)');
  const insert = db.prepare('INSERT INTO small VALUES (?, ?, ?, ?)');
  db.exec('BEGIN');
  for (let i = 1; i <= SMALL_ROWS; i += 1) insert.run(null, i, i / 7, `a small text ${'x'.repeat(i % 12)}`);
  db.exec('COMMIT');
}

/** @returns units per second of `operation`, run `count` times; `unitsEach` units in each */
function rate(count, operation, unitsEach = 1) {
  const start = performance.now();
  for (let i = 0; i < count; i += 1) operation(i);
  return (count * unitsEach) / ((performance.now() - start) / 1000);
}

/** The same after a warm-up of a fifth, for what leaves no trace in the file. */
function warmRate(count, operation) {
  rate(Math.ceil(count / 5), operation);
  return rate(count, operation);
}

/** Results of a wrong length would make the fastest engine of all. */
function expectRows(rows, count) {
  if (rows !== count) throw new Error(`${rows} rows came where ${count} were expected`);
}

function reading(sql, rows, count, bound = () => []) {
  return ({ db, times }) => {
    smallTable(db);
    const statement = db.prepare(sql);
    return warmRate(times(count), (i) => expectRows(statement.all(...bound(i)).length, rows));
  };
}

/**
 * `run(context)` gives the figure; `times(n)` is how often a full run of n is done in this one; `prefill` messages are there before. `target` and `stretch` are the ratios
 * asked for against the encrypted peer and the peer in clear text. `rows`: in clear text also compared with
 * the SQLite modules of the runtimes. `less`: the smaller figure is the better one.
 */
const WORKLOADS = [
  {
    name: 'insert', title: 'insert, one 3 KB message per transaction', prefill: 1000, target: 2.2, stretch: 1,
    run({ db, times }) {
      const insert = db.prepare(INSERT);
      const fresh = messages(1000, times(1500));
      return rate(fresh.length, (i) => insert.run(...fresh[i]));
    },
  },
  {
    name: 'insert-100', title: '100 inserts in a transaction', prefill: 1000, target: 2.5, stretch: 1,
    run({ db, times }) {
      const insert = db.prepare(INSERT);
      const transactions = times(20);
      const fresh = messages(1000, transactions * 100);
      return rate(transactions, (i) => {
        db.exec('BEGIN');
        for (let n = 0; n < 100; n += 1) insert.run(...fresh[i * 100 + n]);
        db.exec('COMMIT');
      }, 100);
    },
  },
  {
    name: 'update', title: 'update of flags, one per transaction', prefill: 1000, target: 2, stretch: 1,
    run({ db, times, filled }) {
      const update = db.prepare('UPDATE messages SET flags = ? WHERE id = ?');
      return rate(times(3000), (i) => update.run(`\\Seen ${i}`, ((i * 7919) % filled) + 1));
    },
  },
  {
    name: 'delete', title: 'delete by id', prefill: 2500, target: 2.2, stretch: 1,
    run({ db, times }) {
      const remove = db.prepare('DELETE FROM messages WHERE id = ?');
      return rate(times(1500), (i) => remove.run(i + 1));
    },
  },
  {
    name: 'all-listing', title: 'all(): 50 rows x 4 columns from an index', prefill: 1000, target: 1.4, stretch: 1.4, rows: true,
    run({ db, times }) {
      const select = db.prepare(`SELECT id, date, flags, subject FROM messages WHERE mailbox_id = ?
        ORDER BY date DESC LIMIT ${ROWS_PER_LISTING}`);
      return warmRate(times(6000), (i) => expectRows(select.all((i % 3) + 1).length, ROWS_PER_LISTING));
    },
  },
  {
    name: 'all-small', title: 'all(): 100 small rows (null, integer, real, text)', target: 1.4, stretch: 1.4, rows: true,
    run: reading('SELECT n, i, r, t FROM small', SMALL_ROWS, 6000),
  },
  {
    name: 'all-texts', title: 'all(): 100 texts', target: 1.4, stretch: 1.4, rows: true,
    run: reading('SELECT t FROM small', SMALL_ROWS, 8000),
  },
  {
    name: 'iterate', title: 'iterate() over 100 small rows', target: 1.5, stretch: 1.5, rows: true,
    run({ db, times }) {
      smallTable(db);
      const select = db.prepare('SELECT n, i, r, t FROM small');
      return warmRate(times(3000), () => {
        let rows = 0;
        for (const row of select.iterate()) rows += row.i > 0 ? 1 : 0;
        expectRows(rows, SMALL_ROWS);
      });
    },
  },
  {
    name: 'get', title: 'get() of one small row', target: 1.05, stretch: 1.05, rows: true,
    run({ db, times }) {
      smallTable(db);
      const select = db.prepare('SELECT n, i, r, t FROM small WHERE i = ?');
      return warmRate(times(150_000), (i) => expectRows(select.get((i % SMALL_ROWS) + 1).i, (i % SMALL_ROWS) + 1));
    },
  },
  {
    name: 'select-1', title: '`SELECT 1`', target: 1, stretch: 1, rows: true,
    run({ db, times }) {
      const select = db.prepare('SELECT 1 AS one');
      return warmRate(times(200_000), () => expectRows(select.get().one, 1));
    },
  },
  {
    name: 'run-nothing', title: 'run() that changes nothing', target: 1, stretch: 1, rows: true,
    run({ db, times }) {
      smallTable(db);
      const update = db.prepare('UPDATE small SET r = 0 WHERE i = 1000000');
      return warmRate(times(150_000), () => expectRows(Number(update.run().changes), 0));
    },
  },
  {
    name: 'bind-nine', title: 'binding nine values', target: 1, stretch: 1, rows: true,
    run({ db, times }) {
      const insert = db.prepare(`INSERT INTO messages (mailbox_id, uid, date, flags, subject, from_addr, to_addr, message_id, raw)
        SELECT ?, ?, ?, ?, ?, ?, ?, ?, ? WHERE 0`);
      const some = messages(1, 64);
      return warmRate(times(80_000), (i) => expectRows(Number(insert.run(...some[i % 64]).changes), 0));
    },
  },
  {
    name: 'prepare', title: 'prepare() on a database of three tables', target: 1, stretch: 1, rows: true,
    run({ db, times }) {
      smallTable(db);
      return warmRate(times(20_000), () => db.prepare('SELECT t FROM small WHERE i = ?'));
    },
  },
  {
    name: 'uncached-blobs', title: 'uncached 3 KB blobs (cache_size=10)', prefill: 3000, target: 2.5, stretch: 0.8,
    run({ db, times, filled }) {
      db.exec('PRAGMA wal_checkpoint(TRUNCATE); PRAGMA cache_size=10');
      const select = db.prepare('SELECT raw FROM messages WHERE id = ?');
      return warmRate(times(15_000), (i) => expectRows(select.get(((i * 7919) % filled) + 1).raw.length, RAW_LEN));
    },
  },
  {
    // Twice the page cache, so that a scan finds none of its pages there.
    name: 'cold-scan', title: 'cold scan of the table', prefill: 4000, target: 4, stretch: 0.6,
    run({ db, times }) {
      db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      const select = db.prepare('SELECT max(raw) AS m FROM messages');
      return warmRate(times(8), () => expectRows(select.get().m.length, RAW_LEN));
    },
  },
  {
    name: 'vacuum', title: 'VACUUM', prefill: 4000, target: 2.5, stretch: 0.8,
    run({ db }) {
      db.exec('DELETE FROM messages WHERE id % 2 = 0');
      return rate(1, () => db.exec('VACUUM'));
    },
  },
  {
    name: 'reopen', title: 'reopen an existing mailbox and read its schema', prefill: 100, target: 3, process: true,
    run: reopening,
  },
  {
    name: 'reopen-key-cache', title: 'the same with the key cache of sealite', prefill: 100, stretch: 0.8, keyCache: true, process: true,
    run: reopening,
  },
  {
    name: 'memory', title: 'resident memory per open mailbox', target: 1, less: true, prefill: 100, process: true,
    run({ open }) {
      const before = process.memoryUsage.rss();
      const held = Array.from({ length: MAILBOXES_IN_MEMORY }, () => {
        const db = open();
        const select = db.prepare('SELECT id, date, flags, subject FROM messages WHERE mailbox_id = ? ORDER BY date DESC LIMIT 50');
        return [db, select, select.all(1).length];
      });
      const bytes = (process.memoryUsage.rss() - before) / held.length;
      for (const [db] of held) db.close();
      return bytes / 1024;
    },
  },
];

function reopening({ open, times }) {
  open().close();
  return rate(times(10), () => {
    const db = open();
    const { n } = db.prepare('SELECT count(*) AS n FROM sqlite_schema').get();
    if (n < 2) throw new Error('the schema has not been read');
    db.close();
  });
}

module.exports = { WORKLOADS, fill };
