'use strict';

// Hostile sequences: whatever a program does to its databases, from getters, callbacks and proxies too,
// ends in a result, in an error of the contract or in what the program itself threw; the process never
// dies, every database can be closed, every file is whole. What a sequence does is in actions.js.
//
// SEALITE_PROPERTY_COUNT is the number of sequences; SEALITE_TEST_SEED the seed of the first, which
// the name of the test shows; each next one has the next seed. `node __test__/property/sequences.js
// <seed> 1` repeats one and lists its actions.

const test = require('node:test');
const assert = require('node:assert/strict');
const path = require('node:path');
const { spawn } = require('node:child_process');
const { isPeer } = require('../support/database.js');
const { someSeed } = require('../interop/random.js');

const BATCH = 100;
const BATCH_TIMEOUT_MS = 240_000;
const count = Number(process.env.SEALITE_PROPERTY_COUNT || 300);
const first = someSeed() % 2 ** 30;

/** Runs sequences in a process of their own; gives the lines it wrote and how it ended. */
function runBatch(from, length) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [path.join(__dirname, 'sequences.js'), String(from), String(length)], { stdio: ['ignore', 'pipe', 'pipe'] });
    const timer = setTimeout(() => child.kill('SIGKILL'), BATCH_TIMEOUT_MS);
    let [out, err] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text) => (out += text));
    child.stderr.setEncoding('utf8').on('data', (text) => (err += text));
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      resolve({ lines: out.trim().split('\n'), err, end: signal ?? code });
    });
  });
}

/** What is wrong with a batch, each with the seed that shows it. */
function problemsOf({ lines, err, end }) {
  const problems = [];
  let seed = 'no seed';
  for (const line of lines) {
    if (line.startsWith('seed ')) seed = line;
    if (line.startsWith('fault ')) problems.push(`${seed}: ${line}`);
  }
  if (end !== 0 || lines.at(-1) !== 'end') problems.push(`${seed}: the process ended with ${end}\n${err}`);
  return problems;
}

const skip = isPeer && 'the replaced package dies of some of them';

test(`${count} hostile sequences from seed ${first}`, { skip }, async () => {
  const problems = [];
  for (let done = 0; done < count; done += BATCH) {
    problems.push(...problemsOf(await runBatch(first + done, Math.min(BATCH, count - done))));
  }
  assert.deepEqual(problems, []);
});
