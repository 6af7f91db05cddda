'use strict';
// db.explain(source): the rows of EXPLAIN; `QUERY PLAN …` gives the plan.

const HANDLE = require('./handle');

module.exports = function explain(source) {
  if (typeof source !== 'string') throw new TypeError('Expected first argument to be a string');
  return this[HANDLE].explain(`EXPLAIN ${source}`);
};
