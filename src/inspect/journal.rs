//! What a rollback journal holds: its records, and page 1 as it was before.
//!
//! Its layout is in SQLite's file format documentation, section 3. Whether it may be played back is
//! decided in `pager::prove` when the database is opened.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use crate::codec::page::is_page_size;

const MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
const HEADER_LEN: usize = 28;
const SECTORS: std::ops::RangeInclusive<u32> = 32..=0x10000;
/// The record count of a journal that was written without syncs: as many as the file holds.
const COUNT_FROM_SIZE: u32 = 0xffff_ffff;

const MAX_NAME_LEN: u32 = 4096;

/// A rollback journal.
#[derive(Debug, Clone, Default)]
pub(crate) struct Journal {
    pub(crate) len: u64,
    /// It starts with a valid header. A journal that is kept for later use has none.
    pub(crate) valid: bool,
    /// A crash left it: the next connection that may write plays it back.
    pub(crate) hot: bool,
    pub(crate) page_size: u32,
    pub(crate) record_count: u64,
    /// Page 1 as it was before, as it is stored.
    pub(crate) page_1: Option<Vec<u8>>,
}

impl Journal {
    /// What can be read of it. `left_behind`: nobody is writing the database, which has content.
    pub(crate) fn read(path: &Path, left_behind: bool) -> Journal {
        // No lock is ever taken on a journal, so it may be opened beside SQLite.
        let Ok(mut file) = File::open(path) else {
            return Journal::default();
        };
        let mut journal = Journal {
            len: file.metadata().map_or(0, |file| file.len()),
            ..Journal::default()
        };
        // What cannot be read is not played back either.
        let _end = journal.read_segments(&mut file);
        journal.hot =
            left_behind && journal.valid && !super_journal_is_missing(&mut file, journal.len);
        journal
    }

    fn read_segments(&mut self, file: &mut (impl Read + Seek)) -> Option<()> {
        let mut header = header_at(file, 0)?;
        let sector_size = number_at(&header, 20);
        let page_size = number_at(&header, 24);
        let sector_fits = sector_size.is_power_of_two() && SECTORS.contains(&sector_size);
        self.valid = sector_fits && is_page_size(page_size as usize);
        if !self.valid {
            return None;
        }
        self.page_size = page_size;
        let (sector, record_len) = (u64::from(sector_size), u64::from(page_size) + 8);
        let mut at = 0;
        loop {
            let room = self.len.checked_sub(at + sector)? / record_len;
            let count = match number_at(&header, 8) {
                COUNT_FROM_SIZE => room,
                count => u64::from(count).min(room),
            };
            at += sector;
            if self.page_1.is_none() {
                self.page_1 = find_page_1(file, at, count, page_size as usize);
            }
            self.record_count += count;
            at = (at + count * record_len).next_multiple_of(sector);
            header = header_at(file, at)?;
        }
    }
}

/// A transaction over several databases is committed when its super-journal, whose name is at the end
/// of each journal, is deleted: what is left of them is of no use then.
fn super_journal_is_missing(file: &mut (impl Read + Seek), len: u64) -> bool {
    super_journal(file, len).is_some_and(|name| !Path::new(&name).exists())
}

fn super_journal(file: &mut (impl Read + Seek), len: u64) -> Option<String> {
    // Length of the name, its checksum, the magic.
    const END_LEN: usize = 16;
    let mut end = [0; END_LEN];
    let end_at = len.checked_sub(END_LEN as u64)?;
    read_at(file, &mut end, end_at)?;
    let name_len = u32::from_be_bytes(*end.first_chunk()?);
    if !end.ends_with(&MAGIC) || !(1..=MAX_NAME_LEN).contains(&name_len) {
        return None;
    }
    let mut name = vec![0; name_len as usize];
    read_at(file, &mut name, end_at.checked_sub(u64::from(name_len))?)?;
    String::from_utf8(name).ok()
}

fn header_at(file: &mut (impl Read + Seek), at: u64) -> Option<[u8; HEADER_LEN]> {
    let mut header = [0; HEADER_LEN];
    read_at(file, &mut header, at)?;
    header.starts_with(&MAGIC).then_some(header)
}

fn find_page_1(
    file: &mut (impl Read + Seek),
    at: u64,
    count: u64,
    page_len: usize,
) -> Option<Vec<u8>> {
    let record_len = page_len as u64 + 8;
    for at in (0..count).map(|record| at + record * record_len) {
        let mut page_no = [0; 4];
        read_at(file, &mut page_no, at)?;
        if u32::from_be_bytes(page_no) == 1 {
            let mut page = vec![0; page_len];
            read_at(file, &mut page, at + 4)?;
            return Some(page);
        }
    }
    None
}

fn read_at(file: &mut (impl Read + Seek), into: &mut [u8], at: u64) -> Option<()> {
    file.seek(SeekFrom::Start(at)).ok()?;
    file.read_exact(into).ok()
}

fn number_at(header: &[u8; HEADER_LEN], at: usize) -> u32 {
    header[at..]
        .first_chunk()
        .map_or(0, |bytes| u32::from_be_bytes(*bytes))
}
