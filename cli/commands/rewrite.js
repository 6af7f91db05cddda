'use strict';
// sealite encrypt, decrypt, rekey, convert: writes the database anew beside the original, under
// another key or scheme, and puts the new file in its place when it is complete and on the disk.
//
// Until then the original changes in no byte, except that a journal which a crash left is played back
// when the file is opened. The new file is made of a copy under the old key, so that no step of
// it is in clear unless the original or the result is.

const fs = require('node:fs');

const { settings } = require('../arguments');
const { openWith, pragmasFor, unlock } = require('../open');
const { EXIT, Failure } = require('../outcome');
const { inPlaceOf, publish, refuseTaken, syncFile, syncFolderOf } = require('../new-file');
const { processesWith } = require('../in-use');

module.exports = async function rewrite(call) {
  const { command, values, operands: [name], progress } = call;
  const file = fs.realpathSync(name);
  const target = values.output ?? file;
  if (values.output === undefined) refuseOtherNames(file);
  else refuseTaken(target);
  const { from, to } = await PLANS[command](file, call);
  const replaces = target === file;
  const db = openWith(file, from, replaces ? { timeout: 0 } : { readonly: true });
  const fresh = inPlaceOf(target, fs.statSync(file));
  try {
    if (replaces) holdAlone(db, file);
    const journalMode = db.pragma('journal_mode', { simple: true });
    await copy(db, fresh.path, progress);
    progress.say('Writing pages under the new key');
    const { pages, pragmas } = change(fresh.path, from, to, journalMode);
    fresh.adopt();
    syncFile(fresh.path);
    if (replaces) replace(db, fresh.path, file);
    else publish(fresh.path, target);
    const output = values.output ?? name;
    return { result: { file: name, output, pages, pragmas }, text: describe(output, pages, pragmas) };
  } finally {
    db.close();
    fresh.remove();
  }
};

/** For each command: what opens the file, and what is to open the new one. */
const PLANS = {
  async encrypt(file, { values, secrets }) {
    const from = await unlock(file, { values: { ...values, plain: false }, secrets: NO_SECRETS });
    const key = await secrets.chosen();
    return { from, to: { pragmas: pragmasFor(values.cipher, values.set), key } };
  },
  async decrypt(file, call) {
    return { from: encrypted(file, await unlock(file, call)), to: { pragmas: [], key: null } };
  },
  async rekey(file, call) {
    const from = encrypted(file, await unlock(file, call));
    return { from, to: { pragmas: from.pragmas, key: await call.secrets.chosen({ as: 'new-key' }) } };
  },
  async convert(file, call) {
    const { values, secrets } = call;
    const from = encrypted(file, await unlock(file, call));
    const key = await secrets.chosen({ as: 'new-key', ask: values['new-key'] });
    const cipher = values['to-cipher'] ?? /^cipher='(.*)'$/.exec(from.pragmas[0])[1];
    return { from, to: { pragmas: pragmasFor(cipher, values['to-set']), key: key ?? from.key } };
  },
};

const NO_SECRETS = {
  current() {
    throw new Failure('The file is encrypted already, or no database: use rekey or convert', EXIT.failed);
  },
};

function encrypted(file, lock) {
  if (lock.key === null) throw new Failure(`${file} is not encrypted: use encrypt`);
  return lock;
}

// With this locking mode the lock stays until the connection is closed; in WAL mode it cannot be had
// while another connection exists, and the WAL's index is not shared.
function holdAlone(db, file) {
  db.pragma('locking_mode = EXCLUSIVE');
  try {
    db.exec('BEGIN EXCLUSIVE; COMMIT');
  } catch (error) {
    if (!/^SQLITE_(BUSY|LOCKED)/.test(error.code)) throw error;
    throw new Failure(`${file} is in use by another connection`, EXIT.inUse);
  }
  refuseOthers(file);
}

// A rename gives one name the new file; another link would go on with the old one, keys and all.
function refuseOtherNames(file) {
  const { nlink } = fs.statSync(file);
  if (nlink > 1) throw new Failure(`${file} has another name (a hard link), which would keep the old content: use --output`);
}

function refuseOthers(file) {
  const others = processesWith(file);
  if (others.length > 0) throw new Failure(`${file} is open in process ${others.join(', ')}`, EXIT.inUse);
}

function copy(db, path, progress) {
  return db.backup(path, {
    progress: ({ totalPages, remainingPages }) => {
      progress.update('Copying', totalPages - remainingPages, totalPages);
    },
  });
}

/** Gives the copy its key; answers its number of pages and the PRAGMAs that open it. */
function change(path, from, to, journalMode) {
  const db = openWith(path, from);
  try {
    db.pragma('journal_mode = DELETE');
    db.pragma('synchronous = FULL');
    const pragmas = to.pragmas.filter((pragma) => !pragma.startsWith('cipher_salt='));
    for (const pragma of pragmas) db.pragma(pragma);
    pragmas.push(...pageSizeFor(db, pragmas));
    db.rekey(to.key ?? Buffer.alloc(0));
    if (journalMode === 'wal') db.pragma('journal_mode = WAL');
    return { pages: db.pragma('page_count', { simple: true }), pragmas: withSalt(db, pragmas) };
  } finally {
    db.close();
  }
}

// A legacy mode assumes a page size; that of a database cannot be changed on the way, so it is told.
function pageSizeFor(db, pragmas) {
  const pageSize = db.pragma('page_size', { simple: true });
  const isLegacy = Number(settings(pragmas).legacy) > 0;
  if (!isLegacy || Number(db.pragma('legacy_page_size', { simple: true })) === pageSize) return [];
  db.pragma(`legacy_page_size=${pageSize}`);
  return [`legacy_page_size=${pageSize}`];
}

// With a header in clear the file does not hold the salt of its new key.
function withSalt(db, pragmas) {
  if (!(Number(settings(pragmas).plaintext_header_size) > 0)) return pragmas;
  return [...pragmas, `cipher_salt='${db.pragma('cipher_salt', { simple: true })}'`];
}

// The new file must not meet the old one's WAL. It is folded in and gone before the name changes
// hands, while nobody else can open the database.
function replace(db, fresh, file) {
  if (db.pragma('journal_mode = DELETE', { simple: true }) !== 'delete' || fs.existsSync(`${file}-wal`)) {
    throw new Failure(`The WAL of ${file} could not be folded in`, EXIT.inUse);
  }
  // What other connections left: an index of that WAL, and a journal that is kept for later use, with
  // pages as they were. It is not hot: that was seen when the database was opened, and it is locked since.
  for (const suffix of ['-shm', '-journal']) fs.rmSync(file + suffix, { force: true });
  refuseOthers(file);
  fs.renameSync(fresh, file);
  syncFolderOf(file);
}

function describe(target, pages, pragmas) {
  if (pragmas.length === 0) return `${target}: ${pages} pages, plain`;
  return [`${target}: ${pages} pages. To open it, before the key:`, ...pragmas.map((pragma) => `  PRAGMA ${pragma};`)].join('\n');
}
