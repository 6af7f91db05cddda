// `npm run publish:all`: publishes the tarballs of .cache/release with provenance, the main package last, so that what it
// depends on is there. Only a hosted workflow can: provenance names its run. Making the tarballs is in tarballs.mjs.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../.cache/release', import.meta.url));
const isMain = (name) => /^sealite-\d/.test(name);
const tarballs = fs.readdirSync(folder).filter((name) => name.endsWith('.tgz')).sort((a, b) => isMain(a) - isMain(b));
if (!tarballs.some(isMain)) throw new Error('There is no main package in .cache/release');
for (const name of tarballs) {
  const { status } = spawnSync('npm', ['publish', '--provenance', '--access', 'public', path.join(folder, name)], { stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}
