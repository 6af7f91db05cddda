'use strict';
// The entry for one platform: macOS on x64. Its paths are literal, so that a bundler finds the addon.
// No detection of the platform is here; the default entry does that.

const createDatabase = require('./database');

module.exports = createDatabase(() => {
  try {
    return require('../sealite.darwin-x64.node');
  } catch (error) {
    if (error.code !== 'MODULE_NOT_FOUND') throw error;
    return require('sealite-darwin-x64');
  }
}, { fixed: true });
module.exports.SqliteError = require('./sqlite-error');
