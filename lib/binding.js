'use strict';
// Finds and loads the native addon: the file beside index.js, else the package made for this
// platform. Also what an addon is prepared with before its first use.

const fs = require('node:fs');
const path = require('node:path');

const SqliteError = require('./sqlite-error');
const rows = require('./rows');
const { readAhead } = require('./iterator');

const ROOT = path.join(__dirname, '..');
const prepared = new WeakSet();
let defaultBinding;

// `nativeBinding`: null, a path, or an addon object.
function loadBinding(nativeBinding) {
  if (nativeBinding === null) {
    defaultBinding ??= prepareBinding(loadDefault());
    return defaultBinding;
  }
  if (typeof nativeBinding === 'object') return prepareBinding(nativeBinding);
  return prepareBinding(require(path.resolve(nativeBinding).replace(/(\.node)?$/, '.node')));
}

function prepareBinding(binding) {
  if (!prepared.has(binding)) {
    binding.initialize({ SqliteError, ...rows });
    readAhead(binding.StatementIterator.prototype);
    if (Symbol.dispose) makeDisposable(binding.StatementIterator.prototype);
    prepared.add(binding);
  }
  return binding;
}

function makeDisposable(prototype) {
  Object.defineProperty(prototype, Symbol.dispose, {
    value: function dispose() { this.return(); },
    writable: true,
    configurable: true,
  });
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
      return require(candidate);
    } catch (error) {
      problems.push(`${candidate}: ${error.message.split('\n')[0]}`);
    }
  }
  throw new Error(notFoundMessage(target, problems));
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
  const { header } = process.report.getReport();
  return !header.glibcVersionRuntime;
}

module.exports = { loadBinding, targetName };
