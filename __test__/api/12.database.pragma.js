'use strict';

// pragma() (C-8) and the settings a fresh database has (C-33.2, C-33.5, C-33.6). PRAGMAs of
// encryption are in 46.encryption.js, checkpoints in 31.database.checkpoint.js.

const test = require('node:test');
const assert = require('node:assert/strict');
const { SqliteError, isPeer, open, openFile, throwsBusy, throwsOpen, throwsLike } = require('../support/database.js');

test('pragma() returns all rows as an array of objects (C-8.1)', (t) => {
  const db = open(t).exec('CREATE TABLE t (a, b TEXT)');
  assert.deepEqual(db.pragma('cache_size'), [{ cache_size: -16000 }]);
  assert.deepEqual(db.pragma('cache_size;'), [{ cache_size: -16000 }]);
  assert.deepEqual(db.pragma('cache_size -- comment'), [{ cache_size: -16000 }]);
  assert.deepEqual(db.pragma('table_info(t)').map((row) => row.name), ['a', 'b']);
});

test('options must be an object, simple a boolean (C-8.2)', (t) => {
  const db = open(t);
  for (const options of [true, false, 123, 0, NaN, 'true', () => {}, Symbol('x')]) {
    throwsLike(() => db.pragma('cache_size', options), TypeError, 'Expected second argument to be an options object');
  }
  for (const simple of [undefined, null, 0, 1, 'true', {}]) {
    throwsLike(() => db.pragma('cache_size', { simple }), TypeError, 'Expected the "simple" option to be a boolean');
  }
  for (const options of [null, undefined, {}, [], { simple: false }]) {
    assert.deepEqual(db.pragma('cache_size', options), [{ cache_size: -16000 }]);
  }
  for (const sql of [undefined, null, 0, 5, {}, Object('cache_size')]) {
    throwsLike(() => db.pragma(sql), TypeError, 'Expected first argument to be a string');
    throwsLike(() => db.pragma(sql, 1), TypeError, 'Expected first argument to be a string');
  }
});

test('simple gives the first column of the first row, or undefined (C-8.3)', (t) => {
  const db = open(t).exec('CREATE TABLE t (a, b)');
  assert.equal(db.pragma('cache_size', { simple: true }), -16000);
  assert.equal(db.pragma('table_info(t)', { simple: true }), 0);
  assert.equal(db.pragma('table_info(nowhere)', { simple: true }), undefined);
});

test('what returns nothing is an empty array, never an error (C-8.4)', (t) => {
  const db = openFile(t);
  assert.deepEqual(db.pragma('no_such_pragma'), []);
  assert.deepEqual(db.pragma('no_such_pragma = 5'), []);
  assert.equal(db.pragma('no_such_pragma', { simple: true }), undefined);
  assert.deepEqual(db.pragma('user_version = 7'), []);
  assert.equal(db.pragma('user_version = 8', { simple: true }), undefined);
  assert.deepEqual(db.pragma('user_version'), [{ user_version: 8 }]);
  assert.deepEqual(db.pragma('journal_mode = wal'), [{ journal_mode: 'wal' }]);
});

test('the text is what follows the word PRAGMA, one statement of it (C-8.5)', (t) => {
  const db = open(t);
  throwsLike(() => db.pragma('PRAGMA cache_size'), SqliteError, 'near "cache_size": syntax error', 'SQLITE_ERROR');
  throwsLike(() => db.pragma(''), SqliteError, 'incomplete input', 'SQLITE_ERROR');
  throwsLike(() => db.pragma('cache_size = ?'), SqliteError, 'near "?": syntax error', 'SQLITE_ERROR');
  throwsLike(
    () => db.pragma('cache_size; PRAGMA user_version'),
    RangeError,
    'The supplied SQL string contains more than one statement',
  );
});

