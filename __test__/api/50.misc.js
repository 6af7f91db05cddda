'use strict';

// The SQLite build: features, limits and defaults that users meet in their SQL (C-33), and figures
// in large numbers.

const test = require('node:test');
const assert = require('node:assert/strict');
const { SqliteError, isPeer, open, openFile, throwsLike } = require('../support/database.js');

const fails = (fn, message, code = 'SQLITE_ERROR') => throwsLike(fn, SqliteError, message, code);

test('the version is that of this package (C-33.1)', (t) => {
  const version = open(t).prepare('select sqlite_version()').pluck().get();
  const [major, minor] = version.split('.').map(Number);
  assert.ok(major === 3 && (isPeer ? minor === 53 : minor >= 53), version);
});

const RESULTS = [
  ['sqrt(16)', 4], ['round(pi(), 5)', 3.14159], ['ln(1)', 0], ['log2(8)', 3], ['ceil(1.2)', 2], ['trunc(1.8)', 1],
  ['mod(7, 4)', 3], ['degrees(0)', 0], ['median(column1) from (values (1), (2), (9))', 2],
  ['percentile(column1, 50) from (values (1), (2), (9))', 2], ['percentile_cont(column1, 0.5) from (values (1), (2))', 1.5],
  ['percentile_disc(column1, 0.5) from (values (1), (2))', 1], [`'{"a":[1,2]}' -> '$.a'`, '[1,2]'], [`'{"a":5}' ->> 'a'`, 5],
  [`json(jsonb('{"a":1}'))`, '{"a":1}'], [`sum(value) from json_each('[1,2,3]')`, 6], [`count(*) from json_tree('{"a":[1]}')`, 3],
  ["soundex('robert')", 'R163'], ["concat('a', 1, null, 'b')", 'a1b'], ["string_agg(column1, '-') from (values ('a'), ('b'))", 'a-b'],
  ["unistr('\\0041')", 'A'], ['if(1, 2, 3)', 2], ["octet_length('ä')", 2],
  ["timediff('2024-01-02', '2024-01-01')", '+0000-00-01 00:00:00.000'],
  ["sqlite_compileoption_used('ENABLE_FTS5')", 1],
  ["x'61' like 'a'", 0], ["x'61' glob 'a'", 0], ["'A' like 'a'", 1], ["'Ä' like 'ä'", 0],
];
for (const [expression, expected] of RESULTS) {
  test(`select ${expression} is ${JSON.stringify(expected)} (C-33.4)`, (t) => {
    assert.deepEqual(open(t).prepare(`select ${expression}`).pluck().get(), expected);
  });
}

test('unhex gives a blob (C-33.4)', (t) => {
  assert.deepEqual(open(t).prepare("select unhex('6162')").pluck().get(), Buffer.from('ab'));
});

const tokenizers = ['trigram', 'unicode61', 'porter'].map((name) => `fts5(a, tokenize = ${name})`);
for (const module of ['fts3', 'fts4', 'fts5', ...tokenizers]) {
  test(`full text search: ${module} (C-33.4)`, (t) => {
    const db = open(t).exec(`CREATE VIRTUAL TABLE v USING ${module.includes('(') ? module : `${module}(a)`}`);
    db.exec("INSERT INTO v VALUES ('the quick brown fox'), ('a lazy dog')");
    assert.deepEqual(db.prepare("select a from v where v match 'quick'").pluck().all(), ['the quick brown fox']);
  });
}

test('FTS3 understands parentheses (C-33.4)', (t) => {
  const db = open(t).exec("CREATE VIRTUAL TABLE v USING fts3(a); INSERT INTO v VALUES ('one two'), ('one three'), ('two three')");
  assert.equal(db.prepare("select count(*) from v where v match 'one AND (two OR three)'").pluck().get(), 2);
});

test('R-Tree, geopoly and dbstat are there (C-33.4)', (t) => {
  const db = openFile(t).exec('CREATE VIRTUAL TABLE r USING rtree(id, x0, x1); CREATE VIRTUAL TABLE g USING geopoly(a)');
  db.exec('INSERT INTO r VALUES (1, 0, 5), (2, 7, 9)');
  assert.deepEqual(db.prepare('select id from r where x0 > 5').pluck().all(), [2]);
  db.exec("INSERT INTO g (_shape) VALUES ('[[0,0],[1,0],[1,1],[0,0]]')");
  assert.equal(db.prepare('select geopoly_area(_shape) from g').pluck().get(), 0.5);
  assert.ok(db.prepare('select count(*) from dbstat').pluck().get() > 0);
});

test('ANALYZE keeps samples: STAT4 (C-33.4)', (t) => {
  const db = open(t).exec('CREATE TABLE t (x); CREATE INDEX i ON t (x)');
  db.exec('INSERT INTO t SELECT value FROM json_each(\'[1,2,3,4,5]\'); ANALYZE');
  assert.ok(db.prepare('select count(*) from sqlite_stat4').pluck().get() > 0);
});

test('newer SQL is there (C-33.4)', (t) => {
  const db = openFile(t).exec(`
    CREATE TABLE s (a INTEGER PRIMARY KEY, b TEXT, c INTEGER GENERATED ALWAYS AS (a * 2)) STRICT, WITHOUT ROWID`);
  db.exec("INSERT INTO s (a, b) VALUES (1, 'x')");
  const upsert = "INSERT INTO s (a, b) VALUES (1, 'x') ON CONFLICT DO UPDATE SET b = 'y' RETURNING b, c";
  assert.deepEqual(db.prepare(upsert).get(), { b: 'y', c: 2 });
  assert.equal(db.prepare('select count(*) from (select 1 as x) a right join (select 2 as x) b on a.x = b.x').pluck().get(), 1);
  assert.deepEqual(db.prepare('select row_number() over (order by column1 desc) from (values (1), (2))').pluck().all(), [1, 2]);
  db.exec('ALTER TABLE s DROP COLUMN c');
  const copy = `${db.name}.copy`;
  db.prepare('VACUUM INTO ?').run(copy);
  assert.deepEqual(open(t, copy).prepare('select * from s').get(), { a: 1, b: 'y' });
});

