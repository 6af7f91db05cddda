//! A copy of a database that is made in steps: SQLite's backup, and the file that it fills.
//!
//! Under which key the file is written is in `pager::copy`; who steps, and how far, is in
//! `js::backup`. A file that was made for the copy vanishes with a copy that does not end well.
#![expect(
    unsafe_code,
    reason = "rusqlite's Backup borrows its connections, and this one must outlive a call"
)]

use std::ffi::{CStr, CString, c_int};
use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::rc::Rc;
use std::time::Duration;

use rusqlite::{OpenFlags, ffi};

use super::connection::{open_error, sqlite_error};
use crate::error::{Error, Result};

/// A running copy. The handle is first: it ends before its connections can.
pub(crate) struct RawBackup {
    handle: Handle,
    source: Rc<rusqlite::Connection>,
    destination: Destination,
}

struct Handle(NonNull<ffi::sqlite3_backup>);

/// The file that is filled, or a temporary database.
pub(crate) struct Destination {
    /// None: it is being closed.
    connection: Option<rusqlite::Connection>,
    /// The file, if it was made for the copy and is to vanish without it.
    unfinished: Option<PathBuf>,
}

/// How far a copy is.
#[derive(Clone, Copy)]
pub(crate) struct Progress {
    pub(crate) page_count: i32,
    pub(crate) remaining_count: i32,
}

const SAME_FILE: &str = "source and destination must be distinct";

impl Destination {
    /// Opens a file, or makes it. Not the file of the source itself.
    pub(crate) fn open(path: &str, source: &rusqlite::Connection, schema: &str) -> Result<Self> {
        if is_file_of(source, schema, Path::new(path))? {
            return Err(Error::Sqlite {
                code: ffi::SQLITE_ERROR,
                message: SAME_FILE.to_owned(),
            });
        }
        // Whatever keeps it from being made, SQLite meets it again and names it.
        let made = OpenOptions::new().write(true).create_new(true).open(path);
        let unfinished = made.is_ok().then(|| PathBuf::from(path));
        drop(made);
        let mut destination = Self {
            connection: None,
            unfinished,
        };
        destination.connection = Some(open_at_once(path)?);
        Ok(destination)
    }

    /// A temporary database, whose file has no name.
    pub(crate) fn temporary() -> Result<Self> {
        Ok(Self {
            connection: Some(open_at_once("")?),
            unfinished: None,
        })
    }

    pub(crate) fn connection(&self) -> &rusqlite::Connection {
        self.connection
            .as_ref()
            .expect("only `drop` and `into_connection` take it")
    }

    /// The connection of a temporary database, to read from.
    pub(crate) fn into_connection(mut self) -> rusqlite::Connection {
        self.connection
            .take()
            .expect("nothing else takes it but `drop`")
    }
}

impl Drop for Destination {
    fn drop(&mut self) {
        drop(self.connection.take());
        if let Some(path) = self.unfinished.take() {
            // It may be gone already; nobody is left to hear of another failure.
            let _outcome = fs::remove_file(path);
        }
    }
}

impl RawBackup {
    /// Prepares the copy of one database; nothing is read or locked yet.
    pub(crate) fn new(
        source: &Rc<rusqlite::Connection>,
        schema: &str,
        destination: Destination,
    ) -> Result<Self> {
        let schema = CString::new(schema).map_err(|_| Error::of_code(ffi::SQLITE_ERROR))?;
        // SAFETY: it stays open as long as the backup, which keeps it.
        let from = unsafe { source.handle() };
        // SAFETY: as above.
        let to = unsafe { destination.connection().handle() };
        let main = c"main".as_ptr();
        // SAFETY: open connections of this thread; names that end with NUL.
        let ptr = unsafe { ffi::sqlite3_backup_init(to, main, from, schema.as_ptr()) };
        let ptr = NonNull::new(ptr).ok_or_else(|| {
            // SAFETY: an open connection, which holds the error.
            Error::of_code(unsafe { ffi::sqlite3_extended_errcode(to) })
        })?;
        Ok(Self {
            handle: Handle(ptr),
            source: Rc::clone(source),
            destination,
        })
    }

