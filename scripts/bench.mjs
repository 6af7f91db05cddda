// `npm run bench`: builds benches/pages.rs as the addon is built, and runs it.

import { execFileSync, spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { INLINING } from './build.mjs';

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '..');
const args = ['rustc', '--bench', 'pages', '--profile', 'bench', '--message-format', 'json-render-diagnostics', '--', ...INLINING];
const { status, stdout } = spawnSync('cargo', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 2 ** 28 });
if (status !== 0) process.exit(1);
const { executable } = stdout.split('\n').filter(Boolean).map((line) => JSON.parse(line))
  .find(({ reason, target, executable: made }) => reason === 'compiler-artifact' && made && target.name === 'pages');
execFileSync(executable, { stdio: 'inherit' });
