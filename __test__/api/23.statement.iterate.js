'use strict';

// iterate() and its iterator (C-13). What else may run meanwhile is in 42.integrity.js.

const test = require('node:test');
const assert = require('node:assert/strict');
const {
  SqliteError, overruled, open, fillNumbers, throwsLike, throwsBusy, throwsLocked, throwsOpen,
} = require('../support/database.js');
const { bindingTests } = require('../support/binding.js');
const { collectUntil } = require('../support/gc.js');

const DONE = { value: undefined, done: true };

bindingTests('iterate', (statement, args) => {
  const rows = statement.raw().iterate(...args);
  const { value } = rows.next();
  rows.return();
  return value;
});

test('errors of parameters and state are thrown by iterate() itself (C-13.1)', (t) => {
  const db = fillNumbers(open(t), 3);
  const statement = db.prepare('select n from numbers where n > ?');
  throwsLike(() => statement.iterate(), RangeError, 'Too few parameter values were provided');
  assert.equal(statement.busy, false);
  db.exec('select 1');
  const rows = statement.iterate(1);
  throwsLocked(() => statement.iterate(1));
  rows.return();
  db.close();
  throwsOpen(() => statement.iterate(1));
});

test('nothing is executed before the first next() (C-13.1)', (t) => {
  const db = open(t).exec('CREATE TABLE t (x)');
  const insert = db.prepare('INSERT INTO t VALUES (?) RETURNING x');
  const count = db.prepare('select count(*) from t').pluck();
  insert.iterate(1).return();
  assert.equal(count.get(), 0);
  const rows = insert.iterate(2);
  assert.equal(count.get(), 0);
  assert.deepEqual(rows.next(), { value: { x: 2 }, done: false });
  assert.equal(count.get(), 1);
  rows.return();
  assert.equal(count.get(), 1);
});

test('the iterator is an object of a class that users cannot construct (C-13.2)', (t) => {
  const statement = open(t).prepare('select 1');
  const rows = statement.iterate();
  const prototype = Object.getPrototypeOf(rows);
  assert.equal(rows.constructor.name, 'StatementIterator');
  assert.equal(Object.getPrototypeOf(prototype), Object.prototype);
  throwsLike(() => new rows.constructor(), TypeError, 'Disabled constructor');
  throwsLike(() => new rows.constructor(statement), TypeError, 'Disabled constructor');
  assert.equal(rows[Symbol.iterator](), rows);
  assert.equal('throw' in rows, false);
  assert.deepEqual(Object.keys(rows), ['statement']);
  assert.equal(rows.statement, statement);
  assert.throws(() => { rows.statement = 5; }, TypeError);
  for (const key of ['next', 'return', Symbol.iterator]) {
    assert.equal(typeof Object.getOwnPropertyDescriptor(prototype, key).value, 'function');
  }
  rows.return();
});

test('next() gives records as the language wants them (C-13.3)', (t) => {
  const rows = open(t).prepare('select 1 as x union all select 2').iterate();
  const first = rows.next('ignored', {});
  assert.equal(Object.getPrototypeOf(first), Object.prototype);
  assert.deepEqual(Object.entries(first), [['value', { x: 1 }], ['done', false]]);
  assert.deepEqual(rows.next(), { value: { x: 2 }, done: false });
  assert.deepEqual(rows.next(), DONE);
  assert.deepEqual(Object.keys(rows.next()), ['value', 'done']);
  assert.deepEqual(rows.next(), DONE);
});

test('an empty result is done at once (C-13.3)', (t) => {
  const rows = open(t).prepare('select 1 where 0').iterate();
  assert.deepEqual(rows.next(), DONE);
  assert.equal(rows.statement.busy, false);
});

test('return() closes early, as often as one likes (C-13.4)', (t) => {
  const db = fillNumbers(open(t), 3);
  const statement = db.prepare('select n from numbers');
  const rows = statement.iterate();
  rows.next();
  assert.deepEqual(rows.return('ignored'), DONE);
  assert.equal(statement.busy, false);
  const others = statement.iterate();
  assert.deepEqual(rows.return(), DONE);
  assert.deepEqual(rows.next(), DONE);
  assert.equal(statement.busy, true);
  throwsBusy(() => db.exec('select 1'));
  assert.deepEqual(others.next().value, { n: 1 });
  others.return();
  db.exec('select 1');
});

