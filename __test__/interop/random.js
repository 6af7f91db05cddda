'use strict';

// Random numbers that can be had again: SEALITE_TEST_SEED repeats a run whose seed a test has printed.

const someSeed = () => Number(process.env.SEALITE_TEST_SEED || Math.floor(Math.random() * 2 ** 31));

/** mulberry32: numbers from 0 up to 1. */
function seededRandom(seed = someSeed()) {
  let state = seed >>> 0;
  const random = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return { random, seed };
}

module.exports = { seededRandom, someSeed };
