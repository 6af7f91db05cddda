'use strict';

// What the bundler tests share: an application that keeps an encrypted mailbox, a place for its bundle with
// sealite installed beside it as an installation would have it, and the proof that the bundle works there.

const assert = require('node:assert/strict');
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { pathToFileURL } = require('node:url');
const { tempDir } = require('../support/database');

const ROOT = path.join(__dirname, '..', '..');
const NAMES = ['sealite', 'better-sqlite3-multiple-ciphers'];

const STATEMENTS = `
const db = new Database('mailbox.db');
db.pragma("cipher='chacha20'");
db.key(Buffer.from('correct horse battery staple'));
db.exec('CREATE TABLE messages (subject TEXT)');
db.prepare('INSERT INTO messages VALUES (?)').run('hello');
console.log(db.prepare('SELECT subject FROM messages').pluck().get());
db.close();
`;

/** Installs the bundlers; gives back their node_modules. */
async function installed() {
  const { installFolder } = await import(pathToFileURL(path.join(ROOT, 'scripts', 'install-folder.mjs')));
  return installFolder(__dirname);
}

/** A project with sealite in its node_modules, under its own name and the replaced package's. */
function project(t, { name = 'sealite', module = false } = {}) {
  const folder = tempDir(t);
  fs.mkdirSync(path.join(folder, 'node_modules'));
  for (const alias of NAMES) fs.symlinkSync(ROOT, path.join(folder, 'node_modules', alias), 'junction');
  const entry = path.join(folder, module ? 'app.mjs' : 'app.js');
  fs.writeFileSync(entry, `${module ? `import Database from '${name}';` : `const Database = require('${name}');`}\n${STATEMENTS}`);
  return { folder, entry, out: path.join(folder, 'dist') };
}

/** Runs a bundle in its project: it must find the addon, and what it writes must be encrypted. */
function runs(folder, bundle) {
  assert.equal(execFileSync(process.execPath, [bundle], { cwd: folder, encoding: 'utf8' }), 'hello\n');
  assert.notEqual(fs.readFileSync(path.join(folder, 'mailbox.db')).toString('latin1', 0, 15), 'SQLite format 3');
}

module.exports = { ROOT, installed, project, runs };
