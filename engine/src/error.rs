//! The error type that rusqlite expects of this crate: SQLite's primary codes by name.

use std::ffi::{CStr, c_int};
use std::fmt;

use crate::bindings as ffi;

/// What went wrong, by SQLite's primary result code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorCode {
    /// `SQLITE_INTERNAL`
    InternalMalfunction,
    /// `SQLITE_PERM`
    PermissionDenied,
    /// `SQLITE_ABORT`
    OperationAborted,
    /// `SQLITE_BUSY`
    DatabaseBusy,
    /// `SQLITE_LOCKED`
    DatabaseLocked,
    /// `SQLITE_NOMEM`
    OutOfMemory,
    /// `SQLITE_READONLY`
    ReadOnly,
    /// `SQLITE_INTERRUPT`
    OperationInterrupted,
    /// `SQLITE_IOERR`
    SystemIoFailure,
    /// `SQLITE_CORRUPT`
    DatabaseCorrupt,
    /// `SQLITE_NOTFOUND`
    NotFound,
    /// `SQLITE_FULL`
    DiskFull,
    /// `SQLITE_CANTOPEN`
    CannotOpen,
    /// `SQLITE_PROTOCOL`
    FileLockingProtocolFailed,
    /// `SQLITE_SCHEMA`
    SchemaChanged,
    /// `SQLITE_TOOBIG`
    TooBig,
    /// `SQLITE_CONSTRAINT`
    ConstraintViolation,
    /// `SQLITE_MISMATCH`
    TypeMismatch,
    /// `SQLITE_MISUSE`
    ApiMisuse,
    /// `SQLITE_NOLFS`
    NoLargeFileSupport,
    /// `SQLITE_AUTH`
    AuthorizationForStatementDenied,
    /// `SQLITE_RANGE`
    ParameterOutOfRange,
    /// `SQLITE_NOTADB`
    NotADatabase,
    /// Any other code, `SQLITE_ERROR` among them.
    Unknown,
}

const NAMES: [(c_int, ErrorCode); 23] = [
    (ffi::SQLITE_INTERNAL, ErrorCode::InternalMalfunction),
    (ffi::SQLITE_PERM, ErrorCode::PermissionDenied),
    (ffi::SQLITE_ABORT, ErrorCode::OperationAborted),
    (ffi::SQLITE_BUSY, ErrorCode::DatabaseBusy),
    (ffi::SQLITE_LOCKED, ErrorCode::DatabaseLocked),
    (ffi::SQLITE_NOMEM, ErrorCode::OutOfMemory),
    (ffi::SQLITE_READONLY, ErrorCode::ReadOnly),
    (ffi::SQLITE_INTERRUPT, ErrorCode::OperationInterrupted),
    (ffi::SQLITE_IOERR, ErrorCode::SystemIoFailure),
    (ffi::SQLITE_CORRUPT, ErrorCode::DatabaseCorrupt),
    (ffi::SQLITE_NOTFOUND, ErrorCode::NotFound),
    (ffi::SQLITE_FULL, ErrorCode::DiskFull),
    (ffi::SQLITE_CANTOPEN, ErrorCode::CannotOpen),
    (ffi::SQLITE_PROTOCOL, ErrorCode::FileLockingProtocolFailed),
    (ffi::SQLITE_SCHEMA, ErrorCode::SchemaChanged),
    (ffi::SQLITE_TOOBIG, ErrorCode::TooBig),
    (ffi::SQLITE_CONSTRAINT, ErrorCode::ConstraintViolation),
    (ffi::SQLITE_MISMATCH, ErrorCode::TypeMismatch),
    (ffi::SQLITE_MISUSE, ErrorCode::ApiMisuse),
    (ffi::SQLITE_NOLFS, ErrorCode::NoLargeFileSupport),
    (ffi::SQLITE_AUTH, ErrorCode::AuthorizationForStatementDenied),
    (ffi::SQLITE_RANGE, ErrorCode::ParameterOutOfRange),
    (ffi::SQLITE_NOTADB, ErrorCode::NotADatabase),
];

/// A result code of SQLite, primary and extended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    /// The primary code.
    pub code: ErrorCode,
    /// The code as SQLite gave it.
    pub extended_code: c_int,
}

impl Error {
    /// The error of this result code.
    #[must_use]
    pub fn new(result_code: c_int) -> Self {
        let primary = result_code & 0xff;
        let code = NAMES
            .iter()
            .find(|(rc, _)| *rc == primary)
            .map_or(ErrorCode::Unknown, |(_, name)| *name);
        Self {
            code,
            extended_code: result_code,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} (code {})",
            code_to_str(self.extended_code),
            self.extended_code
        )
    }
}

impl std::error::Error for Error {}

/// SQLite's own text for a result code.
#[must_use]
pub fn code_to_str(code: c_int) -> &'static str {
    // SAFETY: any number may be asked; the answer is NULL or a static string.
    let text_ptr = unsafe { ffi::sqlite3_errstr(code) };
    if text_ptr.is_null() {
        return "unknown error";
    }
    // SAFETY: not NULL, so it is one of SQLite's static, NUL-terminated texts.
    let text = unsafe { CStr::from_ptr(text_ptr) };
    text.to_str().unwrap_or("unknown error")
}
