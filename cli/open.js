'use strict';
// Opens a file for a command: finds out what its key needs, and gives a keyed connection.

const path = require('node:path');

const Database = require('..');
const { UsageError, settings } = require('./arguments');
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
  // Whole, as Database knows names that are no files.
  const db = new Database(path.resolve(file), { fileMustExist: true, ...options });
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
  checkParameters(cipher, wanted);
  return [`cipher='${cipher.replaceAll("'", "''")}'`, ...wanted.map(([name, value]) => `${name}=${literal(value)}`)];
}

// A PRAGMA that is unknown or out of range changes nothing and is no error: the file would be under
// other parameters than those that were asked for.
function checkParameters(cipher, wanted) {
  const db = new Database(':memory:', { cipher });
  try {
    const known = db.prepare('SELECT sqlite3mc_config(?)').pluck().get(cipher).split(',');
    const number = db.prepare('SELECT sqlite3mc_config(?, ?)').pluck();
    for (const [name, value] of wanted) {
      if (!known.includes(name)) throw new UsageError(`The scheme ${cipher} has no parameter '${name}'`);
      const shown = db.pragma(`${name}=${literal(value)}`, { simple: true });
      const taken = isNumber(value) ? Number(value) === number.get(cipher, `default:${name}`) : value.toLowerCase() === shown.toLowerCase();
      if (!taken) throw new UsageError(`'${value}' is not a value of the parameter '${name}'`);
    }
  } finally {
    db.close();
  }
}

const isNumber = (value) => /^\d+$/.test(value);
const literal = (value) => (isNumber(value) ? value : `'${value.replaceAll("'", "''")}'`);

module.exports = { unlock, openWith, pragmasFor };
