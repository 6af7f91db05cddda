'use strict';

// db.function() (C-23): arguments, arity, values both ways, exceptions, options, and how long a function lives.

const test = require('node:test');
const assert = require('node:assert/strict');
const vm = require('node:vm');
const {
  Database, SqliteError, overruled, open, openFile, throwsLike, throwsBusy, throwsOpen, thrownBy,
} = require('../support/database.js');
const { collectUntil } = require('../support/gc.js');

const value = (db, sql, ...params) => db.prepare(`select ${sql}`).pluck().get(...params);
const withLength = (length) => Object.defineProperty(() => 0, 'length', { value: length });

test('gives the database back (C-23)', (t) => {
  const db = open(t);
  assert.equal(db.function('f', () => 1), db);
  assert.equal(db.function('f', {}, () => 1), db);
  assert.equal(db.function.name, 'defineFunction');
  assert.equal(db.function.length, 3);
});

test('checks its arguments in order (C-23.1)', (t) => {
  const db = open(t);
  const fn = () => {};
  for (const name of [undefined, null, 5, Object('f'), ['f'], fn]) {
    throwsLike(() => db.function(name, fn), TypeError, 'Expected first argument to be a string');
    throwsLike(() => db.function(name, 5, 5), TypeError, 'Expected first argument to be a string');
  }
  for (const rest of [[], [{}], [{}, undefined], [null, {}], [undefined, Object.create(Function.prototype)], [5, 'x']]) {
    throwsLike(() => db.function('f', ...rest), TypeError, 'Expected last argument to be a function');
  }
  for (const options of [5, 'x', true, Symbol('x'), 5n]) {
    throwsLike(() => db.function('', options, fn), TypeError, 'Expected second argument to be an options object');
  }
  throwsLike(() => db.function('', { varargs: 1 }, fn), TypeError, 'User-defined function name cannot be an empty string');
});

test('takes options that are missing, and ignores what follows a function (C-23.1)', (t) => {
  const db = open(t);
  db.function('f', null, () => 1);
  db.function('g', undefined, () => 2);
  db.function('h', () => 3, 'ignored');
  db.function('i', [], () => 4);
  assert.deepEqual(db.prepare('select f(), g(), h(), i()').raw().get(), [1, 2, 3, 4]);
});

test('wants booleans for options, checked in order (C-23.2)', (t) => {
  const db = open(t);
  const keys = ['safeIntegers', 'deterministic', 'directOnly', 'varargs'];
  keys.forEach((key, index) => {
    for (const wrong of [undefined, null, 0, 1, 'true', {}]) {
      const options = Object.fromEntries(keys.slice(index).map((other) => [other, wrong]));
      throwsLike(() => db.function('f', options, () => 0), TypeError, `Expected the "${key}" option to be a boolean`);
    }
    throwsLike(() => db.function('f', Object.create({ [key]: 1 }), () => 0), TypeError, `Expected the "${key}" option to be a boolean`);
  });
  db.function('f', { name: 5, unknown: Symbol('x') }, () => 7);
  assert.equal(value(db, 'f()'), 7);
});

test('takes the number of arguments from the length of the function (C-23.3)', (t) => {
  const db = open(t);
  for (const wrong of [undefined, null, '2', NaN, Infinity, 2.1, -0.001, -2, 100.001]) {
    throwsLike(() => db.function('f', withLength(wrong)), TypeError, 'Expected function.length to be a positive integer');
  }
  throwsLike(() => db.function('f', withLength(101)), RangeError, 'User-defined functions cannot have more than 100 arguments');
  throwsLike(() => db.function('f', withLength(2 ** 40)), RangeError, 'User-defined functions cannot have more than 100 arguments');
  for (const length of [0, 1, 2, 100]) {
    db.function('f', Object.defineProperty((...args) => args.length, 'length', { value: length }));
    assert.equal(value(db, `f(${Array(length).fill(7)})`), length);
  }
  const refused = (count) => throwsLike(() => value(db, `f(${Array(count).fill(7)})`), SqliteError, 'wrong number of arguments to function f()', 'SQLITE_ERROR');
  [3, 50, 99, 101].forEach(refused);
});

