'use strict';

// The PRAGMAs that choose a scheme and its mode, for tests that go through many: with derivations so
// short that a test may derive often. chacha20 and aes256cbc are written out in each test, in more modes.

const sqlcipher = ["cipher='sqlcipher'", 'legacy=0', 'kdf_iter=10'];
const aegis = ["cipher='aegis'", 'tcost=1', 'mcost=64'];

/** One of each scheme, all with pages of 4096 bytes. */
const otherSchemes = {
  'aes128cbc': ["cipher='aes128cbc'"],
  'sqlcipher': sqlcipher,
  'sqlcipher legacy 4': ["cipher='sqlcipher'", 'legacy=4', 'kdf_iter=10'],
  'rc4': ["cipher='rc4'"],
  'ascon128': ["cipher='ascon128'", 'kdf_iter=10'],
  'aegis': aegis,
};

/** Further modes of the same. Those of SQLCipher 1 to 3 bring their page size of 1024 bytes. */
const otherModes = {
  'aes128cbc legacy': ["cipher='aes128cbc'", 'legacy=1'],
  ...Object.fromEntries([1, 2, 3].map((legacy) => [
    `sqlcipher legacy ${legacy}`, ["cipher='sqlcipher'", `legacy=${legacy}`, 'kdf_iter=10'],
  ])),
  'sqlcipher without HMAC': [...sqlcipher, 'hmac_use=0'],
  'sqlcipher with SHA-256': [...sqlcipher, 'kdf_algorithm=1', 'hmac_algorithm=1'],
  'sqlcipher with hmac_algorithm_compat=0': [...sqlcipher, 'hmac_algorithm=0', 'hmac_algorithm_compat=0'],
  'sqlcipher with other HMAC parameters': [...sqlcipher, 'hmac_pgno=2', 'hmac_salt_mask=165', 'fast_kdf_iter=3'],
  ...Object.fromEntries(['128l', '128x2', '128x4', '256x2', '256x4'].map((name) => [
    `aegis-${name}`, [...aegis, `algorithm='aegis-${name}'`],
  ])),
};

module.exports = { otherSchemes, otherModes };
