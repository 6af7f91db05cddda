'use strict';

// What `get` and `run` leave for their caller to finish: a statement that has given some rows has its
// rows of `get` made from parts, as long as each value fits. What rows look like is in
// 21.statement.get.js, rows by the many are in 27.statement.rows.js.

const test = require('node:test');
const assert = require('node:assert/strict');
const { isPeer, open, throwsLike } = require('../support/database.js');

// More than make a statement earn the way from parts.
const TURNS = 20;

const VALUES = [
  null, 0, -0, 1, -(2 ** 31), 2 ** 31, 2 ** 53, 1.5, Infinity, -Infinity, '', 'a', 'longer than a dozen', 'Grüße ÿ\u0080',
  'Łódź € 😀', 'a\0b', 'x'.repeat(256), 'x'.repeat(257), Buffer.from([0, 1, 255]), Buffer.alloc(0),
];

const earn = (statement, ...values) => {
  for (let turn = 0; turn < TURNS; turn += 1) statement.get(...values);
  return statement;
};

for (const value of VALUES) {
  const shown = typeof value === 'string' && value.length > 30 ? `${value.length} characters` : value;
  test(`get gives ${typeof shown === 'object' ? JSON.stringify(shown) : `${typeof shown} ${shown}`} between texts`, (t) => {
    const statement = open(t).prepare("SELECT 'first' AS a, ? AS b, 'a last text' AS c, ? AS d");
    for (let turn = 0; turn < TURNS; turn += 1) {
      assert.deepEqual(statement.get(value, value), { a: 'first', b: value, c: 'a last text', d: value });
    }
    assert.deepEqual(earn(open(t).prepare('SELECT ? AS v'), 1).get(value), { v: value });
  });
}

test('values of every kind may follow each other in one statement', (t) => {
  const statement = open(t).prepare("SELECT ? AS a, 'text' AS b");
  for (let turn = 0; turn < 3; turn += 1) {
    for (const value of VALUES) assert.deepEqual(statement.get(value), { a: value, b: 'text' });
  }
});

test('integers are numbers or bigints as the mode says at each call (C-20.1)', (t) => {
  const db = open(t).exec('CREATE TABLE t (a)');
  const get = db.prepare('SELECT -9223372036854775808 AS low, 7 AS small');
  const run = db.prepare('INSERT INTO t VALUES (1)');
  for (let turn = 1; turn <= TURNS; turn += 1) {
    assert.deepEqual(get.safeIntegers().get(), { low: -(2n ** 63n), small: 7n });
    assert.deepEqual(get.safeIntegers(false).get(), { low: -(2 ** 63), small: 7 });
    const safe = turn % 2 === 0;
    assert.deepEqual(run.safeIntegers(safe).run(), { changes: 1, lastInsertRowid: safe ? BigInt(turn) : turn });
  }
  db.exec('INSERT INTO t (rowid, a) VALUES (9007199254740991, 1)');
  assert.deepEqual(db.prepare('UPDATE t SET a = 2').safeIntegers().run(), { changes: TURNS + 1, lastInsertRowid: 9007199254740991n });
});

test('a statement that earned its way keeps its modes', (t) => {
  const statement = earn(open(t).prepare("SELECT 1 AS a, 'x' AS b"));
  for (let turn = 0; turn < 2; turn += 1) {
    assert.equal(statement.pluck().get(), 1);
    assert.deepEqual(statement.raw().get(), [1, 'x']);
    assert.deepEqual(statement.expand().get(), { $: { a: 1, b: 'x' } });
    assert.deepEqual(statement.expand(false).get(), { a: 1, b: 'x' });
  }
});

test('names that are special are own properties', { skip: isPeer && 'it loses __proto__' }, (t) => {
  const row = earn(open(t).prepare('SELECT 1 AS __proto__, 2 AS "a""b", 3 AS "new\nline", 4 AS "7", 5 AS same, 6 AS same')).get();
  assert.equal(Object.getPrototypeOf(row), Object.prototype);
  assert.deepEqual(Object.entries(row), [['7', 4], ['__proto__', 1], ['a"b', 2], ['new\nline', 3], ['same', 6]]);
});

test('get follows changes of the schema (C-10.11)', (t) => {
  const db = open(t).exec("CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 'b')");
  const statement = earn(db.prepare('SELECT * FROM t'));
  for (let turn = 0; turn < 3; turn += 1) {
    assert.deepEqual(statement.get(), { a: 1, b: 'b' });
    db.exec('ALTER TABLE t RENAME COLUMN b TO c; ALTER TABLE t ADD COLUMN d');
    assert.deepEqual(statement.get(), { a: 1, c: 'b', d: null });
    db.exec('ALTER TABLE t DROP COLUMN d; ALTER TABLE t RENAME COLUMN c TO b');
  }
});

test('functions that read other databases, also when the query ends, do not disturb the row', (t) => {
  const inner = earn(open(t).prepare("SELECT 5 AS five, 'inner' AS t"));
  const insert = open(t).exec('CREATE TABLE t (a)').prepare('INSERT INTO t VALUES (1)');
  let ended = 0;
  const useOthers = () => {
    assert.deepEqual(inner.get(), { five: 5, t: 'inner' });
    assert.equal(insert.run().changes, 1);
  };
  const db = open(t).exec('CREATE TABLE t (g, x); CREATE INDEX i ON t (g); INSERT INTO t VALUES (1, 10), (2, 20), (2, 30)');
  db.function('other', (x) => { useOthers(); return x; });
  db.aggregate('total', {
    start: 0,
    step: (sum, x) => sum + x,
    result: (sum) => { ended += 1; useOthers(); return sum; },
  });
  const statement = db.prepare("SELECT g, total(other(x)) AS total, 'outer' AS t FROM t GROUP BY g ORDER BY g");
  for (let turn = 0; turn < TURNS; turn += 1) assert.deepEqual(statement.get(), { g: 1, total: 10, t: 'outer' });
  assert.ok(ended >= TURNS);
});

