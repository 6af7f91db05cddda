// `npm run demo`: the mail service's day on copies of two mailboxes written by the replaced package, and
// on a new one. Builds the addon first if none fits, and installs sqlite-regex. Exits with 1 when
// anything goes wrong.
//
//   node examples/mail-app/demo.mjs [--root <folder for the copies>] [--json]

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { heading, stepLine, tally } from './output.mjs';
import { regexpExtension } from './regexp.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const ROOT = path.dirname(path.dirname(HERE));
const require = createRequire(import.meta.url);

/** The key of the fixtures. A service gets it from the user's login. */
const PASSPHRASE = Buffer.from('correct horse battery staple');

const MAILBOXES = [
  { address: 'anna@example.org', fixture: 'mailbox-chacha20.db', about: 'written by the replaced package' },
  { address: 'bela@example.org', fixture: 'mailbox-aes256cbc.db', about: 'an older one, in the older scheme' },
  { address: 'carla@example.net', fixture: null, about: 'a new one' },
];

const { values: options } = parseArgs({
  options: {
    root: { type: 'string', default: path.join(HERE, 'mailboxes') },
    json: { type: 'boolean', default: false },
  },
});

/** A child process looks, so that nothing of an addon that does not load stays behind in this one. */
function loadsAnAddon() {
  const script = `new (require(${JSON.stringify(path.join(HERE, 'database.js'))}))(':memory:').close()`;
  return spawnSync(process.execPath, ['-e', script], { stdio: 'ignore' }).status === 0;
}

function buildIfMissing() {
  if (process.env.SEALITE_TEST_MODULE || loadsAnAddon()) return;
  console.error('No addon fits this machine yet; building it (a few minutes the first time) ...');
  const npm = { cwd: ROOT, stdio: ['ignore', 2, 2], shell: process.platform === 'win32' };
  const { status } = spawnSync('npm', ['run', 'build'], npm);
  if (status !== 0) throw new Error('npm run build failed, see above');
}

function prepareFile({ address, fixture }, mailboxFile) {
  const file = mailboxFile(options.root, address);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  for (const end of ['', '-wal', '-shm', '-journal']) fs.rmSync(file + end, { force: true });
  if (fixture) fs.copyFileSync(path.join(HERE, '../../__test__/fixtures', fixture), file);
}

function runMailbox(mailbox, regexp) {
  const { mailboxFile } = require('./mailbox.js');
  const { runFlow } = require('./flow.js');
  prepareFile(mailbox, mailboxFile);
  const steps = [];
  let error = null;
  if (!options.json) console.log(heading(mailbox.address, mailbox.about));
  try {
    runFlow({ root: options.root, address: mailbox.address, passphrase: PASSPHRASE, regexp }, (step) => {
      steps.push(step);
      if (!options.json) console.log(stepLine(step));
    });
  } catch (cause) {
    error = cause.stack;
  }
  return { address: mailbox.address, fixture: mailbox.fixture, steps, error };
}

async function main() {
  buildIfMissing();
  const regexp = await regexpExtension();
  const results = MAILBOXES.map((mailbox) => runMailbox(mailbox, regexp));
  console.log(options.json ? JSON.stringify(results) : tally(results));
  if (results.some(({ error }) => error)) process.exitCode = 1;
}

main().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
