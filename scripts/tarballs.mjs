// `npm run tarballs [-- --addons <folder>] [--output <folder>]`: the packages as npm would publish them, with their checksums, in .cache/tarballs.
//
// A platform package is made for each addon in a folder (beside index.js, or what release.mjs has built), and the main
// package names exactly those as optional dependencies. They stand only there and not in the repository, where `npm ci`
// would look for versions that are not published yet. Building is in build.mjs and release.mjs.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
const readJson = (file) => JSON.parse(fs.readFileSync(file, 'utf8'));
const manifest = readJson(path.join(root, 'package.json'));

/** Packs the addons in `addons` and the main package into `output`; `notices` is a file that goes with each addon. */
export function makeTarballs({ addons = root, output, notices = null }) {
  const targets = fs.readdirSync(path.join(root, 'npm')).filter((target) => fs.existsSync(addonIn(addons, target)));
  if (targets.length === 0) throw new Error('There is no addon to pack; "npm run build" makes one.');
  const staging = fs.mkdtempSync(path.join(output, 'staging-'));
  try {
    for (const target of targets) pack(stagePlatform(target, addonIn(addons, target), notices, staging), output);
    pack(stageMain(targets, staging), output);
  } finally {
    fs.rmSync(staging, { recursive: true });
  }
}

function addonIn(folder, target) {
  return path.join(folder, `sealite.${target}.node`);
}

function stagePlatform(target, addon, notices, staging) {
  const folder = path.join(staging, target);
  fs.cpSync(path.join(root, 'npm', target), folder, { recursive: true });
  const platform = readJson(path.join(folder, 'package.json'));
  if (platform.version !== manifest.version) throw new Error(`npm/${target} has version ${platform.version}, not ${manifest.version}`);
  const files = [addon, path.join(root, 'LICENSE'), ...(notices ? [notices] : [])];
  for (const file of files) fs.copyFileSync(file, path.join(folder, path.basename(file)));
  writeManifest(folder, { ...platform, files: [...platform.files, ...(notices ? [path.basename(notices)] : [])] });
  const needs = target.endsWith('-gnu') ? `, needs glibc ${glibcNeeded(addon)}` : '';
  console.log(`${path.basename(addon)}: ${megabytes(fs.statSync(addon).size)}${needs}`);
  return folder;
}

function stageMain(targets, staging) {
  const folder = path.join(staging, 'main');
  fs.mkdirSync(folder);
  for (const part of [...manifest.files, 'README.md', 'LICENSE']) fs.cpSync(path.join(root, part), path.join(folder, part), { recursive: true });
  const optionalDependencies = Object.fromEntries(targets.map((target) => [`sealite-${target}`, manifest.version]));
  writeManifest(folder, { ...manifest, optionalDependencies });
  return folder;
}

function writeManifest(folder, content) {
  fs.writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify(content, null, 2)}\n`);
}

function pack(folder, output) {
  const { status, stderr } = spawnSync('npm', ['pack', '--ignore-scripts', '--pack-destination', output], {
    cwd: folder, encoding: 'utf8', shell: process.platform === 'win32',
  });
  if (status !== 0) throw new Error(`npm pack in ${folder} ended with ${status}:\n${stderr}`);
}

/** The newest version of glibc's symbols that the file asks for. */
export function glibcNeeded(addon) {
  const versions = fs.readFileSync(addon, 'latin1').match(/GLIBC_\d+(?:\.\d+)+/g).map((name) => name.slice('GLIBC_'.length));
  return versions.sort((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1);
}

/** Writes SHA256SUMS of the files in `folder`, and says how large each is. */
export function writeChecksums(folder) {
  const lines = fs.readdirSync(folder).sort().map((file) => {
    const bytes = fs.readFileSync(path.join(folder, file));
    console.log(`${file}: ${megabytes(bytes.length)}`);
    return `${createHash('sha256').update(bytes).digest('hex')}  ${file}\n`;
  });
  fs.writeFileSync(path.join(folder, 'SHA256SUMS'), lines.join(''));
}

function megabytes(size) {
  return `${(size / 2 ** 20).toFixed(2)} MB`;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const text = { type: 'string' };
  const { addons, output = path.join(root, '.cache', 'tarballs') } = parseArgs({ options: { addons: text, output: text } }).values;
  fs.rmSync(output, { recursive: true, force: true });
  fs.mkdirSync(output, { recursive: true });
  makeTarballs({ addons, output });
  writeChecksums(output);
}
