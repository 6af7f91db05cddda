// Builds SQLCipher itself (tests/sqlcipher-peer) and runs the tests that exchange files with it. Ends with
// "N passed, N failed". Needs the headers of OpenSSL; without them OpenSSL is compiled, too.
//
//   node scripts/test-sqlcipher.mjs [--node <path>]

import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '..');
const crate = path.join(root, 'tests', 'sqlcipher-peer');
const build = (...features) => spawnSync('cargo', ['build', '--release', '--locked', ...features], { cwd: crate, stdio: 'inherit' });

let built = build();
if (built.status !== 0) built = build('--features', 'vendored-openssl');
if (built.status !== 0) {
  console.error(built.error?.message ?? 'SQLCipher could not be built');
  console.log('0 passed, 1 failed');
  process.exit(1);
}
const program = path.join(path.resolve(crate, process.env.CARGO_TARGET_DIR ?? 'target'), 'release', process.platform === 'win32' ? 'sqlcipher-peer.exe' : 'sqlcipher-peer');
const tests = spawnSync(process.execPath, [path.join(root, 'scripts', 'test-js.mjs'), ...process.argv.slice(2), 'sqlcipher/'], {
  stdio: 'inherit',
  env: { ...process.env, SEALITE_SQLCIPHER: program },
});
process.exitCode = tests.status ?? 1;