test('it needs an open database that is not in use (C-8.6)', (t) => {
  const db = open(t);
  const rows = db.prepare('select 1').iterate();
  throwsBusy(() => db.pragma('cache_size'));
  throwsLike(() => db.pragma(5), TypeError, 'Expected first argument to be a string');
  throwsLike(() => db.pragma('cache_size', 5), TypeError, 'Expected second argument to be an options object');
  rows.return();
  db.pragma('cache_size');
  db.close();
  throwsOpen(() => db.pragma('cache_size'));
  throwsLike(() => db.pragma('cache_size', { simple: 1 }), TypeError, 'Expected the "simple" option to be a boolean');
});

test('numbers follow the default of the connection for safe integers (C-8.7)', (t) => {
  const db = open(t).defaultSafeIntegers();
  assert.deepEqual(db.pragma('cache_size'), [{ cache_size: -16000n }]);
  db.defaultSafeIntegers(false);
  assert.equal(db.pragma('cache_size', { simple: true }), -16000);
});

test('settings are in force at once (C-8.8)', (t) => {
  const db = openFile(t);
  db.pragma('cache_size = -8000');
  assert.equal(db.pragma('cache_size', { simple: true }), -8000);
  assert.equal(db.pragma('journal_mode', { simple: true }), 'delete');
  db.pragma('journal_mode = wal');
  assert.equal(db.pragma('journal_mode', { simple: true }), 'wal');
});

test('a read-only connection can tune itself but not change the file (C-8.9)', (t) => {
  const db = open(t, openFile(t).exec('CREATE TABLE t (x)').name, { readonly: true });
  db.pragma('cache_size = -4000');
  assert.equal(db.pragma('cache_size', { simple: true }), -4000);
  throwsLike(() => db.pragma('journal_mode = wal'), SqliteError, 'attempt to write a readonly database', 'SQLITE_READONLY');
  assert.equal(db.pragma('journal_mode', { simple: true }), 'delete');
});

const DEFAULTS = {
  application_id: 0,
  auto_vacuum: 0,
  automatic_index: 1,
  busy_timeout: 5000,
  cache_size: -16000,
  cell_size_check: 0,
  checkpoint_fullfsync: 0,
  count_changes: 0,
  defer_foreign_keys: 0,
  encoding: 'UTF-8',
  foreign_keys: 1,
  full_column_names: 0,
  fullfsync: 0,
  ignore_check_constraints: 0,
  journal_mode: 'delete',
  journal_size_limit: -1,
  legacy_alter_table: 0,
  locking_mode: 'normal',
  max_page_count: 4294967294,
  mmap_size: 0,
  page_size: 4096,
  query_only: 0,
  read_uncommitted: 0,
  recursive_triggers: 0,
  reverse_unordered_selects: 0,
  secure_delete: 0,
  short_column_names: 1,
  synchronous: 2,
  temp_store: 0,
  threads: 0,
  trusted_schema: 1,
  user_version: 0,
  wal_autocheckpoint: 1000,
  writable_schema: 0,
};

test('a fresh file database has these settings (C-33.5)', (t) => {
  const db = openFile(t);
  const seen = Object.fromEntries(Object.keys(DEFAULTS).map((name) => [name, db.pragma(name, { simple: true })]));
  assert.deepEqual(seen, DEFAULTS);
  assert.ok(db.pragma('cache_spill', { simple: true }) > 0);
  assert.deepEqual(db.pragma('busy_timeout'), [{ timeout: 5000 }]);
});

test('a database that is in WAL mode when opened has synchronous NORMAL (C-33.5)', (t) => {
  const db = openFile(t);
  db.pragma('journal_mode = wal');
  assert.equal(db.pragma('synchronous', { simple: true }), 2);
  db.exec('CREATE TABLE t (x)').close();
  const again = open(t, db.name);
  again.prepare('select * from t').all();
  assert.equal(again.pragma('synchronous', { simple: true }), 1);
});

