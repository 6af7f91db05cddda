'use strict';

// toString() of a statement (C-18.3).

const test = require('node:test');
const assert = require('node:assert/strict');
const { open } = require('../support/database.js');

test('it is the source as long as nothing is bound (C-18.3)', (t) => {
  const sql = ' select ?, :a ; -- end';
  const statement = open(t).prepare(sql);
  assert.equal(statement.toString(), sql);
  statement.get(1, { a: 2 });
  assert.equal(statement.toString(), sql);
  assert.throws(() => statement.bind(1), TypeError);
  assert.equal(statement.toString(), sql);
  assert.equal(`${statement}`, sql);
  assert.equal(String(statement), sql);
  assert.equal('' + statement, sql);
});

test('after bind() the values are in the text (C-18.3)', (t) => {
  const db = open(t);
  const text = (sql, ...values) => db.prepare(sql).bind(...values).toString();
  assert.equal(text('select ?', 25), 'select 25.0');
  assert.equal(text('select ?', 1e21), 'select 1.0e+21');
  assert.equal(text('select ?', 25n), 'select 25');
  assert.equal(text('select ?', "it's"), "select 'it''s'");
  assert.equal(text('select ?', null), 'select NULL');
  assert.equal(text('select ?', Buffer.from('dead', 'hex')), "select x'dead'");
  assert.match(text('select ?', Infinity), /^select .*Inf/);
  assert.equal(text('select :a, @a, ?', 1n, { a: 2n }), 'select 2, 2, 1');
  assert.equal(text('select ?', 'größe'), "select 'größe'");
});

test('long values are cut (C-18.3, C-30.4)', (t) => {
  const text = open(t).prepare('select ?').bind('x'.repeat(35)).toString();
  assert.equal(text, `select '${'x'.repeat(32)}'/*+3 bytes*/`);
});

test('what follows the statement is dropped once bound, also without parameters (C-18.3)', (t) => {
  const statement = open(t).prepare('select 1; -- end ').bind();
  assert.equal(statement.toString(), 'select 1;');
});

test('after close() it is the source again (C-18.3)', (t) => {
  const db = open(t);
  const statement = db.prepare('select ?').bind(5n);
  assert.equal(statement.toString(), 'select 5');
  db.close();
  assert.equal(statement.toString(), 'select ?');
});

test('it works in callbacks and while iterating (C-18.3)', (t) => {
  const seen = [];
  const db = open(t, ':memory:', { verbose: () => seen.push(String(statement)) });
  const statement = db.prepare('select ?').bind(5n);
  const rows = statement.iterate();
  seen.push(String(statement));
  rows.next();
  seen.push(String(statement));
  rows.return();
  assert.deepEqual(seen, ['select 5', 'select 5', 'select 5']);
});

test('toString() of a bound statement works while a function that it calls runs (C-18.3)', (t) => {
  const db = open(t);
  let statement;
  db.function('text', () => String(statement));
  statement = db.prepare('select text(), ?').pluck().bind(5n);
  assert.equal(statement.get(), 'select text(), 5');
  assert.equal(statement.iterate().next().value, 'select text(), 5');
});
