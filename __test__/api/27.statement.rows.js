'use strict';

// How rows reach JavaScript, in each of the ways the native side has: one by one, in loops, by
// generated code (a statement earns these with its rows), read ahead by iterators. What rows look like
// is in 21.statement.get.js and 22.statement.all.js.

const test = require('node:test');
const assert = require('node:assert/strict');
const path = require('node:path');
const { spawnSync } = require('node:child_process');
const { Worker } = require('node:worker_threads');
const { isPeer, open, throwsLike } = require('../support/database.js');
const { collect } = require('../support/gc');

const ENTRY = path.join(__dirname, '..', '..', 'index.js');

// As many rows as make a statement earn the next way, and more than one batch.
const COUNTS = [1, 2, 3, 201, 1030];

const OVERFLOW = { name: 'SqliteError', code: 'SQLITE_ERROR', message: 'integer overflow' };

const VALUES = [
  ['null', 'NULL', null],
  ['a small integer', '-2147483648', -2147483648],
  ['an integer beyond 32 bits', '2147483648', 2147483648],
  ['an integer beyond 53 bits', '9223372036854775807', 9223372036854775807],
  ['a real', '1.5', 1.5],
  ['minus zero', '-0.0', -0],
  ['infinity', '9e999', Infinity],
  ['an empty text', "''", ''],
  ['a short text', "'short'", 'short'],
  ['a text that becomes a slice', "'longer than a dozen'", 'longer than a dozen'],
  ['Latin-1', "'Grüße, señor ÿ\u0080'", 'Grüße, señor ÿ\u0080'],
  ['text beyond Latin-1', "'Łódź € 日本 😀'", 'Łódź € 日本 😀'],
  ['a text with NUL', "CAST(x'610062' AS TEXT)", 'a\0b'],
  ['invalid UTF-8', "CAST(x'61ff62' AS TEXT)", 'a\ufffdb'],
  ['a cut character', "CAST(x'61c3' AS TEXT)", 'a\ufffd'],
  ['a lone surrogate', "CAST(x'eda080' AS TEXT)", '\ufffd\ufffd\ufffd'],
  ['256 characters', "printf('%.256c', 'x')", 'x'.repeat(256)],
  ['257 characters', "printf('%.257c', 'x')", 'x'.repeat(257)],
  ['200 characters of two bytes', "replace(printf('%.200c', 'x'), 'x', 'ü')", 'ü'.repeat(200)],
  ['a blob', "x'0001ff'", Buffer.from([0, 1, 255])],
  ['an empty blob', "x''", Buffer.alloc(0)],
];

const numbers = (count) => `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`;

// The rows of every way that gives many, one after another on the same statement.
function* results(statement) {
  for (let turn = 0; turn < 2; turn += 1) {
    yield statement.all();
    yield [...statement.iterate()];
  }
}

for (const [name, sql, value] of VALUES) {
  test(`${name} is the same in every way`, (t) => {
    const db = open(t);
    for (const count of COUNTS) {
      const query = `${numbers(count)} SELECT i, ${sql} AS v, 'end' AS e FROM n`;
      const flat = Array.from({ length: count }, (_, index) => ({ i: index + 1, v: value, e: 'end' }));
      for (const rows of results(db.prepare(query))) assert.deepEqual(rows, flat);
      for (const rows of results(db.prepare(query).raw())) assert.deepEqual(rows, flat.map(Object.values));
      const plucked = db.prepare(`${numbers(count)} SELECT ${sql}, i FROM n`).pluck();
      for (const rows of results(plucked)) assert.deepEqual(rows, flat.map((row) => row.v));
    }
    const one = db.prepare(`SELECT ${sql} AS v`);
    for (let turn = 0; turn < 20; turn += 1) assert.deepEqual(one.get(), { v: value });
  });
}

test('safe integers are bigints in every way (C-20.1)', (t) => {
  const db = open(t);
  for (const count of COUNTS) {
    const statement = db.prepare(`${numbers(count)} SELECT i, -9223372036854775808 AS low, 1.5 AS r FROM n`).safeIntegers();
    const expected = Array.from({ length: count }, (_, index) => ({ i: BigInt(index + 1), low: -(2n ** 63n), r: 1.5 }));
    for (const rows of results(statement)) assert.deepEqual(rows, expected);
  }
});

