'use strict';

// get() (C-12), the shapes of a row (C-14) and values read (C-15). Many rows are in
// 22.statement.all.js.

const test = require('node:test');
const assert = require('node:assert/strict');
const { isPeer, overruled, open, throwsLike, throwsBusy } = require('../support/database.js');
const { bindingTests } = require('../support/binding.js');

bindingTests('get', (statement, args) => statement.raw().get(...args));

test('it gives the first row or undefined (C-12.1)', (t) => {
  const db = open(t).exec('CREATE TABLE t (x); INSERT INTO t VALUES (1), (2)');
  assert.deepEqual(db.prepare('select x from t').get(), { x: 1 });
  assert.equal(db.prepare('select x from t where x = 5').get(), undefined);
});

test('a statement without columns is refused (C-5.3)', (t) => {
  const db = open(t).exec('CREATE TABLE t (x)');
  const statement = db.prepare('INSERT INTO t VALUES (?)');
  for (const name of ['get', 'all', 'iterate']) {
    throwsLike(() => statement[name](1), TypeError, 'This statement does not return data. Use run() instead');
  }
  assert.equal(db.prepare('select count(*) from t').pluck().get(), 0);
});

test('with RETURNING all changes are made (C-12.2)', (t) => {
  const db = open(t).exec('CREATE TABLE t (x)');
  assert.deepEqual(db.prepare('INSERT INTO t VALUES (1), (2), (3) RETURNING x').get(), { x: 1 });
  assert.deepEqual(db.prepare('UPDATE t SET x = x * 10 RETURNING x').get(), { x: 10 });
  assert.deepEqual(db.prepare('select x from t').pluck().all(), [10, 20, 30]);
});

test('it works while other iterators are open, also with RETURNING (C-12.3)', (t) => {
  const db = open(t).exec('CREATE TABLE t (x)');
  const rows = db.prepare('select 1 union all select 2').iterate();
  rows.next();
  assert.deepEqual(db.prepare('select 3 as x').get(), { x: 3 });
  assert.deepEqual(db.prepare('select 3 as x').all(), [{ x: 3 }]);
  assert.deepEqual(db.prepare('INSERT INTO t VALUES (4) RETURNING x').get(), { x: 4 });
  assert.deepEqual(db.prepare('INSERT INTO t VALUES (5) RETURNING x').all(), [{ x: 5 }]);
  assert.deepEqual(rows.next().value, { 1: 2 });
  rows.return();
  assert.deepEqual(db.prepare('select x from t').pluck().all(), [4, 5]);
});

test('it is refused inside callbacks (C-12.3)', (t) => {
  let inside = null;
  const db = open(t, ':memory:', { verbose: () => inside && inside() });
  const statement = db.prepare('select 1');
  inside = () => {
    throwsBusy(() => statement.get());
    throwsBusy(() => statement.all());
  };
  db.exec('select 2');
});

test('values do not stay for the next call (C-12.4)', (t) => {
  const statement = open(t).prepare('select ? as x');
  assert.deepEqual(statement.get(5), { x: 5 });
  throwsLike(() => statement.get(), RangeError, 'Too few parameter values were provided');
  assert.deepEqual(statement.get(6), { x: 6 });
});

test('modes replace each other, false leaves only the mode named (C-14.1)', (t) => {
  const db = open(t).exec('CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 2)');
  const statement = db.prepare('select a, b from t');
  const shapes = { object: { a: 1, b: 2 }, pluck: 1, expand: { t: { a: 1, b: 2 } }, raw: [1, 2] };
  const modes = ['pluck', 'expand', 'raw'];
  const is = (mode) => assert.deepEqual(statement.get(), shapes[mode], mode);
  is('object');
  for (const mode of modes) {
    for (const other of modes.filter((name) => name !== mode)) {
      statement[mode]();
      is(mode);
      statement[other](false);
      is(mode);
      statement[other](true);
      is(other);
      statement[mode](false);
      is(other);
      statement[other](false);
      is('object');
    }
  }
});

test('a mode takes a boolean only (C-5.3)', (t) => {
  const statement = open(t).prepare('select 1');
  for (const name of ['pluck', 'expand', 'raw', 'safeIntegers']) {
    for (const value of [undefined, null, 0, 1, 'true', {}]) {
      throwsLike(() => statement[name](value), TypeError, 'Expected first argument to be a boolean');
    }
  }
});

test('modes are for statements that return data (C-5.2, C-5.3)', (t) => {
  const db = open(t).exec('CREATE TABLE t (x)');
  const statement = db.prepare('INSERT INTO t VALUES (1)');
  for (const name of ['pluck', 'expand', 'raw', 'columns']) {
    throwsLike(() => statement[name](5), TypeError, `The ${name}() method is only for statements that return data`);
  }
  assert.equal(statement.safeIntegers(), statement);
});

