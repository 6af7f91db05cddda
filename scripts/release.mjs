// `npm run release`: everything that a release for this platform consists of, in .cache/release.
//
//   sealite-<version>.tgz, sealite-linux-x64-gnu-<version>.tgz   the packages, as npm publishes them
//   THIRD-PARTY-NOTICES.md   licences of every linked crate and of SQLite; also in the platform package
//   sealite.cdx.json         the bill of materials (CycloneDX)
//   SHA256SUMS               checksums of all
//
// The addon is built apart from the one beside index.js, with the symbols of an old glibc, and is refused when it asks
// for a newer one. Packing is in tarballs.mjs, the tools are in release-tools.mjs; publishing is not here.

import fs from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { ADDON_ONLY, INLINING } from './build.mjs';
import { installCrate, installZigbuild, run } from './release-tools.mjs';
import { glibcNeeded, makeTarballs, writeChecksums } from './tarballs.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const TARGET = 'linux-x64-gnu';
const TRIPLE = 'x86_64-unknown-linux-gnu';
/** What the addon is linked for. Node 18's own binaries need 2.28. */
const GLIBC_LINKED = '2.17';
const GLIBC_ALLOWED = '2.28';
const NOTICES = 'THIRD-PARTY-NOTICES.md';
const BILL = 'sealite.cdx.json';
export const RELEASE = path.join(root, '.cache', 'release');
const ADDONS = path.join(root, '.cache', 'release-addons');

export function release() {
  for (const folder of [RELEASE, ADDONS]) {
    fs.rmSync(folder, { recursive: true, force: true });
    fs.mkdirSync(folder, { recursive: true });
  }
  buildAddon();
  writeNotices();
  writeBill();
  makeTarballs({ addons: ADDONS, output: RELEASE, notices: path.join(RELEASE, NOTICES) });
  writeChecksums(RELEASE);
}

function buildAddon() {
  installZigbuild();
  const targetDir = path.join(root, 'target', 'release-build');
  const target = ['--target', `${TRIPLE}.${GLIBC_LINKED}`, '--target-dir', targetDir];
  run('cargo-zigbuild', ['rustc', '--release', '--lib', ...ADDON_ONLY, ...target, '--', ...INLINING]);
  const addon = path.join(ADDONS, `sealite.${TARGET}.node`);
  fs.copyFileSync(path.join(targetDir, TRIPLE, 'release', 'libsealite.so'), addon);
  const needed = glibcNeeded(addon);
  if (needed.localeCompare(GLIBC_ALLOWED, 'en', { numeric: true }) > 0) {
    throw new Error(`The addon needs glibc ${needed}; ${GLIBC_ALLOWED} is the newest that every supported Node has`);
  }
}

/** The template (about.hbs) leaves a place for SQLCipher's terms, which the crate with its source has in a file. */
function writeNotices() {
  installCrate('cargo-about');
  const file = path.join(RELEASE, NOTICES);
  run('cargo-about', ['generate', '--fail', '--target', TRIPLE, '--output-file', file, 'about.hbs']);
  const text = fs.readFileSync(file, 'utf8');
  fs.writeFileSync(file, text.replace('SQLCIPHER_LICENCE', () => sqlcipherLicence()));
}

function sqlcipherLicence() {
  const { packages } = JSON.parse(run('cargo', ['metadata', '--format-version', '1', '--locked']));
  const source = packages.find(({ name }) => name === 'sqlcipher-src');
  return fs.readFileSync(path.join(path.dirname(source.manifest_path), 'sqlcipher', 'LICENSE-sqlcipher'), 'utf8').trim();
}

/** The bill of the crates, and SQLite, which no crate's name shows. */
function writeBill() {
  installCrate('cargo-cyclonedx');
  run('cargo-cyclonedx', ['cyclonedx', '--format', 'json', '--target', TRIPLE, '--override-filename', 'sealite.cdx']);
  const bill = JSON.parse(fs.readFileSync(path.join(root, BILL), 'utf8'));
  const version = /SQLite (\d+\.\d+\.\d+)/.exec(fs.readFileSync(path.join(root, 'Cargo.toml'), 'utf8'))[1];
  bill.components.push({
    type: 'library', name: 'sqlite', version, 'bom-ref': `sqlite@${version}`,
    licenses: [{ license: { name: 'SQLite Blessing (public domain)' } }], purl: `pkg:generic/sqlite@${version}`,
  });
  fs.writeFileSync(path.join(RELEASE, BILL), `${JSON.stringify(withoutPaths(bill), null, 2)}\n`);
  for (const file of [BILL, path.join('engine', BILL)]) fs.rmSync(path.join(root, file), { force: true });
}

/** The tool names the crates of this repository by where they lay when it ran. */
function withoutPaths(bill) {
  const place = root.slice(0, -1);
  return JSON.parse(JSON.stringify(bill).replaceAll(pathToFileURL(place).href, 'file://').replaceAll(place, ''));
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) release();
