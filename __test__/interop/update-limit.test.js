'use strict';

// UPDATE and DELETE with ORDER BY and LIMIT: every statement answers the same, leaves the same rows
// and fails with the same error in both packages, and so do texts that merely look like the clause.

const test = require('node:test');
const assert = require('node:assert/strict');
const { open, openFile } = require('../support/database.js');
const { shared } = require('./processes.js');
const { seededRandom } = require('./random.js');

const processOf = shared();

const SETUP = `
  CREATE TABLE r (a INTEGER, b TEXT, c INTEGER);
  CREATE INDEX rc ON r (c);
  CREATE TABLE named (rowid TEXT, _rowid_ TEXT, oid TEXT, a INTEGER, c INTEGER);
  CREATE TABLE k (id INTEGER PRIMARY KEY, a INTEGER, c INTEGER);
  CREATE TABLE w1 (id TEXT PRIMARY KEY, a INTEGER, c INTEGER) WITHOUT ROWID;
  CREATE TABLE w2 (x INTEGER, y TEXT, a INTEGER, c INTEGER, PRIMARY KEY (y, x)) WITHOUT ROWID;
  CREATE TABLE f (n INTEGER, label TEXT);
  CREATE TABLE "order" ("limit" INTEGER, "returning" INTEGER);
  CREATE VIRTUAL TABLE text USING fts5(body);
  CREATE TABLE log (what TEXT);
  CREATE VIEW v AS SELECT a, c FROM k;
  CREATE TRIGGER vd INSTEAD OF DELETE ON v BEGIN INSERT INTO log VALUES ('d' || old.a); DELETE FROM k WHERE a = old.a; END;
  CREATE TRIGGER vu INSTEAD OF UPDATE ON v BEGIN INSERT INTO log VALUES ('u' || old.a || new.a); END;
  WITH n(i) AS (VALUES (1), (2), (3), (4), (5), (6), (7), (8))
  INSERT INTO r SELECT i, 'b' || i, (i * 5) % 8 FROM n;
  INSERT INTO named SELECT 'same', 'same', 'same', a, c FROM r;
  INSERT INTO k SELECT a * 10, a, c FROM r;
  INSERT INTO w1 SELECT 'id' || a, a, c FROM r;
  INSERT INTO w2 SELECT a % 3, 'y' || a, a, c FROM r;
  INSERT INTO f SELECT a, 'f' || a FROM r WHERE a % 2;
  INSERT INTO "order" SELECT a, c FROM r;
  INSERT INTO text SELECT 'word ' || b FROM r;`;
const TABLES = ['r', 'named', 'k', 'w1', 'w2', '"order"', 'text', 'log'];

