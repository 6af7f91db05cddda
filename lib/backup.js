'use strict';
// db.backup(destination, { attached, progress, cipher, key }): copies a database while it is in use,
// some pages in each turn of the event loop.
//
// What a step does, and under which key the copy is, is in the native addon; here is how far each
// step goes, how long a lock is waited for, and when the copy stops yielding to other writers.

const fs = require('node:fs');
const path = require('node:path');
const { setImmediate: nextTurn, setTimeout: sleep } = require('node:timers/promises');

const HANDLE = require('./handle');
const { attachedOption } = require('./options');

const DEFAULT_STEP = 100;
const WHOLE = 0x7fffffff;
// A writer in another process restarts the copy. When it has copied this many times the pages that
// there are, it takes the rest in one step, which nobody can interrupt.
const MAX_ROUNDS = 2;
const MAX_PAUSE = 50;

module.exports = async function backup(destination, optionsGiven) {
  const checked = checkArguments(destination, optionsGiven);
  await checkDirectory(checked.path);
  await nextTurn();
  const handle = this[HANDLE];
  const timeout = handle.busyTimeout();
  const { path: file, attached, cipher, key } = checked;
  const running = await patiently(() => handle.backup(file, attached, cipher, key), timeout);
  try {
    return await copy(running, checked.progress, timeout);
  } finally {
    running.end();
  }
};

// The first step copies nothing, so that the caller hears of the size before anything happens.
async function copy(running, progress, timeout) {
  let step = 0;
  let wanted = DEFAULT_STEP;
  let copied = 0;
  for (;;) {
    await nextTurn();
    const state = await patiently(() => running.step(step), timeout);
    if (state.remainingPages === 0) return state;
    if (progress) wanted = wantedStep(progress(state), wanted);
    copied += step;
    step = wanted > 0 && copied > MAX_ROUNDS * state.totalPages ? WHOLE : wanted;
  }
}

// What the progress callback answered: pages per step from now on; undefined leaves it.
function wantedStep(answer, before) {
  if (answer === undefined) return before;
  if (typeof answer !== 'number' || Number.isNaN(answer)) {
    throw new TypeError('Expected progress callback to return a number or undefined');
  }
  return Math.max(0, Math.min(WHOLE, Math.round(answer)));
}

// Tries again while the database is locked, for as long as the connection waits for locks.
async function patiently(attempt, timeout) {
  const end = Date.now() + timeout;
  for (let pause = 1; ; pause = Math.min(2 * pause, MAX_PAUSE)) {
    try {
      return attempt();
    } catch (error) {
      if (!isLocked(error) || Date.now() >= end) throw error;
    }
    await sleep(pause);
  }
}

function isLocked({ code }) {
  return typeof code === 'string' && /^SQLITE_(BUSY|LOCKED)/.test(code);
}

function checkArguments(destination, optionsGiven) {
  const options = optionsGiven == null ? {} : optionsGiven;
  if (typeof destination !== 'string') throw new TypeError('Expected first argument to be a string');
  if (typeof options !== 'object') throw new TypeError('Expected second argument to be an options object');
  const file = destination.trim();
  if (file === '') throw new TypeError('Backup filename cannot be an empty string');
  if (file === ':memory:') throw new TypeError('Invalid backup filename ":memory:"');
  const attached = attachedOption(options);
  const progress = progressOption(options);
  const { cipher, key } = keyOptions(options);
  if (file.includes('\0')) throw new TypeError('A database file name cannot contain a NUL character');
  return { path: file, attached, progress, cipher, key };
}

function progressOption(options) {
  const progress = 'progress' in options ? options.progress : null;
  if (progress == null) return null;
  if (typeof progress !== 'function') throw new TypeError('Expected the "progress" option to be a function');
  return progress;
}

// Present means meant: a key that is undefined by mistake must not choose how the copy is encrypted.
function keyOptions(options) {
  const key = 'key' in options ? options.key : undefined;
  if ('key' in options && key !== null && !Buffer.isBuffer(key)) {
    throw new TypeError('Expected the "key" option to be a Buffer or null');
  }
  if (key && key.length === 0) throw new TypeError('The "key" option cannot be empty');
  if (!('cipher' in options)) return { cipher: null, key };
  if (typeof options.cipher !== 'string') throw new TypeError('Expected the "cipher" option to be a string');
  if (!key) throw new TypeError('The "cipher" option needs a "key"');
  return { cipher: options.cipher, key };
}

async function checkDirectory(file) {
  const exists = await fs.promises.access(path.dirname(file)).then(() => true, () => false);
  if (!exists) throw new TypeError('Cannot save backup because the directory does not exist');
}
