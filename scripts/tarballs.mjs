// `npm run tarballs`: the packages as npm would publish them, with their checksums, in .cache/tarballs.
//
// A platform package is made for each addon that lies beside index.js, and the main package names
// exactly those as optional dependencies. They stand only there and not in the repository, where
// `npm ci` would look for versions that are not published yet. Building is in build.mjs.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const output = path.join(root, '.cache', 'tarballs');
const staging = path.join(root, '.cache', 'staging');
const readJson = (file) => JSON.parse(fs.readFileSync(file, 'utf8'));

for (const folder of [output, staging]) fs.rmSync(folder, { recursive: true, force: true });
fs.mkdirSync(output, { recursive: true });
const manifest = readJson(path.join(root, 'package.json'));
const targets = fs.readdirSync(path.join(root, 'npm')).filter((target) => fs.existsSync(addonOf(target)));
if (targets.length === 0) {
  console.error('There is no addon beside index.js to pack; "npm run build" makes one.');
  process.exit(1);
}
for (const target of targets) packPlatform(target);
packMain();
writeChecksums();
fs.rmSync(staging, { recursive: true });

function addonOf(target) {
  return path.join(root, `sealite.${target}.node`);
}

function packPlatform(target) {
  const folder = path.join(staging, target);
  fs.cpSync(path.join(root, 'npm', target), folder, { recursive: true });
  const { version } = readJson(path.join(folder, 'package.json'));
  if (version !== manifest.version) throw new Error(`npm/${target} has version ${version}, not ${manifest.version}`);
  for (const file of [addonOf(target), path.join(root, 'LICENSE')]) fs.copyFileSync(file, path.join(folder, path.basename(file)));
  const needs = target.endsWith('-gnu') ? `, needs glibc ${glibcNeeded(addonOf(target))}` : '';
  console.log(`sealite-${target}: ${(fs.statSync(addonOf(target)).size / 2 ** 20).toFixed(1)} MB${needs}`);
  pack(folder);
}

function packMain() {
  const folder = path.join(staging, 'main');
  fs.mkdirSync(folder);
  for (const part of [...manifest.files, 'README.md', 'LICENSE']) fs.cpSync(path.join(root, part), path.join(folder, part), { recursive: true });
  const optionalDependencies = Object.fromEntries(targets.map((target) => [`sealite-${target}`, manifest.version]));
  fs.writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify({ ...manifest, optionalDependencies }, null, 2)}\n`);
  pack(folder);
}

function pack(folder) {
  const { status, stderr } = spawnSync('npm', ['pack', '--ignore-scripts', '--pack-destination', output], {
    cwd: folder, encoding: 'utf8', shell: process.platform === 'win32',
  });
  if (status !== 0) throw new Error(`npm pack in ${folder} ended with ${status}:\n${stderr}`);
}

/** The newest version of glibc's symbols that the file asks for. */
function glibcNeeded(addon) {
  const versions = fs.readFileSync(addon, 'latin1').match(/GLIBC_\d+(?:\.\d+)+/g).map((name) => name.slice('GLIBC_'.length));
  return versions.sort((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1);
}

function writeChecksums() {
  const lines = fs.readdirSync(output).sort().map((file) => {
    const bytes = fs.readFileSync(path.join(output, file));
    console.log(`${file}: ${(bytes.length / 2 ** 20).toFixed(1)} MB`);
    return `${createHash('sha256').update(bytes).digest('hex')}  ${file}\n`;
  });
  fs.writeFileSync(path.join(output, 'SHA256SUMS'), lines.join(''));
}
