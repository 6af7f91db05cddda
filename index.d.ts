/// <reference types="node" />
// Types of the public interface, written by hand. Only what exists is declared.

declare namespace BetterSqlite3MultipleCiphers {
  /** What can be bound to a parameter. */
  type Bindable = number | bigint | string | NodeJS.ArrayBufferView | null | undefined;

  interface ColumnDefinition {
    name: string;
    column: string | null;
    table: string | null;
    database: string | null;
    type: string | null;
  }

  interface RunResult {
    changes: number;
    lastInsertRowid: number | bigint;
  }

  /** `run`, `get`, `all`, `iterate` and `bind` take the parameters `P`; rows are of type `R`. */
  interface Statement<P extends unknown[], R = unknown> {
    readonly reader: boolean;
    readonly readonly: boolean;
    readonly source: string;
    readonly database: Database;
    readonly busy: boolean;

    run(...params: P): RunResult;
    get(...params: P): R | undefined;
    all(...params: P): R[];
    iterate(...params: P): StatementIterator<P, R>;
    bind(...params: P): this;
    pluck(toggleState?: boolean): this;
    expand(toggleState?: boolean): this;
    raw(toggleState?: boolean): this;
    safeIntegers(toggleState?: boolean): this;
    columns(): ColumnDefinition[];
    toString(): string;
  }

  interface StatementIterator<P extends unknown[], R> extends IterableIterator<R> {
    readonly statement: Statement<P, R>;
    next(): IteratorResult<R, undefined>;
    return(): IteratorResult<R, undefined>;
    [Symbol.iterator](): StatementIterator<P, R>;
    /** Ends the iteration; where the runtime has `Symbol.dispose`. */
    [Symbol.dispose](): void;
  }

  /** A function that runs inside a transaction; the variants differ in how it begins. */
  interface Transaction<F extends VariableArgFunction> {
    (this: ThisParameterType<F>, ...params: Parameters<F>): ReturnType<F>;
    readonly default: Transaction<F>;
    readonly deferred: Transaction<F>;
    readonly immediate: Transaction<F>;
    readonly exclusive: Transaction<F>;
    readonly database: Database;
  }

  type VariableArgFunction = (this: any, ...params: any[]) => unknown;

  interface VirtualTableOptions<A extends any[] = any[]> {
    /**
     * Gets one argument per parameter; undefined for one that was not given. Each row is an array in the order of
     * the columns, or an object with exactly these columns.
     */
    rows: (this: undefined, ...params: A) => Generator<unknown, unknown, undefined>;
    columns: readonly string[];
    /** Names of the hidden columns; `$1`, `$2`, … for the length of `rows` by default. */
    parameters?: readonly string[];
    safeIntegers?: boolean;
    directOnly?: boolean;
  }

  type VirtualTableFactory = (
    this: { module: string; database: string; table: string },
    ...args: string[]
  ) => VirtualTableOptions;

  interface Database {
    readonly name: string;
    readonly open: boolean;
    readonly inTransaction: boolean;
    readonly readonly: boolean;
    readonly memory: boolean;

    prepare<BindParameters extends unknown[] | {} = unknown[], Result = unknown>(
      source: string,
    ): BindParameters extends unknown[] ? Statement<BindParameters, Result> : Statement<[BindParameters], Result>;
    transaction<F extends VariableArgFunction>(fn: F): Transaction<F>;
    exec(source: string): this;
    /** The bytes are the passphrase; takes effect at the next access. */
    key(key: Buffer): number;
    /** Encrypts under another passphrase; an empty one decrypts. */
    rekey(key: Buffer): number;
    pragma(source: string, options?: SqliteDatabase.PragmaOptions | null): unknown;
    explain(source: string): unknown[];
    /** Answers other than {@link Bindable} throw when the function is called. */
    function<A extends any[] = any[]>(name: string, fn: (this: undefined, ...params: A) => unknown): this;
    function<A extends any[] = any[]>(
      name: string,
      options: SqliteDatabase.RegistrationOptions | null | undefined,
      fn: (this: undefined, ...params: A) => unknown,
    ): this;
    aggregate<T = any, A extends any[] = any[]>(name: string, options: SqliteDatabase.AggregateOptions<T, A>): this;
    /** A table that has the name of its module. */
    table<A extends any[] = any[]>(name: string, definition: VirtualTableOptions<A>): this;
    /** Tables that are made by `CREATE VIRTUAL TABLE … USING name(…args)`. */
    table(name: string, factory: VirtualTableFactory): this;
    /** Copies the database while it is in use; what it needs for the copy's key is in the options. */
    backup(
      destinationFile: string,
      options?: SqliteDatabase.BackupOptions | null,
    ): Promise<SqliteDatabase.BackupMetadata>;
    /** The whole database, in clear. */
    serialize(options?: SqliteDatabase.SerializeOptions | null): Buffer;
    loadExtension(path: string, entryPoint?: string): this;
    close(): this;
    defaultSafeIntegers(toggleState?: boolean): this;
    unsafeMode(unsafe?: boolean): this;
    /** Closes the database; where the runtime has `Symbol.dispose`. */
    [Symbol.dispose](): void;
  }

