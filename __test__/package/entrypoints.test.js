'use strict';

// The entries for one platform each, and what package.json lets through (C-1). The default entry is
// in api/02.entrypoints.js.

const test = require('node:test');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { spawnSync } = require('node:child_process');

const Database = require('sealite');
const { targetName } = require('../../lib/binding.js');
const manifest = require('../../package.json');

const root = path.join(__dirname, '..', '..');
const ENTRIES = [
  'linux-x64', 'linux-arm64', 'linuxmusl-x64', 'linuxmusl-arm64',
  'darwin-x64', 'darwin-arm64', 'win32-x64', 'win32-arm64',
];
const own = `${process.platform}${targetName().endsWith('-musl') ? 'musl' : ''}-${process.arch}`;
const foreign = ENTRIES.filter((entry) => entry !== own);
const sourceOf = (entry) => fs.readFileSync(path.join(root, 'lib', `${entry}.js`), 'utf8');

test('package.json names the types, the oldest Node and one entry per platform (C-1.5, C-1.6)', () => {
  assert.equal(manifest.types, 'index.d.ts');
  assert.equal(manifest.engines.node, '>=18.17');
  const expected = ['.', './package.json', ...ENTRIES.map((entry) => `./${entry}`)];
  assert.deepEqual(Object.keys(manifest.exports).sort(), expected.sort());
  assert.equal(require('sealite/package.json'), manifest);
});

test('other paths are not exported (C-1.6)', () => {
  for (const inner of ['lib/index.js', 'lib/binding.js', 'build/Release/better_sqlite3.node']) {
    assert.throws(() => require(`sealite/${inner}`), { code: 'ERR_PACKAGE_PATH_NOT_EXPORTED' });
  }
});

test('the entry of this platform is a constructor of its own (C-1.3, C-1.7)', (t) => {
  const Static = require(`sealite/${own}`);
  assert.notEqual(Static, Database);
  assert.equal(Static.name, 'Database');
  assert.equal(Static.length, 2);
  assert.equal(Static.SqliteError, Database.SqliteError);
  const db = new Static(':memory:');
  t.after(() => db.close());
  assert.equal(db instanceof Database, false);
  assert.equal(db.prepare('select 5').pluck().get(), 5);
  assert.throws(() => db.exec('nonsense'), Database.SqliteError);
});

test('each entry names its addon literally and loads nothing before the first database (C-1.7, C-1.8)', () => {
  for (const entry of ENTRIES) {
    const target = /require\('sealite-([\w-]+)'\)/.exec(sourceOf(entry))[1];
    assert.ok(sourceOf(entry).includes(`require('../sealite.${target}.node')`), entry);
    const platformPackage = require(path.join(root, 'npm', target, 'package.json'));
    assert.equal(platformPackage.main, `sealite.${target}.node`);
    assert.equal(platformPackage.version, manifest.version, target);
    const libc = entry.startsWith('linuxmusl') ? 'musl' : 'glibc';
    const [platform, arch] = entry.replace('musl', '').split('-');
    assert.deepEqual([platformPackage.os, platformPackage.cpu], [[platform], [arch]], target);
    assert.deepEqual(platformPackage.libc, platform === 'linux' ? [libc] : undefined, target);
  }
});

test('the entry of another platform can be required, and fails at the first database (C-1.8)', () => {
  for (const entry of foreign) {
    const Static = require(`sealite/${entry}`);
    assert.throws(() => new Static(':memory:'), { code: 'MODULE_NOT_FOUND', message: /install the package sealite-[\w-]+, or run "npm run build"/ }, entry);
  }
});

test('an entry never loads the module that detects the platform (C-1.9)', () => {
  for (const entry of ENTRIES) assert.ok(!sourceOf(entry).includes('./binding'), entry);
  const code = `
    const Static = require('sealite/${own}');
    const addons = () => Object.keys(require.cache).filter((file) => file.endsWith('.node')).length;
    const before = addons();
    new Static(':memory:').close();
    const loader = Object.keys(require.cache).some((file) => /[\\\\/]lib[\\\\/]binding\\.js$/.test(file));
    console.log(before, addons(), loader);`;
  const { stdout, stderr } = spawnSync(process.execPath, ['-e', code], { cwd: root, encoding: 'utf8' });
  assert.equal(stdout, '0 1 false\n', stderr);
});

test('an entry refuses nativeBinding, whatever its value, after the check of verbose (C-1.10)', () => {
  const Static = require(`sealite/${own}`);
  const message = 'The "nativeBinding" option is only supported by the default better-sqlite3 entrypoint';
  for (const nativeBinding of [null, undefined, '', 'a.node', {}]) {
    assert.throws(() => new Static(':memory:', { nativeBinding }), { name: 'TypeError', message });
  }
  assert.throws(() => new Static(':memory:', { nativeBinding: null, verbose: 1 }), /"verbose" option/);
});
