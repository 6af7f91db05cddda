'use strict';

// The recipe for an application that is bundled for one platform: its entry names the addon literally, so the bundler takes
// the addon along and nothing of node_modules is needed. All others leave the package out (external.test.js).

const fs = require('node:fs');
const assert = require('node:assert/strict');
const path = require('node:path');
const test = require('node:test');
const { targetName } = require('../../lib/binding.js');
const { installed, project, runs } = require('./bundle');

const entryOfThisPlatform = `${process.platform}${targetName().endsWith('-musl') ? 'musl' : ''}-${process.arch}`;

for (const name of ['sealite', 'better-sqlite3-multiple-ciphers']) {
  test(`esbuild: ${name}/${entryOfThisPlatform} with its addon beside the bundle`, async (t) => {
    await installed();
    const { folder, entry, out } = project(t, { name: `${name}/${entryOfThisPlatform}` });
    await require('esbuild').build({
      entryPoints: [entry], bundle: true, platform: 'node', loader: { '.node': 'copy' }, outdir: out, logLevel: 'silent',
    });
    fs.rmSync(path.join(folder, 'node_modules'), { recursive: true });
    assert.equal(fs.readdirSync(out).filter((file) => file.endsWith('.node')).length, 1);
    runs(folder, path.join(out, 'app.js'));
  });
}
