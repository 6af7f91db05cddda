//! Reads every page of a database and says which cannot be read: those that are not authentic under
//! the key, and those that the disk does not give.
//!
//! The caller holds a read transaction, so that all parts see one state, and goes through the pages
//! part by part. What the pages hold, SQLite's own integrity check looks at.

use std::collections::BTreeSet;

use libsqlite3_sys as ffi;
use rusqlite::Connection;
use zeroize::Zeroizing;

use super::attached::is_zero;
use super::engine::{self, Schema};
use super::hook;
use crate::codec::Cipher;
use crate::error::{Error, Result};

/// A page that cannot be read.
pub(crate) struct BadPage {
    pub(crate) page_no: u32,
    /// SQLite's result code: `SQLITE_CORRUPT`, or what kept the page from being read.
    pub(crate) code: i32,
}

/// What is to be gone through, and how much the pages themselves prove.
pub(crate) struct Extent {
    pub(crate) page_count: u32,
    pub(crate) page_size: u32,
    /// Bytes that the header reserves in each page.
    pub(crate) reserve_len: usize,
    /// Bytes that the scheme keeps there; None: the database is plain.
    pub(crate) scheme_reserve_len: Option<usize>,
    /// Each page has a tag.
    pub(crate) authenticated: bool,
    /// In clear.
    pub(crate) page_1: Zeroizing<Vec<u8>>,
}

/// Reads page 1 in the transaction that is open.
pub(crate) fn extent(connection: &Connection) -> Result<Extent> {
    let schema = main(connection)?;
    let cipher = |ask: fn(&Cipher) -> usize| {
        hook::with_codec(schema.pager(), |codec| codec.cipher().map(ask)).flatten()
    };
    let read = schema.reading(|| {
        let mut page_1 = Zeroizing::new(vec![0; schema.page_size() as usize]);
        if schema.page_count() > 0 {
            schema.copy_page(1, &mut page_1)?;
        }
        Ok(Extent {
            page_1,
            page_count: schema.page_count(),
            page_size: schema.page_size(),
            reserve_len: schema.reserve_len(),
            scheme_reserve_len: cipher(Cipher::reserve_len),
            authenticated: cipher(|cipher| usize::from(cipher.authenticated())) == Some(1),
        })
    });
    read.map_err(Error::of_code)
}

/// Reads the pages from `first` on, `count` of them or as many as there are.
pub(crate) fn check_pages(connection: &Connection, first: u32, count: u32) -> Result<Vec<BadPage>> {
    let schema = main(connection)?;
    let checked = schema.reading(|| {
        let end = first.saturating_add(count).min(schema.page_count() + 1);
        let mut page = Zeroizing::new(vec![0; schema.page_size() as usize]);
        let mut unused = None;
        let mut bad = Vec::new();
        for page_no in first.max(1)..end {
            let Err(code) = schema.copy_page(page_no, &mut page) else {
                continue;
            };
            if !never_written(schema, page_no, &mut unused)? {
                bad.push(BadPage { page_no, code });
            }
        }
        Ok(bad)
    });
    checked.map_err(Error::of_code)
}

/// Without `secure_delete` SQLite does not write a page that came into being and was freed within one
/// transaction. It is a hole, zeros that no cipher makes, and is overwritten before it is ever read.
fn never_written(
    schema: Schema,
    page_no: u32,
    unused: &mut Option<BTreeSet<u32>>,
) -> std::result::Result<bool, i32> {
    let mut stored = vec![0; schema.page_size() as usize];
    let at = i64::from(page_no - 1) * i64::from(schema.page_size());
    schema.pager().read_file(&mut stored, at)?;
    if !is_zero(&stored) {
        return Ok(false);
    }
    Ok(unused
        .get_or_insert_with(|| unused_pages(schema))
        .contains(&page_no))
}

/// The leaves of the list of free pages, as far as the list can be read. Its layout is in SQLite's
/// file format documentation, section 1.5.
fn unused_pages(schema: Schema) -> BTreeSet<u32> {
    const FIRST_TRUNK_AT: usize = 32;
    let mut page = Zeroizing::new(vec![0; schema.page_size() as usize]);
    let mut leaves = BTreeSet::new();
    let mut trunks = BTreeSet::new();
    let mut trunk_no = match schema.copy_page(1, &mut page) {
        Ok(()) => number_at(&page, FIRST_TRUNK_AT),
        Err(_) => 0,
    };
    // A list that runs in a circle ends where it meets itself.
    while trunk_no != 0 && trunks.insert(trunk_no) && schema.copy_page(trunk_no, &mut page).is_ok()
    {
        let most = page.len() / 4 - 2;
        let count = usize::try_from(number_at(&page, 4)).map_or(most, |count| count.min(most));
        leaves.extend((2..2 + count).map(|at| number_at(&page, 4 * at)));
        trunk_no = number_at(&page, 0);
    }
    leaves
}

fn number_at(page: &[u8], at: usize) -> u32 {
    page.get(at..)
        .and_then(|rest| rest.first_chunk())
        .map_or(0, |bytes| u32::from_be_bytes(*bytes))
}

fn main(connection: &Connection) -> Result<Schema> {
    engine::find_schema(connection, c"main").ok_or_else(|| Error::of_code(ffi::SQLITE_INTERNAL))
}
