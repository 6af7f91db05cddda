'use strict';

// What require and import give, and the native object behind a database (C-1). Opening is in
// 10.database.open.js, several threads in 44.worker-threads.js.

const test = require('node:test');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { spawnSync } = require('node:child_process');
const { pathToFileURL } = require('node:url');
const { Worker } = require('node:worker_threads');
const { Database, SqliteError, modulePath, open, tempDir, throwsLike } = require('../support/database.js');

test('require gives the constructor, with SqliteError as its only own enumerable property (C-1.1)', () => {
  assert.equal(typeof Database, 'function');
  assert.equal(Database.name, 'Database');
  assert.equal(Database.length, 2);
  assert.deepEqual(Object.keys(Database), ['SqliteError']);
  for (const key of ['default', 'Database', '__esModule']) assert.equal(key in Database, false, key);
});

test('new may be left out and the receiver is ignored (C-1.2)', (t) => {
  const receiver = {};
  const made = [Database(':memory:'), Database.call(receiver, ':memory:'), new Database(':memory:')];
  t.after(() => made.forEach((db) => db.close()));
  for (const db of made) {
    assert.ok(db instanceof Database);
    assert.equal(db.constructor, Database);
    assert.equal(db.prepare('select 5').pluck().get(), 5);
  }
  assert.notEqual(made[1], receiver);
  assert.deepEqual(Reflect.ownKeys(receiver), []);
});

test('errors are instances of Database.SqliteError (C-1.3)', (t) => {
  assert.equal(Database.SqliteError, SqliteError);
  throwsLike(() => open(t).exec('nonsense'), Database.SqliteError, 'near "nonsense": syntax error', 'SQLITE_ERROR');
});

test('import gives the same function and the name SqliteError (C-1.4)', async () => {
  const namespace = await import(pathToFileURL(require.resolve(modulePath)));
  assert.equal(namespace.default, Database);
  assert.equal(namespace.SqliteError, SqliteError);
  // Node from 23 on adds 'module.exports' to the namespace of every CommonJS module.
  const keys = Object.keys(namespace).filter((key) => key !== 'module.exports');
  assert.deepEqual(keys.sort(), ['SqliteError', 'default']);
});

test('SqliteError can be imported statically (C-1.4)', (t) => {
  const script = path.join(tempDir(t), 'static.mjs');
  fs.writeFileSync(script, `
    import Database, { SqliteError } from ${JSON.stringify(pathToFileURL(require.resolve(modulePath)).href)};
    try { new Database(':memory:').exec('nonsense'); } catch (error) { console.log(error instanceof SqliteError); }
  `);
  const { stdout, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' });
  assert.equal(stdout, 'true\n', stderr);
});

test('several worker threads may load the package at once (C-1.12)', async () => {
  const code = `
    const Database = require(${JSON.stringify(modulePath)});
    const db = new Database(':memory:');
    require('node:worker_threads').parentPort.postMessage(db.prepare('select 5 as five').get().five);
    db.close();
  `;
  const answers = Array.from({ length: 4 }, () => new Promise((resolve, reject) => {
    const worker = new Worker(code, { eval: true });
    worker.on('message', resolve).on('error', reject);
  }));
  assert.deepEqual(await Promise.all(answers), [5, 5, 5, 5]);
});

test('one hidden symbol leads to the native object, whose class belongs to the binding (C-1.13)', (t) => {
  const [first, second] = [open(t), open(t)];
  const symbols = Object.getOwnPropertySymbols(first);
  assert.equal(symbols.length, 1);
  const [key] = symbols;
  const { value, ...attributes } = Object.getOwnPropertyDescriptor(first, key);
  assert.deepEqual(attributes, { writable: false, enumerable: false, configurable: false });
  assert.equal(typeof value, 'object');
  assert.equal(typeof value.constructor, 'function');
  assert.notEqual(value.constructor, Object);
  assert.notEqual(value, second[key]);
  assert.equal(value.constructor, second[key].constructor);
});
