'use strict';

// The constructor: names, options, modes (C-2), and what a Database object shows of itself (C-3).
// Closing is in 11.database.close.js, encryption options in 46.encryption.js.

const test = require('node:test');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const util = require('node:util');
const { spawnSync } = require('node:child_process');
const {
  Database, SqliteError, modulePath, isPeer, overruled, afterTest, tempDir, tempFile, open, openFile, throwsLike,
  throwsNotADb, thrownBy,
} = require('../support/database.js');

const MISSING_DIRECTORY = 'Cannot open database because the directory does not exist';
const cantOpen = (fn) => throwsLike(fn, SqliteError, 'unable to open database file', 'SQLITE_CANTOPEN');
const refuses = (options, message, Class = TypeError, file = ':memory:') =>
  throwsLike(() => new Database(file, options), Class, message);

/** Runs `script` in a child with the module in `Database`; gives back what it printed as JSON. */
function inChild(cwd, script, env = {}) {
  const source = `const Database = require(${JSON.stringify(modulePath)}); const print = (x) => console.log(JSON.stringify(x));`;
  const child = spawnSync(process.execPath, ['-e', source + script], { cwd, encoding: 'utf8', env: { ...process.env, ...env } });
  assert.equal(child.status, 0, child.stderr);
  return JSON.parse(child.stdout);
}

test('the name must be a string, null or undefined (C-2.1)', () => {
  for (const name of [1, 0, true, false, 5n, Symbol('x'), {}, [], () => {}, Object('x.db'), new Uint8Array(8)]) {
    throwsLike(() => new Database(name), TypeError, 'Expected first argument to be a string');
  }
});

test('options must be an object, null or undefined; the name is checked first (C-2.2)', (t) => {
  for (const options of [true, false, 1, 'x', 1n, Symbol('x'), () => {}]) {
    refuses(options, 'Expected second argument to be an options object');
    throwsLike(() => new Database(1, options), TypeError, 'Expected first argument to be a string');
  }
  for (const options of [null, undefined, {}, [], Object.create(null)]) assert.equal(open(t, ':memory:', options).open, true);
});

test('unknown options are ignored, inherited ones count (C-2.3)', (t) => {
  assert.equal(open(t, ':memory:', { mode: 3, Readonly: 1 }).open, true);
  refuses(Object.create({ readonly: 1 }), 'Expected the "readonly" option to be a boolean');
  const file = openFile(t).exec('CREATE TABLE t (x)').name;
  assert.equal(open(t, file, Object.create({ readonly: true })).readonly, true);
});

test('an option on a polluted Object.prototype counts (C-2.3)', (t) => {
  Object.prototype.timeout = 1234;
  afterTest(t, () => delete Object.prototype.timeout);
  assert.equal(open(t).pragma('busy_timeout', { simple: true }), 1234);
});

test('two old spellings of options are refused (C-2.4, C-2.5)', () => {
  for (const value of [true, false, undefined]) {
    refuses({ readOnly: value }, 'Misspelled option "readOnly" should be "readonly"');
    refuses({ memory: value }, 'Option "memory" was removed in v7.0.0 (use ":memory:" filename instead)');
  }
});

for (const name of ['', ':memory:', '  ', ' :memory: \n', null, undefined]) {
  test(`${JSON.stringify(name)} is an anonymous database that leaves no file (C-2.6)`, (t) => {
    const dir = tempDir(t);
    const script = `
      const db = new Database(${JSON.stringify(name)});
      db.exec('CREATE TABLE t (x)');
      print([db.name, db.memory, require('fs').readdirSync('.')]);
      db.close();`;
    assert.deepEqual(inChild(dir, script), [name == null ? '' : name, true, []]);
    assert.deepEqual(fs.readdirSync(dir), []);
  });
}

test('without any argument the database is anonymous (C-2.6)', (t) => {
  const db = new Database();
  afterTest(t, () => db.close());
  assert.equal(db.name, '');
  assert.equal(db.memory, true);
});

test('white space around a name is not part of the file, but of db.name (C-2.6)', (t) => {
  const file = tempFile(t);
  const db = open(t, `  ${file}\n`);
  assert.equal(db.name, `  ${file}\n`);
  assert.equal(db.memory, false);
  assert.deepEqual(fs.readdirSync(path.dirname(file)), ['test.db']);
});

for (const option of ['readonly', 'fileMustExist']) {
  test(`the option ${option} must be a boolean when present (C-2.7)`, () => {
    for (const value of [undefined, null, 0, 1, 'true', {}, Object(true)]) {
      refuses({ [option]: value }, `Expected the "${option}" option to be a boolean`);
    }
  });
}

