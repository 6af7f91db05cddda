// `npm run benchmark:peers`: the same workloads on two sides in turn (A B A B), each in a process of its own,
// and the median of the paired ratios with the smallest and the largest.
//
// Without --a and --b it compares our chacha20 with better-sqlite3-multiple-ciphers' chacha20 and with
// better-sqlite3 in clear text: the table of docs/performance.md. Not here: the workloads (workloads.js).

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { pinnedNode } from '../scripts/peers.mjs';
import { startProgress } from './progress.mjs';
import { conditions, newFolder } from './record.mjs';
import { spreadOf } from './results.mjs';
import { describeSide, readSide } from './sides.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const ROOT = path.dirname(HERE);
const WORK = path.join(ROOT, 'target', 'benchmark');
const { WORKLOADS } = createRequire(import.meta.url)('./workloads.js');

const DEFAULT_PAIRS = [
  ['sealite:chacha20', 'better-sqlite3-multiple-ciphers:chacha20'],
  ['sealite:chacha20', 'better-sqlite3'],
];

/** Minutes a run may take: a further repeat that would end later is not begun. */
const BUDGET = { full: 28, quick: 2.75 };
const REPEATS = { full: 7, quick: 3 };
const FEWEST_REPEATS = 2;

const USAGE = `npm run benchmark:peers -- [options]
  --a <side>        module[:scheme]; module is sealite, better-sqlite3-multiple-ciphers, better-sqlite3,
                    node:sqlite, bun:sqlite or the path of a package. No scheme: clear text
  --b <side>        the side compared with
  --only <name>     this workload only, may be given again: ${WORKLOADS.map(({ name }) => name).join(', ')}
  --rows            the workloads on rows only
  --repeats <n>     exactly n pairs
  --node <path>     the Node for both sides
  --quick           a third of the work, ${REPEATS.quick} pairs, under 3 minutes
  --smoke           one tiny pair of each; shows that it works, measures nothing
  --machine <name>  name of the machine in the record's folder
  --keep            write the record to benchmark/record`;

function readOptions(args) {
  const text = { type: 'string' };
  const flag = { type: 'boolean', default: false };
  const { values } = parseArgs({
    args,
    options: {
      a: text, b: text, only: { ...text, multiple: true, default: [] }, rows: flag, repeats: text, node: text,
      quick: flag, smoke: flag, machine: text, keep: flag, help: flag,
    },
  });
  if (values.help) return null;
  if ((values.a === undefined) !== (values.b === undefined)) throw new Error('--a and --b come together');
  const unknown = values.only.find((name) => !WORKLOADS.some((workload) => workload.name === name));
  if (unknown !== undefined) throw new Error(`No workload is named ${unknown}\n\n${USAGE}`);
  if (values.repeats !== undefined && !/^[1-9]\d*$/.test(values.repeats)) throw new Error('--repeats needs a number from 1 on');
  const mode = values.quick ? 'quick' : 'full';
  return {
    ...values,
    args,
    pairs: (values.a === undefined ? DEFAULT_PAIRS : [[values.a, values.b]]).map((pair) => pair.map(readSide)),
    workloads: WORKLOADS.filter((workload) => chosen(workload, values)),
    repeats: values.repeats ? Number(values.repeats) : values.smoke ? 1 : REPEATS[mode],
    budgetMs: values.repeats ? Infinity : BUDGET[mode] * 60_000,
    scale: values.smoke ? 0.01 : values.quick ? 0.34 : 1,
  };
}

function chosen({ name, rows }, { only, rows: rowsOnly }) {
  return only.length > 0 ? only.includes(name) : !rowsOnly || rows === true;
}

