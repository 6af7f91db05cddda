#!/usr/bin/env node
'use strict';
// `sealite <command> <file>`: the command line. Here a command is found, run, and its outcome turned
// into output and an exit code. What a command does is in commands/<command>.js.

const { COMMANDS, UsageError, parse, usage } = require('./arguments');
const { EXIT, Failure, exitCodeOf, messageOf } = require('./outcome');
const { Secrets } = require('./secrets');
const { Progress } = require('./progress');

async function main(words) {
  const { command, help, version, values, operands } = parse(words);
  if (version) return print(require('../package.json').version);
  if (help || command === undefined) return print(usage(command));
  const secrets = new Secrets(values);
  const progress = new Progress(process.stderr, !values.json && !values.quiet);
  try {
    const run = require(`./commands/${COMMANDS[command].run}`);
    const { result, text, exitCode = EXIT.ok } = await run({ command, values, operands, secrets, progress });
    progress.end();
    print(values.json ? JSON.stringify({ command, ...result }, null, 2) : text);
    process.exitCode = exitCode;
  } finally {
    progress.end();
    secrets.erase();
  }
}

function print(text) {
  if (text !== '') process.stdout.write(`${text}\n`);
}

function fail(error, words) {
  const json = words.includes('--json');
  process.exitCode = exitCodeOf(error);
  if (json) print(JSON.stringify({ error: { message: messageOf(error), code: error.code ?? null, exitCode: process.exitCode } }, null, 2));
  else process.stderr.write(`sealite: ${messageOf(error)}\n`);
  if (error instanceof UsageError && !json) process.stderr.write("Try 'sealite --help'.\n");
  if (!(error instanceof UsageError || error instanceof Failure || error.code) && !json) process.stderr.write(`${error.stack}\n`);
}

const words = process.argv.slice(2);
main(words).catch((error) => fail(error, words));
