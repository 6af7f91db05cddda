'use strict';

// What the documentation says, done: JavaScript runs in a folder of its own with the package installed there,
// and prints what its comments `// → …` say; SQL runs; JSON parses; commands exist; links lead somewhere.

const assert = require('node:assert/strict');
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');
const { Database, tempDir } = require('../support/database');
const { ROOT, blocksOf, documents, read } = require('./blocks');

const NAMES = ['sealite', 'better-sqlite3-multiple-ciphers', 'better-sqlite3'];
const manifest = JSON.parse(fs.readFileSync(path.join(ROOT, 'package.json'), 'utf8'));

for (const document of documents()) {
  const blocks = blocksOf(document);
  for (const program of programsOf(blocks)) {
    test(`${document}:${program.line} runs`, (t) => runProgram(t, program));
  }
  for (const block of blocks.filter(({ reason }) => reason === undefined)) {
    const check = { json: checkJson, sql: checkSql, sh: checkShell, js: null, '': null, text: null, rust: null, ts: null, yaml: null }[block.language];
    assert.notEqual(check, undefined, `${document}:${block.line}: nothing checks the language "${block.language}"`);
    if (check) test(`${document}:${block.line} holds (${block.language})`, (t) => check(block, t));
  }
  test(`${document}: links lead to files and headings that are there`, () => checkLinks(document));
}

test('npm run and npx sealite in indented lines name what exists', () => {
  for (const document of documents()) {
    const indented = read(document).split('\n').filter((line) => /^ {4}\S/.test(line)).join('\n');
    checkShell({ document, line: 0, code: indented });
  }
});

function programsOf(blocks) {
  const programs = [];
  for (const block of blocks) {
    if (block.language !== 'js' || block.reason !== undefined) continue;
    if (block.continues) programs.at(-1).code += `\n${block.code}`;
    else programs.push({ ...block });
  }
  return programs;
}

function runProgram(t, { code, document, line }) {
  const folder = tempDir(t);
  fs.mkdirSync(path.join(folder, 'node_modules'));
  for (const name of NAMES) fs.symlinkSync(ROOT, path.join(folder, 'node_modules', name), 'junction');
  const file = path.join(folder, /^import /m.test(code) ? 'example.mjs' : 'example.js');
  fs.writeFileSync(file, code);
  const output = execFileSync(process.execPath, [file], { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  const expected = [...code.matchAll(/\/\/ → (.*)$/gm)].map(([, text]) => text.trim());
  if (expected.length > 0) assert.deepEqual(output.trimEnd().split('\n'), expected, `${document}:${line} prints something else`);
}

function checkJson({ code }) {
  JSON.parse(code);
}

function checkSql({ code }) {
  const db = new Database(':memory:');
  try {
    db.exec(code);
  } finally {
    db.close();
  }
}

/** Scripts of npm that are named exist, and so do commands and options of the command line. */
function checkShell({ code, document, line }) {
  for (const [, script] of code.matchAll(/npm run (?:--silent |-s )?([\w:-]+)/g)) {
    assert.ok(script in manifest.scripts, `${document}:${line}: there is no script ${script}`);
  }
  const help = manifest.bin ? execFileSync(process.execPath, [path.join(ROOT, manifest.bin.sealite), '--help'], { encoding: 'utf8' }) : '';
  for (const [, command, rest] of code.matchAll(/(?:^|[|&;$] *|npx )sealite +(\w+)([^\n|#]*)/gm)) {
    assert.match(help, new RegExp(`^ +${command}\\b`, 'm'), `${document}:${line}: there is no command ${command}`);
    for (const [option] of rest.matchAll(/--[a-z-]+/g)) assert.ok(help.includes(option), `${document}:${line}: there is no option ${option}`);
  }
}

/** Relative links only: others are not asked over the network. */
function checkLinks(document) {
  const text = read(document).replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, '');
  for (const [, target] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
    if (/^[a-z]+:/.test(target)) continue;
    const [file, anchor] = target.split('#');
    const place = file === '' ? document : path.posix.join(path.posix.dirname(document), file);
    assert.ok(fs.existsSync(path.join(ROOT, place)), `${document}: ${target} leads to no file`);
    if (anchor) assert.ok(anchorsOf(place).has(anchor), `${document}: ${target} leads to no heading`);
  }
}

/** As GitHub makes them: lower case, punctuation gone, spaces to hyphens. */
function anchorsOf(document) {
  const headings = read(document).replace(/^```[\s\S]*?^```/gm, '').matchAll(/^#+ (.+)$/gm);
  return new Set([...headings].map(([, heading]) => heading.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '').trim().replaceAll(' ', '-')));
}
