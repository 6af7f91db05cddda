// Draws docs/speed.svg from a record of benchmark:peers: how many times as fast as the peer each workload is.
//
//   node benchmark/chart.mjs benchmark/record/<record>
//
// Plain rectangles and text, some sixty lines: chart packages would bring a dependency tree for two colours.

import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const COLOURS = ['#1f6feb', '#8b949e'];
const ROW = 34;
const BAR = 12;
const LEFT = 300;
const WIDTH = 860;
const TOP = 64;
/** Bars end here; a longer one is cut and says its number. */
const MOST = 5;
const UNIT = (WIDTH - LEFT - 70) / MOST;

const escaped = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`).replaceAll('`', '');

function bar(row, at, pair) {
  const { median } = pair.rows[row].ratio;
  const y = TOP + row * ROW + at * (BAR + 1);
  const width = Math.max(1, Math.min(median, MOST) * UNIT);
  return [
    `<rect x="${LEFT}" y="${y}" width="${width.toFixed(1)}" height="${BAR}" fill="${COLOURS[at]}"/>`,
    `<text x="${(LEFT + width + 5).toFixed(1)}" y="${y + BAR - 2}" font-size="11">${median.toFixed(2)}</text>`,
  ].join('\n');
}

export function chart(pairs, caption) {
  const rows = pairs[0].rows.map((row, at) => ({ ...row, at })).filter(({ less }) => !less);
  const shown = pairs.map((pair) => ({ ...pair, rows: rows.map(({ at }) => pair.rows[at]) }));
  const height = TOP + rows.length * ROW + 30;
  const one = LEFT + UNIT;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="13" fill="#1f2328">`,
    `<title>${escaped(caption)}</title>`,
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    ...shown.map(({ a, b }, at) => `<rect x="12" y="${14 + at * 20}" width="12" height="12" fill="${COLOURS[at]}"/><text x="30" y="${25 + at * 20}">${escaped(`${a} against ${b}`)}</text>`),
    ...rows.map(({ title }, row) => `<text x="${LEFT - 10}" y="${TOP + row * ROW + 16}" text-anchor="end">${escaped(title)}</text>`),
    ...rows.flatMap((_, row) => shown.map((pair, at) => bar(row, at, pair))),
    `<line x1="${one}" y1="${TOP - 6}" x2="${one}" y2="${height - 24}" stroke="#cf222e" stroke-dasharray="4 3"/>`,
    `<text x="${one}" y="${height - 10}" text-anchor="middle" font-size="11">equally fast</text>`,
    '</svg>', '',
  ].join('\n');
}

const [record] = process.argv.slice(2);
if (record === undefined) {
  console.error('usage: node benchmark/chart.mjs <folder of a record of benchmark:peers>');
  process.exitCode = 1;
} else {
  const { pairs, conditions } = JSON.parse(fs.readFileSync(path.join(record, 'results.json'), 'utf8'));
  const file = path.join(ROOT, 'docs', 'speed.svg');
  fs.writeFileSync(file, chart(pairs, `Times as fast as the peer; median of pairs; ${conditions.cpu}, Node ${conditions.node}`));
  console.log(path.relative(process.cwd(), file));
}
