'use strict';

// Single values that sqlite3mc_vle_encrypt of one package made are read by the other's
// sqlite3mc_vle_decrypt, under both algorithms, with and without a scope.

const test = require('node:test');
const assert = require('node:assert/strict');
const { tempDir } = require('../support/database.js');
const path = require('node:path');
const { DIRECTIONS, shared } = require('./processes.js');

const processOf = shared();
const literals = ['42', '-1.25', "'Größe'", "x'00ff10'", '-9223372036854775808'];

for (const [writer, reader] of DIRECTIONS) {
  test(`values of ${writer} are read by ${reader}`, async (t) => {
    const file = path.join(tempDir(t), 'values.db');
    for (const [algorithm, salt, scope] of [
      ['chacha20', "'salt'", ''], ['chacha20', 'NULL', ", 'row 1'"], ['chacha20', "x'00'", ", x'0001'"],
      ['ascon128', "'salt'", ''], ['ascon128', "''", ", 'row 1'"],
    ]) {
      const key = `SELECT sqlite3mc_vle_key('passphrase', ${salt}, '${algorithm}', 'kdf_iter=100')`;
      const written = await (await processOf(writer)).open(file);
      await written.all(key);
      await written.exec('DROP TABLE IF EXISTS sealed; CREATE TABLE sealed (value)');
      for (const literal of literals) await written.exec(`INSERT INTO sealed VALUES (sqlite3mc_vle_encrypt(${literal}${scope}))`);
      await written.close();
      const read = await (await processOf(reader)).open(file);
      await read.all(key);
      for (const [n, literal] of literals.entries()) {
        const { same } = await read.get(`SELECT sqlite3mc_vle_decrypt(value${scope}) IS ${literal} AS same FROM sealed WHERE rowid = ${n + 1}`);
        assert.equal(same, 1, `${algorithm} ${literal}`);
      }
      await read.close();
    }
  });
}
