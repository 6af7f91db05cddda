'use strict';
// Who else has a file open.
//
// SQLite's locks show a connection that reads or writes, and in WAL mode each connection that has
// read. One that is open and idle shows nowhere but in the system's list of open files, which Linux has
// in /proc. It would go on with the old file after a rename and lose what it writes.

const fs = require('node:fs');

/** The ids of other processes that have the file open, as far as they can be seen. */
function processesWith(file) {
  if (process.platform !== 'linux') return [];
  const { dev, ino } = fs.statSync(file);
  const others = entries('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  return others.filter((pid) => entries(`/proc/${pid}/fd`).some((fd) => isFile(`/proc/${pid}/fd/${fd}`, dev, ino))).map(Number);
}

// A process that ended meanwhile, or that belongs to somebody else, shows nothing.
function entries(folder) {
  try {
    return fs.readdirSync(folder);
  } catch {
    return [];
  }
}

function isFile(link, dev, ino) {
  try {
    const found = fs.statSync(link);
    return found.dev === dev && found.ino === ino;
  } catch {
    return false;
  }
}

module.exports = { processesWith };
