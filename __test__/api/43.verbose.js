'use strict';

// The verbose option (C-30): what is told, when, and how.

const test = require('node:test');
const assert = require('node:assert/strict');
const { overruled, afterTest, Database, open, openFile, tempFile, throwsBusy } = require('../support/database.js');

/** A database and what it logged; `take()` gives the lines since the last call. */
function logged(t, file = ':memory:') {
  const log = [];
  const db = open(t, file, { verbose: (sql) => log.push(sql) });
  return { db, take: () => log.splice(0) };
}

test('it is called with one string and no receiver (C-30.1)', (t) => {
  const calls = [];
  const db = open(t, ':memory:', {
    verbose(...args) {
      calls.push([this, ...args]);
    },
  });
  db.exec('select 1');
  assert.deepEqual(calls, [[undefined, 'select 1']]);
});

test('every execution is told (C-30.1)', (t) => {
  const { db, take } = logged(t);
  const told = (fn, lines) => {
    fn();
    assert.deepEqual(take(), lines);
  };
  told(() => db.exec('CREATE TABLE t (x); INSERT INTO t VALUES (1);'), ['CREATE TABLE t (x);', 'INSERT INTO t VALUES (1);']);
  const statement = db.prepare('select x from t');
  told(() => {}, []);
  told(() => statement.run(), ['select x from t']);
  told(() => statement.get(), ['select x from t']);
  told(() => statement.all(), ['select x from t']);
  told(() => db.pragma('cache_size'), ['PRAGMA cache_size']);
  told(() => db.explain('select 1'), ['EXPLAIN select 1']);
  told(db.transaction(() => {}), ['BEGIN', 'COMMIT']);
});

test('iterate() is told at the first next() (C-30.1)', (t) => {
  const { db, take } = logged(t);
  const statement = db.prepare('select 1 union all select 2');
  const rows = statement.iterate();
  assert.deepEqual(take(), []);
  rows.next();
  assert.deepEqual(take(), ['select 1 union all select 2']);
  rows.next();
  rows.return();
  assert.deepEqual(take(), []);
  statement.iterate().return();
  assert.deepEqual(take(), []);
});

test('compiling, failing to compile, keys and triggers are not told (C-30.1)', (t) => {
  const { db, take } = logged(t, tempFile(t));
  db.key(Buffer.from('secret'));
  db.prepare('select 1');
  assert.throws(() => db.exec('nonsense'));
  assert.throws(() => db.prepare('select ?').get());
  db.serialize();
  assert.deepEqual(take(), []);
  db.exec('CREATE TABLE t (x); CREATE TRIGGER tr AFTER INSERT ON t BEGIN INSERT INTO t VALUES (2); END');
  take();
  db.exec('INSERT INTO t VALUES (1)');
  assert.deepEqual(take(), ['INSERT INTO t VALUES (1)']);
});

test('a statement that fails is told before (C-30.1)', (t) => {
  const { db, take } = logged(t);
  assert.throws(() => db.exec('select abs(-9223372036854775808)'));
  assert.equal(take().length, 1);
});

test('the text ends with its semicolon or with everything (C-30.2)', (t) => {
  const { db, take } = logged(t);
  const told = (fn, lines) => {
    fn();
    assert.deepEqual(take(), lines);
  };
  told(() => db.prepare('select 1; -- c').get(), ['select 1;']);
  told(() => db.prepare('select 1 -- c').get(), ['select 1 -- c']);
  told(() => db.prepare('  /* x */ select 7').get(), ['  /* x */ select 7']);
  told(() => db.exec(' ;\n; /* x */ select 7'), ['/* x */ select 7']);
  told(() => db.exec('select 1;;\n\n select 2 ; '), ['select 1;', 'select 2 ;']);
});

test('bound values are in the text (C-30.3)', (t) => {
  const { db, take } = logged(t);
  const told = (sql, args, line) => {
    db.prepare(sql).get(...args);
    assert.deepEqual(take(), [line]);
  };
  told('select ?', [10n], 'select 10');
  told('select ?', [1], 'select 1.0');
  told('select ?', [1.5], 'select 1.5');
  told('select ?', ["it's"], "select 'it''s'");
  told('select ?', [Buffer.from('ab')], "select x'6162'");
  told('select ?', [null], 'select NULL');
  told('select :a, @a, $b', [{ a: 'x', b: 'größe' }], "select 'x', 'x', 'größe'");
  db.exec('select ?, :a');
  assert.deepEqual(take(), ['select NULL, NULL']);
});

