'use strict';
// Looks at the file of an addon before the system's loader maps it. glibc ends the process with SIGBUS when a file is
// shorter than its header says, which a download that broke off leaves behind. Only ELF is looked at: the loaders of
// macOS and Windows refuse such files by themselves. Called by binding.js.

const fs = require('node:fs');

const ELF_HEADER_LEN = 64;
const MACHINES = { x64: 62, arm64: 183 };
const MACHINE_NAMES = { 3: 'ia32', 40: 'arm', 62: 'x64', 183: 'arm64', 243: 'riscv64' };
const PT_LOAD = 1;

// Throws when `file` cannot be an addon for this process. One that is not there is for the caller to find.
function checkAddonFile(file) {
  if (process.platform !== 'linux' || !fs.existsSync(file)) return;
  const fd = fs.openSync(file, 'r');
  try {
    checkElf(fd, fs.fstatSync(fd).size);
  } finally {
    fs.closeSync(fd);
  }
}

function checkElf(fd, size) {
  const header = read(fd, 0, Math.min(ELF_HEADER_LEN, size));
  const kind = kindOf(header);
  if (kind !== 'elf') refuse(`it is ${kind}`);
  if (size < ELF_HEADER_LEN) refuse(`it ends after ${size} bytes`);
  // 64 bits, the least significant byte first, as on every processor that there are packages for.
  if (header[4] !== 2 || header[5] !== 1) refuse('it is for a processor of another kind');
  const machine = header.readUInt16LE(18);
  const wanted = MACHINES[process.arch];
  if (wanted !== undefined && machine !== wanted) {
    refuse(`it is for ${MACHINE_NAMES[machine] ?? `processor ${machine}`}, and this Node for ${process.arch}`);
  }
  const end = endOfContent(fd, header, size);
  if (end > size) refuse(`it ends after ${size} of ${end} bytes`);
}

// Where the last of the parts ends that are mapped, or the table of sections, which comes last.
function endOfContent(fd, header, size) {
  const [segmentsAt, sectionsAt] = [32, 40].map((at) => Number(header.readBigUInt64LE(at)));
  const [segmentLen, segmentCount, sectionLen, sectionCount] = [54, 56, 58, 60].map((at) => header.readUInt16LE(at));
  const segmentsEnd = segmentsAt + segmentLen * segmentCount;
  const ends = [segmentsEnd, sectionsAt + sectionLen * sectionCount];
  if (segmentsEnd <= size) {
    const table = read(fd, segmentsAt, segmentLen * segmentCount);
    for (let at = 0; at + 40 <= table.length; at += segmentLen) {
      if (table.readUInt32LE(at) !== PT_LOAD) continue;
      ends.push(Number(table.readBigUInt64LE(at + 8)) + Number(table.readBigUInt64LE(at + 32)));
    }
  }
  return Math.max(...ends);
}

function read(fd, position, length) {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, fs.readSync(fd, bytes, 0, length, position));
}

function kindOf(header) {
  if (header.length === 0) return 'empty';
  const magic = header.toString('latin1', 0, 4);
  if (magic === '\x7fELF') return 'elf';
  if (magic.startsWith('MZ')) return 'for Windows';
  if (['cffaedfe', 'cafebabe'].includes(header.toString('hex', 0, 4))) return 'for macOS';
  return 'no shared library';
}

function refuse(what) {
  throw Object.assign(new Error(`damaged, or made for another platform: ${what}`), { code: 'ERR_DLOPEN_FAILED' });
}

module.exports = checkAddonFile;
