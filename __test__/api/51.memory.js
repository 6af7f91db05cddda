'use strict';

// Memory that statements take, in programs that prepare in every request: few idle ones stay compiled,
// and what the others lose comes back unseen.

const test = require('node:test');
const assert = require('node:assert/strict');
const { spawnSync } = require('node:child_process');
const { SqliteError, modulePath, open, overruled, throwsLike, throwsOpen } = require('../support/database.js');

/** More than stay compiled. */
const MANY = 3000;

function table(t, options) {
  const db = open(t, ':memory:', options).exec('CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT)');
  return db.exec("INSERT INTO t VALUES (1, 'one'), (2, 'two'), (3, 'three')");
}

/** Uses so many other statements that those from before are not compiled any more. */
function displace(db) {
  return Array.from({ length: MANY }, (_, at) => db.prepare(`SELECT ${at} FROM t`));
}

overruled('statements that nobody holds do not pile up in a synchronous run', () => {
  const program = `
    const db = new (require(${JSON.stringify(modulePath)}))(':memory:').exec('CREATE TABLE t (a, b)');
    const prepare = (from, count) => { for (let i = from; i < from + count; i += 1) db.prepare('SELECT a, b FROM t WHERE a = ? -- ' + i).get(i); };
    prepare(0, 200000);
    const before = process.memoryUsage.rss();
    prepare(200000, 200000);
    console.log((process.memoryUsage.rss() - before) / 2 ** 20);`;
  const { stdout, stderr } = spawnSync(process.execPath, ['-e', program], { encoding: 'utf8' });
  const grown = Number(stdout);
  // Node keeps a record of each object until the event loop turns, and V8 collects when it likes (156 MB were seen on
  // Node 24). Compiled, 200,000 take more than 600 MB, at 3.1 KB each.
  assert.ok(stdout !== '' && grown < 350, `${grown} MB more ${stderr}`);
});

overruled('statements that are held do not all stay compiled', () => {
  const program = `
    const db = new (require(${JSON.stringify(modulePath)}))(':memory:').exec('CREATE TABLE t (a, b)');
    const before = process.memoryUsage.rss();
    const held = Array.from({ length: 100000 }, () => db.prepare('SELECT a, b FROM t WHERE a = ? ORDER BY b'));
    console.log((process.memoryUsage.rss() - before) / 2 ** 20, held.every((statement) => statement.all(1).length === 0));`;
  const { stdout, stderr } = spawnSync(process.execPath, ['-e', program], { encoding: 'utf8' });
  const [grown, works] = stdout.trim().split(' ');
  // What JavaScript holds of 100,000 objects takes some 230 MB; compiled they take 310 MB more.
  assert.ok(Number(grown) < 450 && works === 'true', `${stdout} ${stderr}`);
});

test('a statement works as before when many others were used since', (t) => {
  const db = table(t);
  const get = db.prepare('SELECT b FROM t WHERE a = ?');
  const insert = db.prepare('INSERT INTO t (b) VALUES (@b) RETURNING a');
  const raw = db.prepare('SELECT * FROM t ORDER BY a DESC').raw().safeIntegers();
  assert.deepEqual(get.get(2), { b: 'two' });
  const held = displace(db);
  assert.deepEqual(get.get(2), { b: 'two' });
  assert.equal(get.reader && get.readonly && insert.reader && !insert.readonly, true);
  assert.deepEqual(get.columns().map(({ name, table: of }) => [name, of]), [['b', 't']]);
  assert.deepEqual(insert.get({ b: 'four' }), { a: 4 });
  assert.deepEqual(raw.get(), [4n, 'four']);
  assert.throws(() => get.get(), RangeError);
  for (const at of [0, 1, MANY - 1]) assert.equal(held[at].pluck().get(), at);
});

test('values that were bound for good stay', (t) => {
  const db = table(t);
  const values = [1, 2.5, 'text', Buffer.from([0, 1]), null, 2n ** 60n, '', Buffer.alloc(0)];
  const bound = db.prepare(`SELECT ${values.map(() => '?').join(', ')}`).raw().safeIntegers().bind(values);
  const large = db.prepare('SELECT ? AS x').pluck().bind(Buffer.alloc(1 << 20, 7));
  const named = db.prepare('UPDATE t SET b = :b WHERE a = :a').bind({ a: 3, b: 'new' });
  const before = [bound.get(), bound.toString(), named.toString()];
  displace(db);
  assert.deepEqual([bound.get(), bound.toString(), named.toString()], before);
  displace(db);
  assert.deepEqual(bound.get(), before[0]);
  assert.deepEqual(large.get(), Buffer.alloc(1 << 20, 7));
  assert.equal(named.run().changes, 1);
  assert.equal(db.prepare('SELECT b FROM t WHERE a = 3').pluck().get(), 'new');
  throwsLike(() => bound.get(1), TypeError, 'This statement already has bound parameters');
});

test('what the schema has become shows as in any other statement', (t) => {
  const db = table(t);
  const star = db.prepare('SELECT * FROM t WHERE a = 1');
  const gone = db.prepare('SELECT * FROM t WHERE a = ?');
  const bound = db.prepare('SELECT b FROM t WHERE a = ?').bind(1);
  const text = bound.toString();
  for (let round = 0; round < 20; round += 1) star.get();
  displace(db);
  db.exec("ALTER TABLE t ADD COLUMN c DEFAULT 'c'");
  assert.deepEqual(star.get(), { a: 1, b: 'one', c: 'c' });
  db.exec('ALTER TABLE t RENAME COLUMN c TO d');
  assert.deepEqual(star.get(), { a: 1, b: 'one', d: 'c' });
  displace(db);
  db.exec('DROP TABLE t');
  for (const use of [() => star.get(), () => gone.all(1), () => gone.run(1), () => [...gone.iterate(1)], () => bound.get()]) {
    throwsLike(use, SqliteError, 'no such table: t', 'SQLITE_ERROR');
  }
  assert.throws(() => gone.get(), RangeError);
  assert.equal(typeof bound.toString(), typeof text);
  db.exec("CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 'again')");
  assert.deepEqual(gone.get(1), { a: 1, b: 'again' });
});

test('iterators go on while others are displaced, before their first row too', (t) => {
  const db = table(t);
  const started = db.prepare('SELECT a FROM t WHERE a > ? ORDER BY a').pluck().iterate(0);
  const waiting = db.prepare('SELECT a FROM t WHERE a > ? ORDER BY a DESC').pluck().iterate(1);
  assert.equal(started.next().value, 1);
  displace(db);
  assert.deepEqual([...started], [2, 3]);
  assert.deepEqual([...waiting], [3, 2]);
  db.close();
});

test('a PRAGMA acts once, however many statements follow', (t) => {
  const db = table(t);
  const off = db.prepare('PRAGMA foreign_keys = OFF');
  off.run();
  db.pragma('foreign_keys = ON');
  const held = displace(db);
  assert.equal(off.source, 'PRAGMA foreign_keys = OFF');
  assert.equal(held.length, MANY);
  assert.equal(db.pragma('foreign_keys', { simple: true }), 1);
});

test('each database counts for itself, and closing takes all statements away', (t) => {
  const databases = Array.from({ length: 20 }, () => table(t));
  const statements = databases.flatMap((db) => Array.from({ length: 200 }, () => db.prepare('SELECT a FROM t WHERE a = ?').pluck()));
  for (const statement of statements) assert.equal(statement.get(2), 2);
  for (const db of databases) db.close();
  for (const statement of statements) throwsOpen(() => statement.get(2));
  const db = table(t);
  const [first] = displace(db);
  db.close();
  throwsOpen(() => first.get());
});
