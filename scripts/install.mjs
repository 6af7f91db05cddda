// Runs at `npm install`: quiet when an addon for this platform loads, else builds one with cargo.
//
// Says what it does and, when a tool is missing, exactly which one. It needs no package from npm.

import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import process from 'node:process';

import { build } from './build.mjs';

const require = createRequire(import.meta.url);
const { loadBinding, targetName } = require('../lib/binding.js');

const RUST_VERSION = [1, 89];

function main() {
  if (loads()) return 0;
  console.log(`sealite: no prebuilt addon for ${targetName()}; building it with cargo. This takes a few minutes.`);
  const missing = [...missingRust(), ...missingCompiler()];
  if (missing.length > 0) {
    console.error(['sealite: the addon cannot be built here. Please install:', ...missing].join('\n  - '));
    return 1;
  }
  if (build() === null) {
    console.error('sealite: the build failed; the reason stands above. "npm run build" tries again.');
    return 1;
  }
  return verify();
}

function loads() {
  try {
    loadBinding(null);
    return true;
  } catch {
    return false;
  }
}

// In a process of its own, because this one may have tried to load the old file.
function verify() {
  const script = `new (require(${JSON.stringify(require.resolve('../index.js'))}))(':memory:').close()`;
  const { status } = spawnSync(process.execPath, ['-e', script], { stdio: 'inherit' });
  if (status === 0) {
    console.log('sealite: built and ready.');
    return 0;
  }
  console.error('sealite: the addon was built but does not load; the reason stands above.');
  return 1;
}

function missingRust() {
  const [major, minor] = RUST_VERSION;
  const wanted = `Rust ${major}.${minor} or newer with cargo: https://rustup.rs`;
  const found = versionOf('rustc');
  if (found === null || versionOf('cargo') === null) return [`${wanted} (rustc or cargo was not found)`];
  const isOld = found[0] < major || (found[0] === major && found[1] < minor);
  return isOld ? [`${wanted} (found ${found.join('.')}; "rustup update" brings a newer one)`] : [];
}

function versionOf(tool) {
  const { status, stdout } = run(tool, '--version');
  const match = status === 0 ? /(\d+)\.(\d+)/.exec(stdout) : null;
  return match && [Number(match[1]), Number(match[2])];
}

function missingCompiler() {
  // The build finds MSVC through its own registry entries, not on the PATH; it says so itself.
  if (process.platform === 'win32') return [];
  const compilers = [process.env.CC, 'cc', 'gcc', 'clang'].filter(Boolean);
  if (compilers.some((compiler) => run(compiler, '--version').status === 0)) return [];
  const hint = process.platform === 'darwin'
    ? 'xcode-select --install'
    : 'for instance "apt-get install gcc libc6-dev" or "apk add gcc musl-dev"';
  return [`a C compiler, gcc or clang: ${hint}`];
}

function run(command, ...args) {
  return spawnSync(command, args, { encoding: 'utf8', shell: process.platform === 'win32' });
}

process.exitCode = main();
