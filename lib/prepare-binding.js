'use strict';
// What an addon is given before its first use. Where it comes from is not known here.

const SqliteError = require('./sqlite-error');
const rows = require('./rows');
const { readAhead } = require('./iterator');

const prepared = new WeakSet();

module.exports = function prepareBinding(binding) {
  if (!prepared.has(binding)) {
    binding.initialize({ SqliteError, ...rows });
    rows.finishHere(binding.Statement.prototype);
    readAhead(binding.StatementIterator.prototype);
    if (Symbol.dispose) makeDisposable(binding.StatementIterator.prototype);
    prepared.add(binding);
  }
  return binding;
};

function makeDisposable(prototype) {
  Object.defineProperty(prototype, Symbol.dispose, {
    value: function dispose() { this.return(); },
    writable: true,
    configurable: true,
  });
}