  interface DatabaseConstructor {
    new (filename?: string | Buffer | null, options?: SqliteDatabase.Options | null): Database;
    (filename?: string | Buffer | null, options?: SqliteDatabase.Options | null): Database;
    prototype: Database;
    SqliteError: SqliteErrorConstructor;
    /**
     * Says what a file is and, with a key, what opens it. Writes nothing and takes no lock; derivations
     * run before it returns.
     */
    inspect(file: string, options?: SqliteDatabase.InspectOptions | null): SqliteDatabase.Inspection;
    /**
     * Keeps derived keys in memory, for all connections of the process, so that a file that was opened
     * before costs no derivation. Off until it is called; each call erases what was kept; `null` switches
     * it off. `entries` (default 16): keys at most; `ttl` (default 60000): how many milliseconds a key
     * serves. Risk: who can read the process's memory finds the keys of files that are closed.
     */
    keyCache(options: { entries?: number; ttl?: number } | null): void;
  }

  interface SqliteError extends Error {
    name: string;
    message: string;
    code: string;
    /** With the code SQLITE_NOTADB: what the file looks like and what it was read with. Not enumerable. */
    hint?: string;
  }

  interface SqliteErrorConstructor {
    new (message: string, code: string): SqliteError;
    (message: string, code: string): SqliteError;
    prototype: SqliteError;
  }
}

import SqliteDatabase = Database;

declare namespace Database {
  interface Options {
    readonly?: boolean;
    fileMustExist?: boolean;
    /** Milliseconds to wait for a lock. */
    timeout?: number;
    /** Called with the SQL of each statement before it runs; keys are masked. */
    verbose?: ((message: string) => unknown) | null | undefined;
    /** The cipher scheme, as `PRAGMA cipher` would set it. */
    cipher?: string;
    /**
     * Names beginning with `file:` are URIs, whose parameters may give settings and key. Such a key stays in memory
     * as a part of the name until the database is closed; `key()` erases it once it is derived and proved.
     */
    uri?: boolean;
    /** Path of the native addon, or the loaded addon itself. */
    nativeBinding?: string | object | null | undefined;
  }

  interface PragmaOptions {
    /** Only the first column of the first row. */
    simple?: boolean;
  }

  interface RegistrationOptions {
    /** Any number of arguments, whatever the length of the function. */
    varargs?: boolean;
    /** The same arguments always give the same answer. */
    deterministic?: boolean;
    /** Integers as bigint; the default of the database otherwise. */
    safeIntegers?: boolean;
    /** Not in triggers, views and the schema. */
    directOnly?: boolean;
  }

  /** `T` is the accumulator, `A` the arguments in SQL. */
  interface AggregateOptions<T = any, A extends any[] = any[]> extends RegistrationOptions {
    /** The first accumulator, or a function that makes it; null by default. */
    start?: T | (() => T);
    /** The next accumulator, or nothing to go on with the same. */
    step: (this: undefined, total: T, ...next: A) => T | void;
    /** Takes a row out again, which makes a window function of it. */
    inverse?: ((this: undefined, total: T, ...dropped: A) => T | void) | null | undefined;
    /** The answer; the accumulator itself by default. */
    result?: ((this: undefined, total: T) => unknown) | null | undefined;
  }

  interface BackupMetadata {
    totalPages: number;
    remainingPages: number;
  }

