// `npm run lint:workflows`: actionlint over .github/workflows, without a network; and every npm script that they call exists.
// The names of hosted machines are left out: the list in this build of the linter is older than they are.

import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { installFolder } from './install-folder.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = path.join(root, '.github', 'workflows');
const tools = path.join(root, '__test__', 'workflows');
installFolder(tools);
const { createLinter } = await import(pathToFileURL(createRequire(path.join(tools, 'package.json')).resolve('actionlint')));
const lint = await createLinter();
const { scripts } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'));

const found = fs.readdirSync(folder).flatMap((name) => {
  const text = fs.readFileSync(path.join(folder, name), 'utf8');
  const problems = lint(text, `.github/workflows/${name}`).filter(({ kind }) => kind !== 'runner-label');
  const unknown = [...text.matchAll(/npm run ([\w:-]+)/g)].filter(([, script]) => !(script in scripts));
  return [
    ...problems.map(({ line, message }) => `${name}:${line}: ${message}`),
    ...unknown.map(([, script]) => `${name}: there is no script ${script}`),
  ];
});
for (const line of found) console.log(line);
console.log(`workflows: ${found.length === 0 ? 'nothing found' : `${found.length} found`}`);
process.exitCode = found.length > 0 ? 1 : 0;
