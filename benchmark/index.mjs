// `npm run benchmark`: runs every trial in its own process, engines in turn (A B C A B C), and records.
//
// Time budget: a run without --repeats starts no further repeat that would end after BUDGET_MS.
// Not here: options (options.mjs), the trials (trials.js, trial.js), figures and files (results.mjs, record.mjs).

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { peer, pinnedNode } from '../scripts/peers.mjs';
import { readOptions } from './options.mjs';
import { startProgress } from './progress.mjs';
import { writeRecord } from './record.mjs';
import { summarize, terminalTable } from './results.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const ROOT = path.dirname(HERE);
const { ENGINES, pragmasOf } = createRequire(import.meta.url)('./trials.js');

const BUDGET_MS = 9.5 * 60_000;
const FEWEST_REPEATS = 3;

/** On the disk that holds the project: a temp directory may be memory, which no mailbox lives in. */
const WORK = path.join(ROOT, 'target', 'benchmark');

/** SEALITE_TEST_MODULE puts another module in our place; its figures do not go under our name. */
function engineAt(engine) {
  const ours = engine.name === 'sealite';
  const substitute = ours ? process.env.SEALITE_TEST_MODULE : undefined;
  const modulePath = substitute || (ours ? ROOT : peer(engine.name));
  const { name, version } = JSON.parse(fs.readFileSync(path.join(modulePath, 'package.json'), 'utf8'));
  const shownAs = substitute ? 'SEALITE_TEST_MODULE' : engine.name;
  return { ...engine, name: shownAs, modulePath, package: `${name} ${version}` };
}

function runTrial(node, engine, configuration, work) {
  const folder = fs.mkdtempSync(path.join(WORK, 'trial-'));
  const job = {
    modulePath: engine.modulePath,
    scheme: configuration.clearText ? null : engine.scheme,
    pragmas: pragmasOf(configuration),
    folder,
    ...work,
  };
  try {
    const env = { ...process.env, SQLITE_TMPDIR: folder };
    const child = { env, stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' };
    return JSON.parse(execFileSync(node, [path.join(HERE, 'trial.js'), JSON.stringify(job)], child));
  } catch (error) {
    throw new Error(`${configuration.name} with ${engine.package} failed:\n${error.stderr || error.message}`);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** @returns {{repeat, configuration, engine, ...figures}[]} one entry per process */
function runAll(options, engines, node) {
  const turns = options.configurations.flatMap((configuration) => engines.map((engine) => ({ configuration, engine })));
  const progress = startProgress(options.repeats * turns.length);
  const samples = [];
  const start = performance.now();
  for (let repeat = 1; repeat <= options.repeats; repeat += 1) {
    if (options.bounded && overBudget(repeat - 1, performance.now() - start)) break;
    for (const { configuration, engine } of turns) {
      progress.next(`repeat ${repeat}, ${configuration.name}, ${engine.name}`);
      const figures = runTrial(node, engine, configuration, options.work);
      samples.push({ repeat, configuration: configuration.name, engine: engine.name, ...figures });
    }
  }
  progress.end();
  return samples;
}

function overBudget(done, elapsedMs) {
  return done >= FEWEST_REPEATS && elapsedMs + elapsedMs / done > BUDGET_MS;
}

function main() {
  const options = readOptions(process.argv.slice(2));
  if (options === null) return;
  const engines = ENGINES.map(engineAt);
  fs.mkdirSync(WORK, { recursive: true });
  const samples = runAll(options, engines, pinnedNode());
  const summary = summarize(samples, options.configurations, engines);
  console.log(terminalTable(summary, options.work.suites));
  const base = options.keep ? path.join(HERE, 'record') : path.join(WORK, 'record');
  const folder = writeRecord(base, { options, engines, samples, summary });
  console.log(`\nWritten to ${path.relative(ROOT, folder)}`);
}

try {
  main();
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
