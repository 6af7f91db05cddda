'use strict';

// What the default entry says when the addon that it finds is of no use, and that it loads from
// folders with unusual names.

const test = require('node:test');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { spawnSync } = require('node:child_process');
const { targetName } = require('../../lib/binding.js');
const { tempDir } = require('../support/database.js');

const root = path.join(__dirname, '..', '..');
const addonName = `sealite.${targetName()}.node`;
const OPEN = "console.log(new Database(':memory:').prepare('select 5').pluck().get());";

/** A copy of the package in `folder`, without an addon. */
function copyPackage(folder) {
  for (const part of ['package.json', 'index.js', 'lib']) {
    fs.cpSync(path.join(root, part), path.join(folder, part), { recursive: true });
  }
  return folder;
}

function run(folder, code) {
  const source = `${code.before ?? ''}; const Database = require(${JSON.stringify(folder)}); ${code.then ?? OPEN}`;
  return spawnSync(process.execPath, ['-e', source], { encoding: 'utf8' });
}

const whole = fs.readFileSync(path.join(root, addonName));
const changed = (at, byte) => Buffer.concat([whole.subarray(0, at), Buffer.of(byte), whole.subarray(at + 1)]);
const DAMAGES = [
  ['an empty file', '', 'it is empty'],
  ['text', 'no addon', 'it is no shared library'],
  ['the first bytes of the addon', whole.subarray(0, 32), 'it ends after 32 bytes'],
  ['the first page of the addon', whole.subarray(0, 4096), `it ends after 4096 of ${whole.length} bytes`],
  ['half of the addon', whole.subarray(0, whole.length >> 1), `it ends after ${whole.length >> 1} of `],
  ['the addon without its last byte', whole.subarray(0, -1), `it ends after ${whole.length - 1} of ${whole.length} bytes`],
  ['an addon for another processor', changed(18, process.arch === 'x64' ? 183 : 62), ', and this Node for '],
  ['an addon for 32 bits', changed(4, 1), 'it is for a processor of another kind'],
  ['an addon for Windows', 'MZ\0\0', 'it is for Windows'],
  ['an addon for macOS', Buffer.from('cffaedfe07000001', 'hex'), 'it is for macOS'],
];
const skip = process.platform === 'linux' ? false : 'only files of ELF are looked at; elsewhere the system refuses them';

for (const [what, bytes, reason] of DAMAGES) {
  test(`${what} in place of the addon is called damaged, with the reason and the ways out`, { skip }, (t) => {
    const folder = copyPackage(tempDir(t));
    fs.writeFileSync(path.join(folder, addonName), bytes);
    const { stderr, status } = run(folder, {});
    assert.equal(status, 1, stderr);
    for (const part of ['damaged, or made for another platform', reason, addonName, `sealite-${targetName()}`, 'npm run build']) {
      assert.ok(stderr.includes(part), `${part} in ${stderr}`);
    }
  });

  test(`${what} is refused as nativeBinding`, { skip }, (t) => {
    const file = path.join(tempDir(t), 'other.node');
    fs.writeFileSync(file, bytes);
    const then = `try { new Database(':memory:', { nativeBinding: ${JSON.stringify(file)} }); } catch (error) { console.log(error.code, error.message); }`;
    const { stdout, stderr } = run(root, { then });
    assert.ok(stdout.startsWith('ERR_DLOPEN_FAILED damaged') && stdout.includes(reason), stdout + stderr);
  });
}

test('a Node without the Node-API version that is needed is told so', (t) => {
  const folder = copyPackage(tempDir(t));
  fs.copyFileSync(path.join(root, addonName), path.join(folder, addonName));
  const before = "Object.defineProperty(process, 'versions', { value: { ...process.versions, napi: '6' } })";
  assert.match(run(folder, { before }).stderr, /needs Node-API \d+, and Node v[\d.]+ has 6/);
});

test('a glibc that is too old is told so, with both versions', (t) => {
  const folder = copyPackage(tempDir(t));
  fs.copyFileSync(path.join(root, addonName), path.join(folder, addonName));
  // What glibc's loader says, as no older system is at hand.
  const before = "require('node:module')._extensions['.node'] = () => { throw new Error(\"libm.so.6: version `GLIBC_2.99' not found (required by it)\"); }";
  assert.match(run(folder, { before }).stderr, /needs glibc 2\.99 or newer, and this system has/);
});

test('the addon loads from a read-only folder whose name has spaces and letters of several scripts', (t) => {
  const folder = path.join(tempDir(t), 'ein Ordner – données 数据');
  fs.mkdirSync(folder);
  copyPackage(folder);
  fs.copyFileSync(path.join(root, addonName), path.join(folder, addonName));
  fs.chmodSync(folder, 0o555);
  const { stdout, stderr } = run(folder, {});
  fs.chmodSync(folder, 0o755);
  assert.equal(stdout, '5\n', stderr);
});
