// Installs what a folder's package-lock.json says, the first time somebody needs it.
// Used for what only tests, the benchmark and the example want; the package itself depends on nothing.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const WAIT_MS = 250;
const GIVE_UP_AFTER_MS = 300_000;

/** Returns the folder's node_modules. Several processes may ask at once: one installs, the others wait. */
export function installFolder(folder) {
  const modules = path.join(folder, 'node_modules');
  if (isInstalled(folder)) return modules;
  withLock(lockFor(folder), () => {
    if (isInstalled(folder)) return;
    runNpmCi(folder);
    if (!isInstalled(folder)) throw new Error(`npm ci in ${folder} left out: ${missing(folder).join(', ')}`);
  });
  return modules;
}

/** npm writes node_modules/.package-lock.json at the end of an installation that went well. */
export function isInstalled(folder) {
  return missing(folder).length === 0;
}

function missing(folder) {
  const wanted = readPackages(path.join(folder, 'package-lock.json'));
  const present = readPackages(path.join(folder, 'node_modules', '.package-lock.json'));
  return Object.entries(wanted)
    .filter(([name, entry]) => name !== '' && !(entry.optional && !fitsHere(entry)))
    .filter(([name, entry]) => present[name]?.version !== entry.version)
    .map(([name]) => name);
}

function readPackages(file) {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8')).packages;
  } catch (error) {
    if (error.code === 'ENOENT') return {};
    throw error;
  }
}

function fitsHere({ os, cpu, libc }) {
  const fits = (list, value) => list === undefined || [list].flat().includes(value);
  return fits(os, process.platform) && fits(cpu, process.arch) && fits(libc, libcHere());
}

function libcHere() {
  return process.report.getReport().header.glibcVersionRuntime ? 'glibc' : 'musl';
}

function runNpmCi(folder) {
  console.error(`Installing what ${path.relative(process.cwd(), folder) || '.'}/package-lock.json lists ...`);
  const { status, error, stderr } = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'ignore', 'pipe'],
    shell: process.platform === 'win32',
  });
  if (error) throw new Error(`npm could not be started: ${error.message}`);
  if (status !== 0) throw new Error(`npm ci in ${folder} ended with ${status}:\n${stderr}`);
}

/** Outside the folder: npm ci empties node_modules, and what a killed run leaves must not look like source. */
function lockFor(folder) {
  const name = createHash('sha256').update(path.resolve(folder)).digest('hex').slice(0, 16);
  return path.join(os.tmpdir(), `sealite-install-${name}`);
}

function withLock(lock, action) {
  const start = Date.now();
  while (!takeLock(lock)) {
    if (Date.now() - start > GIVE_UP_AFTER_MS) {
      throw new Error(`Another process has been installing for long; if there is none, remove ${lock}`);
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAIT_MS);
  }
  try {
    action();
  } finally {
    fs.rmSync(lock, { force: true });
  }
}

/** A lock whose owner is gone is taken away, so a killed installation blocks nobody. */
function takeLock(lock) {
  try {
    fs.writeFileSync(lock, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
  if (ownerIsGone(lock)) fs.rmSync(lock, { force: true });
  return false;
}

function ownerIsGone(lock) {
  try {
    const owner = Number(fs.readFileSync(lock, 'utf8'));
    if (owner > 0) process.kill(owner, 0);
    return false;
  } catch (error) {
    return error.code === 'ESRCH';
  }
}