test('with varargs does not look at the length (C-23.3)', (t) => {
  const db = open(t);
  for (const length of [undefined, -2, 101]) {
    const count = Object.defineProperty((...args) => args.length, 'length', { value: length });
    db.function('f', { varargs: true }, count);
    for (const given of [0, 1, 9, 127, 1000]) assert.equal(value(db, `f(${Array(given).fill(7)})`), given);
  }
  throwsLike(() => value(db, `f(${Array(1001).fill(7)})`), SqliteError, 'too many arguments on function f', 'SQLITE_ERROR');
});

test('is known by the given name, in any case, up to a NUL (C-23.4)', (t) => {
  const db = open(t);
  db.function('Größe "x"', function ignored() { return 1; });
  assert.equal(value(db, '"Größe ""x"""()'), 1);
  db.function('UpDown', () => 2);
  assert.equal(value(db, 'upDOWN()'), 2);
  db.function('cut\0off', () => 3);
  assert.equal(value(db, 'cut()'), 3);
  throwsLike(() => db.prepare('select ignored()'), SqliteError, 'no such function: ignored', 'SQLITE_ERROR');
});

test('can take the place of a function of SQLite (C-23.4)', (t) => {
  const db = open(t);
  db.function('upper', (text) => `own ${text}`);
  assert.equal(value(db, "upper('x')"), 'own x');
  db.function('regexp', (pattern, text) => Number(new RegExp(pattern).test(text)));
  assert.equal(value(db, "'abc' REGEXP 'b.'"), 1);
});

overruled('a length of -0 is 0 (overrules C-36.1)', (t) => {
  const fn = Object.defineProperty(() => 7n, 'length', { value: -0 });
  assert.equal(open(t).function('f', fn).prepare('select f()').pluck().get(), 7);
});

overruled('a name of more than 255 bytes is refused plainly (overrules C-36.2)', (t) => {
  const db = open(t);
  db.function('n'.repeat(255), () => 5);
  assert.equal(value(db, `${'n'.repeat(255)}()`), 5);
  throwsLike(() => db.function('n'.repeat(256), () => 5), RangeError, 'User-defined function name cannot be longer than 255 bytes');
  throwsLike(() => db.function('ü'.repeat(128), () => 5), RangeError, 'User-defined function name cannot be longer than 255 bytes');
});

test('functions of one name and several lengths stand side by side (C-23.5)', (t) => {
  const db = open(t);
  db.function('f', { varargs: true }, (...args) => `any ${args.length}`);
  db.function('f', () => 'none');
  db.function('f', (a, b) => `two ${a} ${b}`);
  assert.deepEqual(db.prepare("select f(), f(1), f(1, 2), f(1, 2, 3)").raw().get(), ['none', 'any 1', 'two 1 2', 'any 3']);
});

test('a new function of the same name and length is used at once (C-23.5)', (t) => {
  const db = open(t);
  db.function('f', (x) => x + 1);
  const statement = db.prepare('select f(?)').pluck();
  assert.equal(statement.get(1), 2);
  db.function('f', (x) => x + 100);
  assert.equal(statement.get(1), 101);
  db.function('F', (x) => x + 200);
  assert.equal(statement.get(1), 201);
});

test('calls with this undefined and with SQLite values (C-23.6, C-15.4)', (t) => {
  const db = open(t);
  const calls = [];
  db.function('f', { varargs: true }, function f(...args) {
    calls.push([this, args]);
  });
  const blob = Buffer.from('blob');
  value(db, "f(1, 1.0, 1.5, 'tëxt', x'', ?, NULL, 9007199254740993)", blob);
  assert.deepEqual(calls, [[undefined, [1, 1, 1.5, 'tëxt', Buffer.alloc(0), blob, null, 9007199254740992]]]);
  const [[, args]] = calls;
  assert.ok(Buffer.isBuffer(args[5]));
  assert.notEqual(args[5], blob);
});

test('answers become SQLite values (C-23.7, C-16.1, C-16.2)', (t) => {
  const db = open(t);
  let answer;
  db.function('f', () => answer);
  const cases = [
    [1, 'real', 1], [-0, 'real', -0], [1.5, 'real', 1.5], [Infinity, 'real', Infinity], [NaN, 'null', null],
    [5n, 'integer', 5], [-(2n ** 63n), 'integer', -(2 ** 63)], ['tëxt', 'text', 'tëxt'], ['a\0b', 'text', 'a\0b'], ['', 'text', ''],
    ['\ud800', 'text', '\ufffd'], [Buffer.from('x'), 'blob', Buffer.from('x')], [Buffer.alloc(0), 'blob', Buffer.alloc(0)],
    [new Uint16Array([0x4142]), 'blob', Buffer.from('BA')], [new Uint8Array([1, 2, 3]).subarray(1), 'blob', Buffer.from([2, 3])],
    [null, 'null', null], [undefined, 'null', null],
  ];
  for (const [given, type, expected] of cases) {
    answer = given;
    assert.deepEqual(db.prepare('select typeof(f()), f()').raw().get(), [type, expected]);
  }
});

