'use strict';

// What may start while what is running (C-21, C-13.6): one table, and what is left afterwards.

const test = require('node:test');
const assert = require('node:assert/strict');
const path = require('node:path');
const {
  SqliteError, BUSY, LOCKED, OPEN, overruled, open, openFile, throwsLike, throwsBusy,
} = require('../support/database.js');

const OK = 'ok';
const KEY = Buffer.from('secret');

// Operation, then what happens: inside a callback, while an iterator is open, the same in unsafe
// mode, after close. `same` is the statement whose iterator is open, `other` is another reader.
const MATRIX = [
  ['prepare', ({ db }) => db.prepare('select 1'), BUSY, OK, OK, OPEN],
  ['exec', ({ db }) => db.exec('select 1'), BUSY, BUSY, OK, OPEN],
  ['pragma', ({ db }) => db.pragma('cache_size'), BUSY, BUSY, OK, OPEN],
  ['explain', ({ db }) => db.explain('select 1'), BUSY, OK, OK, OPEN],
  ['function', ({ db }) => db.function('f', () => 1), BUSY, BUSY, BUSY, OPEN],
  ['aggregate', ({ db }) => db.aggregate('f', { step: () => 1 }), BUSY, BUSY, BUSY, OPEN],
  ['table', ({ db }) => db.table('v', { columns: ['x'], * rows() {} }), BUSY, BUSY, BUSY, OPEN],
  ['table from a factory', ({ db }) => db.table('v', () => {}), BUSY, BUSY, BUSY, OPEN],
  ['loadExtension', ({ db }) => db.loadExtension('nowhere'), BUSY, BUSY, BUSY, OPEN],
  ['serialize', ({ db }) => db.serialize(), BUSY, BUSY, BUSY, OPEN],
  ['close', ({ db }) => db.close(), BUSY, BUSY, BUSY, OK],
  ['transaction, the first', ({ db }) => db.transaction(() => {}), BUSY, OK, OK, OPEN],
  ['transaction, a later one', ({ db }) => db.transaction(() => {}), OK, OK, OK, OK, ({ db }) => db.transaction(() => {})],
  ['a transaction function', ({ made }) => made(), BUSY, BUSY, OK, OPEN, ({ db }) => ({ made: db.transaction(() => {}) })],
  ['defaultSafeIntegers', ({ db }) => db.defaultSafeIntegers(), OK, OK, OK, OK],
  ['unsafeMode', ({ db }) => db.unsafeMode(false), OK, OK, OK, OK],
  ['the accessors', ({ db }) => [db.name, db.open, db.inTransaction, db.readonly, db.memory], OK, OK, OK, OK],
  ['run of a query', ({ other }) => other.run(), BUSY, BUSY, OK, OPEN],
  ['run of an insert', ({ insert }) => insert.run(1), BUSY, BUSY, OK, OPEN],
  ['get', ({ other }) => other.get(), BUSY, OK, OK, OPEN],
  ['all', ({ other }) => other.all(), BUSY, OK, OK, OPEN],
  ['iterate', ({ other }) => other.iterate().return(), BUSY, OK, OK, OPEN],
  ['get with RETURNING', ({ returning }) => returning.get(1), BUSY, OK, OK, OPEN],
  ['bind', ({ unbound }) => unbound.bind(1), BUSY, OK, OK, OPEN],
  ['pluck', ({ other }) => other.pluck(), BUSY, OK, OK, OK],
  ['expand', ({ other }) => other.expand(), BUSY, OK, OK, OK],
  ['raw', ({ other }) => other.raw(), BUSY, OK, OK, OK],
  ['safeIntegers', ({ other }) => other.safeIntegers(), BUSY, OK, OK, OK],
  ['columns', ({ other }) => other.columns(), BUSY, OK, OK, OPEN],
  ['toString', ({ other }) => other.toString(), OK, OK, OK, OK],
  ['run of the same statement', ({ same }) => same.run(), BUSY, LOCKED, LOCKED, OPEN],
  ['get of the same statement', ({ same }) => same.get(), BUSY, LOCKED, LOCKED, OPEN],
  ['all of the same statement', ({ same }) => same.all(), BUSY, LOCKED, LOCKED, OPEN],
  ['iterate of the same statement', ({ same }) => same.iterate(), BUSY, LOCKED, LOCKED, OPEN],
  ['bind of the same statement', ({ same }) => same.bind(), BUSY, LOCKED, LOCKED, OPEN],
  ['pluck of the same statement', ({ same }) => same.pluck(), BUSY, LOCKED, LOCKED, OK],
  ['expand of the same statement', ({ same }) => same.expand(), BUSY, LOCKED, LOCKED, OK],
  ['raw of the same statement', ({ same }) => same.raw(), BUSY, LOCKED, LOCKED, OK],
  ['safeIntegers of the same statement', ({ same }) => same.safeIntegers(), BUSY, LOCKED, LOCKED, OK],
  ['columns of the same statement', ({ same }) => same.columns(), BUSY, OK, OK, OPEN],
  ['toString of the same statement', ({ same }) => same.toString(), OK, OK, OK, OK],
  ['next of another iterator', ({ otherRows }) => otherRows.next(), BUSY, OK, OK, OK],
  ['return of another iterator', ({ otherRows }) => otherRows.return(), BUSY, OK, OK, OK],
];

