'use strict';

// db.aggregate() (C-24): options, arity, accumulators, groups and windows, exceptions.

const test = require('node:test');
const assert = require('node:assert/strict');
const {
  SqliteError, overruled, open, throwsLike, throwsBusy, throwsOpen, thrownBy, fillNumbers,
} = require('../support/database.js');
const { collectUntil } = require('../support/gc.js');

const value = (db, sql, ...params) => db.prepare(`select ${sql}`).pluck().get(...params);
const values = (db, sql) => db.prepare(`select ${sql}`).pluck().all();
const withLength = (length, fn = () => 0) => Object.defineProperty(fn, 'length', { value: length });
const numbers = (t, count) => fillNumbers(open(t), count);
const sum = { start: 0, step: (total, n) => total + n };
const movingSum = { ...sum, inverse: (total, n) => total - n };

/** Options that log their calls; `own` may replace callbacks. */
function logged(log, own = {}) {
  const make = (name, fn) => (...args) => {
    log.push(name);
    return fn(...args);
  };
  const all = { start: () => 0, step: (total, n) => total + n, inverse: (total, n) => total - n, result: (total) => total, ...own };
  return {
    start: make('start', all.start),
    step: withLength(2, make('step', all.step)),
    inverse: withLength(2, make('inverse', all.inverse)),
    result: make('result', all.result),
  };
}

test('gives the database back (C-24)', (t) => {
  const db = open(t);
  assert.equal(db.aggregate('a', { step: () => {} }), db);
  assert.equal(db.aggregate.name, 'defineAggregate');
  assert.equal(db.aggregate.length, 2);
});

test('checks name and options first (C-24.1)', (t) => {
  const db = open(t);
  for (const name of [undefined, null, 5, Object('a'), () => {}]) {
    throwsLike(() => db.aggregate(name, 5), TypeError, 'Expected first argument to be a string');
  }
  for (const options of [undefined, null, 5, 'x', () => {}]) {
    throwsLike(() => db.aggregate('', options), TypeError, 'Expected second argument to be an options object');
  }
  throwsLike(() => db.aggregate('', {}), TypeError, 'User-defined function name cannot be an empty string');
});

test('checks callbacks, then booleans, then lengths (C-24.1)', (t) => {
  const db = open(t);
  const wrong = { step: 5, inverse: 5, result: 5, safeIntegers: 5, deterministic: 5, directOnly: 5, varargs: 5 };
  for (const step of [undefined, null]) throwsLike(() => db.aggregate('a', { ...wrong, step }), TypeError, 'Missing required option "step"');
  throwsLike(() => db.aggregate('a', {}), TypeError, 'Missing required option "step"');
  const right = { step: withLength(-1) };
  for (const key of ['step', 'inverse', 'result']) {
    for (const value of [5, {}, 'x', false]) {
      throwsLike(() => db.aggregate('a', { ...wrong, ...(key === 'step' ? {} : right), [key]: value }), TypeError, `Expected the "${key}" option to be a function`);
    }
    if (key !== 'step') right[key] = undefined;
  }
  for (const key of ['safeIntegers', 'deterministic', 'directOnly', 'varargs']) {
    throwsLike(() => db.aggregate('a', { ...wrong, ...right }), TypeError, `Expected the "${key}" option to be a boolean`);
    right[key] = false;
  }
  throwsLike(() => db.aggregate('a', right), TypeError, 'Expected function.length to be a positive integer');
});

test('takes inherited options, and null for no callback (C-24.1)', (t) => {
  const db = open(t);
  db.aggregate('a', Object.create({ ...sum, inverse: null, result: undefined }));
  assert.equal(value(db, 'a(x) from (select 1 as x union all select 2)'), 3);
  throwsLike(() => db.prepare('select a(1) over ()'), SqliteError, 'a() may not be used as a window function', 'SQLITE_ERROR');
});

test('takes the number of arguments from step and inverse (C-24.2)', (t) => {
  const db = open(t);
  for (const wrong of [undefined, null, '2', NaN, 2.1, -2, Infinity]) {
    throwsLike(() => db.aggregate('a', { step: withLength(wrong) }), TypeError, 'Expected function.length to be a positive integer');
    throwsLike(() => db.aggregate('a', { step: () => {}, inverse: withLength(wrong) }), TypeError, 'Expected function.length to be a positive integer');
  }
  throwsLike(() => db.aggregate('a', { step: withLength(102) }), RangeError, 'User-defined functions cannot have more than 100 arguments');
  const count = (...args) => args.length - 1;
  db.aggregate('a', { step: withLength(101, count), start: withLength(500), result: withLength(500, (acc) => acc) });
  assert.equal(value(db, `a(${Array(100)})`.replaceAll(',', '1,').replace(')', '1)')), 100);
  for (const length of [0, 1]) {
    db.aggregate('z', { step: withLength(length, count) });
    assert.deepEqual(db.prepare('select z(), z(*)').raw().get(), [0, 0]);
  }
  db.aggregate('i', { step: withLength(1, count), inverse: withLength(4) });
  assert.equal(value(db, 'i(1, 2, 3)'), 3);
  throwsLike(() => db.prepare('select i(1)'), SqliteError, 'wrong number of arguments to function i()', 'SQLITE_ERROR');
  db.aggregate('v', { varargs: true, step: withLength(undefined, count) });
  assert.deepEqual(db.prepare('select v(), v(1), v(1, 2, 3)').raw().get(), [0, 1, 3]);
});