test('refuses answers that are no SQLite values (C-23.7)', (t) => {
  const db = open(t);
  let answer;
  db.function('f', () => answer);
  const invalid = [true, false, Symbol('x'), () => 1, {}, [], [1], new Date(), /x/, Promise.resolve(1), Object(1), new ArrayBuffer(2), (function* g() {})()];
  for (answer of invalid) throwsLike(() => value(db, 'f()'), TypeError, 'User-defined function f() returned an invalid value');
  for (answer of [2n ** 63n, -(2n ** 63n) - 1n, 2n ** 100n]) {
    throwsLike(() => value(db, 'f()'), RangeError, 'User-defined function f() returned a bigint that was too big');
  }
  answer = 1;
  assert.equal(value(db, 'f()'), 1);
});

test('an answer that is too long is SQLITE_TOOBIG (C-23.7)', (t) => {
  const db = open(t);
  const long = 'ü'.repeat(2 ** 28);
  db.function('f', () => long);
  throwsLike(() => value(db, 'length(f())'), SqliteError, 'string or blob too big', 'SQLITE_TOOBIG');
});

test('what is thrown comes out as it is, from every way to execute (C-23.8)', (t) => {
  const db = open(t).exec('CREATE TABLE t (x); INSERT INTO t VALUES (1), (2)');
  let thrown;
  db.function('f', () => { throw thrown; });
  db.function('g', (x) => { if (x === 2) throw thrown; return x; });
  const ways = [
    () => db.exec('select f()'), () => db.prepare('select f()').run(), () => db.prepare('select f()').get(),
    () => db.prepare('select g(x) from t').all(), () => [...db.prepare('select g(x) from t').iterate()],
    () => db.prepare('UPDATE t SET x = g(x)').run(), () => db.exec('CREATE TABLE u AS SELECT g(x) FROM t'),
    () => db.prepare('INSERT OR IGNORE INTO t SELECT f()').run(), () => db.transaction(() => db.exec('INSERT INTO t SELECT f()'))(),
  ];
  for (thrown of [new Error('own'), new SqliteError('own', 'SQLITE_OWN'), {}, 'text', '', 0, null, undefined]) {
    for (const way of ways) assert.equal(thrownBy(way).thrown, thrown);
    // C-21.4: the next failure is its own.
    throwsLike(() => db.exec('nonsense'), SqliteError, 'near "nonsense": syntax error', 'SQLITE_ERROR');
    throwsLike(() => value(db, 'abs(-9223372036854775808)'), SqliteError, 'integer overflow', 'SQLITE_ERROR');
  }
  assert.deepEqual(db.prepare('select x from t').pluck().all(), [1, 2]);
  assert.equal(db.inTransaction, false);
});

test('nothing is called after a function has thrown (C-23.8)', (t) => {
  const db = open(t).exec('CREATE TABLE t (x); INSERT INTO t VALUES (1), (2), (3)');
  const calls = [];
  const own = new Error('own');
  db.function('f', (x) => { calls.push(x); if (x === 2) throw own; return x; });
  db.function('after', () => { calls.push('after'); return 0; });
  assert.equal(thrownBy(() => db.prepare('select f(x), coalesce(f(x), after()), f(x + 0), after() from t where f(2) or after()').all()).thrown, own);
  assert.deepEqual(calls, [2]);
});

test('a nested statement fails with what its function throws (C-23.8)', (t) => {
  const db = open(t).exec('CREATE TABLE t (x); CREATE TABLE log (x); CREATE TRIGGER tr AFTER INSERT ON t BEGIN INSERT INTO log VALUES (f(new.x)); END');
  const own = new Error('own');
  db.function('f', (x) => { if (x > 1) throw own; return x; });
  const insert = db.prepare('INSERT INTO t VALUES (?)');
  insert.run(1);
  assert.equal(thrownBy(() => insert.run(2)).thrown, own);
  assert.deepEqual(db.prepare('select count(*), (select count(*) from log) from t').raw().get(), [1, 1]);
});

