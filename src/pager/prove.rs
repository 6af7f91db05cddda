//! The guard before a rollback journal is played back: page 1 must prove the key first, or nothing
//! is touched.
//!
//! After a crash the next opener recovers. Under a wrong key it would write rubbish into the file
//! and delete the journal, the only thing that could still mend it. SQLite calls this when it has
//! the hot journal open under an exclusive lock, before it syncs it and plays it back. The layout of
//! a rollback journal is in SQLite's file format documentation, section 3.

use std::ffi::c_int;

use libsqlite3_sys as ffi;

use super::attached::{AttachedCodec, is_database_header};
use super::engine::Pager;

const JOURNAL_MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
/// Magic, record count, checksum seed, page count, sector size, page size.
const HEADER_LEN: usize = 28;
/// The record count of a journal that was written without syncs: as many as the file holds.
const COUNT_FROM_SIZE: u32 = 0xffff_ffff;
const MAX_SECTOR_SIZE: u32 = 0x10000;
/// SQLite locks bytes from here on; the page that holds them is never used.
const PENDING_BYTE: i64 = 0x4000_0000;

/// Whether the journal of this pager may be played back under this codec (None: as plain pages).
///
/// - Its counted records hold page 1: that image must prove the key.
/// - They do not: page 1 of the file must.
/// - There is nothing to play back: no proof is asked, as no key could give one.
pub(super) fn prove_key(pager: Pager, codec: Option<&mut AttachedCodec>) -> Result<(), c_int> {
    let Some(journal) = Journal::open(pager)? else {
        return Ok(());
    };
    let mut page_1 = vec![0; journal.page_len()];
    let whole = match journal.find_page_1()? {
        Found::Nothing => return Ok(()),
        Found::Page1At(at) => pager.read_journal(&mut page_1, at)?,
        Found::OtherPages => pager.read_file(&mut page_1, 0)?,
    };
    let proven = match codec {
        Some(codec) if codec.cipher().is_some() => codec.proves_key(&page_1),
        _ => is_database_header(&page_1),
    };
    if whole && proven {
        Ok(())
    } else {
        Err(ffi::SQLITE_NOTADB)
    }
}

/// What a journal would play back.
enum Found {
    Nothing,
    OtherPages,
    /// Page 1 among others; its image is at this offset.
    Page1At(i64),
}

struct Journal {
    pager: Pager,
    len: i64,
    sector_size: u32,
    page_size: u32,
}

impl Journal {
    /// None: nothing of it would be played back, as SQLite itself sees it.
    fn open(pager: Pager) -> Result<Option<Journal>, c_int> {
        let len = pager.journal_len()?;
        let mut header = [0; HEADER_LEN];
        if pager.super_journal_is_missing()? || !pager.read_journal(&mut header, 0)? {
            return Ok(None);
        }
        let sector_size = number_at(&header, 20);
        // Before SQLite 3.5.8 the page size was not written.
        let page_size = Some(number_at(&header, 24))
            .filter(|size| *size != 0)
            .unwrap_or(pager.page_size());
        let valid = header.starts_with(&JOURNAL_MAGIC)
            && sector_size.is_power_of_two()
            && (32..=MAX_SECTOR_SIZE).contains(&sector_size)
            && page_size.is_power_of_two()
            && (512..=65536).contains(&page_size);
        // The file was empty: it will be so again, whatever the records say.
        let was_empty = number_at(&header, 16) == 0;
        Ok((valid && !was_empty).then_some(Journal {
            pager,
            len,
            sector_size,
            page_size,
        }))
    }

    fn page_len(&self) -> usize {
        self.page_size as usize
    }

    /// Walks the segments and their records the way SQLite's playback does.
    fn find_page_1(&self) -> Result<Found, c_int> {
        let mut found = Found::Nothing;
        let mut at = 0;
        while let Some(count) = self.segment_at(at)? {
            at += i64::from(self.sector_size);
            for _ in 0..count {
                match self.page_no_at(at)? {
                    None => return Ok(found),
                    Some(1) => return Ok(Found::Page1At(at + 4)),
                    Some(_) => found = Found::OtherPages,
                }
                at += self.record_len();
            }
            at = self.next_sector(at);
        }
        Ok(found)
    }

    /// The number of records of the segment whose header is here.
    fn segment_at(&self, at: i64) -> Result<Option<u32>, c_int> {
        let mut header = [0; HEADER_LEN];
        let fits = at + i64::from(self.sector_size) <= self.len;
        if !fits
            || !self.pager.read_journal(&mut header, at)?
            || !header.starts_with(&JOURNAL_MAGIC)
        {
            return Ok(None);
        }
        Ok(Some(match number_at(&header, 8) {
            COUNT_FROM_SIZE => {
                let records = (self.len - i64::from(self.sector_size)) / self.record_len();
                u32::try_from(records).unwrap_or(u32::MAX)
            }
            count => count,
        }))
    }

    /// The page number of the record here. None: the playback would stop.
    fn page_no_at(&self, at: i64) -> Result<Option<u32>, c_int> {
        let mut page_no = [0; 4];
        if at + self.record_len() > self.len || !self.pager.read_journal(&mut page_no, at)? {
            return Ok(None);
        }
        let page_no = u32::from_be_bytes(page_no);
        let lock_page_no = PENDING_BYTE / i64::from(self.page_size) + 1;
        Ok(Some(page_no).filter(|no| *no != 0 && i64::from(*no) != lock_page_no))
    }

    /// Page number, page, checksum.
    fn record_len(&self) -> i64 {
        i64::from(self.page_size) + 8
    }

    fn next_sector(&self, at: i64) -> i64 {
        let sector = i64::from(self.sector_size);
        (at + sector - 1) / sector * sector
    }
}

fn number_at(header: &[u8; HEADER_LEN], at: usize) -> u32 {
    header[at..]
        .first_chunk()
        .map_or(0, |bytes| u32::from_be_bytes(*bytes))
}
