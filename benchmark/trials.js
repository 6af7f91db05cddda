// What is measured: the configurations, the engines and the amounts of work. Definitions only.
//
// Not here: doing the work (trial.js), the order of the trials (index.mjs), their figures (results.mjs).

'use strict';

const { PRODUCTION } = require('../examples/mail-app/setup-pragma.js');

/**
 * `set` replaces or adds PRAGMAs of the service's production order, `first` come before them and before
 * journal_mode=WAL. `why` is the question asked.
 */
const CONFIGURATIONS = [
  {
    name: 'production',
    why: 'What every mailbox of the service runs with; the row that decides about replacing the package.',
    expected: 'Against better-sqlite3-multiple-ciphers: set-up in half the time, 1.4 times the inserts.',
    set: [],
  },
  {
    name: 'temp-store-memory',
    why: 'Does keeping temporary tables in memory pay? Nothing timed here spills, so only noise should show.',
    set: [['temp_store', '2']],
  },
  {
    name: 'synchronous-off',
    why: 'What is left when no commit or checkpoint waits for the disk: the cost of the code alone.',
    set: [['synchronous', 'OFF']],
  },
  {
    name: 'synchronous-extra',
    why: 'The other end: each commit waits for the disk, so the engines should move together.',
    set: [['synchronous', 'EXTRA']],
  },
  {
    name: 'auto-vacuum-none',
    why: 'The price of auto_vacuum=FULL, for files on which it is in force (see the auto_vacuum column).',
    set: [['auto_vacuum', 'NONE']],
  },
  {
    name: 'auto-vacuum-incremental',
    why: 'The middle way of the published suite; same remark.',
    set: [['auto_vacuum', 'INCREMENTAL']],
  },
  {
    name: 'wal-autocheckpoint-1000',
    why: 'The published winner. 1000 is what SQLite does anyway, so a difference to production is noise.',
    set: [['wal_autocheckpoint', '1000']],
  },
  {
    name: 'wal-autocheckpoint-0',
    why: 'The WAL is never put back by itself: what the checkpoints cost, and what a long WAL costs.',
    set: [['wal_autocheckpoint', '0']],
  },
  {
    name: 'auto-vacuum-full-in-force',
    why: 'The price of auto_vacuum=FULL on files that have it, as old mailboxes do.',
    first: [['auto_vacuum', 'FULL']],
    set: [],
  },
  {
    name: 'auto-vacuum-incremental-in-force',
    why: 'The same for INCREMENTAL; freed pages stay until incremental_vacuum is called.',
    first: [['auto_vacuum', 'INCREMENTAL']],
    set: [['auto_vacuum', 'INCREMENTAL']],
  },
  {
    name: 'aes256cbc',
    why: 'The scheme of the old mailboxes.',
    scheme: 'aes256cbc',
    set: [],
  },
  {
    name: 'cache-64mb',
    why: 'A cache larger than the mailbox; a page that stays in it is decrypted once.',
    set: [['cache_size', '-64000']],
  },
  {
    name: 'mmap-256mb',
    why: 'Mapped pages cannot be used as they are when encrypted; the published suite saw little.',
    set: [['mmap_size', '268435456']],
  },
  {
    name: 'no-encryption',
    why: 'The same work in clear text for all: what separates the engines apart from the cipher.',
    clearText: true,
    set: [],
  },
];

/** `scheme: null` means that the engine has no encryption. */
const ENGINES = [
  { name: 'sealite', scheme: 'chacha20' },
  { name: 'better-sqlite3-multiple-ciphers', scheme: 'chacha20' },
  { name: 'better-sqlite3', scheme: null },
];

/**
 * Operations per suite, each a transaction of its own. 'published' is the service's amount, cold and
 * short; 'long' runs on in the same process and goes through several checkpoints. `limitMs` ends each
 * kind of operation early: a disk that takes 4 ms for a commit would need 24 s for one long suite.
 */
const FULL = {
  prefill: 1000,
  suites: [
    { name: 'published', insert: 100, select: 1000, update: 100, delete: 100 },
    { name: 'long', insert: 2000, select: 2000, update: 2000, delete: 2000, limitMs: 1000 },
  ],
};
const QUICK = {
  prefill: 1000,
  suites: [FULL.suites[0], { name: 'long', insert: 500, select: 500, update: 500, delete: 500, limitMs: 500 }],
};
const SMOKE = {
  prefill: 200,
  suites: [
    { name: 'published', insert: 3, select: 3, update: 3, delete: 3 },
    { name: 'long', insert: 5, select: 5, update: 5, delete: 5 },
  ],
};

function pragmasOf(configuration) {
  const changed = new Map([...PRODUCTION, ...configuration.set]);
  return [...changed];
}

module.exports = { CONFIGURATIONS, ENGINES, FULL, QUICK, SMOKE, pragmasOf };
