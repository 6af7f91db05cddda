// Runs the service's trials: every one in its own process, engines in turn (A B C A B C).
// Not here: what the trials are (trials.js, trial.js), the commands (index.mjs, nodes.mjs).

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { peer } from '../scripts/peers.mjs';
import { startProgress } from './progress.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const { pragmasOf } = createRequire(import.meta.url)('./trials.js');

export const ROOT = path.dirname(HERE);
const FEWEST_REPEATS = 3;

/** On the disk that holds the project: a temp directory may be memory, which no mailbox lives in. */
export const WORK = path.join(ROOT, 'target', 'benchmark');

/** SEALITE_TEST_MODULE puts another module in our place; its figures do not go under our name. */
export function engineAt(engine) {
  const ours = engine.name === 'sealite';
  const substitute = ours ? process.env.SEALITE_TEST_MODULE : undefined;
  const modulePath = substitute || (ours ? ROOT : peer(engine.name));
  const { name, version } = JSON.parse(fs.readFileSync(path.join(modulePath, 'package.json'), 'utf8'));
  const shownAs = substitute ? 'SEALITE_TEST_MODULE' : engine.name;
  return { ...engine, name: shownAs, modulePath, package: `${name} ${version}` };
}

/** An engine without encryption has none in any configuration. */
function schemeOf(engine, { clearText, scheme }) {
  if (clearText || engine.scheme === null) return null;
  return scheme ?? engine.scheme;
}

function runTrial(node, engine, configuration, work) {
  const folder = fs.mkdtempSync(path.join(WORK, 'trial-'));
  const job = {
    modulePath: engine.modulePath,
    scheme: schemeOf(engine, configuration),
    first: configuration.first ?? [],
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
export function runAll(options, engines, node) {
  const turns = options.configurations.flatMap((configuration) => engines.map((engine) => ({ configuration, engine })));
  const progress = startProgress(options.repeats * turns.length);
  const samples = [];
  const start = performance.now();
  for (let repeat = 1; repeat <= options.repeats; repeat += 1) {
    if (overBudget(repeat - 1, performance.now() - start, options.budgetMs)) break;
    for (const { configuration, engine } of turns) {
      progress.next(`repeat ${repeat}, ${configuration.name}, ${engine.name}`);
      const figures = runTrial(node, engine, configuration, options.work);
      samples.push({ repeat, configuration: configuration.name, engine: engine.name, ...figures });
    }
  }
  progress.end();
  return samples;
}

function overBudget(done, elapsedMs, budgetMs) {
  return done >= FEWEST_REPEATS && elapsedMs + elapsedMs / done > budgetMs;
}