test('an anonymous database cannot be readonly (C-2.8)', () => {
  for (const name of ['', ':memory:', null, ' ']) {
    refuses({ readonly: true }, 'In-memory/temporary databases cannot be readonly', TypeError, name);
  }
});

test('timeout must be a whole number from 0 to 2147483647 (C-2.9)', (t) => {
  for (const timeout of [undefined, null, NaN, '75', -1, 75.01, Infinity, 1n, {}, true]) {
    refuses({ timeout }, 'Expected the "timeout" option to be a positive integer');
  }
  refuses({ timeout: 2147483648 }, 'Option "timeout" cannot be greater than 2147483647', RangeError);
  for (const timeout of [0, 1, 2147483647]) {
    assert.equal(open(t, ':memory:', { timeout }).pragma('busy_timeout', { simple: true }), timeout);
  }
  assert.equal(open(t).pragma('busy_timeout', { simple: true }), 5000);
});

overruled('a timeout of -0 is 0 (overrules C-36.1)', (t) => {
  assert.equal(open(t, ':memory:', { timeout: -0 }).pragma('busy_timeout', { simple: true }), 0);
});

test('a call blocked by a lock waits for timeout, then throws SQLITE_BUSY (C-2.10)', (t) => {
  const holder = openFile(t).exec('CREATE TABLE t (x); BEGIN EXCLUSIVE');
  const waiter = open(t, holder.name, { timeout: 400 });
  const startedAt = Date.now();
  throwsLike(() => waiter.exec('INSERT INTO t VALUES (1)'), SqliteError, 'database is locked', 'SQLITE_BUSY');
  assert.ok(Date.now() - startedAt >= 300);
  const hasty = open(t, holder.name, { timeout: 0 });
  throwsLike(() => hasty.exec('INSERT INTO t VALUES (1)'), SqliteError, 'database is locked', 'SQLITE_BUSY');
});

test('verbose must be a function, null or undefined (C-2.11)', (t) => {
  for (const verbose of [false, true, 0, 123, '', 'null', {}, []]) {
    refuses({ verbose }, 'Expected the "verbose" option to be a function');
  }
  for (const verbose of [null, undefined, () => {}]) assert.equal(open(t, ':memory:', { verbose }).open, true);
});

test('nativeBinding must be a string or an object (C-2.12)', (t) => {
  for (const nativeBinding of [1, true, () => {}, 1n]) {
    refuses({ nativeBinding }, 'Expected the "nativeBinding" option to be a string or addon object');
  }
  for (const nativeBinding of [null, undefined]) assert.equal(open(t, ':memory:', { nativeBinding }).open, true);
  assert.throws(() => new Database(':memory:', { nativeBinding: {} }), TypeError);
});

test('a missing nativeBinding file gives the error of require, with the resolved path (C-2.12)', (t) => {
  const missing = path.join(tempDir(t), 'missing');
  for (const nativeBinding of [missing, `${missing}.node`, path.relative(process.cwd(), missing)]) {
    assert.throws(
      () => new Database(':memory:', { nativeBinding }),
      (error) => error.code === 'MODULE_NOT_FOUND' && error.message.includes(`${missing}.node`),
    );
  }
});

/** The path of the addon that the default binding loaded. */
function addonPath() {
  new Database(':memory:').close();
  return Object.keys(require.cache).find((file) => file.endsWith('.node'));
}

const nativeOf = (db) => db[Object.getOwnPropertySymbols(db)[0]];

test('the addon may be given as path or as object and is the default one then (C-2.12, C-2.13)', (t) => {
  const file = addonPath();
  for (const nativeBinding of [file, file.replace(/\.node$/, ''), path.relative(process.cwd(), file), require(file)]) {
    const db = open(t, ':memory:', { nativeBinding });
    assert.equal(nativeOf(db).constructor, nativeOf(open(t)).constructor);
    assert.equal(db.prepare('select 7').pluck().get(), 7);
  }
});

test('a copy of the addon has its own classes but the same SqliteError (C-2.13, C-32.6)', (t) => {
  const copy = path.join(tempDir(t), 'copy.node');
  fs.copyFileSync(addonPath(), copy);
  const [db, other] = [open(t), open(t, ':memory:', { nativeBinding: copy })];
  assert.notEqual(nativeOf(db).constructor, nativeOf(other).constructor);
  throwsLike(() => other.exec('nonsense'), SqliteError, 'near "nonsense": syntax error', 'SQLITE_ERROR');
  const [statement, foreign] = [db.prepare('select 1'), other.prepare('select 1')];
  assert.notEqual(statement.constructor, foreign.constructor);
  for (const name of ['get', 'all', 'run', 'iterate', 'bind', 'columns']) {
    throwsLike(() => statement[name].call(foreign), TypeError, 'Illegal invocation');
    throwsLike(() => foreign[name].call(statement), TypeError, 'Illegal invocation');
  }
  assert.deepEqual(foreign.get(), { 1: 1 });
});

