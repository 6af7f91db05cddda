'use strict';
// Opens a file for a command: finds out what its key needs, and gives a keyed connection.

const Database = require('..');
const { settings } = require('./arguments');
const { EXIT, Failure } = require('./outcome');

const DEFAULT_CIPHER = 'chacha20';

/** What was found out about the file, and PRAGMAs and key that open it; `key` null: it is plain. */
async function unlock(file, { values, secrets }, { key: given } = {}) {
  if (values.plain || isPlain(file)) return { pragmas: [], key: null };
  const key = given ?? await secrets.current();
  const { database, description } = Database.inspect(file, { key, cipher: values.cipher, params: settings(values.set) });
  if (database === null) throw new Failure(`The key does not open ${file}, or its first page is damaged. ${description}`, EXIT.key);
  return { pragmas: database.pragmas, key };
}

function isPlain(file) {
  const { kind, database } = Database.inspect(file);
  return kind === 'empty' || database !== null;
}

/** Opens a file that exists, with what `unlock` found. */
function openWith(file, { pragmas, key }, options = {}) {
  const db = new Database(file, { fileMustExist: true, ...options });
  try {
    for (const pragma of pragmas) db.pragma(pragma);
    if (key !== null) db.key(key);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** The PRAGMAs of a scheme that is asked for: `legacy` first, as it moves others. */
function pragmasFor(cipher = DEFAULT_CIPHER, list = []) {
  const wanted = Object.entries(settings(list)).sort(([a], [b]) => (b === 'legacy') - (a === 'legacy'));
  return [`cipher='${cipher.replaceAll("'", "''")}'`, ...wanted.map(([name, value]) => `${name}=${literal(value)}`)];
}

const literal = (value) => (/^\d+$/.test(value) ? value : `'${value.replaceAll("'", "''")}'`);

module.exports = { unlock, openWith, pragmasFor };