  interface BackupOptions {
    /** Which database of the connection; `main` when left out. */
    attached?: string;
    /** Called after each step; a number is the count of pages per step from then on. */
    progress?: ((info: BackupMetadata) => number | undefined | void) | null;
    /** The key of the copy: that of the database when left out, `null` for a plain copy. */
    key?: Buffer | null;
    /** The scheme of the copy, with a `key`; that of the database when left out. */
    cipher?: string;
  }

  interface SerializeOptions {
    /** Which database of the connection; `main` when left out. */
    attached?: string;
  }

  interface InspectOptions {
    /** A passphrase or a raw key; without one only what can be seen without. */
    key?: string | Buffer | null;
    /** Only this scheme; all seven when left out. */
    cipher?: string | null;
    /** Parameters that are known, by the names of their PRAGMAs, such as `kdf_iter` or `cipher_salt`. */
    params?: Record<string, string | number> | null;
  }

  interface Inspection {
    /** Bytes of the file. */
    size: number;
    /** What its first bytes show; `unknown`: encrypted as a whole, or no database. */
    kind: 'empty' | 'zeros' | 'plain' | 'plain-header' | 'encrypted' | 'unknown' | 'wal' | 'journal';
    /** The same in words. */
    description: string;
    /** The page sizes that it can have: one where the header shows it. */
    pageSizes: number[];
    /** Reserved bytes per page where the header shows them. */
    reserve: number | null;
    wal: InspectedWal | null;
    journal: InspectedJournal | null;
    /** The database; null when it is encrypted and no key, or none that opens it, was given. */
    database: InspectedDatabase | null;
    /** The schemes and modes that were tried. */
    tried: string[];
    /** How many keys were derived from the passphrase. */
    derivations: number;
  }

  interface InspectedWal {
    size: number;
    /** It begins with a valid header. */
    valid: boolean;
    pageSize: number;
    /** The salt of its checksums, in hex. */
    salt: string;
    checkpoints: number;
    /** Valid frames. */
    frames: number;
    /** Those up to the last commit. */
    committedFrames: number;
    /** Pages of the database after the last commit. */
    pageCount: number;
  }

  interface InspectedJournal {
    size: number;
    /** It begins with a valid header. */
    valid: boolean;
    /** A crash left it: it is played back when the database is opened with its key. */
    hot: boolean;
    pageSize: number;
    records: number;
  }

  interface InspectedDatabase {
    /** The scheme; null: it is plain. */
    cipher: string | null;
    /** For `db.pragma()`, in this order, before the key. */
    pragmas: string[];
    /** Each page has a tag that the key proves. */
    authenticated: boolean;
    plaintextHeaderSize: number;
    /** Where the page 1 that counts is. */
    page1From: 'file' | 'wal' | 'journal';
    pageSize: number;
    reserve: number;
    pageCount: number | null;
    freePages: number;
    userVersion: number;
    applicationId: number;
    changeCounter: number;
    journalMode: 'wal' | 'rollback';
    encoding: 'UTF-8' | 'UTF-16le' | 'UTF-16be';
    autoVacuum: 'none' | 'full' | 'incremental';
    /** The version of SQLite that wrote it last. */
    sqliteVersion: string;
    /** What in page 1 cannot be right; empty when it is in order. */
    problems: string[];
  }

  type RunResult = BetterSqlite3MultipleCiphers.RunResult;
  type ColumnDefinition = BetterSqlite3MultipleCiphers.ColumnDefinition;
  type SqliteError = BetterSqlite3MultipleCiphers.SqliteError;
  type Statement<
    BindParameters extends unknown[] | {} = unknown[],
    Result = unknown,
  > = BindParameters extends unknown[]
    ? BetterSqlite3MultipleCiphers.Statement<BindParameters, Result>
    : BetterSqlite3MultipleCiphers.Statement<[BindParameters], Result>;
  type Transaction<
    T extends BetterSqlite3MultipleCiphers.VariableArgFunction = BetterSqlite3MultipleCiphers.VariableArgFunction,
  > = BetterSqlite3MultipleCiphers.Transaction<T>;
  type Database = BetterSqlite3MultipleCiphers.Database;
}

declare const Database: BetterSqlite3MultipleCiphers.DatabaseConstructor;

export = Database;
