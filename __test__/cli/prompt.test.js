'use strict';

// Keys typed at a terminal: they are not shown, can be corrected, and a new one is asked for twice.
// The terminal is made by `script` of util-linux.

const assert = require('node:assert/strict');
const { spawn, spawnSync } = require('node:child_process');
const test = require('node:test');
const { isPeer } = require('../support/database.js');
const { CLI, KEY, OTHER, write, rowsIn } = require('./cli.js');

const hasTerminal = process.platform === 'linux' && spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux');
const skip = isPeer ? 'the replaced package has no command line' : !hasTerminal && 'no util-linux `script` here to make a terminal';

/** Runs `sealite ...words` at a terminal and types each answer when its prompt is there. */
function runAtTerminal(words, answers) {
  const command = [process.execPath, CLI, ...words].map((word) => `'${word}'`).join(' ');
  const child = spawn('script', ['-qec', command, '/dev/null'], { env: { ...process.env, TERM: 'dumb' } });
  let shown = '';
  let seen = 0;
  const waiting = [...answers];
  child.stdout.setEncoding('utf8').on('data', (text) => {
    shown += text;
    const [prompt, answer] = waiting[0] ?? [];
    const at = prompt === undefined ? -1 : shown.indexOf(prompt, seen);
    if (at === -1) return;
    seen = at + prompt.length;
    waiting.shift();
    child.stdin.write(answer);
  });
  return new Promise((resolve) => { child.once('close', (code) => resolve({ code, shown, unasked: waiting.length })); });
}

test('a key that is typed opens the file and is not shown; a typing error can be taken back', { skip }, async (t) => {
  const file = write(t);
  const { code, shown, unasked } = await runAtTerminal(['verify', file, '--set', 'kdf_iter=10'], [['Key: ', `${KEY}xü\x7f\x7f\r`]]);
  assert.deepEqual({ code, unasked }, { code: 0, unasked: 0 }, shown);
  assert.match(shown, /Reading \[#+\] 100%/);
  assert.match(shown, /tags in order/);
  assert.ok(!shown.includes('correct'), shown);
});

test('a new key is asked for twice, and has to be the same', { skip }, async (t) => {
  const file = write(t);
  const words = ['rekey', file, '--set', 'kdf_iter=10'];
  const differ = await runAtTerminal(words, [['Key: ', `${KEY}\r`], ['New key: ', `${OTHER}\r`], ['New key again: ', 'another\r']]);
  assert.equal(differ.code, 3);
  assert.match(differ.shown, /The two keys differ/);
  const same = await runAtTerminal(words, [['Key: ', `${KEY}\r`], ['New key: ', `${OTHER}\r`], ['New key again: ', `${OTHER}\r`]]);
  assert.equal(same.code, 0, same.shown);
  assert.ok(!same.shown.includes('battery'));
  assert.equal(rowsIn(t, file, ["cipher='chacha20'", 'kdf_iter=10'], OTHER).sound, 'ok');
});

test('Ctrl-C at the prompt ends with nothing done', { skip }, async (t) => {
  const { code, shown } = await runAtTerminal(['verify', write(t), '--set', 'kdf_iter=10'], [['Key: ', 'half\x03']]);
  assert.equal(code, 3);
  assert.match(shown, /No key was given/);
});
