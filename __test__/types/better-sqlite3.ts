// A program written for @types/better-sqlite3, every name of it in use. It is compiled twice: with
// those types, and with ours in their place.

import Database = require('better-sqlite3');

const options: Database.Options = { readonly: false, fileMustExist: undefined, timeout: 5, verbose: console.log, nativeBinding: undefined };
const db: Database.Database = new Database('a.db', options);
const image = new Database(Buffer.alloc(0));
const called: Database.Database = Database('b.db');
const { memory, readonly, name, open, inTransaction } = db;

const insert: Database.Statement = db.prepare('insert into t values (?, ?)');
const result: Database.RunResult = insert.run(1, 'x');
const select: Database.Statement<[number], { a: number }> = db.prepare<[number], { a: number }>('select a from t where a = ?');
const named: Database.Statement<{ a: number }> = db.prepare<{ a: number }>('select :a');
const row: { a: number } | undefined = select.get(1);
const rows: { a: number }[] = select.all(1);
const each: IterableIterator<{ a: number }> = select.iterate(1);
const definitions: Database.ColumnDefinition[] = select.columns();
select.pluck(true).expand(true).raw(true).safeIntegers(true).bind(1);
const facts = [select.source, select.reader, select.readonly, select.busy, select.database.name, named.get({ a: 1 })];

const many: Database.Transaction<(list: number[]) => void> = db.transaction((list: number[]) => list.forEach((n) => insert.run(n)));
many([1]);
many.default([1]);
many.deferred([1]);
many.immediate([1]);
many.exclusive([1]);
const loose: Database.Transaction = db.transaction(() => 5);

const registration: Database.RegistrationOptions = { varargs: true, deterministic: true, safeIntegers: true, directOnly: true };
db.function('f', (a: number, b: string) => a + b).function('g', registration, (...all) => all[0]);
db.aggregate('sum', { start: 0, step: (total: number, next: number) => total + next });
db.aggregate<number>('sum', { start: () => 0, step: (total, next) => total + next, inverse: (total, dropped) => total - dropped, result: (total) => total });
db.table('t', { columns: ['a'], parameters: ['b'], *rows() { yield { a: 1 }; }, safeIntegers: true, directOnly: true });
const simple: Database.PragmaOptions = { simple: true };
const answer: unknown = db.pragma('user_version', simple);
const serialized: Database.SerializeOptions = { attached: 'main' };
const bytes: Buffer = db.serialize(serialized);
const backup: Database.BackupOptions = { progress: ({ totalPages, remainingPages }) => totalPages - remainingPages };
const done: Promise<Database.BackupMetadata> = db.backup('copy.db', backup);
db.exec('select 1').loadExtension('x.so').defaultSafeIntegers().unsafeMode().close();
const error = new Database.SqliteError('message', 'SQLITE_ERROR');
const text: string = error.code + error.message + error.name;

export { image, called, memory, readonly, name, open, inTransaction, result, row, rows, each, definitions, facts, loose, answer, bytes, done, text };