test('an iterator is closed by what a function throws (C-13.8, C-23.8)', (t) => {
  const db = open(t);
  const own = {};
  db.function('f', (x) => { if (x === 2) throw own; return x; });
  const statement = db.prepare('select f(x) as y from (select 1 as x union all select 2 union all select 3)');
  const rows = statement.iterate();
  assert.deepEqual(rows.next(), { value: { y: 1 }, done: false });
  assert.equal(thrownBy(() => rows.next()).thrown, own);
  assert.deepEqual(rows.next(), { value: undefined, done: true });
  assert.equal(statement.busy, false);
  db.exec('select 1');
  db.close();
});

test('functions are called when their row is asked for (C-13.13)', (t) => {
  const db = open(t);
  let calls = 0;
  db.function('f', (x) => { calls += 1; return x; });
  const rows = db.prepare('select f(x) as y from (select 1 as x union all select 2)').iterate();
  assert.equal(calls, 0);
  rows.next();
  assert.equal(calls, 1);
  rows.return();
  assert.equal(calls, 1);
});

test('deterministic allows indexes and constant folding (C-23.9)', (t) => {
  const db = open(t).exec('CREATE TABLE t (x); INSERT INTO t VALUES (1), (2), (3)');
  const calls = { d: 0, n: 0 };
  db.function('d', { deterministic: true }, (x) => { calls.d += 1; return x; });
  db.function('n', { deterministic: false }, (x) => { calls.n += 1; return x; });
  db.prepare('select d(5), n(5) from t').all();
  assert.deepEqual(calls, { d: 1, n: 3 });
  db.exec('CREATE INDEX i ON t (d(x)); CREATE TABLE u (x, y GENERATED ALWAYS AS (d(x) * 2)); INSERT INTO u VALUES (4)');
  assert.equal(value(db, 'y from u'), 8);
  throwsLike(() => db.exec('CREATE INDEX j ON t (n(x))'), SqliteError, 'non-deterministic functions prohibited in index expressions', 'SQLITE_ERROR');
});

// With the samples of ANALYZE at hand, SQLite asks deterministic functions while it compiles; the
// replaced package is not busy then.
overruled('a function is called, and throws, while a statement is compiled (C-23.8, C-21.1)', (t) => {
  const db = open(t).exec('CREATE TABLE t (x); CREATE INDEX i ON t (x)');
  const insert = db.prepare('INSERT INTO t VALUES (?)');
  db.transaction(() => { for (let n = 0; n < 500; n += 1) insert.run(n); })();
  db.exec('ANALYZE');
  const own = {};
  let calls = 0;
  db.function('f', { deterministic: true }, (x) => {
    calls += 1;
    throwsBusy(() => db.exec('select 1'));
    if (x === 2) throw own;
    return x;
  });
  const statement = db.prepare('select count(*) from t where x > f(1)').pluck();
  assert.equal(calls, 1);
  assert.equal(statement.get(), 498);
  assert.equal(thrownBy(() => db.prepare('select * from t where x > f(2)')).thrown, own);
  db.exec('select 1');
});

test('directOnly keeps a function out of the schema (C-23.9)', (t) => {
  const db = open(t).exec('CREATE VIEW v AS SELECT f() AS x; CREATE VIEW w AS SELECT g() AS x');
  db.function('f', { directOnly: true }, () => 1);
  db.function('g', { directOnly: false }, () => 2);
  assert.equal(value(db, 'f()'), 1);
  throwsLike(() => db.prepare('select * from v'), SqliteError, 'unsafe use of f()', 'SQLITE_ERROR');
  assert.equal(value(db, 'x from w'), 2);
});

test('a function is no window function (C-23.10)', (t) => {
  const db = open(t);
  db.function('f', (x) => x);
  throwsLike(() => db.prepare('select f(1) over ()'), SqliteError, 'f() may not be used as a window function', 'SQLITE_ERROR');
});

