'use strict';
// The entry for one platform: Linux on arm64 with musl. Its paths are literal, so that a bundler finds the addon.
// No detection of the platform is here; the default entry does that.

const createDatabase = require('./database');

module.exports = createDatabase(() => {
  try {
    return require('../sealite.linux-arm64-musl.node');
  } catch (error) {
    if (error.code !== 'MODULE_NOT_FOUND') throw error;
    return require('sealite-linux-arm64-musl');
  }
}, { fixed: true });
module.exports.SqliteError = require('./sqlite-error');
