// How the demo looks on a terminal: one heading per mailbox, one line per step. No logic of the flow.

const color = process.stdout.isTTY && !process.env.NO_COLOR;
const paint = (code) => (text) => (color ? `\u001b[${code}m${text}\u001b[0m` : text);
const bold = paint('1');
const dim = paint('2');
const green = paint('32');
const yellow = paint('33');
const red = paint('31');

const percent = (share) => `${(share * 100).toFixed(1)} %`;
const kib = (bytes) => `${Math.round(bytes / 1024).toLocaleString('en')} KiB`;

/** Step name -> what its result says in words. */
const WORDS = {
  'wrong passphrase': ({ code }) => `refused with ${code}, not a byte changed`,
  open: ({ scheme, attempts, messages, flagged }) =>
    `${bold(scheme)}${attempts.slice(0, -1).map((a) => ` after ${a.scheme} gave ${a.code}`).join('')}: ` +
    `${messages} messages, ${flagged} flagged`,
  insert: ({ inserted }) => `${inserted} messages in one transaction`,
  flag: ({ changed }) => `${changed} messages`,
  list: ({ rows, newest }) => `${rows} newest of INBOX, first "${newest}"`,
  'search by date': ({ rows }) => `${rows} in ten minutes`,
  'search full text': ({ added, older }) => `"Überweisung Quartal" in ${added}, "résumé" in ${older}`,
  'search REGEXP': ({ rows }) => `${rows} subjects match ^Rechnung Nr\\. [0-9]*5$`,
  'plan of the listing': ({ plan }) => plan.join('; '),
  checkpoint: ({ during, after }) =>
    `FULL, busy ${during.busy} beside a reader, then busy ${after.busy} ` +
    `with ${after.checkpointed} of ${after.log} frames`,
  delete: ({ deleted }) => `${deleted} messages`,
  vacuum: ({ vacuumed, fragmentation: [before, after], autoVacuum }) => (vacuumed
    ? `free pages ${percent(before)} -> ${percent(after)}, auto_vacuum ${autoVacuum.join(' -> ')}`
    : `not needed, ${percent(before)} free pages, auto_vacuum ${autoVacuum[0]}`),
  health: ({ pageCount, pageSize, freePages, fragmentation, fileBytes }) =>
    `integrity ok, ${pageCount} pages of ${pageSize}, ${freePages} free (${percent(fragmentation)}), ${kib(fileBytes)}`,
  reopen: ({ messages, searchable }) => `read-only: ${messages} messages, ${searchable} searchable`,
};

export function heading(address, about) {
  return `\n${bold(address)}  ${dim(about)}`;
}

export function stepLine({ name, ms, result }) {
  const time = dim(`${ms.toFixed(1).padStart(7)} ms`);
  const mark = result.skipped ? yellow('-') : green('✓');
  return `  ${mark} ${name.padEnd(20)}${time}  ${result.skipped ? yellow(result.skipped) : WORDS[name](result)}`;
}

export function tally(results) {
  const failed = results.filter(({ error }) => error);
  const details = failed.map(({ address, error }) => `\n${red('✗')} ${bold(address)}\n${error}\n`);
  const steps = results.reduce((n, result) => n + result.steps.length, 0);
  const sum = `\n${results.length - failed.length} of ${results.length} mailboxes went through, ${steps} steps.`;
  return details.join('') + (failed.length > 0 ? red(sum) : green(sum));
}
