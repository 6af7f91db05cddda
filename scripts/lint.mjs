// `npm run lint`: format, clippy and rustdoc with warnings as errors, the syntax of the JavaScript,
// the layout (scripts/check-layout.mjs), and that every statement of the contract has a test.

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const checks = [
  ['cargo', ['fmt', '--all', '--check']],
  ['cargo', ['clippy', '--workspace', '--all-targets', '--', '-D', 'warnings']],
  ['cargo', ['doc', '--workspace', '--no-deps', '--document-private-items'], { RUSTDOCFLAGS: '-Dwarnings' }],
  [process.execPath, ['scripts/check-layout.mjs']],
  [process.execPath, ['scripts/contract.mjs']],
];

const failed = checks.filter(([command, args, env]) => {
  console.log(`-- ${[command, ...args].join(' ')}`);
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } });
  return status !== 0;
});
process.exitCode = failed.length > 0 ? 1 : 0;
