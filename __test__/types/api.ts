// The whole of the public types, used as a program would. Compiled, never run; each @ts-expect-error
// is a use that must not compile.

import Database, { SqliteError } from 'sealite';
import Required = require('sealite');
import Static = require('sealite/linux-x64');

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <T extends true>(): T | void => undefined;

const db: Database.Database = new Database('mail.db', {
  readonly: true, fileMustExist: false, timeout: 10, verbose: (sql: string) => sql, cipher: 'chacha20', uri: true, nativeBinding: null,
});
const other: Required.Database = Required(Buffer.alloc(0));
const third: Database.Database = new Static();
// @ts-expect-error -- a misspelt option
new Database('a', { readOnly: true });
// @ts-expect-error -- not a number
new Database('a', { timeout: '5' });
// @ts-expect-error -- not a name
new Database(5);
// @ts-expect-error -- cannot be assigned
db.open = false;

interface Mail { id: number; subject: string }
const byId = db.prepare<[number], Mail>('select * from mail where id = ?');
same<Equal<ReturnType<typeof byId.get>, Mail | undefined>>();
same<Equal<ReturnType<typeof byId.all>, Mail[]>>();
const subject: string | undefined = byId.get(5)?.subject;
// @ts-expect-error -- the parameter is a number
byId.get('five');
// @ts-expect-error -- one parameter is missing
byId.all();
// @ts-expect-error -- no such column
byId.get(5)?.body;
const named = db.prepare<{ id: number }, Mail>('select * from mail where id = :id');
named.get({ id: 5 });
// @ts-expect-error -- the wrong name
named.get({ key: 5 });
const untyped = db.prepare('select 1');
same<Equal<ReturnType<typeof untyped.get>, unknown>>();
untyped.run(1, 2n, 'x', null, Buffer.alloc(1), [1, 2], { a: 1 });

for (const mail of byId.iterate(1)) mail.subject.toUpperCase();
const iterator = byId.iterate(1);
iterator.return().done;
const statement: Database.Statement<[number], Mail> = byId.pluck().expand(false).raw(true).safeIntegers().bind(1);
const columns: Database.ColumnDefinition[] = statement.columns();
const { changes, lastInsertRowid }: Database.RunResult = byId.run(1);
same<Equal<typeof lastInsertRowid, number | bigint>>();
const counted: number = changes;
// @ts-expect-error -- it may be a bigint
const rowid: number = lastInsertRowid;

const transfer = db.transaction((from: number, to: number) => from + to);
const sum: number = transfer(1, 2) + transfer.immediate(1, 2) + transfer.deferred.exclusive(1, 2) + transfer.default(1, 2);
// @ts-expect-error -- an argument is missing
transfer(1);
// @ts-expect-error -- a string is no number
transfer.exclusive(1, '2');
const withThis = db.transaction(function (this: { step: number }, n: number) { return n + this.step; });
withThis.call({ step: 1 }, 2);
const transaction: Database.Transaction<(n: number) => string> = db.transaction((n: number) => String(n));

db.pragma('cache_size = 1', { simple: true });
// @ts-expect-error -- not a boolean
db.pragma('cache_size', { simple: 1 });
db.function('double', (n: number) => n * 2).function('f', { varargs: true, deterministic: true, directOnly: true, safeIntegers: true }, (...all) => all.length);
// @ts-expect-error -- no function
db.function('f', { varargs: true });
db.aggregate('total', { start: 0, step: (total: number, n: number) => total + n, inverse: (total: number, n: number) => total - n, result: (total: number) => total });
db.aggregate<number[]>('collect', { start: () => [], step: (all, n) => { all.push(n); } });
// @ts-expect-error -- without step
db.aggregate('empty', { start: 0 });
db.table('series', { columns: ['n'], parameters: ['upTo'], *rows(upTo: number) { for (let n = 0; n < upTo; n++) yield [n]; } });
db.table('csv', (file: string) => ({ columns: [file], *rows() { yield { [file]: 1 }; } }));
// @ts-expect-error -- without columns
db.table('none', { *rows() { yield [1]; } });

const copied: Promise<Database.BackupMetadata> = db.backup('copy.db', { attached: 'main', progress: ({ totalPages }) => totalPages, key: null, cipher: 'rc4' });
const image: Buffer = db.serialize({ attached: 'main' });
const code: number = db.key(Buffer.from('key')) + db.rekey(Buffer.alloc(0));
// @ts-expect-error -- a key is a Buffer
db.key('key');
db.loadExtension('a.so', 'entry').exec('select 1').defaultSafeIntegers().unsafeMode(false).close();
Database.keyCache({ entries: 4, ttl: 1000 });
Database.keyCache(null);
// @ts-expect-error -- not a number
Database.keyCache({ ttl: '1 s' });
const inspection: Database.Inspection = Database.inspect('mail.db', { key: 'x', params: { kdf_iter: 5 } });

try { db.exec('nonsense'); } catch (error) {
  if (error instanceof SqliteError) same<Equal<typeof error.code, string>>();
  if (error instanceof Database.SqliteError) same<Equal<typeof error.message, string>>();
}
const made: Database.SqliteError = new SqliteError('message', 'SQLITE_ERROR');
// @ts-expect-error -- without code
new SqliteError('message');

function disposes() {
  using scoped = new Database(':memory:');
  using rows = scoped.prepare('select 1').iterate();
  return rows.next();
}

export { columns, counted, rowid, sum, subject, other, third, transaction, copied, image, code, inspection, made, disposes };
