// Holds what docs/architecture.md promises of the tree: `unsafe` only in the files that the list
// below names, every Rust file reached by a `mod`, every function that C calls guarded against
// panics, every cipher scheme with its vectors, and JavaScript that parses.

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The only files that may hold `unsafe`; a new one is a change of design. */
const UNSAFE = [
  'engine/src/lib.rs',
  'engine/src/error.rs',
  'engine/src/bindings.rs',
  'src/accel.rs',
  'src/js/node_api.rs',
  'src/pager/engine.rs',
  'src/pager/exports.rs',
  'src/pager/functions.rs',
  'src/pager/hook.rs',
  'src/pager/state.rs',
  'src/sqlite/backup.rs',
  'src/sqlite/callback.rs',
  'src/sqlite/extension.rs',
  'src/sqlite/serialize.rs',
  'src/sqlite/step.rs',
  'src/sqlite/virtual_table.rs',
  'src/vfs/directory.rs',
  'src/vfs/nameless.rs',
];

const root = fileURLToPath(new URL('..', import.meta.url));
const files = spawnSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).stdout.split('\n').filter((file) => existsSync(path.join(root, file)) && file);
const read = (file) => readFileSync(path.join(root, file), 'utf8');
const rust = files.filter((file) => /^(src|engine\/src)\/.*\.rs$/.test(file));
const problems = [...fence(), ...unreached(), ...unguarded(), ...withoutVectors(), ...syntax()];

for (const problem of problems) console.error(problem);
console.log(problems.length === 0 ? `layout: ${files.length} files, nothing found` : `layout: ${problems.length} problems`);
process.exitCode = problems.length > 0 ? 1 : 0;

function fence() {
  return rust.filter((file) => !UNSAFE.includes(file) && /\bunsafe\b(?!_code)/.test(withoutComments(read(file)))).map((file) => `${file}: unsafe outside the fence`);
}

function unreached() {
  const named = rust.flatMap((file) => [...read(file).matchAll(/^\s*(?:pub(?:\([a-z]+\))? )?mod (\w+);/gm)].map((match) => module(file, match[1])));
  const roots = ['src/lib.rs', 'engine/src/lib.rs'];
  return rust.filter((file) => !roots.includes(file) && !named.flat().includes(file)).map((file) => `${file}: no \`mod\` reaches it`);
}

function module(parent, name) {
  const stem = /(^|\/)(lib|mod)\.rs$/.test(parent) ? path.posix.dirname(parent) : parent.replace(/\.rs$/, '');
  return [`${stem}/${name}.rs`, `${stem}/${name}/mod.rs`];
}

/** The body of each `extern "C"` function starts with the guard, or hands everything to a function that does. */
function unguarded() {
  return rust.filter((file) => file.startsWith('src/')).flatMap((file) => {
    const bodies = read(file).matchAll(/^\s*(?:pub(?:\([a-z]+\))? )?unsafe extern "C" fn (\w+)[^;{]*\{\n([\s\S]*?)\n\s*\}\n/gm);
    return [...bodies].filter(([, , body]) => !/guard::call|on_schema\(/.test(body)).map(([, name]) => `${file}: ${name} has no guard`);
  });
}

function withoutVectors() {
  const schemes = files.filter((file) => /^src\/codec\/scheme\/(?!mod\.rs)\w+\.rs$/.test(file)).map((file) => path.basename(file, '.rs'));
  return schemes.filter((scheme) => !files.includes(`tests/vectors/${scheme}.json`)).map((scheme) => `tests/vectors/${scheme}.json is missing`);
}

function syntax() {
  const scripts = files.filter((file) => /\.(m?js|cjs)$/.test(file));
  return scripts.filter((file) => spawnSync(process.execPath, ['--check', path.join(root, file)]).status !== 0).map((file) => `${file}: does not parse`);
}

function withoutComments(text) {
  return text.replace(/^\s*\/\/.*$/gm, '').replace(/"(?:[^"\\\n]|\\.)*"/g, '""');
}
