'use strict';
// Public entry: the Database constructor over the addon of this platform, and SqliteError.

const { loadBinding } = require('./lib/binding');
const createDatabase = require('./lib/database');
const SqliteError = require('./lib/sqlite-error');

module.exports = createDatabase(loadBinding);
module.exports.SqliteError = SqliteError;
