'use strict';
// A new file beside the one it is to replace: made, synced, removed when it is not wanted.

const crypto = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');

const { Failure } = require('./outcome');

const SUFFIXES = ['', '-journal', '-wal', '-shm'];
const MODE_BITS = 0o777;

/** An empty file in the folder of `target`, which nobody else can read before it is complete. */
function inPlaceOf(target, { mode, uid, gid }) {
  const name = `.${path.basename(target)}.${process.pid}-${crypto.randomBytes(4).toString('hex')}.new`;
  const file = path.join(path.dirname(target), name);
  fs.closeSync(fs.openSync(file, 'wx', 0o600));
  return {
    path: file,
    /** Owner and rights of the file that it comes from. */
    adopt() {
      // First the owner: rights for a group are not for the one that the file has meanwhile.
      const { uid: ours, gid: group } = fs.statSync(file);
      if (ours !== uid || group !== gid) fs.chownSync(file, uid, gid);
      fs.chmodSync(file, mode & MODE_BITS);
    },
    remove() {
      for (const suffix of SUFFIXES) fs.rmSync(file + suffix, { force: true });
    },
  };
}

function syncFile(file) {
  const fd = fs.openSync(file, 'r+');
  try {
    fs.fsyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

/** Makes a new name in a folder last. Windows knows no such call and needs none. */
function syncFolderOf(file) {
  if (process.platform === 'win32') return;
  const fd = fs.openSync(path.dirname(file), 'r');
  try {
    fs.fsyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

/**
 * Refuses a name that is taken. A WAL or a journal that another database left there would be played
 * back into the new one.
 */
function refuseTaken(target) {
  const taken = [target, `${target}-wal`, `${target}-journal`].find((name) => fs.existsSync(name));
  if (taken !== undefined) throw new Failure(`${taken} exists already`);
}

/** Gives the new file a name that nobody has taken meanwhile. */
function publish(fresh, target) {
  try {
    fs.linkSync(fresh, target);
  } catch (error) {
    // Some file systems know no second name; there a name taken in this very moment is lost.
    if (error.code === 'EEXIST' || fs.existsSync(target)) throw error;
    fs.renameSync(fresh, target);
  }
  syncFolderOf(target);
}

module.exports = { inPlaceOf, publish, refuseTaken, syncFile, syncFolderOf };
