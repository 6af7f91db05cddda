'use strict';

// Every PRAGMA about keys and ciphers with values inside its range, at its ends, outside it and of other
// kinds, on main, temp and an attached database, and what all settings are afterwards: the same rows and
// errors in both packages, in one run.

const test = require('node:test');
const assert = require('node:assert/strict');
const path = require('node:path');
const { tempDir } = require('../support/database.js');
const { shared } = require('./processes.js');

const processOf = shared();

const schemes = {
  chacha20: { legacy: 1, legacy_page_size: 65536, kdf_iter: 2147483647, plaintext_header_size: 100 },
  aes128cbc: { legacy: 1, legacy_page_size: 65536 },
  aes256cbc: { legacy: 1, legacy_page_size: 65536, kdf_iter: 2147483647 },
  sqlcipher: {
    legacy: 4, legacy_page_size: 65536, kdf_iter: 2147483647, fast_kdf_iter: 2147483647, hmac_use: 1, hmac_pgno: 2, hmac_salt_mask: 255,
    kdf_algorithm: 2, hmac_algorithm: 2, hmac_algorithm_compat: 1, plaintext_header_size: 100,
  },
  rc4: { legacy: 1, legacy_page_size: 65536 },
  ascon128: { kdf_iter: 2147483647, plaintext_header_size: 100 },
  aegis: { tcost: 2147483647, mcost: 2147483647, pcost: 2147483647, algorithm: 6, plaintext_header_size: 100 },
};
const parameters = [...new Set(Object.values(schemes).flatMap(Object.keys))];
const wordsOf = ["'abc'", "''", "'12abc'", 'on', 'off', 'NULL', '1.5', '-1', '+1', "'0x10'", '0x1', '99999999999', '2147483648', "' 1'"];
const state = ['cipher', 'hmac_check', 'mc_legacy_wal', ...parameters].flatMap((name) => [name, `temp.${name}`]);

/** Each step with the levels it is asked on. */
function stepsOf(scheme) {
  const steps = [];
  for (const [name, max] of Object.entries(schemes[scheme])) {
    const values = [0, 1, 2, 16, 24, 32, 512, 1000, 1024, max, max + 1, ...wordsOf];
    if (name === 'algorithm') values.push("'aegis-128l'", "'AEGIS-256X2'", "'aegis'");
    for (const level of ['', 'main.', 'temp.', 'other.']) {
      for (const value of values) steps.push(`${level}${name}=${value}`, `${level}${name}`);
    }
  }
  for (const name of parameters.filter((other) => !(other in schemes[scheme]))) steps.push(name, `${name}=1`, `${name}='x'`);
  for (const name of ['hmac_check', 'mc_legacy_wal']) {
    for (const level of ['', 'temp.', 'other.']) {
      for (const value of ['0', '1', '2', '256', '-1', 'on', 'off', 'yes', 'no', 'true', 'false', 'maybe', "''", 'full']) {
        steps.push(`${level}${name}=${value}`, `${level}${name}`, name);
      }
    }
  }
  return steps;
}

// The replaced package answers the first three with the message of an earlier failure, if there was one.
const others = [
  'key', 'hexkey', "hexkey=''",
  "cipher='x'", 'cipher=3', "cipher=''", "temp.cipher='RC4'", 'cipher', 'temp.cipher', "other.cipher='aegis'", 'other.cipher', "cipher='Aes128CBC'",
  'nope.cipher', "nope.kdf_iter=1", "cipher_salt='00'", "cipher_salt='zz0102030405060708090a0b0c0d0e0f'", "cipher_salt=''", 'cipher_salt',
  "hexkey='abc'", "hexkey='zz'", "hexrekey='abc'", "temp.key='x'", "temp.rekey='x'", "textkey='x'", "textrekey='x'",
  'memory_security', 'memory_security=1', 'cipher_version', "other.key=''", "rekey=''", 'rekey', "cipher='chacha20'", "legacy=1", "key='x'", 'cipher_salt=\'00112233445566778899aabbccddeeff\'',
  "hexkey='00ff'", 'key=12345', 'key=-5', 'key=word', "key=''",
];

async function ask(connection, source) {
  try {
    return await connection.process.send(connection.name, 'call', ['pragma', source]);
  } catch (error) {
    return { code: error.code, message: error.message.replace(/^\w+: /, '') };
  }
}

/** A connection of one side with an attached database that has no key. */
async function connect(t, side) {
  const dir = tempDir(t);
  const db = await (await processOf(side)).open(path.join(dir, 'main.db'));
  await db.exec(`ATTACH '${path.join(dir, 'other.db')}' AS other`);
  return db;
}

async function compare(t, steps) {
  const [ours, peer] = await Promise.all(['ours', 'peer'].map((side) => connect(t, side)));
  for (const step of steps) {
    const [mine, theirs] = await Promise.all([ask(ours, step), ask(peer, step)]);
    assert.deepEqual(mine, theirs, step);
  }
  await Promise.all([ours.close(), peer.close()]);
  t.diagnostic(`${steps.length} PRAGMAs`);
}

for (const scheme of Object.keys(schemes)) {
  test(`${scheme}: its parameters answer as in the replaced package`, async (t) => {
    await compare(t, [`cipher='${scheme}'`, ...stepsOf(scheme), ...state]);
  });
}

test('cipher, salt and keys answer as in the replaced package', async (t) => {
  await compare(t, [...others, ...state]);
});
