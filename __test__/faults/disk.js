'use strict';

// The library that stands between a process and its disk (../support/faulty_disk.c), from the
// outside: starting a process under it, saying which call fails, reading what it recorded.

const assert = require('node:assert/strict');
const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { modulePath, isPeer, tempDir } = require('../support/database.js');
const { compile, hasCompiler } = require('../support/extension.js');

/** Why these tests are skipped, or false. */
const skip = process.platform !== 'linux' ? 'needs LD_PRELOAD' : !hasCompiler ? 'no C compiler' : isPeer && 'about sealite alone';

const KINDS = { read: 1, write: 2, sync: 4, truncate: 8, unlink: 16 };
const FIELDS = ['kinds', 'failAt', 'error', 'lasting', 'count', 'failed', 'recording', 'mark'];
const RECORD_HEAD = 16;

/** The control file of a process, from within that process. */
class Disk {
  constructor(file) {
    this.fd = fs.openSync(file, 'r+');
  }

  /** From now on; what is not given is zero. */
  set(values) {
    const bytes = Buffer.alloc(4 * FIELDS.length);
    FIELDS.forEach((name, at) => bytes.writeInt32LE(values[name] ?? 0, 4 * at));
    fs.writeSync(this.fd, bytes, 0, bytes.length, 0);
  }

  get() {
    const bytes = Buffer.alloc(4 * FIELDS.length);
    fs.readSync(this.fd, bytes, 0, bytes.length, 0);
    return Object.fromEntries(FIELDS.map((name, at) => [name, bytes.readInt32LE(4 * at)]));
  }

  /** The calls of this kind fail from the n-th on, or the n-th alone. */
  fail(kind, n, error, lasting) {
    this.set({ kinds: KINDS[kind], failAt: n, error: os.constants.errno[error], lasting: lasting ? 1 : 0 });
  }

  mend() {
    this.set({});
  }

  record(mark) {
    this.set({ recording: 1, mark });
  }
}

/**
 * Runs child.js with a job in a process under the library; gives what it answered and recorded.
 * The files that count are those in `dir`; its temporary files are there, too, if `temporaryHere`.
 */
function runUnderDisk(t, dir, job, { temporaryHere = false } = {}) {
  const place = tempDir(t);
  const [control, log] = ['control', 'log'].map((name) => path.join(place, name));
  fs.writeFileSync(control, Buffer.alloc(4 * FIELDS.length));
  const env = {
    ...process.env,
    LD_PRELOAD: compile(place, 'faulty_disk', ['-ldl']),
    DISK_DIR: dir,
    DISK_CONTROL: control,
    DISK_LOG: log,
    SQLITE_TMPDIR: temporaryHere ? dir : place,
  };
  const input = JSON.stringify({ ...job, modulePath, control });
  const child = path.join(__dirname, 'child.js');
  const { stdout, stderr, status, signal } = spawnSync(process.execPath, [child], { env, input, encoding: 'utf8', maxBuffer: 2 ** 28 });
  assert.equal(status, 0, `${signal ?? status}: ${stderr}`);
  return { answer: JSON.parse(stdout), changes: parseLog(fs.readFileSync(log), dir) };
}

/** The changes in order: {kind, mark, name, offset, data}; `name` is below `dir`, '' for itself. */
function parseLog(bytes, dir) {
  const changes = [];
  for (let at = 0; at < bytes.length;) {
    const pathLength = bytes.readUInt16LE(at + 2);
    const dataAt = at + RECORD_HEAD + pathLength;
    const end = dataAt + bytes.readUInt32LE(at + 4);
    changes.push({
      kind: String.fromCharCode(bytes[at]),
      mark: bytes[at + 1],
      name: bytes.toString('utf8', at + RECORD_HEAD, dataAt).slice(dir.length + 1),
      offset: Number(bytes.readBigInt64LE(at + 8)),
      data: bytes.subarray(dataAt, end),
    });
    at = end;
  }
  return changes;
}

module.exports = { skip, KINDS, Disk, runUnderDisk };