const STATEMENTS = [
  ...['r', 'k', 'w1', 'w2', 'main.r', 'r AS z', 'named', 'text', 'v', 'w2 AS z'].flatMap((table) => [
    [`DELETE FROM ${table} LIMIT 0`],
    [`DELETE FROM ${table} ORDER BY 1 LIMIT 100`],
    [`DELETE FROM ${table} LIMIT 2 OFFSET 1`],
  ]),
  ...['r', 'k', 'w1', 'w2', 'main.w2', 'k AS z', 'named', 'v'].flatMap((table) => [
    [`DELETE FROM ${table} ORDER BY c LIMIT 3`],
    [`DELETE FROM ${table} WHERE a > ? ORDER BY c DESC LIMIT ? OFFSET ?`, 2, 2, 1],
    [`DELETE FROM ${table} WHERE a > 1 ORDER BY c LIMIT 1, 2`],
    [`UPDATE ${table} SET a = a + 100 ORDER BY c LIMIT 3`],
    [`UPDATE ${table} SET a = ? WHERE a < ? ORDER BY c * ? LIMIT ?`, 99, 6, -1, 2],
    [`UPDATE ${table} SET a = 50 ORDER BY c DESC LIMIT 2`],
    [`UPDATE ${table} SET (a, c) = (SELECT 7, 70) ORDER BY c LIMIT (SELECT 2)`],
  ]),
  ['DELETE FROM v AS z ORDER BY z.c LIMIT 2'],
  ['DELETE FROM v RETURNING a ORDER BY c LIMIT 2'],
  ['DELETE FROM r RETURNING a, b ORDER BY c LIMIT 2'],
  ['DELETE FROM r WHERE a <> ?1 RETURNING *, ?2, ? ORDER BY c + ? LIMIT ?', 3, 'two', 'three', 4, 2],
  ['DELETE FROM r WHERE a <> :no RETURNING a + :add ORDER BY c * @sign LIMIT $count', { no: 3, add: 5, sign: -1, count: 2 }],
  ['DELETE FROM r WHERE a <> :no LIMIT :count OFFSET :missing', { no: 3, count: 2 }],
  ['DELETE FROM r LIMIT ?', 1, 2],
  ['UPDATE w2 SET a = a + 1 RETURNING x, y, a ORDER BY c LIMIT 3'],
  ['UPDATE r SET b = ? WHERE c > ? RETURNING a, ? ORDER BY a DESC LIMIT ?', 'new', 1, 'column', 2],
  ['UPDATE OR IGNORE k SET id = 20 ORDER BY a LIMIT 3'],
  ['UPDATE OR REPLACE k SET id = 20 ORDER BY a LIMIT 1'],
  ['UPDATE k SET id = id + 1 ORDER BY a LIMIT 4'],
  ['UPDATE w1 SET id = id || a ORDER BY c DESC LIMIT 4'],
  ['UPDATE r SET b = f.label FROM f WHERE f.n = r.a ORDER BY r.c LIMIT 2'],
  ['UPDATE r SET b = label FROM f WHERE n = a ORDER BY n DESC LIMIT 2 OFFSET 1'],
  ['UPDATE w2 SET a = f.n + ? FROM f WHERE f.n = w2.a ORDER BY c LIMIT ?', 10, 3],
  ['UPDATE k SET a = q.n FROM f q JOIN r ON r.a = q.n WHERE k.a = r.a RETURNING id, a ORDER BY k.c LIMIT 3'],
  ['UPDATE r SET b = 1 FROM f ORDER BY 1'],
  ['WITH big AS (SELECT a FROM r WHERE a > 3 ORDER BY a LIMIT 3) DELETE FROM r WHERE a IN big ORDER BY c LIMIT 2'],
  ['WITH big(n) AS (VALUES (?)), small AS (SELECT 1) UPDATE k SET a = 0 WHERE a > (SELECT n FROM big) ORDER BY c LIMIT ?', 3, 2],
  ['WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 4) DELETE FROM w1 WHERE a IN n ORDER BY c LIMIT 3'],
  ['WITH r AS (SELECT 1 AS a, 2 AS c) DELETE FROM r ORDER BY c LIMIT 1'],
  ['WITH "update" AS (SELECT 3 AS x) DELETE FROM r WHERE a = (SELECT x FROM "update") LIMIT 1'],
  ['DELETE FROM r INDEXED BY rc WHERE c > 1 ORDER BY c LIMIT 2'],
  ['DELETE FROM r NOT INDEXED WHERE c > 1 ORDER BY c LIMIT 2'],
  ['UPDATE r INDEXED BY rc SET b = 0 WHERE c > 1 ORDER BY c LIMIT 2'],
  ['DELETE FROM r INDEXED BY none ORDER BY c LIMIT 2'],
  ['DELETE FROM "order" ORDER BY "limit" LIMIT 2'],
  ['DELETE FROM "order" RETURNING "returning" ORDER BY "returning" DESC LIMIT 2'],
  ['DELETE FROM text WHERE text MATCH ? ORDER BY rank LIMIT ?', 'word', 3],
  ['DELETE FROM r WHERE a IN (SELECT a FROM k ORDER BY c LIMIT 4) ORDER BY c LIMIT 2'],
  ['DELETE FROM r ORDER BY (SELECT count(*) FROM k WHERE k.a < r.a) DESC, b COLLATE NOCASE LIMIT 2'],
  ['DELETE FROM r ORDER BY c DESC NULLS LAST LIMIT max(1, 2) + 1'],
  ['DELETE FROM r ORDER BY row_number() OVER (ORDER BY c) LIMIT 2'],
  ['DELETE FROM r ORDER BY random() LIMIT -1'],
  ['DELETE FROM r /* ORDER BY */ ORDER -- LIMIT\n BY c /* ; */ LIMIT 1 ; -- end'],
  [' ; ;DELETE FROM r LIMIT 1;;'],
  ['EXPLAIN QUERY PLAN DELETE FROM none LIMIT 1'],
  // Errors, and where they point to.
  ['DELETE FROM r ORDER BY c'],
  ['UPDATE r SET a = 1 ORDER BY c'],
  ['UPDATE r SET a = 1 RETURNING a ORDER BY c'],
  ['DELETE FROM r ORDER BY none LIMIT 1'],
  ['DELETE FROM r WHERE none ORDER BY c LIMIT 1'],
  ['DELETE FROM r LIMIT none'],
  ['DELETE FROM r LIMIT a'],
  ['DELETE FROM r LIMIT \'x\''],
  ['DELETE FROM none ORDER BY c LIMIT 1'],
  ['DELETE FROM v2 LIMIT 1'],
  ['DELETE FROM r ORDER'], ['DELETE FROM r ORDER BY'], ['DELETE FROM r LIMIT'], ['DELETE FROM r LIMIT;'], ['DELETE FROM r LIMIT 1 OFFSET'],
  ['DELETE FROM r ORDER BY c;'], ['DELETE FROM ORDER BY c LIMIT 1'], ['DELETE FROM r WHERE ORDER BY c LIMIT 1'],
  ['DELETE FROM r RETURNING ORDER BY c LIMIT 1'], ['DELETE FROM r RETURNING a, LIMIT 1'], ['UPDATE r ORDER BY c LIMIT 1'],
  ['UPDATE r SET LIMIT 1'], ['UPDATE r SET a = LIMIT 1'],
  ['DELETE FROM r LIMIT 1)'], ['DELETE FROM r LIMIT 1), (SELECT 2'], ['DELETE FROM r LIMIT 1, 2, 3'], ['DELETE FROM r LIMIT (1'],
  ['DELETE FROM r LIMIT 1 UNION SELECT 2'], ['DELETE FROM r ORDER BY c UNION SELECT 2 LIMIT 1'], ['DELETE FROM r LIMIT 1 EXCEPT VALUES (1)'],
  ['DELETE FROM r LIMIT 1 RETURNING a'], ['DELETE FROM r LIMIT 1 WHERE a = 1'], ['DELETE FROM r LIMIT 1 ORDER BY c'],
  ['DELETE FROM r ORDER BY c WHERE a = 1 LIMIT 1'], ['DELETE FROM r LIMIT 1 LIMIT 1'], ['DELETE FROM r LIMIT 1 FROM f'], ['DELETE FROM r LIMIT 1 AS x'],
  ['DELETE FROM r LIMIT 1; DELETE FROM k LIMIT 1'],
  ['DELETE FROM r LIMIT 1 #'],
  // Other statements, which keep their meaning and their errors.
  ['INSERT INTO r SELECT a, a, a FROM k ORDER BY c LIMIT 2'],
  ['INSERT INTO k VALUES (10, 1, 1) ON CONFLICT DO UPDATE SET a = 77 RETURNING a, c'],
  ['INSERT INTO k VALUES (10, 1, 1) ON CONFLICT DO UPDATE SET a = 77 ORDER BY a LIMIT 1'],
  ['INSERT INTO k SELECT 10, 1, 1 FROM f WHERE true ON CONFLICT DO UPDATE SET a = 77 LIMIT 1'],
  ['WITH replace AS (SELECT 1 AS x) REPLACE INTO k SELECT 10, x, x FROM replace ORDER BY x LIMIT 1'],
  ['WITH x AS (SELECT a FROM r ORDER BY a LIMIT 2) SELECT * FROM x ORDER BY a DESC LIMIT 1'],
  ['CREATE TRIGGER t AFTER INSERT ON r BEGIN DELETE FROM k LIMIT 1; END'],
  ['CREATE TRIGGER t AFTER INSERT ON r BEGIN UPDATE k SET a = 1 ORDER BY c LIMIT 1; END'],
  ['CREATE TRIGGER t AFTER UPDATE OF a ON r BEGIN DELETE FROM k WHERE a IN (SELECT a FROM k ORDER BY c LIMIT 1); END'],
  ['CREATE VIEW v3 AS DELETE FROM k LIMIT 1'],
  ['SELECT 1 UNION DELETE FROM k LIMIT 1'],
  ['VALUES (1) LIMIT 1'],
  ['DELETE FROM r RETURNING a, (SELECT NULL ORDER BY a LIMIT 1)'],
  ['DELETE FROM r WHERE a = 1 RETURNING (SELECT c FROM k ORDER BY c LIMIT 1)'],
];