test('a row is a plain object with the columns in order (C-14.2)', (t) => {
  const db = open(t);
  const row = db.prepare('select 1 as b, 2 as a, 3 as c').get();
  assert.equal(Object.getPrototypeOf(row), Object.prototype);
  assert.deepEqual(Object.entries(row), [['b', 1], ['a', 2], ['c', 3]]);
  for (const key of Object.keys(row)) {
    const { writable, enumerable, configurable } = Object.getOwnPropertyDescriptor(row, key);
    assert.deepEqual([writable, enumerable, configurable], [true, true, true]);
  }
});

test('a name that comes twice keeps its first place and its last value (C-14.2)', (t) => {
  const db = open(t);
  assert.deepEqual(Object.entries(db.prepare('select 1 as a, 2 as b, 3 as a').get()), [['a', 3], ['b', 2]]);
  assert.deepEqual(db.prepare('select 1 as a, 2 as b, 3 as a').raw().get(), [1, 2, 3]);
});

test('column names of any kind are keys (C-14.2)', (t) => {
  const db = open(t);
  const names = ['', ' ', "it's", 'a\nb', '\u2028', '\u2029', '\\', '`', '${x}', '漢字', '😀', 'constructor', 'toString', 'hasOwnProperty',
    'a-b', 'return', '*/', '"', 'x'.repeat(300)];
  const row = db.prepare(`select ${names.map((name, index) => `${index} as "${name.replace(/"/g, '""')}"`).join()}`).get();
  assert.deepEqual(Object.keys(row), names);
  assert.deepEqual(Object.values(row), names.map((_, index) => index));
  assert.deepEqual(Object.keys(db.prepare('select 1 as b, 2 as "10", 3 as "2"').get()), ['2', '10', 'b']);
});

test('columns are own properties even under a setter of Object.prototype (C-14.3)', (t) => {
  const db = open(t);
  let called = 0;
  Object.defineProperty(Object.prototype, 'sealite_probe', { set() { called += 1; }, configurable: true });
  t.after(() => delete Object.prototype.sealite_probe);
  const statement = db.prepare('select 5 as sealite_probe');
  const rows = [statement.get(), ...statement.all(), ...statement.iterate()];
  assert.deepEqual(rows.map((row) => Object.getOwnPropertyDescriptor(row, 'sealite_probe').value), [5, 5, 5]);
  assert.equal(called, 0);
});

test('a column __proto__ does not touch other prototypes (C-14.4)', (t) => {
  const db = open(t);
  const row = db.prepare("select 1 as a, 'x' as __proto__, 2 as b").get();
  assert.deepEqual([row.a, row.b], [1, 2]);
  assert.equal(({}).x, undefined);
  assert.equal(Object.hasOwn(row, '__proto__'), !isPeer);
  assert.deepEqual(db.prepare("select 1 as a, 'x' as __proto__").raw().get(), [1, 'x']);
});

overruled('a column __proto__, and a table of that name, are own properties (overrules C-14.4, C-36.5)', (t) => {
  const db = open(t).exec('CREATE TABLE __proto__ (a, __proto__); INSERT INTO __proto__ VALUES (1, 2)');
  const value = (row) => Object.getOwnPropertyDescriptor(row, '__proto__')?.value;
  const statement = db.prepare('select * from __proto__');
  for (const row of [statement.get(), ...statement.all(), ...statement.iterate()]) {
    assert.deepEqual([Object.keys(row), value(row)], [['a', '__proto__'], 2]);
    assert.equal(Object.getPrototypeOf(row), Object.prototype);
  }
  const expanded = db.prepare('select *, 3 as b from __proto__').expand().get();
  assert.deepEqual(Object.keys(expanded), ['__proto__', '$']);
  assert.deepEqual([value(expanded).a, value(value(expanded))], [1, 2]);
});

test('expand groups columns by their table, expressions under $ (C-14.5)', (t) => {
  const db = open(t).exec(`
    CREATE TABLE one (a, b); CREATE TABLE two (b, c); CREATE TABLE "$" (d); CREATE VIEW v AS SELECT a FROM one;
    INSERT INTO one VALUES (1, 2); INSERT INTO two VALUES (3, 4); INSERT INTO "$" VALUES (5);
  `);
  const expand = (sql) => db.prepare(sql).expand().get();
  const row = expand('select 9 as x, two.c, one.*, two.b from one, two');
  assert.deepEqual(row, { $: { x: 9 }, two: { c: 4, b: 3 }, one: { a: 1, b: 2 } });
  assert.deepEqual(Object.keys(row), ['$', 'two', 'one']);
  assert.equal(Object.getPrototypeOf(row), Object.prototype);
  assert.equal(Object.getPrototypeOf(row.one), Object.prototype);
  assert.deepEqual(expand('select x.a, y.a from one x, one y'), { one: { a: 1 } });
  assert.deepEqual(expand('select a from v'), { one: { a: 1 } });
  assert.deepEqual(expand('select a from (select a from one)'), { one: { a: 1 } });
  assert.deepEqual(expand('with c as (select a from one) select a, a + 1 as n from c'), { one: { a: 1 }, $: { n: 2 } });
  assert.deepEqual(expand('select d, 1 as e from "$"'), { $: { d: 5, e: 1 } });
});

