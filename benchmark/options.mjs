// The command line of the benchmark and what it decides: which trials, how often, whether it is a record.

import { createRequire } from 'node:module';
import { parseArgs } from 'node:util';

const { CONFIGURATIONS, FULL, QUICK, SMOKE } = createRequire(import.meta.url)('./trials.js');

/** Of a run that nobody gave a number of repeats. */
const BUDGET_MS = { full: 12 * 60_000, quick: 2.75 * 60_000 };
const REPEATS = 7;
const QUICK_REPEATS = 3;

const USAGE = `npm run benchmark -- [options]
  --quick          shorter long trial, ${QUICK_REPEATS} repeats
  --smoke          one tiny turn of each trial; shows that it works, measures nothing
  --only <name>    this configuration only, may be given again: ${CONFIGURATIONS.map(({ name }) => name).join(', ')}
  --repeats <n>    exactly n repeats, whatever the time
  --machine <name> name of the machine in the record's folder`;

/** @returns the choice, or null when only help was asked for (it is printed then) */
export function readOptions(args) {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: 'boolean', default: false },
      smoke: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [] },
      repeats: { type: 'string' },
      machine: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(USAGE);
    return null;
  }
  const full = !values.quick && !values.smoke && values.only.length === 0;
  return {
    work: workOf(values),
    configurations: configurationsOf(values.only),
    repeats: repeatsOf(values),
    budgetMs: values.repeats === undefined ? BUDGET_MS[values.quick ? 'quick' : 'full'] : Infinity,
    machine: values.machine,
    args,
    /** Only a full run of our own package is worth keeping under benchmark/record. */
    keep: full && !process.env.SEALITE_TEST_MODULE,
  };
}

function workOf({ quick, smoke }) {
  if (smoke) return SMOKE;
  return quick ? QUICK : FULL;
}

function configurationsOf(names) {
  for (const name of names) {
    if (!CONFIGURATIONS.some((configuration) => configuration.name === name)) {
      throw new Error(`No configuration is named ${name}\n\n${USAGE}`);
    }
  }
  return names.length === 0 ? CONFIGURATIONS : CONFIGURATIONS.filter(({ name }) => names.includes(name));
}

function repeatsOf({ repeats, quick, smoke }) {
  if (repeats !== undefined) {
    if (!/^[1-9]\d*$/.test(repeats)) throw new Error('--repeats needs a number from 1 on');
    return Number(repeats);
  }
  if (smoke) return 1;
  return quick ? QUICK_REPEATS : REPEATS;
}
