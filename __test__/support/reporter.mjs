// Reporter of node:test for scripts/test-js.mjs: one JSON line per finished test, marked so that
// it can be told from what the tests print themselves. Counting and layout are in the script.

import { inspect } from 'node:util';

export const MARK = '\u0001test ';

export default async function* report(source) {
  for await (const { type, data } of source) {
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    // A suite, or a test that failed only because of its subtests, is told by its members.
    const { details = {} } = data;
    if (details.type === 'suite' || details.error?.failureType === 'subtestsFailed') continue;
    yield `\n${MARK}${JSON.stringify({
      name: data.name,
      state: data.skip !== undefined && data.skip !== false ? 'skipped' : type === 'test:pass' ? 'passed' : 'failed',
      reason: typeof data.skip === 'string' ? data.skip : undefined,
      error: type === 'test:fail' ? describe(details.error) : undefined,
    })}\n`;
  }
}

// node:test wraps what was thrown; the reader wants the cause and its stack.
function describe(error) {
  const cause = error?.cause ?? error;
  return cause instanceof Error ? inspect(cause) : String(cause);
}
