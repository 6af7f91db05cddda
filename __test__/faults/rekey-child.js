'use strict';

// A process that rekeys a database and ends: node rekey-child.js <module> <file> <locks as JSON>. It tells
// its parent when it begins.

const { rekey, unlock } = require('./transitions.js');

const [modulePath, file, locks] = process.argv.slice(2);
const Database = require(modulePath);
const [from, to] = JSON.parse(locks);

const db = unlock(new Database(file), from);
db.pragma('cache_size=20');
db.prepare('SELECT count(*) FROM cell').get();
process.send('begins', () => {
  rekey(db, to);
  db.close();
  process.disconnect();
});
