// From samples to figures: median, minimum and maximum per configuration and engine, and the tables.
// Not here: files (record.mjs).

import { createRequire } from 'node:module';

const published = createRequire(import.meta.url)('./published.json').configurations;

const OPERATIONS = ['insert', 'select', 'update', 'delete'];
const AUTO_VACUUM = ['NONE', 'FULL', 'INCREMENTAL'];
const HEADER = [
  'configuration', 'engine', 'set-up ms', 'inserts/s', 'selects/s', 'updates/s', 'deletes/s', 'MB',
  'auto_vacuum in force',
];

export function summarize(samples, configurations, engines) {
  return configurations.map(({ name, why, expected, set, clearText }) => ({
    name,
    why,
    expected,
    autoVacuumAsked: new Map(set).get('auto_vacuum') ?? 'FULL',
    clearText: clearText ?? false,
    published: published[name],
    engines: engines.map((engine) => {
      const own = samples.filter((sample) => sample.configuration === name && sample.engine === engine.name);
      return { name: engine.name, ...summarizeEngine(own) };
    }),
  }));
}

function summarizeEngine(samples) {
  const spread = (pick) => spreadOf(samples.map(pick));
  const suites = {};
  for (const suite of Object.keys(samples[0].suites)) {
    const rate = (operation) => spread((s) => s.suites[suite][operation].perSecond);
    suites[suite] = Object.fromEntries(OPERATIONS.map((operation) => [operation, rate(operation)]));
  }
  return {
    setupMs: spread((s) => s.setupMs),
    mib: spread((s) => s.mib),
    autoVacuum: [...new Set(samples.map((s) => AUTO_VACUUM[s.autoVacuum]))].join(', '),
    suites,
  };
}

export function spreadOf(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const median = sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  return { median, min: sorted[0], max: sorted[sorted.length - 1], count: sorted.length };
}

/** One table per suite, medians only; the record has the spread. */
export function terminalTable(summary, suites) {
  return suites.map((suite) => {
    const title = `\n${titleOf(suite)}, median of ${summary[0].engines[0].setupMs.count}\n`;
    return title + layOut([HEADER, ...rowsOf(summary, suite.name, (spread, digits) => format(spread.median, digits))]);
  }).join('\n');
}

export function markdownTable(summary, suiteName) {
  const cell = (spread, digits) =>
    `${format(spread.median, digits)} (${format(spread.min, digits)}–${format(spread.max, digits)})`;
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(HEADER), line(HEADER.map(() => '---')), ...rowsOf(summary, suiteName, cell).map(line)].join('\n');
}

export function titleOf({ name, insert, select, update, delete: remove, limitMs }) {
  const limit = limitMs === undefined ? '' : `, at most ${limitMs} ms of each`;
  const amounts = `${insert} inserts, ${select} selects of 50 rows, ${update} updates, ${remove} deletes`;
  return `Suite "${name}": ${amounts}${limit}`;
}

/** The published figures stand below the engines they are compared with, for the suite they are about. */
function rowsOf(summary, suiteName, cell) {
  return summary.flatMap((configuration) => {
    const rows = configuration.engines.map((engine) => [
      configuration.name,
      engine.name,
      cell(engine.setupMs, 1),
      ...OPERATIONS.map((operation) => cell(engine.suites[suiteName][operation], 0)),
      format(engine.mib.median, 2),
      vacuumNote(engine.autoVacuum, configuration.autoVacuumAsked),
    ]);
    return suiteName === 'published' ? [...rows, publishedRow(configuration)] : rows;
  });
}

function publishedRow({ name, published: figures }) {
  const or = (value, digits) => (value === undefined ? '-' : format(value, digits));
  if (!figures) return [name, '(published: none)', '-', '-', '-', '-', '-', '-', ''];
  return [
    name,
    `(published, Node ${figures.node})`,
    or(figures.setupMs, 1),
    ...OPERATIONS.map((operation) => or(figures[operation], 0)),
    or(figures.mib, 2),
    '',
  ];
}

function vacuumNote(inForce, asked) {
  return inForce === asked ? inForce : `${inForce} (asked ${asked})`;
}

function format(value, digits) {
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** Text to the left, numbers to the right, a line below the header, a gap between configurations. */
function layOut(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  const isText = (column) => column < 2 || column === rows[0].length - 1;
  const lines = rows.map((row) => row.map((cell, column) =>
    (isText(column) ? cell.padEnd(widths[column]) : cell.padStart(widths[column]))).join('  ').trimEnd());
  const out = [lines[0], '─'.repeat(widths.reduce((sum, width) => sum + width + 2, -2))];
  for (let i = 1; i < rows.length; i += 1) {
    if (i > 1 && rows[i][0] !== rows[i - 1][0]) out.push('');
    out.push(lines[i]);
  }
  return out.join('\n');
}
