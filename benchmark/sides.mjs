// A side of a comparison: a module, where it is, the runtime it needs, and a scheme or clear text.

import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { bun, peer } from '../scripts/peers.mjs';

const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const SCHEMES = ['chacha20', 'aes256cbc', 'aes128cbc', 'sqlcipher', 'rc4', 'ascon128', 'aegis'];
const OF_A_RUNTIME = ['node:sqlite', 'bun:sqlite'];
const PEERS = ['better-sqlite3', 'better-sqlite3-multiple-ciphers'];

/** @param {string} text `module` or `module:scheme` */
export function readSide(text) {
  if (OF_A_RUNTIME.includes(text)) {
    return { name: text, module: text, scheme: null, runtime: text === 'bun:sqlite' ? bun() : undefined };
  }
  const scheme = SCHEMES.find((known) => text.endsWith(`:${known}`)) ?? null;
  const name = scheme === null ? text : text.slice(0, -scheme.length - 1);
  return { name: text, module: placeOf(name), scheme };
}

function placeOf(name) {
  if (name === 'sealite') return ROOT;
  if (PEERS.includes(name)) return peer(name);
  const folder = path.resolve(name);
  if (!fs.existsSync(path.join(folder, 'package.json'))) throw new Error(`${name} is no package and no known side`);
  return folder;
}

/** Name and version as the package states them, and the scheme. */
export function describeSide({ name, module, scheme }) {
  if (OF_A_RUNTIME.includes(module)) return `${name}, clear text`;
  const { name: stated, version } = JSON.parse(fs.readFileSync(path.join(module, 'package.json'), 'utf8'));
  return `${stated} ${version}, ${scheme ?? 'clear text'}`;
}
