'use strict';

// The code blocks of the documentation, as they stand in README.md and docs/*.md.
//
// A comment in the line before a block says what is special about it:
//   <!-- continues -->        it goes on with the program of the block before
//   <!-- not run: reason -->  it is not executed, and why
// Not here: running them (docs.test.js).

const fs = require('node:fs');
const path = require('node:path');

const ROOT = path.join(__dirname, '..', '..');

/** Every document whose blocks and links are checked, relative to the project. */
function documents() {
  const inDocs = fs.readdirSync(path.join(ROOT, 'docs')).filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`);
  const above = ['README.md', 'SECURITY.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'benchmark/README.md', 'examples/mail-app/README.md'];
  return [...above.filter((name) => fs.existsSync(path.join(ROOT, name))), ...inDocs.sort()];
}

function read(document) {
  return fs.readFileSync(path.join(ROOT, document), 'utf8');
}

/** @returns {{document, line, language, code, continues, reason}[]} in their order; line counts from 1 */
function blocksOf(document) {
  const lines = read(document).split('\n');
  const blocks = [];
  for (let at = 0; at < lines.length; at += 1) {
    const fence = /^(\s*)```(\w*)/.exec(lines[at]);
    if (!fence) continue;
    const end = lines.findIndex((line, index) => index > at && line.trim() === '```');
    const mark = lines[at - 1] ?? '';
    blocks.push({
      document,
      line: at + 1,
      language: fence[2],
      code: lines.slice(at + 1, end).map((line) => line.slice(fence[1].length)).join('\n'),
      continues: mark.trim() === '<!-- continues -->',
      reason: /^<!-- not run: (.+) -->$/.exec(mark.trim())?.[1],
    });
    at = end;
  }
  return blocks;
}

module.exports = { ROOT, blocksOf, documents, read };
