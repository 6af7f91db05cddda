'use strict';

// What the packages hold that are published: this list, and nothing besides. Making them is in scripts/tarballs.mjs.

const test = require('node:test');
const assert = require('node:assert/strict');
const { execFileSync, spawnSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { targetName } = require('../../lib/binding.js');
const { version } = require('../../package.json');
const { tempDir } = require('../support/database.js');

const root = path.join(__dirname, '..', '..');
const skip = process.platform === 'win32' && 'npm is a shell script there';
const SINGLE = [
  '.cargo/config.toml', 'CHANGELOG.md', 'Cargo.lock', 'Cargo.toml', 'LICENSE', 'README.md', 'build.rs', 'index.d.ts', 'index.js',
  'package.json', 'scripts/build.mjs', 'scripts/install.mjs', 'scripts/toolchain.mjs',
];
const FOLDERS = { lib: /\.js$/, cli: /\.js$/, src: /\.rs$/, benches: /\.rs$/, engine: /^engine\/(Cargo\.toml|README\.md|[\w/]+\.(rs|c|h|sh|mjs))$/, docs: /\.(md|svg)$/ };

let folder;
let tarballs;
test.before(async (t) => {
  if (skip) return;
  folder = tempDir(t);
  const { makeTarballs } = await import('../../scripts/tarballs.mjs');
  makeTarballs({ output: folder });
  tarballs = fs.readdirSync(folder);
});

function contents(file) {
  const names = execFileSync('tar', ['-tzf', path.join(folder, file)], { encoding: 'utf8' }).trim().split('\n');
  return names.map((name) => name.replace(/^package\//, '')).sort();
}

test('the main package holds the JavaScript, the source to build from and the documents', { skip }, () => {
  const found = contents(`sealite-${version}.tgz`);
  for (const name of SINGLE) assert.ok(found.includes(name), `${name} is missing`);
  for (const [name, allowed] of Object.entries(FOLDERS)) {
    const inside = found.filter((file) => file.startsWith(`${name}/`));
    assert.notEqual(inside.length, 0, name);
    assert.deepEqual(inside.filter((file) => !allowed.test(file)), [], name);
    const tracked = execFileSync('git', ['ls-files', name], { cwd: root, encoding: 'utf8' }).trim().split('\n');
    assert.deepEqual(inside, tracked.sort(), name);
  }
  const rest = found.filter((file) => !SINGLE.includes(file) && !(file.split('/')[0] in FOLDERS));
  assert.deepEqual(rest, []);
});

test('a platform package holds its addon, and nothing that runs at installation', { skip }, () => {
  const file = `sealite-${targetName()}-${version}.tgz`;
  assert.ok(tarballs.includes(file), tarballs.join());
  assert.deepEqual(contents(file), ['LICENSE', 'README.md', 'package.json', `sealite.${targetName()}.node`]);
  const manifest = JSON.parse(execFileSync('tar', ['-xzOf', path.join(folder, file), 'package/package.json'], { encoding: 'utf8' }));
  assert.equal('scripts' in manifest, false);
  assert.equal('dependencies' in manifest, false);
});

test('the main package depends on platform packages of its own version, and on nothing else', { skip }, () => {
  const manifest = JSON.parse(execFileSync('tar', ['-xzOf', path.join(folder, `sealite-${version}.tgz`), 'package/package.json'], { encoding: 'utf8' }));
  assert.equal(manifest.optionalDependencies[`sealite-${targetName()}`], version);
  assert.deepEqual(new Set(Object.values(manifest.optionalDependencies)), new Set([version]));
  for (const kind of ['dependencies', 'devDependencies', 'peerDependencies']) assert.equal(kind in manifest, false, kind);
});

test('what is unpacked, without an addon, Rust or a compiler, says what to install', { skip }, (t) => {
  const unpacked = tempDir(t);
  execFileSync('tar', ['-xzf', path.join(folder, `sealite-${version}.tgz`), '-C', unpacked]);
  const script = path.join(unpacked, 'package', 'scripts', 'install.mjs');
  const { status, stdout, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8', env: { PATH: unpacked } });
  assert.equal(status, 1, stdout + stderr);
  assert.match(stdout, /no prebuilt addon for .*building it with cargo/);
  for (const part of ['Please install', 'Rust 1.', 'https://rustup.rs', 'a C compiler']) assert.ok(stderr.includes(part), stderr);
});

const noOtherUser = skip || (process.getuid() === 0 ? false : 'only root can start a process as another user');
test('where the package cannot be written to, the build says so before it starts', { skip: noOtherUser }, (t) => {
  const unpacked = tempDir(t);
  fs.chmodSync(unpacked, 0o755);
  execFileSync('tar', ['-xzf', path.join(folder, `sealite-${version}.tgz`), '-C', unpacked]);
  const script = path.join(unpacked, 'package', 'scripts', 'install.mjs');
  // A folder of root's, and a user who is not root.
  const { status, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8', uid: 65534, gid: 65534, cwd: '/' });
  assert.equal(status, 1, stderr);
  for (const part of ['cannot be written to (EACCES)', fs.realpathSync(path.join(unpacked, 'package')), `sealite-${targetName()}`]) {
    assert.ok(stderr.includes(part), `${part} in ${stderr}`);
  }
});
