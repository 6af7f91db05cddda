'use strict';

// db.table() (C-25): definitions, parameters, rows, factories, exceptions.

const test = require('node:test');
const assert = require('node:assert/strict');
const vm = require('node:vm');
const {
  SqliteError, overruled, open, tempFile, throwsLike, throwsBusy, throwsOpen, thrownBy, fillNumbers,
} = require('../support/database.js');

const all = (db, sql, ...params) => db.prepare(sql).raw().all(...params);
const sqlError = (fn, message) => throwsLike(fn, SqliteError, message, 'SQLITE_ERROR');
const nothing = { columns: ['x'], * rows() {} };
const withLength = (length) => Object.defineProperty(function* rows() {}, 'length', { value: length });
/** A table `v` that yields these rows. */
const yielding = (db, columns, ...rows) => db.table('v', { columns, rows: function* yieldAll() { yield* rows; } });

test('gives the database back (C-25)', (t) => {
  const db = open(t);
  assert.equal(db.table('v', nothing), db);
  assert.equal(db.table('f', () => nothing), db);
  assert.equal(db.table.name, 'defineTable');
  assert.equal(db.table.length, 2);
});

test('checks its arguments (C-25.1)', (t) => {
  const db = open(t);
  for (const name of [undefined, null, 5, Object('v'), nothing]) {
    throwsLike(() => db.table(name, 5), TypeError, 'Expected first argument to be a string');
  }
  throwsLike(() => db.table('', 5), TypeError, 'Virtual table module name cannot be an empty string');
  for (const source of [undefined, null, 5, 'x', true]) {
    throwsLike(() => db.table('v', source), TypeError, 'Expected second argument to be a function or a table definition object');
  }
  throwsLike(() => db.table('v', Object.create(Function.prototype)), TypeError, 'Virtual table module "v" used a table definition without a "rows" property');
  db.table('v', nothing, 'ignored');
});

const [columns, rows] = [['x', 'y'], function* rows() {}];
const names = (count) => Array.from({ length: count }, (_, index) => `p${index}`);
const INVALID = [
  ['without a "rows" property', TypeError, { columns }, Object.create({ columns, rows }), { columns: 5, get row() { return rows; } }],
  ['without a "columns" property', TypeError, { rows }, { rows: 5, parameters: 5 }],
  ['with an invalid "rows" property (should be a generator function)', TypeError,
    ...[undefined, null, 5, {}, () => {}, function f() {}, async function* f() {}, rows(), Object.create(rows), class A {},
      Object.setPrototypeOf(() => {}, rows), vm.runInNewContext('(function* () {})')].map((wrong) => ({ columns: 5, rows: wrong }))],
  ['with an invalid "columns" property (should be an array of strings)', TypeError,
    ...[undefined, null, 'x', 5, { 0: 'x', length: 1 }, [5], ['x', undefined], ['x', , 'y'], [Object('x')]].map((wrong) => ({ columns: wrong, rows, parameters: 5 }))], // eslint-disable-line no-sparse-arrays
  ['with duplicate column names', TypeError, { columns: ['x', 'y', 'x'], rows, parameters: 5 }],
  ['with an invalid "parameters" property (should be an array of strings)', TypeError,
    ...[undefined, null, 'x', 5, {}, [5], [, 'x']].map((wrong) => ({ columns, rows, parameters: wrong }))], // eslint-disable-line no-sparse-arrays
  ['with duplicate parameter names', TypeError, { columns, rows, parameters: [...names(40), 'p1'] }],
  ['with column "y" which was ambiguously defined as both a column and parameter', TypeError, { columns, rows, parameters: ['z', 'y'], safeIntegers: 5 }],
  ['with an invalid "safeIntegers" property (should be a boolean)', TypeError, ...[undefined, null, 1, 'x'].map((wrong) => ({ columns, rows, safeIntegers: wrong, directOnly: 5 }))],
  ['with an invalid "directOnly" property (should be a boolean)', TypeError, ...[undefined, null, 0, {}].map((wrong) => ({ columns, rows, directOnly: wrong }))],
  ['with zero columns', RangeError, { columns: [], rows, parameters: 5 }],
  ['with more than the maximum number of 32 parameters', RangeError, { columns, rows, parameters: names(33) }, { columns, rows: withLength(33) }],
];
for (const [problem, Class, ...definitions] of INVALID) {
  test(`refuses a definition ${problem} (C-25.2, C-25.3)`, (t) => {
    const db = open(t);
    for (const definition of definitions) {
      throwsLike(() => db.table('v', definition), Class, `Virtual table module "v" used a table definition ${problem}`);
      db.table('f', () => definition);
      throwsLike(() => db.exec('CREATE VIRTUAL TABLE t USING f'), Class, `Virtual table module "f" returned a table definition ${problem}`);
    }
    sqlError(() => db.prepare('select * from v'), 'no such table: v');
    sqlError(() => db.prepare('select * from t'), 'no such table: t');
  });
}

