'use strict';
// Methods that are nothing but a call of the native object.

const HANDLE = require('./handle');

function prepare(source) {
  return this[HANDLE].prepare(source, this);
}

function loadExtension(...pathAndEntryPoint) {
  this[HANDLE].loadExtension(...pathAndEntryPoint);
  return this;
}

function exec(source) {
  this[HANDLE].exec(source);
  return this;
}

function close() {
  this[HANDLE].close();
  return this;
}

function defaultSafeIntegers(...toggle) {
  this[HANDLE].defaultSafeIntegers(...toggle);
  return this;
}

function unsafeMode(...toggle) {
  this[HANDLE].unsafeMode(...toggle);
  return this;
}

module.exports = { prepare, loadExtension, exec, close, defaultSafeIntegers, unsafeMode };
