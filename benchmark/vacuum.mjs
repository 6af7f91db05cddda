// `npm run benchmark:vacuum`: time and peak memory of VACUUM, with the temporary files beside the database, in
// memory (/dev/shm) and where SQLite puts them by itself. Each figure comes from a process that does nothing else.

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { pinnedNode } from '../scripts/peers.mjs';
import { conditions, newFolder } from './record.mjs';
import { spreadOf } from './results.mjs';
import { ROOT, WORK, engineAt } from './run.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const { ENGINES } = createRequire(import.meta.url)('./trials.js');

const WORK_OF = {
  full: { messages: 20_000, repeats: 3 },
  quick: { messages: 4000, repeats: 2 },
  smoke: { messages: 50, repeats: 1 },
};

/** Where temporary files go, as SQLITE_TMPDIR and `temp_store_directory` say; null says nothing. */
function places(folder) {
  const memory = '/dev/shm';
  return [
    { name: 'beside the database', directory: folder },
    ...(os.platform() === 'linux' && fs.existsSync(memory) ? [{ name: memory, directory: memory }] : []),
    { name: 'default', directory: null },
  ];
}

function child(stage, { engine, folder, messages, directory }) {
  const env = { ...process.env };
  delete env.SQLITE_TMPDIR;
  if (directory !== null) env.SQLITE_TMPDIR = directory;
  const job = { stage, module: engine.modulePath, scheme: engine.scheme, folder, messages, directory };
  const options = { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] };
  return JSON.parse(execFileSync(pinnedNode(), [path.join(HERE, 'vacuum-trial.js'), JSON.stringify(job)], options));
}

function measure(engine, place, messages) {
  const folder = fs.mkdtempSync(path.join(WORK, 'vacuum-'));
  try {
    const [at] = places(folder).filter(({ name }) => name === place);
    const job = { engine, folder, messages, directory: at.directory };
    child('fill', job);
    return child('vacuum', job);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

function main() {
  const flag = { type: 'boolean', default: false };
  const { values } = parseArgs({ options: { quick: flag, smoke: flag, keep: flag, machine: { type: 'string' } } });
  const { messages, repeats } = WORK_OF[values.smoke ? 'smoke' : values.quick ? 'quick' : 'full'];
  fs.mkdirSync(WORK, { recursive: true });
  const engines = ENGINES.map(engineAt);
  const turns = places('').flatMap(({ name }) => engines.map((engine) => ({ place: name, engine, samples: [] })));
  for (let repeat = 0; repeat < repeats; repeat += 1) {
    for (const turn of turns) turn.samples.push(measure(turn.engine, turn.place, messages));
  }
  const cell = (samples, pick, digits) => spreadOf(samples.map(pick)).median.toFixed(digits);
  const lines = turns.map(({ place, engine, samples }) =>
    `| ${place} | ${engine.name}, ${engine.scheme ?? 'clear text'} | ${cell(samples, (s) => s.mib, 0)} | ${cell(samples, (s) => s.seconds, 2)} | ${cell(samples, (s) => s.peakMib, 0)} |`);
  const text = ['| temporary files | engine | MiB before | VACUUM s | peak memory of the process, MiB |', '|---|---|---|---|---|', ...lines].join('\n');
  console.log(text);
  const folder = newFolder(values.keep ? path.join(HERE, 'record') : path.join(WORK, 'record'), 'vacuum', values.machine);
  const head = Object.entries(conditions('npm run benchmark:vacuum', process.argv.slice(2), pinnedNode())).map(([name, value]) => `- ${name}: ${value}`);
  const note = `- median of ${repeats}; a memory file system's own pages are not in the process's memory`;
  fs.writeFileSync(path.join(folder, 'README.md'), ['# VACUUM', '', ...head, note, '', text, ''].join('\n'));
  console.log(`\nWritten to ${path.relative(ROOT, folder)}`);
}

try {
  main();
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
