'use strict';

// What is on a disk after the power went: built from a recorded run (disk.js). Of what was written
// after the last sync of a file any sectors may be there or not, in any mixture; of what was created
// and deleted after the last sync of the directory, a first part.

const SECTOR = 512;

/**
 * The files after the first `count` changes, on `base` ({name: bytes}). `random` null: the process was
 * killed, so that all its changes are there. Otherwise the power went. Gives {name: bytes}.
 */
function filesAfter(base, changes, count, random) {
  const disk = new Directory(base);
  for (const change of changes.slice(0, count)) disk.apply(change);
  return random === null ? disk.visible() : disk.afterPowerCut(random);
}

class Directory {
  constructor(base) {
    this.entries = new Map(Object.entries(base).map(([name, bytes]) => [name, new Inode(bytes)]));
    this.synced = new Map(this.entries);
    /** Creations and deletions since the last sync, in order. */
    this.pending = [];
  }

  apply(change) {
    const { kind, name } = change;
    if (kind === 'C') this.enter(name, new Inode(Buffer.alloc(0)));
    else if (kind === 'U') this.enter(name, null);
    else if (kind === 'S' && name === '') this.sync();
    else if (kind === 'S') this.entries.get(name).sync();
    else this.entries.get(name).change(change);
  }

  enter(name, inode) {
    this.pending.push([name, inode]);
    put(this.entries, name, inode);
  }

  sync() {
    this.synced = new Map(this.entries);
    this.pending = [];
  }

  visible() {
    return contents(this.entries, (inode) => inode.visible());
  }

  afterPowerCut(random) {
    const entries = new Map(this.synced);
    const kept = Math.floor(random() * (this.pending.length + 1));
    for (const [name, inode] of this.pending.slice(0, kept)) put(entries, name, inode);
    return contents(entries, (inode) => inode.afterPowerCut(random));
  }
}

function put(entries, name, inode) {
  if (inode) entries.set(name, inode);
  else entries.delete(name);
}

function contents(entries, bytesOf) {
  return Object.fromEntries([...entries].map(([name, inode]) => [name, bytesOf(inode)]));
}

class Inode {
  constructor(bytes) {
    this.synced = bytes;
    this.pending = [];
  }

  change(change) {
    this.pending.push(change);
  }

  sync() {
    this.synced = this.visible();
    this.pending = [];
  }

  visible() {
    return this.pending.reduce((bytes, change) => applied(bytes, change, 0), this.synced);
  }

  afterPowerCut(random) {
    // Nothing, everything, or a share of the sectors; what was lost in between is zero or rubbish.
    const share = [0, 1, 0.1, 0.5, 0.9][Math.floor(random() * 5)];
    const filler = random() < 0.5 ? 0 : 0xa5;
    return this.pending
      .flatMap((change) => sectors(change))
      .filter(() => random() < share)
      .reduce((bytes, change) => applied(bytes, change, filler), this.synced);
  }
}

/** A write as one write per sector; another change as it is. */
function sectors(change) {
  if (change.kind !== 'W') return [change];
  const parts = [];
  for (let at = 0; at < change.data.length;) {
    const end = Math.min(change.data.length, at + SECTOR - ((change.offset + at) % SECTOR));
    parts.push({ ...change, offset: change.offset + at, data: change.data.subarray(at, end) });
    at = end;
  }
  return parts;
}

function applied(bytes, { kind, offset, data }, filler) {
  const length = kind === 'T' ? offset : Math.max(bytes.length, offset + data.length);
  const result = Buffer.alloc(length, filler);
  bytes.copy(result, 0, 0, Math.min(bytes.length, length));
  if (kind === 'W') data.copy(result, offset);
  return result;
}

module.exports = { filesAfter };
