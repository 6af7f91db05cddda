// A program as people write it with @types/better-sqlite3: a class around statements, callbacks, a subclass. Compiled with
// those types, and with ours in their place; better-sqlite3.ts has every name of them.
import Database from 'better-sqlite3';
import type { Database as Connection, Options, RunResult, SqliteError, Statement, Transaction } from 'better-sqlite3';

type Row = { id: number; name: string };
const settings: Options = { readonly: false, fileMustExist: false, timeout: 5000, verbose: console.log };
const db: Connection = new Database('app.db', settings);
const other: Database.Database = Database(':memory:');

db.pragma('journal_mode = WAL');
const mode = db.pragma('journal_mode', { simple: true }) as string;

class Users {
  private readonly insert: Statement<[string]>;
  private readonly named: Database.Statement<{ name: string }, Row>;
  private readonly list: Database.Statement<unknown[], Row>;
  readonly insertAll: Transaction<(names: string[]) => void>;

  constructor(private readonly connection: Connection) {
    this.insert = connection.prepare('INSERT INTO users (name) VALUES (?)');
    this.named = connection.prepare<{ name: string }, Row>('SELECT * FROM users WHERE name = @name');
    this.list = connection.prepare<unknown[], Row>('SELECT * FROM users');
    this.insertAll = connection.transaction((names: string[]) => {
      for (const name of names) this.insert.run(name);
    });
  }
  add(name: string): number | bigint {
    const info: RunResult = this.insert.run(name);
    return info.lastInsertRowid;
  }
  find(name: string): Row | undefined { return this.named.get({ name }); }
  *all(): IterableIterator<Row> { yield* this.list.iterate(); }
  count(): number { return this.connection.prepare('SELECT count(*) FROM users').pluck().get() as number; }
}

const users = new Users(db);
users.insertAll(['a', 'b']);
users.insertAll.immediate(['c']);
const names: string[] = [...users.all()].map((row) => row.name);
const raw = db.prepare('SELECT 1').raw().all() as number[][];
const columns: Database.ColumnDefinition[] = db.prepare('SELECT 1').columns();
const big = db.prepare('SELECT 1').safeIntegers().pluck().get() as bigint;
const dynamic: Database.Statement = db.prepare('SELECT ?');
dynamic.bind(1).get();
dynamic.run(...([1, 2] as unknown[]));

db.function('add2', (a, b) => a + b);
db.function('add3', { deterministic: true, varargs: true }, (...args: number[]) => args.reduce((sum, n) => sum + n, 0));
db.aggregate('addAll', { start: 0, step: (total: number, next: number) => total + next });
db.aggregate<number>('getCount', { start: 0, step: (total, next) => total + next, inverse: (total, dropped) => total - dropped, result: (total) => total });
db.aggregate<number[]>('getList', { start: () => [], step: (list, next) => { list.push(next); }, result: (list) => list.length });
const options: Database.AggregateOptions = { step: () => undefined };
db.table('numbers', { columns: ['n'], parameters: ['limit'], rows: function* (limit) { for (let n = 0; n < Number(limit); n++) yield { n }; } });
db.table('explicit', { columns: ['n'], rows: function* (): Generator { yield [1]; } });

void db.backup('copy.db', { progress: ({ totalPages, remainingPages }: Database.BackupMetadata) => (totalPages > remainingPages ? 100 : 0) })
  .then((info) => info.remainingPages);
const image: Buffer = db.serialize({ attached: 'main' });
new Database(image);
db.loadExtension('./extension').defaultSafeIntegers().unsafeMode(false).exec('VACUUM').close();

export function wrap<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof Database.SqliteError && error.code === 'SQLITE_BUSY') throw new Error(error.message);
    throw error;
  }
}
export function isSqliteError(error: unknown): error is InstanceType<typeof Database.SqliteError> {
  return error instanceof Database.SqliteError;
}
export function many<F extends (...args: any[]) => unknown>(connection: Connection, work: F): Database.Transaction<F> {
  return connection.transaction(work);
}
export class Store extends Database {
  constructor() { super('store.db', { timeout: 1 }); }
  get size(): number { return this.prepare('PRAGMA page_count').pluck().get() as number; }
}
export type { SqliteError };
export const results = [other.open, mode, names, raw, columns, big, options, db.memory, db.inTransaction, db.name, db.readonly];
