//! One open database and every statement prepared on it.
//!
//! The connection can be closed at any time: it finalizes its statements then, and each
//! [`Statement`] that is still held finds itself empty. Stepping is in `step`.

use std::cell::{Ref, RefCell, RefMut};
use std::rc::{Rc, Weak};
use std::time::Duration;

use rusqlite::OpenFlags;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;

use super::step::{RawStatement, Use};
use super::{extension, serialize};
use crate::error::{Error, Result};

/// An open or closed connection.
pub(crate) struct Connection {
    handle: RefCell<Option<Rc<rusqlite::Connection>>>,
    statements: Rc<Registry>,
}

/// A statement that its connection can take away.
pub(crate) struct Statement {
    slot: Rc<Slot>,
    place: usize,
    registry: Rc<Registry>,
}

/// How to open a file.
#[derive(Clone, Copy)]
pub(crate) enum OpenMode {
    Read,
    Write,
    Create,
}

/// The statement, until the connection closes.
type Slot = RefCell<Option<RawStatement>>;

/// The places of the statements of one connection.
#[derive(Default)]
struct Registry {
    places: RefCell<Places>,
}

#[derive(Default)]
struct Places {
    slots: Vec<Weak<Slot>>,
    free: Vec<usize>,
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
        let connection = Self {
            handle: RefCell::new(Some(Rc::new(handle))),
            statements: Rc::default(),
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
        let slot = Rc::new(RefCell::new(Some(raw)));
        let place = self.statements.add(&slot);
        Statement {
            slot,
            place,
            registry: Rc::clone(&self.statements),
        }
    }

    /// Finalizes all statements and closes the file; nothing when it is closed already.
    ///
    /// Fails, with nothing lost but idle statements, when a statement is running.
    pub(crate) fn close(&self) -> Result<()> {
        self.statements.empty();
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

impl Statement {
    /// The statement, for reading its descriptions; None after the connection closed.
    pub(crate) fn get(&self) -> Option<Ref<'_, RawStatement>> {
        Ref::filter_map(self.slot.try_borrow().ok()?, Option::as_ref).ok()
    }

    /// The statement, for running it; None after the connection closed or while it runs already.
    pub(crate) fn get_mut(&self) -> Option<RefMut<'_, RawStatement>> {
        RefMut::filter_map(self.slot.try_borrow_mut().ok()?, Option::as_mut).ok()
    }
}

impl Drop for Statement {
    fn drop(&mut self) {
        self.registry.remove(self.place);
    }
}

impl Registry {
    fn add(&self, slot: &Rc<Slot>) -> usize {
        let mut places = self.places.borrow_mut();
        let weak = Rc::downgrade(slot);
        if let Some(place) = places.free.pop() {
            places.slots[place] = weak;
            return place;
        }
        places.slots.push(weak);
        places.slots.len() - 1
    }

    fn remove(&self, place: usize) {
        let mut places = self.places.borrow_mut();
        places.slots[place] = Weak::new();
        places.free.push(place);
    }

    /// Finalizes every statement that is not running.
    fn empty(&self) {
        let slots: Vec<_> = self
            .places
            .borrow()
            .slots
            .iter()
            .filter_map(Weak::upgrade)
            .collect();
        for slot in slots {
            let Ok(mut raw) = slot.try_borrow_mut() else {
                continue;
            };
            drop(raw.take());
        }
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
        assert!(statement.get().is_some());
        connection.close().unwrap();
        assert!(statement.get().is_none());
        assert!(!connection.is_open());
        connection.close().unwrap();
    }

    #[test]
    fn closing_is_refused_while_a_statement_is_borrowed() {
        let connection = memory();
        let statement = keep(&connection, c"select 1 union select 2");
        let mut raw = statement.get_mut().unwrap();
        assert!(raw.step().unwrap() == Step::Row);
        assert!(connection.close().is_err());
        assert!(connection.is_open());
        drop(raw);
        connection.close().unwrap();
    }

    #[test]
    fn a_dropped_statement_gives_its_place_to_the_next() {
        let connection = memory();
        let first = keep(&connection, c"select 1").place;
        assert_eq!(keep(&connection, c"select 2").place, first);
    }
}
