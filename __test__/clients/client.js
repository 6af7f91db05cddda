'use strict';

// What every client test needs: the packages installed, sealite in the place of better-sqlite3 among them, and
// the proof that what a client wrote is encrypted and opens in the replaced package.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { pathToFileURL } = require('node:url');

const ROOT = path.join(__dirname, '..', '..');
const KEY = 'correct horse battery staple';
const REPLACED = ['better-sqlite3', 'better-sqlite3-multiple-ciphers'];

/** Installs the clients and links this project under the names of the packages it replaces. */
async function installed() {
  const { installFolder } = await import(pathToFileURL(path.join(ROOT, 'scripts', 'install-folder.mjs')));
  const modules = installFolder(__dirname);
  for (const name of REPLACED) link(path.join(modules, name));
}

/** Files of clients run in parallel; who comes second finds the link. */
function link(place) {
  try {
    fs.symlinkSync(ROOT, place, 'junction');
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
}

/** @returns the rows of `sql` as the replaced package reads them from the encrypted file */
async function readByPeer(file, sql) {
  assert.notEqual(fs.readFileSync(file).toString('latin1', 0, 15), 'SQLite format 3', 'the file is clear text');
  const { peer } = await import(pathToFileURL(path.join(ROOT, 'scripts', 'peers.mjs')));
  const Peer = require(peer('better-sqlite3-multiple-ciphers'));
  const db = new Peer(file, { readonly: true });
  try {
    db.pragma("cipher='chacha20'");
    db.pragma(`key='${KEY}'`);
    return db.prepare(sql).all();
  } finally {
    db.close();
  }
}

module.exports = { KEY, installed, readByPeer };