const COMPILE_OPTIONS = `
  ATOMIC_INTRINSICS=1 DEFAULT_AUTOVACUUM DEFAULT_CACHE_SIZE=-16000 DEFAULT_FILE_FORMAT=4 DEFAULT_FOREIGN_KEYS
  DEFAULT_JOURNAL_SIZE_LIMIT=-1 DEFAULT_MEMSTATUS=0 DEFAULT_MMAP_SIZE=0 DEFAULT_PAGE_SIZE=4096 DEFAULT_PCACHE_INITSZ=20
  DEFAULT_RECURSIVE_TRIGGERS DEFAULT_SECTOR_SIZE=4096 DEFAULT_SYNCHRONOUS=2 DEFAULT_WAL_AUTOCHECKPOINT=1000
  DEFAULT_WAL_SYNCHRONOUS=1 DEFAULT_WORKER_THREADS=0 DIRECT_OVERFLOW_READ DQS=0 ENABLE_COLUMN_METADATA
  ENABLE_DBSTAT_VTAB ENABLE_FTS3 ENABLE_FTS3_PARENTHESIS ENABLE_FTS4 ENABLE_FTS5 ENABLE_GEOPOLY ENABLE_MATH_FUNCTIONS
  ENABLE_PERCENTILE ENABLE_RTREE ENABLE_STAT4 ENABLE_UPDATE_DELETE_LIMIT LIKE_DOESNT_MATCH_BLOBS MALLOC_SOFT_LIMIT=1024
  MAX_ATTACHED=10 MAX_COLUMN=2000 MAX_COMPOUND_SELECT=500 MAX_DEFAULT_PAGE_SIZE=8192 MAX_EXPR_DEPTH=1000
  MAX_FUNCTION_ARG=1000 MAX_LENGTH=1000000000 MAX_LIKE_PATTERN_LENGTH=50000 MAX_MMAP_SIZE=0x7fff0000
  MAX_PAGE_COUNT=0xfffffffe MAX_PAGE_SIZE=65536 MAX_SQL_LENGTH=1000000000 MAX_TRIGGER_DEPTH=1000
  MAX_VARIABLE_NUMBER=32766 MAX_VDBE_OP=250000000 MAX_WORKER_THREADS=8 MUTEX_PTHREADS OMIT_DEPRECATED
  OMIT_PROGRESS_CALLBACK OMIT_SHARED_CACHE OMIT_TCL_VARIABLE SOUNDEX SYSTEM_MALLOC TEMP_STORE=1 THREADSAFE=2`
  .trim().split(/\s+/);

const otherMutexes = process.platform === 'win32' && 'Windows has other mutexes than the list names';

test('the compile options of the replaced package are in force (C-33.2, C-33.3, C-33.8)', { skip: otherMutexes }, (t) => {
  const seen = open(t).prepare('PRAGMA compile_options').pluck().all();
  assert.deepEqual(COMPILE_OPTIONS.filter((option) => !seen.includes(option)), []);
});

test('retired pragmas answer nothing (C-33.6)', (t) => {
  const db = openFile(t);
  for (const name of ['default_cache_size', 'data_store_directory', 'case_sensitive_like', 'vdbe_trace', 'stats',
    'legacy_file_format', 'lock_proxy_file']) {
    assert.deepEqual(db.pragma(name), [], name);
  }
  const listed = db.pragma('pragma_list').map((row) => row.name);
  for (const name of Object.keys(DEFAULTS)) assert.ok(listed.includes(name), name);
  assert.ok(isPeer ? listed.length === 65 : listed.length >= 65);
});

test('full_column_names changes column names (C-33.6)', (t) => {
  const db = open(t).exec('CREATE TABLE t (x); INSERT INTO t VALUES (1)');
  db.pragma('short_column_names = 0');
  db.pragma('full_column_names = 1');
  assert.deepEqual(db.prepare('select x from t').get(), { 't.x': 1 });
});