test('starts with null, a value, or what a function gives (C-24.3)', (t) => {
  const db = numbers(t, 2);
  const seen = [];
  const step = (acc) => { seen.push(acc); };
  const shared = {};
  db.aggregate('none', { step });
  db.aggregate('undef', { step, start: undefined });
  db.aggregate('given', { step, start: shared });
  let calls = [];
  db.aggregate('made', { step, start(...args) { calls.push([this, args]); return undefined; } });
  for (const [name, expected] of [['none', null], ['undef', undefined], ['given', shared], ['made', undefined]]) {
    seen.length = 0;
    thrownBy(() => { db.prepare(`select ${name}() from numbers`).get(); throw new Error('no error'); });
    assert.deepEqual(seen, [expected, expected]);
    if (name === 'given') assert.equal(seen[0], shared);
  }
  assert.deepEqual(calls, [[undefined, []]]);
  calls = [];
  db.aggregate('made', { step() {}, start: () => { calls.push(1); return 'x'; } });
  assert.deepEqual(values(db, 'made() from numbers group by n'), ['x', 'x']);
  assert.equal(calls.length, 2);
});

test('step gives the next accumulator unless it gives undefined (C-24.4)', (t) => {
  const db = numbers(t, 4);
  const calls = [];
  db.aggregate('a', {
    start: 'start',
    step(acc, n) {
      calls.push([this, acc, n]);
      return [undefined, null, undefined, 'last'][n - 1];
    },
  });
  assert.equal(value(db, 'a(n) from numbers'), 'last');
  assert.deepEqual(calls, [[undefined, 'start', 1], [undefined, 'start', 2], [undefined, null, 3], [undefined, null, 4]]);
});

test('result makes the answer; the accumulator may be anything (C-24.5)', (t) => {
  const db = numbers(t, 3);
  db.aggregate('list', { start: () => [], step: (list, n) => { list.push(n); }, result: (list) => list.join() });
  assert.equal(value(db, 'list(n) from numbers'), '1,2,3');
  db.aggregate('flag', { start: true, step: (flag) => !flag, result: (flag) => (flag ? 5n : undefined) });
  assert.equal(value(db, 'flag() from numbers'), null);
  assert.equal(value(db, 'flag() from (select 1 union all select 2)'), 5);
  for (const wrong of [true, {}, Symbol('x'), () => {}]) {
    db.aggregate('w', { start: () => wrong, step: () => {} });
    throwsLike(() => value(db, 'w() from numbers'), TypeError, 'User-defined function w() returned an invalid value');
  }
  db.aggregate('w', { start: 2n ** 63n, step: () => {} });
  throwsLike(() => value(db, 'w() from numbers'), RangeError, 'User-defined function w() returned a bigint that was too big');
});

test('calls start, step per row, result (C-24.6)', (t) => {
  const db = numbers(t, 3);
  const log = [];
  db.aggregate('a', logged(log));
  assert.equal(value(db, 'a(n) from numbers'), 6);
  assert.deepEqual(log.splice(0), ['start', 'step', 'step', 'step', 'result']);
  assert.equal(value(db, 'a(n) from numbers where 0'), 0);
  assert.deepEqual(log.splice(0), ['start', 'result']);
  assert.deepEqual(values(db, 'a(n) from numbers where 0 group by n'), []);
  assert.deepEqual(log, []);
});

test('works as a window function with inverse (C-24.7, C-24.8)', (t) => {
  const db = numbers(t, 7);
  const log = [];
  db.aggregate('a', logged(log));
  assert.deepEqual(values(db, 'a(n) over (rows between 1 preceding and 1 following) from numbers'), [3, 6, 9, 12, 15, 18, 13]);
  const count = (name) => log.filter((entry) => entry === name).length;
  assert.deepEqual(['start', 'step', 'inverse', 'result'].map(count), [1, 7, 5, 7]);
  assert.deepEqual(values(db, 'a(n) over () from numbers where 0'), []);
  assert.equal(log.length, 20);
});