test('long values are cut after 32 bytes, the text itself never (C-30.4)', (t) => {
  const { db, take } = logged(t);
  const told = (value) => {
    db.prepare('select ?').get(value);
    return take()[0];
  };
  assert.equal(told('x'.repeat(32)), `select '${'x'.repeat(32)}'`);
  assert.equal(told('x'.repeat(35)), `select '${'x'.repeat(32)}'/*+3 bytes*/`);
  assert.equal(told(Buffer.alloc(40)), `select x'${'00'.repeat(32)}'/*+8 bytes*/`);
  // A character of two bytes is not split: it crosses the border here and is told whole.
  assert.match(told(`${'x'.repeat(31)}${'é'.repeat(3)}`), /^select 'x{31}é*'\/\*\+\d bytes\*\/$/);
  const long = `select '${'y'.repeat(100000)}'`;
  db.exec(long);
  assert.deepEqual(take(), [long]);
});

test('the database is busy during the call (C-30.5)', (t) => {
  let calls = 0;
  const db = open(t, ':memory:', {
    verbose: () => {
      throwsBusy(() => db.exec('select 1'));
      throwsBusy(() => db.prepare('select 1'));
      throwsBusy(() => db.close());
      calls += 1;
    },
  });
  db.exec('select 1');
  assert.equal(calls, 1);
});

for (const value of [new Error('own'), 'text', null, undefined, 0]) {
  test(`what it throws is thrown on, and the statement is not executed: ${String(value)} (C-30.5)`, (t) => {
    let armed = false;
    const db = open(t, ':memory:', { verbose: () => { if (armed) throw value; } });
    db.exec('CREATE TABLE t (x)');
    const insert = db.prepare('INSERT INTO t VALUES (1)');
    const returning = db.prepare('INSERT INTO t VALUES (1) RETURNING x');
    armed = true;
    const attempts = [
      () => insert.run(), () => returning.get(), () => returning.all(), () => returning.iterate().next(),
      () => db.exec('INSERT INTO t VALUES (1)'), () => db.pragma('user_version = 7'),
    ];
    for (const attempt of attempts) {
      let seen = 'nothing thrown';
      try {
        attempt();
      } catch (thrown) {
        seen = thrown;
      }
      assert.equal(seen, value);
    }
    armed = false;
    assert.equal(db.prepare('select count(*) from t').pluck().get(), 0);
    assert.equal(db.pragma('user_version', { simple: true }), 0);
    assert.deepEqual(insert.run(), { changes: 1, lastInsertRowid: 1 });
  });
}

const KEYS = [
  ["PRAGMA key = 'hush-hush'"],
  ["PRAGMA key='hush-hush'"],
  ['pragma KEY = "hush-hush"'],
  ["PRAGMA main.key = 'hush-hush'"],
  ["PRAGMA key('hush-hush')"],
  ["/* c */ PRAGMA -- d\n key = 'hush-hush';"],
  ["PRAGMA rekey = 'hush-hush'"],
  ["PRAGMA hexkey = '687573682d68757368'"],
  ["PRAGMA hexrekey = '687573682d68757368'"],
];
for (const [sql] of KEYS) {
  overruled(`a key is never told: ${sql.replace(/hush-hush|[0-9a-f]{18}/, '…')} (overrules C-30.6)`, (t) => {
    const { db, take } = logged(t, tempFile(t));
    db.exec(sql);
    const lines = take().join('\n');
    assert.match(lines, /key/i);
    assert.match(lines, /'\*\*\*'/);
    assert.doesNotMatch(lines, /hush|687573/i);
  });
}

overruled('the key of ATTACH is never told, literal or bound (overrules C-30.6)', (t) => {
  const { db, take } = logged(t, tempFile(t));
  db.exec(`ATTACH '${tempFile(t, 'a.db')}' AS a KEY 'hush-hush'`);
  db.prepare('ATTACH ? AS b KEY ?').run(tempFile(t, 'b.db'), 'hush-hush');
  db.prepare('ATTACH :file AS c KEY :key').run({ file: tempFile(t, 'c.db'), key: 'hush-hush' });
  const lines = take();
  assert.equal(lines.length, 3);
  for (const line of lines) {
    assert.match(line, /KEY '\*\*\*'/);
    assert.doesNotMatch(line, /hush/);
  }
});

overruled('pragma() hides keys, other values are told (overrules C-30.6)', (t) => {
  const { db, take } = logged(t, tempFile(t));
  db.pragma("key = 'hush-hush'");
  db.pragma('foreign_keys = 1');
  db.exec("CREATE TABLE t (key); INSERT INTO t (key) VALUES ('shown')");
  const lines = take();
  assert.match(lines[0], /^PRAGMA key = '\*\*\*'$/);
  assert.equal(lines[1], 'PRAGMA foreign_keys = 1');
  assert.equal(lines[3], "INSERT INTO t (key) VALUES ('shown')");
});

test('a database without the option logs nothing', (t) => {
  const db = new Database(':memory:', { verbose: null });
  afterTest(t, () => db.close());
  assert.equal(db.exec('select 1'), db);
  assert.equal(openFile(t, { verbose: undefined }).pragma('user_version', { simple: true }), 0);
});
