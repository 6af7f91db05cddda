//! Databases from an image in memory. Making an image is in `pager::copy`, as it has to see clear pages.
#![expect(unsafe_code, reason = "hands SQLite memory that SQLite frees")]

use std::ptr::{self, NonNull};

use rusqlite::ffi;

use super::connection::{open_error, sqlite_error};
use crate::error::{Error, Result};

/// Opens a database in memory with a copy of `image` as its content; an empty one is an empty database.
pub(super) fn open(image: &[u8], read_only: bool) -> Result<rusqlite::Connection> {
    let connection = rusqlite::Connection::open_in_memory().map_err(open_error)?;
    if !image.is_empty() {
        fill(&connection, image, read_only)?;
    } else if read_only {
        // SQLite takes no image without bytes.
        connection
            .pragma_update(None, "query_only", true)
            .map_err(sqlite_error)?;
    }
    Ok(connection)
}

fn fill(connection: &rusqlite::Connection, image: &[u8], read_only: bool) -> Result<()> {
    let flags = ffi::SQLITE_DESERIALIZE_FREEONCLOSE
        | match read_only {
            true => ffi::SQLITE_DESERIALIZE_READONLY,
            false => ffi::SQLITE_DESERIALIZE_RESIZEABLE,
        };
    let len = i64::try_from(image.len()).map_err(|_| Error::of_code(ffi::SQLITE_TOOBIG))?;
    // SAFETY: any size may be asked for.
    let copy = NonNull::new(unsafe { ffi::sqlite3_malloc64(len.cast_unsigned()) })
        .ok_or_else(|| Error::of_code(ffi::SQLITE_NOMEM))?;
    // SAFETY: the memory is new and as long as the image.
    unsafe { ptr::copy_nonoverlapping(image.as_ptr(), copy.as_ptr().cast(), image.len()) };
    // SAFETY: the pointer is used for the next call alone.
    let db_ptr = unsafe { connection.handle() };
    // SAFETY: an open connection and memory of SQLite's own, which the flags make it free, also when
    // it fails.
    let rc = unsafe {
        ffi::sqlite3_deserialize(
            db_ptr,
            c"main".as_ptr(),
            copy.as_ptr().cast(),
            len,
            len,
            flags.cast_unsigned(),
        )
    };
    match rc {
        ffi::SQLITE_OK => Ok(()),
        code => Err(Error::of_code(code)),
    }
}