test('the mode of a statement may change between two runs', (t) => {
  const statement = open(t).prepare(`${numbers(300)} SELECT i, 'x' AS x FROM n`);
  for (let turn = 0; turn < 2; turn += 1) {
    assert.deepEqual(statement.raw().all()[299], [300, 'x']);
    assert.deepEqual(statement.expand().all()[299], { $: { i: 300, x: 'x' } });
    assert.deepEqual(statement.pluck().all()[299], 300);
    assert.deepEqual(statement.pluck(false).all()[299], { i: 300, x: 'x' });
  }
});

test('names that are special are own properties in every way', { skip: isPeer && 'it loses __proto__' }, (t) => {
  const names = ['__proto__', 'constructor', 'toString', 'a"b', 'new\nline', '\u2028', '', '1', 'ünï', 'same', 'same'];
  const db = open(t);
  for (const count of COUNTS) {
    const columns = names.map((name, at) => `i * ${at} AS "${name.replaceAll('"', '""')}"`);
    for (const rows of results(db.prepare(`${numbers(count)} SELECT ${columns} FROM n`))) {
      assert.equal(rows.length, count);
      assert.deepEqual(Object.keys(rows.at(-1)), ['1', ...names.slice(0, 7), 'ünï', 'same']);
      assert.equal(Object.getPrototypeOf(rows.at(-1)), Object.prototype);
      assert.equal(Object.getOwnPropertyDescriptor(rows.at(-1), '__proto__').value, 0);
      assert.equal(rows.at(-1).same, 10 * count);
    }
  }
});

for (const width of [1, 64, 65, 500, 1025]) {
  test(`rows of ${width} columns`, (t) => {
    const db = open(t);
    const values = Array.from({ length: width }, (_, at) => (at % 3 === 0 ? at : at % 3 === 1 ? `text number ${at}` : null));
    const columns = values.map((value, at) => `${typeof value === 'string' ? `'${value}'` : value} AS c${at}`);
    const row = Object.fromEntries(values.map((value, at) => [`c${at}`, value]));
    const query = `${numbers(250)} SELECT ${columns} FROM n`;
    for (const rows of results(db.prepare(query))) {
      assert.equal(rows.length, 250);
      for (const at of [0, 1, 2, 3, 249]) assert.deepEqual(rows[at], row);
    }
    for (const rows of results(db.prepare(query).raw())) assert.deepEqual(rows[249], values);
  });
}

test('setters on the prototypes do not see rows', (t) => {
  const db = open(t);
  const prepare = (count) => db.prepare(`${numbers(count)} SELECT i AS foo, 'text' AS bar FROM n`);
  let seen = 0;
  const trap = { set() { seen += 1; }, get() { return undefined; }, configurable: true };
  const hosts = [[Object.prototype, 'foo'], [Object.prototype, '1'], [Array.prototype, '0'], [Array.prototype, '2'], [Array.prototype, '250']];
  const statements = COUNTS.map((count) => [count, prepare(count), prepare(count).raw()]);
  const read = ([count, flat, raw]) => [count, flat.all(), raw.all(), flat.columns(), flat.get()];
  let kept;
  for (const [host, name] of hosts) Object.defineProperty(host, name, trap);
  try {
    const [a, b, c, d, e] = statements;
    kept = [read(a), read(b), read(c), read(d), read(e), read(a), read(d), read(e), read(e)];
  } finally {
    for (const [host, name] of hosts) delete host[name];
    Array.prototype.length = 0;
  }
  assert.equal(seen, 0);
  for (const [count, flat, raw, columns, row] of kept) {
    assert.deepEqual([Object.keys(flat).length, Object.keys(raw).length, Object.keys(columns).length], [count, count, 2]);
    assert.deepEqual([flat[count - 1], raw[count - 1]], [{ foo: count, bar: 'text' }, [count, 'text']]);
    assert.deepEqual(row, { foo: 1, bar: 'text' });
  }
});

