'use strict';

// bind() (C-18) and arguments that fight back: code that runs while values are being bound.

const test = require('node:test');
const assert = require('node:assert/strict');
const { spawnSync } = require('node:child_process');
const {
  SqliteError, modulePath, overruled, open, openFile, throwsLike, throwsLocked, throwsOpen, throwsBusy, thrownBy,
} = require('../support/database.js');
const { bindingTests } = require('../support/binding.js');

const ONCE = 'The bind() method can only be invoked once per statement object';
const BOUND = 'This statement already has bound parameters';

bindingTests('bind', (statement, args) => statement.bind(...args).raw().get());

test('bound values are used by every execution (C-18.1)', (t) => {
  const statement = open(t).prepare('select ? as a, :b as b');
  assert.equal(statement.bind(5, { b: 'x' }), statement);
  for (let round = 0; round < 2; round += 1) {
    assert.deepEqual(statement.get(), { a: 5, b: 'x' });
    assert.deepEqual(statement.all(), [{ a: 5, b: 'x' }]);
    assert.deepEqual([...statement.iterate()], [{ a: 5, b: 'x' }]);
    assert.deepEqual(statement.run(), { changes: 0, lastInsertRowid: 0 });
  }
});

test('bind() works once, also without parameters (C-18.1, C-5.3)', (t) => {
  const db = open(t);
  for (const [sql, args] of [['select ?', [1]], ['select 1', []]]) {
    const statement = db.prepare(sql).bind(...args);
    throwsLike(() => statement.bind(...args), TypeError, ONCE);
    throwsLike(() => statement.bind(Symbol('x')), TypeError, ONCE);
    assert.deepEqual(Object.values(statement.get()), [1]);
  }
});

test('a bound statement takes no arguments at all (C-5.3)', (t) => {
  const statement = open(t).prepare('select ? as x').bind(1);
  for (const argument of [undefined, null, {}, [], 5]) {
    for (const name of ['run', 'get', 'all', 'iterate']) throwsLike(() => statement[name](argument), TypeError, BOUND);
  }
  assert.deepEqual(statement.get(), { x: 1 });
});

test('bound values are copies (C-18.1, C-16.4)', (t) => {
  const buffer = Buffer.from('abc');
  const statement = open(t).prepare('select ?').pluck().bind(buffer);
  buffer.fill(0);
  assert.deepEqual(statement.get(), Buffer.from('abc'));
});

test('a failed bind() may be tried again (C-17.11)', (t) => {
  const statement = open(t).prepare('select ?, ?').raw();
  throwsLike(() => statement.bind(1), RangeError, 'Too few parameter values were provided');
  throwsLike(() => statement.bind(1, 2, 3), RangeError, 'Too many parameter values were provided');
  assert.deepEqual(statement.bind(1, 2).get(), [1, 2]);
});

test('bind() depends on the state of statement and database (C-18.2, C-5.2)', (t) => {
  let inside = null;
  const db = open(t, ':memory:', { verbose: () => inside && inside() });
  const [statement, other] = [db.prepare('select ?'), db.prepare('select 1')];
  const rows = other.iterate();
  statement.bind(1);
  throwsLocked(() => other.bind());
  rows.return();
  const third = db.prepare('select ?').pluck();
  inside = () => {
    throwsBusy(() => third.bind(1));
    throwsLike(() => statement.bind(1), TypeError, ONCE);
  };
  other.get();
  inside = null;
  assert.equal(third.bind(3).get(), 3);
  const fourth = db.prepare('select ?');
  db.close();
  throwsOpen(() => fourth.bind(1));
  throwsLike(() => statement.bind(1), TypeError, ONCE);
});

test('a getter may use the database and other statements', (t) => {
  const db = open(t).exec('CREATE TABLE t (x)');
  const statement = db.prepare('select :a as a, :b as b');
  const b = () => {
    db.exec('INSERT INTO t VALUES (7)');
    return db.prepare('select x from t').pluck().get();
  };
  assert.deepEqual(statement.get({ a: 1, get b() { return b(); } }), { a: 1, b: 7 });
});

test('a getter that changes the schema is seen by the execution', (t) => {
  const db = open(t).exec('CREATE TABLE t (x)');
  const statement = db.prepare('select * from t where x is not :x');
  const argument = { get x() { db.exec('DROP TABLE t'); return 1; } };
  throwsLike(() => statement.get(argument), SqliteError, 'no such table: t', 'SQLITE_ERROR');
  db.exec('CREATE TABLE t (y, x); INSERT INTO t VALUES (1, 2)');
  assert.deepEqual(statement.get({ x: 5 }), { y: 1, x: 2 });
});

test('a getter that runs the same statement leaves it usable', (t) => {
  const statement = open(t).prepare('select :a as a, :b as b');
  try {
    statement.get({ a: 7, get b() { return statement.get({ a: 1, b: 2 }).a; } });
  } catch (error) {
    assert.ok(error instanceof TypeError);
  }
  assert.deepEqual(statement.get({ a: 5, b: 6 }), { a: 5, b: 6 });
});

