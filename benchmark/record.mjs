// Writes a run to <base>/<date>-<machine>/: README.md with the tables and how they came about,
// results.json with medians and spread, raw.csv with every sample. Old records are never overwritten.

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { markdownTable, titleOf } from './results.mjs';

export function writeRecord(base, { options, engines, samples, summary }) {
  const folder = newFolder(base, null, options.machine);
  const conditions = conditionsOf(options, engines, samples);
  const write = (name, text) => fs.writeFileSync(path.join(folder, name), text);
  write('README.md', readme(conditions, summary, options.work.suites));
  write('results.json', `${JSON.stringify({ conditions, work: options.work, configurations: summary }, null, 2)}\n`);
  write('raw.csv', csv(samples));
  return folder;
}

/** `<date>-<machine>`, with the kind of benchmark where it is not the service's. */
export function newFolder(base, kind, machine = machineName()) {
  const name = [new Date().toISOString().slice(0, 10), machine, kind].filter(Boolean).join('-');
  for (let n = 1; ; n += 1) {
    const folder = path.join(base, n === 1 ? name : `${name}-${n}`);
    if (fs.existsSync(folder)) continue;
    fs.mkdirSync(folder, { recursive: true });
    return folder;
  }
}

/** What the machine is, not what it is called. */
function machineName() {
  const model = cpuModel().replace(/\(.*?\)|@.*|\bcpu\b|processor/gi, ' ');
  return `${model} ${os.cpus().length} cores`.toLowerCase().match(/[a-z0-9]+/g).join('-');
}

function cpuModel() {
  return os.cpus()[0]?.model ?? os.arch();
}

function conditionsOf(options, engines, samples) {
  const sqliteOf = (name) => samples.find(({ engine }) => engine === name).versions.sqlite;
  return {
    command: ['npm run benchmark', ...(options.args.length > 0 ? ['--', ...options.args] : [])].join(' '),
    commit: commit(),
    node: samples[0].versions.node,
    engines: engines.map((engine) => ({ name: engine.name, package: engine.package, sqlite: sqliteOf(engine.name) })),
    ...machineFacts(),
    repeats: Math.max(...samples.map(({ repeat }) => repeat)),
  };
}

function machineFacts() {
  return {
    cpu: `${cpuModel()}, ${os.cpus().length} cores`,
    memory: `${Math.round(os.totalmem() / 2 ** 30)} GiB`,
    system: `${os.type()} ${os.release()} ${os.arch()}`,
  };
}

/** What a record of any kind says of its run. */
export function conditions(command, args, node) {
  return {
    command: [command, ...(args.length > 0 ? ['--', ...args] : [])].join(' '),
    commit: commit(),
    node: execFileSync(node, ['--version'], { encoding: 'utf8' }).trim(),
    ...machineFacts(),
  };
}

function commit() {
  const git = (...args) => execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  try {
    const changed = git('status', '--porcelain', '--untracked-files=no') !== '';
    return git('rev-parse', 'HEAD') + (changed ? ' with changes' : '');
  } catch {
    return 'unknown, no git here';
  }
}

function readme(conditions, summary, suites) {
  const { engines } = conditions;
  const lines = [
    '# Benchmark record',
    '',
    `- Command: \`${conditions.command}\``,
    `- Commit: ${conditions.commit}`,
    `- Engines: ${engines.map((engine) => `${engine.package} with SQLite ${engine.sqlite}`).join('; ')}`,
    `- Node ${conditions.node} for all; ${conditions.cpu}; ${conditions.memory}; ${conditions.system}`,
    `- Repeats: ${conditions.repeats}; each trial in its own process, engines in turn; median (minimum–maximum)`,
    '- Set-up: open, key, PRAGMAs, tables and the first messages in one transaction. MB: 1024 × 1024 bytes after it.',
    '- auto_vacuum in force: `journal_mode=WAL` comes first in the service\'s order and writes page 1, so a new',
    '  file keeps NONE whatever is asked for, until its first VACUUM.',
    '',
    ...suites.flatMap((suite) => [`## ${titleOf(suite)}`, '', markdownTable(summary, suite.name), '']),
    '## Why these configurations',
    '',
    ...summary.map(({ name, why, expected }) => `- **${name}**: ${why}${expected ? ` Expected: ${expected}` : ''}`),
  ];
  return `${lines.join('\n')}\n`;
}

function csv(samples) {
  const lines = ['repeat,configuration,engine,suite,measure,value'];
  for (const { repeat, configuration, engine, setupMs, mib, autoVacuum, suites } of samples) {
    const add = (suite, measure, value) => lines.push([repeat, configuration, engine, suite, measure, value].join(','));
    add('', 'setup_ms', setupMs.toFixed(3));
    add('', 'mib', mib.toFixed(4));
    add('', 'auto_vacuum', autoVacuum);
    for (const [suite, rates] of Object.entries(suites)) {
      for (const [operation, { done, perSecond }] of Object.entries(rates)) {
        add(suite, `${operation}_count`, done);
        add(suite, `${operation}_per_s`, perSecond.toFixed(1));
      }
    }
  }
  return `${lines.join('\n')}\n`;
}
