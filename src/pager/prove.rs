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
use crate::codec::PageNo;

const JOURNAL_MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
/// Magic, record count, checksum seed, page count, sector size, page size.
const HEADER_LEN: usize = 28;
/// The record count of a journal that was written without syncs: as many as the file holds.
const COUNT_FROM_SIZE: u32 = 0xffff_ffff;
const MAX_SECTOR_SIZE: u32 = 0x10000;
/// How many records are looked at when page 1 is not proof enough.
const SAMPLE_LEN: u32 = 16;
/// SQLite locks bytes from here on; the page that holds them is never used.
const PENDING_BYTE: i64 = 0x4000_0000;

/// Whether the journal of this pager may be played back under this codec (None: as plain pages).
///
/// - Its counted records hold page 1: that image must prove the key.
/// - They do not: page 1 of the file must.
/// - There is nothing to play back: no proof is asked, as no key could give one.
///
/// A power cut may have torn the record of page 1 when the journal was written without syncs. The
/// playback ends there. Then the other records show whether the journal is under this key, and page 1
/// of the file must prove it, too. They are also asked where a header that looks right proves nothing.
pub(super) fn prove_key(pager: Pager, codec: Option<&mut AttachedCodec>) -> Result<(), c_int> {
    let Some(journal) = Journal::open(pager)? else {
        return Ok(());
    };
    let mut codec = codec.filter(|codec| codec.cipher().is_some());
    let weak = codec.as_ref().is_some_and(|codec| codec.accepts_any_key());
    let found = journal.find_page_1()?;
    let mut proven = match found {
        Found::Nothing => return Ok(()),
        Found::Page1At(at) => proves(codec.as_deref_mut(), &journal.page_at(at)?),
        Found::OtherPages => proves(codec.as_deref_mut(), &journal.page_1_of_file()?),
    };
    if (!proven && matches!(found, Found::Page1At(_))) || (proven && weak) {
        proven = journal.most_records_fit(codec.as_deref_mut())?
            && (proven || proves(codec, &journal.page_1_of_file()?));
    }
    if proven {
        Ok(())
    } else {
        Err(ffi::SQLITE_NOTADB)
    }
}

/// Whether this image of page 1 proves the key; an image that is not whole proves nothing.
fn proves(codec: Option<&mut AttachedCodec>, page_1: &Option<Vec<u8>>) -> bool {
    let Some(page_1) = page_1 else {
        return false;
    };
    match codec {
        Some(codec) => codec.proves_key(page_1),
        None => is_database_header(page_1),
    }
}

/// What a journal would play back.
#[derive(Clone, Copy)]
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
    checksum_seed: u32,
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
            checksum_seed: number_at(&header, 12),
        }))
    }

    /// The page of a record; None: the journal ends within it.
    fn page_at(&self, at: i64) -> Result<Option<Vec<u8>>, c_int> {
        let mut page = vec![0; self.page_size as usize];
        Ok(self.pager.read_journal(&mut page, at)?.then_some(page))
    }

    fn page_1_of_file(&self) -> Result<Option<Vec<u8>>, c_int> {
        let mut page = vec![0; self.page_size as usize];
        Ok(self.pager.read_file(&mut page, 0)?.then_some(page))
    }

    /// Whether most of the first records have the checksum of their page in clear. One alone says
    /// little: wrong content fits about once in a thousand times.
    fn most_records_fit(&self, mut codec: Option<&mut AttachedCodec>) -> Result<bool, c_int> {
        let count = self.segment_at(0)?.unwrap_or(0).min(SAMPLE_LEN);
        let first = i64::from(self.sector_size);
        let mut fit_count = 0;
        for record in 0..count {
            let at = first + i64::from(record) * self.record_len();
            if self.record_fits(at, codec.as_deref_mut())? {
                fit_count += 1;
            }
        }
        Ok(fit_count * 2 > count)
    }

    fn record_fits(&self, at: i64, codec: Option<&mut AttachedCodec>) -> Result<bool, c_int> {
        let page_no = self.page_no_at(at)?.and_then(PageNo::new);
        let (Some(page_no), Some(mut page)) = (page_no, self.page_at(at + 4)?) else {
            return Ok(false);
        };
        let mut checksum = [0; 4];
        let checksum_at = at + 4 + i64::from(self.page_size);
        let whole = self.pager.read_journal(&mut checksum, checksum_at)?;
        if codec.is_some_and(|codec| codec.decrypt_record(page_no, &mut page).is_err()) {
            return Ok(false);
        }
        Ok(whole && u32::from_be_bytes(checksum) == checksum_of(&page, self.checksum_seed))
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

/// SQLite adds up every 200th byte from the end of the page.
fn checksum_of(page: &[u8], seed: u32) -> u32 {
    let bytes = page.iter().rev().skip(199).step_by(200);
    // The first byte of the page does not count.
    let bytes = bytes.take((page.len() - 1) / 200);
    bytes.fold(seed, |sum, byte| sum.wrapping_add(u32::from(*byte)))
}

fn number_at(header: &[u8; HEADER_LEN], at: usize) -> u32 {
    header[at..]
        .first_chunk()
        .map_or(0, |bytes| u32::from_be_bytes(*bytes))
}
