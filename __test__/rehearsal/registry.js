'use strict';

// A registry of packages that has the tarballs of one folder and nothing else, so that an installation from it is one
// without a network. Answers are what npm reads of them.

const fs = require('node:fs');
const http = require('node:http');
const path = require('node:path');
const { execFileSync } = require('node:child_process');
const { createHash } = require('node:crypto');

/** Serves `folder`; gives back the address, the names that were asked for in vain, and `close`. */
async function serve(folder) {
  const tarballs = fs.readdirSync(folder).filter((file) => file.endsWith('.tgz'));
  const packages = new Map(tarballs.map((file) => describe(path.join(folder, file))).map((found) => [found.manifest.name, found]));
  const missed = [];
  const server = http.createServer((request, response) => {
    const name = decodeURIComponent(request.url.slice(1));
    const tarball = tarballs.find((file) => name === `-/${file}`);
    if (tarball) return void response.end(fs.readFileSync(path.join(folder, tarball)));
    if (!packages.has(name)) missed.push(name);
    response.statusCode = packages.has(name) ? 200 : 404;
    response.end(JSON.stringify(packages.has(name) ? listing(packages.get(name), server.address().port) : {}));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { address: `http://127.0.0.1:${server.address().port}/`, missed, close: () => server.close() };
}

function describe(file) {
  const manifest = JSON.parse(execFileSync('tar', ['-xzOf', file, 'package/package.json'], { encoding: 'utf8' }));
  return { file, manifest, integrity: `sha512-${createHash('sha512').update(fs.readFileSync(file)).digest('base64')}` };
}

function listing({ file, manifest, integrity }, port) {
  const dist = { tarball: `http://127.0.0.1:${port}/-/${path.basename(file)}`, integrity };
  // npm asks the installed package.json whether there is something to run; a registry says so in its listing.
  const hasInstallScript = manifest.scripts?.install !== undefined;
  return { name: manifest.name, 'dist-tags': { latest: manifest.version }, versions: { [manifest.version]: { ...manifest, hasInstallScript, dist } } };
}

module.exports = { serve };