test('names are the alias, the declared name, or the text of the expression (C-14.6)', (t) => {
  const db = open(t).exec('CREATE TABLE t (Mixed); INSERT INTO t VALUES (1)');
  const name = (sql) => Object.keys(db.prepare(sql).get())[0];
  assert.equal(name('select mixed from t'), 'Mixed');
  assert.equal(name('select t.MIXED from t'), 'Mixed');
  assert.equal(name('select mixed as other from t'), 'other');
  assert.equal(name('select rowid from t'), 'rowid');
  assert.equal(name('select 1+1'), '1+1');
  assert.equal(name('select count(*) from t'), 'count(*)');
  assert.equal(name('select (select 1)'), '(select 1)');
});

test('rows may have 2000 columns in every mode (C-14.7)', (t) => {
  const db = open(t);
  const sql = `select ${Array.from({ length: 2000 }, (_, index) => `${index} as c${index}`).join()}`;
  const statement = db.prepare(sql);
  assert.equal(Object.keys(statement.get()).length, 2000);
  assert.equal(statement.get().c1999, 1999);
  assert.deepEqual(statement.raw().get(), Array.from({ length: 2000 }, (_, index) => index));
  assert.equal(statement.expand().get().$.c1999, 1999);
});

test('each storage class has its JavaScript type (C-15.1)', (t) => {
  const db = open(t);
  const value = (sql) => db.prepare(`select ${sql}`).pluck().get();
  assert.equal(value('5'), 5);
  assert.equal(value('9007199254740993'), 9007199254740992);
  assert.equal(value('9223372036854775807'), 2 ** 63);
  assert.equal(value('-9223372036854775808'), -(2 ** 63));
  assert.equal(value('5.0'), 5);
  assert.equal(value('9e999'), Infinity);
  assert.equal(value('-9e999'), -Infinity);
  assert.ok(Object.is(db.prepare('select ?').pluck().get(-0), -0));
  assert.equal(value("'text'"), 'text');
  assert.equal(value("''"), '');
  assert.equal(value('null'), null);
  assert.deepEqual(value("x'00ff'"), Buffer.from([0, 255]));
  assert.deepEqual(value("x''"), Buffer.alloc(0));
  assert.ok(value("x''") instanceof Buffer);
});

test('each blob is a copy of its own (C-15.1)', (t) => {
  const db = open(t).exec("CREATE TABLE t (x); INSERT INTO t VALUES (x'010203')");
  const statement = db.prepare('select x from t').pluck();
  const first = statement.get();
  first[0] = 99;
  assert.deepEqual(statement.get(), Buffer.from([1, 2, 3]));
  assert.notEqual(statement.get().buffer, statement.get().buffer);
});

test('invalid UTF-8 is replaced, NUL stays (C-15.2)', (t) => {
  const db = open(t);
  const text = (hex) => db.prepare(`select cast(x'${hex}' as text)`).pluck().get();
  assert.equal(text('61ff62'), 'a\ufffdb');
  assert.equal(text('c3'), '\ufffd');
  assert.equal(text('610062'), 'a\0b');
  assert.equal(text('eda080'), Buffer.from('eda080', 'hex').toString());
  assert.equal(text('f09f9880'), '😀');
});

for (const encoding of ['UTF-8', 'UTF-16le', 'UTF-16be']) {
  test(`the encoding of the database does not show: ${encoding} (C-15.3)`, (t) => {
    const db = open(t);
    db.pragma(`encoding = '${encoding}'`);
    db.exec('CREATE TABLE größe (ключ TEXT)');
    const texts = ['', 'a', 'ÿ', '漢字', '😀', 'a\0b'];
    const insert = db.prepare('INSERT INTO größe VALUES (?)');
    texts.forEach((text) => insert.run(text));
    assert.equal(db.pragma('encoding', { simple: true }), encoding);
    assert.deepEqual(db.prepare('select * from größe').all().map((row) => row.ключ), texts);
    assert.equal(db.prepare('select count(*) from größe where ключ = ?').pluck().get('😀'), 1);
  });
}