test('methods that were put on the prototypes are not called', (t) => {
  const statement = open(t).prepare(`${numbers(300)} SELECT i, 'a text of some length' AS x FROM n`);
  const { substring, slice } = String.prototype;
  const { push } = Array.prototype;
  const fail = () => { throw new Error('called'); };
  String.prototype.substring = fail;
  String.prototype.slice = fail;
  Array.prototype.push = fail;
  let rows;
  try {
    rows = [statement.all(), statement.all()];
  } finally {
    Object.assign(String.prototype, { substring, slice });
    Array.prototype.push = push;
    for (const name of ['substring', 'slice']) Object.defineProperty(String.prototype, name, { enumerable: false });
    Object.defineProperty(Array.prototype, 'push', { enumerable: false });
  }
  assert.deepEqual(rows.map((all) => all[299]), [1, 2].map(() => ({ i: 300, x: 'a text of some length' })));
});

test('a million rows', (t) => {
  const db = open(t);
  const rows = db.prepare(`${numbers(1e6)} SELECT i, 'number ' || i AS t FROM n`).all();
  assert.equal(rows.length, 1e6);
  for (const at of [0, 1023, 1024, 65535, 65536, 999999]) assert.deepEqual(rows[at], { i: at + 1, t: `number ${at + 1}` });
  let count = 0;
  for (const i of db.prepare(`${numbers(1e5)} SELECT i FROM n`).pluck().iterate()) count += i;
  assert.equal(count, 5000050000);
});

test('texts of ten megabytes', (t) => {
  const db = open(t);
  const query = "SELECT replace(printf('%.10000000c', 'x'), 'x', ?) AS t, 'short' AS s UNION ALL SELECT 'a', 'b'";
  for (const letter of ['x', 'ü', '€']) {
    for (const rows of results(db.prepare(query).bind(letter))) {
      assert.equal(rows.length, 2);
      assert.ok(rows[0].t === letter.repeat(10000000) || rows[1].t === letter.repeat(10000000));
      assert.ok(rows.some((row) => row.t === 'a' && row.s === 'b'));
    }
  }
});

test('a slice keeps little alive', { skip: isPeer && 'it has no slices' }, (t) => {
  const db = open(t);
  const statement = db.prepare(`${numbers(2000)} SELECT i, 'a text of thirty characters, ' || i AS t FROM n`);
  statement.all();
  const kept = [];
  for (let turn = 0; turn < 200; turn += 1) kept.push(statement.all()[turn].t);
  collect();
  const before = process.memoryUsage().heapUsed;
  kept.length = 0;
  collect();
  // A batch has 4 KB of text; whole results would be 60 KB each.
  assert.ok(before - process.memoryUsage().heapUsed < 200 * 8192);
});

test('a function in the query may read other databases in every way', (t) => {
  const inner = open(t).prepare(`${numbers(300)} SELECT i, 'inner text number ' || i AS t, 1.5 AS r FROM n`);
  const db = open(t);
  db.function('other', (i) => {
    assert.deepEqual(inner.all()[i - 1], { i, t: `inner text number ${i}`, r: 1.5 });
    return [...inner.iterate()].length;
  });
  const statement = db.prepare(`${numbers(250)} SELECT 'outer text number ' || i AS t, other(i) AS o, 2.5 AS r FROM n`);
  const expected = Array.from({ length: 250 }, (_, at) => ({ t: `outer text number ${at + 1}`, o: 300, r: 2.5 }));
  for (const rows of results(statement)) assert.deepEqual(rows, expected);
});

test('a failure after many rows leaves the statement usable', (t) => {
  const db = open(t);
  const fails = db.prepare(`${numbers(2000)} SELECT i, CASE WHEN i = ? THEN abs(-9223372036854775808) ELSE 'text ' || i END AS t FROM n`);
  for (let turn = 0; turn < 3; turn += 1) {
    for (const at of [1, 2, 40, 1500]) assert.throws(() => fails.all(at), OVERFLOW);
    assert.equal(fails.all(0).length, 2000);
  }
});

