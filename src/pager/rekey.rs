//! Changing the key of a database: all pages are written again, in one transaction.
//!
//! Journals of that transaction are under the old key and what goes to the file is under the new
//! one (`attached`), so a crash leaves a file that opens with one of the two: with the old one as
//! long as the journal is there, as it holds page 1 with the old salt (`prove`). In WAL mode the new
//! pages are in the WAL until a checkpoint, and the file keeps its salt; where it has none yet, as it
//! was plain, the checkpoint follows at once.

use libsqlite3_sys as ffi;

use super::attached::{AttachedCodec, MAGIC};
use super::engine::Schema;
use super::state::{RekeyByVacuum, with_state};
use super::{Failure, Result, hook, keying};
use crate::codec::{Cipher, SaltSource};

/// Changes the key, the scheme, or both; encrypts a plain database; an empty key decrypts.
pub(super) fn rekey(schema: Schema, key: &[u8]) -> Result {
    let pager = schema.pager();
    if !pager.is_file() {
        return Err(Failure::new(
            "Rekeying not supported for in-memory or temporary databases.",
        ));
    }
    // Another database of the connection may be read: SQLite then keeps the read transaction of this
    // one open at its commit, with pages that the change of codec would free.
    if schema.has_active_statements() {
        return Err(Failure::new(
            "Rekeying is not possible while a statement is running",
        ));
    }
    if schema.in_transaction() {
        return Err(Failure::new(
            "Rekeying is not possible inside a transaction",
        ));
    }
    // A backup relies on how the pages are laid out.
    hook::refuse_while_in_use(schema)?;
    let config = keying::take_config(schema);
    let encrypted = is_encrypted(schema);
    if key.is_empty() && !encrypted {
        return Ok(());
    }
    if !encrypted {
        // The pager must ask us for each page, though there is nothing to decrypt with.
        hook::set_codec(schema, Some(AttachedCodec::new(None)))?;
    }
    let done = begin(schema, encrypted).and_then(|()| {
        let cipher = new_cipher(schema, &config, key)?;
        change(schema, cipher)
    });
    // After a success there is nothing to roll back.
    let rolled_back = schema.rollback().map_err(Failure::code);
    if done.is_ok() && !encrypted && pager.wal_is_open() {
        // The file still holds everything in clear, and a salt that only page 1 in the WAL knows. What cannot be copied now, as others still read the old pages, is copied by a later
        // checkpoint. The change itself is safe in the WAL.
        let _copied = schema.copy_wal();
    }
    if !is_encrypted(schema) {
        hook::set_codec(schema, None)?;
        if done.is_ok() {
            pager.page_1_was_read();
        }
    }
    done.and(rolled_back)
}

pub(super) fn is_encrypted(schema: Schema) -> bool {
    hook::with_codec(schema.pager(), |codec| codec.cipher().is_some()).unwrap_or(false)
}

/// Begins the transaction. The WAL of a plain database is emptied before: nothing of it in clear shall
/// stay in the WAL, and nobody may still need it. SQLITE_BUSY: somebody reads or writes.
fn begin(schema: Schema, encrypted: bool) -> Result {
    if !encrypted {
        schema.reading(|| Ok(())).map_err(Failure::code)?;
        if schema.pager().wal_is_open() {
            schema.empty_wal().map_err(Failure::code)?;
        }
    }
    schema.begin_write().map_err(Failure::code)
}

/// The cipher to write with. Inside the write transaction, as only there it is known whether the
/// database is in WAL mode.
fn new_cipher(
    schema: Schema,
    config: &crate::codec::CipherConfig,
    key: &[u8],
) -> Result<Option<Cipher>> {
    if key.is_empty() {
        return Ok(None);
    }
    // Compat: in WAL mode the salt stays that of the file, which may not be checkpointed yet when it is
    // opened next (__test__/api/48.database.rekey.js). A file that starts in clear has none to keep, as
    // long as the new key stores one.
    let in_wal = schema.pager().wal_is_open();
    let stores_salt = config.value("plaintext_header_size") == 0;
    let salt = match keying::salt_of_file(schema.pager()).map_err(Failure::code)? {
        Some(salt) if in_wal && !(stores_salt && salt == MAGIC) => SaltSource::FileHeader(salt),
        _ => SaltSource::New,
    };
    let cipher = keying::derive_with(config, key, salt)?;
    check_page_size(schema.page_size(), &cipher)?;
    Ok(Some(cipher))
}

