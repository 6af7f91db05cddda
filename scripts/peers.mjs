// The packages and Node versions that tests and benchmark compare with, installed when first asked for.
// What they are stands in benchmark/, __test__/nodes/ and __test__/runtimes/package.json, versions pinned.
//
//   node scripts/peers.mjs             what is installed
//   node scripts/peers.mjs --install   install everything, then the same

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { installFolder, isInstalled } from './install-folder.mjs';

const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const PEERS = path.join(ROOT, 'benchmark');
const NODES = path.join(ROOT, '__test__', 'nodes');
const RUNTIMES = path.join(ROOT, '__test__', 'runtimes');
const OLDEST_NODE_FOR_PEERS = 22;

/** The folder of a package replaced or compared with; `require` takes it as it is. */
export function peer(name) {
  const folder = path.join(installFolder(PEERS), name);
  if (!fs.existsSync(folder)) throw new Error(`${name} is not listed in benchmark/package.json`);
  return folder;
}

/** A Node that the peers run on: the one at hand if it is new enough. */
export function nodeForPeers() {
  return major(process.versions.node) >= OLDEST_NODE_FOR_PEERS ? process.execPath : pinnedNode();
}

/** Always the same Node, whatever runs this: figures are only comparable on one. */
export function pinnedNode() {
  if (!nodesArePublishedHere()) return process.execPath;
  return nodeIn(installFolder(PEERS), 'node22');
}

/** The Bun that measures its own SQLite module. */
export function bun() {
  if (!nodesArePublishedHere()) throw new Error('The Bun package used here exists for Linux on x64 only');
  return path.join(installFolder(RUNTIMES), 'bun', 'bin', 'bun');
}

/** @returns {{version: string, path: string}[]} every supported Node version, oldest first */
export function nodes() {
  if (!nodesArePublishedHere()) throw new Error('The Node packages used here exist for Linux on x64 only');
  const modules = installFolder(NODES);
  return listed(NODES).map((name) => ({ version: versionOf(modules, name), path: nodeIn(modules, name) }));
}

function nodesArePublishedHere() {
  return process.platform === 'linux' && process.arch === 'x64';
}

function listed(folder) {
  const { dependencies = {}, optionalDependencies = {} } = readJson(path.join(folder, 'package.json'));
  return Object.keys({ ...dependencies, ...optionalDependencies });
}

function nodeIn(modules, name) {
  return path.join(modules, name, 'bin', 'node');
}

function versionOf(modules, name) {
  return readJson(path.join(modules, name, 'package.json')).version.replace(/^v/, '');
}

function readJson(file) {
  return JSON.parse(fs.readFileSync(file, 'utf8'));
}

function major(version) {
  return Number(version.split('.')[0]);
}

function printInstalled() {
  for (const folder of [PEERS, NODES, RUNTIMES]) {
    console.log(`${path.relative(ROOT, folder)}/`);
    const present = isInstalled(folder);
    for (const name of listed(folder)) {
      const state = present ? describe(path.join(folder, 'node_modules'), name) : 'not installed';
      console.log(`  ${name.padEnd(33)} ${state}`);
    }
  }
}

/** A Node proves itself by answering; a package by the version it states. */
function describe(modules, name) {
  const version = versionOf(modules, name);
  if (!/^node\d+$/.test(name)) return version;
  return `${version} (answers ${execFileSync(nodeIn(modules, name), ['--version'], { encoding: 'utf8' }).trim()})`;
}

if (process.argv[1] && import.meta.url === pathToFileURL(fs.realpathSync(process.argv[1])).href) {
  if (process.argv.includes('--install')) [PEERS, NODES, RUNTIMES].forEach(installFolder);
  printInstalled();
}
