'use strict';

// Values of other vm contexts, and databases in the workers of a cluster. Worker threads are in api/44.

const test = require('node:test');
const assert = require('node:assert/strict');
const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const vm = require('node:vm');
const { Database, SqliteError, modulePath, open, tempDir } = require('../support/database.js');

test('code in another vm context uses a database with values of its own', (t) => {
  const db = open(t).exec('CREATE TABLE t (a, b, c)');
  const context = vm.createContext({ db });
  const found = vm.runInContext(`
    db.prepare('INSERT INTO t VALUES (?, ?, ?)').run([1n, new Uint8Array([1, 2, 255]), 'text']);
    db.prepare('INSERT INTO t VALUES (@a, @b, @c)').run({ a: null, b: new Float64Array(1), c: 0.5 });
    db.transaction(() => db.prepare('UPDATE t SET a = 2 WHERE c = ?').run('text'))();
    db.function('twice', (value) => value * 2);
    JSON.stringify(db.prepare('SELECT twice(a) AS a, hex(b) AS b, c FROM t').all())`, context);
  assert.deepEqual(JSON.parse(found), [
    { a: 4, b: '0102FF', c: 'text' },
    { a: 0, b: '0000000000000000', c: 0.5 },
  ]);
});

test('errors in another vm context are those of the package', (t) => {
  const context = vm.createContext({ db: open(t), SqliteError });
  assert.equal(vm.runInContext("try { db.exec('nonsense') } catch (error) { error instanceof SqliteError && error.code }", context), 'SQLITE_ERROR');
  assert.throws(() => vm.runInContext('throw db.prepare', context), (thrown) => thrown === Database.prototype.prepare);
});

test('the workers of a cluster write to one encrypted database', (t) => {
  const folder = tempDir(t);
  const program = path.join(folder, 'cluster.js');
  fs.writeFileSync(program, `
    const cluster = require('node:cluster');
    const Database = require(${JSON.stringify(modulePath)});
    const open = () => {
      const db = new Database('mail.db', { timeout: 30000 });
      db.pragma("cipher='chacha20'");
      db.key(Buffer.from('correct horse'));
      return db;
    };
    if (cluster.isPrimary) {
      const db = open();
      db.pragma('journal_mode=WAL');
      db.exec('CREATE TABLE t (worker, n)');
      let left = 3;
      cluster.on('exit', (worker, code) => {
        if (code !== 0) process.exitCode = 1;
        left -= 1;
        if (left > 0) return;
        console.log(db.prepare('SELECT count(*) FROM t').pluck().get(), db.pragma('integrity_check', { simple: true }));
        db.close();
      });
      for (let i = 0; i < left; i += 1) cluster.fork();
    } else {
      const db = open();
      const insert = db.prepare('INSERT INTO t VALUES (?, ?)');
      for (let n = 0; n < 50; n += 1) insert.run(cluster.worker.id, n);
      db.close();
      process.exit();
    }`);
  const { stdout, stderr, status } = spawnSync(process.execPath, [program], { cwd: folder, encoding: 'utf8' });
  assert.deepEqual([stdout.trim(), status], ['150 ok', 0], stderr);
});