/** A workload that only one side can do, such as the key cache, is still a pair: the other does it without. */
function measure(side, workload, { node, scale, smoke }) {
  const folder = fs.mkdtempSync(path.join(WORK, 'workload-'));
  const job = {
    module: side.module, scheme: side.scheme, workload: workload.name, folder, scale, most: smoke ? 300 : Number.MAX_SAFE_INTEGER,
  };
  try {
    const env = { ...process.env, SQLITE_TMPDIR: folder };
    const child = { env, stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' };
    const args = [path.join(HERE, 'workload.js'), JSON.stringify(job)];
    return JSON.parse(execFileSync(side.runtime ?? node ?? pinnedNode(), args, child)).figure;
  } catch (error) {
    throw new Error(`${workload.name} with ${side.name} failed:\n${error.stderr || error.message}`);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** @returns {{pair, workload, repeat, a, b}[]} */
function runAll(options) {
  const turns = options.pairs.flatMap((pair, at) => options.workloads.map((workload) => ({ pair, at, workload })));
  const progress = startProgress(turns.length * options.repeats);
  const samples = [];
  const start = performance.now();
  for (let repeat = 1; repeat <= options.repeats; repeat += 1) {
    const elapsed = performance.now() - start;
    if (repeat > FEWEST_REPEATS && elapsed + elapsed / (repeat - 1) > options.budgetMs) break;
    for (const { pair: [a, b], at, workload } of turns) {
      progress.next(`pair ${repeat}, ${workload.name}, ${a.name} and ${b.name}`);
      samples.push({ pair: at, workload: workload.name, repeat, a: measure(a, workload, options), b: measure(b, workload, options) });
    }
  }
  progress.end();
  return samples;
}

/** Above 1 side A is faster; for memory below 1 is better. */
function summarize(options, samples) {
  return options.pairs.map(([a, b], at) => ({
    a: describeSide(a),
    b: describeSide(b),
    rows: options.workloads.map(({ name, title, target, stretch, less }) => {
      const own = samples.filter(({ pair, workload }) => pair === at && workload === name);
      const wanted = wantedOf(b, { target, stretch });
      const ratio = spreadOf(own.map((sample) => sample.a / sample.b));
      const met = wanted === undefined ? undefined : less ? ratio.median <= wanted : ratio.median >= wanted;
      return { name, title, less, wanted, met, ratio, a: spreadOf(own.map((s) => s.a)), b: spreadOf(own.map((s) => s.b)) };
    }),
  }));
}

/** Of a runtime's own module only not to be slower is asked. */
function wantedOf({ module, scheme }, { target, stretch }) {
  if (module.endsWith(':sqlite')) return 1;
  return scheme === null ? stretch : target;
}

function table({ a, b, rows }) {
  const number = (value) => value.toLocaleString('en', { maximumSignificantDigits: 4 });
  const lines = rows.map(({ title, less, wanted, met, ratio, a: ours, b: theirs }) => {
    const unit = less ? ' KiB' : '/s';
    const goal = wanted === undefined ? '-' : `${less ? '<=' : '>='} ${wanted}${met ? '' : ' (missed)'}`;
    return `| ${title} | ${number(ours.median)}${unit} | ${number(theirs.median)}${unit} | ${ratio.median.toFixed(2)}`
      + ` (${ratio.min.toFixed(2)}–${ratio.max.toFixed(2)}) | ${goal} |`;
  });
  return [
    `A: ${a}`, `B: ${b}`, '',
    '| workload | A | B | A / B: median (min–max) | wanted |', '|---|---|---|---|---|', ...lines, '',
  ].join('\n');
}

function writeRecord(options, samples, summary) {
  const base = options.keep ? path.join(HERE, 'record') : path.join(WORK, 'record');
  const folder = newFolder(base, 'peers', options.machine);
  const facts = conditions('npm run benchmark:peers', options.args, options.node ?? pinnedNode());
  const write = (name, text) => fs.writeFileSync(path.join(folder, name), text);
  const lines = Object.entries(facts).map(([name, value]) => `- ${name}: ${value}`);
  const pairs = Math.max(...samples.map(({ repeat }) => repeat));
  write('README.md', `${['# Two sides in turn', '', ...lines, `- pairs: ${pairs}; own process for each figure`, '', ...summary.map(table)].join('\n')}`);
  write('results.json', `${JSON.stringify({ conditions: facts, pairs: summary }, null, 2)}\n`);
  write('raw.csv', `pair,workload,repeat,a,b\n${samples.map((s) => `${s.pair},${s.workload},${s.repeat},${s.a},${s.b}`).join('\n')}\n`);
  return folder;
}

try {
  const options = readOptions(process.argv.slice(2));
  if (options === null) console.log(USAGE);
  else {
    fs.mkdirSync(WORK, { recursive: true });
    const samples = runAll(options);
    const summary = summarize(options, samples);
    console.log(summary.map(table).join('\n'));
    console.log(`Written to ${path.relative(ROOT, writeRecord(options, samples, summary))}`);
  }
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