test('wants a length for its parameters (C-25.2)', (t) => {
  const db = open(t);
  for (const wrong of [undefined, -1, 1.5, '2', NaN]) {
    throwsLike(() => db.table('v', { columns, rows: withLength(wrong) }), TypeError, 'Expected function.length to be a positive integer');
    db.table('w', { columns, rows: withLength(wrong), parameters: ['z'] });
  }
  db.table('v', { columns, rows: withLength(32) });
  assert.equal(all(db, "select * from pragma_table_xinfo('v') where hidden = 1").length, 32);
});

test('does not ask what users may have changed in Array.prototype (C-25.3)', (t) => {
  const db = open(t);
  const { every } = Array.prototype;
  try {
    Array.prototype.every = () => true; // eslint-disable-line no-extend-native
    assert.throws(() => db.table('v', { columns: [5], rows }), /invalid "columns" property/);
  } finally {
    Array.prototype.every = every; // eslint-disable-line no-extend-native
  }
});

test('copies what it is given (C-25.4)', (t) => {
  const db = open(t);
  const definition = { columns: ['x'], parameters: ['p'], * rows(p) { yield [p]; } };
  db.table('v', definition);
  definition.columns[0] = 'changed';
  definition.columns.push('more');
  definition.parameters.length = 0;
  definition.rows = null;
  assert.deepEqual(db.prepare('select *, p from v(5)').get(), { x: 5, p: 5 });
});

test('names that differ in case alone fail at the first use (C-25.4)', (t) => {
  const db = open(t);
  db.table('v', { columns: ['x', 'X'], * rows() {} });
  sqlError(() => db.prepare('select * from v'), 'failed to declare virtual table "v"');
  db.table('v', nothing);
  assert.deepEqual(all(db, 'select * from v'), []);
});

test('parameters are hidden columns, by position or by name (C-25.5)', (t) => {
  const db = open(t);
  db.table('v', { columns: ['x'], * rows(a, b) { yield [`${a} ${b}`]; } });
  assert.deepEqual(db.prepare('select * from v(1, 2)').all(), [{ x: '1 2' }]);
  assert.deepEqual(db.prepare('select *, "$1", "$2" from v(1)').all(), [{ x: '1 undefined', $1: 1, $2: null }]);
  assert.deepEqual(all(db, 'select * from v where "$2" = ? and "$1" = ?', 'b', 'a'), [['a b']]);
  sqlError(() => db.prepare('select * from v(1, 2, 3)'), 'too many arguments on v() - max 2');
  assert.deepEqual(all(db, "select name, hidden from pragma_table_xinfo('v')"), [['$1', 1], ['$2', 1], ['x', 0]]);
});

