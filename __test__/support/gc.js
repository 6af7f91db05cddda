'use strict';

// Garbage collection on demand, for tests of what is released when nobody refers to it any more.

const v8 = require('node:v8');
const vm = require('node:vm');
const { setTimeout: sleep } = require('node:timers/promises');

const collect = globalThis.Bun ? () => globalThis.Bun.gc(true) : exposed();

function exposed() {
  v8.setFlagsFromString('--expose-gc');
  return vm.runInNewContext('gc');
}

/** Collects until `done()` is true, for ten seconds at most; tells whether it became true. */
async function collectUntil(done) {
  for (let round = 0; round < 1000; round += 1) {
    collect();
    // Finalizers run in a later turn of the event loop.
    await sleep(10);
    if (done()) return true;
  }
  return false;
}

module.exports = { collect, collectUntil };
