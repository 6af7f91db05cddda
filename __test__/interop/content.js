'use strict';

// The content of a stored mailbox as one number that can stand in a manifest.

const crypto = require('node:crypto');

const QUERIES = [
  'SELECT * FROM mailboxes ORDER BY id',
  'SELECT * FROM messages ORDER BY id',
  'SELECT rowid, subject, body FROM search ORDER BY rowid',
];

/** SHA-256 over the rows of all tables, each row as a JSON array on its own line, bytes as hex. */
function contentDigest(db) {
  const hash = crypto.createHash('sha256');
  for (const sql of QUERIES) {
    for (const row of db.prepare(sql).raw().iterate()) {
      const values = row.map((value) => (Buffer.isBuffer(value) ? value.toString('hex') : value));
      hash.update(`${JSON.stringify(values)}\n`);
    }
  }
  return hash.digest('hex');
}

module.exports = { contentDigest };