test('any name can be quoted (C-25.5)', (t) => {
  const db = open(t);
  db.table('odd "name"', { columns: ['a "b"', 'select', ''], parameters: ['p "q"', 'größe'], * rows(p, q) { yield [p, q, 3]; } });
  assert.deepEqual(db.prepare('select *, "p ""q""", größe from "odd ""name"""(1, 2)').all(), [{ 'a "b"': 1, select: 2, '': 3, 'p "q"': 1, größe: 2 }]);
});

test('rows gets one argument per parameter, this undefined (C-25.6)', (t) => {
  const db = open(t);
  const calls = [];
  db.table('v', {
    columns: ['x'],
    parameters: ['a', 'b', 'c'],
    * rows(...args) { calls.push([this, args]); yield [1]; },
  });
  const cases = [['v', []], ["v(1, 'two', x'03')", [1, 'two', Buffer.from([3])]], ['v where c = 3 and a = 1', [1, undefined, 3]], ['v(1) where c = 3', [1, undefined, 3]]];
  for (const [source, expected] of cases) {
    assert.deepEqual(all(db, `select x from ${source}`), [[1]]);
    assert.deepEqual(calls.pop(), [undefined, Array.from({ length: 3 }, (_, index) => expected[index])]);
  }
  db.table('w', { columns: ['x'], parameters: ['a'], * rows(a = 'default') { yield [a]; } });
  assert.deepEqual(all(db, 'select x, a from w'), [['default', null]]);
});

test('NULL and contradictions give no rows (C-25.6)', (t) => {
  const db = open(t);
  let calls = 0;
  db.table('v', { columns: ['x'], * rows(a, b) { calls += 1; yield [a]; } });
  assert.deepEqual(all(db, 'select * from v(NULL)'), []);
  assert.deepEqual(all(db, 'select * from v(1, ?)', null), []);
  assert.deepEqual(all(db, 'select * from v where "$2" = NULL'), []);
  assert.equal(calls, 0);
  assert.deepEqual(all(db, 'select * from v(1) where "$1" = 2'), []);
  assert.deepEqual(all(db, 'select * from v(1) where "$1" = 1'), [[1]]);
});

test('parameters take = alone, IN and OR of it included (C-25.7)', (t) => {
  const db = open(t);
  db.table('v', { columns: ['x'], parameters: ['p'], * rows(p) { yield [p]; } });
  for (const condition of ['p > 1', 'p < 1', 'p >= 1', 'p <= 1', 'p != 1', 'p IS 1', 'p IS NULL', 'p IS NOT NULL', 'p IS NOT 1', "p LIKE 'a'", 'p BETWEEN 1 AND 2']) {
    sqlError(() => db.prepare(`select * from v where ${condition}`), 'virtual table parameter "p" can only be constrained by the \'=\' operator');
  }
  assert.deepEqual(all(db, 'select x from v where p IN (1, 2, 2) order by x'), [[1], [2]]);
  assert.deepEqual(all(db, 'select x from v where p = 3 or p = 4 order by x'), [[3], [4]]);
  assert.deepEqual(all(db, 'select x from v where p = 3 and x > 3'), []);
});

test('parameters may depend on other tables, in any order (C-25.7)', (t) => {
  const db = fillNumbers(open(t), 3);
  db.table('twice', { columns: ['x'], parameters: ['p'], * rows(p) { yield [p]; yield [p * 10]; } });
  const expected = [[1, 1], [1, 10], [2, 2], [2, 20], [3, 3], [3, 30]];
  for (const from of ['numbers join twice(n)', 'numbers, twice where p = n', 'twice, numbers where n = p', 'numbers left join twice on p = n', 'twice join numbers on p = n']) {
    assert.deepEqual(all(db, `select n, x from ${from} order by n, x`), expected, from);
  }
  assert.deepEqual(all(db, 'select a.x, b.x from twice(1) a, twice(a.x) b'), [[1, 1], [1, 10], [10, 10], [10, 100]]);
  assert.deepEqual(all(db, 'select (select sum(x) from twice(n)) from numbers'), [[11], [22], [33]]);
});

