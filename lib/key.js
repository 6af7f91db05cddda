'use strict';
// db.key(buffer), db.rekey(buffer): the bytes are the passphrase. Both return 0.

const HANDLE = require('./handle');

function key(passphrase) {
  return this[HANDLE].key(checked(passphrase));
}

function rekey(passphrase) {
  return this[HANDLE].rekey(checked(passphrase));
}

function checked(passphrase) {
  if (!Buffer.isBuffer(passphrase)) throw new TypeError('Expected the key to be a Buffer');
  return passphrase;
}

module.exports = { key, rekey };
