'use strict';
// The entry for one platform: Linux on arm64 with musl. Its paths are literal, so that a bundler finds the addon.
// No detection of the platform is here; the default entry does that.

const createDatabase = require('./database');
const explainMissing = require('./explain-missing');

module.exports = createDatabase(() => {
  try {
    return require('../sealite.linux-arm64-musl.node');
  } catch (error) {
    if (error.code !== 'MODULE_NOT_FOUND') throw error;
  }
  // In a block of its own: a bundler goes on without what is not there.
  try {
    return require('sealite-linux-arm64-musl');
  } catch (error) {
    throw explainMissing('linux-arm64-musl', error);
  }
}, { fixed: true });
module.exports.SqliteError = require('./sqlite-error');
