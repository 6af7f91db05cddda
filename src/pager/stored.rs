//! The bytes of a database file as they are, read without a lock and without a key.
//!
//! A file that is opened and closed by other means takes the locks of this process on it with it
//! (POSIX has them so), also those of a transaction that another connection has open. SQLite knows
//! all its files of one process and closes none too early; so it is asked, and never begins to read
//! the database. What the bytes mean is in [`crate::inspect`].

use std::fs;
use std::path::{Path, PathBuf};

use libsqlite3_sys as ffi;
use rusqlite::{Connection, OpenFlags};

use super::engine::{self, Pager};
use crate::error::{Error, Result};

/// A file that is looked at.
pub(crate) struct StoredFile {
    connection: Connection,
    /// Where it is, links followed: `-wal` and `-journal` are beside it.
    path: PathBuf,
}

impl StoredFile {
    /// Opens an existing file for reading.
    pub(crate) fn open(path: &str) -> Result<Self> {
        // A pipe would be waited for, a directory has no bytes.
        if !fs::metadata(path).is_ok_and(|file| file.is_file()) {
            return Err(Error::of_code(ffi::SQLITE_CANTOPEN));
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        // Without this a name that starts with a colon, or an empty one, is no file.
        let absolute =
            std::path::absolute(path).map_err(|_| Error::of_code(ffi::SQLITE_CANTOPEN))?;
        let connection = Connection::open_with_flags(absolute, flags)
            .map_err(|_| Error::of_code(ffi::SQLITE_CANTOPEN))?;
        let path = connection.path().map(PathBuf::from).unwrap_or_default();
        Ok(StoredFile { connection, path })
    }

    /// The file of the same name with this behind it.
    pub(crate) fn beside(&self, suffix: &str) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(suffix);
        name.into()
    }

    /// Its length now.
    pub(crate) fn len(&self) -> u64 {
        len_of(&self.path)
    }

    /// Its first bytes: as many as fit, or all.
    pub(crate) fn head(&self, max_len: usize) -> Result<Vec<u8>> {
        let len = usize::try_from(self.len()).map_or(max_len, |len| len.min(max_len));
        let mut head = vec![0; len];
        // A file that shrinks meanwhile is zero beyond its end.
        self.pager()?
            .read_file(&mut head, 0)
            .map_err(Error::of_code)?;
        Ok(head)
    }

    /// Whether some connection is writing it, or about to.
    pub(crate) fn is_being_written(&self) -> Result<bool> {
        self.pager()?.is_being_written().map_err(Error::of_code)
    }

    fn pager(&self) -> Result<Pager> {
        engine::find_schema(&self.connection, c"main")
            .map(engine::Schema::pager)
            .ok_or_else(|| Error::of_code(ffi::SQLITE_INTERNAL))
    }
}

/// The length of a file, 0 when there is none. Asking for it opens nothing.
pub(crate) fn len_of(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |file| file.len())
}