test('options are checked in the documented order (C-2.14)', (t) => {
  const wrong = [
    ['readOnly', true, 'Misspelled option "readOnly" should be "readonly"'],
    ['memory', true, 'Option "memory" was removed in v7.0.0 (use ":memory:" filename instead)'],
    ['readonly', 1, 'Expected the "readonly" option to be a boolean'],
    ['fileMustExist', 1, 'Expected the "fileMustExist" option to be a boolean'],
    ['timeout', 'x', 'Expected the "timeout" option to be a positive integer'],
    ['verbose', 1, 'Expected the "verbose" option to be a function'],
    ['nativeBinding', 1, 'Expected the "nativeBinding" option to be a string or addon object'],
  ];
  const missing = path.join(tempDir(t), 'missing', 'x.db');
  for (let from = 0; from < wrong.length; from += 1) {
    // The later ones come first in the object: the order of keys must not matter.
    const options = Object.fromEntries(wrong.slice(from).reverse());
    refuses(options, wrong[from][2], TypeError, missing);
  }
  refuses({ readonly: true, timeout: 'x' }, 'In-memory/temporary databases cannot be readonly');
  refuses({ timeout: 2 ** 31, verbose: 1 }, 'Option "timeout" cannot be greater than 2147483647', RangeError);
  refuses({}, MISSING_DIRECTORY, TypeError, missing);
});

test('a missing directory is refused and nothing is created (C-2.15)', (t) => {
  const dir = tempDir(t);
  refuses({}, MISSING_DIRECTORY, TypeError, path.join(dir, 'no', 'test.db'));
  refuses({}, MISSING_DIRECTORY, TypeError, `  ${path.join(dir, 'no', 'test.db')} `);
  refuses({ readonly: true }, MISSING_DIRECTORY, TypeError, path.join(dir, 'no', 'test.db'));
  cantOpen(() => new Database('file:no-such-directory/test.db'));
  assert.deepEqual(fs.readdirSync(dir), []);
});

test('readonly and fileMustExist open existing files only (C-2.16)', (t) => {
  const file = tempFile(t);
  cantOpen(() => new Database(file, { readonly: true }));
  cantOpen(() => new Database(file, { fileMustExist: true }));
  cantOpen(() => new Database(file, { readonly: true, fileMustExist: true }));
  assert.equal(fs.existsSync(file), false);
  open(t, file).exec('CREATE TABLE t (x)').close();
  const writer = open(t, file, { fileMustExist: true });
  writer.exec('INSERT INTO t VALUES (1)');
  assert.equal(writer.readonly, false);
  const reader = open(t, file, { readonly: true });
  assert.deepEqual(reader.prepare('select x from t').all(), [{ x: 1 }]);
  throwsLike(() => reader.exec('DELETE FROM t'), SqliteError, 'attempt to write a readonly database', 'SQLITE_READONLY');
  assert.equal(open(t, ':memory:', { fileMustExist: true }).memory, true);
});

test('a directory cannot be opened and stays as it is (C-2.16)', (t) => {
  const dir = tempDir(t);
  for (const options of [{}, { fileMustExist: true }]) cantOpen(() => new Database(dir, options));
  assert.deepEqual(fs.readdirSync(dir), []);
});

test('a directory opened read-only fails at the first read at the latest', (t) => {
  const dir = tempDir(t);
  const { thrown } = thrownBy(() => open(t, dir, { readonly: true }).prepare('select 1'));
  assert.ok(thrown instanceof SqliteError);
  // The replaced package drops the failed read and judges whatever is in its buffer.
  assert.match(thrown.code, isPeer ? /NOTADB|CORRUPT/ : /IOERR|CANTOPEN/);
  assert.deepEqual(fs.readdirSync(dir), []);
});

test('a new file is there, empty, when the constructor returns (C-2.17)', (t) => {
  const file = tempFile(t);
  const db = open(t, file);
  assert.equal(fs.statSync(file).size, 0);
  db.exec('CREATE TABLE t (x)');
  assert.ok(fs.statSync(file).size > 0);
});

test('the content of a file is not looked at before the first use (C-2.18)', (t) => {
  const file = tempFile(t);
  const content = Buffer.alloc(8192, 'this is no database ');
  fs.writeFileSync(file, content);
  const db = open(t, file);
  assert.equal(db.open, true);
  throwsNotADb(() => db.prepare('select 1'));
  db.close();
  assert.deepEqual(fs.readFileSync(file), content);
});

