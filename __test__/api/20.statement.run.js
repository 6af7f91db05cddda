'use strict';

// run() (C-11) and how JavaScript values are stored (C-16). Results of 64-bit integers are in
// 40.bigints.js, hostile arguments in 24.statement.bind.js.

const test = require('node:test');
const assert = require('node:assert/strict');
const vm = require('node:vm');
const { SqliteError, isPeer, overruled, open, throwsLike, throwsBusy } = require('../support/database.js');
const { bindingTests } = require('../support/binding.js');

const NO_VALUE = 'SQLite3 can only bind numbers, strings, bigints, buffers, and null';
const TOO_BIG = 'The bound string, buffer, or bigint is too big';

bindingTests('run', (statement, args) => {
  const columns = statement.source.replace('select ', '');
  const count = columns.split(',').length;
  const names = Array.from({ length: count }, (_, index) => `c${index}`);
  const db = statement.database;
  db.exec(`DROP TABLE IF EXISTS got; CREATE TABLE got (${names.join()})`);
  db.prepare(`INSERT INTO got VALUES (${columns})`).run(...args);
  return db.prepare('select * from got').raw().get();
});

test('it runs any statement, reader or not (C-11.1)', (t) => {
  const db = open(t).exec('CREATE TABLE t (x)');
  assert.deepEqual(db.prepare('select 1').run(), { changes: 0, lastInsertRowid: 0 });
  assert.deepEqual(db.prepare('INSERT INTO t VALUES (1), (2), (3) RETURNING x').run(), { changes: 3, lastInsertRowid: 3 });
  assert.equal(db.prepare('select count(*) from t').pluck().get(), 3);
});

test('a query is run up to its first row only (C-11.1)', (t) => {
  const statement = open(t).prepare('select abs(x) from (select 1 as x union all select -9223372036854775808)');
  assert.deepEqual(statement.run(), { changes: 0, lastInsertRowid: 0 });
  throwsLike(() => statement.all(), SqliteError, 'integer overflow', 'SQLITE_ERROR');
});

test('it returns a plain object of changes and lastInsertRowid (C-11.2)', (t) => {
  const db = open(t).exec('CREATE TABLE t (x)');
  const result = db.prepare('INSERT INTO t VALUES (1)').run();
  assert.equal(Object.getPrototypeOf(result), Object.prototype);
  assert.deepEqual(Object.entries(result), [['changes', 1], ['lastInsertRowid', 1]]);
  assert.deepEqual(Reflect.ownKeys(result), ['changes', 'lastInsertRowid']);
  assert.equal(Object.isExtensible(result), true);
  result.changes = 9;
  assert.equal(result.changes, 9);
});

test('changes counts the rows changed directly (C-11.3)', (t) => {
  const db = open(t).exec(`
    CREATE TABLE t (x);
    CREATE TABLE log (x);
    CREATE TRIGGER logging AFTER INSERT ON t BEGIN INSERT INTO log VALUES (1), (2); END;
    CREATE TABLE parent (id INTEGER PRIMARY KEY);
    CREATE TABLE child (id REFERENCES parent ON UPDATE CASCADE ON DELETE CASCADE);
    INSERT INTO parent VALUES (1), (2);
    INSERT INTO child VALUES (1), (1), (2);
  `);
  const changes = (sql) => db.prepare(sql).run().changes;
  assert.equal(changes('INSERT INTO t VALUES (1), (2)'), 2);
  assert.equal(changes('UPDATE t SET x = 5'), 2);
  assert.equal(changes('UPDATE t SET x = 5 WHERE x = 99'), 0);
  assert.equal(changes('select * from t'), 0);
  assert.equal(changes('BEGIN'), 0);
  assert.equal(changes('DELETE FROM t'), 2);
  assert.equal(changes('COMMIT'), 0);
  assert.equal(changes('CREATE TABLE other (x)'), 0);
  assert.equal(changes('DROP TABLE other'), 0);
  assert.equal(changes('UPDATE parent SET id = 7 WHERE id = 1'), 1);
  assert.equal(changes('DELETE FROM parent WHERE id = 7'), 1);
  assert.equal(db.prepare('select count(*) from child').pluck().get(), 1);
});

test('dropping a table that others refer to reports its rows (C-11.3)', (t) => {
  const db = open(t).exec(`
    CREATE TABLE parent (id INTEGER PRIMARY KEY);
    CREATE TABLE child (id REFERENCES parent ON DELETE CASCADE);
    INSERT INTO parent VALUES (1), (2);
  `);
  assert.equal(db.prepare('DROP TABLE parent').run().changes, 2);
});

