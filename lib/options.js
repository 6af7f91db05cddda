'use strict';
// The constructor's arguments: defaults, order of the checks, exact messages.

const fs = require('node:fs');
const path = require('node:path');

const MAX_TIMEOUT = 0x7fffffff;
const DEFAULT_TIMEOUT = 5000;

// Checks everything that can be checked before the native addon is loaded.
// `fixed`: the entry has one addon, and the option that names another is refused.
function checkOptions(filenameGiven, optionsGiven, { fixed = false } = {}) {
  const image = Buffer.isBuffer(filenameGiven) ? filenameGiven : null;
  const name = image ? ':memory:' : filenameGiven ?? '';
  const options = optionsGiven == null ? {} : optionsGiven;
  if (typeof name !== 'string') throw new TypeError('Expected first argument to be a string');
  if (typeof options !== 'object') throw new TypeError('Expected second argument to be an options object');
  if ('readOnly' in options) throw new TypeError('Misspelled option "readOnly" should be "readonly"');
  if ('memory' in options) throw new TypeError('Option "memory" was removed in v7.0.0 (use ":memory:" filename instead)');

  const trimmed = name.trim();
  const memory = trimmed === '' || trimmed === ':memory:';
  const readonly = booleanOption(options, 'readonly');
  const fileMustExist = booleanOption(options, 'fileMustExist');
  if (readonly && memory && !image) throw new TypeError('In-memory/temporary databases cannot be readonly');
  const timeout = timeoutOption(options);
  const verbose = verboseOption(options);
  if (fixed && 'nativeBinding' in options) {
    throw new TypeError('The "nativeBinding" option is only supported by the default better-sqlite3 entrypoint');
  }
  const cipher = cipherOption(options);
  const uri = booleanOption(options, 'uri');
  const nativeBinding = nativeBindingOption(options);
  if (trimmed.includes('\0')) throw new TypeError('A database file name cannot contain a NUL character');
  return {
    name: isUri(trimmed, uri) ? withoutKeys(name) : name,
    source: image ?? trimmed,
    memory, readonly, fileMustExist, timeout, verbose, cipher, uri, nativeBinding,
  };
}

function isUri(file, uri) {
  return file.startsWith('file:') && (uri || process.env.SQLITE_USE_URI === '1');
}

// What `name` shows of a URI: keys are masked, as the property is listed and logged.
function withoutKeys(name) {
  return name.replace(/([?&])([^=&#]*)=[^&#]*/g, (parameter, mark, key) => (
    /^(?:hex|text)?key$/i.test(unescaped(key)) ? `${mark}${key}=***` : parameter
  ));
}

// As SQLite reads it: a NUL ends it.
function unescaped(text) {
  return text.replace(/%([0-9a-f]{2})/gi, (_, digits) => String.fromCharCode(parseInt(digits, 16))).split('\0')[0];
}

// Checks that the file can be made; `file:` names may be URIs, which SQLite resolves.
function checkDirectory({ source: file, memory }) {
  if (memory || file.startsWith('file:') || fs.existsSync(path.dirname(file))) return;
  throw new TypeError('Cannot open database because the directory does not exist');
}

// A boolean option: false when it is absent, and nothing but a boolean when it is there.
function booleanOption(options, key) {
  if (!(key in options)) return false;
  const value = options[key];
  if (typeof value !== 'boolean') throw new TypeError(`Expected the "${key}" option to be a boolean`);
  return value;
}

function timeoutOption(options) {
  if (!('timeout' in options)) return DEFAULT_TIMEOUT;
  const { timeout } = options;
  if (!Number.isInteger(timeout) || timeout < 0) {
    throw new TypeError('Expected the "timeout" option to be a positive integer');
  }
  if (timeout > MAX_TIMEOUT) {
    throw new RangeError(`Option "timeout" cannot be greater than ${MAX_TIMEOUT}`);
  }
  return timeout;
}

function verboseOption(options) {
  const value = 'verbose' in options ? options.verbose : null;
  if (value == null) return null;
  if (typeof value !== 'function') throw new TypeError('Expected the "verbose" option to be a function');
  return value;
}

// Present means meant: an undefined cipher from a misspelt setting must not pick the default scheme.
function cipherOption(options) {
  if (!('cipher' in options)) return null;
  const { cipher } = options;
  if (typeof cipher !== 'string') throw new TypeError('Expected the "cipher" option to be a string');
  return cipher;
}

// Of backup and serialize: which of the databases of the connection.
function attachedOption(options) {
  const attached = 'attached' in options ? options.attached : 'main';
  if (typeof attached !== 'string') throw new TypeError('Expected the "attached" option to be a string');
  if (attached === '') throw new TypeError('The "attached" option cannot be an empty string');
  return attached;
}

function nativeBindingOption(options) {
  const value = 'nativeBinding' in options ? options.nativeBinding : null;
  if (value == null) return null;
  if (typeof value !== 'string' && typeof value !== 'object') {
    throw new TypeError('Expected the "nativeBinding" option to be a string or addon object');
  }
  return value;
}

module.exports = { checkOptions, checkDirectory, booleanOption, attachedOption };