test('32 parameters can be given (C-25.5, C-25.6)', (t) => {
  const db = open(t);
  db.table('v', { columns: ['x'], parameters: names(32), * rows(...args) { yield [args.join()]; } });
  const given = Array.from({ length: 32 }, (_, index) => index);
  assert.deepEqual(all(db, `select x from v(${given})`), [[given.join()]]);
  assert.deepEqual(all(db, 'select x, p31 from v where p31 = 7'), [[`${','.repeat(31)}7`, 7]]);
});

test('rows are arrays, or objects with the columns as keys (C-25.8)', (t) => {
  const db = open(t);
  const nullish = Object.assign(Object.create(null), { a: 7, b: 8 });
  class Row { constructor() { this.b = 6; this.a = 5; } get inherited() { return 1; } }
  const hidden = Object.defineProperty({ a: 9, b: 10 }, 'c', { value: 1, enumerable: false });
  yielding(db, ['a', 'b'], [1, 2], { b: 4, a: 3 }, new Row(), nullish, hidden);
  assert.deepEqual(db.prepare('select * from v').all(), [{ a: 1, b: 2 }, { a: 3, b: 4 }, { a: 5, b: 6 }, { a: 7, b: 8 }, { a: 9, b: 10 }]);
});

test('refuses rows of another shape (C-25.8)', (t) => {
  const db = open(t);
  const cases = [
    ['a row with an incorrect number of columns', [], [1], [1, 2, 3]],
    ['a row with an undeclared column "c"', { a: 1, b: 2, c: 3 }, { c: 1 }, { c: 1, d: 2, a: 3 }],
    ['a row with an undeclared column "0"', new Uint8Array(2)],
    ['a row with missing columns', {}, { a: 1 }, { b: 1 }, new Map()],
    ["something that isn't a valid row object", undefined, null, 5, 'ab', true, 5n, () => {}, Symbol('x')],
  ];
  for (const [problem, ...shapes] of cases) {
    for (const shape of shapes) {
      yielding(db, ['a', 'b'], [1, 2], shape);
      throwsLike(() => db.prepare('select * from v').all(), TypeError, `Virtual table module "v" yielded ${problem}`);
      assert.deepEqual(db.prepare('select * from v').get(), { a: 1, b: 2 });
    }
  }
});

test('values are converted as for parameters, where they are read (C-25.9)', (t) => {
  const db = open(t);
  const blob = Buffer.from('x');
  yielding(db, ['x', 'y'], ...[1, 1.5, 5n, 'tëxt', blob, null, undefined].map((x) => [x, true]));
  assert.deepEqual(all(db, 'select x, typeof(x) from v'), [
    [1, 'real'], [1.5, 'real'], [5, 'integer'], ['tëxt', 'text'], [blob, 'blob'], [null, 'null'], [null, 'null'],
  ]);
  for (const wrong of [true, {}, [], Symbol('x'), () => {}]) {
    yielding(db, ['x', 'y'], [1, wrong]);
    throwsLike(() => db.prepare('select * from v').all(), TypeError, 'Virtual table module "v" yielded an invalid value');
    assert.deepEqual(all(db, 'select x from v'), [[1]]);
  }
  yielding(db, ['x'], [2n ** 63n]);
  throwsLike(() => db.prepare('select * from v').all(), RangeError, 'Virtual table module "v" yielded a bigint that was too big');
});

test('rows have numbers from 1 per scan (C-25.10)', (t) => {
  const db = open(t);
  yielding(db, ['x'], ['a'], ['b']);
  assert.deepEqual(all(db, 'select v.rowid, v.x, w.rowid from v, v as w order by 1, 3'), [[1, 'a', 1], [1, 'a', 2], [2, 'b', 1], [2, 'b', 2]]);
  yielding(db, ['rowid'], ['own']);
  assert.deepEqual(db.prepare('select * from v').all(), [{ rowid: 'own' }]);
});