/// A database keeps its page size; not every cipher can live with it.
pub(super) fn check_page_size(page_size: u32, cipher: &Cipher) -> Result {
    if cipher
        .page_size_override()
        .is_some_and(|wanted| wanted != page_size)
    {
        return Err(Failure::new(
            "Rekeying failed. Pagesize cannot be changed for an encrypted database.",
        ));
    }
    if page_size == 512 && cipher.reserve_len() > 32 {
        return Err(Failure::new(
            "Rekeying failed. The page size is too small for the cipher.",
        ));
    }
    Ok(())
}

/// Inside the write transaction; ends it.
fn change(schema: Schema, cipher: Option<Cipher>) -> Result {
    let reserve_len = cipher.as_ref().map_or(0, Cipher::reserve_len);
    let new = cipher.as_ref().map(Cipher::duplicate);
    let written = if reserve_len == schema.reserve_len() {
        rewrite_pages(schema, cipher)
    } else {
        schema.rollback().map_err(Failure::code)?;
        vacuum(schema, cipher, reserve_len)
    };
    settle(schema, written).or_else(|failure| {
        if new_key_counts(schema, new.as_ref())? {
            schema.set_secure_delete();
            return Ok(());
        }
        Err(failure)
    })
}

/// After an error: whether the change has taken place all the same. The commit of a rollback journal
/// is its deletion; what fails after that (shortening the file, syncing the directory) is reported,
/// and undoes nothing. The codec is then that of the new key. When page 1 cannot be read, the old key
/// stays.
fn new_key_counts(schema: Schema, new: Option<&Cipher>) -> Result<bool> {
    // What it reports has been reported; a journal that is left is played back at the next read.
    let _ = schema.rollback();
    let old = hook::with_codec(schema.pager(), |codec| {
        codec.cipher().map(Cipher::duplicate)
    });
    let old = old.flatten();
    let changed = match opens(schema, old.as_ref()) {
        Ok(true) => return Ok(false),
        Ok(false) => opens(schema, new) == Ok(true),
        Err(_) => false,
    };
    if !changed {
        hook::set_codec(schema, Some(AttachedCodec::new(old)))?;
    }
    Ok(changed)
}

/// Whether page 1 is that of a database under this cipher, which is attached (None: in clear).
fn opens(schema: Schema, cipher: Option<&Cipher>) -> Result<bool> {
    let fresh = AttachedCodec::new(cipher.map(Cipher::duplicate));
    hook::set_codec(schema, Some(fresh))?;
    match schema.reading(|| Ok(())) {
        Ok(()) => {}
        Err(ffi::SQLITE_NOTADB) => return Ok(false),
        Err(code) => return Err(Failure::code(code)),
    }
    // Without a tag any key may read a header; outside a WAL the salt tells two keys apart.
    let stored = cipher.filter(|cipher| cipher.salt_in_file());
    let Some(salt) = stored.and_then(Cipher::salt) else {
        return Ok(true);
    };
    let in_file = keying::salt_of_file(schema.pager()).map_err(Failure::code)?;
    Ok(schema.pager().wal_is_open() || in_file == Some(salt))
}

/// Rewrites a private database that holds a codec under another cipher, or in clear, with the reserved
/// bytes that go with it.
pub(super) fn convert(schema: Schema, cipher: Option<Cipher>) -> Result {
    let reserve_len = cipher.as_ref().map_or(0, Cipher::reserve_len);
    let written = vacuum(schema, cipher, reserve_len);
    settle(schema, written)
}

/// The new key counts from now on, or the old one again.
fn settle(schema: Schema, written: std::result::Result<(), i32>) -> Result {
    let pager = schema.pager();
    match written {
        Ok(()) => {
            hook::with_codec(pager, AttachedCodec::finish_rekey);
            schema.set_secure_delete();
            Ok(())
        }
        Err(code) => {
            // First the old key, then the rollback: it reads pages again.
            hook::with_codec(pager, AttachedCodec::abandon_rekey);
            Err(Failure::code(code))
        }
    }
}

fn rewrite_pages(schema: Schema, cipher: Option<Cipher>) -> std::result::Result<(), i32> {
    hook::with_codec(schema.pager(), |codec| codec.begin_rekey(cipher));
    for page_no in 1..=schema.page_count() {
        schema.rewrite_page(page_no)?;
    }
    schema.commit()
}

/// The content moves on its pages when the number of reserved bytes changes: that is a VACUUM.
fn vacuum(
    schema: Schema,
    cipher: Option<Cipher>,
    reserve_len: usize,
) -> std::result::Result<(), i32> {
    let copy = RekeyByVacuum {
        cipher: cipher.as_ref().map(Cipher::duplicate),
        reserve_len,
    };
    with_state(schema, |state| state.rekey_by_vacuum = Some(copy));
    hook::with_codec(schema.pager(), |codec| codec.begin_rekey(cipher));
    let done = schema.vacuum();
    with_state(schema, |state| state.rekey_by_vacuum = None);
    done
}
