//! The codec of one open file: which cipher reads a page, which one writes it, and what has to be
//! remembered between two calls of the pager.
//!
//! It sees pages in memory, never files. The pager's side, with its raw pointers, is in `hook`.

use std::ffi::c_int;

use libsqlite3_sys as ffi;
use zeroize::Zeroizing;

use crate::codec::{Cipher, PageNo};
use crate::inspect::look;

/// Bytes 0..16 of a plain database.
pub(super) const MAGIC: [u8; 16] = *b"SQLite format 3\0";
/// Where page 1 holds the change counter, four bytes, big endian.
const CHANGE_COUNTER_AT: usize = 24;

/// What the pager holds as the codec of a file.
pub(super) struct AttachedCodec {
    /// The cipher that the file was read with. None: the file is plain (it is being encrypted).
    read: Option<Cipher>,
    /// While the key is being changed: what pages are written with.
    rekey: Option<Rekey>,
    /// Page 1 was decrypted into a database header. Until then the passphrase is kept, since the
    /// salt it has to go with may turn out to be another one (`decrypt_page_1`).
    proven: bool,
    /// Page 1 was read under a key that nothing proves, and what came out is no page of a database.
    doubtful: bool,
    /// The change counter of page 1 as last read or written.
    change_counter: u32,
    /// The result code of the last page that could not be decrypted.
    page_error: c_int,
    /// An encrypted page on its way to a file. The page in SQLite's cache must stay plain.
    scratch: Zeroizing<Vec<u8>>,
    /// A page from a journal, decrypted.
    journal_page: Zeroizing<Vec<u8>>,
}

struct Rekey {
    /// None: the file is being decrypted.
    write: Option<Cipher>,
    /// The pages that have gone to the file or its WAL under the new key in this transaction: they
    /// must be read with it should they leave the cache before the commit.
    rewritten: PageSet,
}

impl AttachedCodec {
    pub(super) fn new(cipher: Option<Cipher>) -> AttachedCodec {
        AttachedCodec {
            read: cipher,
            rekey: None,
            proven: false,
            doubtful: false,
            change_counter: 0,
            page_error: ffi::SQLITE_CORRUPT,
            scratch: Zeroizing::default(),
            journal_page: Zeroizing::default(),
        }
    }

    pub(super) fn cipher(&self) -> Option<&Cipher> {
        self.read.as_ref()
    }

    /// A cipher for a copy of this database.
    pub(super) fn copy_cipher(&self) -> Option<Cipher> {
        let writes = self
            .rekey
            .as_ref()
            .map_or(self.read.as_ref(), |rekey| rekey.write.as_ref());
        let mut cipher = writes?.duplicate();
        cipher.forget_passphrase();
        Some(cipher)
    }

    pub(super) fn set_page_len(&mut self, page_len: usize) {
        if self.scratch.len() != page_len {
            // New buffers, so that what the old ones held is erased.
            self.scratch = Zeroizing::new(vec![0; page_len]);
            self.journal_page = Zeroizing::new(vec![0; page_len]);
        }
    }

    pub(super) fn page_error(&self) -> c_int {
        self.page_error
    }

    pub(super) fn change_counter(&self) -> u32 {
        self.change_counter
    }

    /// Decrypts a page that was read from the file or its WAL, in place.
    pub(super) fn load(&mut self, page_no: PageNo, page: &mut [u8]) -> Result<(), c_int> {
        let opened = match &mut self.rekey {
            Some(rekey) if rekey.rewritten.contains(page_no) => {
                decrypt(rekey.write.as_mut(), page_no, page)
            }
            _ if page_no.is_first() => self.decrypt_page_1(page),
            _ => decrypt(self.read.as_mut(), page_no, page),
        };
        self.page_error = opened.err().unwrap_or(ffi::SQLITE_OK);
        if opened.is_ok() && page_no.is_first() {
            self.remember_change_counter(page);
            self.doubtful = self.accepts_any_key() && !look::is_database(page);
        }
        opened
    }

