// `npm test`: builds the addon, then the Rust tests and the JavaScript tests on the Node at hand.
// The last line is "N passed, N failed" for both together.

import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const total = { passed: 0, failed: 0, skipped: 0 };

await step('build', process.execPath, ['scripts/build.mjs']);
if (total.failed > 0) {
  console.log('0 passed, 1 failed');
  process.exit(1);
}
// `cargo test` prints a line per target: "test result: ok. 12 passed; 0 failed; 0 ignored; ...".
await step('Rust tests', 'cargo', ['test', '--workspace', '--no-fail-fast'], /^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored/gm);
await step('JavaScript tests', process.execPath, ['scripts/test-js.mjs'], /^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$/gm);

const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : '';
console.log(`${total.passed} passed, ${total.failed} failed${skipped}`);
process.exitCode = total.failed > 0 ? 1 : 0;

/** Runs a command, shows what it prints, and adds up the counts in it. A step that fails without a
 *  failed test counts as one. */
async function step(name, command, args, counts) {
  console.log(`\n== ${name}`);
  const { code, output } = await run(command, args);
  let failed = 0;
  for (const [, passed, failures, skipped = '0'] of counts ? output.matchAll(counts) : []) {
    total.passed += Number(passed);
    failed += Number(failures);
    total.skipped += Number(skipped);
  }
  total.failed += code !== 0 && failed === 0 ? 1 : failed;
}

function run(command, args) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      output += text;
      process.stdout.write(text);
    });
    child.on('error', (error) => {
      console.error(`${command}: ${error.message}`);
      resolve({ code: 1, output });
    });
    child.on('close', (code) => resolve({ code: code ?? 1, output }));
  });
}