const ABSENT_TABLES = ['bytecode', 'tables_used', 'sqlite_stmt', 'sqlite_dbpage', 'generate_series', 'carray', 'fsdir'];
for (const name of ABSENT_TABLES) {
  test(`table ${name} is absent (C-33.4)`, (t) => {
    fails(() => open(t).prepare(`select * from ${name}`), `no such table: ${name}`);
  });
}

for (const name of ['decimal_add', 'ieee754', 'sha1', 'sha3', 'regexp', 'uuid', 'base64', 'readfile', 'zipfile', 'sqlite_offset']) {
  test(`function ${name} is absent (C-33.4)`, (t) => {
    fails(() => open(t).prepare(`select ${name}(1)`), `no such function: ${name}`);
  });
}

test('REGEXP has no function behind it (C-33.4)', (t) => {
  fails(() => open(t).prepare("select 'a' regexp 'a'"), 'no such function: regexp');
});

test('what could harm is refused (C-33.4)', (t) => {
  const db = open(t);
  fails(() => db.prepare("select load_extension('x')").get(), 'not authorized');
  fails(() => db.prepare("select fts3_tokenizer('simple', x'00')").get(), 'fts3tokenize disabled');
  assert.equal(db.prepare("select fts3_tokenizer('simple')").all().length, 1);
});

test('double quotes make no strings in DML and DDL, but in a DEFAULT (C-33.4)', (t) => {
  const db = open(t).exec('CREATE TABLE t (x DEFAULT "text", y)');
  db.exec('INSERT INTO t (y) VALUES (1)');
  assert.equal(db.prepare('select x from t').pluck().get(), 'text');
  assert.throws(() => db.exec('INSERT INTO t (y) VALUES ("text")'), SqliteError);
  assert.throws(() => db.exec('CREATE INDEX i ON t ("text")'), SqliteError);
});

test('Tcl variables are not known (C-33.4, C-17.3)', (t) => {
  fails(() => open(t).prepare('select $a::b'), 'unrecognized token: ":"');
});

test('limits are those of the replaced package (C-33.7)', (t) => {
  const db = open(t);
  const list = (count, item, glue) => Array(count).fill(item).join(glue);
  for (let n = 0; n < 10; n += 1) db.exec(`ATTACH ':memory:' AS a${n}`);
  fails(() => db.exec("ATTACH ':memory:' AS a10"), 'too many attached databases - max 10');
  assert.equal(db.prepare(list(500, 'select 1', ' union all ')).all().length, 500);
  fails(() => db.prepare(list(501, 'select 1', ' union all ')), 'too many terms in compound SELECT');
  fails(() => db.prepare(`select ${list(1001, '1', '+')}`), 'Expression tree is too large (maximum depth 1000)');
  fails(() => db.prepare(`select ${list(2001, '1', ',')}`), 'too many columns in result set');
  assert.equal(db.prepare(`select concat(${list(1000, '1', ',')})`).pluck().get().length, 1000);
  fails(() => db.prepare(`select concat(${list(1001, '1', ',')})`), 'too many arguments on function concat');
  assert.equal(db.prepare('select 1 like ?').pluck().get('x'.repeat(50000)), 0);
  fails(() => db.prepare('select 1 like ?').get('x'.repeat(50001)), 'LIKE or GLOB pattern too complex');
});

test('foreign keys are enforced, and the switch does nothing inside a transaction (C-33.9)', (t) => {
  const db = open(t).exec('CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (id REFERENCES p)');
  fails(() => db.exec('INSERT INTO c VALUES (1)'), 'FOREIGN KEY constraint failed', 'SQLITE_CONSTRAINT_FOREIGNKEY');
  db.exec('BEGIN; PRAGMA foreign_keys = 0');
  assert.equal(db.pragma('foreign_keys', { simple: true }), 1);
  db.exec('COMMIT; PRAGMA foreign_keys = 0; INSERT INTO c VALUES (1)');
});

test('collations and modules are those of the build (C-33.4)', (t) => {
  const db = open(t);
  assert.deepEqual(db.pragma('collation_list').map((row) => row.name).sort(), ['BINARY', 'NOCASE', 'RTRIM']);
  const modules = db.prepare('select name from pragma_module_list').pluck().all();
  assert.deepEqual(modules.filter((name) => !/^(pragma_|json_|jsonb_)/.test(name)).sort(), [
    'dbstat', 'fts3', 'fts3tokenize', 'fts4', 'fts4aux', 'fts5', 'fts5vocab', 'geopoly', 'rtree', 'rtree_i32',
  ]);
});

test('thousands of numbers come back exactly', (t) => {
  const db = open(t).exec('CREATE TABLE t (id INTEGER PRIMARY KEY, r REAL, n)');
  const insert = db.prepare('INSERT INTO t (r, n) VALUES (?, ?)');
  let seed = 42;
  const next = () => (seed = (seed * 1103515245 + 12345) % 2147483648) / 7919;
  const numbers = Array.from({ length: 3000 }, next);
  db.transaction(() => numbers.forEach((number, index) => {
    assert.deepEqual(insert.run(number, -number), { changes: 1, lastInsertRowid: index + 1 });
  }))();
  assert.deepEqual(db.prepare('select r from t order by id').pluck().all(), numbers);
  assert.deepEqual(db.prepare('select n from t order by id').pluck().all(), numbers.map((number) => -number));
});
