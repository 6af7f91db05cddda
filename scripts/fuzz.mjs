// Fuzzes: npm run fuzz -- [target] [seconds]
//
// Without a target all, a minute each; the corpus is kept in fuzz/corpus/<target>, a finding in
// fuzz/artifacts/<target>. Needs Rust and a C++ compiler, nothing else: coverage is switched on with flags
// of the stable compiler, for the target only and not for build scripts.

import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const TARGETS = ['decrypt_page', 'key_text', 'pragma_text'];
const COVERAGE = [
  '--cfg=fuzzing',
  '-Cpasses=sancov-module',
  '-Cllvm-args=-sanitizer-coverage-level=4',
  '-Cllvm-args=-sanitizer-coverage-inline-8bit-counters',
  '-Cllvm-args=-sanitizer-coverage-pc-table',
  '-Cllvm-args=-sanitizer-coverage-trace-compares',
];

const fuzz = path.join(path.dirname(fileURLToPath(import.meta.url)), '..', 'fuzz');
const words = process.argv.slice(2);
const seconds = words.find((word) => /^\d+$/.test(word)) ?? '60';
const wanted = words.filter((word) => word !== seconds);
for (const word of wanted) if (!TARGETS.includes(word)) fail(`Unknown target ${word}; there are ${TARGETS.join(', ')}`);

const host = /^host: (.+)$/m.exec(run('rustc', ['-vV'], { stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8' }).stdout)[1];
run('cargo', ['build', '--release', '--target', host], { cwd: fuzz, env: { ...process.env, RUSTFLAGS: COVERAGE.join(' ') } });
for (const target of wanted.length > 0 ? wanted : TARGETS) {
  const [corpus, artifacts] = ['corpus', 'artifacts'].map((kind) => path.join(fuzz, kind, target));
  for (const folder of [corpus, artifacts]) mkdirSync(folder, { recursive: true });
  const binary = path.join(fuzz, 'target', host, 'release', target);
  run(binary, [corpus, `-max_total_time=${seconds}`, `-artifact_prefix=${artifacts}/`, '-timeout=20', '-rss_limit_mb=1024', '-print_final_stats=1']);
}

function run(command, args, options = {}) {
  const result = spawnSync(command, args, { stdio: 'inherit', ...options });
  if (result.error) fail(`${command} could not be started: ${result.error.message}`);
  if (result.status !== 0) fail(`${command} ended with ${result.signal ?? result.status}`);
  return result;
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