test('windows of every kind (C-24.7)', (t) => {
  const db = numbers(t, 5);
  db.aggregate('own', movingSum);
  const frames = [
    '', 'order by n', 'partition by n % 2 order by n', 'rows between 2 following and 3 following', 'order by n range between 1 preceding and current row',
    'rows between unbounded preceding and current row exclude current row', 'order by n % 3 groups between 1 preceding and 1 following exclude ties',
    'rows between current row and unbounded following',
  ];
  for (const frame of frames) {
    assert.deepEqual(values(db, `own(n) over (${frame}) from numbers`), values(db, `total(n) over (${frame}) from numbers`), frame);
  }
  assert.deepEqual(values(db, 'own(n) filter (where n > 2) over (order by n) from numbers'), [0, 0, 3, 7, 12]);
});

test('without inverse it is no window function (C-24.7)', (t) => {
  const db = numbers(t, 2);
  db.aggregate('a', sum);
  throwsLike(() => db.prepare('select a(n) over () from numbers'), SqliteError, 'a() may not be used as a window function', 'SQLITE_ERROR');
});

test('inverse keeps the accumulator with undefined (C-24.7, C-24.4)', (t) => {
  const db = numbers(t, 4);
  db.aggregate('a', { start: () => [], step: (list, n) => { list.push(n); }, inverse: (list) => { list.shift(); }, result: (list) => list.join() });
  assert.deepEqual(values(db, 'a(n) over (rows between 1 preceding and current row) from numbers'), ['1', '1,2', '2,3', '3,4']);
});

test('what callbacks throw comes out as it is, and stops them (C-24.9)', (t) => {
  const db = numbers(t, 4);
  const calls = { start: ['start'], step: ['start', 'step'], result: ['start', 'step', 'step', 'step', 'step', 'result'] };
  const inWindow = { start: ['start'], step: ['start', 'step'], inverse: ['start', 'step', 'result', 'step', 'result', 'inverse'], result: ['start', 'step', 'result'] };
  for (const thrown of [new Error('own'), {}, 'text', '', 0, null, undefined]) {
    const fail = () => { throw thrown; };
    for (const [name, expected] of Object.entries(calls)) {
      const log = [];
      db.aggregate('a', logged(log, { [name]: fail }));
      assert.equal(thrownBy(() => value(db, 'a(n) from numbers')).thrown, thrown);
      assert.deepEqual(log, expected);
      throwsLike(() => db.exec('nonsense'), SqliteError, 'near "nonsense": syntax error', 'SQLITE_ERROR');
    }
    for (const [name, expected] of Object.entries(inWindow)) {
      const log = [];
      db.aggregate('a', logged(log, { [name]: fail }));
      const rows = () => values(db, 'a(n) over (rows between 1 preceding and current row) from numbers');
      assert.equal(thrownBy(rows).thrown, thrown);
      assert.deepEqual(log.filter((entry) => entry !== 'result' || name === 'result'), expected.filter((entry) => entry !== 'result' || name === 'result'));
    }
  }
});

test('an invalid answer of a window stops it (C-24.9)', (t) => {
  const db = numbers(t, 4);
  const log = [];
  db.aggregate('a', logged(log, { result: () => ({}) }));
  throwsLike(() => values(db, 'a(n) over (rows 1 preceding) from numbers'), TypeError, 'User-defined function a() returned an invalid value');
  assert.equal(log.filter((entry) => entry === 'result').length, 1);
});

test('an aggregate of a statement that another function fails is not finished (C-24.9, C-23.8)', (t) => {
  const db = numbers(t, 4);
  const log = [];
  const own = {};
  db.aggregate('a', logged(log));
  db.function('f', (n) => { if (n === 2) throw own; return n; });
  assert.equal(thrownBy(() => value(db, 'a(f(n)), a(n) from numbers')).thrown, own);
  assert.deepEqual(log.filter((entry) => entry === 'result'), []);
  db.exec('select 1');
});

test('an iterator is closed by what an aggregate throws (C-13.8)', (t) => {
  const db = numbers(t, 4);
  const own = {};
  db.aggregate('a', { ...sum, result: (total) => { if (total === 3) throw own; return total; } });
  const statement = db.prepare('select a(n) as x from numbers group by n');
  const rows = statement.iterate();
  rows.next();
  rows.next();
  assert.equal(thrownBy(() => rows.next()).thrown, own);
  assert.deepEqual(rows.next(), { value: undefined, done: true });
  assert.equal(statement.busy, false);
  db.exec('select 1');
});

test('an iteration that is left early calls nothing more (C-24.7)', (t) => {
  const db = numbers(t, 4);
  const log = [];
  db.aggregate('a', logged(log));
  const rows = db.prepare('select a(n) over (rows 1 preceding) as x from numbers').iterate();
  rows.next();
  const before = log.length;
  rows.return();
  assert.equal(log.length, before);
  db.exec('select 1');
});

