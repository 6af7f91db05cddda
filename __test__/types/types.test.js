'use strict';

// The compiler, strict, over the programs of this folder, with our types and with those of the
// replaced packages in their place.

const test = require('node:test');
const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { spawnSync } = require('node:child_process');

const root = path.join(__dirname, '..', '..');
const PROGRAMS = ['api.ts', 'import-esm.mts', 'import-require.cts', 'better-sqlite3-app.ts'];
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

/** A project with the package where an installation would put it, and the programs in it. */
function project(t, programs) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'sealite-types-'));
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }));
  for (const name of ['sealite', 'better-sqlite3']) {
    const installed = path.join(folder, 'node_modules', name);
    fs.mkdirSync(installed, { recursive: true });
    for (const file of ['package.json', 'index.d.ts']) fs.copyFileSync(path.join(root, file), path.join(installed, file));
  }
  fs.symlinkSync(path.join(__dirname, 'node_modules', '@types'), path.join(folder, 'node_modules', '@types'), 'junction');
  for (const program of programs) fs.copyFileSync(path.join(__dirname, program), path.join(folder, program));
  return folder;
}

test('the names and sub-paths resolve through exports of package.json (C-34.4)', (t) => {
  const folder = project(t, PROGRAMS);
  const modern = { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, exactOptionalPropertyTypes: true };
  for (const program of PROGRAMS) assert.deepEqual(complaints(path.join(folder, program), undefined, modern), [], program);
});

test('the compiler of TypeScript 7 takes them, too (C-34.4)', (t) => {
  const folder = project(t, PROGRAMS);
  const compilerOptions = {
    strict: true, exactOptionalPropertyTypes: true, noEmit: true, esModuleInterop: true, types: [],
    target: 'es2022', lib: ['es2022', 'esnext.disposable'], module: 'nodenext', moduleResolution: 'nodenext',
  };
  fs.writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: PROGRAMS }));
  const compile = () => spawnSync(process.execPath, [path.join(__dirname, 'node_modules', 'typescript7', 'bin', 'tsc'), '--project', folder], { encoding: 'utf8' });
  assert.equal(compile().stdout, '');
  fs.appendFileSync(path.join(folder, 'api.ts'), "db.key('text');\n");
  assert.match(compile().stdout, /api\.ts\(\d+,8\): error TS2345/);
});

test('programs for @types/better-sqlite3 compile with them and with ours', () => {
  for (const program of ['better-sqlite3.ts', 'better-sqlite3-app.ts']) {
    assert.deepEqual(complaints(program, undefined), [], program);
    assert.deepEqual(complaints(program, OURS), [], program);
  }
});