    /// A page that the file ends within. Beyond the end there are zeros, which SQLite may read; a part
    /// of a page cannot be checked, so it is not shown.
    pub(super) fn load_short(&mut self, page_no: PageNo, page: &[u8]) -> Result<(), c_int> {
        if self.read.is_none() || is_zero(page) {
            return Ok(());
        }
        self.page_error = unreadable(page_no);
        Err(self.page_error)
    }

    /// The page as it goes to the file or its WAL. None: as it is, in clear.
    pub(super) fn store_main(
        &mut self,
        page_no: PageNo,
        page: &[u8],
    ) -> Result<Option<&mut [u8]>, c_int> {
        if page_no.is_first() {
            self.remember_change_counter(page);
        }
        let cipher = match &mut self.rekey {
            Some(rekey) => {
                rekey.rewritten.insert(page_no);
                rekey.write.as_mut()
            }
            None => self.read.as_mut(),
        };
        encrypt(cipher, page_no, page, &mut self.scratch)
    }

    /// The page as it goes to a rollback journal: always under the key that the file
    /// was read with, so that a rollback restores pages in the old key.
    pub(super) fn store_journal(
        &mut self,
        page_no: PageNo,
        page: &[u8],
    ) -> Result<Option<&mut [u8]>, c_int> {
        encrypt(self.read.as_mut(), page_no, page, &mut self.scratch)
    }

    /// A journal's record in clear; None when it cannot be decrypted.
    pub(super) fn journal_plain(&mut self, page_no: PageNo, stored: &[u8]) -> Option<&mut [u8]> {
        let page = self.journal_page.get_mut(..stored.len())?;
        page.copy_from_slice(stored);
        decrypt(self.read.as_mut(), page_no, page).ok()?;
        if page_no.is_first() {
            self.change_counter = change_counter_of(&self.journal_page);
        }
        self.journal_page.get_mut(..stored.len())
    }

    /// Whether this image of page 1, from the file or from a journal, proves the key. Asked each time:
    /// another process may have changed the key since it was proved last.
    pub(super) fn proves_key(&mut self, stored: &[u8]) -> bool {
        self.proven = false;
        let mut page = Zeroizing::new(stored.to_vec());
        self.decrypt_page_1(&mut page).is_ok()
    }

    /// Decrypts the page of a journal's record in place.
    pub(super) fn decrypt_record(&mut self, page_no: PageNo, page: &mut [u8]) -> Result<(), c_int> {
        decrypt(self.read.as_mut(), page_no, page)
    }

    /// Whether a header that looks right proves nothing: it is stored in clear, and no tag is checked.
    pub(super) fn accepts_any_key(&self) -> bool {
        self.read.as_ref().is_some_and(|cipher| {
            !cipher.authenticated() && cipher.clear_header() && cipher.salt().is_some()
        })
    }

    /// Whether the key is most likely wrong, though no tag can say so: what is read is shown, as it may be
    /// all that is left of a damaged file, but nothing is written.
    pub(super) fn is_doubtful(&self) -> bool {
        self.doubtful
    }

    pub(super) fn begin_rekey(&mut self, write: Option<Cipher>) {
        self.rekey = Some(Rekey {
            write,
            rewritten: PageSet::default(),
        });
    }

    /// The transaction that changed the key is committed: from now on the new key reads, too.
    pub(super) fn finish_rekey(&mut self) {
        if let Some(rekey) = self.rekey.take() {
            self.read = rekey.write;
            self.prove();
        }
    }

    /// The transaction is rolled back: the old key stays.
    pub(super) fn abandon_rekey(&mut self) {
        self.rekey = None;
    }

    /// Page 1 may carry another salt than the one found when the key was set: another connection
    /// made the file since, or a rekey was killed and the right salt is in the journal or the WAL.
    /// As long as the passphrase is there, it is tried with the salt that the page itself carries.
    fn decrypt_page_1(&mut self, page: &mut [u8]) -> Result<(), c_int> {
        let Some(cipher) = &mut self.read else {
            return Ok(());
        };
        let first = PageNo::FIRST;
        if self.proven {
            return cipher.decrypt(first, page).map_err(|_| ffi::SQLITE_NOTADB);
        }
        let stored = Zeroizing::new(page.to_vec());
        // A scheme without a tag decrypts anything; the header is its proof.
        if cipher.decrypt(first, page).is_ok() && is_database_header(page) {
            self.prove();
            return Ok(());
        }
        if let Some(mut other) = other_salt(cipher, &stored) {
            page.copy_from_slice(&stored);
            if other.decrypt(first, page).is_ok() && is_database_header(page) {
                self.read = Some(other);
                self.prove();
                return Ok(());
            }
        }
        Err(ffi::SQLITE_NOTADB)
    }

