'use strict';

// Parameter binding is the same for run, get, all, iterate and bind (C-17). Each of their test
// files calls `bindingTests` with its own way to execute; values themselves are in 20.statement.run.js.

const test = require('node:test');
const assert = require('node:assert/strict');
const vm = require('node:vm');
const { isPeer, open, throwsLike, thrownBy } = require('./database.js');

const TOO_FEW = 'Too few parameter values were provided';
const TOO_MANY = 'Too many parameter values were provided';
const MISSING_NAMED = 'Missing named parameters';
const TWO_OBJECTS = 'You cannot specify named parameters in two different objects';
const NOT_PLAIN = 'Named parameters can only be passed within plain objects';
const NO_VALUE = 'SQLite3 can only bind numbers, strings, bigints, buffers, and null';

/**
 * `name` is the method under test; `execute(statement, args)` binds through it and gives back the
 * values of the first row as an array. The statements are `select <parameters>`.
 */
function bindingTests(name, execute) {
  const it = (what, fn) => test(`${name}() ${what}`, (t) => {
    const db = open(t);
    const bound = (sql, ...args) => execute(db.prepare(sql), args);
    const refused = (sql, args, Class, message) => throwsLike(() => execute(db.prepare(sql), args), Class, message);
    return fn({ db, bound, refused });
  });

  it('takes scalars and arrays in any mixture (C-17.1, C-17.2)', ({ bound }) => {
    const buffer = Buffer.from('xy');
    const expected = ['a', 'b', null, buffer];
    const sql = 'select ?, ?, ?, ?';
    assert.deepEqual(bound(sql, 'a', 'b', null, buffer), expected);
    assert.deepEqual(bound(sql, ['a', 'b', null, buffer]), expected);
    assert.deepEqual(bound(sql, ['a', 'b'], [null], buffer), expected);
    assert.deepEqual(bound(sql, [], 'a', [], ['b', null], [], [buffer], []), expected);
    assert.deepEqual(bound('select 1'), [1]);
    assert.deepEqual(bound('select 1', []), [1]);
  });

  it('takes holes as NULL (C-16.5)', ({ bound }) => {
    assert.deepEqual(bound('select ?, ?, ?', [1, , 3]), [1, null, 3]); // eslint-disable-line no-sparse-arrays
  });

  it('takes named parameters of all three kinds under one key (C-17.3)', ({ bound }) => {
    assert.deepEqual(bound('select :x, @x, $x, :y', { x: 'one', y: 'two' }), ['one', 'one', 'one', 'two']);
    assert.deepEqual(bound('select :größe, $a$b', { größe: 1, a$b: 2 }), [1, 2]);
    assert.deepEqual(bound('select :x, :X', { x: 1, X: 2 }), [1, 2]);
    assert.deepEqual(bound('select :x, :x', { x: 1 }), [1, 1]);
  });

  it('takes numbered parameters from an object only (C-17.4)', ({ bound, refused }) => {
    assert.deepEqual(bound('select ?2, ?1', { 1: 'a', 2: 'b' }), ['b', 'a']);
    refused('select ?1, ?2', ['a', 'b'], RangeError, TOO_MANY);
    assert.deepEqual(bound('select ?1, ?3', 'gap', { 1: 'a', 3: 'c' }), ['a', 'c']);
    refused('select ?1, ?3', [{ 1: 'a', 3: 'c' }], RangeError, TOO_FEW);
  });

  it('wants every named parameter as an own property (C-17.5)', ({ bound, refused }) => {
    refused('select :b, :a, :c', [{ c: 1 }], RangeError, 'Missing named parameter "b"');
    refused('select :a', [{ '@a': 1, ':a': 2 }], RangeError, 'Missing named parameter "a"');
    refused('select :toString', [{}], RangeError, 'Missing named parameter "toString"');
    assert.deepEqual(bound('select :a', { a: undefined }), [null]);
    assert.deepEqual(bound('select :a', { a: 1, more: Symbol('ignored') }), [1]);
    const hidden = Object.defineProperty({}, 'a', { value: 5, enumerable: false });
    assert.deepEqual(bound('select :a', hidden), [5]);
    assert.deepEqual(bound('select :a', { get a() { return 6; } }), [6]);
    const special = Object.defineProperty({ constructor: 8 }, '__proto__', { value: 7 });
    assert.deepEqual(bound('select :__proto__, :constructor', special), [7, 8]);
  });

  it('takes plain objects of any realm, with or without prototype (C-17.6)', ({ bound }) => {
    assert.deepEqual(bound('select :a', Object.assign(Object.create(null), { a: 1 })), [1]);
    assert.deepEqual(bound('select :a', vm.runInNewContext('({ a: 2 })')), [2]);
    assert.deepEqual(bound('select :a', Object.assign(Object.create({ __proto__: null }), { a: 3 })), [3]);
    (function withArguments() {
      assert.deepEqual(bound('select :a', Object.assign(arguments, { a: 4 })), [4]);
    })();
  });

  it('asks a proxy for own properties and values (C-17.6)', ({ bound }) => {
    const asked = [];
    const proxy = new Proxy({}, {
      getOwnPropertyDescriptor: (target, key) => {
        asked.push(`own ${String(key)}`);
        return { value: 1, configurable: true, enumerable: true };
      },
      get: (target, key) => {
        asked.push(`get ${String(key)}`);
        return 42;
      },
    });
    assert.deepEqual(bound('select :a', proxy), [42]);
    assert.ok(asked.includes('own a') && asked.includes('get a'));
  });

  it('refuses other objects for named parameters (C-17.7)', ({ refused }) => {
    class Point { constructor() { this.a = 1; } }
    for (const value of [new Point(), new Date(), new Map(), Object(5), /x/, Object.create({ a: 1 }), Promise.resolve()]) {
      refused('select :a', [value], TypeError, NOT_PLAIN);
      refused('select ?', [value], TypeError, NO_VALUE);
    }
  });

  it('takes one object at most, needed or not (C-17.8)', ({ bound, refused }) => {
    refused('select :a, :b', [{ a: 1 }, { b: 2 }], RangeError, 'Missing named parameter "b"');
    refused('select :a', [{ a: 1 }, {}], TypeError, TWO_OBJECTS);
    refused('select 1', [{}, {}], TypeError, TWO_OBJECTS);
    assert.deepEqual(bound('select 1', {}), [1]);
    assert.deepEqual(bound('select ?', 5, { foo: 1 }), [5]);
  });

  it('counts values (C-17.9)', ({ refused }) => {
    refused('select ?, ?', ['a'], RangeError, TOO_FEW);
    refused('select ?, ?', [], RangeError, TOO_FEW);
    refused('select ?', [[]], RangeError, TOO_FEW);
    refused('select ?, ?', ['a', 'b', 'c'], RangeError, TOO_MANY);
    refused('select ?, ?', [['a', 'b'], 'c'], RangeError, TOO_MANY);
    refused('select 1', ['a'], RangeError, TOO_MANY);
    refused('select 1', [undefined], RangeError, TOO_MANY);
    refused('select 1', [null], RangeError, TOO_MANY);
    refused('select :a', [], TypeError, MISSING_NAMED);
    refused('select :a, ?', [], TypeError, MISSING_NAMED);
    refused('select :a, ?', [5], TypeError, MISSING_NAMED);
    refused('select :a, ?', [{ a: 1 }], RangeError, TOO_FEW);
    refused('select :a', ['x'], RangeError, TOO_MANY);
  });

  it('hands on what getters, proxies and elements throw (C-17.10)', ({ db }) => {
    // The replaced package aborts the process when iterate() meets a thrown value that is no object.
    const primitives = isPeer && name === 'iterate' ? [] : ['text', null, undefined, 0];
    for (const value of [new Error('own'), {}, ...primitives]) {
      const boom = () => { throw value; };
      const hostile = [
        [['select :a'], { get a() { return boom(); } }],
        [['select :a'], new Proxy({}, { getOwnPropertyDescriptor: boom })],
        [['select :a'], new Proxy({ a: 1 }, { get: boom })],
        [['select ?'], Object.defineProperty([], 0, { get: boom })],
      ];
      for (const [[sql], argument] of hostile) {
        assert.equal(thrownBy(() => execute(db.prepare(sql), [argument])).thrown, value);
      }
    }
  });

  it('leaves a usable statement without values behind a failure (C-17.11)', ({ db }) => {
    const statement = db.prepare('select ?, ?, :a');
    const failures = [
      [RangeError, [1, { a: 1 }]],
      [RangeError, [1, 2, 3, { a: 1 }]],
      [TypeError, [1, true, { a: 1 }]],
      [RangeError, [1, 2, {}]],
      [RangeError, [1, 2n ** 64n, { a: 1 }]],
      [TypeError, [1, 2]],
    ];
    for (const [Class, args] of failures) {
      assert.throws(() => execute(statement, args), Class);
    }
    assert.deepEqual(execute(statement, [1, 2, { a: 3 }]), [1, 2, 3]);
  });

  it('knows arrays by what they are (C-17.12)', ({ bound, refused }) => {
    class List extends Array {}
    assert.deepEqual(bound('select ?, ?', List.of(1, 2)), [1, 2]);
    assert.deepEqual(bound('select ?, ?', vm.runInNewContext('[1, 2]')), [1, 2]);
    (function withArguments() {
      refused('select ?', [arguments], RangeError, TOO_FEW);
    })(5);
  });

  it('takes the object first, last or between (C-17.13)', ({ bound }) => {
    const buffer = Buffer.from('z');
    const sql = 'select :a, ?, ?';
    const expected = [1, 'x', buffer];
    assert.deepEqual(bound(sql, { a: 1 }, ['x'], buffer), expected);
    assert.deepEqual(bound(sql, ['x'], { a: 1 }, buffer), expected);
    assert.deepEqual(bound(sql, ['x'], buffer, { a: 1 }), expected);
  });
}

module.exports = { bindingTests };
