'use strict';

// Nothing that the process writes can be read, whatever the file: database, journal, WAL, and the files
// without a name in which SQLite sorts, keeps temporary tables and statement journals, and makes the
// copy of a VACUUM. A preloaded library looks at every write of a child process (watched_writes.c).

const test = require('node:test');
const assert = require('node:assert/strict');
const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { tempDir, modulePath, isPeer } = require('../support/database.js');
const { otherSchemes } = require('../support/schemes.js');
const { compile, hasCompiler } = require('../support/extension.js');
const { packageOf } = require('../interop/processes.js');

const MARKER = 'THE-MARKER-NOBODY-MAY-READ';
const why = process.platform !== 'linux' ? 'needs LD_PRELOAD' : !hasCompiler ? 'no C compiler' : isPeer && 'the replaced package writes temporary files in clear';
const key = 'nothing readable';
const locks = { chacha20: { pragmas: ["cipher='chacha20'"], key }, aes256cbc: { pragmas: ["cipher='aes256cbc'"], key } };
for (const [name, pragmas] of Object.entries(otherSchemes)) locks[name] = { pragmas, key };

/** Runs everyday.js; gives what it printed, and for each of its steps the writes. */
function watch(t, options, { module, node } = { module: modulePath, node: process.execPath }) {
  const dir = tempDir(t);
  const env = {
    ...process.env,
    LD_PRELOAD: compile(dir, 'watched_writes', ['-ldl']),
    WATCHED_LOG: path.join(dir, 'writes.log'),
    WATCHED_MARKER: MARKER,
  };
  const lock = JSON.stringify({ journalMode: 'delete', otherKey: 'another key', ...options });
  const { stdout, stderr, status } = spawnSync(node, [path.join(__dirname, 'everyday.js'), module, dir, lock], { env, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  const steps = {};
  let step;
  for (const line of fs.readFileSync(env.WATCHED_LOG, 'utf8').trimEnd().split('\n')) {
    if (line.startsWith('= ')) step = steps[line.slice(2)] = [];
    else step?.push(writeOf(line));
  }
  return { answer: JSON.parse(stdout), steps };
}

function writeOf(line) {
  const [, len, readable, file] = /^(\d+) ([01]) (.*)$/.exec(line);
  // A file that was never given a name, or had one until it was open.
  return { len: Number(len), readable: readable === '1', file, nameless: file.endsWith(' (deleted)') };
}

const stepsWith = (steps, wanted) => Object.keys(steps).filter((name) => steps[name].some(wanted));
const isReadable = (write) => write.readable;
const isNameless = (write) => write.nameless;

/** What is there at the end, whatever the scheme. */
const ANSWER = { rows: 1440, ids: 1_296_000, n: 1_301_760, drafts: 1200, check: 'ok' };
/** The steps that need more room than SQLite takes in memory. */
const NAMELESS = [
  'sort large rows', 'group, and remove doubles', 'create an index', 'fill a temporary table', 'change a temporary table',
  'roll back in a temporary table', 'a statement that may fail', 'a statement that fails', 'upsert', 'savepoints', 'VACUUM',
];

for (const [name, lock] of Object.entries(locks)) {
  for (const journalMode of ['delete', 'wal']) {
    test(`${name} in ${journalMode} mode: nothing readable is written`, { skip: why }, (t) => {
      const { answer, steps } = watch(t, { ...lock, journalMode });
      assert.deepEqual(answer, ANSWER);
      assert.deepEqual(stepsWith(steps, isReadable), []);
      const used = stepsWith(steps, isNameless);
      assert.deepEqual(NAMELESS.filter((step) => !used.includes(step)), [], 'these steps are meant to use files without a name');
      assert.ok(used.includes('backup under another cipher'));
    });
  }
}

test('a plain database: readable is what has a name, and nothing else', { skip: why }, (t) => {
  const { answer, steps } = watch(t, { pragmas: [] });
  assert.deepEqual(answer, ANSWER);
  assert.ok(stepsWith(steps, isReadable).includes('fill a table'), 'the marker is not found where it must be');
  assert.deepEqual(stepsWith(steps, (write) => write.readable && write.nameless), []);
  assert.ok(stepsWith(steps, isNameless).includes('sort large rows'));
});

test('the replaced package writes readable files in these steps', { skip: why }, async (t) => {
  const { answer, steps } = watch(t, locks.chacha20, await packageOf('peer'));
  assert.deepEqual(answer, ANSWER);
  const found = stepsWith(steps, (write) => write.readable && write.nameless);
  for (const step of ['sort large rows', 'create an index', 'fill a temporary table', 'VACUUM']) assert.ok(found.includes(step), step);
});

test('the files are in the directory of PRAGMA temp_store_directory, and as unreadable', { skip: why }, (t) => {
  const tempDirectory = tempDir(t);
  const { answer, steps } = watch(t, { ...locks.chacha20, tempDirectory });
  assert.deepEqual(answer, ANSWER);
  const nameless = Object.values(steps).flat().filter(isNameless);
  assert.ok(nameless.length > 1000);
  for (const { file } of nameless) assert.equal(path.dirname(file), tempDirectory);
  assert.deepEqual(stepsWith(steps, isReadable), []);
  assert.deepEqual(fs.readdirSync(tempDirectory), []);
});
