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
const { Database, SqliteError, modulePath, isPeer, overruled, open, tempDir, throwsLike } = require('../support/database.js');

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

/** Runs `code` in a process of its own, where `Database` is the module in `folder`; gives what it printed. */
function inChild(folder, code, node = process.execPath) {
  const source = `const Database = require(${JSON.stringify(folder)});\n${code}`;
  const { stdout, stderr } = spawnSync(node, ['-e', source], { encoding: 'utf8' });
  return stdout || stderr;
}

test('the addon for this platform is found and loaded once, when the first database is opened (C-1.11)', () => {
  const loaded = JSON.parse(inChild(modulePath, `
    const addons = () => Object.keys(require.cache).filter((file) => file.endsWith('.node'));
    const before = addons();
    new Database(':memory:').close();
    const first = addons();
    new Database(':memory:').close();
    console.log(JSON.stringify([before, first, addons()]));`));
  assert.deepEqual(loaded.map((files) => files.length), [0, 1, 1]);
  assert.equal(loaded[1][0], loaded[2][0]);
  assert.ok(path.basename(loaded[1][0]).includes(`${process.platform}-${process.arch}`) || isPeer, loaded[1][0]);
});

overruled('an addon that is not there is named, with what to do (overrules C-1.11, C-1.14)', (t) => {
  const folder = tempDir(t);
  for (const part of ['package.json', 'index.js', 'lib']) fs.cpSync(path.join(modulePath, part), path.join(folder, part), { recursive: true });
  const message = inChild(folder, `try { new Database(':memory:'); } catch (error) { console.log(error.message); }`);
  const local = path.join(fs.realpathSync(folder), `sealite.${process.platform}-${process.arch}`);
  assert.ok(message.startsWith('The native addon of sealite for '), message);
  for (const part of [local, `sealite-${process.platform}-${process.arch}`, 'npm run build']) assert.ok(message.includes(part), `${part} in ${message}`);
});

overruled('the same file works in every supported Node (overrules C-32.7)', () => {
  // Those that `node scripts/peers.mjs --install` has put there, and the one at hand.
  const folder = path.join(__dirname, '..', 'nodes', 'node_modules');
  const names = fs.existsSync(folder) ? fs.readdirSync(folder).filter((name) => /^node\d+$/.test(name)) : [];
  const code = "const db = new Database(':memory:'); console.log(db.prepare('select 5').pluck().get(), process.version);";
  for (const node of [process.execPath, ...names.map((name) => path.join(folder, name, 'bin', 'node'))]) {
    assert.match(inChild(modulePath, code, node), /^5 v\d/, node);
  }
});
