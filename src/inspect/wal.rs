//! What a WAL holds: its frames as far as they are valid, and the page 1 that was committed last.
//!
//! Its layout is in SQLite's file format documentation, section 4. Nothing is decrypted: the checksums
//! are over the pages as they are stored. A WAL can be read while others append to it: frames that
//! are not whole yet are not valid yet.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use crate::codec::PageNo;
use crate::codec::page::is_page_size;

const HEADER_LEN: usize = 32;
const FRAME_HEADER_LEN: usize = 24;
const MAGIC: u32 = 0x377f_0682;
const VERSION: u32 = 3_007_000;
const BUFFER_LEN: usize = 1 << 20;

/// A WAL.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wal {
    pub(crate) len: u64,
    /// It starts with a valid header.
    pub(crate) valid: bool,
    pub(crate) page_size: u32,
    pub(crate) checkpoint_count: u32,
    pub(crate) salt: [u8; 8],
    /// Valid frames.
    pub(crate) frame_count: u32,
    /// Those up to the last commit: what a reader sees.
    pub(crate) committed_count: u32,
    /// Pages of the database after the last commit.
    pub(crate) page_count: u32,
    /// The page 1 that a reader sees, as it is stored; None: that of the file.
    pub(crate) page_1: Option<Vec<u8>>,
}

impl Wal {
    /// What can be read of it; a file that is none has no frames.
    pub(crate) fn read(path: &Path) -> Wal {
        // No lock is ever taken on a WAL, so it may be opened beside SQLite.
        let Ok(file) = File::open(path) else {
            return Wal::default();
        };
        let len = file.metadata().map_or(0, |file| file.len());
        let mut wal = Wal::default();
        wal.read_frames(BufReader::with_capacity(BUFFER_LEN, file));
        Wal { len, ..wal }
    }

    fn read_frames(&mut self, mut file: impl Read) -> Option<()> {
        let mut header = [0; HEADER_LEN];
        file.read_exact(&mut header).ok()?;
        let magic = number_at(&header, 0);
        let mut sum = Checksum {
            big_endian: magic & 1 == 1,
            sums: (0, 0),
        };
        sum.add(&header[..24]);
        self.page_size = number_at(&header, 8);
        self.valid = magic & !1 == MAGIC
            && number_at(&header, 4) == VERSION
            && is_page_size(self.page_size as usize)
            && sum.matches(&header[24..]);
        if !self.valid {
            self.page_size = 0;
            return None;
        }
        self.checkpoint_count = number_at(&header, 12);
        self.salt.copy_from_slice(&header[16..24]);
        let mut frame = vec![0; FRAME_HEADER_LEN + self.page_size as usize];
        let mut page_1 = None;
        loop {
            file.read_exact(&mut frame).ok()?;
            let (header, page) = frame.split_at(FRAME_HEADER_LEN);
            let page_no = PageNo::new(number_at(header, 0))?;
            sum.add(&header[..8]);
            sum.add(page);
            if header[8..16] != self.salt || !sum.matches(&header[16..]) {
                return None;
            }
            self.frame_count += 1;
            if page_no.is_first() {
                page_1 = Some(page.to_vec());
            }
            let page_count = number_at(header, 4);
            if page_count != 0 {
                self.page_count = page_count;
                self.committed_count = self.frame_count;
                self.page_1 = page_1.take().or(self.page_1.take());
            }
        }
    }
}

/// SQLite's checksum of a WAL: a running pair over pairs of words.
struct Checksum {
    big_endian: bool,
    sums: (u32, u32),
}

impl Checksum {
    fn add(&mut self, bytes: &[u8]) {
        let word = if self.big_endian {
            u32::from_be_bytes
        } else {
            u32::from_le_bytes
        };
        let (mut one, mut two) = self.sums;
        for [a, b, c, d, e, f, g, h] in bytes.as_chunks::<8>().0 {
            one = one.wrapping_add(word([*a, *b, *c, *d])).wrapping_add(two);
            two = two.wrapping_add(word([*e, *f, *g, *h])).wrapping_add(one);
        }
        self.sums = (one, two);
    }

    fn matches(&self, stored: &[u8]) -> bool {
        (number_at(stored, 0), number_at(stored, 4)) == self.sums
    }
}

fn number_at(bytes: &[u8], at: usize) -> u32 {
    bytes
        .get(at..)
        .and_then(|rest| rest.first_chunk())
        .map_or(0, |bytes| u32::from_be_bytes(*bytes))
}
