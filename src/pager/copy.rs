//! A copy of a database under its own key, another one or none: what a backup and an image need to
//! know of keys.
//!
//! SQLite copies pages byte for byte (`sqlite::backup`), so the copy must reserve as many bytes of
//! each page as the source does. Where its scheme wants another number, the pages go to a database
//! between the two first, which is then converted the way a rekey does it.

use libsqlite3_sys as ffi;
use rusqlite::Connection;
use zeroize::Zeroizing;

use super::attached::AttachedCodec;
use super::engine::{self, Schema};
use super::state::with_state;
use super::{Failure, hook, keying, rekey};
use crate::codec::{Cipher, CipherConfig, SaltSource, Settings, find_scheme};
use crate::error::{Error, Result};

/// What the copy is encrypted with.
pub(crate) enum CopyKey {
    /// Scheme, key and salt of the source; a plain database stays plain.
    Same,
    /// Nothing.
    Clear,
    /// Another key, under the named scheme, or else under what the source has.
    New {
        scheme: Option<String>,
        key: Zeroizing<Vec<u8>>,
    },
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Error {
        match failure.message {
            Some(message) => Error::Sqlite {
                code: failure.code,
                message: message.to_owned(),
            },
            None => Error::of_code(failure.code),
        }
    }
}

/// Reads page 1: afterwards page size and reserve are known. Fails when the key is not the right one
/// and when the database is locked.
pub(crate) fn read_page_1(source: &Connection, name: &str) -> Result<()> {
    let schema = find(source, name)?;
    schema.reading(|| Ok(())).map_err(Error::of_code)
}

/// The whole database in clear, as the connection sees it now; as long as nothing was ever written,
/// that of an empty database.
pub(crate) fn image(source: &Connection, name: &str) -> Result<Vec<u8>> {
    let schema = find(source, name)?;
    let image = pages(schema)?;
    if image.is_empty() {
        let empty = empty(schema.page_size()).map_err(|_| Error::of_code(ffi::SQLITE_NOMEM))?;
        return pages(find(&empty, "main")?);
    }
    Ok(image)
}

/// A database in memory that never held anything but has its first page.
fn empty(page_size: u32) -> rusqlite::Result<Connection> {
    let connection = Connection::open_in_memory()?;
    connection.pragma_update(None, "page_size", page_size)?;
    connection.execute_batch("BEGIN IMMEDIATE; COMMIT")?;
    Ok(connection)
}

fn pages(schema: Schema) -> Result<Vec<u8>> {
    let copied = schema.reading(|| {
        let page_len = schema.page_size() as usize;
        let page_count = schema.page_count();
        let mut image = Vec::new();
        image
            .try_reserve_exact(page_len * page_count as usize)
            .map_err(|_| ffi::SQLITE_NOMEM)?;
        image.resize(page_len * page_count as usize, 0);
        for (page_no, page) in (1..).zip(image.chunks_exact_mut(page_len)) {
            schema.copy_page(page_no, page)?;
        }
        Ok(image)
    });
    copied.map_err(Error::of_code)
}

/// Gives a freshly opened file the key of the copy. True: pages can be copied as they are; otherwise
/// by way of a database `between`.
///
/// The salt is that of the source for its own key. For another key it is that of the file if the
/// file has content, and a new one if not.
pub(crate) fn key_copy(
    source: &Connection,
    name: &str,
    copy: &Connection,
    key: &CopyKey,
) -> Result<bool> {
    let (source, copy) = (find(source, name)?, find(copy, "main")?);
    let cipher = match key {
        CopyKey::Same => keying::copy_of(Some(source)),
        CopyKey::Clear => None,
        CopyKey::New { scheme, key } => {
            let cipher = new_cipher(source, copy, scheme.as_deref(), key)?;
            rekey::check_page_size(source.page_size(), &cipher)?;
            Some(cipher)
        }
    };
    let reserve_len = match (key, &cipher) {
        (CopyKey::Same, _) => source.reserve_len(),
        (_, None) if !rekey::is_encrypted(source) => source.reserve_len(),
        (_, cipher) => cipher.as_ref().map_or(0, Cipher::reserve_len),
    };
    keying::attach(copy, cipher)?;
    Ok(reserve_len == source.reserve_len())
}

/// Prepares an empty temporary database to take the pages of the source as they are.
pub(crate) fn key_between(source: &Connection, name: &str, between: &Connection) -> Result<()> {
    let (source, between) = (find(source, name)?, find(between, "main")?);
    if let Some(vfs) = source.vfs().filter(|vfs| vfs.directory().is_some()) {
        between.set_vfs(vfs);
    }
    // Nothing is encrypted, as the file has a key that nobody knows; but once the pages are there, no
    // codec can be attached any more.
    hook::set_codec(between, Some(AttachedCodec::new(None)))?;
    between
        .set_page_size(source.page_size(), source.reserve_len(), false)
        .map_err(Error::of_code)
}

/// Converts the pages of the database between to what the copy is keyed with.
pub(crate) fn convert_between(between: &Connection, copy: &Connection) -> Result<()> {
    let cipher = keying::copy_of(Some(find(copy, "main")?));
    Ok(rekey::convert(find(between, "main")?, cipher)?)
}

fn new_cipher(source: Schema, copy: Schema, scheme: Option<&str>, key: &[u8]) -> Result<Cipher> {
    let salt = match keying::salt_of_file(copy.pager()).map_err(Error::of_code)? {
        Some(salt) => SaltSource::FileHeader(salt),
        None => SaltSource::New,
    };
    Ok(keying::derive_with(&config(source, scheme)?, key, salt)?)
}

/// A named scheme has its default parameters. Without a name it is as for a rekey to the scheme that
/// the source has; the settings of the connection count for a plain source.
fn config(source: Schema, scheme: Option<&str>) -> Result<CipherConfig> {
    if let Some(name) = scheme {
        let scheme = find_scheme(name).ok_or_else(|| Error::Sqlite {
            code: ffi::SQLITE_ERROR,
            message: format!("Cipher '{name}' unknown."),
        })?;
        return Ok(Settings::for_scheme(scheme).config());
    }
    let of_source = hook::with_codec(source.pager(), |codec| {
        codec.cipher().map(|cipher| cipher.config().clone())
    });
    Ok(of_source
        .flatten()
        .unwrap_or_else(|| with_state(source, |state| state.settings.config())))
}

fn find(connection: &Connection, name: &str) -> Result<Schema> {
    std::ffi::CString::new(name)
        .ok()
        .and_then(|c_name| engine::find_schema(connection, &c_name))
        .ok_or_else(|| Error::Sqlite {
            code: ffi::SQLITE_ERROR,
            message: format!("unknown database {name}"),
        })
}
