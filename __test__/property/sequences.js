'use strict';

// Runs hostile sequences one after the other: `node sequences.js <first seed> <count>`. Writes the seed
// before each and its faults after it, at once, so that the reader knows which one ended the process.

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { World } = require('./world.js');

async function main(first, count) {
  // Some names that databases are opened under are no paths of the world.
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'sealite-property-'));
  process.chdir(directory);
  for (let seed = first; seed < first + count; seed += 1) {
    fs.writeSync(1, `seed ${seed}\n`);
    const world = new World(seed);
    await world.run();
    for (const fault of world.faults) fs.writeSync(1, `fault ${JSON.stringify(fault)}\n`);
    if (world.faults.size > 0 && count === 1) fs.writeSync(1, world.log);
  }
  process.chdir(os.tmpdir());
  fs.rmSync(directory, { recursive: true, force: true });
  fs.writeSync(1, 'end\n');
}

main(...process.argv.slice(2).map(Number));