test('it follows changes of the schema in every way (C-10.11)', (t) => {
  const db = open(t).exec(`CREATE TABLE t (a, b); INSERT INTO t ${numbers(300)} SELECT i, 'b' FROM n`);
  for (const count of [1, 300]) {
    const statement = db.prepare(`SELECT * FROM t LIMIT ${count}`);
    for (let turn = 0; turn < 3; turn += 1) {
      for (const rows of results(statement)) assert.deepEqual(Object.keys(rows.at(-1)), ['a', 'b']);
      db.exec('ALTER TABLE t RENAME COLUMN b TO c; ALTER TABLE t ADD COLUMN d');
      assert.deepEqual([...statement.iterate()].at(-1), { a: count, c: 'b', d: null });
      assert.deepEqual(statement.all().at(-1), { a: count, c: 'b', d: null });
      db.exec('ALTER TABLE t DROP COLUMN d; ALTER TABLE t RENAME COLUMN c TO b');
    }
  }
});

const SCRIPT = `
  const assert = require('node:assert/strict');
  const db = new (require(${JSON.stringify(ENTRY)}))(':memory:');
  const query = 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) SELECT i, NULL AS __proto__, "x" AS t FROM n'.replaceAll('"', "'");
  for (const mode of ['flat', 'raw', 'pluck']) {
    const statement = mode === 'flat' ? db.prepare(query) : db.prepare(query)[mode]();
    const last = { flat: JSON.parse('{"i":500,"__proto__":null,"t":"x"}'), raw: [500, null, 'x'], pluck: 500 }[mode];
    for (let turn = 0; turn < 3; turn += 1) {
      assert.deepEqual(statement.all().at(-1), last);
      assert.deepEqual([...statement.iterate()].at(-1), last);
      assert.notEqual(statement.get(), undefined);
    }
  }
`;

test('where code generation is forbidden rows are the same', { skip: isPeer && 'its rows have no __proto__' }, () => {
  for (const flags of [[], ['--disallow-code-generation-from-strings']]) {
    const child = spawnSync(process.execPath, [...flags, '-e', SCRIPT], { encoding: 'utf8' });
    assert.equal(child.status, 0, child.stderr);
  }
});

test('workers have memory of their own', { skip: isPeer && 'its rows have no __proto__' }, async () => {
  const run = () => new Promise((resolve, reject) => {
    new Worker(SCRIPT, { eval: true }).on('error', reject).on('exit', resolve);
  });
  assert.deepEqual(await Promise.all([run(), run(), run()]), [0, 0, 0]);
});

// Rows that an iterator reads ahead.

test('what a function does, it does at its row (C-13.13)', (t) => {
  const db = open(t);
  const seen = [];
  db.function('see', (i) => { seen.push(i); return i; });
  const rows = db.prepare(`${numbers(100)} SELECT see(i) AS i FROM n`).iterate();
  for (let i = 1; i <= 50; i += 1) {
    assert.deepEqual(rows.next(), { value: { i }, done: false });
    assert.equal(seen.length, i);
  }
  rows.return();
});

test('an iterator locks its statement until its last row was given and asked beyond (C-13.5)', (t) => {
  const db = open(t).exec('CREATE TABLE t (x)');
  const statement = db.prepare(`${numbers(20)} SELECT i FROM n`);
  const rows = statement.iterate();
  for (let i = 1; i <= 20; i += 1) {
    assert.deepEqual(rows.next(), { value: { i }, done: false });
    assert.equal(statement.busy, true);
    throwsLike(() => statement.get(), TypeError, 'This statement is busy executing a query');
    throwsLike(() => db.exec('INSERT INTO t VALUES (1)'), TypeError, 'This database connection is busy executing a query');
  }
  assert.deepEqual(rows.next(), { value: undefined, done: true });
  assert.equal(statement.busy, false);
  assert.deepEqual(rows.next(), { value: undefined, done: true });
  assert.deepEqual(statement.get(), { i: 1 });
});

test('an error comes at its row, after the rows before it (C-13.8)', (t) => {
  const db = open(t);
  for (const failing of [1, 2, 3, 10, 40]) {
    const statement = db.prepare(`${numbers(50)} SELECT CASE WHEN i = ${failing} THEN abs(-9223372036854775808) ELSE i END AS i FROM n`);
    for (let turn = 0; turn < 2; turn += 1) {
      const rows = statement.iterate();
      for (let i = 1; i < failing; i += 1) assert.deepEqual(rows.next(), { value: { i }, done: false });
      assert.throws(() => rows.next(), OVERFLOW);
      assert.equal(statement.busy, false);
      assert.deepEqual(rows.next(), { value: undefined, done: true });
    }
  }
});

