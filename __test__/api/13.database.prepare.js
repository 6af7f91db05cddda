'use strict';

// prepare() (C-6) and the Statement object it gives (C-10). Running statements is in 20 to 26,
// states in 42.integrity.js.

const test = require('node:test');
const assert = require('node:assert/strict');
const util = require('node:util');
const { SqliteError, open, openFile, throwsBusy, throwsOpen, throwsLike } = require('../support/database.js');

const NONE = 'The supplied SQL string contains no statements';
const SEVERAL = 'The supplied SQL string contains more than one statement';

test('the SQL must be a primitive string (C-5.3)', (t) => {
  const db = open(t);
  for (const sql of [undefined, null, 0, 5, {}, [], true, 1n, Object('select 1'), Symbol('x')]) {
    throwsLike(() => db.prepare(sql), TypeError, 'Expected first argument to be a string');
  }
  throwsLike(() => db.prepare(), TypeError, 'Expected first argument to be a string');
});

test('text without a statement is refused (C-5.3)', (t) => {
  const db = open(t);
  for (const sql of ['', ';', ' ;; ; ', '\t\n\v\f\r ', '-- comment', '/* open', '-- a\n/* b */;', '\0select 1']) {
    throwsLike(() => db.prepare(sql), RangeError, NONE);
  }
});

test('each call gives a new statement with its source and database (C-6.1)', (t) => {
  const db = open(t);
  const sql = '  select 1; -- end ';
  const [first, second] = [db.prepare(sql), db.prepare(sql)];
  assert.notEqual(first, second);
  assert.equal(first.source, sql);
  assert.equal(first.database, db);
  assert.equal(Object.getPrototypeOf(first), Object.getPrototypeOf(second));
});

const TAILS_ALLOWED = ['', ';', ';;', ' ; \t\n\v\f\r;', ' -- x', ';--', '; -- a\n -- b\n;', '; /* a */ /* open', ';/**/', '; /*'];
for (const tail of TAILS_ALLOWED) {
  test(`${JSON.stringify(tail)} may follow the statement (C-6.2)`, (t) => {
    assert.deepEqual(open(t).prepare(`select 1 as one${tail}`).get(), { one: 1 });
  });
}

const TAILS_REFUSED = [
  '; select 2', ';select', '; x', ';-', ';/', '; - ', '; / /', ';--\n/', ';/**/-', ';/* */ select 2', ';\u00a0', ';\u2028', ';\ufeff',
  '; -- a\n x', ';*', ';\u0001',
];
for (const tail of TAILS_REFUSED) {
  test(`${JSON.stringify(tail)} may not follow the statement (C-6.2)`, (t) => {
    throwsLike(() => open(t).prepare(`select 1${tail}`), RangeError, SEVERAL);
  });
}

test('white space and comments may come first (C-6.2)', (t) => {
  const db = open(t);
  for (const head of [' \t\n', '-- a\n', '/* a */', ';', ' ; /* a */ ; ']) {
    assert.deepEqual(db.prepare(`${head}select 1 as one`).get(), { one: 1 }, head);
  }
});

test('text after a NUL is ignored, source keeps it (C-6.3)', (t) => {
  const statement = open(t).prepare('select 1 as one\0 garbage; more');
  assert.equal(statement.source, 'select 1 as one\0 garbage; more');
  assert.deepEqual(statement.get(), { one: 1 });
});

test('lone surrogates in SQL become U+FFFD, source keeps them', (t) => {
  const sql = "select '\ud800' as x";
  const statement = open(t).prepare(sql);
  assert.equal(statement.source, sql);
  assert.deepEqual(statement.get(), { x: '\ufffd' });
});

test('SQL that does not compile is an error of SQLite (C-6.4)', (t) => {
  const db = open(t);
  const fails = (sql, message) => throwsLike(() => db.prepare(sql), SqliteError, message, 'SQLITE_ERROR');
  fails('foo', 'near "foo": syntax error');
  fails('select', 'incomplete input');
  fails('select * from nowhere', 'no such table: nowhere');
  fails('select 1 +', 'incomplete input');
  fails('select absent', 'no such column: absent');
  fails('select "x', 'unrecognized token: ""x"');
});

test('it works while an iterator is open, and not when closed (C-6.5)', (t) => {
  const db = open(t).exec('CREATE TABLE t (x)');
  const rows = db.prepare('select 1').iterate();
  rows.next();
  assert.equal(db.prepare('INSERT INTO t VALUES (1)').reader, false);
  assert.equal(db.prepare('CREATE TABLE u (x)').reader, false);
  rows.return();
  db.close();
  throwsOpen(() => db.prepare('select 1'));
});

