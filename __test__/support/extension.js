'use strict';

// Compiles test_extension.c with the C compiler at hand, for tests of loadExtension and of result
// codes that only an extension can provoke. Opening databases and the rest is in database.js.

const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');
const { tempDir } = require('./database.js');

const compiler = process.env.CC || 'cc';
const hasCompiler = spawnSync(compiler, ['--version'], { stdio: 'ignore' }).status === 0;
const suffix = { darwin: '.dylib', win32: '.dll' }[process.platform] || '.so';

/** A test that gets the path of the compiled extension; skipped where there is no C compiler. */
function testWithExtension(name, fn) {
  const skip = hasCompiler ? false : `no C compiler (${compiler}) to build the extension with`;
  test(name, { skip }, (t) => fn(t, compile(tempDir(t))));
}

/** Compiles `<name>.c` of this folder to a shared library in `dir`; gives its path. */
function compile(dir, name = 'test_extension', libraries = []) {
  const target = path.join(dir, `${name}${suffix}`);
  const source = path.join(__dirname, `${name}.c`);
  const { status, stderr } = spawnSync(compiler, ['-shared', '-fPIC', '-O1', '-o', target, source, ...libraries], { encoding: 'utf8' });
  if (status !== 0 || !fs.existsSync(target)) throw new Error(`${compiler} failed: ${stderr}`);
  return target;
}

module.exports = { testWithExtension, compile, hasCompiler, suffix };
