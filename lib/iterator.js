'use strict';
// Iterators that read some rows ahead, where nobody can tell (`src/js/iterator.rs` decides that).
//
// The methods `next` and `return` of the native class are replaced by these; what an iterator has
// read is in private fields, which are put on the native object when rows are read ahead first.

// A class that extends this one adds its fields to the object it is given.
class Itself {
  constructor(object) { return object; }
}

class Ahead extends Itself {
  #rows;
  #at;

  static give(iterator) {
    if (!(#rows in iterator) || iterator.#at === iterator.#rows.length) return undefined;
    const value = iterator.#rows[iterator.#at];
    iterator.#at += 1;
    return { value, done: false };
  }

  static keep(iterator, rows) {
    if (!(#rows in iterator)) new Ahead(iterator);
    iterator.#rows = rows;
    iterator.#at = 0;
  }

  static drop(iterator) {
    if (#rows in iterator) Ahead.keep(iterator, []);
  }
}

const isObject = (value) => typeof value === 'object' && value !== null;

// Takes the place of native methods, once per native class.
function readAhead(prototype) {
  if (!Object.hasOwn(prototype, 'ahead')) return;
  const { ahead, next, return: finish } = prototype;
  delete prototype.ahead;
  const call = Function.prototype.call.bind(Function.prototype.call);
  const methods = {
    next() {
      const given = isObject(this) ? Ahead.give(this) : undefined;
      if (given !== undefined) return given;
      const rows = call(ahead, this);
      if (rows === undefined) return call(next, this);
      Ahead.keep(this, rows);
      return Ahead.give(this) ?? { value: undefined, done: true };
    },
    return() {
      const result = call(finish, this);
      Ahead.drop(this);
      return result;
    },
  };
  for (const name of ['next', 'return']) {
    Object.defineProperty(prototype, name, { __proto__: null, value: methods[name], writable: true, enumerable: true, configurable: true });
  }
}

module.exports = { readAhead };
