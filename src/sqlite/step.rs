//! A prepared statement: prepare, bind, step, reset, read columns.
//!
//! The only file that holds `sqlite3_stmt` pointers. Who keeps a statement, and when it must go
//! because its connection closes, is in `connection`. A statement keeps its connection alive, and
//! whatever it lends out (a column, a name) borrows it, so the next step waits for that to end.

#![expect(
    unsafe_code,
    reason = "rusqlite ties a statement to a borrow of its connection"
)]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{self, NonNull};
use std::rc::Rc;
use std::slice;

use rusqlite::ffi;

use super::sql_text::message_without_key;
use crate::error::{Error, Result};

/// A prepared statement of one connection.
pub(crate) struct RawStatement {
    ptr: NonNull<ffi::sqlite3_stmt>,
    connection: Rc<rusqlite::Connection>,
    /// What `reprepare_count` starts from.
    earlier_count: c_int,
}

/// What a step led to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Row,
    Done,
}

/// One value of the current row.
#[derive(Clone, Copy)]
pub(crate) enum Column<'s> {
    Null,
    Integer(i64),
    Real(f64),
    Text(&'s [u8]),
    Blob(&'s [u8]),
}

/// One value for a parameter.
#[derive(Clone, Copy)]
pub(crate) enum Bound<'v> {
    Null,
    Integer(i64),
    Real(f64),
    Text(&'v [u8]),
    Blob(&'v [u8]),
}

/// Where a result column comes from.
#[derive(Clone, Copy)]
pub(crate) enum Origin {
    Column,
    Table,
    Database,
    DeclaredType,
}

/// How long a statement is expected to be used.
#[derive(Clone, Copy)]
pub(crate) enum Use {
    Once,
    Often,
}

impl RawStatement {
    /// Compiles the first statement of `sql`, which ends with a NUL; also says how many bytes it took.
    ///
    /// None when there is nothing but white space and comments.
    pub(crate) fn prepare(
        connection: &Rc<rusqlite::Connection>,
        sql: &[u8],
        usage: Use,
    ) -> Result<(Option<Self>, usize)> {
        assert_eq!(sql.last(), Some(&0), "SQL is handed over with its NUL");
        let flags = match usage {
            Use::Once => 0,
            Use::Often => ffi::SQLITE_PREPARE_PERSISTENT.cast_unsigned(),
        };
        // The length with the NUL spares SQLite a copy; a longer text is refused as too big.
        let len = c_int::try_from(sql.len()).unwrap_or(c_int::MAX);
        let start = sql.as_ptr().cast::<c_char>();
        let (mut out, mut tail) = (ptr::null_mut(), start);
        let db_ptr = db_ptr(connection);
        // SAFETY: an open connection, a NUL-terminated text of that length, out pointers of ours.
        let rc = unsafe {
            ffi::sqlite3_prepare_v3(db_ptr, start, len, flags, &raw mut out, &raw mut tail)
        };
        if rc != ffi::SQLITE_OK {
            return Err(error_of(connection));
        }
        let taken = tail.addr() - start.addr();
        let statement = NonNull::new(out).map(|ptr| Self {
            ptr,
            connection: Rc::clone(connection),
            earlier_count: 0,
        });
        Ok((statement, taken))
    }

    /// Goes to the next row.
    pub(crate) fn step(&mut self) -> Result<Step> {
        // SAFETY: a live statement, not in use elsewhere (`&mut self`).
        match unsafe { ffi::sqlite3_step(self.ptr.as_ptr()) } {
            ffi::SQLITE_ROW => Ok(Step::Row),
            ffi::SQLITE_DONE => Ok(Step::Done),
            _ => Err(error_of(&self.connection)),
        }
    }

    /// Ends the execution; reports what failed in it or while ending it.
    pub(crate) fn reset(&mut self) -> Result<()> {
        // SAFETY: a live statement, not in use elsewhere.
        let rc = unsafe { ffi::sqlite3_reset(self.ptr.as_ptr()) };
        if rc == ffi::SQLITE_OK {
            Ok(())
        } else {
            Err(error_of(&self.connection))
        }
    }

    /// Sets all parameters to NULL.
    ///
    /// One by one: SQLite takes `sqlite3_clear_bindings` for a reason to compile a statement again when
    /// a value of a parameter (`WHERE folder = ? ORDER BY …`) could have changed its plan.
    pub(crate) fn clear_bindings(&mut self) {
        let ptr = self.ptr.as_ptr();
        for index in 1..=self.parameter_count() {
            let index = c_int::try_from(index).unwrap_or(c_int::MAX);
            // SAFETY: a live statement, not in use elsewhere. It cannot fail but by a bad index.
            let _rc = unsafe { ffi::sqlite3_bind_null(ptr, index) };
        }
    }

    /// Sets parameter `index` (from 1); text and bytes are copied.
    pub(crate) fn bind(&mut self, index: usize, value: Bound<'_>) -> Result<()> {
        let ptr = self.ptr.as_ptr();
        let index = c_int::try_from(index).unwrap_or(c_int::MAX);
        let rc = match value {
            // SAFETY: a live statement, not in use elsewhere; SQLite checks the index.
            Bound::Null => unsafe { ffi::sqlite3_bind_null(ptr, index) },
            // SAFETY: as above.
            Bound::Integer(number) => unsafe { ffi::sqlite3_bind_int64(ptr, index, number) },
            // SAFETY: as above.
            Bound::Real(number) => unsafe { ffi::sqlite3_bind_double(ptr, index, number) },
            Bound::Text(text) => {
                let (start, len) = (text.as_ptr().cast::<c_char>(), text.len() as u64);
                // SAFETY: as above; SQLite copies the text before it returns (TRANSIENT).
                unsafe {
                    ffi::sqlite3_bind_text64(ptr, index, start, len, ffi::SQLITE_TRANSIENT(), UTF8)
                }
            }
            // SAFETY: as above. An empty slice would be a null pointer's twin, NULL, to SQLite.
            Bound::Blob([]) => unsafe { ffi::sqlite3_bind_zeroblob(ptr, index, 0) },
            Bound::Blob(bytes) => {
                let (start, len) = (bytes.as_ptr().cast::<c_void>(), bytes.len() as u64);
                // SAFETY: as above; SQLite copies the bytes before it returns (TRANSIENT).
                unsafe { ffi::sqlite3_bind_blob64(ptr, index, start, len, ffi::SQLITE_TRANSIENT()) }
            }
        };
        match rc {
            ffi::SQLITE_OK => Ok(()),
            // The connection's own text is not set by every refusal to bind.
            _ => Err(Error::of_code(rc)),
        }
    }

    /// The number of parameters (of the highest numbered one).
    pub(crate) fn parameter_count(&self) -> usize {
        // SAFETY: a live statement.
        count(unsafe { ffi::sqlite3_bind_parameter_count(self.ptr.as_ptr()) })
    }

    /// The name of parameter `index` (from 1) with its prefix; None for `?`.
    pub(crate) fn parameter_name(&self, index: usize) -> Option<&CStr> {
        let index = c_int::try_from(index).ok()?;
        // SAFETY: a live statement; SQLite checks the index.
        let name_ptr = unsafe { ffi::sqlite3_bind_parameter_name(self.ptr.as_ptr(), index) };
        // SAFETY: null or a name that lives as long as the statement.
        unsafe { text_at(name_ptr) }
    }

    /// The number of result columns.
    pub(crate) fn column_count(&self) -> usize {
        // SAFETY: a live statement.
        count(unsafe { ffi::sqlite3_column_count(self.ptr.as_ptr()) })
    }

    /// The name of result column `index` (from 0).
    pub(crate) fn column_name(&self, index: usize) -> Result<&CStr> {
        let index = c_int::try_from(index).unwrap_or(c_int::MAX);
        // SAFETY: a live statement; SQLite checks the index.
        let name_ptr = unsafe { ffi::sqlite3_column_name(self.ptr.as_ptr(), index) };
        // SAFETY: null when memory ran out, or a name that stays until the next prepare or step,
        // which need `&mut self`.
        unsafe { text_at(name_ptr) }.ok_or_else(|| Error::of_code(ffi::SQLITE_NOMEM))
    }

    /// The origin of result column `index` (from 0); None for an expression.
    pub(crate) fn column_origin(&self, index: usize, origin: Origin) -> Option<&CStr> {
        let index = c_int::try_from(index).ok()?;
        let read = match origin {
            Origin::Column => ffi::sqlite3_column_origin_name,
            Origin::Table => ffi::sqlite3_column_table_name,
            Origin::Database => ffi::sqlite3_column_database_name,
            Origin::DeclaredType => ffi::sqlite3_column_decltype,
        };
        // SAFETY: a live statement; SQLite checks the index.
        let name_ptr = unsafe { read(self.ptr.as_ptr(), index) };
        // SAFETY: as in `column_name`.
        unsafe { text_at(name_ptr) }
    }

    /// The value of column `index` (from 0) of the current row.
    pub(crate) fn column(&self, index: usize) -> Result<Column<'_>> {
        let ptr = self.ptr.as_ptr();
        let index = c_int::try_from(index).unwrap_or(c_int::MAX);
        // SAFETY: a live statement; for a bad index or without a row SQLite answers NULL.
        Ok(match unsafe { ffi::sqlite3_column_type(ptr, index) } {
            ffi::SQLITE_INTEGER => {
                // SAFETY: as above.
                Column::Integer(unsafe { ffi::sqlite3_column_int64(ptr, index) })
            }
            ffi::SQLITE_FLOAT => {
                // SAFETY: as above.
                Column::Real(unsafe { ffi::sqlite3_column_double(ptr, index) })
            }
            ffi::SQLITE_TEXT => {
                // SAFETY: as above; asked before the length, as this may convert to UTF-8.
                let start = unsafe { ffi::sqlite3_column_text(ptr, index) };
                Column::Text(self.bytes_at(start, index)?)
            }
            ffi::SQLITE_BLOB => {
                // SAFETY: as above.
                let start = unsafe { ffi::sqlite3_column_blob(ptr, index) };
                Column::Blob(self.bytes_at(start.cast(), index)?)
            }
            _ => Column::Null,
        })
    }

    fn bytes_at(&self, start: *const u8, index: c_int) -> Result<&[u8]> {
        // SAFETY: a live statement; the pointer of this column was asked for just before.
        let len = count(unsafe { ffi::sqlite3_column_bytes(self.ptr.as_ptr(), index) });
        if start.is_null() {
            // SAFETY: an open connection.
            let rc = unsafe { ffi::sqlite3_errcode(db_ptr(&self.connection)) };
            return if rc == ffi::SQLITE_NOMEM {
                Err(Error::of_code(rc))
            } else {
                Ok(&[])
            };
        }
        // SAFETY: SQLite keeps these bytes until the next step, reset or finalize, which need
        // `&mut self`; reading the column again gives the same pointer.
        Ok(unsafe { slice::from_raw_parts(start, len) })
    }

    /// Whether it makes no direct change to a database file.
    pub(crate) fn is_readonly(&self) -> bool {
        // SAFETY: a live statement.
        unsafe { ffi::sqlite3_stmt_readonly(self.ptr.as_ptr()) != 0 }
    }

    /// How often it was compiled again, by SQLite after a change of the schema or by `kept`.
    pub(crate) fn reprepare_count(&self) -> c_int {
        let (ptr, counter) = (self.ptr.as_ptr(), ffi::SQLITE_STMTSTATUS_REPREPARE);
        // SAFETY: a live statement; the counter is not reset.
        self.earlier_count
            .wrapping_add(unsafe { ffi::sqlite3_stmt_status(ptr, counter, 0) })
    }

    /// Takes the place of a statement that was compiled again so often.
    pub(crate) fn continue_count(&mut self, earlier_count: c_int) {
        self.earlier_count = earlier_count;
    }

    /// The text it was compiled from.
    pub(crate) fn sql(&self) -> &CStr {
        // SAFETY: a live statement.
        let text_ptr = unsafe { ffi::sqlite3_sql(self.ptr.as_ptr()) };
        // SAFETY: null (never, for statements of `prepare`) or a text that lives as long as the
        // statement.
        unsafe { text_at(text_ptr) }.unwrap_or_default()
    }

    /// The text of the statement with its parameters replaced by their values.
    pub(crate) fn expanded_sql(&self) -> Result<Vec<u8>> {
        // SAFETY: a live statement.
        let text_ptr = unsafe { ffi::sqlite3_expanded_sql(self.ptr.as_ptr()) };
        // SAFETY: null when memory ran out, or a text that is ours to free.
        let text = unsafe { text_at(text_ptr) }.map(|text| text.to_bytes().to_vec());
        // SAFETY: the text was allocated by SQLite and is not used any more; null is allowed.
        unsafe { ffi::sqlite3_free(text_ptr.cast()) };
        text.ok_or_else(|| Error::of_code(ffi::SQLITE_NOMEM))
    }
}

impl Drop for RawStatement {
    fn drop(&mut self) {
        // SAFETY: a live statement that nobody uses any more; its connection is still open, as it
        // is kept alive here. The result repeats the last error of the statement.
        let _rc = unsafe { ffi::sqlite3_finalize(self.ptr.as_ptr()) };
    }
}

const UTF8: std::ffi::c_uchar = 1;

/// The last error of a connection.
pub(super) fn error_of(connection: &rusqlite::Connection) -> Error {
    let db_ptr = db_ptr(connection);
    // SAFETY: an open connection.
    let code = unsafe { ffi::sqlite3_extended_errcode(db_ptr) };
    // SAFETY: as above.
    let message_ptr = unsafe { ffi::sqlite3_errmsg(db_ptr) };
    // SAFETY: a text that stays until the next call on the connection; it is copied here.
    let message = unsafe { text_at(message_ptr) }
        .map_or_else(String::new, |text| text.to_string_lossy().into_owned());
    Error::Sqlite {
        code,
        message: message_without_key(message),
    }
}

fn db_ptr(connection: &rusqlite::Connection) -> *mut ffi::sqlite3 {
    // SAFETY: the pointer is used while the connection is borrowed or kept alive, and never closed
    // through it.
    unsafe { connection.handle() }
}

/// # Safety
/// `text_ptr` must be null or point to a NUL-terminated text that stays unchanged during 't.
unsafe fn text_at<'t>(text_ptr: *const c_char) -> Option<&'t CStr> {
    // SAFETY: the caller vouches for the text.
    (!text_ptr.is_null()).then(|| unsafe { CStr::from_ptr(text_ptr) })
}

fn count(number: c_int) -> usize {
    usize::try_from(number).unwrap_or(0)
}