test('rows are pulled one by one, and the generator is left as it is (C-25.11, C-13.13)', (t) => {
  const db = open(t);
  const log = [];
  db.table('v', {
    columns: ['x'],
    * rows() {
      try {
        for (let n = 1; ; n += 1) {
          log.push(n);
          yield [n];
        }
      } finally {
        log.push('finally');
      }
    },
  });
  assert.deepEqual(all(db, 'select x from v limit 2'), [[1], [2]]);
  assert.deepEqual(log.splice(0), [1, 2]);
  const iterator = db.prepare('select x from v').iterate();
  assert.deepEqual(log, []);
  iterator.next();
  iterator.return();
  assert.deepEqual(log, [1]);
  assert.deepEqual(db.prepare('select x from v').pluck().get(), 1);
});

test('SQLite filters, sorts, joins and limits (C-25.12)', (t) => {
  const db = open(t);
  yielding(db, ['x', 'y'], [3, 'c'], [1, 'a'], [2, 'b']);
  assert.deepEqual(all(db, "select x from v where y > 'a' order by x desc limit 1 offset 1"), [[2]]);
  assert.deepEqual(all(db, 'select x from v limit 1 offset 1'), [[1]]);
  assert.deepEqual(all(db, 'select count(*), sum(a.x * b.x) from v a join v b using (y)'), [[3, 14]]);
});

test('tables cannot be written (C-25.12)', (t) => {
  const db = open(t);
  db.table('v', nothing);
  for (const sql of ["INSERT INTO v VALUES (1)", 'DELETE FROM v', 'UPDATE v SET x = 1']) sqlError(() => db.exec(sql), 'table v may not be modified');
});

test('an eponymous table is there at once, and cannot be created (C-25.13)', (t) => {
  const db = open(t);
  yielding(db, ['x'], [1]);
  assert.deepEqual(all(db, 'select * from v'), [[1]]);
  sqlError(() => db.exec('CREATE VIRTUAL TABLE t USING v'), 'no such module: v');
  db.exec("CREATE TABLE v (x); INSERT INTO v VALUES ('real')");
  assert.deepEqual(all(db, 'select * from v'), [['real']]);
  db.exec('DROP TABLE v');
  assert.deepEqual(all(db, 'select * from v'), [[1]]);
});

test('a new table of the same name takes its place (C-25)', (t) => {
  const db = open(t);
  yielding(db, ['x'], [1]);
  const statement = db.prepare('select * from v');
  assert.deepEqual(statement.all(), [{ x: 1 }]);
  yielding(db, ['y', 'z'], [2, 3]);
  assert.deepEqual(db.prepare('select * from v').all(), [{ y: 2, z: 3 }]);
  assert.deepEqual(statement.all(), [{ x: 1 }], 'what was compiled before keeps its table');
});

test('a factory makes a table per CREATE VIRTUAL TABLE (C-25.14)', (t) => {
  const db = open(t);
  const calls = [];
  db.table('mod', function factory(...args) {
    calls.push([this, args]);
    return { columns: ['x'], * rows() { for (const arg of args) yield [arg]; } };
  });
  sqlError(() => db.prepare('select * from mod'), 'no such table: mod');
  db.exec(`CREATE VIRTUAL TABLE one USING mod( hello world ,"q",  'a, b', größe)`);
  db.exec('CREATE VIRTUAL TABLE temp.two USING mod; CREATE VIRTUAL TABLE three USING mod()');
  assert.deepEqual(calls, [
    [{ module: 'mod', database: 'main', table: 'one' }, ['hello world', '"q"', "'a, b'", 'größe']],
    [{ module: 'mod', database: 'temp', table: 'two' }, []],
    [{ module: 'mod', database: 'main', table: 'three' }, []],
  ]);
  assert.equal(Object.getPrototypeOf(calls[0][0]), Object.prototype);
  assert.deepEqual(all(db, 'select * from one'), [['hello world'], ['"q"'], ["'a, b'"], ['größe']]);
  assert.deepEqual(all(db, 'select * from two'), []);
  sqlError(() => db.exec('CREATE VIRTUAL TABLE one USING mod'), 'table one already exists');
  db.exec('DROP TABLE one; CREATE VIRTUAL TABLE one USING mod(again)');
  assert.deepEqual(all(db, 'select * from one'), [['again']]);
});

