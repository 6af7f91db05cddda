'use strict';

// The compiler, strict, over the programs of this folder, with our types and with those of the
// replaced packages in their place.

const test = require('node:test');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const root = path.join(__dirname, '..', '..');
let ts;

test.before(async () => {
  const { installFolder } = await import('../../scripts/install-folder.mjs');
  installFolder(__dirname);
  ts = require('typescript');
});

/** What the compiler has to say about `file`, `paths` as in a tsconfig.json. */
function complaints(file, paths, options = {}) {
  const program = ts.createProgram([path.resolve(__dirname, file)], {
    strict: true, noEmit: true, target: ts.ScriptTarget.ES2022, lib: ['lib.es2022.d.ts', 'lib.esnext.disposable.d.ts'],
    module: ts.ModuleKind.CommonJS, moduleResolution: ts.ModuleResolutionKind.Node10, esModuleInterop: true,
    types: ['node'], typeRoots: [path.join(__dirname, 'node_modules', '@types')], baseUrl: root, paths, ...options,
  });
  return ts.getPreEmitDiagnostics(program).map(({ file: source, start, messageText }) => {
    const line = source ? source.getLineAndCharacterOfPosition(start).line + 1 : 0;
    return `${source?.fileName}:${line} ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
  });
}

const OURS = { sealite: ['index.d.ts'], 'sealite/linux-x64': ['index.d.ts'], 'better-sqlite3': ['index.d.ts'] };

test('the whole of the API has types, and wrong uses do not compile (C-34.1, C-34.2, C-34.3)', () => {
  assert.deepEqual(complaints('api.ts', OURS), []);
});

test('the names and sub-paths resolve through exports of package.json (C-34.4)', (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'sealite-types-'));
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }));
  const installed = path.join(folder, 'node_modules', 'sealite');
  fs.mkdirSync(installed, { recursive: true });
  for (const file of ['package.json', 'index.d.ts']) fs.copyFileSync(path.join(root, file), path.join(installed, file));
  fs.symlinkSync(path.join(__dirname, 'node_modules', '@types'), path.join(folder, 'node_modules', '@types'), 'junction');
  const program = path.join(folder, 'api.ts');
  fs.copyFileSync(path.join(__dirname, 'api.ts'), program);
  const modern = { module: ts.ModuleKind.Node16, moduleResolution: ts.ModuleResolutionKind.Node16 };
  assert.deepEqual(complaints(program, undefined, modern), []);
});

test('a program for @types/better-sqlite3 compiles with them and with ours', () => {
  assert.deepEqual(complaints('better-sqlite3.ts', undefined), []);
  assert.deepEqual(complaints('better-sqlite3.ts', OURS), []);
});
