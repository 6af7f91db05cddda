'use strict';
// Database.inspect(file, { key, cipher, params }): what a file is and what opens it. Here are the
// checks of the arguments; the looking is in the native addon, which never writes and takes no lock.

const SALT = 'cipher_salt';

module.exports = (load) => function inspect(file, optionsGiven) {
  if (typeof file !== 'string') throw new TypeError('Expected first argument to be a string');
  if (file.trim() === '') throw new TypeError('A database file name cannot be empty');
  if (file.includes('\0')) throw new TypeError('A database file name cannot contain a NUL character');
  const options = optionsGiven ?? {};
  if (typeof options !== 'object') throw new TypeError('Expected second argument to be an options object');
  const { name, bytes, params, salt } = { name: cipherOption(options), bytes: keyOption(options), ...paramsOption(options) };
  return load(null).inspect(file, bytes, name, params, salt);
};

function keyOption({ key = null }) {
  if (key === null) return null;
  const bytes = typeof key === 'string' ? Buffer.from(key) : key;
  if (!Buffer.isBuffer(bytes)) throw new TypeError('Expected the "key" option to be a string or a Buffer');
  if (bytes.length === 0) throw new TypeError('The "key" option cannot be empty');
  return bytes;
}

function cipherOption({ cipher = null }) {
  if (cipher !== null && typeof cipher !== 'string') throw new TypeError('Expected the "cipher" option to be a string');
  return cipher;
}

// `{ kdf_iter: 4000 }` to names and texts in turn, as PRAGMAs would set them.
function paramsOption({ params: given = null }) {
  if (given === null) return { params: [], salt: null };
  if (typeof given !== 'object') throw new TypeError('Expected the "params" option to be an object');
  const params = [];
  let salt = null;
  for (const [name, value] of Object.entries(given)) {
    if (typeof value !== 'string' && !Number.isInteger(value)) {
      throw new TypeError(`Expected the cipher parameter '${name}' to be a string or an integer`);
    }
    if (name.toLowerCase() === SALT) salt = String(value);
    else params.push(name, String(value));
  }
  return { params, salt };
}