test('leaving a for…of loop by break or throw closes it (C-13.4)', (t) => {
  const db = fillNumbers(open(t), 3);
  const statement = db.prepare('select n from numbers');
  for (const row of statement.iterate()) {
    assert.equal(row.n, 1);
    break;
  }
  db.exec('select 1');
  assert.throws(() => {
    for (const row of statement.iterate()) throw new Error(`row ${row.n}`);
  }, /row 1/);
  db.exec('select 1');
  const [first] = statement.iterate();
  assert.deepEqual(first, { n: 1 });
  db.exec('select 1');
});

test('the statement is locked until its iterator is closed (C-13.5)', (t) => {
  const statement = open(t).prepare('select 1 as x');
  const rows = statement.iterate();
  for (const started of [false, true]) {
    if (started) rows.next();
    for (const name of ['run', 'get', 'all', 'iterate', 'bind', 'pluck', 'expand', 'raw', 'safeIntegers']) {
      if (name === 'run') throwsLike(() => statement.run(), TypeError, 'This statement is busy executing a query');
      else throwsLocked(() => statement[name]());
    }
    assert.equal(statement.columns()[0].name, 'x');
    assert.equal(statement.toString(), 'select 1 as x');
    assert.equal(statement.source, 'select 1 as x');
  }
  rows.return();
  assert.deepEqual(statement.get(), { x: 1 });
});

test('mode and safe integers are those at the call (C-13.7)', (t) => {
  const db = open(t);
  const rows = (statement) => [...statement.iterate()];
  assert.deepEqual(rows(db.prepare('select 1 as a, 2 as b').pluck()), [1]);
  assert.deepEqual(rows(db.prepare('select 1 as a, 2 as b').raw()), [[1, 2]]);
  assert.deepEqual(rows(db.prepare('select 1 as a, 2 as b').expand()), [{ $: { a: 1, b: 2 } }]);
  assert.deepEqual(rows(db.prepare('select 1 as a, 2 as b').safeIntegers()), [{ a: 1n, b: 2n }]);
});

test('a failing step closes the iterator (C-13.8)', (t) => {
  const db = open(t);
  const statement = db.prepare('select abs(x) as x from (select 1 as x union all select -9223372036854775808 union all select 3)');
  const rows = statement.iterate();
  assert.deepEqual(rows.next().value, { x: 1 });
  throwsLike(() => rows.next(), SqliteError, 'integer overflow', 'SQLITE_ERROR');
  assert.equal(statement.busy, false);
  assert.deepEqual(rows.next(), DONE);
  assert.deepEqual(rows.return(), DONE);
  db.exec('select 1');
});

test('an exception of verbose closes the iterator (C-13.8)', (t) => {
  let thrown = null;
  const db = open(t, ':memory:', { verbose: () => { if (thrown) throw thrown; } });
  const statement = db.prepare('select 1');
  const rows = statement.iterate();
  thrown = new Error('from verbose');
  assert.throws(() => rows.next(), (error) => error === thrown);
  thrown = null;
  assert.equal(statement.busy, false);
  assert.deepEqual(rows.next(), DONE);
  db.exec('select 1');
});

test('next() and return() are refused inside callbacks (C-13.9)', (t) => {
  let inside = null;
  const db = open(t, ':memory:', { verbose: () => inside && inside() });
  const finished = db.prepare('select 1').iterate();
  finished.return();
  const rows = db.prepare('select 1 as x').iterate();
  inside = () => {
    for (const iterator of [finished, rows]) {
      throwsBusy(() => iterator.next());
      throwsBusy(() => iterator.return());
    }
  };
  db.prepare('select 2').get();
  inside = null;
  assert.deepEqual(rows.next(), { value: { x: 1 }, done: false });
  rows.return();
});

test('a finished iterator of a closed database stays done (C-13.9)', (t) => {
  const db = open(t);
  const rows = db.prepare('select 1').iterate();
  rows.return();
  db.close();
  assert.deepEqual(rows.next(), DONE);
  assert.deepEqual(rows.return(), DONE);
});

