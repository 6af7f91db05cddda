//! Setting the key of an open database, and copying one: ATTACH without KEY, VACUUM's copy.

use std::ffi::c_int;

use libsqlite3_sys as ffi;

use super::attached::{AttachedCodec, clear_header};
use super::engine::{Pager, Schema};
use super::hook;
use super::state::with_state;
use super::{Failure, Result, uri};
use crate::codec::{self, Cipher, CipherConfig, KeyError, Salt, SaltSource};

/// SQLite's page size for a new database.
const DEFAULT_PAGE_SIZE: u32 = 4096;

/// Sets the key of a database from a key string, under the settings of the connection. The key is
/// derived now and verified when page 1 is read. An empty key means no encryption; for an attached
/// database it changes nothing.
pub(super) fn key(schema: Schema, key: &[u8]) -> Result {
    if !schema.pager().is_file() {
        return Err(Failure::new(
            "Setting key not supported for in-memory or temporary databases.",
        ));
    }
    if key.is_empty() && schema.index() != 0 {
        return Ok(());
    }
    hook::refuse_while_in_use(schema)?;
    let cipher = if key.is_empty() {
        None
    } else {
        Some(derive(schema, key)?)
    };
    attach(schema, cipher)
}

/// The cipher that an ATTACH without KEY, or the file of VACUUM INTO, is given.
fn cipher_to_copy(main: Schema) -> Option<Cipher> {
    let source = with_state(main, |state| state.vacuum_source);
    source
        .and_then(|source| copy_of(main.sibling(source)))
        .or_else(|| copy_of(Some(main)))
}

/// Attaches a copied cipher to a database that has just been opened. A temporary one, such as VACUUM's
/// own copy, gets none: its file has a key that nobody knows (`vfs`).
pub(super) fn key_by_copy(schema: Schema) -> Result {
    let cipher = schema.main().and_then(cipher_to_copy);
    match cipher {
        Some(cipher) if !schema.pager().is_memory() => {
            with_state(schema, |state| state.settings.spend_params(cipher.scheme()));
            if schema.pager().is_file() {
                attach(schema, Some(cipher))
            } else {
                Ok(())
            }
        }
        _ => Ok(()),
    }
}

/// What the next cipher of the connection is made with.
pub(super) fn take_config(schema: Schema) -> CipherConfig {
    with_state(schema, |state| state.settings.take())
}

pub(super) fn derive_with(config: &CipherConfig, key: &[u8], salt: SaltSource) -> Result<Cipher> {
    codec::derive(config, key, salt).map_err(|error| match error {
        KeyError::RandomUnavailable => Failure::code(ffi::SQLITE_IOERR),
        KeyError::ParametersRefused => Failure::new("The cipher refuses its parameters"),
    })
}

/// The salt at the start of the database file; None for a file that is empty or shorter.
pub(super) fn salt_of_file(pager: Pager) -> std::result::Result<Option<Salt>, c_int> {
    let mut salt = Salt::default();
    Ok(pager.read_file(&mut salt, 0)?.then_some(salt))
}

/// Replaces the codec of a database; page size and reserve follow it.
pub(super) fn attach(schema: Schema, cipher: Option<Cipher>) -> Result {
    if cipher.is_some() {
        schema.set_secure_delete();
    }
    let layout = page_layout(schema, cipher.as_ref()).map_err(Failure::code)?;
    hook::set_codec(
        schema,
        cipher.map(|cipher| AttachedCodec::new(Some(cipher))),
    )?;
    schema
        .set_page_size(layout.page_size, layout.reserve_len, layout.fixed)
        .map_err(Failure::code)
}

struct Layout {
    page_size: u32,
    reserve_len: usize,
    /// They were read from the file.
    fixed: bool,
}

/// What a file says in clear counts, where the cipher leaves it in clear. Otherwise SQLite may have
/// taken cipher text for a page size when it opened the file: the cipher's word counts then, and the
/// header of page 1 once it is decrypted.
fn page_layout(schema: Schema, cipher: Option<&Cipher>) -> std::result::Result<Layout, c_int> {
    if cipher.is_none_or(Cipher::clear_header) {
        let mut header = [0; 24];
        if schema.pager().is_file()
            && schema.pager().read_file(&mut header, 0)?
            && let Some((page_size, reserve)) = clear_header(&header)
        {
            return Ok(Layout {
                page_size,
                reserve_len: usize::from(reserve),
                fixed: true,
            });
        }
    }
    let wanted = cipher
        .and_then(Cipher::page_size_override)
        .or(schema.wanted_page_size());
    Ok(Layout {
        page_size: wanted.unwrap_or(DEFAULT_PAGE_SIZE),
        reserve_len: cipher.map_or(0, Cipher::reserve_len),
        fixed: false,
    })
}

fn derive(schema: Schema, key: &[u8]) -> Result<Cipher> {
    let config = take_config(schema);
    let saved = with_state(schema, |state| state.saved_salt);
    let salt = match saved.or_else(|| uri::salt(schema)) {
        Some(salt) => SaltSource::Saved(salt),
        None => match salt_of_file(schema.pager()).map_err(Failure::code)? {
            Some(salt) => SaltSource::FileHeader(salt),
            None => SaltSource::New,
        },
    };
    derive_with(&config, key, salt)
}

/// The cipher of a database once more; it no longer knows the passphrase.
pub(super) fn copy_of(schema: Option<Schema>) -> Option<Cipher> {
    hook::with_codec(schema?.pager(), |codec| codec.copy_cipher()).flatten()
}
