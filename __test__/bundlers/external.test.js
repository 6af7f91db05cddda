'use strict';

// The recipe that holds for every bundler: leave the package out of the bundle.

const fs = require('node:fs');
const assert = require('node:assert/strict');
const path = require('node:path');
const test = require('node:test');
const { installed, project, runs } = require('./bundle');

for (const name of ['sealite', 'better-sqlite3-multiple-ciphers']) {
  test(`esbuild: ${name} as external`, async (t) => {
    await installed();
    const { folder, entry, out } = project(t, { name });
    const outfile = path.join(out, 'app.js');
    await require('esbuild').build({ entryPoints: [entry], bundle: true, platform: 'node', external: [name], outfile, logLevel: 'silent' });
    runs(folder, outfile);
  });

  test(`webpack: ${name} as commonjs external`, async (t) => {
    await installed();
    const { folder, entry, out } = project(t, { name });
    await new Promise((resolve, reject) => {
      require('webpack')({
        mode: 'production', target: 'node', context: folder, entry, output: { path: out, filename: 'app.js' },
        externals: { [name]: `commonjs ${name}` },
      }, (error, stats) => (error || stats.hasErrors() ? reject(error ?? new Error(stats.toString())) : resolve()));
    });
    runs(folder, path.join(out, 'app.js'));
  });

  test(`rollup: ${name} as external`, async (t) => {
    await installed();
    const { folder, entry, out } = project(t, { name, module: true });
    const bundle = await require('rollup').rollup({ input: entry, external: [name, /^node:/] });
    const file = path.join(out, 'app.mjs');
    await bundle.write({ file, format: 'es' });
    await bundle.close();
    runs(folder, file);
  });

  test(`vite, a build for the server: ${name} in ssr.external`, async (t) => {
    await installed();
    const { folder, entry, out } = project(t, { name, module: true });
    const { build } = await import('vite');
    await build({
      root: folder, configFile: false, logLevel: 'silent', ssr: { external: [name] },
      build: { ssr: entry, outDir: out, rollupOptions: { output: { entryFileNames: 'app.mjs' } } },
    });
    runs(folder, path.join(out, 'app.mjs'));
  });
}

test('nft: what it traces is enough to run', async (t) => {
  await installed();
  const { folder, entry } = project(t);
  const { nodeFileTrace } = require('@vercel/nft');
  const top = path.parse(folder).root;
  const { fileList } = await nodeFileTrace([entry], { base: top });
  assert.ok([...fileList].some((file) => file.endsWith('.node')), 'the addon is not traced');
  const copy = path.join(folder, 'traced');
  for (const file of fileList) {
    const target = path.join(copy, file);
    fs.mkdirSync(path.dirname(target), { recursive: true });
    const source = path.join(top, file);
    if (fs.lstatSync(source).isSymbolicLink()) fs.symlinkSync(path.relative(path.dirname(target), path.join(copy, path.relative(top, fs.realpathSync(source)))), target);
    else fs.copyFileSync(source, target);
  }
  runs(folder, path.join(copy, path.relative(top, entry)));
});
