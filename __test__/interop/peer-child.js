'use strict';

// A process that runs commands on the module named by its first argument: the replaced package or
// ours, so that one file is never open in both within one process (POSIX locks belong to a process).
//
// A command is {id, connection, method, args}; the answer {id, value} or {id, error}. Longer work
// that must not wait for messages is in workloads.js. The parent's side is processes.js.

const Database = require(process.argv[2]);
const workloads = require('./workloads.js');
const { encode, decode } = require('./wire.js');

const connections = new Map();

const commands = {
  open(name, file, options) {
    connections.set(name, new Database(file, options));
  },
  // A method of the connection itself: pragma, exec, key, rekey, close.
  call(name, method, ...args) {
    const value = connections.get(name)[method](...args);
    return value === connections.get(name) ? null : value;
  },
  query(name, method, sql, ...args) {
    return connections.get(name).prepare(sql)[method](...args);
  },
  work(name, workload, ...args) {
    return workloads[workload](connections.get(name), ...args);
  },
};

process.on('message', ({ id, connection, method, args }) => {
  try {
    const value = commands[method](connection, ...decode(args));
    process.send({ id, value: encode(value === undefined ? null : value) });
  } catch (error) {
    process.send({ id, error: { name: error.name, code: error.code, message: error.message } });
  }
});
process.on('disconnect', () => process.exit());
