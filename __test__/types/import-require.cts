// A CommonJS module: the constructor itself is what require gives; `import from` works with esModuleInterop.
import Database = require('sealite');
import Interop, { SqliteError } from 'sealite';
import musl = require('sealite/linuxmusl-arm64');

const same: typeof Database = Interop;
const all: Array<typeof Database> = [same, musl];
console.log(all.map((Class) => new Class().prepare('SELECT 1').get()), new SqliteError('', '').code);
