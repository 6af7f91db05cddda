// `npm run benchmark`: the service's configurations on all engines, with a record.
//
// Time budget: a run without --repeats starts no further repeat that would end after `budgetMs`.
// Not here: options (options.mjs), the running (run.mjs), figures and files (results.mjs, record.mjs).

import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { pinnedNode } from '../scripts/peers.mjs';
import { readOptions } from './options.mjs';
import { writeRecord } from './record.mjs';
import { summarize, terminalTable } from './results.mjs';
import { ROOT, WORK, engineAt, runAll } from './run.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const { ENGINES } = createRequire(import.meta.url)('./trials.js');

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
