'use strict';
// Finds and loads the native addon: the file beside index.js, else the package made for this
// platform. Whether a file is whole is looked at in addon-file.js; what an addon is given before its first
// use is in prepare-binding.js.

const fs = require('node:fs');
const path = require('node:path');

const checkAddonFile = require('./addon-file');

const ROOT = path.join(__dirname, '..');
/** The Node-API version that the addon is built for: the feature of the crate napi in Cargo.toml. */
const NODE_API = 9;
let defaultBinding;

// `nativeBinding`: null, a path, or an addon object.
function loadBinding(nativeBinding) {
  if (nativeBinding === null) {
    defaultBinding ??= loadDefault();
    return defaultBinding;
  }
  if (typeof nativeBinding === 'object') return nativeBinding;
  const file = path.resolve(nativeBinding).replace(/(\.node)?$/, '.node');
  checkAddonFile(file);
  return require(file);
}

function loadDefault() {
  const target = targetName();
  const local = path.join(ROOT, `sealite.${target}.node`);
  const problems = [];
  for (const candidate of [local, `sealite-${target}`]) {
    if (candidate === local && !fs.existsSync(local)) {
      problems.push(`${local}: no such file`);
      continue;
    }
    try {
      return requireAddon(candidate);
    } catch (error) {
      problems.push(`${candidate}: ${explain(error)}`);
    }
  }
  throw new Error(notFoundMessage(target, problems));
}

function requireAddon(candidate) {
  const found = Number(process.versions.napi);
  if (found < NODE_API) throw new Error(`needs Node-API ${NODE_API}, and Node ${process.version} has ${found}`);
  const file = require.resolve(candidate);
  checkAddonFile(file);
  const addon = require(file);
  if (typeof addon.initialize !== 'function') throw new Error('is a file of something else than sealite');
  return addon;
}

// What the system's loader says, in words that tell what to do about it.
function explain({ message }) {
  const [line] = message.split('\n');
  const [, wanted] = /version `GLIBC_([\d.]+)' not found/.exec(message) ?? [];
  if (wanted) return `needs glibc ${wanted} or newer, and this system has ${glibcVersion()} (${line})`;
  const isForeign = /invalid ELF header|file too short|wrong ELF class|self-register|Win32 application|mach-o|wrong architecture/i;
  return isForeign.test(message) ? `damaged, or made for another platform (${line})` : line;
}

function notFoundMessage(target, problems) {
  return [
    `The native addon of sealite for ${target} could not be loaded. Looked for:`,
    ...problems.map((problem) => `  - ${problem}`),
    `Either install the prebuilt package sealite-${target} (npm leaves it out with --omit=optional),`,
    `or build the addon: run "npm run build" in ${ROOT} (needs Rust and a C compiler).`,
  ].join('\n');
}

// The name of this platform's build, for instance linux-x64-gnu.
function targetName(platform = process.platform, arch = process.arch) {
  const flavours = { linux: isMusl() ? '-musl' : '-gnu', win32: '-msvc' };
  return `${platform}-${arch}${flavours[platform] ?? ''}`;
}

function isMusl() {
  if (process.platform !== 'linux') return false;
  return !glibcVersion();
}

function glibcVersion() {
  return process.report.getReport().header.glibcVersionRuntime;
}

module.exports = { loadBinding, targetName };