test('a factory must give a definition (C-25.14)', (t) => {
  const db = open(t);
  for (const wrong of [undefined, null, 5, 'x', () => nothing]) {
    db.table('mod', () => wrong);
    throwsLike(() => db.exec('CREATE VIRTUAL TABLE t USING mod'), TypeError, 'Virtual table module "mod" did not return a table definition object');
  }
  db.table('mod', () => ({ columns: ['x', 'X'], * rows() {} }));
  sqlError(() => db.exec('CREATE VIRTUAL TABLE t USING mod'), 'failed to declare virtual table "t"');
});

test('what a factory throws comes out as it is (C-25.14)', (t) => {
  const db = open(t);
  for (const thrown of [new Error('own'), {}, '', null, undefined]) {
    db.table('mod', () => { throw thrown; });
    assert.equal(thrownBy(() => db.exec('CREATE VIRTUAL TABLE t USING mod')).thrown, thrown);
    sqlError(() => db.prepare('select * from t'), 'no such table: t');
    assert.equal(db.inTransaction, false);
  }
});

test('a stored table needs its module again (C-25.14)', (t) => {
  const file = tempFile(t);
  const factory = (label) => ({ columns: ['x'], * rows() { yield [label]; } });
  const first = open(t, file).table('mod', factory);
  first.exec('CREATE VIRTUAL TABLE t USING mod(stored)');
  first.close();
  const db = open(t, file);
  sqlError(() => db.prepare('select * from t'), 'no such module: mod');
  const own = {};
  db.table('mod', () => { throw own; });
  assert.equal(thrownBy(() => db.prepare('select * from t')).thrown, own);
  db.table('mod', factory);
  assert.deepEqual(all(db, 'select * from t'), [['stored']]);
  db.exec('DROP TABLE t');
});

// PRAGMA table_list goes on when a table cannot be connected; the replaced package runs what follows as well.
overruled('exec stops at what a factory throws, also where SQLite would not (C-7.2, C-23.8)', (t) => {
  const file = tempFile(t);
  open(t, file).table('mod', () => nothing).exec('CREATE VIRTUAL TABLE t USING mod; CREATE TABLE z (x)').close();
  const db = open(t, file);
  const own = {};
  db.table('mod', () => { throw own; });
  assert.equal(thrownBy(() => db.exec('PRAGMA table_list; INSERT INTO z VALUES (1)')).thrown, own);
  assert.equal(thrownBy(() => db.pragma('table_list')).thrown, own);
  assert.deepEqual(all(db, 'select * from z'), []);
});

// The replaced package is not busy while it compiles.
overruled('a factory cannot close the database, compiling included (C-25.18, C-21.1)', (t) => {
  const file = tempFile(t);
  open(t, file).table('mod', () => nothing).exec('CREATE VIRTUAL TABLE t USING mod').close();
  const db = open(t, file);
  let calls = 0;
  db.table('mod', () => {
    calls += 1;
    throwsBusy(() => db.close());
    throwsBusy(() => db.exec('DROP TABLE t'));
    return nothing;
  });
  assert.deepEqual(all(db, 'select * from t'), []);
  assert.equal(calls, 1);
});