test('lastInsertRowid is that of the connection (C-11.4)', (t) => {
  const db = open(t).exec('CREATE TABLE t (x)');
  const rowid = (sql) => db.prepare(sql).run().lastInsertRowid;
  assert.equal(rowid('select 1'), 0);
  assert.equal(rowid('INSERT INTO t (rowid, x) VALUES (41, 1)'), 41);
  assert.equal(rowid('INSERT INTO t VALUES (2)'), 42);
  assert.equal(rowid('UPDATE t SET x = 3'), 42);
  assert.equal(rowid('DELETE FROM t'), 42);
  assert.equal(rowid('INSERT INTO t (rowid, x) VALUES (-5, 1)'), -5);
  assert.equal(rowid('INSERT INTO t (rowid, x) VALUES (9007199254740993, 1)'), 9007199254740992);
});

test('a failed run leaves a usable statement (C-11.5)', (t) => {
  const db = open(t).exec('CREATE TABLE t (x UNIQUE)');
  const insert = db.prepare('INSERT INTO t VALUES (?)');
  insert.run(1);
  for (let round = 0; round < 2; round += 1) {
    throwsLike(() => insert.run(1), SqliteError, 'UNIQUE constraint failed: t.x', 'SQLITE_CONSTRAINT_UNIQUE');
  }
  assert.deepEqual(insert.run(2), { changes: 1, lastInsertRowid: 2 });
});

test('it is refused while an iterator is open, even for a query (C-11.6)', (t) => {
  const db = open(t);
  const [rows, other] = [db.prepare('select 1').iterate(), db.prepare('select 2')];
  throwsBusy(() => other.run());
  rows.return();
  assert.deepEqual(other.run(), { changes: 0, lastInsertRowid: 0 });
});

const stored = (t) => {
  const db = open(t);
  const statement = db.prepare('select typeof(value) as type, hex(value) as hex, value from (select ? as value)');
  return (value) => statement.get(value);
};

test('numbers are always stored as REAL (C-16.1)', (t) => {
  const db = open(t);
  const look = stored(t);
  for (const value of [0, 1, -1, 1.5, 2 ** 31, 2 ** 53, Number.MAX_VALUE, Number.MIN_VALUE, Infinity, -Infinity]) {
    assert.equal(look(value).type, 'real', String(value));
    assert.equal(look(value).value, value);
  }
  assert.ok(Object.is(look(-0).value, -0));
  assert.deepEqual([look(NaN).type, look(NaN).value], ['null', null]);
  assert.equal(db.prepare("select ? || ''").pluck().get(1), '1.0');
  assert.equal(db.prepare('select json_array(?)').pluck().get(1), '[1.0]');
});

test('the affinity of a column turns REAL into what it holds (C-16.1)', (t) => {
  const db = open(t).exec('CREATE TABLE t (none, txt TEXT, int INTEGER, num NUMERIC)');
  db.prepare('INSERT INTO t VALUES (?, ?, ?, ?)').run(1, 1, 1, 1.5);
  assert.deepEqual(
    db.prepare('select typeof(none), txt, typeof(int), typeof(num) from t').raw().get(),
    ['real', '1.0', 'integer', 'real'],
  );
  db.exec('INSERT INTO t VALUES (1, 2, 3, 4), (1, 2, 3, 4)');
  assert.equal(db.prepare('select * from t limit ?').all(2).length, 2);
  assert.equal(db.prepare('select rowid from t where rowid = ?').pluck().get(2), 2);
});

test('bigints are stored as INTEGER, within 64 bits (C-16.2)', (t) => {
  const db = open(t);
  const look = db.prepare('select typeof(?), ?').raw().safeIntegers();
  for (const value of [0n, 1n, -1n, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)]) {
    assert.deepEqual(look.get(value, value), ['integer', value]);
  }
  for (const value of [2n ** 63n, -(2n ** 63n) - 1n, 2n ** 64n, 2n ** 200n, -(2n ** 200n)]) {
    throwsLike(() => look.get(value, 1), RangeError, TOO_BIG);
  }
});

test('strings are stored as TEXT in full (C-16.3)', (t) => {
  const look = stored(t);
  for (const value of ['', 'abc', 'a\0b\0', '\0', 'äöü', '漢字', '😀', '\ufeff', 'ÿ'.repeat(5000), '漢'.repeat(5000)]) {
    const { type, hex, value: back } = look(value);
    assert.equal(type, 'text');
    assert.equal(hex, Buffer.from(value).toString('hex').toUpperCase());
    assert.equal(back, value);
  }
});

test('lone surrogates become U+FFFD (C-16.3)', (t) => {
  const look = stored(t);
  assert.equal(look('\ud83d').hex, 'EFBFBD');
  assert.equal(look('a\ude00b').hex, '61EFBFBD62');
  assert.equal(look('\ude00\ud83d').hex, 'EFBFBDEFBFBD');
  assert.equal(look('a\ud83d').value, 'a\ufffd');
});

