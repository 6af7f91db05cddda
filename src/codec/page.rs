//! Page numbers, and the cuts of one page: clear head, body, tail.
//!
//! The rules of page 1 that all salted schemes share are here, once. What a scheme does with the
//! body and the tail is in `scheme/`; the order of the steps is in `cipher`.

use std::num::NonZeroU32;
use std::ops::Range;

use super::key::{SALT_LEN, Salt};

/// The first 16 bytes of a plain SQLite file.
pub const MAGIC: [u8; 16] = *b"SQLite format 3\0";

/// Page size, format versions, reserve and three constants: the bytes of page 1 that SQLite wants
/// to read before any key is known.
pub const HEADER_FIELDS: Range<usize> = 16..24;

/// The number of a page as SQLite counts: from 1. For a WAL frame or a journal record it is the
/// number in the record's header, never a position in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageNo(NonZeroU32);

impl PageNo {
    /// The page that holds the database header.
    pub const FIRST: PageNo = PageNo(NonZeroU32::MIN);

    /// `None` for 0, which is no page.
    pub fn new(number: u32) -> Option<PageNo> {
        NonZeroU32::new(number).map(PageNo)
    }

    /// The number itself.
    pub fn get(self) -> u32 {
        self.0.get()
    }

    /// Whether this is page 1, the one with the database header.
    pub fn is_first(self) -> bool {
        self == PageNo::FIRST
    }
}

/// Why a page could not be encrypted or decrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PageError {
    /// The tag does not match: another key, or changed bytes.
    #[error("the page is not authentic under this key")]
    NotAuthentic,
    /// The slice is no whole page.
    #[error("{0} bytes are not a page size of SQLite")]
    NotAPage(usize),
}

/// Where a scheme, under its parameters, keeps what in a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Length of the tail, the bytes that the scheme keeps at the end of each page.
    pub reserve_len: usize,
    /// The part of the tail that gets new random bytes at every write.
    pub fresh: Range<usize>,
    /// First encrypted byte of page 1; on other pages it is 0.
    pub first_body_at: usize,
    /// Whether the header fields of page 1 are stored in clear.
    pub clear_header: bool,
    /// Whether page 1 starts with the salt.
    pub stores_salt: bool,
    /// Whether the tail holds a tag over the page.
    pub authenticated: bool,
}

/// One page in memory, cut after its layout.
#[derive(Debug)]
pub struct Page<'a> {
    bytes: &'a mut [u8],
    body: Range<usize>,
    salt: Option<Salt>,
}

impl<'a> Page<'a> {
    /// Cuts a whole page. `salt` is what page 1 stores at its start, if it stores one.
    pub fn cut(
        bytes: &'a mut [u8],
        page_no: PageNo,
        layout: &Layout,
        salt: Option<Salt>,
    ) -> Result<Page<'a>, PageError> {
        if !is_page_size(bytes.len()) {
            return Err(PageError::NotAPage(bytes.len()));
        }
        let first = page_no.is_first();
        let body_at = if first { layout.first_body_at } else { 0 };
        let body = body_at..bytes.len() - layout.reserve_len;
        let salt = salt.filter(|_| first);
        Ok(Page { bytes, body, salt })
    }

    /// The whole page.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.bytes
    }

    /// The encrypted part.
    pub fn body_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.body.clone()]
    }

    /// The encrypted part and the reserved end.
    pub fn body_and_tail_mut(&mut self) -> (&mut [u8], &mut [u8]) {
        let Range { start, end } = self.body;
        let (body, tail) = self.bytes[start..].split_at_mut(end - start);
        (body, tail)
    }

    /// The reserved end.
    pub fn tail(&self) -> &[u8] {
        &self.bytes[self.body.end..]
    }

    /// The reserved end, to be written.
    pub fn tail_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.body.end..]
    }

    /// Everything from the page's start through the first `tail_len` bytes of the tail.
    pub fn through_tail(&self, tail_len: usize) -> &[u8] {
        &self.bytes[..self.body.end + tail_len]
    }

    /// The encrypted part through the first `tail_len` bytes of the tail.
    pub fn body_through_tail(&self, tail_len: usize) -> &[u8] {
        &self.bytes[self.body.start..self.body.end + tail_len]
    }

    /// Writes the salt over the start of page 1; nothing on other pages.
    ///
    /// A salted scheme calls this after it encrypted the body, which on a legacy page 1 begins at
    /// byte 0, and before it makes a tag.
    pub fn place_salt(&mut self) {
        if let Some(salt) = self.salt {
            self.bytes[..SALT_LEN].copy_from_slice(&salt);
        }
    }
}

/// Whether SQLite knows pages of this length.
pub fn is_page_size(len: usize) -> bool {
    len.is_power_of_two() && (512..=65536).contains(&len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_numbers_start_at_one() {
        assert_eq!(PageNo::new(0), None);
        assert!(PageNo::new(1).unwrap().is_first());
        assert!(!PageNo::new(2).unwrap().is_first());
    }

    #[test]
    fn page_sizes_are_powers_of_two_from_512_to_65536() {
        let known: Vec<usize> = (0..=70000).filter(|len| is_page_size(*len)).collect();
        assert_eq!(known, [512, 1024, 2048, 4096, 8192, 16384, 32768, 65536]);
    }

    #[test]
    fn only_page_one_has_a_clear_head_and_a_salt() {
        let layout = Layout {
            reserve_len: 32,
            fresh: 0..16,
            first_body_at: 24,
            clear_header: true,
            stores_salt: true,
            authenticated: true,
        };
        for (number, body_at, start) in [(1, 24, 7), (2, 0, 0)] {
            let page_no = PageNo::new(number).unwrap();
            let mut bytes = [0; 512];
            let mut page = Page::cut(&mut bytes, page_no, &layout, Some([7; 16])).unwrap();
            assert_eq!(page.body_mut().len(), 512 - 32 - body_at);
            assert_eq!(page.tail().len(), 32);
            assert_eq!(page.through_tail(16).len(), 496);
            assert_eq!(page.body_through_tail(16).len(), 496 - body_at);
            let (body, tail) = page.body_and_tail_mut();
            assert_eq!((body.len(), tail.len()), (480 - body_at, 32));
            page.place_salt();
            assert_eq!((bytes[0], bytes[15], bytes[16]), (start, start, 0));
        }
    }
}
