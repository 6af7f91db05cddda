'use strict';

// What a hostile sequence is made of: one function for each thing a program may do to a database. An
// action takes what it needs from the world (world.js), which checks what it throws.

const fs = require('node:fs');
const path = require('node:path');
const { Database } = require('../support/database.js');
const { STRINGS } = require('./values.js');

const SCHEMA = `
  CREATE TABLE t (a INTEGER PRIMARY KEY, b UNIQUE, c TEXT DEFAULT 'c');
  CREATE TABLE log (x);
  CREATE TRIGGER logged AFTER DELETE ON t BEGIN INSERT INTO log VALUES (old.a); END;
  INSERT INTO t (a, b) VALUES (1, 'one'), (2, x'0203'), (3, 3.5), (4, NULL);`;

const QUERIES = ['select * from t', 'select a, b from t where a > ?', 'select ?', 'select ?, ?', 'select :a, @b', 'select ?1, ?2', 'select :a, ?',
  'select $a, :__proto__', 'select t.*, log.* from t, log', 'select a as __proto__, b as constructor from t', 'values (1), (2), (3)',
  'with recursive n(i) as (select 1 union all select i + 1 from n where i < 300) select i from n', 'select f(a, ?) from t', 'select f(1)',
  'select g(a) from t', 'select g(a) over (order by a rows 1 preceding) from t', 'select * from v', 'select * from v(?)', 'select * from t, v(t.a)',
  'select count(*) from t, t, t', 'explain select 1', 'PRAGMA table_info(t)', 'INSERT INTO t (b) VALUES (?) RETURNING *', 'DELETE FROM t WHERE a = ? RETURNING a',
  'select zeroblob(100000) from t', "select * from t where f(a, b) = 1 order by g(a)", 'select json_each.value from json_each(?)', 'PRAGMA key'];
const CHANGES = ['INSERT INTO t (b) VALUES (?)', 'INSERT INTO t (b) VALUES (:a)', 'UPDATE t SET b = f(a, b)', 'UPDATE t SET c = ? ORDER BY a LIMIT 1',
  'DELETE FROM t ORDER BY a DESC LIMIT ?', 'INSERT INTO t (b) SELECT f(a, ?) FROM t', 'INSERT OR ROLLBACK INTO t VALUES (1, 1, 1)', 'INSERT OR REPLACE INTO t VALUES (?, ?, ?)',
  'INSERT INTO t (b) SELECT hex(randomblob(3000)) FROM t', 'CREATE TABLE u (x)', 'DROP TABLE IF EXISTS u', 'ALTER TABLE t ADD COLUMN d', 'BEGIN', 'BEGIN IMMEDIATE',
  'COMMIT', 'ROLLBACK', 'SAVEPOINT s', 'RELEASE s', 'ROLLBACK TO s', 'VACUUM', "ATTACH ':memory:' AS aux", 'DETACH aux', 'CREATE VIRTUAL TABLE w USING m(1, f)', 'DROP TABLE w',
  'CREATE TABLE aux.t (x)', 'REINDEX', 'ANALYZE'];
const BROKEN = ['', ';', '-- nothing', 'nonsense', 'select', 'select 1; select 2', 'select * from missing', 'select 1\0 tail', 'select "x"', "select 'open", ...STRINGS];
const PRAGMAS = ['user_version', 'user_version = 5', 'cache_size = 2', 'journal_mode', 'journal_mode = wal', 'journal_mode = delete', 'journal_mode = persist',
  'wal_checkpoint(truncate)', 'integrity_check', 'foreign_keys = 0', 'secure_delete = 1', 'page_size = 1024', 'auto_vacuum = 1', 'incremental_vacuum', 'synchronous = 0',
  'temp_store = 2', 'kdf_iter', 'cipher', 'table_list', 'compile_options', 'optimize', 'shrink_memory', 'encoding = "UTF-16le"', 'query_only = 1', 'query_only = 0'];
const POLLUTED = ['a', 'b', 'name', 'code', 'message', 'done', 'changes', 'lastInsertRowid', 'statement', 'x', '$', 't', 'readonly', 'attached', 'progress', 'simple', 'varargs', '0'];
const STATEMENT_METHODS = ['run', 'get', 'all', 'iterate', 'bind', 'pluck', 'expand', 'raw', 'safeIntegers', 'columns', 'toString'];
const DATABASE_METHODS = ['prepare', 'key', 'rekey', 'transaction', 'pragma', 'explain', 'serialize', 'function', 'aggregate', 'table', 'loadExtension', 'exec', 'close',
  'defaultSafeIntegers', 'unsafeMode'];

