'use strict';

// Child processes with a database module in them, as objects: `ours` is the module under test, `peer`
// the replaced package under a Node that it supports. The child's side is peer-child.js.

const { fork } = require('node:child_process');
const path = require('node:path');
const { after } = require('node:test');
const { modulePath, afterTest } = require('../support/database.js');
const { encode, decode } = require('./wire.js');

const PEER_PACKAGE = 'better-sqlite3-multiple-ciphers';
const SIDES = ['ours', 'peer'];
/** Writer and reader, both ways round. */
const DIRECTIONS = [['ours', 'peer'], ['peer', 'ours']];

/** Starts a process of one side; it is killed after the test `t`, or by stop(). */
async function start(t, side) {
  const { module, node } = await packageOf(side);
  const started = new DatabaseProcess(side, module, node);
  afterTest(t, () => started.child.kill('SIGKILL'));
  return started;
}

/** Runs `fn` with a process of one side, which has ended when the promise is fulfilled. */
async function within(t, side, fn) {
  const process = await start(t, side);
  try {
    return await fn(process);
  } finally {
    await process.stop();
  }
}

/**
 * The processes of a test file whose tests close what they open: one of each side, started when
 * first asked for and stopped after the last test.
 */
function shared() {
  const started = {};
  const launch = async (side) => {
    const { module, node } = await packageOf(side);
    return new DatabaseProcess(side, module, node);
  };
  after(async () => {
    for (const process of Object.values(started)) await (await process).stop();
  });
  return (side) => (started[side] ??= launch(side));
}

async function packageOf(side) {
  return side === 'ours' ? { module: modulePath, node: process.execPath } : findPeer();
}

async function findPeer() {
  const peers = await import('../../scripts/peers.mjs');
  return { module: await peers.peer(PEER_PACKAGE), node: await peers.nodeForPeers() };
}

function ended(message) {
  return Object.assign(new Error(message), { code: 'ENDED' });
}

class DatabaseProcess {
  constructor(side, module, node) {
    this.side = side;
    this.waiting = new Map();
    this.lastId = 0;
    // The test runner's own flags and channel are not for this child.
    this.child = fork(path.join(__dirname, 'peer-child.js'), [module], { execPath: node, execArgv: [] });
    this.child.on('message', (answer) => this.settle(answer));
    this.ended = new Promise((resolve) => {
      this.child.once('exit', (code, signal) => {
        for (const { reject } of this.waiting.values()) {
          reject(ended(`the ${side} process ended (${signal || code})`));
        }
        resolve(signal || code);
      });
    });
  }

  settle({ id, value, error }) {
    const { resolve, reject } = this.waiting.get(id);
    this.waiting.delete(id);
    if (error) reject(Object.assign(new Error(`${this.side}: ${error.message}`), { code: error.code }));
    else resolve(decode(value));
  }

  send(connection, method, args) {
    this.lastId += 1;
    const id = this.lastId;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      // A process that was killed a moment ago may not have been seen to end.
      this.child.send({ id, connection, method, args: encode(args) }, (error) => {
        if (error) reject(ended(`the ${this.side} process cannot be reached (${error.code})`));
      });
    });
  }

  /** Opens a database; `lock` says how it is encrypted: {pragmas, key}, see unlock(). */
  async open(file, lock, options) {
    const connection = new RemoteConnection(this, `c${this.lastId}`);
    await this.send(connection.name, 'open', options ? [file, options] : [file]);
    if (lock) await unlock(connection, lock);
    return connection;
  }

  /** SIGKILL, and the process is gone. */
  async kill() {
    this.child.kill('SIGKILL');
    await this.ended;
  }

  async stop() {
    if (this.child.connected) this.child.disconnect();
    await this.ended;
  }
}

/** The methods of a Database, each of which returns a promise. */
class RemoteConnection {
  constructor(process, name) {
    this.process = process;
    this.name = name;
  }

  pragma(source) { return this.process.send(this.name, 'call', ['pragma', source, { simple: true }]); }
  exec(sql) { return this.process.send(this.name, 'call', ['exec', sql]); }
  key(bytes) { return this.process.send(this.name, 'call', ['key', bytes]); }
  rekey(bytes) { return this.process.send(this.name, 'call', ['rekey', bytes]); }
  close() { return this.process.send(this.name, 'call', ['close']); }
  all(sql, ...args) { return this.process.send(this.name, 'query', ['all', sql, ...args]); }
  get(sql, ...args) { return this.process.send(this.name, 'query', ['get', sql, ...args]); }
  run(sql, ...args) { return this.process.send(this.name, 'query', ['run', sql, ...args]); }
  /** Runs a function of workloads.js in the process. */
  work(workload, ...args) { return this.process.send(this.name, 'work', [workload, ...args]); }
}

/** Sets scheme, parameters and key; `key` is bytes, or the text of a PRAGMA, or absent. */
async function unlock(connection, { pragmas = [], key }) {
  for (const pragma of pragmas) await connection.pragma(pragma);
  if (Buffer.isBuffer(key)) await connection.key(key);
  else if (key) await connection.pragma(`key=${key}`);
}

/** The same on a Database of this process. */
function unlockHere(db, { pragmas = [], key }) {
  for (const pragma of pragmas) db.pragma(pragma);
  if (Buffer.isBuffer(key)) db.key(key);
  else if (key) db.pragma(`key=${key}`);
  return db;
}

module.exports = { SIDES, DIRECTIONS, packageOf, start, shared, within, unlock, unlockHere };
