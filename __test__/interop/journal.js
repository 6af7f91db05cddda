'use strict';

// Reads a rollback journal as it lies on the disk: which pages it would put back. Format: SQLite's
// documented one; the page images may be encrypted, nothing else is.

const fs = require('node:fs');

const MAGIC = Buffer.from('d9d505f920a163d7', 'hex');
const WITHOUT_COUNT = 0xffffffff;

/**
 * The segments of a journal, each with the number of records that its header counts (only they are
 * played back after a crash) and their page numbers. Empty when there is no journal or no valid header.
 */
function readJournal(file) {
  if (!fs.existsSync(file)) return [];
  const bytes = fs.readFileSync(file);
  const segments = [];
  let at = 0;
  while (at + 28 <= bytes.length && bytes.subarray(at, at + 8).equals(MAGIC)) {
    const header = readHeader(bytes, at, segments[0]);
    const recordLength = header.pageSize + 8;
    const room = Math.floor((bytes.length - at - header.sectorSize) / recordLength);
    const count = header.count === WITHOUT_COUNT ? room : Math.min(header.count, room);
    const recordsAt = at + header.sectorSize;
    const pages = Array.from({ length: count }, (_, n) => bytes.readUInt32BE(recordsAt + n * recordLength));
    segments.push({ ...header, count, pages });
    const end = recordsAt + count * recordLength;
    at = Math.ceil(end / header.sectorSize) * header.sectorSize;
  }
  return segments;
}

// Later headers repeat sector and page size only formally; the first header's are in force.
function readHeader(bytes, at, first) {
  return {
    count: bytes.readUInt32BE(at + 8),
    originalPages: bytes.readUInt32BE(at + 16),
    sectorSize: first ? first.sectorSize : bytes.readUInt32BE(at + 20),
    pageSize: first ? first.pageSize : bytes.readUInt32BE(at + 24),
  };
}

/** All page numbers that would be played back. */
function playedBackPages(file) {
  return readJournal(file).flatMap((segment) => segment.pages);
}

module.exports = { readJournal, playedBackPages };
