'use strict';
// The words of the command line: commands, options, help.

const { parseArgs } = require('node:util');

const { EXIT } = require('./outcome');

class UsageError extends Error {
  constructor(message) {
    super(message);
    this.exitCode = EXIT.usage;
  }
}

const text = { type: 'string' };
const flag = { type: 'boolean', default: false };
const several = { type: 'string', multiple: true, default: [] };

const COMMON = { json: flag, quiet: flag, help: { ...flag, short: 'h' }, version: flag };
const LOCK = { cipher: text, set: several, 'key-env': text, 'key-fd': text, hex: flag };
const NEW_LOCK = { 'to-cipher': text, 'to-set': several, 'new-key-env': text, 'new-key-fd': text };
const OUTPUT = { output: text };

const COMMANDS = {
  inspect: { run: 'inspect', operands: ['FILE'], options: { ...LOCK, ask: flag }, about: 'say what a file is, and what opens it' },
  verify: { run: 'verify', operands: ['FILE'], options: { ...LOCK, plain: flag, structure: flag }, about: 'read every page and check its tag' },
  backup: { run: 'backup', operands: ['FILE', 'COPY'], options: { ...LOCK, plain: flag }, about: 'copy a database while it is in use, under its own key' },
  encrypt: { run: 'rewrite', operands: ['FILE'], options: { ...LOCK, ...OUTPUT }, about: 'encrypt a plain database' },
  decrypt: { run: 'rewrite', operands: ['FILE'], options: { ...LOCK, ...OUTPUT }, about: 'make a plain database of an encrypted one' },
  rekey: { run: 'rewrite', operands: ['FILE'], options: { ...LOCK, 'new-key-env': text, 'new-key-fd': text, ...OUTPUT }, about: 'change the key' },
  convert: { run: 'rewrite', operands: ['FILE'], options: { ...LOCK, ...NEW_LOCK, 'new-key': flag, ...OUTPUT }, about: 'change the scheme or its parameters' },
};

/** `{ command, help, version, values, operands }`; UsageError for words that make no command. */
function parse(words) {
  const at = words.findIndex((word) => !word.startsWith('-'));
  const command = at === -1 ? undefined : words[at];
  if (command !== undefined && !Object.hasOwn(COMMANDS, command)) throw new UsageError(`Unknown command '${command}'`);
  const options = { ...COMMON, ...(command && COMMANDS[command].options) };
  const args = words.filter((_, index) => index !== at);
  const { values, positionals: operands } = parsed({ args, options, allowPositionals: true });
  const { help, version } = values;
  if (!help && !version && command !== undefined) {
    checkOperands(command, operands);
    [...operands, values.output ?? ''].forEach(checkName);
  }
  return { command, help, version, values, operands };
}

function parsed(config) {
  try {
    return parseArgs(config);
  } catch (error) {
    if (!String(error.code).startsWith('ERR_PARSE_ARGS_')) throw error;
    throw new UsageError(error.message);
  }
}

function checkOperands(command, operands) {
  const wanted = COMMANDS[command].operands;
  if (operands.length !== wanted.length) throw new UsageError(`Use: sealite ${command} ${wanted.join(' ')} [options]`);
}

// Database drops white space at the end of a name, and would take another file.
function checkName(name) {
  if (name !== name.trimEnd()) throw new UsageError(`The name '${name}' ends in white space`);
}

/** `--set kdf_iter=4000` to `{ kdf_iter: '4000' }`. */
function settings(list) {
  return Object.fromEntries(list.map((word) => {
    const match = /^(\w+)=(.*)$/.exec(word);
    if (match === null) throw new UsageError(`Expected NAME=VALUE, not '${word}'`);
    return [match[1].toLowerCase(), match[2].replace(/^'(.*)'$/, '$1')];
  }));
}

function usage(command) {
  const names = command === undefined ? Object.keys(COMMANDS) : [command];
  const lines = names.map((name) => `  ${name} ${COMMANDS[name].operands.join(' ')}`.padEnd(21) + COMMANDS[name].about);
  return `Usage: sealite COMMAND FILE [options]

${lines.join('\n')}

The file as it is:
  --cipher NAME        its scheme; found out when left out
  --set NAME=VALUE     a parameter of the scheme, also cipher_salt; may be repeated
  --key-env NAME       the key is in this environment variable
  --key-fd N           the key is the next line of this file descriptor
  --ask                inspect: ask for the key (the other commands ask when no key is given)
  --plain              verify, backup: the file has no key
  --hex                keys are written as hex digits
The file as it shall be (encrypt: --cipher, --set and --key-… say it):
  --new-key-env NAME, --new-key-fd N, --new-key (convert: ask for a new key)
  --to-cipher NAME, --to-set NAME=VALUE
  --output FILE        write this file and leave the original as it is
Other:
  --structure          verify: check what the pages hold, too
  --json, --quiet, --help, --version

A key is never an argument: others can read those. Exit codes: 0 done, 1 failed, 2 wrong usage,
3 no key that opens the file, 4 damage found, 5 in use by another connection. See docs/cli.md.`;
}

module.exports = { COMMANDS, UsageError, parse, settings, usage };
