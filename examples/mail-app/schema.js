// The tables of a mailbox. Not here: the statements that use them (mailbox.js).

'use strict';

/**
 * `raw` stands last: SQLite reads a row from the left, so a listing never touches the pages that
 * hold the message itself.
 */
const MESSAGES = `
  CREATE TABLE IF NOT EXISTS mailboxes (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    path TEXT NOT NULL UNIQUE,
    uidvalidity INTEGER NOT NULL,
    uidnext INTEGER NOT NULL
  );
  CREATE TABLE IF NOT EXISTS messages (
    id INTEGER PRIMARY KEY,
    mailbox_id INTEGER NOT NULL,
    uid INTEGER NOT NULL,
    date INTEGER NOT NULL,
    flags TEXT,
    subject TEXT,
    from_addr TEXT,
    to_addr TEXT,
    message_id TEXT,
    raw BLOB,
    FOREIGN KEY (mailbox_id) REFERENCES mailboxes (id)
  );
  CREATE INDEX IF NOT EXISTS idx_messages_mailbox_date ON messages (mailbox_id, date DESC);
  CREATE INDEX IF NOT EXISTS idx_messages_uid ON messages (mailbox_id, uid);
  CREATE INDEX IF NOT EXISTS idx_messages_flags ON messages (mailbox_id, flags) WHERE flags IS NOT NULL;
`;

/** Full text. The row of message n is n - 1: the mailboxes written so far count from 0 here. */
const SEARCH = 'CREATE VIRTUAL TABLE IF NOT EXISTS search USING fts5(subject, body);';

const FOLDERS = ['INBOX', 'Sent Mail', 'Trash'];

/** Creates what is missing; a mailbox that has everything is not written to. */
function createSchema(db, parts = [MESSAGES, SEARCH]) {
  db.transaction(() => {
    for (const part of parts) db.exec(part);
    const insert = db.prepare('INSERT INTO mailboxes (name, path, uidvalidity, uidnext) VALUES (?, ?, ?, 1)');
    const { n } = db.prepare('SELECT count(*) AS n FROM mailboxes').get();
    if (n === 0) FOLDERS.forEach((name, i) => insert.run(name, name, 1234567890 + i));
  })();
}

module.exports = { MESSAGES, SEARCH, createSchema };
