'use strict';
// Keys: from an environment variable, a file descriptor or the terminal, as Buffers that are erased
// at the end. Never from an argument, which other users of the machine can read.

const fs = require('node:fs');

const { UsageError } = require('./arguments');
const { EXIT, Failure } = require('./outcome');

const PROMPT_DEVICE = process.stdin;

class Secrets {
  constructor(values) {
    this.values = values;
    this.known = [];
    this.lines = new Map();
  }

  /** The key of the file as it is, or null when none is given and nobody is to be asked. */
  async current({ ask = true } = {}) {
    return this.#find('key', ask ? ['Key: '] : []);
  }

  /** A key that a file is to have; it is asked for twice. */
  async chosen({ as = 'key', ask = true } = {}) {
    return this.#find(as, ask ? ['New key: ', 'New key again: '] : []);
  }

  /** Whether a key of this kind is given. */
  has(name) {
    return this.values[`${name}-env`] !== undefined || this.values[`${name}-fd`] !== undefined;
  }

  erase() {
    for (const secret of this.known) secret.fill(0);
  }

  async #find(name, prompts) {
    const { [`${name}-env`]: variable, [`${name}-fd`]: descriptor } = this.values;
    if (variable !== undefined && descriptor !== undefined) throw new UsageError(`Give --${name}-env or --${name}-fd, not both`);
    if (variable !== undefined) return this.#key(this.#keep(fromEnvironment(variable)));
    if (descriptor !== undefined) return this.#key(this.#nextLine(descriptor));
    if (prompts.length === 0) return null;
    return this.#key(await this.#ask(prompts));
  }

  async #ask([prompt, again]) {
    if (!PROMPT_DEVICE.isTTY) throw new Failure('No key: give --key-env or --key-fd, or run it at a terminal', EXIT.key);
    const secret = this.#keep(await prompted(prompt));
    if (again !== undefined && !this.#keep(await prompted(again)).equals(secret)) throw new Failure('The two keys differ', EXIT.key);
    return secret;
  }

  // One descriptor may hold several keys, a line each.
  #nextLine(descriptor) {
    const fd = Number(descriptor);
    if (!/^\d+$/.test(descriptor)) throw new UsageError(`Expected the number of a file descriptor, not '${descriptor}'`);
    if (!this.lines.has(fd)) this.lines.set(fd, { bytes: this.#keep(fromDescriptor(fd)), at: 0 });
    const state = this.lines.get(fd);
    const { bytes, at } = state;
    if (at >= bytes.length) throw new Failure(`File descriptor ${fd} has no further line`, EXIT.key);
    const end = bytes.indexOf(0x0a, at);
    state.at = end === -1 ? bytes.length : end + 1;
    const line = bytes.subarray(at, end === -1 ? bytes.length : end);
    return line.at(-1) === 0x0d && end !== -1 ? line.subarray(0, -1) : line;
  }

  #key(bytes) {
    const key = this.values.hex ? this.#keep(fromHex(bytes)) : bytes;
    if (key.length === 0) throw new Failure('The key is empty', EXIT.key);
    return key;
  }

  #keep(secret) {
    this.known.push(secret);
    return secret;
  }
}

function fromEnvironment(name) {
  const value = process.env[name];
  if (value === undefined) throw new Failure(`The environment variable ${name} is not set`, EXIT.key);
  return Buffer.from(value);
}

function fromDescriptor(fd) {
  try {
    return fs.readFileSync(fd);
  } catch (error) {
    throw new Failure(`Cannot read file descriptor ${fd}: ${error.code ?? error.message}`, EXIT.key);
  }
}

function fromHex(bytes) {
  const text = bytes.toString('latin1').trim();
  if (!/^([0-9a-f]{2})+$/i.test(text)) throw new Failure('The key is not made of hex digits', EXIT.key);
  return Buffer.from(text, 'hex');
}

/** Reads a line from the terminal without showing it. */
function prompted(prompt) {
  const typed = [];
  // Before the prompt, so that nothing typed after it can be seen.
  PROMPT_DEVICE.setRawMode(true);
  PROMPT_DEVICE.resume();
  process.stderr.write(prompt);
  return new Promise((resolve, reject) => {
    const end = (settle, value) => {
      PROMPT_DEVICE.off('data', read);
      PROMPT_DEVICE.setRawMode(false);
      PROMPT_DEVICE.pause();
      process.stderr.write('\n');
      settle(value);
    };
    const read = (chunk) => {
      for (const [at, byte] of chunk.entries()) {
        if (byte === 0x0d || byte === 0x0a) {
          // What was pasted after the line belongs to the next prompt.
          if (at + 1 < chunk.length) PROMPT_DEVICE.unshift(chunk.subarray(at + 1));
          end(resolve, Buffer.from(typed.splice(0)));
          return;
        }
        if (byte === 0x03 || byte === 0x04) {
          end(reject, new Failure('No key was given', EXIT.key));
          return;
        }
        if (byte === 0x7f || byte === 0x08) eraseCharacter(typed);
        else typed.push(byte);
      }
    };
    PROMPT_DEVICE.on('data', read);
  });
}

// The last character may have several bytes of UTF-8.
function eraseCharacter(typed) {
  while (typed.length > 0 && (typed.pop() & 0xc0) === 0x80);
}

module.exports = { Secrets };