overruled('a getter that runs the same statement loses no value (the replaced package binds NULL)', (t) => {
  const statement = open(t).prepare('select :a as a, :b as b');
  const outcome = (fn) => {
    try {
      return fn();
    } catch (error) {
      assert.ok(error instanceof TypeError);
      return { a: 7, b: 11 };
    }
  };
  const inner = () => statement.get({ a: 1, b: 2 }).a + 10;
  assert.deepEqual(outcome(() => statement.get({ a: 7, get b() { return inner(); } })), { a: 7, b: 11 });
});

test('a getter that opens an iterator on the same statement leaves everything usable', (t) => {
  const db = open(t);
  const statement = db.prepare('select :a as a, :b as b');
  let rows;
  const argument = { a: 1, get b() { rows = statement.iterate({ a: 1, b: 2 }); return 3; } };
  try {
    statement.get(argument);
  } catch (error) {
    assert.ok(error instanceof TypeError);
  }
  rows.return();
  assert.deepEqual(statement.get({ a: 5, b: 6 }), { a: 5, b: 6 });
  db.exec('select 1');
});

test('an array that changes while it is read does no harm', (t) => {
  const db = open(t);
  const trap = (action) => {
    const list = [1, 2];
    return Object.defineProperty(list, 0, { get: () => action(list) || 5 });
  };
  const statement = db.prepare('select ?, ?').raw();
  assert.deepEqual(statement.get(trap((list) => { list[1] = 9; })), [5, 9]);
  for (const action of [(list) => { list.length = 1; }, (list) => list.push(3) && undefined, (list) => delete list[1] && undefined]) {
    try {
      assert.equal(statement.get(trap(action))[0], 5);
    } catch (error) {
      assert.ok(error instanceof RangeError || error instanceof TypeError);
    }
  }
  assert.deepEqual(statement.get(1, 2), [1, 2]);
});

test('a huge array is refused at its first superfluous element', (t) => {
  const list = [];
  list.length = 4294967295;
  throwsLike(() => open(t).prepare('select ?').get(list), RangeError, 'Too many parameter values were provided');
});

test('a revoked proxy is an error', (t) => {
  const db = open(t);
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  assert.ok(thrownBy(() => db.prepare('select :a').get(proxy)).thrown instanceof TypeError);
  throwsLike(() => db.prepare('select ?').get([proxy]), TypeError, 'SQLite3 can only bind numbers, strings, bigints, buffers, and null');
  assert.equal(db.prepare('select 5').pluck().get(), 5);
});

test('a buffer detached while others are bound is empty', (t) => {
  const bytes = new Uint8Array([1, 2, 3]);
  const list = [1, bytes];
  Object.defineProperty(list, 0, {
    get: () => {
      structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
      return 5;
    },
  });
  assert.deepEqual(open(t).prepare('select ?, ?').raw().get(list), [5, Buffer.alloc(0)]);
});

test('a getter that is called by a refused execution is not called twice', (t) => {
  let calls = 0;
  const argument = { get a() { calls += 1; return Symbol('x'); } };
  assert.throws(() => open(t).prepare('select :a').get(argument), TypeError);
  assert.equal(calls, 1);
});

const CLOSERS = {
  'a getter': "{ get a() { db.close(); return 1; } }",
  'a proxy': "new Proxy({ a: 1 }, { get(target, key) { db.close(); return target[key]; } })",
  'an ownership trap': `new Proxy({ a: 1 }, {
    getOwnPropertyDescriptor(target, key) { db.close(); return Reflect.getOwnPropertyDescriptor(target, key); } })`,
  'an array element': "Object.defineProperty([1], 0, { get() { db.close(); return 1; } })",
};
for (const [what, argument] of Object.entries(CLOSERS)) {
  for (const method of ['run', 'get', 'all', 'iterate', 'bind']) {
    // In a child: the replaced package dies here.
    overruled(`${what} that closes the database makes ${method}() fail, not crash`, (t) => {
      const file = openFile(t).exec('CREATE TABLE t (x)').name;
      const sql = what === 'an array element' ? 'INSERT INTO t VALUES (?) RETURNING x' : 'INSERT INTO t VALUES (:a) RETURNING x';
      const script = `
        const Database = require(${JSON.stringify(modulePath)});
        const db = new Database(${JSON.stringify(file)});
        const statement = db.prepare(${JSON.stringify(sql)});
        let message = 'nothing thrown';
        try { statement.${method}(${argument}); } catch (error) { message = error.constructor.name + ': ' + error.message; }
        console.log(message, db.open);`;
      const { stdout, stderr, signal } = spawnSync(process.execPath, ['-e', script], { encoding: 'utf8' });
      assert.equal(signal, null, stderr);
      assert.equal(stdout, 'TypeError: The database connection is not open false\n', stderr);
      assert.equal(open(t, file).prepare('select count(*) from t').pluck().get(), 0);
    });
  }
}