const sql = ({ pick, odds }) => odds(8) ? pick(BROKEN) : pick(odds(3) ? CHANGES : QUERIES);

function openDatabase(world) {
  if (world.databases.length > 4) return;
  const { odds, pick, files, make } = world;
  const file = odds(2) ? pick(files) : pick([':memory:', '']);
  const options = { timeout: pick([0, 0, 1, -0]), readonly: odds(12), fileMustExist: odds(8) };
  if (odds(3)) options.verbose = () => { if (odds(6)) world.disturb(); };
  if (odds(12)) Object.assign(options, make.named());
  if (odds(30)) options.nativeBinding = make.any();
  if (odds(12)) options.cipher = pick([...world.ciphers, 'none', '\0']);
  const database = new Database(file, odds(20) ? make.any() : options);
  world.keep('databases', database);
  if (odds(2)) database.exec(SCHEMA);
  if (odds(2)) define(world, database);
}

function openOddly(world) {
  const { make, odds } = world;
  const image = odds(2) ? make.buffer() : make.any();
  world.keep('databases', new Database(typeof image === 'string' ? ':memory:' : image, odds(2) ? undefined : make.any()));
}

const prepare = (world) => world.keep('statements', world.database().prepare(world.odds(20) ? world.make.any() : sql(world)));
const exec = (world) => world.database().exec(world.odds(20) ? world.make.any() : world.odds(6) ? SCHEMA : `${sql(world)}; ${sql(world)}`);
const explain = (world) => world.database().explain(sql(world), ...world.make.args());

/** As many values as the statement takes, and an object for its names. */
function fitting({ source }, { bindable, named }) {
  const values = (source.match(/\?(?!\d)/g) ?? []).map(bindable);
  return /[:@$]\w|\?\d/.test(source) ? [...values, named()] : values;
}

function execute(world) {
  const { pick, odds, make } = world;
  const statement = world.statement();
  const args = odds(3) ? make.args() : fitting(statement, make);
  const result = statement[pick(['run', 'get', 'all', 'get', 'all', 'iterate', 'iterate', 'bind'])](...args);
  if (result && typeof result.next === 'function') world.keep('iterators', result);
}

function shape(world) {
  const statement = world.statement();
  statement[world.pick(['pluck', 'expand', 'raw', 'safeIntegers'])](...world.pick([[], [true], [false], [world.make.any()]]));
}

function look(world) {
  const statement = world.statement();
  statement.columns();
  return [String(statement), statement.busy, statement.reader, JSON.stringify(world.database()), statement.database.inTransaction];
}

function iterate(world) {
  const iterator = world.pick(world.iterators);
  if (iterator === undefined) return;
  const count = world.odds(5) ? 50 : 1 + world.upTo(3);
  for (let at = 0; at < count; at += 1) iterator.next(world.odds(4) ? world.make.any() : undefined);
  if (world.odds(3)) iterator.return();
}

/** Forgets an iterator half-way, and has what is forgotten collected. */
function forget(world) {
  if (world.odds(2)) world.iterators.splice(world.upTo(world.iterators.length + 1), 1);
  else world.statements.splice(world.upTo(world.statements.length + 1), 1);
  world.forgotten += 1;
  if (world.odds(10)) world.collect();
}

function pragma(world) {
  const { make, odds, pick } = world;
  const text = odds(20) ? make.any() : pick(PRAGMAS);
  world.database().pragma(text, odds(4) ? { simple: pick([true, false, make.any()]) } : odds(10) ? make.any() : undefined);
}

function setKey(world) {
  const { pick, odds, make, keys, ciphers } = world;
  const database = world.database();
  if (odds(4)) return database.pragma(`cipher = '${pick(ciphers)}'`);
  if (odds(6)) return database[pick(['key', 'rekey'])](unknownKey(world, make.any()));
  const key = pick(keys);
  if (odds(4)) return database.pragma(`${pick(['key', 'rekey'])} = '${key}'`);
  return database[pick(['key', 'rekey'])](Buffer.from(key));
}