test('is refused while iterating, in callbacks and after close (C-23.11)', (t) => {
  const db = open(t);
  db.function('outer_f', () => {
    throwsBusy(() => db.function('f', () => 1));
    return 1;
  });
  assert.equal(value(db, 'outer_f()'), 1);
  const rows = db.prepare('select 1').iterate();
  throwsBusy(() => db.function('f', () => 1));
  rows.return();
  db.close();
  throwsOpen(() => db.function('f', () => 1));
  throwsLike(() => db.function(5, () => 1), TypeError, 'Expected first argument to be a string');
});

test('everything that can be called is taken (C-23.11)', (t) => {
  const db = open(t);
  db.function('realm', vm.runInNewContext('(function (x) { return x + 1; })'));
  db.function('bound', function add(a, b) { return a + b; }.bind(null, 10));
  db.function('proxy', new Proxy((x) => x + 2, {}));
  db.function('class', class A { constructor(x) { this.x = x; } });
  assert.deepEqual(db.prepare('select realm(1), bound(1), proxy(1)').raw().get(), [2, 11, 3]);
  const { thrown } = thrownBy(() => value(db, '"class"(1)'));
  assert.ok(thrown instanceof TypeError);
  assert.match(thrown.message, /class/i);
});

test('a Buffer that is changed inside changes nothing outside (C-23.12)', (t) => {
  const db = open(t);
  const given = Buffer.from('abc');
  db.function('f', (bytes) => {
    bytes[0] = 0x7a;
    given[1] = 0x7a;
    return bytes.toString();
  });
  assert.deepEqual(db.prepare('select f(b), b from (select ? as b)').raw().get(given), ['zbc', Buffer.from('abc')]);
});

test('other databases can be used inside, also recursively (C-21.3)', (t) => {
  const dbs = [open(t), open(t), open(t)];
  dbs.forEach((db, index) => {
    db.function('down', (n) => (n > 0 && dbs[index + 1] ? value(dbs[index + 1], 'down(?)', n - 1) + 1 : 0));
  });
  assert.equal(value(dbs[0], 'down(5)'), 2);
});

test('closing is refused inside, and works afterwards (C-21.1, C-3.11)', (t) => {
  const db = openFile(t);
  db.function('f', () => {
    throwsBusy(() => db.close());
    return 5;
  });
  const statement = db.prepare('select f()').pluck();
  assert.equal(statement.get(), 5);
  db.close();
  throwsOpen(() => statement.get());
});

test('a function goes with close, and with the one that takes its place (C-32.5)', async (t) => {
  const db = open(t);
  const collected = [];
  const registry = new FinalizationRegistry((name) => collected.push(name));
  const register = (name) => {
    const fn = () => name;
    registry.register(fn, name);
    db.function('f', fn);
    assert.equal(value(db, 'f()'), name);
  };
  register('first');
  register('second');
  assert.ok(await collectUntil(() => collected.includes('first')));
  assert.equal(value(db, 'f()'), 'second');
  db.close();
  assert.ok(await collectUntil(() => collected.includes('second')));
});

test('functions live as long as a statement does (C-32.5)', async () => {
  const prepare = () => new Database(':memory:').function('f', (x) => x * 2).prepare('select f(?)').pluck();
  const statement = prepare();
  let rounds = 0;
  await collectUntil(() => (rounds += 1) > 5);
  assert.equal(statement.get(4), 8);
  statement.database.close();
});

/** What `fn` gives while setters for the first ten elements are on Array.prototype. */
function underSetters(fn) {
  const places = '0123456789';
  for (const at of places) Object.defineProperty(Array.prototype, at, { set() {}, configurable: true });
  try {
    return fn();
  } finally {
    for (const at of places) delete Array.prototype[at];
  }
}

overruled('setters on Array.prototype take neither callbacks nor rows nor the names of columns (C-14.3)', () => {
  const logged = { count: 0 };
  const seen = underSetters(() => {
    const db = new Database(':memory:', { verbose: () => { logged.count += 1; } });
    db.function('f', (x) => x + 1);
    db.aggregate('g', { step: (sum, x) => sum + x, start: 5 });
    db.table('v', { columns: ['x', 'y'], * rows(p) { yield { y: p, x: 7 }; } });
    const value = (sql, x) => db.prepare(sql).pluck().get(x);
    const values = { f: value('select f(?)', 1), g: value('select g(?)', 1), v: db.prepare('select * from v(?)').get(3) };
    db.close();
    return values;
  });
  assert.deepEqual(seen, { f: 2, g: 6, v: { x: 7, y: 3 } });
  assert.equal(logged.count, 3);
});
