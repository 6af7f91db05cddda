// Runs the JavaScript tests under Bun and Deno and ends with "N passed, N failed".
//
//   node scripts/test-runtimes.mjs [bun|deno] [filter...]
//
// Tests that cannot pass there stand in __test__/runtimes/known.json with the reason; one that passes all the
// same fails the run, so that the list stays true. The interop tests start processes of Node by design and are
// left out. Which runtimes: __test__/runtimes/package.json.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { installFolder } from './install-folder.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const RUNTIMES = path.join(ROOT, '__test__', 'runtimes');
const FOLDERS = ['api', 'encryption'];
const TIMEOUT_MS = 240_000;

const COMMANDS = {
  bun: (report, file) => [['bun', 'bin', 'bun'], ['test', '--timeout', String(TIMEOUT_MS), '--reporter=junit', `--reporter-outfile=${report}`, `./${file}`]],
  deno: (report, file) => [['deno', 'deno'], ['test', '--allow-all', '--no-check', `--junit-path=${report}`, file]],
};

const known = JSON.parse(fs.readFileSync(path.join(RUNTIMES, 'known.json'), 'utf8'));
const args = process.argv.slice(2);
const runtimes = Object.keys(COMMANDS).filter((name) => args.length === 0 || !(args[0] in COMMANDS) || args[0] === name);
const filters = args.filter((word) => !(word in COMMANDS));
const modules = installFolder(RUNTIMES);
const total = { passed: 0, failed: 0 };

for (const runtime of runtimes) {
  const count = { passed: 0, failed: 0, known: 0 };
  for (const file of testFiles()) runFile(runtime, file, count);
  console.log(`${runtime}: ${count.passed} passed, ${count.failed} failed, ${count.known} known not to pass`);
  total.passed += count.passed;
  total.failed += count.failed;
}
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0;

function testFiles() {
  return FOLDERS
    .flatMap((folder) => fs.readdirSync(path.join(ROOT, '__test__', folder)).map((name) => `__test__/${folder}/${name}`))
    .filter((file) => /\/(\d\d\.[^/]+|[^/]+\.test)\.js$/.test(file))
    .filter((file) => filters.length === 0 || filters.some((part) => file.includes(part)))
    .sort();
}

function runFile(runtime, file, count) {
  const report = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'sealite-runtime-')), 'report.xml');
  const [place, words] = COMMANDS[runtime](report, file);
  const child = spawnSync(path.join(modules, ...place), words, { cwd: ROOT, encoding: 'utf8', timeout: TIMEOUT_MS * 2 });
  const cases = fs.existsSync(report) ? readCases(fs.readFileSync(report, 'utf8')) : [];
  fs.rmSync(path.dirname(report), { recursive: true });
  const short = file.replace('__test__/', '');
  if (cases.length === 0) {
    count.failed += 1;
    console.log(`FAIL ${runtime} ${short}: no test ran\n${child.stderr || child.stdout}`);
  }
  for (const { name, passed } of cases) judge(runtime, short, name, passed, count);
}

function judge(runtime, file, name, passed, count) {
  const reason = known[runtime]?.[file]?.[name];
  if (reason !== undefined && !passed) count.known += 1;
  else if (passed && reason === undefined) count.passed += 1;
  else {
    count.failed += 1;
    console.log(`FAIL ${runtime} ${file}: ${name}${passed ? ' (passes, so known.json is wrong)' : ''}`);
  }
}

/** JUnit's <testcase> elements; both runtimes write the name first to last in one line of attributes. */
function readCases(xml) {
  return [...xml.matchAll(/<testcase\b([^>]*?)(\/>|>([\s\S]*?)<\/testcase>)/g)]
    .filter(([, , , body = '']) => !body.includes('<skipped'))
    .map(([, attributes, , body = '']) => ({
      name: decode(/\bname="([^"]*)"/.exec(attributes)[1]),
      passed: !/<(failure|error)\b/.test(body),
    }));
}

function decode(text) {
  const entities = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
  return text.replace(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (whole, hex, decimal, name) =>
    (hex ? String.fromCodePoint(parseInt(hex, 16)) : decimal ? String.fromCodePoint(Number(decimal)) : entities[name] ?? whole));
}
