'use strict';

// SqliteError: the class itself and the codes it carries (C-4). Which call gives which error is
// in the files of these calls.

const test = require('node:test');
const assert = require('node:assert/strict');
const util = require('node:util');
const { SqliteError, Database, open, openFile, overruled, throwsLike, thrownBy } = require('../support/database.js');
const { testWithExtension } = require('../support/extension.js');

test('SqliteError is a class derived from Error, of length 2 (C-4.1)', () => {
  assert.equal(typeof SqliteError, 'function');
  assert.equal(SqliteError.name, 'SqliteError');
  assert.equal(SqliteError.length, 2);
  assert.notEqual(SqliteError, Error);
  assert.equal(Object.getPrototypeOf(SqliteError), Error);
  assert.equal(Object.getPrototypeOf(SqliteError.prototype), Error.prototype);
  assert.equal(SqliteError.prototype.constructor, SqliteError);
});

test('the code must be a primitive string (C-4.2)', () => {
  for (const code of [undefined, null, 1, {}, Symbol('x'), Object('SQLITE_ERROR'), ['a']]) {
    throwsLike(() => new SqliteError('text', code), TypeError, 'Expected second argument to be a string');
  }
  throwsLike(() => new SqliteError('text'), TypeError, 'Expected second argument to be a string');
  assert.equal(new SqliteError('text', '').code, '');
});

test('the message is turned into a string (C-4.2)', () => {
  const messageOf = (value) => new SqliteError(value, 'X').message;
  assert.equal(messageOf('abc'), 'abc');
  assert.equal(messageOf(123), '123');
  assert.equal(messageOf(null), 'null');
  assert.equal(messageOf(undefined), 'undefined');
  assert.equal(messageOf({ toString: () => 'from toString' }), 'from toString');
  assert.ok(thrownBy(() => messageOf(Symbol('x'))).thrown instanceof TypeError);
});

test('message is hidden, code is enumerable, name comes from the prototype (C-4.3)', () => {
  const error = new SqliteError('some text', 'SQLITE_SOME');
  const own = (key) => Object.getOwnPropertyDescriptor(error, key);
  assert.deepEqual(own('message'), { value: 'some text', writable: true, enumerable: false, configurable: true });
  assert.deepEqual(own('code'), { value: 'SQLITE_SOME', writable: true, enumerable: true, configurable: true });
  assert.deepEqual(Object.keys(error), ['code']);
  assert.equal(own('name'), undefined);
  assert.deepEqual(Object.getOwnPropertyDescriptor(SqliteError.prototype, 'name'), {
    value: 'SqliteError',
    writable: true,
    enumerable: false,
    configurable: true,
  });
});

test('the stack starts with name and message and leaves the constructor out (C-4.4)', () => {
  function whereItIsMade() {
    return new SqliteError('some text', 'X');
  }
  const [first, second] = whereItIsMade().stack.split('\n');
  assert.equal(first, 'SqliteError: some text');
  assert.match(second, /whereItIsMade/);
});

test('it is a native error, made or thrown by the package (C-4.5)', (t) => {
  const db = open(t);
  const thrown = throwsLike(() => db.prepare('foo'), SqliteError, 'near "foo": syntax error', 'SQLITE_ERROR');
  for (const error of [thrown, new SqliteError('a', 'b')]) {
    assert.equal(util.types.isNativeError(error), true);
    assert.equal(Object.prototype.toString.call(error), '[object Error]');
  }
});

test('it can be subclassed (C-4.6)', () => {
  class Special extends SqliteError {}
  const error = new Special('text', 'CODE');
  assert.ok(error instanceof Special);
  assert.ok(error instanceof SqliteError);
  assert.equal(error.message, 'text');
  assert.equal(error.code, 'CODE');
});

test('it can be made when Error.captureStackTrace is missing (C-4.7)', () => {
  const saved = Error.captureStackTrace;
  try {
    delete Error.captureStackTrace;
    assert.equal(new SqliteError('text', 'CODE').message, 'text');
  } finally {
    Error.captureStackTrace = saved;
  }
});

overruled('it can be called without new as well (C-4.8, as the replaced package before 13)', () => {
  const error = SqliteError('text', 'CODE');
  assert.ok(error instanceof SqliteError);
  assert.equal(error.message, 'text');
  assert.equal(error.code, 'CODE');
  throwsLike(() => SqliteError('text'), TypeError, 'Expected second argument to be a string');
});