const URI_SCRIPT = `
  const db = new Database('file:uri.db?mode=memory');
  db.exec('CREATE TABLE t (x)');
  print([db.memory, require('fs').readdirSync('.').sort()]);
  db.close();`;

test('URI names are ordinary file names unless the environment allows them (C-2.19)', (t) => {
  const plain = [false, ['file:uri.db?mode=memory']];
  for (const value of ['0', '2', 'true', '']) {
    assert.deepEqual(inChild(tempDir(t), URI_SCRIPT, { SQLITE_USE_URI: value }), plain, value);
  }
  assert.deepEqual(inChild(tempDir(t), URI_SCRIPT, { SQLITE_USE_URI: '1' }), [false, []]);
});

overruled('a NUL in a path is refused and nothing is created (overrules C-2.20)', (t) => {
  const dir = tempDir(t);
  const error = throwsLike(() => new Database(path.join(dir, 'a.db\0.txt')), TypeError, /NUL|null/i);
  assert.equal(error instanceof SqliteError, false);
  throwsLike(() => new Database(path.join(dir, 'a.db\0')), TypeError, /NUL|null/i);
  assert.deepEqual(fs.readdirSync(dir), []);
});

test('values that SQL makes are limited to what a string can hold (C-2.21, C-33.7)', (t) => {
  const db = open(t);
  const length = db.prepare('select length(zeroblob(?))').pluck();
  assert.equal(length.get(536870888n), 536870888);
  throwsLike(() => length.get(536870889n), SqliteError, 'string or blob too big', 'SQLITE_TOOBIG');
});

test('classes can be derived (C-2.22)', (t) => {
  class Special extends Database {
    five() {
      return this.prepare('select 5').pluck().get();
    }
  }
  const before = Reflect.ownKeys(Database.prototype);
  const db = new Special(':memory:');
  afterTest(t, () => db.close());
  assert.equal(db.constructor, Special);
  assert.ok(db instanceof Special && db instanceof Database);
  assert.equal(Object.getPrototypeOf(db), Special.prototype);
  assert.equal(Object.getPrototypeOf(Special.prototype), Database.prototype);
  assert.equal(Object.getPrototypeOf(Database.prototype), Object.prototype);
  assert.equal(Special.prototype.close, Database.prototype.close);
  assert.equal(db.close, Database.prototype.close);
  assert.equal(db.five(), 5);
  assert.deepEqual(Reflect.ownKeys(Database.prototype), before);
  assert.equal(Database.prototype.constructor, Database);
  assert.equal(Object.getPrototypeOf(open(t)), Database.prototype);
});

test('Reflect.construct works (C-2.22)', (t) => {
  class Special extends Database {}
  const db = Reflect.construct(Database, [':memory:'], Special);
  afterTest(t, () => db.close());
  assert.ok(db instanceof Special);
  assert.equal(db.prepare('select 5').pluck().get(), 5);
});

test('calling the constructor as a function leaves the receiver alone (C-2.23)', () => {
  function Old() {
    Database.call(this, ':memory:').close();
  }
  Object.setPrototypeOf(Old.prototype, Database.prototype);
  const receiver = new Old();
  assert.deepEqual(Reflect.ownKeys(receiver), []);
  assert.throws(() => receiver.prepare('select 1'), TypeError);
});

const ACCESSORS = ['name', 'open', 'inTransaction', 'readonly', 'memory'];

test('five accessors describe the database and cannot be changed (C-3.1)', (t) => {
  const db = open(t);
  assert.deepEqual(Object.keys(db), ACCESSORS);
  for (const key of ACCESSORS) {
    const { get, set, enumerable, configurable } = Object.getOwnPropertyDescriptor(db, key);
    assert.deepEqual([typeof get, set, enumerable, configurable], ['function', undefined, true, false]);
    const before = db[key];
    assert.throws(() => { db[key] = 'other'; }, TypeError);
    assert.throws(() => delete db[key], TypeError);
    const sloppy = new Function('db', 'key', 'db[key] = "other"; return delete db[key];');
    assert.equal(sloppy(db, key), false);
    assert.equal(db[key], before);
  }
});

test('name, memory and readonly tell how it was opened (C-3.2, C-3.3)', (t) => {
  const file = openFile(t).exec('CREATE TABLE t (x)').name;
  const shown = (db) => [db.name, db.open, db.inTransaction, db.readonly, db.memory];
  assert.deepEqual(shown(open(t, file)), [file, true, false, false, false]);
  assert.deepEqual(shown(open(t, file, { readonly: true })), [file, true, false, true, false]);
  assert.deepEqual(shown(open(t)), [':memory:', true, false, false, true]);
  assert.deepEqual(shown(open(t, '')), ['', true, false, false, true]);
});

