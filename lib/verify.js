'use strict';
// verify(db, { structure, progress }): reads every page of a database in one read transaction and
// says which are bad. For the command line.
//
// A scheme with a tag proves each page. Without one, or when asked, or when page 1 reserves other
// bytes than its scheme keeps, SQLite's integrity check looks at what the pages hold.

const HANDLE = require('./handle');

const PART = 1024;
const MAX_MESSAGES = 100;

module.exports = function verify(db, { structure = false, progress = () => {} } = {}) {
  db.exec('BEGIN');
  try {
    return check(db, structure, progress);
  } finally {
    db.exec('ROLLBACK');
  }
};

function check(db, structure, progress) {
  const handle = db[HANDLE];
  const { pageCount, pageSize, reserve, schemeReserve, authenticated, problems } = handle.extent();
  const bad = [];
  for (let first = 1; first <= pageCount; first += PART) {
    bad.push(...handle.checkPages(first, PART));
    progress(Math.min(first + PART - 1, pageCount), pageCount);
  }
  const misfit = schemeReserve !== null && reserve !== schemeReserve;
  const looksInside = bad.length === 0 && (structure || !authenticated || misfit);
  const found = looksInside ? integrityCheck(db) : [];
  // A reserve that is larger than needed is no fault if the pages were written with it.
  if (misfit && (reserve < schemeReserve || found.length > 0)) {
    problems.push(`page 1 reserves ${reserve} bytes of each page, the scheme keeps ${schemeReserve}`);
  }
  const badPages = new Set([...bad.map(({ page }) => page), ...found.flatMap(pagesIn)]);
  return {
    ok: bad.length + problems.length + found.length === 0,
    pages: pageCount,
    pageSize,
    authenticated,
    structureChecked: looksInside,
    badPages: [...badPages].sort((a, b) => a - b),
    problems: [...bad.map(({ page, code }) => `page ${page}: ${code}`), ...problems, ...found],
  };
}

// The check can end in an error when it has told the first faults.
function integrityCheck(db) {
  const messages = [];
  try {
    for (const message of db.prepare(`PRAGMA integrity_check(${MAX_MESSAGES})`).pluck().iterate()) messages.push(message);
  } catch (error) {
    messages.push(error.message);
  }
  return messages.length === 1 && messages[0] === 'ok' ? [] : messages;
}

// Messages name a page as "page 12" or "Tree 3 page 12".
function pagesIn(message) {
  return [...message.matchAll(/\bpage (\d+)/g)].map(([, number]) => Number(number));
}
