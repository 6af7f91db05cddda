// Turns a fresh connection into the mail service's: cipher, key and PRAGMAs in the service's order.
//
// Not here: opening the file (mailbox.js), the tables (schema.js), what runs later on (upkeep.js).
// The benchmark passes its own `schemes` and `pragmas`; its configurations are variations of PRODUCTION.

'use strict';

/** Mailboxes are written with the first; older ones, still in the second, open by the fallback. */
const SCHEMES = ['chacha20', 'aes256cbc'];

/** What a connection answers when the scheme or the key does not fit the file. */
const DOES_NOT_FIT = new Set(['SQLITE_NOTADB', 'SQLITE_ERROR']);

/**
 * In the order the service sends them, after the key and journal_mode=WAL. Two need care:
 * auto_vacuum comes after journal_mode=WAL has written page 1, so a new file keeps 0 until its first
 * VACUUM; optimize=0x10002 lets SQLite analyse tables that were never analysed.
 */
const PRODUCTION = [
  ['secure_delete', 'ON'],
  ['auto_vacuum', 'FULL'],
  ['busy_timeout', '30000'],
  ['synchronous', 'NORMAL'],
  ['foreign_keys', 'ON'],
  ['encoding', "'UTF-8'"],
  ['optimize', '0x10002'],
  ['temp_store', '1'],
];

/** These write to the file, so a read-only connection leaves them out. */
const WRITES = new Set(['auto_vacuum', 'optimize']);

/**
 * @param db an open connection on which nothing has run yet
 * @param {Buffer} [passphrase] needed unless `schemes` is empty
 * @returns {{scheme: string|null, attempts: {scheme: string, code: string|null}[]}}
 */
function setupPragma(db, { passphrase, tempDirectory, schemes = SCHEMES, pragmas = PRODUCTION }) {
  const unlocked = unlock(db, passphrase, schemes);
  for (const [name, value] of pragmas) {
    if (!(db.readonly && WRITES.has(name))) db.pragma(`${name}=${value}`);
  }
  db.pragma(`temp_store_directory=${quote(tempDirectory)}`);
  if (db.readonly) db.pragma('query_only=ON');
  return unlocked;
}

/** Tries the schemes one after the other on the same connection; journal_mode=WAL is the first read. */
function unlock(db, passphrase, schemes) {
  const attempts = [];
  if (schemes.length === 0) db.pragma('journal_mode=WAL');
  for (const scheme of schemes) {
    try {
      db.pragma(`cipher=${quote(scheme)}`);
      db.key(passphrase);
      db.pragma('journal_mode=WAL');
      attempts.push({ scheme, code: null });
      return { scheme, attempts };
    } catch (error) {
      attempts.push({ scheme, code: error.code });
      if (!DOES_NOT_FIT.has(error.code) || attempts.length === schemes.length) throw error;
    }
  }
  return { scheme: null, attempts };
}

function quote(text) {
  return `'${text.replaceAll("'", "''")}'`;
}

module.exports = { PRODUCTION, SCHEMES, setupPragma };