test('thrown errors carry nothing but message, code and stack (C-4.9)', (t) => {
  const db = open(t);
  const error = throwsLike(() => db.prepare('select * from nowhere'), SqliteError, 'no such table: nowhere', 'SQLITE_ERROR');
  assert.deepEqual(Object.getOwnPropertyNames(error).sort(), ['code', 'message', 'stack']);
  assert.deepEqual(Object.getOwnPropertySymbols(error), []);
});

const NAMES = {
  SQLITE_ERROR: 1,
  SQLITE_INTERNAL: 2,
  SQLITE_PERM: 3,
  SQLITE_ABORT: 4,
  SQLITE_BUSY: 5,
  SQLITE_LOCKED: 6,
  SQLITE_READONLY: 8,
  SQLITE_INTERRUPT: 9,
  SQLITE_IOERR: 10,
  SQLITE_CORRUPT: 11,
  SQLITE_NOTFOUND: 12,
  SQLITE_FULL: 13,
  SQLITE_CANTOPEN: 14,
  SQLITE_PROTOCOL: 15,
  SQLITE_EMPTY: 16,
  SQLITE_TOOBIG: 18,
  SQLITE_CONSTRAINT: 19,
  SQLITE_MISMATCH: 20,
  SQLITE_MISUSE: 21,
  SQLITE_NOLFS: 22,
  SQLITE_AUTH: 23,
  SQLITE_FORMAT: 24,
  SQLITE_RANGE: 25,
  SQLITE_NOTADB: 26,
  SQLITE_NOTICE: 27,
  SQLITE_WARNING: 28,
};

// Names of the extended codes of a primary one, in the order of their numbers from 1; '' is not named.
const EXTENDED = {
  ERROR: 'MISSING_COLLSEQ RETRY SNAPSHOT',
  IOERR:
    'READ SHORT_READ WRITE FSYNC DIR_FSYNC TRUNCATE FSTAT UNLOCK RDLOCK DELETE BLOCKED NOMEM ACCESS ' +
    'CHECKRESERVEDLOCK LOCK CLOSE DIR_CLOSE SHMOPEN SHMSIZE SHMLOCK SHMMAP SEEK DELETE_NOENT MMAP GETTEMPPATH ' +
    'CONVPATH VNODE AUTH BEGIN_ATOMIC COMMIT_ATOMIC ROLLBACK_ATOMIC DATA CORRUPTFS IN_PAGE',
  LOCKED: 'SHAREDCACHE VTAB',
  BUSY: 'RECOVERY SNAPSHOT',
  CANTOPEN: 'NOTEMPDIR ISDIR FULLPATH CONVPATH DIRTYWAL SYMLINK',
  CORRUPT: 'VTAB SEQUENCE INDEX',
  READONLY: 'RECOVERY CANTLOCK ROLLBACK DBMOVED CANTINIT DIRECTORY',
  CONSTRAINT: 'CHECK COMMITHOOK FOREIGNKEY FUNCTION NOTNULL PRIMARYKEY TRIGGER UNIQUE VTAB ROWID PINNED DATATYPE',
  NOTICE: 'RECOVER_WAL RECOVER_ROLLBACK RBU',
  WARNING: 'AUTOINDEX',
  AUTH: 'USER',
};
for (const [primary, names] of Object.entries(EXTENDED)) {
  names.split(' ').forEach((name, index) => {
    NAMES[`SQLITE_${primary}_${name}`] = NAMES[`SQLITE_${primary}`] + 256 * (index + 1);
  });
}
NAMES.SQLITE_ABORT_ROLLBACK = 4 + 256 * 2;
// SQLite itself turns these two into NOMEM and CORRUPT before a caller sees them.
delete NAMES.SQLITE_IOERR_NOMEM;
delete NAMES.SQLITE_IOERR_CORRUPTFS;

testWithExtension('every extended result code has its name (C-4.10)', (t, extension) => {
  const db = open(t).loadExtension(extension);
  const statement = db.prepare('select fail_with(?)');
  const seen = {};
  for (const [name, number] of Object.entries(NAMES)) {
    const { thrown } = thrownBy(() => statement.get(BigInt(number)));
    assert.ok(thrown instanceof SqliteError, `${name}: ${thrown}`);
    seen[name] = thrown.code;
  }
  assert.deepEqual(seen, Object.fromEntries(Object.keys(NAMES).map((name) => [name, name])));
});

