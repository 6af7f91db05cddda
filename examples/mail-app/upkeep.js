// What the mail service does to a mailbox besides mail: health figures, checkpoint, statistics, VACUUM.
// Each function takes an open connection. Not here: the PRAGMAs of a connection (setup-pragma.js).

'use strict';

const fs = require('node:fs');

/** Share of free pages above which giving them back is worth rewriting the file. */
const VACUUM_ABOVE = 0.25;

/** A checkpoint that waits for readers holds up the mailbox; better busy now and done next time. */
const CHECKPOINT_WAIT_MS = 50;

function health(db) {
  const value = (name) => db.pragma(name, { simple: true });
  const pageCount = value('page_count');
  const freePages = value('freelist_count');
  const [{ busy, log, checkpointed }] = db.pragma('wal_checkpoint(PASSIVE)');
  return {
    pageCount,
    pageSize: value('page_size'),
    freePages,
    fragmentation: pageCount === 0 ? 0 : freePages / pageCount,
    fileBytes: fs.statSync(db.name).size,
    autoVacuum: ['NONE', 'FULL', 'INCREMENTAL'][value('auto_vacuum')],
    wal: { busy, log, checkpointed },
  };
}

/** Everything in the WAL goes to the file, unless a reader still needs the old pages: then busy is 1. */
function checkpoint(db) {
  const timeout = db.pragma('busy_timeout', { simple: true });
  db.pragma(`busy_timeout=${CHECKPOINT_WAIT_MS}`);
  try {
    return db.pragma('wal_checkpoint(FULL)')[0];
  } finally {
    db.pragma(`busy_timeout=${timeout}`);
  }
}

/** Fresh statistics from a sample of 400 rows per index, so the time does not grow with the mailbox. */
function analyze(db) {
  db.pragma('analysis_limit=400');
  db.exec('ANALYZE');
}

/** Returns whether the file was rewritten. */
function vacuumIfFragmented(db) {
  if (health(db).fragmentation <= VACUUM_ABOVE) return false;
  db.exec('VACUUM');
  return true;
}

function optimize(db) {
  db.pragma('optimize');
}

module.exports = { VACUUM_ABOVE, analyze, checkpoint, health, optimize, vacuumIfFragmented };
