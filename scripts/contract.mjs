// `npm run contract`: which statements of the JavaScript contract no test cites.
//
// __test__/contract.json numbers the statements. A test cites one in its title or in a comment
// ("C-11.2"); what the comment that opens a file names is where to look, and no citation. What the
// section "Not there yet" of docs/compat.md names needs no test. Fails on any other statement without
// one, and on citations that the list does not know.

import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (file) => readFileSync(path.join(root, file), 'utf8');
const numbers = (text) => text.match(/\bC-\d+\.\d+/g) ?? [];

const statements = JSON.parse(read('__test__/contract.json'));
const missing = new Set(numbers(notThereYet(read('docs/compat.md'))));
const cited = citations();

const uncited = Object.keys(statements).filter((number) => !cited.has(number) && !missing.has(number));
const unknown = [...cited.keys(), ...missing].filter((number) => !(number in statements));
for (const number of uncited) console.log(`${number} has no test: ${statements[number]}`);
for (const number of unknown) console.log(`${number} is no statement of the contract: ${cited.get(number) ?? 'docs/compat.md'}`);
for (const number of missing) if (number in statements && !cited.has(number)) console.log(`${number} is not there yet: ${statements[number]}`);

const total = Object.keys(statements).length;
const covered = Object.keys(statements).filter((number) => cited.has(number)).length;
console.log(`contract: ${covered} of ${total} statements have a test`);
process.exitCode = uncited.length + unknown.length > 0 ? 1 : 0;

/** Each number that a test cites, with one file that does. */
function citations() {
  const files = filesIn('__test__').filter((file) => /\.(js|mjs|ts)$/.test(file));
  return new Map(files.flatMap((file) => numbers(withoutOpening(read(file))).map((number) => [number, file])));
}

/** Not what is installed: the clients have a link to this very project there. */
function filesIn(folder) {
  return readdirSync(path.join(root, folder), { withFileTypes: true })
    .filter(({ name }) => name !== 'node_modules')
    .flatMap((entry) => (entry.isDirectory() ? filesIn(`${folder}/${entry.name}`) : [`${folder}/${entry.name}`]));
}

function withoutOpening(source) {
  return source.replace(/^(?:'use strict';|\s|\/\/.*\n)*/, '');
}

function notThereYet(text) {
  return text.match(/^## Not there yet\n([\s\S]*?)(?=^## )/m)?.[1] ?? '';
}
