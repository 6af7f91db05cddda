'use strict';

// The child of unreadable-files.test.js: everyday work on one database with temporary files on disk, in
// steps that are named in the log of what was written. Every row holds the marker many times.
//
//   node everyday.js <module> <directory> <lock as JSON>     prints what the database says at the end

const fs = require('node:fs');
const path = require('node:path');

const [module_, dir, lock] = process.argv.slice(2);
const Database = require(module_);
const marker = process.env.WATCHED_MARKER;
const { pragmas, key, otherKey, journalMode, tempDirectory } = JSON.parse(lock);

/** More than a sort keeps in memory, more than a cache of ten pages holds. */
const ROWS = 1800;
const BODY = `substr(replace(hex(zeroblob(30)), '00', '${marker}'), 1, 700 + i % 10)`;
const ROW = `printf('%08d ', i * 7919 % ${ROWS}) || ${BODY}`;
const numbers = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS})`;

const steps = {
  'fill a table': (db) => db.exec(`CREATE TABLE mail (id INTEGER PRIMARY KEY, body TEXT, n INT);
    ${numbers} INSERT INTO mail SELECT i, ${ROW}, i FROM n`),
  'sort large rows': (db) => db.prepare('SELECT body, n FROM mail ORDER BY body DESC').all().length,
  'group, and remove doubles': (db) => db.prepare('SELECT count(*) FROM (SELECT DISTINCT body FROM mail UNION SELECT body || 1 FROM mail)').get(),
  'create an index': (db) => db.exec('CREATE UNIQUE INDEX by_body ON mail (body)'),
  'fill a temporary table': (db) => db.exec('CREATE TEMP TABLE draft AS SELECT * FROM mail; CREATE INDEX temp.by_n ON draft (n, body)'),
  'change a temporary table': (db) => db.exec('UPDATE draft SET body = body || n; DELETE FROM draft WHERE n % 3 = 0'),
  'roll back in a temporary table': (db) => db.exec('BEGIN; UPDATE draft SET body = n || body; ROLLBACK'),
  'a statement that may fail': (db) => db.exec("BEGIN; UPDATE mail SET n = n + 1; UPDATE mail SET body = body || '.' WHERE id % 4 = 0; COMMIT"),
  'a statement that fails': (db) => {
    db.exec('BEGIN; UPDATE mail SET n = n + 1');
    try {
      db.exec(`UPDATE mail SET body = CASE id WHEN ${ROWS} THEN (SELECT body FROM mail WHERE id = 1) ELSE body || 'x' END WHERE id % 4 = 0`);
    } catch (error) {
      if (error.code !== 'SQLITE_CONSTRAINT_UNIQUE') throw error;
    }
    db.exec('COMMIT');
  },
  'upsert': (db) => db.exec(`BEGIN; UPDATE mail SET n = n + 1; INSERT INTO mail SELECT id, body, n FROM mail WHERE id % 4 = 0
    ON CONFLICT (id) DO UPDATE SET body = excluded.body || n; COMMIT`),
  'savepoints': (db) => db.exec(`BEGIN; UPDATE mail SET n = n + 1; SAVEPOINT a; UPDATE mail SET body = '${marker}' || body WHERE id % 4 = 0;
    SAVEPOINT b; DELETE FROM mail WHERE id % 8 = 0; ROLLBACK TO b; RELEASE b; ROLLBACK TO a; COMMIT`),
  'delete': (db) => db.exec('DELETE FROM mail WHERE id % 5 = 0'),
  'VACUUM': (db) => db.exec('VACUUM'),
  'VACUUM INTO': (db) => db.exec(`VACUUM INTO '${path.join(dir, 'into.db')}'`),
  'backup under the same key': (db) => isOurs && db.backup(path.join(dir, 'same.db')),
  'backup under another cipher': (db) => isOurs && key && db.backup(path.join(dir, 'other.db'), { key: Buffer.from('other'), cipher: other(db) }),
  'rekey': (db) => key && db.rekey(Buffer.from(otherKey)),
};

const isOurs = typeof Database.prototype.rekey === 'function' && require(path.join(module_, 'package.json')).name === 'sealite';
/** A scheme that reserves another number of bytes of each page, so that the pages are converted. */
const other = (db) => (/^(rc4|aes...cbc)$/.test(db.pragma('cipher', { simple: true })) ? 'chacha20' : 'rc4');

async function run() {
  const db = new Database(path.join(dir, 'mail.db'));
  for (const pragma of pragmas) db.pragma(pragma);
  if (key) db.key(Buffer.from(key));
  for (const pragma of [`journal_mode=${journalMode}`, 'synchronous=OFF', 'temp_store=1', 'cache_size=10', 'temp.cache_size=10', 'wal_autocheckpoint=100']) db.pragma(pragma);
  if (tempDirectory) db.pragma(`temp_store_directory='${tempDirectory}'`);
  for (const [name, step] of Object.entries(steps)) {
    fs.appendFileSync(process.env.WATCHED_LOG, `= ${name}\n`);
    await step(db);
  }
  const [{ rows, ids, n }] = db.prepare('SELECT count(*) AS rows, sum(id) AS ids, sum(n) AS n FROM mail').all();
  const drafts = db.prepare('SELECT count(*) FROM draft').pluck().get();
  console.log(JSON.stringify({ rows, ids, n, drafts, check: db.pragma('integrity_check', { simple: true }) }));
  db.close();
}

run();