test('a getter of an argument may use the same statement first', (t) => {
  const statement = earn(open(t).prepare('SELECT $a AS a'), { a: 0 });
  const argument = { get a() { return `got ${statement.get({ a: 'inner' }).a}`; } };
  assert.deepEqual(statement.get(argument), { a: 'got inner' });
});

test('after a failure the next result is right', (t) => {
  const db = open(t);
  const fails = earn(db.prepare('SELECT abs(?) AS a'), -1);
  const plucked = db.prepare("SELECT 'text'").pluck();
  for (let turn = 0; turn < 3; turn += 1) {
    assert.throws(() => fails.get(-(2n ** 63n)), { code: 'SQLITE_ERROR', message: 'integer overflow' });
    assert.equal(plucked.get(), 'text');
    assert.deepEqual(fails.get(-2), { a: 2 });
    assert.equal(db.prepare('SELECT 1 AS a WHERE 0').get(), undefined);
  }
});

test('a frozen statement works as others', (t) => {
  const statement = Object.freeze(open(t).prepare("SELECT ? AS a, 't' AS t"));
  for (let turn = 0; turn < TURNS; turn += 1) assert.deepEqual(statement.get(turn), { a: turn, t: 't' });
});

test('what was put on the prototypes is not called', (t) => {
  const db = open(t).exec('CREATE TABLE t (a)');
  const fresh = db.prepare("SELECT 1 AS a, 'a text of some length' AS b");
  const insert = db.prepare('INSERT INTO t VALUES (1)');
  const places = [[WeakMap.prototype, 'get'], [Function.prototype, 'apply'], [Function.prototype, 'call'], [Reflect, 'apply'], [String.prototype, 'substring']];
  const saved = places.map(([host, name]) => Object.getOwnPropertyDescriptor(host, name));
  const results = [];
  let called = 0;
  // Warm, so that nothing is compiled or made under the changed prototypes but our own.
  earn(fresh);
  insert.run();
  for (const [host, name] of places) host[name] = () => { called += 1; };
  try {
    results.push(fresh.get(), insert.run());
  } finally {
    places.forEach(([host, name], at) => Object.defineProperty(host, name, saved[at]));
  }
  assert.equal(called, 0);
  assert.deepEqual(results, [{ a: 1, b: 'a text of some length' }, { changes: 1, lastInsertRowid: 2 }]);
});

test('setters on Object.prototype do not see what is finished', (t) => {
  const db = open(t).exec('CREATE TABLE t (a)');
  const [get, insert] = [earn(db.prepare('SELECT 1 AS trapped')), db.prepare('INSERT INTO t VALUES (1)')];
  let seen = 0;
  const names = ['trapped', 'changes', 'lastInsertRowid'];
  for (const name of names) Object.defineProperty(Object.prototype, name, { set() { seen += 1; }, configurable: true });
  let results;
  try {
    results = [get.get(), insert.run()];
  } finally {
    for (const name of names) delete Object.prototype[name];
  }
  assert.equal(seen, 0);
  assert.deepEqual(results, [{ trapped: 1 }, { changes: 1, lastInsertRowid: 1 }]);
});

test('get and run look like the other methods and check their receiver', (t) => {
  const statement = earn(open(t).prepare('SELECT 1 AS a'));
  const prototype = Object.getPrototypeOf(statement);
  for (const name of ['get', 'run']) {
    const { value, ...flags } = Object.getOwnPropertyDescriptor(prototype, name);
    assert.deepEqual(flags, { writable: true, enumerable: true, configurable: true });
    assert.deepEqual([value.name, value.length], [name, 0]);
    for (const receiver of [undefined, null, 1, 'text', {}, [], prototype, Object.create(statement), new Proxy(statement, {}), statement.iterate]) {
      throwsLike(() => value.call(receiver), TypeError, 'Illegal invocation');
    }
  }
});

test('objects of one class are no receivers of another', (t) => {
  const db = open(t);
  const statement = db.prepare('SELECT 1 AS a');
  const iterator = statement.iterate();
  const methods = (object) => Object.values(Object.getPrototypeOf(object)).filter((value) => typeof value === 'function');
  for (const method of methods(statement)) throwsLike(() => method.call(iterator), TypeError, 'Illegal invocation');
  for (const { value } of Object.values(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(iterator)))) {
    if (typeof value === 'function' && ['next', 'return'].includes(value.name)) throwsLike(() => value.call(statement), TypeError, 'Illegal invocation');
  }
  const { get: busy } = Object.getOwnPropertyDescriptor(statement, 'busy');
  if (busy) for (const receiver of [iterator, db, {}, undefined]) throwsLike(() => busy.call(receiver), TypeError, 'Illegal invocation');
  iterator.return();
});

test('a statement is found among many that come and go', (t) => {
  const db = open(t);
  const kept = [];
  for (let turn = 0; turn < 5000; turn += 1) {
    const statement = db.prepare(`SELECT ${turn} AS a`);
    if (turn % 50 === 0) kept.push([turn, statement]);
  }
  for (const [turn, statement] of kept) assert.deepEqual(statement.get(), { a: turn });
});

test('get and run are methods and no constructors', { skip: isPeer && 'they are native functions' }, (t) => {
  const { get, run } = open(t).prepare('SELECT 1 AS a');
  for (const method of [get, run]) assert.throws(() => Reflect.construct(method, []), TypeError);
});