test('inTransaction follows SQLite (C-3.4)', (t) => {
  const db = open(t);
  for (const [begin, end] of [['BEGIN', 'COMMIT'], ['BEGIN IMMEDIATE', 'ROLLBACK'], ['SAVEPOINT a', 'RELEASE a']]) {
    assert.equal(db.exec(begin).inTransaction, true, begin);
    assert.equal(db.exec(end).inTransaction, false, end);
  }
  const rows = db.prepare('select 1 union all select 2').iterate();
  rows.next();
  assert.equal(db.inTransaction, false);
  rows.return();
  db.exec('BEGIN').close();
  assert.equal(db.inTransaction, false);
});

test('the accessors work when busy, iterating and closed (C-3.5)', (t) => {
  const shown = [];
  const db = new Database(':memory:', { verbose: () => shown.push(JSON.stringify(db)) });
  afterTest(t, () => db.close());
  const rows = db.prepare('select 1').iterate();
  shown.push(JSON.stringify(db));
  rows.next();
  rows.return();
  db.close();
  const open1 = '{"name":":memory:","open":true,"inTransaction":false,"readonly":false,"memory":true}';
  assert.deepEqual(shown, [open1, open1]);
  assert.equal(JSON.stringify(db), open1.replace('"open":true', '"open":false'));
});

test('inspect shows the current values, and properties of the user (C-3.6)', (t) => {
  class Special extends Database {}
  const text = "Database { name: ':memory:', open: true, inTransaction: false, readonly: false, memory: true }";
  const inspect = (db) => util.inspect(db, { breakLength: Infinity, compact: 3 });
  assert.equal(inspect(open(t)), text);
  const db = new Special(':memory:');
  assert.equal(inspect(db), text);
  db.extra = 1;
  db.close();
  assert.equal(inspect(db), text.replace('open: true', 'open: false').replace(' }', ', extra: 1 }'));
  assert.equal(typeof Database.prototype[Symbol.for('nodejs.util.inspect.custom')], 'function');
});

test('JSON and String of a database (C-3.7)', (t) => {
  const db = open(t);
  assert.deepEqual(Object.entries(JSON.parse(JSON.stringify(db))), [
    ['name', ':memory:'], ['open', true], ['inTransaction', false], ['readonly', false], ['memory', true],
  ]);
  assert.equal(String(db), '[object Object]');
});

// function, aggregate, table, backup and serialize belong to the files of these methods.
const METHODS = {
  prepare: ['prepare', 1],
  key: ['key', 1],
  rekey: ['rekey', 1],
  transaction: ['transaction', 1],
  pragma: ['pragma', 2],
  explain: ['explain', 1],
  loadExtension: ['loadExtension', 0],
  exec: ['exec', 1],
  close: ['close', 0],
  defaultSafeIntegers: ['defaultSafeIntegers', 0],
  unsafeMode: ['unsafeMode', 0],
};

test('methods are enumerable and writable, with these names and lengths (C-3.8)', () => {
  for (const [key, [name, length]] of Object.entries(METHODS)) {
    const { value, enumerable, writable } = Object.getOwnPropertyDescriptor(Database.prototype, key);
    assert.deepEqual([value.name, value.length, enumerable, writable], [name, length, true, true], key);
  }
});

test('the object takes properties of the user, its methods no foreign receiver (C-3.9)', (t) => {
  const db = open(t);
  db.mine = 5;
  assert.equal(db.mine, 5);
  for (const key of Object.keys(METHODS)) {
    const args = { transaction: [() => {}], key: [Buffer.from('a')], rekey: [Buffer.from('a')] }[key] || ['select 1'];
    if (key === 'defaultSafeIntegers' || key === 'unsafeMode' || key === 'close') args.length = 0;
    for (const receiver of [{}, undefined, Object.create(Database.prototype), db.prepare('select 1')]) {
      assert.throws(() => db[key].apply(receiver, args), TypeError, key);
    }
  }
});

test('an overridden prepare does not change pragma, explain and transaction (C-3.10)', (t) => {
  class Special extends Database {
    prepare() {
      throw new Error('not to be called');
    }
  }
  const db = new Special(':memory:');
  afterTest(t, () => db.close());
  assert.equal(db.pragma('user_version', { simple: true }), 0);
  assert.ok(db.explain('select 1').length > 0);
  assert.equal(db.transaction(() => 5)(), 5);
});
