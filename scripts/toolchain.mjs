// What a build from source needs on this machine, and what to install when it is missing.

import { spawnSync } from 'node:child_process';
import process from 'node:process';

/** The oldest Rust that compiles the addon: `rust-version` of Cargo.toml. */
const RUST_VERSION = [1, 89];

/** One line for each tool to install; empty when all are there. */
export function missingTools() {
  return [...missingRust(), ...missingCompiler()];
}

function missingRust() {
  const [major, minor] = RUST_VERSION;
  const wanted = `Rust ${major}.${minor} or newer with cargo: https://rustup.rs`;
  const found = versionOf('rustc');
  const absent = ['rustc', 'cargo'].filter((tool) => versionOf(tool) === null);
  if (absent.length > 0) return [`${wanted} (not found: ${absent.join(', ')})`];
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