test('it is refused inside callbacks (C-6.5)', (t) => {
  let calls = 0;
  const db = open(t, ':memory:', { verbose: () => throwsBusy(() => db.prepare('select 1')) && (calls += 1) });
  db.exec('select 1');
  assert.equal(calls, 1);
});

test('double quotes never make a string (C-6.6)', (t) => {
  const message = 'no such column: "x" - should this be a string literal in single-quotes?';
  throwsLike(() => open(t).prepare('select "x"'), SqliteError, message, 'SQLITE_ERROR');
});

test('a statement may have 32766 parameters (C-6.7)', (t) => {
  const db = open(t);
  const marks = (count) => `select 1 where 1 in (${Array(count).fill('?').join()})`;
  const values = Array(32766).fill(0);
  values[32765] = 1;
  assert.deepEqual(db.prepare(marks(32766)).get(values), { 1: 1 });
  throwsLike(() => db.prepare(marks(32767)), SqliteError, 'too many SQL variables', 'SQLITE_ERROR');
  throwsLike(() => db.prepare('select ?32767'), SqliteError, 'variable number must be between ?1 and ?32766', 'SQLITE_ERROR');
});

test('extra arguments are ignored (C-5.4)', (t) => {
  assert.equal(open(t).prepare('select 1', 'foo', {}).source, 'select 1');
});

test('five own properties describe a statement and cannot be changed (C-10.1)', (t) => {
  const statement = open(t).prepare('select 1');
  assert.deepEqual(Object.keys(statement), ['reader', 'readonly', 'source', 'database', 'busy']);
  for (const key of Object.keys(statement)) {
    const attributes = Object.getOwnPropertyDescriptor(statement, key);
    assert.equal(attributes.configurable, false, key);
    assert.equal(attributes.enumerable, true, key);
    assert.equal('get' in attributes, key === 'busy', key);
    assert.ok(key === 'busy' ? attributes.set === undefined : !attributes.writable, key);
    const before = statement[key];
    assert.throws(() => { statement[key] = 5; }, TypeError);
    new Function('statement', 'key', 'statement[key] = 5;')(statement, key);
    assert.equal(statement[key], before);
  }
});

test('the class cannot be constructed by the user (C-10.2)', (t) => {
  const db = open(t);
  const statement = db.prepare('select 1');
  const Statement = statement.constructor;
  assert.equal(Statement.name, 'Statement');
  assert.equal(db.prepare('select 2').constructor, Statement);
  const message = 'Statements can only be constructed by the db.prepare() method';
  for (const args of [[], [db, 'select 1'], [statement], ['select 1']]) {
    throwsLike(() => new Statement(...args), TypeError, message);
  }
  assert.throws(() => Statement('select 1'), TypeError);
  Statement.mark = 'seen';
  t.after(() => delete Statement.mark);
  assert.equal(open(t).prepare('select 3').constructor.mark, 'seen');
});

const METHODS = [
  'run', 'get', 'all', 'iterate', 'bind', 'pluck', 'expand', 'raw', 'safeIntegers', 'columns', 'toString',
];

test('its methods are enumerable, with length 0 (C-10.3)', (t) => {
  const prototype = Object.getPrototypeOf(open(t).prepare('select 1'));
  for (const name of METHODS) {
    const { value, enumerable } = Object.getOwnPropertyDescriptor(prototype, name);
    assert.deepEqual([typeof value, value.length, enumerable], ['function', 0, true], name);
  }
});

const KINDS = [
  // SQL, reader, readonly
  ['select 1', true, true],
  ['VALUES (1)', true, true],
  ['EXPLAIN select 1', true, true],
  ['PRAGMA user_version', true, true],
  ['INSERT INTO t VALUES (1)', false, false],
  ['INSERT INTO t VALUES (1) RETURNING *', true, false],
  ['UPDATE t SET x = 1 RETURNING x', true, false],
  ['DELETE FROM t RETURNING x', true, false],
  ['DELETE FROM t', false, false],
  ['CREATE TABLE u (x)', false, false],
  ['DROP TABLE t', false, false],
  ['BEGIN', false, true],
  ['BEGIN IMMEDIATE', false, false],
  ['BEGIN EXCLUSIVE', false, false],
  ['COMMIT', false, true],
  ['ROLLBACK', false, true],
  ['SAVEPOINT a', false, true],
  ["ATTACH ':memory:' AS other", false, true],
  ['DETACH other', false, true],
  ['VACUUM', false, false],
  ['PRAGMA user_version = 5', false, false],
  ['PRAGMA journal_mode = wal', true, false],
];
for (const [sql, reader, readonly] of KINDS) {
  test(`${sql}: reader ${reader}, readonly ${readonly} (C-10.4, C-10.5)`, (t) => {
    const statement = openFile(t).exec('CREATE TABLE t (x)').prepare(sql);
    assert.deepEqual([statement.reader, statement.readonly], [reader, readonly]);
  });
}

