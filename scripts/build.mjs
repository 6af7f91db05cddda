// Builds the addon with cargo and puts it beside index.js as sealite.<target>.node.
//
// `--debug` builds without optimisation. CARGO_TARGET_DIR is respected. Used by `npm run build` and by
// install.mjs; cargo's own progress goes to the terminal.

import { spawnSync } from 'node:child_process';
import { copyFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { missingTools } from './toolchain.mjs';

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '..');
const { targetName } = createRequire(import.meta.url)('../lib/binding.js');

// Of the link-time optimisation. The operators in Poly1305's vector code are past the default threshold (225);
// src/accel.rs says what they cost as calls.
export const INLINING = ['-C', 'llvm-args=-inline-threshold=5000'];

// Without the rlib of the tests: for a crate of both kinds cargo leaves link-time optimisation out, and says nothing.
export const ADDON_ONLY = ['--crate-type', 'cdylib'];

/** Builds and installs the addon; the result is the path of the file, or null after a failure. */
export function build({ debug = false } = {}) {
  const refused = writingRefused();
  if (refused) {
    console.error(`sealite: the addon cannot be built here, as ${root} cannot be written to (${refused}).`);
    console.error(`Make it writable, or install the prebuilt package sealite-${targetName()}.`);
    return null;
  }
  const missing = missingTools();
  if (missing.length > 0) {
    console.error(['sealite: the addon cannot be built here. Please install:', ...missing].join('\n  - '));
    return null;
  }
  const args = debug ? ['build', '--lib'] : ['rustc', '--lib', '--release', ...ADDON_ONLY, '--', ...INLINING];
  const cargo = spawnSync('cargo', args, { cwd: root, stdio: 'inherit', shell: process.platform === 'win32' });
  if (cargo.error) console.error(`cargo could not be started: ${cargo.error.message}`);
  if (cargo.status !== 0) return null;
  const targetDir = path.resolve(root, process.env.CARGO_TARGET_DIR ?? 'target');
  return install(path.join(targetDir, debug ? 'debug' : 'release', libraryName()));
}

// Asked by writing: permissions do not tell what a read-only file system does.
function writingRefused() {
  const probe = path.join(root, `.writable-${process.pid}`);
  try {
    writeFileSync(probe, '');
    rmSync(probe);
    return null;
  } catch (error) {
    return error.code;
  }
}

// A process that has the old file loaded keeps it: the new one takes its name in one step.
function install(library) {
  const addon = path.join(root, `sealite.${targetName()}.node`);
  const fresh = `${addon}.${process.pid}.tmp`;
  copyFileSync(library, fresh);
  renameSync(fresh, addon);
  return addon;
}

function libraryName() {
  switch (process.platform) {
    case 'win32': return 'sealite.dll';
    case 'darwin': return 'libsealite.dylib';
    default: return 'libsealite.so';
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const addon = build({ debug: process.argv.includes('--debug') });
  if (addon === null) process.exit(1);
  console.log(`${path.relative(process.cwd(), addon)}: ${(statSync(addon).size / 2 ** 20).toFixed(1)} MB`);
}
