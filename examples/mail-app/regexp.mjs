// Finds the loadable file of the npm package sqlite-regex, which adds REGEXP to SQLite.
// Installed on demand from the lock file beside this one; it exists for some platforms only.

import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { installFolder } from '../../scripts/install-folder.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const PUBLISHED = ['linux-x64', 'darwin-x64', 'darwin-arm64', 'win32-x64'];

/** @returns {Promise<{file: string} | {missing: string}>} `missing` says why there is none */
export async function regexpExtension() {
  const platform = `${process.platform}-${process.arch}`;
  if (!PUBLISHED.includes(platform)) return { missing: `sqlite-regex has no binary for ${platform}` };
  if (process.platform === 'linux' && !process.report.getReport().header.glibcVersionRuntime) {
    return { missing: 'sqlite-regex has no binary for Linux with musl' };
  }
  try {
    installFolder(HERE);
  } catch (error) {
    return { missing: `sqlite-regex could not be installed: ${error.message.split('\n')[0]}` };
  }
  const { getLoadablePath } = await import('sqlite-regex');
  return { file: getLoadablePath() };
}