/** A key that the files are not tried with at the end. */
function unknownKey(world, key) {
  if (Buffer.isBuffer(key) && !world.keys.includes(key.toString())) world.hasUnknownKey = true;
  return key;
}

function transaction(world) {
  const { odds, pick, make } = world;
  if (odds(2) && world.transactions.length > 0) {
    const run = pick(world.transactions);
    return pick([run, run.immediate, run.exclusive, run.deferred]).apply(odds(8) ? make.any() : undefined, make.args());
  }
  const body = odds(20) ? make.any() : () => { world.disturb(); world.disturb(); return odds(8) ? make.any() : 1; };
  return world.keep('transactions', world.database().transaction(body));
}

function callback(world) {
  return (...args) => {
    world.disturb();
    return world.odds(2) ? args[0] : world.make.plain();
  };
}

function defineFunction(world) {
  const { odds, pick, make } = world;
  const fn = callback(world);
  if (!odds(4)) Object.defineProperty(fn, 'length', { value: pick([0, 1, 2, 2, -0, 101, NaN, '1']) });
  const options = odds(2) ? { varargs: odds(2), deterministic: odds(2), directOnly: odds(4), safeIntegers: odds(2) } : make.any();
  world.database().function(odds(20) ? make.any() : pick(['f', 'F', 'g', 'abs', 'like', '', 'x'.repeat(300)]), ...(odds(2) ? [options] : []), odds(20) ? make.any() : fn);
}

function defineAggregate(world) {
  const { odds, pick, make } = world;
  const options = { start: odds(3) ? make.any() : callback(world), step: callback(world), varargs: odds(2) };
  if (odds(2)) options.inverse = callback(world);
  if (odds(2)) options.result = callback(world);
  if (odds(8)) options[pick(['step', 'inverse', 'result', 'safeIntegers'])] = make.any();
  Object.defineProperty(options.step ?? {}, 'length', { value: pick([0, 1, 2, 3]), configurable: true });
  world.database().aggregate(pick(['g', 'g', 'f', 'sum']), odds(20) ? make.any() : options);
}

function definition(world) {
  const { odds, pick, make } = world;
  function* rows(...given) {
    for (let count = world.upTo(6); count > 0; count -= 1) {
      world.disturb();
      yield odds(8) ? make.any() : odds(2) ? [make.plain(), given[0]] : { x: make.plain(), y: 1 };
    }
  }
  const made = { columns: ['x', 'y'], rows };
  if (odds(2)) made.parameters = odds(2) ? ['p'] : pick([[], ['p', 'q'], make.list(), Array(40).fill('p')]);
  if (odds(10)) made[pick(['columns', 'rows', 'parameters', 'safeIntegers', 'directOnly'])] = make.any();
  return odds(12) ? make.proxy(made) : made;
}

function defineTable(world) {
  const { odds, pick, make } = world;
  const factory = () => { world.disturb(); return odds(10) ? make.any() : definition(world); };
  if (odds(2)) world.database().table(pick(['m', 'm', 'v']), factory);
  else world.database().table(odds(20) ? make.any() : pick(['v', 'v', 'm', '', 'a"b']), odds(20) ? make.any() : definition(world));
}

function backup(world) {
  const { odds, pick, make } = world;
  if (world.backups.length > 5) return;
  // A new file is deleted by a backup that fails: nobody else may have it open.
  const known = world.files.filter((file) => fs.existsSync(file));
  const target = odds(10) ? make.any() : pick([...known, path.join(world.directory, 'copy.db'), path.join(world.directory, 'missing', 'x')]);
  const progress = () => {
    world.disturb();
    return pick([undefined, 1, 1000, 0, Infinity, odds(4) ? make.any() : 5]);
  };
  const key = pick([null, Buffer.from(pick(world.keys)), odds(4) ? make.any() : undefined]);
  const options = odds(20) ? make.any() : {
    progress,
    ...(odds(6) && { attached: pick(['main', 'aux', 'nope', make.any()]) }),
    ...(odds(3) && { key: unknownKey(world, key) }),
    ...(odds(6) && { cipher: pick([...world.ciphers, make.any()]) }),
  };
  world.keep('backups', world.watch(world.database().backup(target, options)));
}

function serialize(world) {
  const image = world.database().serialize(world.odds(6) ? world.make.any() : undefined);
  if (world.databases.length < 5) world.keep('databases', new Database(image, { timeout: 0 }));
}

