// `npm run benchmark:nodes`: the service's production row and its best columns on every supported Node.
//
// "Best" is the configuration with the highest figure of that kind, among those that keep every commit's
// safety but synchronous=OFF, which the service's article ranks too. better-sqlite3-multiple-ciphers 13 stands
// beside ours where it runs; 12, for Node 18 and 20, has no binary in the registry.
// Not here: the running (run.mjs), what the configurations are (trials.js).

import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { nodes } from '../scripts/peers.mjs';
import { conditions, newFolder } from './record.mjs';
import { spreadOf } from './results.mjs';
import { ROOT, WORK, engineAt, runAll } from './run.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const { CONFIGURATIONS, ENGINES, FULL, QUICK, SMOKE } = createRequire(import.meta.url)('./trials.js');

const RANKED = ['production', 'synchronous-off', 'auto-vacuum-incremental', 'wal-autocheckpoint-1000', 'cache-64mb', 'mmap-256mb'];
const OPERATIONS = ['insert', 'select', 'update'];
const OLDEST_NODE_OF_PEER = 22;
/** Each Node has a fifth of 20 minutes; a quick run a fifth of 2.5. */
const BUDGET_MS = { full: 4 * 60_000, quick: 30_000, smoke: Infinity };

function main() {
  const flag = { type: 'boolean', default: false };
  const { values } = parseArgs({ options: { quick: flag, smoke: flag, keep: flag, machine: { type: 'string' } } });
  const mode = values.smoke ? 'smoke' : values.quick ? 'quick' : 'full';
  fs.mkdirSync(WORK, { recursive: true });
  const lines = nodes().flatMap((node) => linesOf(node, mode));
  const text = [
    '| Node | engine | production: inserts / selects / updates per s | best insert | best select | best update |',
    '|---|---|---|---|---|---|', ...lines,
  ].join('\n');
  console.log(text);
  const folder = newFolder(values.keep ? path.join(HERE, 'record') : path.join(WORK, 'record'), 'nodes', values.machine);
  const facts = Object.entries(conditions('npm run benchmark:nodes', process.argv.slice(2), process.execPath));
  const head = facts.filter(([name]) => name !== 'node').map(([name, value]) => `- ${name}: ${value}`);
  fs.writeFileSync(path.join(folder, 'README.md'), ['# Every Node version', '', ...head, '', text, ''].join('\n'));
  console.log(`\nWritten to ${path.relative(ROOT, folder)}`);
}

function linesOf({ version, path: node }, mode) {
  const modern = Number(version.split('.')[0]) >= OLDEST_NODE_OF_PEER;
  const engines = ENGINES.filter(({ scheme }) => scheme !== null).slice(0, modern ? 2 : 1).map(engineAt);
  const ranked = mode === 'full' ? RANKED : ['production', 'synchronous-off'];
  const options = {
    work: { full: FULL, quick: QUICK, smoke: SMOKE }[mode],
    configurations: CONFIGURATIONS.filter(({ name }) => ranked.includes(name)),
    repeats: mode === 'smoke' ? 1 : 5,
    budgetMs: BUDGET_MS[mode],
  };
  const samples = runAll(options, engines, node);
  return engines.map((engine) => line(version, engine, samples.filter((s) => s.engine === engine.name), ranked));
}

function line(version, engine, samples, ranked) {
  const median = (configuration, operation) => spreadOf(samples
    .filter((sample) => sample.configuration === configuration)
    .map((sample) => sample.suites.published[operation].perSecond)).median;
  const number = (value) => value.toLocaleString('en', { maximumFractionDigits: 0 });
  const best = (operation) => {
    const [top] = ranked.map((name) => ({ name, value: median(name, operation) })).sort((a, b) => b.value - a.value);
    return `${number(top.value)} (${top.name})`;
  };
  const production = OPERATIONS.map((operation) => number(median('production', operation))).join(' / ');
  return `| ${[version, engine.package, production, ...OPERATIONS.map(best)].join(' | ')} |`;
}

try {
  main();
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