    fn prove(&mut self) {
        self.proven = true;
        if let Some(cipher) = &mut self.read {
            cipher.forget_passphrase();
        }
    }

    fn remember_change_counter(&mut self, plain: &[u8]) {
        self.change_counter = change_counter_of(plain);
    }
}

/// The passphrase of `cipher` with the salt at the start of this page, if that is another one.
fn other_salt(cipher: &Cipher, stored: &[u8]) -> Option<Cipher> {
    let salt = *stored.first_chunk()?;
    if !cipher.salt_in_file() || cipher.salt() == Some(salt) {
        return None;
    }
    cipher.with_salt(salt).ok().flatten()
}

fn decrypt(cipher: Option<&mut Cipher>, page_no: PageNo, page: &mut [u8]) -> Result<(), c_int> {
    let Some(cipher) = cipher else {
        return Ok(());
    };
    cipher
        .decrypt(page_no, page)
        .map_err(|_| unreadable(page_no))
}

fn unreadable(page_no: PageNo) -> c_int {
    if page_no.is_first() {
        ffi::SQLITE_NOTADB
    } else {
        ffi::SQLITE_CORRUPT
    }
}

fn encrypt<'s>(
    cipher: Option<&mut Cipher>,
    page_no: PageNo,
    page: &[u8],
    scratch: &'s mut Zeroizing<Vec<u8>>,
) -> Result<Option<&'s mut [u8]>, c_int> {
    let Some(cipher) = cipher else {
        return Ok(None);
    };
    let scratch = scratch.get_mut(..page.len()).ok_or(ffi::SQLITE_INTERNAL)?;
    scratch.copy_from_slice(page);
    cipher
        .encrypt(page_no, scratch)
        .map_err(|_| ffi::SQLITE_IOERR)?;
    Ok(Some(scratch))
}

/// Whether nothing was written here.
pub(super) fn is_zero(page: &[u8]) -> bool {
    page.iter().all(|byte| *byte == 0)
}

/// Whether page 1, in clear, begins like a database.
pub(super) fn is_database_header(page: &[u8]) -> bool {
    page.starts_with(&MAGIC) && clear_header(page).is_some()
}

/// Page size and reserved bytes from bytes 16..24 of page 1, if they can be a database's.
pub(super) fn clear_header(page: &[u8]) -> Option<(u32, u8)> {
    let header = page.get(16..24)?;
    let page_size = match u32::from(header[0]) << 8 | u32::from(header[1]) {
        1 => 65536,
        size => size,
    };
    let fits = page_size.is_power_of_two() && (512..=65536).contains(&page_size);
    (fits && header[5..] == [64, 32, 32]).then_some((page_size, header[4]))
}

fn change_counter_of(plain: &[u8]) -> u32 {
    plain
        .get(CHANGE_COUNTER_AT..)
        .and_then(|rest| rest.first_chunk())
        .map_or(0, |bytes| u32::from_be_bytes(*bytes))
}

/// A set of page numbers, one bit each.
#[derive(Default)]
struct PageSet(Vec<u64>);

impl PageSet {
    fn contains(&self, page_no: PageNo) -> bool {
        let (word, bit) = PageSet::place(page_no);
        self.0.get(word).is_some_and(|bits| bits & bit != 0)
    }

    fn insert(&mut self, page_no: PageNo) {
        let (word, bit) = PageSet::place(page_no);
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= bit;
    }

    fn place(page_no: PageNo) -> (usize, u64) {
        let no = page_no.get() as usize;
        (no / 64, 1 << (no % 64))
    }
}
