'use strict';

// One hostile sequence: its databases and what became of them, the choice of the next action, and
// what must be true of every error and at the end.

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const assert = require('node:assert/strict');
const { Database, BUSY, isPeer } = require('../support/database.js');
const { collect } = require('../support/gc.js');
const { seededRandom } = require('../interop/random.js');
const { ACTIONS, SCHEMA, define } = require('./actions.js');
const { faultIn } = require('./errors.js');
const { makers, outcomeOf } = require('./values.js');

const STEPS = 40;
const NESTED = 60;
const MAX_DEPTH = 3;

// Keys that need no slow derivation under chacha20, and are any passphrase to the others.
const KEYS = [1, 2].map((digit) => `raw:${String(digit).repeat(64)}`);
const CIPHERS = ['chacha20', 'aes128cbc', 'rc4'];

class World {
  constructor(seed) {
    const { random } = seededRandom(seed);
    this.upTo = (count) => Math.floor(random() * count);
    this.pick = (list) => list[this.upTo(list.length)];
    this.odds = (one) => this.upTo(one) === 0;
    this.directory = fs.mkdtempSync(path.join(os.tmpdir(), 'sealite-property-'));
    this.files = ['a.db', 'b.db'].map((name) => path.join(this.directory, name));
    Object.assign(this, { keys: KEYS, ciphers: CIPHERS, collect, depth: 0, nested: NESTED, forgotten: 0, hasUnknownKey: false, own: new Set(), faults: new Set(), log: '' });
    Object.assign(this, { databases: [], statements: [], iterators: [], transactions: [], backups: [], natives: [] });
    this.make = makers(this, () => this.disturb());
    this.databases.push(new Database(this.odds(2) ? this.files[0] : ':memory:', { timeout: 0 }).exec(SCHEMA));
    if (this.odds(2)) define(this, this.databases[0]);
  }

  database() {
    const open = this.databases.filter((database) => database.open);
    return this.pick(this.odds(6) || open.length === 0 ? this.databases : open);
  }

  statement() {
    return this.pick(this.statements) ?? this.keep('statements', this.database().prepare('select * from t'));
  }

  addon() {
    return require(Object.keys(require.cache).find((file) => file.endsWith('.node')));
  }

  keep(kind, value) {
    // Not push: a setter of an action may be on Array.prototype.
    Object.defineProperty(this[kind], this[kind].length, { value, writable: true, enumerable: true, configurable: true });
    if (this[kind].length > 20) this[kind].splice(this.upTo(10), 1);
    return value;
  }

  /** Runs one action. An error that may be thrown is thrown on; any other is noted as a fault. */
  act() {
    const { name, action, isNative } = this.pick(ACTIONS);
    this.log += `${'  '.repeat(this.depth)}${name}\n`;
    try {
      return action(this);
    } catch (error) {
      this.check(error, name, isNative);
      this.own.add(error);
      throw error;
    }
  }

  check(error, name, isNative = false) {
    // The native objects are not the public interface: what they throw is not in the contract.
    const fault = isNative || isForeign(error, name) ? undefined : faultIn(error, this.own, name);
    if (fault !== undefined) this.faults.add({ in: name, fault, error: error instanceof Error ? error.stack : String(error) });
  }

  /** Called from getters, callbacks and traps: does something else, or throws, or nothing. */
  disturb() {
    if (this.depth >= MAX_DEPTH || this.nested <= 0 || this.odds(3)) return;
    this.nested -= 1;
    this.depth += 1;
    try {
      if (this.odds(8)) throw this.thrown();
      this.act();
    } catch (error) {
      if (!this.odds(4) && !this.own.has(error)) return;
      this.own.add(error);
      throw error;
    } finally {
      this.depth -= 1;
    }
  }

  /** A value for the caller's code to throw. */
  thrown() {
    const value = this.pick([new Error('own'), new TypeError('own'), null, undefined, 'own', 5, Symbol('own'), {}]);
    this.own.add(value);
    return value;
  }

  watch(promise) {
    return promise.catch((error) => this.check(error, 'backup'));
  }

  async run() {
    for (let step = 0; step < STEPS; step += 1) {
      try {
        await this.act();
        if (this.odds(4)) this.checkValue();
      } catch (error) {
        if (error instanceof assert.AssertionError) this.faults.add({ in: 'a value', fault: error.message, error: error.stack });
      }
    }
    await this.end();
  }

  /** A value that is bound comes back as the contract says, whatever has happened before. */
  checkValue() {
    const value = this.make.plain();
    const { gives, throws } = outcomeOf(value);
    const statement = new Database(':memory:').prepare('select ?').pluck().safeIntegers();
    let outcome;
    try {
      outcome = { gives: statement.get([value]) };
    } catch ({ constructor, message }) {
      outcome = { throws: [constructor, message] };
    }
    assert.deepEqual(outcome, throws ? { throws } : { gives });
  }

  /** Everything can be ended, and the files are whole under one of the keys. */
  async end() {
    this.depth = MAX_DEPTH;
    for (const iterator of this.iterators) this.quietly(() => iterator.return());
    for (const database of this.databases) this.closeFor(database);
    await Promise.all(this.backups);
    for (const file of this.files) this.checkFile(file);
    fs.rmSync(this.directory, { recursive: true, force: true });
  }

  quietly(fn) {
    try {
      fn();
    } catch (error) {
      this.check(error, 'the end');
    }
  }

  closeFor(database) {
    try {
      database.close();
      assert.equal(database.open, false);
    } catch (error) {
      // An iterator that was forgotten is open until it is collected.
      if (error.message === BUSY && this.forgotten > 0) return;
      this.faults.add({ in: 'close', fault: 'the database cannot be closed', error: error.stack });
    }
  }

  checkFile(file) {
    if (this.forgotten > 0 || this.hasUnknownKey || isPeer || !fs.existsSync(file) || fs.statSync(file).size === 0) return;
    const candidates = CIPHERS.flatMap((cipher) => KEYS.map((key) => ({ cipher, key })));
    const answers = [{}, ...candidates].map((candidate) => answerOf(file, candidate));
    if (!answers.includes('ok')) this.faults.add({ in: 'the end', fault: `no key opens ${path.basename(file)}`, error: answers.join('\n') });
  }
}

/** Methods of Database that are called on anything else. */
function isForeign(error, name) {
  return name === 'misuse' && error instanceof TypeError && /^Cannot (read|set) properties of (undefined|null)/.test(error.message);
}

function answerOf(file, { cipher, key }) {
  const database = new Database(file, { timeout: 0 });
  try {
    if (cipher) database.pragma(`cipher = '${cipher}'`);
    if (key) database.key(Buffer.from(key));
    return database.pragma('integrity_check', { simple: true });
  } catch (error) {
    return `${cipher} ${key}: ${error.message}`;
  } finally {
    database.close();
  }
}

module.exports = { World };
