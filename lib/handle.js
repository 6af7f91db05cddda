'use strict';
// The key under which a Database keeps its native object; its only own symbol.

module.exports = Symbol('handle');
