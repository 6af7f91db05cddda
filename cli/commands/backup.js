'use strict';
// sealite backup FILE COPY: a copy under the key of the database, while others use it.

const fs = require('node:fs');

const { openWith, unlock } = require('../open');
const { inPlaceOf, publish, refuseTaken, syncFile } = require('../new-file');

module.exports = async function backup({ values, operands: [file, copy], secrets, progress }) {
  refuseTaken(copy);
  const lock = await unlock(file, { values, secrets });
  const db = openWith(file, lock, { readonly: true });
  const fresh = inPlaceOf(copy, fs.statSync(file));
  try {
    const { totalPages } = await db.backup(fresh.path, {
      progress: ({ totalPages: total, remainingPages }) => progress.update('Copying', total - remainingPages, total),
    });
    fresh.adopt();
    syncFile(fresh.path);
    publish(fresh.path, copy);
    return { result: { file, copy, pages: totalPages }, text: `${copy}: ${totalPages} pages` };
  } finally {
    db.close();
    fresh.remove();
  }
};