testWithExtension('an unknown result code is told by its number (C-4.11)', (t, extension) => {
  const db = open(t).loadExtension(extension);
  for (const number of [29, 99, 1 + 256 * 200, 19 + 256 * 99, 123456]) {
    const { thrown } = thrownBy(() => db.prepare('select fail_with(?)').get(BigInt(number)));
    assert.ok(thrown instanceof SqliteError);
    assert.equal(thrown.code, `UNKNOWN_SQLITE_ERROR_${number}`);
  }
});

test("the message is SQLite's, with characters of any language (C-4.12)", (t) => {
  const db = open(t);
  throwsLike(() => db.prepare('select * from "größe 漢字"'), SqliteError, 'no such table: größe 漢字', 'SQLITE_ERROR');
});

const CONSTRAINTS = [
  ['FOREIGNKEY', 'FOREIGN KEY constraint failed', 'INSERT INTO child VALUES (99)'],
  ['NOTNULL', 'NOT NULL constraint failed: parent.must', 'INSERT INTO parent (id) VALUES (2)'],
  ['CHECK', 'CHECK constraint failed: positive', 'INSERT INTO parent VALUES (2, 1, -1, null)'],
  ['UNIQUE', 'UNIQUE constraint failed: parent.one', 'INSERT INTO parent VALUES (2, 1, 1, 7)'],
  ['PRIMARYKEY', 'UNIQUE constraint failed: parent.id', 'INSERT INTO parent VALUES (1, 1, 1, null)'],
  ['ROWID', 'UNIQUE constraint failed: child.rowid', 'INSERT INTO child (rowid, parent) VALUES (1, 1)'],
  ['TRIGGER', 'not today', 'INSERT INTO parent VALUES (13, 1, 1, null)'],
  ['DATATYPE', 'cannot store TEXT value in INTEGER column exact.n', "INSERT INTO exact VALUES ('x')"],
];

for (const [kind, message, sql] of CONSTRAINTS) {
  test(`a failed constraint tells its kind: ${kind} (C-4.13)`, (t) => {
    const db = open(t).exec(`
      CREATE TABLE parent (
        id INTEGER PRIMARY KEY, must NOT NULL, pos CONSTRAINT positive CHECK (pos > 0), one UNIQUE);
      CREATE TABLE child (parent REFERENCES parent);
      CREATE TABLE exact (n INTEGER) STRICT;
      CREATE TRIGGER thirteen BEFORE INSERT ON parent WHEN new.id = 13
        BEGIN SELECT raise(ABORT, 'not today'); END;
      INSERT INTO parent VALUES (1, 1, 1, 7);
      INSERT INTO child (rowid, parent) VALUES (1, 1);
    `);
    throwsLike(() => db.exec(sql), SqliteError, message, `SQLITE_CONSTRAINT_${kind}`);
    throwsLike(() => db.prepare(sql).run(), SqliteError, message, `SQLITE_CONSTRAINT_${kind}`);
  });
}

test('a write on a read-only connection is SQLITE_READONLY (C-4.13)', (t) => {
  const db = openFile(t).exec('CREATE TABLE t (x)');
  const reader = open(t, db.name, { readonly: true });
  const insert = reader.prepare('INSERT INTO t VALUES (1)');
  throwsLike(() => insert.run(), SqliteError, 'attempt to write a readonly database', 'SQLITE_READONLY');
});

overruled('a setter on a prototype does not take the code (C-4.3)', (t) => {
  const db = open(t);
  Object.defineProperty(Object.prototype, 'code', { set() {}, configurable: true });
  t.after(() => delete Object.prototype.code);
  const { thrown } = thrownBy(() => db.exec('nonsense'));
  const expected = { value: 'SQLITE_ERROR', writable: true, enumerable: true, configurable: true };
  assert.deepEqual(Object.getOwnPropertyDescriptor(thrown, 'code'), expected);
});

test('errors of the library itself are plain built-ins (C-4.14)', (t) => {
  const db = open(t);
  const type = throwsLike(() => db.prepare(1), TypeError, 'Expected first argument to be a string');
  const range = throwsLike(() => db.prepare(''), RangeError, 'The supplied SQL string contains no statements');
  for (const error of [type, range]) assert.equal(error instanceof SqliteError, false);
  assert.equal(Database.SqliteError, SqliteError);
});
