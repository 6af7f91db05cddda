// Runs the JavaScript tests and ends with "N passed, N failed".
//
//   node scripts/test-js.mjs [--node <path>] [filter...]
//
// Every file runs in a process of its own under the Node named by --node (this one by default; "peers" is one
// that the replaced package runs on),
// two at a time. A filter is a part of a path below __test__ ("api/", "rekey"); one that matches is enough.
// Folders that need more than the package run when a filter names them: "clients/".
// What the tests need is in __test__/support; how results are passed is in its reporter.mjs.

import { spawn } from 'node:child_process';
import { readdirSync, existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { MARK } from '../__test__/support/reporter.mjs';
import { nodeForPeers } from './peers.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const testRoot = join(root, '__test__');
const reporter = pathToFileURL(join(testRoot, 'support', 'reporter.mjs')).href;
const folders = ['api', 'cli', 'docs', 'encryption', 'example', 'faults', 'inspect', 'interop', 'package', 'property'];
// They need other packages, or (sqlcipher) a program that scripts/test-sqlcipher.mjs builds.
const onDemand = ['bundlers', 'clients', 'sqlcipher', 'types'];
const concurrency = 2;
const fileTimeoutMs = 300_000;

const { node, filters } = parseArguments(process.argv.slice(2));
const files = testFiles().filter((file) => filters.length === 0 || filters.some((part) => file.includes(part)));
if (files.length === 0) {
  console.error(`No test file matches ${filters.join(' ') || 'below __test__'}`);
  process.exit(1);
}

const total = { passed: 0, failed: 0, skipped: 0 };
const waiting = [...files];
await Promise.all(Array.from({ length: concurrency }, work));
const skips = total.skipped > 0 ? `, ${total.skipped} skipped` : '';
console.log(`${total.passed} passed, ${total.failed} failed${skips}`);
process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0;

async function work() {
  while (waiting.length > 0) {
    const file = waiting.shift();
    const startedAt = performance.now();
    print(file, await run(file), performance.now() - startedAt);
  }
}

function parseArguments(args) {
  const result = { node: process.execPath, filters: [] };
  while (args.length > 0) {
    const word = args.shift();
    if (word === '--node') result.node = nodeAt(args.shift() ?? fail('--node needs a path'));
    else if (word.startsWith('-')) fail(`Unknown option ${word}; use: test-js.mjs [--node <path>] [filter...]`);
    else result.filters.push(word);
  }
  return result;
}

function nodeAt(place) {
  return place === 'peers' ? nodeForPeers() : place;
}

function fail(message) {
  console.error(message);
  process.exit(1);
}

// Test files are NN.name.js or name.test.js; other files beside them are their helpers.
function testFiles() {
  return [...folders, ...onDemand.filter((folder) => filters.some((part) => part.startsWith(`${folder}/`)))]
    .map((folder) => join(testRoot, folder))
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => walk(folder))
    .filter((file) => /(^|[\\/])(\d\d\.[^\\/]+|[^\\/]+\.test)\.js$/.test(file));
}

function walk(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => name !== 'node_modules')
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const full = join(folder, entry.name);
      return entry.isDirectory() ? walk(full) : [relative(testRoot, full).replaceAll('\\', '/')];
    });
}

/** Runs one file; gives its results, everything else it printed, and how its process ended. */
function run(file) {
  return new Promise((resolve) => {
    const child = spawn(node, [`--test-reporter=${reporter}`, '--test-reporter-destination=stdout', join(testRoot, file)], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const timer = setTimeout(() => child.kill('SIGKILL'), fileTimeoutMs);
    let out = '';
    let err = '';
    child.stdout.setEncoding('utf8').on('data', (text) => (out += text));
    child.stderr.setEncoding('utf8').on('data', (text) => (err += text));
    child.on('error', (error) => resolve({ tests: [], rest: [], err: String(error), end: 'did not start' }));
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      const lines = out.split('\n');
      resolve({
        tests: lines.filter((line) => line.startsWith(MARK)).map((line) => JSON.parse(line.slice(MARK.length))),
        rest: lines.filter((line) => line !== '' && !line.startsWith(MARK)),
        err,
        end: signal ? `killed by ${signal}` : code === 0 ? 'ok' : `exit code ${code}`,
      });
    });
  });
}

function print(file, { tests, rest, err, end }, ms) {
  const failed = tests.filter((test) => test.state === 'failed');
  const skipped = tests.filter((test) => test.state === 'skipped');
  const passed = tests.length - failed.length - skipped.length;
  // A process that was killed, failed without a failed test, or ran no test: no test could report that.
  const died = end.startsWith('killed') || (failed.length === 0 && (end !== 'ok' || tests.length === 0));
  total.passed += passed;
  total.skipped += skipped.length;
  total.failed += failed.length + (died ? 1 : 0);
  const parts = [`${passed} passed`];
  if (failed.length > 0) parts.push(`${failed.length} failed`);
  if (skipped.length > 0) parts.push(`${skipped.length} skipped`);
  if (died) parts.push(`process: ${tests.length === 0 && end === 'ok' ? 'ran no test' : end}`);
  console.log(`${failed.length > 0 || died ? 'FAIL' : 'ok  '} ${file.padEnd(34)} ${parts.join(', ')} (${(ms / 1000).toFixed(1)} s)`);
  for (const line of rest) console.log(`       ${line}`);
  for (const test of failed) console.log(`  not ok: ${test.name}\n${indent(test.error)}`);
  if ((failed.length > 0 || died) && err.trim() !== '') console.log(indent(err.trim()));
}

function indent(text) {
  return text.split('\n').map((line) => `      ${line}`).join('\n');
}