/** An idle database on disk with everything that the table uses; `inside` runs in the next callback. */
function scene(t, prepare = () => {}) {
  const it = { inside: null };
  const db = openFile(t, {
    verbose: () => {
      const action = it.inside;
      it.inside = null;
      if (action) action();
    },
  });
  db.exec('CREATE TABLE t (x); INSERT INTO t VALUES (1), (2), (3)');
  Object.assign(it, {
    db,
    same: db.prepare('select x from t'),
    other: db.prepare('select 7 as seven'),
    insert: db.prepare('INSERT INTO t VALUES (?)'),
    returning: db.prepare('INSERT INTO t VALUES (?) RETURNING x'),
    unbound: db.prepare('select ?'),
    trigger: db.prepare('select 0'),
    finisher: db.prepare('select 8 union all select 9'),
  });
  Object.assign(it, prepare(it));
  return it;
}

const openOther = (it) => {
  it.otherRows = it.finisher.iterate();
};

/** Statements during which `callback` runs, by who calls it. */
const CALLERS = {
  'a function': (db, callback) => {
    db.function('called', callback);
    return 'select called()';
  },
  'start of an aggregate': (db, callback) => {
    db.aggregate('called', { start: callback, step: () => {}, result: () => 0 });
    return 'select called()';
  },
  'step of an aggregate': (db, callback) => {
    db.aggregate('called', { step: callback });
    return 'select called()';
  },
  'inverse of an aggregate': (db, callback) => {
    db.aggregate('called', { step: () => {}, inverse: callback, result: () => 0 });
    return 'select called() over (rows between current row and current row) from t';
  },
  'result of an aggregate': (db, callback) => {
    db.aggregate('called', { step: () => {}, result: callback });
    return 'select called()';
  },
  'the rows of a table': (db, callback) => {
    db.table('called', { columns: ['x'], * rows() { yield [callback()]; } });
    return 'select * from called';
  },
};

const STATES = {
  'in a callback': (it, operate) => {
    openOther(it);
    let outcome;
    it.inside = () => { outcome = result(operate, it); };
    it.trigger.get();
    it.otherRows.return();
    return outcome;
  },
  'while iterating': (it, operate) => {
    openOther(it);
    const rows = it.same.iterate();
    rows.next();
    const outcome = result(operate, it);
    assert.deepEqual(rows.next(), { value: { x: 2 }, done: false });
    rows.return();
    it.otherRows.return();
    return outcome;
  },
  'while iterating in unsafe mode': (it, operate) => {
    it.db.unsafeMode();
    return STATES['while iterating'](it, operate);
  },
  'after close': (it, operate) => {
    openOther(it);
    it.otherRows.return();
    it.db.close();
    return result(operate, it);
  },
};

function result(operate, it) {
  try {
    operate(it);
    return OK;
  } catch (error) {
    assert.equal(Object.getPrototypeOf(error), TypeError.prototype, error && error.stack);
    assert.equal('code' in error, false);
    return error.message;
  }
}

for (const [name, operate, ...rest] of MATRIX) {
  Object.entries(STATES).forEach(([state, run], index) => {
    const expected = rest[index];
    const prepare = rest[4];
    test(`${name} ${state}: ${expected} (C-21.1${state.startsWith('while') ? ', C-13.6' : ''})`, (t) => {
      const it = scene(t, prepare);
      assert.equal(run(it, operate), expected);
      // C-21.4: whatever happened, the connection is idle again.
      if (!it.db.open) return;
      it.db.exec('select 1');
      it.db.close();
    });
  });
}

for (const name of ['key', 'rekey']) {
  test(`${name} in a callback is refused, after close as well (C-21.1)`, (t) => {
    const it = scene(t);
    assert.equal(STATES['in a callback'](it, () => it.db[name](KEY)), BUSY);
    it.db.close();
    assert.equal(result(() => it.db[name](KEY)), OPEN);
  });

  overruled(`${name} while iterating is refused (overrules C-21.1, C-31.8, C-36.6)`, (t) => {
    const it = scene(t);
    assert.equal(STATES['while iterating'](it, () => it.db[name](KEY)), BUSY);
    assert.equal(STATES['while iterating in unsafe mode'](it, () => it.db[name](KEY)), BUSY);
    assert.equal(it.db.prepare('select count(*) from t').pluck().get(), 3);
  });
}

for (const [caller, statementFor] of Object.entries(CALLERS)) {
  test(`in ${caller} everything is refused as in any callback (C-21.1, C-21.2)`, (t) => {
    for (const unsafe of [false, true]) {
      for (const [name, operate, expected, , , , prepare] of MATRIX) {
        const it = scene(t, prepare);
        const sql = statementFor(it.db, () => {
          outcome ??= result(operate, it);
          return 0;
        });
        let outcome;
        it.db.unsafeMode(unsafe);
        openOther(it);
        it.db.prepare(sql).all();
        assert.equal(outcome, expected, name);
        it.otherRows.return();
        it.db.exec('select 1');
        it.db.close();
      }
    }
  });
}