test('what the generator throws comes out as it is (C-25.15, C-13.8)', (t) => {
  const db = open(t);
  let thrown;
  db.table('v', { columns: ['x'], * rows() { yield [1]; throw thrown; } });
  db.table('w', { columns: ['x'], * rows() { yield { get x() { throw thrown; } }; } });
  db.exec('CREATE TABLE t (x)');
  for (thrown of [new Error('own'), {}, 'text', '', 0, null, undefined]) {
    const statement = db.prepare('select x from v');
    for (const way of [
      () => db.exec('select * from v'), () => statement.all(), () => [...statement.iterate()], () => db.prepare('select x from w').get(),
      () => db.prepare('INSERT INTO t SELECT x FROM v').run(), () => db.prepare('select x from v where x in (select x from v)').all(),
    ]) assert.equal(thrownBy(way).thrown, thrown);
    assert.equal(statement.busy, false);
    sqlError(() => db.exec('nonsense'), 'near "nonsense": syntax error');
  }
  assert.deepEqual(all(db, 'select * from t'), []);
});

test('directOnly keeps a table out of views and triggers (C-25.16)', (t) => {
  const db = open(t).exec('CREATE TABLE t (x); CREATE TABLE log (x)');
  db.table('v', { columns: ['x'], directOnly: true, * rows() { yield [1]; } });
  db.table('w', { columns: ['x'], directOnly: false, * rows() { yield [2]; } });
  db.exec('CREATE VIEW a AS SELECT * FROM v; CREATE VIEW b AS SELECT * FROM w');
  assert.deepEqual(all(db, 'select * from v'), [[1]]);
  sqlError(() => db.prepare('select * from a'), 'unsafe use of virtual table "v"');
  assert.deepEqual(all(db, 'select * from b'), [[2]]);
  db.exec('CREATE TRIGGER tr AFTER INSERT ON t BEGIN INSERT INTO log SELECT x FROM v; END');
  sqlError(() => db.exec('INSERT INTO t VALUES (1)'), 'unsafe use of virtual table "v"');
});

test('Buffers are copies (C-25.17)', (t) => {
  const db = open(t);
  const given = Buffer.from('abc');
  db.table('v', {
    columns: ['x'],
    parameters: ['p'],
    * rows(p) {
      p[0] = 0x7a;
      given[1] = 0x7a;
      yield [p];
      p[2] = 0x7a;
      yield [p];
    },
  });
  assert.deepEqual(all(db, 'select x, p from v(?)', given), [[Buffer.from('zbc'), Buffer.from('abc')], [Buffer.from('zbz'), Buffer.from('abc')]]);
});

test('is refused while iterating, in callbacks and after close (C-25.18)', (t) => {
  const db = open(t);
  const attempts = () => {
    for (const attempt of [
      () => db.exec('select 1'), () => db.prepare('select 1'), () => db.pragma('cache_size'), () => db.close(),
      () => db.function('f', () => 1), () => db.aggregate('a', { step() {} }), () => db.table('v', nothing),
    ]) throwsBusy(attempt);
    return 1;
  };
  db.table('v', { columns: ['x'], * rows() { yield [attempts()]; } });
  assert.deepEqual(all(db, 'select * from v'), [[1]]);
  db.table('mod', () => { attempts(); return nothing; });
  db.exec('CREATE VIRTUAL TABLE t USING mod');
  const iterator = db.prepare('select 1').iterate();
  throwsBusy(() => db.table('v', nothing));
  throwsBusy(() => db.table('v', () => nothing));
  iterator.return();
  db.close();
  throwsOpen(() => db.table('v', nothing));
  throwsOpen(() => db.table('v', () => nothing));
});

test('tables inside of tables, functions and other databases (C-21.3)', (t) => {
  const db = open(t);
  const other = open(t);
  yielding(other, ['x'], [1], [2]);
  db.table('v', { columns: ['x'], * rows() { for (const { x } of other.prepare('select x from v').iterate()) yield [x * 10]; } });
  db.function('f', (x) => other.prepare('select sum(x) + ? from v').pluck().get(x));
  db.aggregate('a', { start: 0, step: (total, x) => total + x });
  assert.deepEqual(all(db, 'select a(f(x)), count(*) from v'), [[36, 2]]);
});
