'use strict';
// What an entry for one platform says when neither of its addons is there. The default entry, which looks at
// more, has its own words in binding.js.

module.exports = function explainMissing(target, error) {
  if (error.code !== 'MODULE_NOT_FOUND') return error;
  const message = `The native addon of sealite for ${target} is not installed: install the package sealite-${target}, `
    + 'or run "npm run build" in the folder of sealite on that platform (needs Rust and a C compiler).';
  return Object.assign(new Error(message), { code: error.code });
};