function toggle(world) {
  const { pick, odds, make } = world;
  world.database()[pick(['unsafeMode', 'unsafeMode', 'defaultSafeIntegers'])](...pick([[], [true], [false], odds(4) ? [make.any()] : []]));
}

const close = (world) => world.odds(2) && world.database().close();

/** The functions and tables that the queries use. */
function define(world, database) {
  const { odds, pick, make } = world;
  database.function('f', { varargs: true }, callback(world));
  const step = callback(world);
  database.aggregate('g', { start: 0, step, varargs: true, inverse: callback(world), result: odds(2) ? callback(world) : (x) => typeof x });
  database.table('v', { columns: ['x', 'y'], parameters: ['p'], * rows(p) { world.disturb(); yield [make.bindable(), p]; yield { y: 1, x: pick(STRINGS) }; } });
  database.table('m', () => definition(world));
}

/** Methods on what they do not belong to, constructors that are not meant to be called. */
function misuse(world) {
  const { pick, odds, make } = world;
  const statement = world.statement();
  const receivers = [statement, world.database(), pick(world.iterators), pick(world.statements), make.any(), Object.create(statement), new Proxy(statement, {})];
  const iterator = pick(world.iterators);
  const borrowed = [() => statement[pick(STATEMENT_METHODS)], () => Database.prototype[pick(DATABASE_METHODS)], () => (iterator ?? [].values())[pick(['next', 'return', Symbol.iterator])]];
  if (odds(3)) return Reflect.construct(pick([statement.constructor, Object.getPrototypeOf(statement).constructor, Database]), make.args(), pick([Object, Array, Database, statement.constructor]));
  const result = Reflect.apply(pick(borrowed)(), pick(receivers), make.args());
  if (typeof result?.next === 'function') world.forgotten += 1;
  return undefined;
}

/** The native object behind a database and the addon itself, which nobody is meant to call. */
function native(world) {
  const { pick, odds, make } = world;
  const database = world.database();
  const handle = database[Object.getOwnPropertySymbols(database)[0]];
  const target = odds(4) && world.natives.length > 0 ? pick(world.natives) : handle;
  const names = Object.getOwnPropertyNames(Object.getPrototypeOf(target)).filter((name) => name !== 'constructor');
  if (odds(8)) return world.keep('natives', new handle.constructor(...Array.from({ length: 6 }, make.any)));
  if (odds(20)) return world.addon().initialize(make.any());
  const text = () => pick(['main', sql(world), ...world.files, 'f']);
  const args = Array.from({ length: world.upTo(6) }, () => pick([make.any, callback.bind(null, world), text, () => odds(2), () => world.upTo(5), () => database])());
  unknownKey(world, args[0]);
  const made = Reflect.apply(target[pick(names)], odds(20) ? make.any() : target, args);
  if (typeof made?.next === 'function') world.forgotten += 1;
  if (typeof made === 'object' && made !== null && !Array.isArray(made) && Object.getPrototypeOf(made) !== Object.prototype) world.keep('natives', made);
  return made;
}

/** Runs another action while a setter is on a prototype that everything inherits from. */
function pollute(world) {
  const key = world.pick(POLLUTED);
  const prototype = world.odds(3) ? Array.prototype : Object.prototype;
  if (key in prototype) return;
  Object.defineProperty(prototype, key, { set() { world.disturb(); }, configurable: true });
  try {
    world.act();
  } finally {
    delete prototype[key];
  }
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** The actions and how often each is chosen. */
const ACTIONS = Object.entries({
  openDatabase: [openDatabase, 4], openOddly: [openOddly, 1], prepare: [prepare, 16], exec: [exec, 5], explain: [explain, 1], execute: [execute, 30], shape: [shape, 4],
  look: [look, 2], iterate: [iterate, 10], forget: [forget, 2], pragma: [pragma, 4], setKey: [setKey, 4], transaction: [transaction, 6], defineFunction: [defineFunction, 5],
  defineAggregate: [defineAggregate, 4], defineTable: [defineTable, 5], backup: [backup, 2], serialize: [serialize, 1], toggle: [toggle, 2], close: [close, 2],
  misuse: [misuse, 4], native: [native, 4], pollute: [pollute, 3], turn: [turn, 6],
}).flatMap(([name, [action, weight]]) => Array(weight).fill({ name, action, isNative: action === native }));

module.exports = { ACTIONS, SCHEMA, define };
