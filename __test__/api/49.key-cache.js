'use strict';

// Database.keyCache: what is kept between connections opens the same files, and nothing else does.
// Age, order and room of the entries are tested beside the code (src/codec/key_cache.rs).

const test = require('node:test');
const assert = require('node:assert/strict');
const { Worker } = require('node:worker_threads');
const { Database, open, throwsLike, throwsNotADb } = require('../support/database.js');
const { KEY, OTHER, openKeyed, writeKeyed, values } = require('../support/keyed.js');

// Far more rounds than the default, so that a derivation cannot be as short as a hit.
const SLOW = 1_000_000;

function cached(t, options) {
  Database.keyCache(options);
  t.after(() => Database.keyCache(null));
}

function slowFile(t) {
  const file = writeKeyed(t);
  const db = openKeyed(t, file);
  db.pragma(`kdf_iter=${SLOW}`);
  db.rekey(KEY);
  db.close();
  return file;
}

/** Milliseconds of processor time that setting the key took. */
function keyTime(t, file, key = KEY, rounds = SLOW) {
  const db = open(t, file);
  db.pragma(`kdf_iter=${rounds}`);
  const start = process.cpuUsage();
  db.key(key);
  const { user, system } = process.cpuUsage(start);
  return { db, time: (user + system) / 1000 };
}

test('options are checked', () => {
  const text = 'Expected the first argument to be an options object or null';
  for (const wrong of [undefined, 5, 'on', true]) throwsLike(() => Database.keyCache(wrong), TypeError, text);
  for (const name of ['entries', 'ttl']) {
    for (const wrong of ['5', null, 5n]) {
      throwsLike(() => Database.keyCache({ [name]: wrong }), TypeError, `Expected the "${name}" option to be a number`);
    }
    const range = { entries: 1024, ttl: 86400000 }[name];
    for (const wrong of [0, -1, 1.5, NaN, Infinity, range + 1]) {
      throwsLike(() => Database.keyCache({ [name]: wrong }), RangeError, `Expected the "${name}" option to be a whole number from 1 to ${range}`);
    }
  }
  assert.equal(Database.keyCache({}), undefined);
  assert.equal(Database.keyCache(null), undefined);
});

test('the second connection derives nothing; a cleared cache derives again', (t) => {
  const file = slowFile(t);
  cached(t, { entries: 4, ttl: 600000 });
  const first = keyTime(t, file);
  const second = keyTime(t, file);
  assert.deepEqual([values(first.db), values(second.db)], [[1, 2, 3], [1, 2, 3]]);
  assert.ok(second.time < first.time / 4, `${second.time} after ${first.time} ms`);
  Database.keyCache(null);
  const third = keyTime(t, file);
  assert.deepEqual(values(third.db), [1, 2, 3]);
  assert.ok(third.time > second.time * 4, `${third.time} after ${second.time} ms`);
});

test('a wrong key and other parameters are refused although the right key is kept', (t) => {
  const file = slowFile(t);
  cached(t, { entries: 4, ttl: 600000 });
  assert.deepEqual(values(keyTime(t, file).db), [1, 2, 3]);
  throwsNotADb(() => values(keyTime(t, file, OTHER).db));
  throwsNotADb(() => values(keyTime(t, file, KEY, 4000).db));
  assert.deepEqual(values(keyTime(t, file).db), [1, 2, 3]);
});

test('two files under one passphrase have each their key', (t) => {
  cached(t, { entries: 4, ttl: 600000 });
  const files = [writeKeyed(t), writeKeyed(t)];
  for (const file of [...files, ...files]) assert.deepEqual(values(openKeyed(t, file)), [1, 2, 3]);
});

test('a worker finds what the main thread kept', async (t) => {
  const file = slowFile(t);
  cached(t, { entries: 4, ttl: 600000 });
  const { time } = keyTime(t, file);
  const script = `
    const { parentPort, workerData } = require('node:worker_threads');
    const Database = require(workerData.module);
    const db = new Database(workerData.file);
    db.pragma('kdf_iter=${SLOW}');
    const start = process.hrtime.bigint();
    db.key(Buffer.from(workerData.key));
    const time = Number(process.hrtime.bigint() - start) / 1e6;
    parentPort.postMessage({ time, count: db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get() });
    db.close();`;
  const workerData = { file, key: KEY, module: require.resolve('../..') };
  const worker = new Worker(script, { eval: true, workerData });
  const answer = await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
  assert.ok(answer.count > 0);
  assert.ok(answer.time < time / 2, `${answer.time} after ${time} ms`);
});
