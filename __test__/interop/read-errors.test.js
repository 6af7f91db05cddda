'use strict';

// A disk that cannot be read: the error is SQLITE_IOERR, never page content and never "file is not a
// database", and the data is all there once the disk answers again. The replaced package drops such
// errors. The reads fail by a library that is preloaded into a child process.

const test = require('node:test');
const assert = require('node:assert/strict');
const { spawnSync } = require('node:child_process');
const path = require('node:path');
const fs = require('node:fs');
const { tempDir, tempFile, open, isPeer } = require('../support/database.js');
const { compile, hasCompiler } = require('../support/extension.js');
const { crash, restore } = require('./crashed.js');
const { unlockHere } = require('./processes.js');

const key = Buffer.from('the right key');
const locks = { chacha20: { pragmas: ["cipher='chacha20'"], key }, aes256cbc: { pragmas: ["cipher='aes256cbc'"], key } };
const why = process.platform !== 'linux' ? 'needs LD_PRELOAD' : !hasCompiler ? 'no C compiler' : isPeer && 'the replaced package drops read errors';

/** Runs `body(db, breakDisk, mendDisk)` in a child whose reads of `file` + `suffix` can be made to fail. */
function inChild(t, file, lock, suffix, from, body) {
  const dir = tempDir(t);
  const flag = path.join(dir, 'broken');
  const script = `
    const fs = require('node:fs');
    const Database = require(${JSON.stringify(path.join(__dirname, '..', '..'))});
    const breakDisk = () => fs.writeFileSync(${JSON.stringify(flag)}, '');
    const mendDisk = () => fs.rmSync(${JSON.stringify(flag)});
    const code = (action) => { try { return JSON.stringify(action()); } catch (error) { return error.code ?? String(error); } };
    const db = new Database(${JSON.stringify(file)});
    const unlock = () => {
      for (const pragma of ${JSON.stringify(lock.pragmas)}) db.pragma(pragma);
      return db.key(Buffer.from(${JSON.stringify(lock.key.toString('hex'))}, 'hex'));
    };
    console.log(JSON.stringify((${body})(db, { breakDisk, mendDisk, code, unlock })));
    db.close();`;
  const env = {
    ...process.env,
    LD_PRELOAD: compile(dir, 'failing_reads', ['-ldl']),
    FAILING_FILE: path.basename(file) + suffix,
    FAILING_SWITCH: flag,
    FAILING_FROM: String(from),
  };
  const { stdout, stderr, status } = spawnSync(process.execPath, ['-e', script], { env, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
}

function makeFile(t, lock, journalMode) {
  const file = tempFile(t, 'unreadable.db');
  const db = unlockHere(open(t, file), lock);
  db.pragma(`journal_mode=${journalMode}`);
  db.exec('CREATE TABLE note (id INTEGER PRIMARY KEY, body TEXT)');
  const insert = db.prepare('INSERT INTO note (body) VALUES (?)');
  db.transaction(() => { for (let n = 0; n < 200; n += 1) insert.run('x'.repeat(500)); })();
  db.close();
  return file;
}

for (const [name, lock] of Object.entries(locks)) {
  for (const journalMode of ['delete', 'wal']) {
    test(`${name}, ${journalMode}: a page that cannot be read is SQLITE_IOERR, and comes back`, { skip: why }, (t) => {
      const file = makeFile(t, lock, journalMode);
      const found = inChild(t, file, lock, '', 8192, (db, { breakDisk, mendDisk, code, unlock }) => {
        const count = () => db.prepare('SELECT count(*), sum(length(body)) FROM note').raw().get();
        unlock();
        breakDisk();
        const broken = code(count);
        mendDisk();
        return [broken, code(count)];
      });
      assert.match(found[0], /^SQLITE_IOERR/);
      assert.equal(found[1], '[200,100000]');
    });
  }

  test(`${name}: a first page that cannot be read is SQLITE_IOERR, not SQLITE_NOTADB`, { skip: why }, (t) => {
    const file = makeFile(t, lock, 'delete');
    const found = inChild(t, file, lock, '', 0, (db, { breakDisk, mendDisk, code, unlock }) => {
      const count = () => db.prepare('SELECT count(*) FROM note').pluck().get();
      unlock();
      breakDisk();
      const broken = [code(count), code(unlock)];
      mendDisk();
      return [...broken, code(unlock), code(count)];
    });
    assert.match(found[0], /^SQLITE_IOERR/);
    assert.match(found[1], /^SQLITE_IOERR/, 'the salt cannot be read');
    assert.deepEqual(found.slice(2), ['0', '200']);
  });

  test(`${name}: a hot journal that cannot be read is left alone`, { skip: why }, async (t) => {
    const { bytes } = await crash(t, 'ours', lock);
    const file = restore(t, bytes);
    const found = inChild(t, file, lock, '-journal', 100, (db, { breakDisk, mendDisk, code, unlock }) => {
      const count = () => db.prepare('SELECT count(*) FROM cell').pluck().get();
      unlock();
      breakDisk();
      const broken = code(count);
      const left = fs.readdirSync(require('node:path').dirname(db.name)).length;
      mendDisk();
      return [broken, left, code(count)];
    });
    assert.match(found[0], /^SQLITE_IOERR/);
    assert.deepEqual(found.slice(1), [2, '60']);
    assert.ok(!fs.existsSync(`${file}-journal`), 'the journal is played back once it can be read');
  });
}
