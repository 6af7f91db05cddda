// The tools that make a release, installed into .cache/release-tools when they are first needed; no root, nothing outside.
//
// - cargo-zigbuild with the compiler of the `ziglang` wheel links against the symbols of an old glibc. `cross` needs
//   containers, and an old distribution would have to be kept.
// - cargo-about writes the licence texts of the crates that are linked; cargo-bundle-licenses lists them without checking
//   that each is accepted.
// - cargo-cyclonedx writes the bill of materials; it is the CycloneDX project's own.
// - cargo-deny holds licences, sources and duplicates (deny.toml).

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = path.join(root, '.cache', 'release-tools');
const python = path.join(folder, 'python');
const WHEELS = ['cargo-zigbuild==0.24.1', 'ziglang==0.17.1'];
const CRATES = { 'cargo-about': ['0.9.3', '--features=cli'], 'cargo-cyclonedx': ['0.5.9'], 'cargo-deny': ['0.20.2'] };

/** Installs zigbuild and the compiler that it calls. */
export function installZigbuild() {
  if (fs.existsSync(path.join(python, 'bin', 'cargo-zigbuild'))) return;
  run('python3', ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--target', python, ...WHEELS]);
}

/** Installs a tool of CRATES, which takes minutes the first time. */
export function installCrate(name) {
  if (fs.existsSync(path.join(folder, 'bin', name))) return;
  const [version, ...features] = CRATES[name];
  run('cargo', ['install', '--locked', '--root', folder, '--version', version, name, ...features], { CARGO_TARGET_DIR: path.join(folder, 'target') });
}

/** Runs a command with the tools on its PATH; throws when it fails. */
export function run(command, args, env = {}) {
  const { status, error, stdout } = spawnSync(command, args, {
    cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 2 ** 28, env: { ...toolEnv(), ...env },
  });
  if (error) throw new Error(`${command} could not be started: ${error.message}`);
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}`);
  return stdout;
}

function toolEnv() {
  const PATH = [path.join(folder, 'bin'), path.join(python, 'bin'), process.env.PATH].join(path.delimiter);
  return { ...process.env, PATH, PYTHONPATH: python, CARGO_ZIGBUILD_CACHE_DIR: path.join(root, '.cache', 'zigbuild') };
}
