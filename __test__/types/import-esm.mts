// An ES module: the default import is the constructor, SqliteError a named one, value and type.
import Database, { SqliteError, type RunResult, type Statement } from 'sealite';
import onePlatform from 'sealite/linux-x64';
import * as everything from 'sealite';

const db: Database.Database = new Database(':memory:');
const statement: Statement<[number], { n: number }> = db.prepare<[number], { n: number }>('SELECT ? AS n');
const done: RunResult = db.prepare('SELECT 1').run();
new onePlatform(':memory:').close();
new everything.default(':memory:').close();
try {
  db.exec('nonsense');
} catch (error) {
  if (error instanceof SqliteError) console.log(error.code.length, done.changes, statement.source);
}
const kept: SqliteError = new SqliteError('text', 'SQLITE_ERROR');
console.log(kept.hint);