async function compare(t, statements) {
  const dump = TABLES.map((table) => `SELECT * FROM ${table}`);
  const [ours, peers] = await Promise.all(['ours', 'peer'].map(async (side) => {
    const db = await (await processOf(side)).open(':memory:');
    const answers = await db.work('tryEach', SETUP, dump, statements);
    await db.close();
    return answers;
  }));
  statements.forEach((statement, at) => {
    assert.deepEqual(ours[at], peers[at], `${JSON.stringify(statement)}`);
  });
  return ours;
}

test('ORDER BY and LIMIT of UPDATE and DELETE do the same in both packages', async (t) => {
  const answers = await compare(t, STATEMENTS);
  const done = answers.filter((answer) => !answer.error).length;
  assert.ok(done > 90 && answers.length - done > 40, `${done} of ${answers.length} ran`);
});

test('random UPDATE and DELETE with the clause do the same in both packages', async (t) => {
  const { random, seed } = seededRandom();
  t.diagnostic(`SEALITE_TEST_SEED=${seed}`);
  const answers = await compare(t, Array.from({ length: 400 }, () => randomStatement(random)));
  assert.ok(answers.filter((answer) => !answer.error).length > 200);
});

function randomStatement(random) {
  // A choice may be a function: only the chosen one adds to the arguments.
  const pick = (...choices) => {
    const choice = choices[Math.floor(random() * choices.length)];
    return typeof choice === 'function' ? choice() : choice;
  };
  const args = [];
  const value = (number) => (random() < 0.5 ? (args.push(number), '?') : String(number));
  const number = () => value(Math.floor(random() * 9));
  const table = pick('r', 'k', 'w1', 'w2', 'named');
  const parts = [pick('', '', () => `WITH q(n) AS (SELECT ${number()} UNION SELECT a FROM f, r ORDER BY 1 LIMIT ${number()})`)];
  const from = pick('', '', ' FROM f');
  const isUpdate = random() < 0.5;
  parts.push(isUpdate ? `UPDATE ${table} SET a = ${table}.a + ${number()}${from}` : `DELETE FROM ${table}`);
  const join = isUpdate && from ? `f.n = ${table}.a` : '';
  const condition = pick('', () => `${table}.a > ${number()}`, () => `c % 3 < ${number()}`, parts[0] ? `${table}.a IN (SELECT n FROM q)` : '');
  const where = [join, condition].filter(Boolean).join(' AND ');
  if (where) parts.push(`WHERE ${where}`);
  // With FROM the order in which rows change, and so are returned, is the planner's.
  if (!join) parts.push(pick('', '', () => `RETURNING a + ${number()} AS x`));
  parts.push(pick(`ORDER BY c ${pick('', 'DESC')}, ${table}.a`, () => `ORDER BY ${table}.a * ${number()}, c`));
  parts.push(`LIMIT ${number()}${random() < 0.3 ? ` OFFSET ${number()}` : ''}`);
  return [parts.filter(Boolean).join(' '), ...args];
}

test('exec runs the clause too, and a changed schema compiles it again', (t) => {
  const db = open(t).exec('CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), (3), (4); DELETE FROM t ORDER BY a DESC LIMIT 1; SELECT 1');
  const left = () => db.prepare('SELECT a FROM t').pluck().all();
  assert.deepEqual(left(), [1, 2, 3]);
  const statement = db.prepare('DELETE FROM t WHERE a < ? ORDER BY a LIMIT ?');
  statement.run(9, 1);
  db.exec('ALTER TABLE t ADD COLUMN b; CREATE INDEX i ON t (a DESC)');
  statement.run(9, 1);
  assert.deepEqual(left(), [3]);
});

test('verbose shows the statement as it was written, with its values', (t) => {
  const seen = [];
  const db = openFile(t, { verbose: (sql) => seen.push(sql) });
  db.exec('CREATE TABLE t (a)');
  db.prepare('UPDATE t SET a = ? WHERE a > ? RETURNING a ORDER BY a LIMIT ?').all(1, 2, 3);
  assert.equal(seen.at(-1), 'UPDATE t SET a = 1.0 WHERE a > 2.0 RETURNING a ORDER BY a LIMIT 3.0');
});
