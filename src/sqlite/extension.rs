//! Loading of SQLite extensions.
//!
//! Loading is possible from the API alone: the SQL function `load_extension()` stays refused.

#![expect(
    unsafe_code,
    reason = "an extension is foreign machine code, and rusqlite has no safe call for it"
)]

use std::path::Path;

use rusqlite::ffi;

use crate::error::{Error, Result};

const NUL_IN_NAME: &str =
    "The path and the entry point of an extension cannot contain a NUL character";

/// Lets the API (not SQL) load extensions on this connection.
pub(crate) fn enable(connection: &rusqlite::Connection) -> Result<()> {
    let (on, unasked) = (1, std::ptr::null_mut::<std::ffi::c_int>());
    let option = ffi::SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION;
    // SAFETY: the pointer is used for this call alone.
    let db_ptr = unsafe { connection.handle() };
    // SAFETY: an open connection; this option takes an int and a pointer to an int or null.
    let rc = unsafe { ffi::sqlite3_db_config(db_ptr, option, on, unasked) };
    if rc == ffi::SQLITE_OK {
        Ok(())
    } else {
        Err(Error::of_code(rc))
    }
}

/// Loads the extension at `path` and runs its entry point.
pub(crate) fn load(
    connection: &rusqlite::Connection,
    path: &str,
    entry_point: Option<&str>,
) -> Result<()> {
    // SAFETY: running the code of this extension is what the caller of the public method asked for.
    let loaded = unsafe { connection.load_extension(Path::new(path), entry_point) };
    loaded.map_err(|error| match error {
        rusqlite::Error::SqliteFailure(failure, message) => Error::Sqlite {
            code: failure.extended_code,
            message: message.unwrap_or_else(|| "the extension gave no reason".to_owned()),
        },
        rusqlite::Error::NulError(_) => Error::of_type(NUL_IN_NAME),
        other => Error::of_type(other.to_string()),
    })
}
