// Runs at `npm install`: quiet when an addon for this platform loads, else builds one with cargo.
//
// Says what it does and, when a tool is missing, exactly which one. It needs no package from npm.

import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import process from 'node:process';

import { build } from './build.mjs';

const require = createRequire(import.meta.url);
const { loadBinding, targetName } = require('../lib/binding.js');

function main() {
  if (loads()) return 0;
  console.log(`sealite: no prebuilt addon for ${targetName()}; building it with cargo. This takes a few minutes.`);
  if (build() === null) {
    console.error('sealite: the build failed; the reason stands above. "npm run build" tries again.');
    return 1;
  }
  return verify();
}

function loads() {
  try {
    loadBinding(null);
    return true;
  } catch {
    return false;
  }
}

// In a process of its own, because this one may have tried to load the old file.
function verify() {
  const script = `new (require(${JSON.stringify(require.resolve('../index.js'))}))(':memory:').close()`;
  const { status } = spawnSync(process.execPath, ['-e', script], { stdio: 'inherit' });
  if (status === 0) {
    console.log('sealite: built and ready.');
    return 0;
  }
  console.error('sealite: the addon was built but does not load; the reason stands above.');
  return 1;
}

process.exitCode = main();