test('several iterators may be open, each must be finished (C-13.10)', (t) => {
  const db = fillNumbers(open(t), 3);
  const first = db.prepare('select n from numbers').pluck().iterate();
  const second = db.prepare('select n * 10 from numbers').pluck().iterate();
  const seen = [];
  for (let turn = 0; turn < 3; turn += 1) seen.push(first.next().value, second.next().value);
  assert.deepEqual(seen, [1, 10, 2, 20, 3, 30]);
  assert.deepEqual(first.next(), DONE);
  throwsBusy(() => db.exec('select 1'));
  assert.deepEqual(second.next(), DONE);
  db.exec('select 1');
});

test('next() inside for…of consumes rows (C-13.10)', (t) => {
  const rows = fillNumbers(open(t), 5).prepare('select n from numbers').pluck().iterate();
  const seen = [];
  for (const n of rows) seen.push([n, rows.next().value]);
  assert.deepEqual(seen, [[1, 2], [3, 4], [5, undefined]]);
});

test('65535 iterators may be open, not one more (C-13.12)', (t) => {
  const db = open(t);
  const open65535 = Array.from({ length: 65535 }, () => db.prepare('select 1').iterate());
  const another = db.prepare('select 1');
  throwsLike(() => another.iterate(), RangeError, 'Too many active database iterators');
  open65535.pop().return();
  another.iterate().return();
  for (const rows of open65535) rows.return();
  db.exec('select 1');
});

test('rows are fetched one by one (C-13.13)', (t) => {
  const db = open(t);
  const endless = db.prepare('with recursive c (n) as (select 1 union all select n + 1 from c) select n from c').pluck();
  const seen = [];
  for (const n of endless.iterate()) {
    if (n > 1000) break;
    seen.push(n);
  }
  assert.equal(seen.length, 1000);
});

test('rows inserted by others while iterating do no harm', (t) => {
  const db = fillNumbers(open(t), 100);
  const insert = db.prepare('INSERT INTO numbers VALUES (?) RETURNING n');
  const seen = [];
  for (const { n } of db.prepare('select n from numbers where n <= 100').iterate()) {
    insert.get(n + 1000);
    seen.push(n);
  }
  assert.deepEqual(seen, Array.from({ length: 100 }, (_, index) => index + 1));
  assert.equal(db.prepare('select count(*) from numbers').pluck().get(), 200);
});

test('a table changed under an open iterator does no harm', (t) => {
  const db = fillNumbers(open(t), 3);
  const rows = db.prepare('select * from numbers').iterate();
  rows.next();
  db.unsafeMode();
  throwsLike(() => db.exec('DROP TABLE numbers'), SqliteError, 'database table is locked', 'SQLITE_LOCKED');
  assert.deepEqual(rows.next().value, { n: 2 });
  rows.return();
  db.exec('DROP TABLE numbers');
});

const noDispose = typeof Symbol.dispose === 'symbol' ? false : 'no Symbol.dispose in this Node';

overruled('iterators and databases can be disposed where the language has it (overrules C-13.2)', (t) => {
  if (noDispose) return t.skip(noDispose);
  const db = open(t);
  const rows = db.prepare('select 1').iterate();
  rows[Symbol.dispose]();
  assert.equal(rows.statement.busy, false);
  assert.deepEqual(rows.next(), DONE);
  db[Symbol.dispose]();
  assert.equal(db.open, false);
  db[Symbol.dispose]();
  return undefined;
});

overruled('a dropped iterator is released once it is collected (overrules C-13.11)', async (t) => {
  const db = open(t).exec('CREATE TABLE t (x)');
  const statement = db.prepare('select 1 union all select 2');
  (function dropOne() {
    statement.iterate().next();
  })();
  throwsBusy(() => db.exec('INSERT INTO t VALUES (1)'));
  assert.equal(await collectUntil(() => !statement.busy), true);
  db.exec('INSERT INTO t VALUES (1)');
  assert.deepEqual(statement.get(), { 1: 1 });
});

test('an iterator that is referred to is never released by collection', async (t) => {
  const db = fillNumbers(open(t), 3);
  const rows = db.prepare('select n from numbers').iterate();
  rows.next();
  let rounds = 0;
  await collectUntil(() => (rounds += 1) > 3);
  throwsBusy(() => db.close());
  assert.deepEqual(rows.next().value, { n: 2 });
  rows.return();
});
