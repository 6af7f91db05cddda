// `npm run rehearse`: installs what `npm run release` has made into empty projects, under every supported Node, as users
// would, and runs the mail service's flow on it. Ends with "N passed, N failed".
//
// Only these tarballs can be installed (__test__/rehearsal/registry.js), and neither Rust nor a compiler is on the PATH.

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

import { installFolder } from './install-folder.mjs';
import { nodes } from './peers.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const release = path.join(root, '.cache', 'release');
const { serve } = createRequire(import.meta.url)('../__test__/rehearsal/registry.js');
const ALIAS = 'npm:sealite@^0.1.0';
const BMC = 'better-sqlite3-multiple-ciphers';

/** How people depend on it: what stands in package.json, under which name, and further arguments of npm. */
const WAYS = [
  { what: 'as sealite', module: 'sealite', manifest: { dependencies: { sealite: '^0.1.0' } } },
  { what: `as ${BMC}`, module: BMC, manifest: { dependencies: { [BMC]: ALIAS } } },
  { what: 'as better-sqlite3', module: 'better-sqlite3', manifest: { dependencies: { 'better-sqlite3': ALIAS } } },
  { what: 'by overrides, for a dependency of a dependency', module: BMC, library: true, manifest: { dependencies: { library: 'file:library' }, overrides: { [BMC]: ALIAS } } },
  { what: 'with --ignore-scripts', module: 'sealite', args: ['--ignore-scripts'], manifest: { dependencies: { sealite: '^0.1.0' } } },
];

const npm = path.join(installFolder(path.join(root, '__test__', 'rehearsal')), 'npm', 'bin', 'npm-cli.js');
const results = [];
const registry = await serve(release);
// Spaces and letters of several scripts, as in the home folders of many people.
const place = fs.mkdtempSync(path.join(os.tmpdir(), 'sealite répétition 練習 '));
try {
  for (const node of nodes()) {
    for (const way of WAYS) await rehearse(`Node ${node.version}, ${way.what}`, () => installs(node, way));
    await rehearse(`Node ${node.version}, without the platform package: says what is missing`, () => refuses(node));
  }
  await rehearse('nothing but these packages was asked for', () => {
    if (registry.missed.length > 0) throw new Error(registry.missed.join(', '));
    return 'nothing';
  });
} finally {
  registry.close();
  fs.rmSync(place, { recursive: true, force: true });
}
const failed = results.filter((passed) => !passed).length;
console.log(`${results.length - failed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;

async function rehearse(name, work) {
  try {
    console.log(`ok    ${name}: ${await work()}`);
    results.push(true);
  } catch (error) {
    console.log(`FAIL  ${name}: ${error.message}`);
    results.push(false);
  }
}

async function installs(node, way) {
  const folder = project(node, way);
  const startedAt = performance.now();
  const installed = await install(node, folder, way.args);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  if (installed.code !== 0) throw new Error(installed.output);
  const addon = path.join('node_modules', 'sealite-linux-x64-gnu', 'sealite.linux-x64-gnu.node');
  if (!fs.existsSync(path.join(folder, addon))) throw new Error(`${addon} is not there`);
  const { name } = JSON.parse(fs.readFileSync(path.join(folder, 'node_modules', way.module, 'package.json'), 'utf8'));
  if (name !== 'sealite') throw new Error(`${way.module} is ${name}`);
  if (way.library) await expectOutput(node, folder, "console.log(require('library'))", '5');
  await expectOutput(node, folder, `console.log(require('${way.module}/package.json').name)`, 'sealite');
  return `npm install in ${seconds} s; ${await flow(node, folder, way.module)}`;
}

/** The flow of the mail service on the installed package. */
async function flow(node, folder, module) {
  const demo = path.join(root, 'examples', 'mail-app', 'demo.mjs');
  const SEALITE_TEST_MODULE = path.join(folder, 'node_modules', module);
  const { code, output } = await run(node, folder, [demo, '--root', path.join(folder, 'mailboxes')], { SEALITE_TEST_MODULE, NO_COLOR: '1' });
  if (code !== 0) throw new Error(output);
  return output.trim().split('\n').at(-1);
}

/** Nothing prebuilt and no Rust: npm fails, and says what to install. */
async function refuses(node) {
  const { code, output } = await install(node, project(node, WAYS[0]), ['--omit=optional', '--foreground-scripts']);
  if (code === 0) throw new Error(`it was installed: ${output}`);
  for (const part of ['no prebuilt addon for linux-x64-gnu', 'Please install', 'Rust 1.', 'https://rustup.rs', 'a C compiler']) {
    if (!output.includes(part)) throw new Error(`no "${part}" in: ${output}`);
  }
  return 'refused';
}

async function expectOutput(node, folder, code, expected) {
  const { output } = await run(node, folder, ['-e', code]);
  if (output.trim() !== expected) throw new Error(`${code} printed ${output}`);
}

/** An empty project whose PATH has this Node and a shell. */
function project(node, way) {
  const folder = fs.mkdtempSync(path.join(place, 'project '));
  fs.mkdirSync(path.join(folder, 'bin'));
  fs.symlinkSync(node.path, path.join(folder, 'bin', 'node'));
  fs.symlinkSync('/bin/sh', path.join(folder, 'bin', 'sh'));
  fs.writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ name: 'app', version: '1.0.0', ...way.manifest }));
  if (way.library) writeLibrary(path.join(folder, 'library'), way.module);
  return folder;
}

function writeLibrary(folder, module) {
  fs.mkdirSync(folder);
  fs.writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ name: 'library', version: '1.0.0', dependencies: { [module]: '^13.0.0' } }));
  fs.writeFileSync(path.join(folder, 'index.js'), `module.exports = new (require('${module}'))(':memory:').prepare('select 5').pluck().get();`);
}

function install(node, folder, args = []) {
  // `library` is copied and not linked, so that its dependency lies where a published one's would.
  const settings = ['--no-audit', '--no-fund', '--no-update-notifier', '--install-links', `--registry=${registry.address}`, '--fetch-retries=0'];
  return run(node, folder, [npm, 'install', ...settings, ...args]);
}

function run(node, folder, args, more = {}) {
  const env = { PATH: path.join(folder, 'bin'), HOME: folder, npm_config_cache: path.join(folder, 'cache'), ...more };
  return new Promise((resolve) => {
    const child = spawn(node.path, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
    child.on('error', (error) => resolve({ code: 1, output: error.message }));
    child.on('close', (code) => resolve({ code, output }));
  });
}