test('DISTINCT, FILTER, ORDER BY, GROUP BY and several at once (C-24.10)', (t) => {
  const db = numbers(t, 6);
  db.aggregate('list', { start: () => [], step: (list, x) => { list.push(x); }, result: (list) => list.join() });
  assert.deepEqual(db.prepare('select list(distinct n % 2), list(n) filter (where n > 4), list(n order by n desc), list(-n) from numbers').raw().get(), [
    '1,0', '5,6', '6,5,4,3,2,1', '-1,-2,-3,-4,-5,-6',
  ]);
  assert.deepEqual(db.prepare('select n % 3, list(n), list(n * 2) from numbers group by 1 having list(n) <> \'1,4\'').raw().all(), [
    [0, '3,6', '6,12'], [2, '2,5', '4,10'],
  ]);
  assert.equal(value(db, '(select list(n + m.n) from numbers) from numbers m where m.n = 6'), '7,8,9,10,11,12');
});

test('many groups at a time keep their accumulators apart (C-24.10)', (t) => {
  const db = numbers(t, 2000);
  db.aggregate('own', { ...movingSum, start: () => 0 });
  assert.deepEqual(values(db, 'own(n) from numbers group by n % 500 order by 1'), values(db, 'total(n) from numbers group by n % 500 order by 1'));
});

test('stands beside and takes the place of functions by length (C-24.11, C-23.5)', (t) => {
  const db = numbers(t, 3);
  db.aggregate('f', sum);
  db.function('f', () => 'none');
  db.function('f', (a, b) => a * b);
  assert.deepEqual([value(db, 'f(n) from numbers'), value(db, 'f()'), value(db, 'f(3, 4)')], [6, 'none', 12]);
  db.function('f', (n) => -n);
  assert.deepEqual(values(db, 'f(n) from numbers'), [-1, -2, -3]);
  db.aggregate('sum', { start: 'own ', step: (text, n) => text + n });
  assert.equal(value(db, 'sum(n) from numbers'), 'own 123');
});

test('directOnly and deterministic are those of functions (C-24.11)', (t) => {
  const db = open(t).exec('CREATE VIEW v AS SELECT a(1) AS x; CREATE VIEW w AS SELECT b(1) AS x');
  db.aggregate('a', { ...sum, directOnly: true });
  db.aggregate('b', { ...sum, deterministic: true });
  assert.equal(value(db, 'a(1)'), 1);
  throwsLike(() => db.prepare('select * from v'), SqliteError, 'unsafe use of a()', 'SQLITE_ERROR');
  assert.equal(value(db, 'x from w'), 1);
});

test('is refused while iterating and after close; inside everything is (C-24.11, C-24.12)', (t) => {
  const db = numbers(t, 2);
  const attempts = () => {
    for (const attempt of [
      () => db.exec('select 1'), () => db.prepare('select 1'), () => db.pragma('cache_size'), () => db.close(),
      () => db.function('f', () => 1), () => db.aggregate('a', sum), () => db.table('v', { columns: ['x'], * rows() {} }),
    ]) throwsBusy(attempt);
    return 0;
  };
  const log = [];
  const all = logged(log, { start: attempts, step: attempts, inverse: attempts, result: attempts });
  db.aggregate('w', all);
  assert.deepEqual(values(db, 'w(n) over (rows between current row and current row) from numbers'), [0, 0]);
  assert.ok(['start', 'step', 'inverse', 'result'].every((name) => log.includes(name)));
  const rows = db.prepare('select 1').iterate();
  throwsBusy(() => db.aggregate('a', sum));
  rows.return();
  db.close();
  throwsOpen(() => db.aggregate('a', sum));
});

test('arguments are fresh, and a Buffer that is changed inside changes nothing (C-23.12, C-15.4)', (t) => {
  const db = open(t);
  const given = Buffer.from('abc');
  db.aggregate('a', { step: (acc, bytes) => { bytes[0] = 0x7a; return bytes.toString(); } });
  assert.deepEqual(db.prepare('select a(b), b from (select ? as b)').raw().get(given), ['zbc', given]);
});

// The replaced package holds accumulators of dropped iterators as long as it holds the iterators: for ever.
overruled('an accumulator goes with the iterator that was dropped (overrules C-13.11)', async (t) => {
  const db = numbers(t, 3);
  let collected = false;
  const registry = new FinalizationRegistry(() => { collected = true; });
  const start = () => {
    const acc = [];
    registry.register(acc);
    return acc;
  };
  db.aggregate('a', { start, step: () => {}, inverse: () => {}, result: () => 0 });
  (() => {
    const rows = db.prepare('select a() over (rows 1 preceding) from numbers').iterate();
    rows.next();
  })();
  assert.ok(await collectUntil(() => collected));
  db.exec('select 1');
});
