// A mail service's day with one mailbox, from opening to handing it back, as a list of named steps.
// Each step returns what it found and fails by throwing; demo.mjs prints, the test checks.
//
// Not here: where the mailboxes come from (demo.mjs), what the steps call (mailbox.js, upkeep.js).

'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const { Mailbox, mailboxFile } = require('./mailbox.js');
const { analyze, checkpoint, health, vacuumIfFragmented } = require('./upkeep.js');

const INBOX = 1;
const MINUTE = 60_000;
const FIRST_DATE = Date.UTC(2024, 0, 1);
const NEW_MESSAGES = 60;

/**
 * @param {{root: string, address: string, passphrase: Buffer, regexp: {file?: string, missing?: string}}} options
 * @param {(step: {name: string, ms: number, result: object}) => void} report called after each step
 */
function runFlow({ root, address, passphrase, regexp }, report) {
  const context = { options: { root, address, passphrase }, regexp };
  try {
    for (const [name, step] of STEPS) {
      const start = performance.now();
      const result = step(context);
      report({ name, ms: performance.now() - start, result });
    }
  } finally {
    context.box?.close();
  }
}

function refuseWrongPassphrase({ options }) {
  const file = mailboxFile(options.root, options.address);
  if (!fs.existsSync(file)) return { skipped: 'a new mailbox has no passphrase yet' };
  const before = fs.readFileSync(file);
  assert.throws(() => new Mailbox({ ...options, passphrase: Buffer.from('mistyped') }), { code: 'SQLITE_NOTADB' });
  assert.deepEqual(fs.readFileSync(file), before, 'a mistyped passphrase changed the file');
  return { code: 'SQLITE_NOTADB' };
}

function open(context) {
  context.box = new Mailbox(context.options);
  const { scheme, attempts } = context.box;
  context.before = context.box.counts();
  return { scheme, attempts, ...context.before };
}

function insert(context) {
  const messages = Array.from({ length: NEW_MESSAGES }, (_, i) => message(i));
  context.added = context.box.insert(messages);
  assert.equal(context.box.counts().messages, context.before.messages + NEW_MESSAGES);
  assert.deepEqual(context.box.raw(context.added[7]), messages[7].raw);
  return { inserted: context.added.length };
}

function flag({ box, added, before }) {
  const changed = box.setFlags(added.slice(0, 20), '\\Seen \\Flagged');
  assert.equal(box.counts().flagged, before.flagged + changed);
  return { changed };
}

function list({ box }) {
  const rows = box.list(INBOX);
  assert.ok(rows.every((row, i) => i === 0 || rows[i - 1].date >= row.date), 'the listing is not sorted');
  return { rows: rows.length, newest: rows[0].subject };
}

function searchByDate({ box, added }) {
  const rows = box.between(INBOX, FIRST_DATE + 10 * MINUTE, FIRST_DATE + 20 * MINUTE);
  assert.deepEqual(rows.map((row) => row.id), added.slice(10, 20).reverse());
  return { rows: rows.length };
}

function searchFullText({ box, before }) {
  const added = box.fullText('Überweisung Quartal').length;
  assert.equal(added, NEW_MESSAGES / 2);
  const older = box.fullText('résumé').length;
  assert.ok(older > 0 || before.messages === 0, 'the words of older messages are not found');
  return { added, older };
}

function searchRegexp({ box, regexp }) {
  if (regexp.missing) return { skipped: regexp.missing };
  box.loadRegexp(regexp.file);
  const rows = box.matching('^Rechnung Nr\\. [0-9]*5$');
  assert.equal(rows.length, NEW_MESSAGES / 10);
  return { rows: rows.length };
}

function explainListing({ box }) {
  analyze(box.db);
  const plan = box.listingPlan();
  assert.match(plan.join('\n'), /USING INDEX idx_messages_mailbox_date/);
  return { plan };
}

/** A reader in the middle of its work keeps the WAL from being emptied; the busy column says so. */
function checkpointWithReader({ options, box, added }) {
  const reader = new Mailbox({ ...options, readonly: true });
  try {
    reader.db.exec('BEGIN');
    reader.counts();
    box.setFlags(added.slice(0, 1), '\\Seen');
    assert.throws(() => reader.db.exec('DELETE FROM messages'), { code: 'SQLITE_READONLY' });
    const during = checkpoint(box.db);
    reader.db.exec('COMMIT');
    const after = checkpoint(box.db);
    assert.deepEqual([during.busy, after.busy], [1, 0]);
    assert.equal(after.checkpointed, after.log);
    return { queryOnly: reader.db.pragma('query_only', { simple: true }), during, after };
  } finally {
    reader.close();
  }
}

function deleteAdded({ box, added, before }) {
  const deleted = box.delete(added);
  assert.deepEqual(box.counts(), before);
  return { deleted };
}

function vacuum({ box }) {
  const before = health(box.db);
  const vacuumed = vacuumIfFragmented(box.db);
  const after = health(box.db);
  return {
    vacuumed,
    fragmentation: [before.fragmentation, after.fragmentation],
    autoVacuum: [before.autoVacuum, after.autoVacuum],
  };
}

function measureHealth({ box }) {
  assert.equal(box.db.pragma('integrity_check', { simple: true }), 'ok');
  return health(box.db);
}

function closeAndReopen(context) {
  context.box.close();
  const box = new Mailbox({ ...context.options, readonly: true });
  const counts = box.counts();
  box.close();
  assert.deepEqual(counts, context.before);
  return counts;
}

const STEPS = [
  ['wrong passphrase', refuseWrongPassphrase],
  ['open', open],
  ['insert', insert],
  ['flag', flag],
  ['list', list],
  ['search by date', searchByDate],
  ['search full text', searchFullText],
  ['search REGEXP', searchRegexp],
  ['plan of the listing', explainListing],
  ['checkpoint', checkpointWithReader],
  ['delete', deleteAdded],
  ['vacuum', vacuum],
  ['health', measureHealth],
  ['reopen', closeAndReopen],
];

/** Message number i of the day: a minute after the one before, every other one about money. */
function message(i) {
  const invoice = i % 2 === 1;
  const subject = invoice ? `Rechnung Nr. ${i}` : `Besprechung ${i}`;
  const body = `${invoice ? 'Bitte die Überweisung im Quartal prüfen.' : 'Treffen wir uns um neun?'} Viele Grüße\r\n`;
  const headers = `Message-ID: <day-${i}@mail.example>\r\nSubject: ${subject}\r\n\r\n`;
  return {
    mailbox_id: INBOX,
    date: FIRST_DATE + i * MINUTE,
    flags: null,
    subject,
    from_addr: 'office@example.org',
    to_addr: 'me@example.com',
    message_id: `<day-${i}@mail.example>`,
    raw: Buffer.from(headers + body.repeat(50)),
    body,
  };
}

module.exports = { NEW_MESSAGES, STEPS: STEPS.map(([name]) => name), runFlow };
