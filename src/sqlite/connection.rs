//! One open database: opening, limits, closing.
//!
//! The connection can be closed at any time: it finalizes its statements then, and each
//! [`Statement`] that is still held finds itself empty. Which statements stay compiled until then
//! is in `kept`, stepping in `step`.

use std::cell::{Ref, RefCell};
use std::rc::Rc;
use std::time::Duration;

use rusqlite::OpenFlags;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;

use super::kept::{Handle, Kept, Statement};
use super::step::{RawStatement, Use};
use super::{extension, serialize};
use crate::error::{Error, Result};

/// An open or closed connection.
pub(crate) struct Connection {
    handle: Handle,
    statements: Rc<Kept>,
}

/// How to open a file.
#[derive(Clone, Copy)]
pub(crate) enum OpenMode {
    Read,
    Write,
    Create,
}

/// Strings and blobs up to the longest string V8 can hold, so that any of them can be read.
const MAX_VALUE_LEN: i32 = (1 << 29) - 24;

impl Connection {
    /// Opens `path` with the defaults of this library.
    pub(crate) fn open(
        path: &str,
        mode: OpenMode,
        use_uri: bool,
        busy_timeout: Duration,
    ) -> Result<Self> {
        let mut flags = match mode {
            OpenMode::Read => OpenFlags::SQLITE_OPEN_READ_ONLY,
            OpenMode::Write => OpenFlags::SQLITE_OPEN_READ_WRITE,
            OpenMode::Create => OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
        };
        flags.set(OpenFlags::SQLITE_OPEN_URI, use_uri);
        let handle = rusqlite::Connection::open_with_flags(path, flags).map_err(open_error)?;
        Self::with_defaults(handle, busy_timeout)
    }

    /// Opens a private copy of a database image.
    pub(crate) fn open_image(image: &[u8], mode: OpenMode, busy_timeout: Duration) -> Result<Self> {
        let handle = serialize::open(image, matches!(mode, OpenMode::Read))?;
        Self::with_defaults(handle, busy_timeout)
    }

    fn with_defaults(handle: rusqlite::Connection, busy_timeout: Duration) -> Result<Self> {
        handle.busy_timeout(busy_timeout).map_err(sqlite_error)?;
        for limit in [Limit::SQLITE_LIMIT_LENGTH, Limit::SQLITE_LIMIT_SQL_LENGTH] {
            handle
                .set_limit(limit, MAX_VALUE_LEN)
                .map_err(sqlite_error)?;
        }
        extension::enable(&handle)?;
        let handle = Handle::new(RefCell::new(Some(Rc::new(handle))));
        let connection = Self {
            statements: Kept::new(&handle),
            handle,
        };
        connection.set_defensive(true)?;
        Ok(connection)
    }

    /// The connection of rusqlite, or None after `close`.
    pub(crate) fn handle(&self) -> Option<Ref<'_, Rc<rusqlite::Connection>>> {
        Ref::filter_map(self.handle.borrow(), Option::as_ref).ok()
    }

    pub(crate) fn is_open(&self) -> bool {
        self.handle.borrow().is_some()
    }

    pub(crate) fn in_transaction(&self) -> bool {
        self.handle().is_some_and(|handle| !handle.is_autocommit())
    }

    /// Forbids (or allows) what can corrupt the file from SQL.
    pub(crate) fn set_defensive(&self, on: bool) -> Result<()> {
        let Some(handle) = self.handle() else {
            return Ok(());
        };
        handle
            .set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, on)
            .map_err(sqlite_error)?;
        Ok(())
    }

    /// Compiles the first statement of `sql`, to be used within the running call.
    ///
    /// `sql` ends with a NUL. None when there is no statement; also says how many bytes were read.
    pub(crate) fn compile(&self, sql: &[u8], usage: Use) -> Result<(Option<RawStatement>, usize)> {
        let handle = Rc::clone(&*self.handle().ok_or_else(closed)?);
        RawStatement::prepare(&handle, sql, usage)
    }

    /// Takes charge of a statement for as long as the result is held.
    pub(crate) fn keep(&self, raw: RawStatement) -> Statement {
        self.statements.keep(raw)
    }

    /// Finalizes all statements and closes the file; nothing when it is closed already.
    ///
    /// Fails, with nothing lost but idle statements, when a statement is running.
    pub(crate) fn close(&self) -> Result<()> {
        self.statements.close();
        let Some(shared) = self.handle.borrow_mut().take() else {
            return Ok(());
        };
        let handle = match Rc::try_unwrap(shared) {
            Ok(handle) => handle,
            Err(shared) => {
                *self.handle.borrow_mut() = Some(shared);
                return Err(Error::of_code(rusqlite::ffi::SQLITE_BUSY));
            }
        };
        handle.close().map_err(|(handle, error)| {
            *self.handle.borrow_mut() = Some(Rc::new(handle));
            sqlite_error(error)
        })
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // Nobody is left to hear of a failure; rusqlite tries once more when it drops the handle.
        let _outcome = self.close();
    }
}

fn closed() -> Error {
    Error::of_code(rusqlite::ffi::SQLITE_MISUSE)
}

/// An error of a call that has no statement.
pub(super) fn sqlite_error(error: rusqlite::Error) -> Error {
    match error {
        rusqlite::Error::SqliteFailure(failure, Some(message)) => Error::Sqlite {
            code: failure.extended_code,
            message,
        },
        rusqlite::Error::SqliteFailure(failure, None) => Error::of_code(failure.extended_code),
        other => Error::Internal(other.to_string().into()),
    }
}

/// Opening fails with SQLite's general text: rusqlite puts the path into its own.
pub(super) fn open_error(error: rusqlite::Error) -> Error {
    match error {
        rusqlite::Error::SqliteFailure(failure, _) => Error::of_code(failure.extended_code),
        other => sqlite_error(other),
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;

    use super::super::step::Step;
    use super::*;

    fn memory() -> Connection {
        Connection::open(":memory:", OpenMode::Create, false, Duration::ZERO).unwrap()
    }

    fn keep(connection: &Connection, sql: &CStr) -> Statement {
        connection.keep(
            connection
                .compile(sql.to_bytes_with_nul(), Use::Once)
                .unwrap()
                .0
                .unwrap(),
        )
    }

    #[test]
    fn closing_empties_the_statements() {
        let connection = memory();
        let statement = keep(&connection, c"select 1");
        assert!(statement.get().unwrap().is_some());
        connection.close().unwrap();
        assert!(statement.get().unwrap().is_none());
        assert!(!connection.is_open());
        connection.close().unwrap();
    }

    #[test]
    fn closing_is_refused_while_a_statement_is_borrowed() {
        let connection = memory();
        let statement = keep(&connection, c"select 1 union select 2");
        let mut raw = statement.get_mut().unwrap().unwrap();
        assert!(raw.step().unwrap() == Step::Row);
        assert!(connection.close().is_err());
        assert!(connection.is_open());
        drop(raw);
        connection.close().unwrap();
    }
}
