//! The page format that the AES-CBC schemes share, whatever the length of their keys.
//!
//! ```text
//! page 1      | 0..8 filler | 8..16 cipher text of 16..24 | 16..24 clear | 24.. cipher text |
//! other pages | cipher text over the whole page                                             |
//! ```
//!
//! No salt, no tag, no tail; key and initialization vector depend on the page number alone. A
//! legacy file encrypts page 1 like any other page. How a page's key is made is the scheme's.

use cbc::cipher::common::BlockSizeUser;
use cbc::cipher::consts::U16;
use cbc::cipher::{BlockCipherDecrypt, BlockCipherEncrypt};

use super::cbc_run;
use super::kdf::pseudo_iv;
use super::page::{HEADER_FIELDS, MAGIC, PageNo, is_page_size};

/// Encrypts a whole page in place.
pub fn encrypt<C>(aes: &C, page_no: PageNo, page: &mut [u8], legacy: bool)
where
    C: BlockCipherEncrypt + BlockSizeUser<BlockSize = U16>,
{
    let iv = pseudo_iv(page_no.get());
    if legacy || !page_no.is_first() {
        return cbc_run::encrypt(aes, &iv, page);
    }
    let (magic, rest) = page.split_at_mut(HEADER_FIELDS.start);
    let mut fields = [0; 8];
    fields.copy_from_slice(&rest[..8]);
    cbc_run::encrypt(aes, &iv, magic);
    cbc_run::encrypt(aes, &iv, rest);
    magic[8..].copy_from_slice(&rest[..8]);
    rest[..8].copy_from_slice(&fields);
}

/// Decrypts a whole page in place. A codec that is not legacy knows a legacy page 1 by its header
/// fields, which then are cipher text and do not look like any.
pub fn decrypt<C>(aes: &C, page_no: PageNo, page: &mut [u8], legacy: bool)
where
    C: BlockCipherDecrypt + BlockSizeUser<BlockSize = U16>,
{
    let iv = pseudo_iv(page_no.get());
    if legacy || !page_no.is_first() || !has_clear_header(page) {
        return cbc_run::decrypt(aes, &iv, page);
    }
    let (magic, rest) = page.split_at_mut(HEADER_FIELDS.start);
    let mut fields = [0; 8];
    fields.copy_from_slice(&rest[..8]);
    rest[..8].copy_from_slice(&magic[8..]);
    cbc_run::decrypt(aes, &iv, rest);
    // Another key leaves the start as stored, and SQLite finds no magic there.
    if rest[..8] == fields {
        magic.copy_from_slice(&MAGIC);
    }
}

/// Whether the header fields of a stored page 1 read like those of a database.
fn has_clear_header(page: &[u8]) -> bool {
    let fields = &page[HEADER_FIELDS];
    // Stored big endian, with 1 for 65536: read the other way round and shifted, both come right.
    let page_size = usize::from(fields[0]) << 8 | usize::from(fields[1]) << 16;
    is_page_size(page_size) && fields[5..] == [64, 32, 32]
}