test('return drops the rows that were not given yet (C-13.4)', (t) => {
  const statement = open(t).prepare(`${numbers(100)} SELECT i FROM n`).pluck();
  for (const taken of [0, 1, 2, 5, 20, 99, 100]) {
    const rows = statement.iterate();
    for (let i = 1; i <= taken; i += 1) assert.equal(rows.next().value, i);
    assert.deepEqual(rows.return(), { value: undefined, done: true });
    assert.equal(statement.busy, false);
    assert.deepEqual(rows.next(), { value: undefined, done: true });
  }
});

test('where a statement may write in between, rows are read at their step', (t) => {
  const db = open(t).exec(`CREATE TABLE t (id INTEGER PRIMARY KEY, x); INSERT INTO t ${numbers(50)} SELECT i, 0 FROM n`);
  const returning = db.prepare('UPDATE t SET x = 1 WHERE id = ? RETURNING id');
  const seen = [];
  for (const row of db.prepare('SELECT id, x FROM t').iterate()) {
    seen.push(row.x);
    if (row.id < 50) returning.get(row.id + 1);
  }
  assert.deepEqual(seen, [0, ...Array(49).fill(1)]);
  const other = open(t).exec(`CREATE TABLE t (id INTEGER PRIMARY KEY, x); INSERT INTO t ${numbers(50)} SELECT i, 0 FROM n`);
  other.unsafeMode();
  const update = other.prepare('UPDATE t SET x = 1 WHERE id = ?');
  const inUnsafeMode = [];
  for (const row of other.prepare('SELECT id, x FROM t').iterate()) {
    inUnsafeMode.push(row.x);
    update.run(row.id + 1);
  }
  assert.deepEqual(inUnsafeMode, [0, ...Array(49).fill(1)]);
});

test('next and return check their receiver', (t) => {
  const statement = open(t).prepare('select 1');
  const { next, return: finish } = Object.getPrototypeOf(statement.iterate());
  for (const receiver of [undefined, null, 1, 'text', {}, [], statement]) {
    throwsLike(() => next.call(receiver), TypeError, 'Illegal invocation');
    throwsLike(() => finish.call(receiver), TypeError, 'Illegal invocation');
  }
});

test('an iterator shows nothing but its statement (C-13.2)', (t) => {
  const statement = open(t).prepare(`${numbers(10)} SELECT i FROM n`);
  const rows = statement.iterate();
  rows.next();
  assert.deepEqual(Reflect.ownKeys(rows), ['statement']);
  assert.deepEqual(Reflect.ownKeys(Object.getPrototypeOf(rows)).filter((key) => typeof key === 'string').sort(), ['constructor', 'next', 'return']);
  rows.return();
});

test('a parameter that a plan depends on costs no compilation per run', { skip: isPeer && 'its SQLite has no such parameters' }, (t) => {
  // SQLite 3.54 looks whether `?` is 0 or 1; sqlite3_clear_bindings then makes it compile again.
  const db = open(t);
  let calls = 0;
  db.function('same', { deterministic: true }, (value) => { calls += 1; return value; });
  // With the statistics of u the planner asks for same(3), so each compilation is one call, as is each run.
  db.exec(`CREATE TABLE t (id INTEGER PRIMARY KEY, folder, date); CREATE INDEX i ON t (folder, date);
    CREATE TABLE u (x); CREATE INDEX ux ON u (x); INSERT INTO u ${numbers(100)} SELECT i FROM n; ANALYZE`);
  const statement = db.prepare(`SELECT id FROM t WHERE folder = ? AND EXISTS (SELECT 1 FROM u WHERE x > same(3))
    ORDER BY date DESC LIMIT 50`);
  const callsOf = (run) => { calls = 0; run(); return calls; };
  statement.all(3);
  for (let turn = 0; turn < 5; turn += 1) assert.equal(callsOf(() => statement.all(3)), 1);
  db.exec('CREATE TABLE other (a)');
  assert.equal(callsOf(() => statement.all(3)), 2, 'a compilation that is needed is seen');
});