test('backup asks for the state when it really starts (C-21.1, C-27.4)', async (t) => {
  const begin = ({ db }) => db.backup(path.join(path.dirname(db.name), 'copy.db'));
  for (const [state, run] of Object.entries(STATES)) {
    const promises = [];
    assert.equal(run(scene(t), (it) => { promises.push(begin(it)); }), OK, state);
    if (state === 'after close') await assert.rejects(promises[0], { name: 'TypeError', message: OPEN });
    else assert.equal((await promises[0]).remainingPages, 0, state);
  }
  const it = scene(t);
  const rows = it.same.iterate();
  rows.next();
  assert.equal((await begin(it)).remainingPages, 0);
  assert.deepEqual([...rows], [{ x: 2 }, { x: 3 }]);
});

const TRIGGERS = {
  exec: ({ db }) => db.exec('select 1'),
  pragma: ({ db }) => db.pragma('cache_size'),
  explain: ({ db }) => db.explain('select 1'),
  run: ({ insert }) => insert.run(1),
  get: ({ other }) => other.get(),
  all: ({ other }) => other.all(),
  next: ({ other }) => [...other.iterate()],
  'a transaction function': ({ made }) => made(),
};
for (const [name, start] of Object.entries(TRIGGERS)) {
  for (const unsafe of [false, true]) {
    test(`inside ${name} nothing can start${unsafe ? ', unsafe or not' : ''} (C-21.1, C-21.2)`, (t) => {
      const it = scene(t, ({ db }) => ({ made: db.transaction(() => {}) }));
      it.db.unsafeMode(unsafe);
      const outcomes = [];
      it.inside = () => {
        const attempts = [
          () => it.db.prepare('select 1'), () => it.db.exec('select 1'), () => it.db.pragma('cache_size'), () => it.db.close(),
          () => it.other.get(), () => it.insert.run(1), () => it.same.iterate(),
        ];
        outcomes.push(...attempts.map((attempt) => result(attempt)));
      };
      start(it);
      assert.deepEqual(outcomes, Array(7).fill(BUSY));
      it.db.exec('select 1');
    });
  }
}

test('other databases can be used in callbacks and while iterating (C-21.3)', (t) => {
  const other = open(t).exec('CREATE TABLE t (x UNIQUE); INSERT INTO t VALUES (1)');
  const use = () => {
    assert.equal(other.prepare('select x from t').pluck().get(), 1);
    throwsLike(() => other.exec('INSERT INTO t VALUES (1)'), SqliteError, 'UNIQUE constraint failed: t.x', 'SQLITE_CONSTRAINT_UNIQUE');
  };
  const it = scene(t);
  it.inside = use;
  it.db.exec('select 1');
  const rows = it.same.iterate();
  rows.next();
  use();
  rows.return();
  it.inside = () => other.close();
  it.db.exec('select 1');
  assert.deepEqual([it.db.open, other.open], [true, false]);
});

test('an exception of one statement does not show in the failure of another (C-21.4)', (t) => {
  const it = scene(t);
  const own = new Error('from a callback');
  const fail = () => { throw own; };
  for (const start of Object.values(TRIGGERS)) {
    it.made = it.db.transaction(() => {});
    it.inside = fail;
    assert.throws(() => start(it), (error) => error === own);
    throwsLike(() => it.db.exec('nonsense'), SqliteError, 'near "nonsense": syntax error', 'SQLITE_ERROR');
    throwsLike(() => it.db.prepare('select abs(-9223372036854775808)').get(), SqliteError, 'integer overflow', 'SQLITE_ERROR');
    assert.equal(it.db.inTransaction, false);
  }
});

test('failures of every kind leave the connection idle (C-21.4)', (t) => {
  const it = scene(t);
  const failures = [
    () => it.db.exec('nonsense'), () => it.db.exec('select abs(-9223372036854775808)'), () => it.db.pragma('cache_size = ?'),
    () => it.db.prepare('nonsense'), () => it.db.prepare(''), () => it.unbound.get(), () => it.unbound.get({}, {}),
    () => it.insert.get(1), () => it.db.loadExtension('nowhere'), () => it.same.iterate(5), () => it.db.explain('x'),
    () => it.db.key('x'), () => it.db.transaction(() => { throw new Error('x'); })(),
  ];
  for (const fail of failures) {
    assert.throws(fail);
    it.db.exec('select 1');
    assert.deepEqual(it.same.get(), { x: 1 });
  }
});

test('an iterator may be finished from within the loop over another (C-13.10)', (t) => {
  const it = scene(t);
  openOther(it);
  for (const row of it.same.iterate()) {
    if (row.x === 2) it.otherRows.return();
  }
  it.db.exec('select 1');
  throwsBusyWhileOpen(it);
});

function throwsBusyWhileOpen(it) {
  const rows = it.same.iterate();
  throwsBusy(() => it.db.exec('select 1'));
  rows.return();
}