test('buffers and typed arrays are stored as BLOB of the bytes seen (C-16.4)', (t) => {
  const look = stored(t);
  class Bytes extends Uint8Array {}
  const memory = Uint8Array.from({ length: 32 }, (_, index) => index).buffer;
  const shared = new SharedArrayBuffer(4);
  new Uint8Array(shared).set([9, 8, 7, 6]);
  const views = [
    Buffer.from('hello'), Buffer.alloc(0), Buffer.from(memory, 3, 5), new Uint8Array(memory, 1, 2), new Uint8Array(0),
    new Uint8ClampedArray([1, 300]), new Int8Array([-1]), new Uint16Array(memory, 2, 3), new Int32Array([1, 2]),
    new Float32Array([1.5]), new Float64Array([1.5, NaN]), new BigInt64Array([1n, -1n]), new BigUint64Array([2n ** 64n - 1n]),
    new Bytes([1, 2, 3]), new Uint8Array(shared, 1, 2), vm.runInNewContext('new Uint8Array([5, 6])'),
  ];
  for (const view of views) {
    const { type, hex, value } = look(view);
    assert.equal(type, 'blob');
    assert.equal(hex, Buffer.from(view.buffer, view.byteOffset, view.byteLength).toString('hex').toUpperCase());
    assert.ok(Buffer.isBuffer(value));
  }
});

test('a detached buffer is an empty blob, not a crash', (t) => {
  const look = stored(t);
  const bytes = new Uint8Array([1, 2, 3]);
  structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
  assert.deepEqual([look(bytes).type, look(bytes).hex], ['blob', '']);
});

test('null, undefined and holes are NULL (C-16.5)', (t) => {
  const db = open(t);
  const types = db.prepare('select typeof(?), typeof(?), typeof(?)').raw();
  assert.deepEqual(types.get(null, undefined, [,]), ['null', 'null', 'null']); // eslint-disable-line no-sparse-arrays
  assert.deepEqual(db.prepare('select typeof(:a)').pluck().get({ a: undefined }), 'null');
});

test('everything else is refused (C-16.6)', (t) => {
  const db = open(t);
  const values = [
    true, false, Symbol('x'), () => {}, class {}, new Date(), /x/, new Map(), new Set(), new ArrayBuffer(4),
    Object(1), Object('x'), Object(1n), new (class A {})(), Promise.resolve(), new Error('x'), new WeakMap(),
  ];
  for (const value of values) {
    throwsLike(() => db.prepare('select ?').get(value), TypeError, NO_VALUE);
    throwsLike(() => db.prepare('select ?').get([value]), TypeError, NO_VALUE);
    throwsLike(() => db.prepare('select :a').get({ a: value }), TypeError, NO_VALUE);
  }
  for (const value of [{}, [], { a: 1 }, [1]]) {
    throwsLike(() => db.prepare('select ?').get([value]), TypeError, NO_VALUE);
    throwsLike(() => db.prepare('select :a').get({ a: value }), TypeError, NO_VALUE);
  }
});

test('a DataView is refused or bound as its bytes, never wrongly (C-16.4)', (t) => {
  const db = open(t);
  const view = new DataView(Uint8Array.of(1, 2, 3, 4).buffer, 1, 2);
  const statement = db.prepare('select ?').pluck();
  if (isPeer) throwsLike(() => statement.get(view), Error, 'Invalid argument');
  else assert.deepEqual(bytesOrRefusal(() => statement.get(view)), Buffer.of(2, 3));
  assert.equal(statement.get('still usable'), 'still usable');
});

// Accepts the documented refusal of the version 13 as well as the bytes that version 12 bound.
function bytesOrRefusal(fn) {
  try {
    return fn();
  } catch (error) {
    assert.match(error.message, /Invalid argument|SQLite3 can only bind/);
    return Buffer.of(2, 3);
  }
}

overruled('a view of 2^31 bytes and more is refused (C-16.7; the replaced package binds nothing at all)', (t) => {
  const length = open(t).prepare('select length(?)').pluck();
  for (const size of [2 ** 31, 2 ** 31 + 1, 2 ** 32]) {
    // Memory that nobody touches takes none.
    throwsLike(() => length.get(new Uint8Array(size)), RangeError, TOO_BIG);
    throwsLike(() => length.get(Buffer.from(new ArrayBuffer(size))), RangeError, TOO_BIG);
  }
});

test('a string or blob of more than 536870888 bytes is refused (C-16.7)', (t) => {
  const db = open(t);
  const length = db.prepare('select length(?)').pluck();
  throwsLike(() => length.get(Buffer.alloc(536870889)), RangeError, TOO_BIG);
  throwsLike(() => length.get('ä'.repeat(268435445)), RangeError, TOO_BIG);
  assert.equal(length.get(Buffer.alloc(536870888)), 536870888);
});
