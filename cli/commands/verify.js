'use strict';
// sealite verify FILE: reads every page. Nothing is written.

const check = require('../../lib/verify');
const { openWith, unlock } = require('../open');
const { EXIT } = require('../outcome');

module.exports = async function verify({ values, operands: [file], secrets, progress }) {
  const lock = await unlock(file, { values, secrets });
  const db = openWith(file, lock, { readonly: true });
  try {
    const result = checked(db, values, progress);
    return { result: { file, ...result }, text: describe(file, result), exitCode: result.ok ? EXIT.ok : EXIT.damaged };
  } finally {
    db.close();
  }
};

// A database that cannot even be begun to read, such as one that is cut short, is damaged as a whole.
function checked(db, { structure }, progress) {
  try {
    return check(db, { structure, progress: (done, total) => progress.update('Reading', done, total) });
  } catch (error) {
    if (!/^SQLITE_CORRUPT/.test(error.code)) throw error;
    return { ok: false, pages: null, authenticated: null, structureChecked: false, badPages: [], problems: [`${error.message} (${error.code})`] };
  }
}

function describe(file, { ok, pages, authenticated, structureChecked, badPages, problems }) {
  const how = [authenticated ? 'tags' : null, structureChecked ? 'structure' : null].filter(Boolean).join(' and ') || 'reading';
  if (ok) return `${file}: ${pages} pages, ${how} in order`;
  const numbers = badPages.length === 0 ? '' : `; bad pages: ${badPages.join(', ')}`;
  return [`${file}: damaged${numbers}`, ...problems.map((problem) => `  ${problem}`)].join('\n');
}
