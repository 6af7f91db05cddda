'use strict';
// sealite inspect FILE: what the file is and, with a key, what opens it.

const Database = require('../..');
const { settings } = require('../arguments');
const { EXIT } = require('../outcome');

module.exports = async function inspect({ values, operands: [file], secrets }) {
  const key = await secrets.current({ ask: values.ask });
  const found = Database.inspect(file, { key, cipher: values.cipher, params: settings(values.set) });
  const exitCode = key !== null && found.database === null ? EXIT.key : EXIT.ok;
  return { result: { file, ...found }, text: describe(file, found, key !== null), exitCode };
};

function describe(file, found, keyed) {
  const lines = [file, `  ${found.description}`];
  if (found.wal) lines.push(`  WAL: ${found.wal.committedFrames} committed frames of ${found.wal.pageSize} bytes, salt ${found.wal.salt}`);
  if (found.journal) lines.push(`  Journal: ${journalState(found.journal)}`);
  if (found.database) lines.push(...describeDatabase(found.database));
  else if (keyed) lines.push('  The key does not open it. Tried:', ...found.tried.map((label) => `    ${label}`));
  return lines.join('\n');
}

function journalState({ hot, valid, records, size }) {
  if (hot) return `hot, ${records} pages to be played back`;
  if (valid) return `in use, ${records} pages`;
  return size === 0 ? 'empty' : 'not valid: it is kept for later use';
}

function describeDatabase(db) {
  const what = db.cipher === null ? 'plain, no key needed' : `opens as ${db.cipher}${db.authenticated ? '' : ' (without tags)'}`;
  return [
    `  Database: ${what}; page 1 is in the ${db.page1From}`,
    ...(db.cipher === null ? [] : ['  To open it, before the key:', ...db.pragmas.map((pragma) => `    PRAGMA ${pragma};`)]),
    `  Pages: ${db.pageCount ?? 'unknown number'} of ${db.pageSize} bytes, ${db.reserve} reserved, ${db.freePages} free`,
    `  user_version ${db.userVersion}, application_id ${db.applicationId}, journal ${db.journalMode}, ${db.encoding}, `
      + `auto_vacuum ${db.autoVacuum}, SQLite ${db.sqliteVersion}`,
    ...(db.problems.length === 0 ? ['  Page 1 is in order'] : ['  Problems:', ...db.problems.map((problem) => `    ${problem}`)]),
  ];
}
