// One user's mailbox: one encrypted file under a domain folder, and what the mail service does to it.
//
// Not here: cipher and PRAGMAs (setup-pragma.js), tables (schema.js), health and upkeep (upkeep.js).

'use strict';

const fs = require('node:fs');
const path = require('node:path');
const Database = require('./database.js');
const { createSchema } = require('./schema.js');
const { SCHEMES, setupPragma } = require('./setup-pragma.js');
const { optimize } = require('./upkeep.js');

const HEADERS = 'm.id, m.mailbox_id, m.uid, m.date, m.flags, m.subject, m.from_addr';

const SQL = {
  list: `SELECT ${HEADERS} FROM messages m WHERE m.mailbox_id = ? ORDER BY m.date DESC LIMIT ?`,
  between: `SELECT ${HEADERS} FROM messages m
    WHERE m.mailbox_id = ? AND m.date >= ? AND m.date < ? ORDER BY m.date DESC`,
  fullText: `SELECT ${HEADERS} FROM search s JOIN messages m ON m.id = s.rowid + 1
    WHERE search MATCH ? ORDER BY m.date DESC`,
  matching: `SELECT ${HEADERS} FROM messages m WHERE m.subject REGEXP ? ORDER BY m.date DESC`,
  raw: 'SELECT raw FROM messages WHERE id = ?',
  nextUid: `SELECT max(b.uidnext,
      coalesce((SELECT max(m.uid) + 1 FROM messages m WHERE m.mailbox_id = b.id), 1)) AS uid
    FROM mailboxes b WHERE b.id = ?`,
  setNextUid: 'UPDATE mailboxes SET uidnext = ? WHERE id = ?',
  insert: `INSERT INTO messages
      (mailbox_id, uid, date, flags, subject, from_addr, to_addr, message_id, raw)
    VALUES (@mailbox_id, @uid, @date, @flags, @subject, @from_addr, @to_addr, @message_id, @raw)`,
  insertSearch: 'INSERT INTO search (rowid, subject, body) VALUES (?, ?, ?)',
  flag: 'UPDATE messages SET flags = ? WHERE id = ?',
  delete: 'DELETE FROM messages WHERE id = ?',
  deleteSearch: 'DELETE FROM search WHERE rowid = ?',
  counts: `SELECT (SELECT count(*) FROM messages) AS messages,
    (SELECT count(*) FROM messages WHERE flags IS NOT NULL) AS flagged,
    (SELECT count(*) FROM search) AS searchable`,
};

/** `user@domain` is the file `<root>/<domain>/<user>.sqlite`; a name cannot leave its folder. */
function mailboxFile(root, address) {
  const [user, domain, ...rest] = address.split('@');
  const plain = (part) => typeof part === 'string' && /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/.test(part);
  if (rest.length > 0 || !plain(user) || !plain(domain)) throw new TypeError(`No mailbox address: ${address}`);
  return path.join(root, domain, `${user}.sqlite`);
}

class Mailbox {
  #statements = new Map();

  /** @param {{root: string, address: string, passphrase: Buffer, readonly?: boolean}} options */
  constructor({ root, address, passphrase, readonly = false }) {
    this.file = mailboxFile(root, address);
    const tempDirectory = path.join(path.dirname(this.file), 'tmp');
    fs.mkdirSync(tempDirectory, { recursive: true });
    // SQLite looks at this when it starts, so only a value set before the first open counts.
    process.env.SQLITE_TMPDIR ??= tempDirectory;
    // The service names the scheme here too; the PRAGMA of setupPragma says the same again.
    this.db = new Database(this.file, { readonly, fileMustExist: readonly, timeout: 30000, cipher: SCHEMES[0] });
    try {
      Object.assign(this, setupPragma(this.db, { passphrase, tempDirectory }));
      if (!readonly) createSchema(this.db);
    } catch (error) {
      this.db.close();
      throw error;
    }
  }

  list(mailboxId, limit = 50) {
    return this.#statement('list').all(mailboxId, limit);
  }

  /** From `since` on, up to but without `before`, both in milliseconds. */
  between(mailboxId, since, before) {
    return this.#statement('between').all(mailboxId, since, before);
  }

  /** Messages that hold all the words; what is special to FTS5 loses its meaning between quotes. */
  fullText(text) {
    const words = text.split(/\s+/).filter(Boolean).map((word) => `"${word.replaceAll('"', '""')}"`);
    return this.#statement('fullText').all(words.join(' '));
  }

  /** Subjects that match a regular expression; needs `loadRegexp`. */
  matching(pattern) {
    return this.#statement('matching').all(pattern);
  }

  loadRegexp(extensionFile) {
    this.db.loadExtension(extensionFile);
  }

  raw(id) {
    return this.#statement('raw').get(id)?.raw;
  }

  counts() {
    return this.#statement('counts').get();
  }

  /** All or none; returns the new ids. `body` is the text to find a message by. */
  insert(messages) {
    return this.db.transaction(() => messages.map((message) => this.#insertOne(message)))();
  }

  setFlags(ids, flags) {
    const flag = this.#statement('flag');
    return this.db.transaction(() => ids.reduce((n, id) => n + flag.run(flags, id).changes, 0))();
  }

  delete(ids) {
    return this.db.transaction(() => ids.reduce((n, id) => {
      this.#statement('deleteSearch').run(id - 1);
      return n + this.#statement('delete').run(id).changes;
    }, 0))();
  }

  /** How SQLite would run the listing, one line per step. */
  listingPlan() {
    return this.db.prepare(`EXPLAIN QUERY PLAN ${SQL.list}`).all(1, 50).map((step) => step.detail);
  }

  close() {
    try {
      if (this.db.open && !this.db.readonly) optimize(this.db);
    } finally {
      this.db.close();
    }
  }

  #insertOne({ body, ...message }) {
    const uid = this.#statement('nextUid').get(message.mailbox_id)?.uid;
    if (uid === undefined) throw new RangeError(`There is no folder ${message.mailbox_id}`);
    const id = Number(this.#statement('insert').run({ ...message, uid }).lastInsertRowid);
    this.#statement('insertSearch').run(BigInt(id - 1), message.subject, body);
    this.#statement('setNextUid').run(uid + 1, message.mailbox_id);
    return id;
  }

  #statement(name) {
    if (!this.#statements.has(name)) this.#statements.set(name, this.db.prepare(SQL[name]));
    return this.#statements.get(name);
  }
}

module.exports = { Mailbox, mailboxFile };