test('busy is true while an iterator of this statement is open (C-10.6)', (t) => {
  const db = open(t);
  const statement = db.prepare('select 1 union all select 2');
  const other = db.prepare('select 3');
  assert.equal(statement.busy, false);
  for (const end of [(rows) => [...rows], (rows) => rows.return(), (rows) => rows.next() && rows.return()]) {
    const rows = statement.iterate();
    assert.equal(statement.busy, true);
    assert.equal(other.busy, false);
    end(rows);
    assert.equal(statement.busy, false);
  }
  statement.get();
  assert.equal(statement.busy, false);
  db.close();
  assert.equal(statement.busy, false);
});

test('busy stays false during get, all and run (C-10.6)', (t) => {
  const seen = [];
  const db = open(t, ':memory:', { verbose: () => seen.push(statement.busy) });
  const statement = db.prepare('select 1');
  statement.get();
  statement.all();
  statement.run();
  assert.deepEqual(seen, [false, false, false]);
});

test('modes and bind return the statement (C-10.7)', (t) => {
  const statement = open(t).prepare('select ?');
  for (const name of ['pluck', 'expand', 'raw', 'safeIntegers']) assert.equal(statement[name](), statement, name);
  assert.equal(statement.bind(1), statement);
});

test('inspect and JSON of a statement (C-10.8)', (t) => {
  const statement = open(t).prepare('select 1');
  const text = util.inspect(statement, { depth: 0, breakLength: Infinity });
  assert.match(text, /^Statement \{ reader: true, readonly: true, source: 'select 1', database: .*, busy: \[Getter\] \}$/);
  assert.deepEqual(Object.keys(JSON.parse(JSON.stringify(statement))), ['reader', 'readonly', 'source', 'database', 'busy']);
});

test('methods refuse a foreign receiver (C-10.9, C-5.3)', (t) => {
  const db = open(t);
  const statement = db.prepare('select 1');
  const rows = statement.iterate();
  for (const receiver of [db, {}, undefined, null, 5, rows, Object.create(statement), new Proxy(statement, {})]) {
    for (const name of METHODS) {
      throwsLike(() => statement[name].call(receiver), TypeError, 'Illegal invocation');
    }
  }
  for (const name of ['next', 'return']) throwsLike(() => rows[name].call(statement), TypeError, 'Illegal invocation');
  rows.return();
  db.get = statement.get;
  throwsLike(() => db.get(), TypeError, 'Illegal invocation');
});

test('after close only executions are refused (C-10.10)', (t) => {
  const db = open(t);
  const statement = db.prepare('select 1 as one');
  db.close();
  for (const name of ['run', 'get', 'all', 'iterate', 'bind', 'columns']) throwsOpen(() => statement[name]());
  for (const name of ['pluck', 'expand', 'raw', 'safeIntegers']) assert.equal(statement[name](), statement, name);
  assert.equal(statement.toString(), 'select 1 as one');
  assert.deepEqual([statement.reader, statement.readonly, statement.source], [true, true, 'select 1 as one']);
  assert.equal(statement.database, db);
});

test('a statement follows changes of the schema (C-10.11)', (t) => {
  const db = open(t).exec('CREATE TABLE t (a); INSERT INTO t VALUES (1)');
  const statement = db.prepare('select * from t');
  assert.deepEqual(statement.get(), { a: 1 });
  db.exec('ALTER TABLE t ADD COLUMN b DEFAULT 2');
  assert.deepEqual(statement.get(), { a: 1, b: 2 });
  db.exec('ALTER TABLE t RENAME COLUMN a TO renamed');
  assert.deepEqual(statement.all(), [{ renamed: 1, b: 2 }]);
  db.exec('ALTER TABLE t DROP COLUMN b');
  assert.deepEqual([...statement.iterate()], [{ renamed: 1 }]);
  db.exec('ALTER TABLE t ADD COLUMN c DEFAULT 3');
  assert.deepEqual(statement.raw().get(), [1, 3]);
  assert.deepEqual(statement.expand().get(), { t: { renamed: 1, c: 3 } });
  db.exec('ALTER TABLE t ADD COLUMN d DEFAULT 4');
  assert.deepEqual(statement.expand().get(), { t: { renamed: 1, c: 3, d: 4 } });
  db.exec('DROP TABLE t');
  throwsLike(() => statement.get(), SqliteError, 'no such table: t', 'SQLITE_ERROR');
});