    /// Copies up to `page_count` pages; the copy is complete, and stays, when none remain.
    ///
    /// A database that is locked fails at once with `SQLITE_BUSY` or `SQLITE_LOCKED`: the next step
    /// may succeed. After any other failure the copy is lost.
    pub(crate) fn step(&mut self, page_count: i32) -> Result<Progress> {
        let rc = at_once(&self.source, || {
            // SAFETY: a live backup; both of its connections are open and used by this thread alone.
            Ok(unsafe { ffi::sqlite3_backup_step(self.handle.0.as_ptr(), page_count) })
        })?;
        if rc != ffi::SQLITE_OK && rc != ffi::SQLITE_DONE {
            return Err(Error::of_code(rc));
        }
        if rc == ffi::SQLITE_DONE {
            self.destination.unfinished = None;
        }
        Ok(self.progress())
    }

    /// Copies everything at once and gives the copy.
    pub(crate) fn run(mut self) -> Result<Destination> {
        const ALL: c_int = -1;
        self.step(ALL)?;
        let Self {
            handle,
            destination,
            ..
        } = self;
        drop(handle);
        Ok(destination)
    }

    fn progress(&self) -> Progress {
        Progress {
            // SAFETY: a live backup.
            page_count: unsafe { ffi::sqlite3_backup_pagecount(self.handle.0.as_ptr()) },
            // SAFETY: a live backup.
            remaining_count: unsafe { ffi::sqlite3_backup_remaining(self.handle.0.as_ptr()) },
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: a live backup that nobody uses any more; its connections are open. The result
        // repeats the failure of the last step.
        let _rc = unsafe { ffi::sqlite3_backup_finish(self.0.as_ptr()) };
    }
}

/// How long the connection waits for a lock.
pub(crate) fn busy_timeout(connection: &rusqlite::Connection) -> Result<Duration> {
    connection
        .pragma_query_value(None, "busy_timeout", |row| row.get::<_, u32>(0))
        .map(|milliseconds| Duration::from_millis(milliseconds.into()))
        .map_err(sqlite_error)
}

/// Runs `body` while the connection does not wait for locks: the caller waits, without blocking.
pub(crate) fn at_once<R>(
    connection: &rusqlite::Connection,
    body: impl FnOnce() -> Result<R>,
) -> Result<R> {
    let patience = busy_timeout(connection)?;
    let set = |timeout| connection.busy_timeout(timeout).map_err(sqlite_error);
    set(Duration::ZERO)?;
    let done = body();
    set(patience)?;
    done
}

/// A connection that does not wait for locks.
fn open_at_once(path: &str) -> Result<rusqlite::Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let connection = rusqlite::Connection::open_with_flags(path, flags).map_err(open_error)?;
    connection
        .busy_timeout(Duration::ZERO)
        .map_err(sqlite_error)?;
    Ok(connection)
}

/// Whether `path` is the file of this database, by whatever name.
fn is_file_of(source: &rusqlite::Connection, schema: &str, path: &Path) -> Result<bool> {
    let schema = CString::new(schema).map_err(|_| Error::of_code(ffi::SQLITE_ERROR))?;
    // SAFETY: the pointer is used for this call alone.
    let db_ptr = unsafe { source.handle() };
    // SAFETY: an open connection and a name that ends with NUL.
    let name_ptr = unsafe { ffi::sqlite3_db_filename(db_ptr, schema.as_ptr()) };
    if name_ptr.is_null() {
        return Ok(false);
    }
    // SAFETY: a text that stays as long as the database is attached.
    let name = unsafe { CStr::from_ptr(name_ptr) }.to_string_lossy();
    Ok(is_same_file(Path::new(name.as_ref()), path))
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let place = |path: &Path| fs::metadata(path).map(|file| (file.dev(), file.ino())).ok();
        place(one).is_some_and(|found| place(other) == Some(found))
    }
    #[cfg(not(unix))]
    {
        let place = |path: &Path| fs::canonicalize(path).ok();
        place(one).is_some_and(|found| place(other) == Some(found))
    }
}
