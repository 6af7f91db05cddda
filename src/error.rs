//! What can go wrong, and the names of SQLite's result codes.
//!
//! One enum for the whole crate. `js::throw` turns it into the JavaScript error the caller sees;
//! messages that belong to one check stand beside that check.

use std::borrow::Cow;

use rusqlite::ffi;

/// Why a call did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// SQLite refused: its extended result code and its text.
    #[error("{message}")]
    Sqlite { code: i32, message: String },
    /// SQLite found that a file is no database: its text, and what the file looks like.
    #[error("{message}")]
    NotADatabase { message: String, hint: String },
    /// A value or a state the call cannot work with.
    #[error("{0}")]
    Type(Cow<'static, str>),
    /// A value of the right kind, but outside what the call can work with.
    #[error("{0}")]
    Range(Cow<'static, str>),
    /// A fault in this library or in Node-API.
    #[error("{0}")]
    Internal(Cow<'static, str>),
    /// JavaScript code threw; the exception is pending in the environment and stays as it is.
    #[error("a JavaScript exception is pending")]
    Thrown,
}

/// The result of everything that can fail here.
pub(crate) type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// A TypeError with this text.
    pub(crate) fn of_type(message: impl Into<Cow<'static, str>>) -> Self {
        Self::Type(message.into())
    }

    /// A RangeError with this text.
    pub(crate) fn of_range(message: impl Into<Cow<'static, str>>) -> Self {
        Self::Range(message.into())
    }

    /// SQLite's error of this code with SQLite's general text for it.
    pub(crate) fn of_code(code: i32) -> Self {
        Self::Sqlite {
            code,
            message: ffi::code_to_str(code).to_owned(),
        }
    }
}

/// The symbolic name of an extended result code, as the property `code` of SqliteError shows it.
pub(crate) fn code_name(code: i32) -> Cow<'static, str> {
    match CODE_NAMES.binary_search_by_key(&code, |&(known, _)| known) {
        Ok(index) => Cow::Borrowed(CODE_NAMES[index].1),
        Err(_) => Cow::Owned(format!("UNKNOWN_SQLITE_ERROR_{code}")),
    }
}

/// Code and name, in the order of the codes.
const CODE_NAMES: &[(i32, &str)] = &[
    (ffi::SQLITE_OK, "SQLITE_OK"),
    (ffi::SQLITE_ERROR, "SQLITE_ERROR"),
    (ffi::SQLITE_INTERNAL, "SQLITE_INTERNAL"),
    (ffi::SQLITE_PERM, "SQLITE_PERM"),
    (ffi::SQLITE_ABORT, "SQLITE_ABORT"),
    (ffi::SQLITE_BUSY, "SQLITE_BUSY"),
    (ffi::SQLITE_LOCKED, "SQLITE_LOCKED"),
    (ffi::SQLITE_NOMEM, "SQLITE_NOMEM"),
    (ffi::SQLITE_READONLY, "SQLITE_READONLY"),
    (ffi::SQLITE_INTERRUPT, "SQLITE_INTERRUPT"),
    (ffi::SQLITE_IOERR, "SQLITE_IOERR"),
    (ffi::SQLITE_CORRUPT, "SQLITE_CORRUPT"),
    (ffi::SQLITE_NOTFOUND, "SQLITE_NOTFOUND"),
    (ffi::SQLITE_FULL, "SQLITE_FULL"),
    (ffi::SQLITE_CANTOPEN, "SQLITE_CANTOPEN"),
    (ffi::SQLITE_PROTOCOL, "SQLITE_PROTOCOL"),
    (ffi::SQLITE_EMPTY, "SQLITE_EMPTY"),
    (ffi::SQLITE_SCHEMA, "SQLITE_SCHEMA"),
    (ffi::SQLITE_TOOBIG, "SQLITE_TOOBIG"),
    (ffi::SQLITE_CONSTRAINT, "SQLITE_CONSTRAINT"),
    (ffi::SQLITE_MISMATCH, "SQLITE_MISMATCH"),
    (ffi::SQLITE_MISUSE, "SQLITE_MISUSE"),
    (ffi::SQLITE_NOLFS, "SQLITE_NOLFS"),
    (ffi::SQLITE_AUTH, "SQLITE_AUTH"),
    (ffi::SQLITE_FORMAT, "SQLITE_FORMAT"),
    (ffi::SQLITE_RANGE, "SQLITE_RANGE"),
    (ffi::SQLITE_NOTADB, "SQLITE_NOTADB"),
    (ffi::SQLITE_NOTICE, "SQLITE_NOTICE"),
    (ffi::SQLITE_WARNING, "SQLITE_WARNING"),
    (ffi::SQLITE_ROW, "SQLITE_ROW"),
    (ffi::SQLITE_DONE, "SQLITE_DONE"),
    (
        ffi::SQLITE_OK_LOAD_PERMANENTLY,
        "SQLITE_OK_LOAD_PERMANENTLY",
    ),
    (
        ffi::SQLITE_ERROR_MISSING_COLLSEQ,
        "SQLITE_ERROR_MISSING_COLLSEQ",
    ),
    (ffi::SQLITE_BUSY_RECOVERY, "SQLITE_BUSY_RECOVERY"),
    (ffi::SQLITE_LOCKED_SHAREDCACHE, "SQLITE_LOCKED_SHAREDCACHE"),
    (ffi::SQLITE_READONLY_RECOVERY, "SQLITE_READONLY_RECOVERY"),
    (ffi::SQLITE_IOERR_READ, "SQLITE_IOERR_READ"),
    (ffi::SQLITE_CORRUPT_VTAB, "SQLITE_CORRUPT_VTAB"),
    (ffi::SQLITE_CANTOPEN_NOTEMPDIR, "SQLITE_CANTOPEN_NOTEMPDIR"),
    (ffi::SQLITE_CONSTRAINT_CHECK, "SQLITE_CONSTRAINT_CHECK"),
    (ffi::SQLITE_AUTH_USER, "SQLITE_AUTH_USER"),
    (ffi::SQLITE_NOTICE_RECOVER_WAL, "SQLITE_NOTICE_RECOVER_WAL"),
    (ffi::SQLITE_WARNING_AUTOINDEX, "SQLITE_WARNING_AUTOINDEX"),
    (ffi::SQLITE_OK_SYMLINK, "SQLITE_OK_SYMLINK"),
    (ffi::SQLITE_ERROR_RETRY, "SQLITE_ERROR_RETRY"),
    (ffi::SQLITE_ABORT_ROLLBACK, "SQLITE_ABORT_ROLLBACK"),
    (ffi::SQLITE_BUSY_SNAPSHOT, "SQLITE_BUSY_SNAPSHOT"),
    (ffi::SQLITE_LOCKED_VTAB, "SQLITE_LOCKED_VTAB"),
    (ffi::SQLITE_READONLY_CANTLOCK, "SQLITE_READONLY_CANTLOCK"),
    (ffi::SQLITE_IOERR_SHORT_READ, "SQLITE_IOERR_SHORT_READ"),
    (ffi::SQLITE_CORRUPT_SEQUENCE, "SQLITE_CORRUPT_SEQUENCE"),
    (ffi::SQLITE_CANTOPEN_ISDIR, "SQLITE_CANTOPEN_ISDIR"),
    (
        ffi::SQLITE_CONSTRAINT_COMMITHOOK,
        "SQLITE_CONSTRAINT_COMMITHOOK",
    ),
    (
        ffi::SQLITE_NOTICE_RECOVER_ROLLBACK,
        "SQLITE_NOTICE_RECOVER_ROLLBACK",
    ),
    (ffi::SQLITE_ERROR_SNAPSHOT, "SQLITE_ERROR_SNAPSHOT"),
    (ffi::SQLITE_READONLY_ROLLBACK, "SQLITE_READONLY_ROLLBACK"),
    (ffi::SQLITE_IOERR_WRITE, "SQLITE_IOERR_WRITE"),
    (ffi::SQLITE_CORRUPT_INDEX, "SQLITE_CORRUPT_INDEX"),
    (ffi::SQLITE_CANTOPEN_FULLPATH, "SQLITE_CANTOPEN_FULLPATH"),
    (
        ffi::SQLITE_CONSTRAINT_FOREIGNKEY,
        "SQLITE_CONSTRAINT_FOREIGNKEY",
    ),
    (ffi::SQLITE_NOTICE_RBU, "SQLITE_NOTICE_RBU"),
    (ffi::SQLITE_READONLY_DBMOVED, "SQLITE_READONLY_DBMOVED"),
    (ffi::SQLITE_IOERR_FSYNC, "SQLITE_IOERR_FSYNC"),
    (ffi::SQLITE_CANTOPEN_CONVPATH, "SQLITE_CANTOPEN_CONVPATH"),
    (
        ffi::SQLITE_CONSTRAINT_FUNCTION,
        "SQLITE_CONSTRAINT_FUNCTION",
    ),
    (ffi::SQLITE_READONLY_CANTINIT, "SQLITE_READONLY_CANTINIT"),
    (ffi::SQLITE_IOERR_DIR_FSYNC, "SQLITE_IOERR_DIR_FSYNC"),
    (ffi::SQLITE_CANTOPEN_DIRTYWAL, "SQLITE_CANTOPEN_DIRTYWAL"),
    (ffi::SQLITE_CONSTRAINT_NOTNULL, "SQLITE_CONSTRAINT_NOTNULL"),
    (ffi::SQLITE_READONLY_DIRECTORY, "SQLITE_READONLY_DIRECTORY"),
    (ffi::SQLITE_IOERR_TRUNCATE, "SQLITE_IOERR_TRUNCATE"),
    (ffi::SQLITE_CANTOPEN_SYMLINK, "SQLITE_CANTOPEN_SYMLINK"),
    (
        ffi::SQLITE_CONSTRAINT_PRIMARYKEY,
        "SQLITE_CONSTRAINT_PRIMARYKEY",
    ),
    (ffi::SQLITE_IOERR_FSTAT, "SQLITE_IOERR_FSTAT"),
    (ffi::SQLITE_CONSTRAINT_TRIGGER, "SQLITE_CONSTRAINT_TRIGGER"),
    (ffi::SQLITE_IOERR_UNLOCK, "SQLITE_IOERR_UNLOCK"),
    (ffi::SQLITE_CONSTRAINT_UNIQUE, "SQLITE_CONSTRAINT_UNIQUE"),
    (ffi::SQLITE_IOERR_RDLOCK, "SQLITE_IOERR_RDLOCK"),
    (ffi::SQLITE_CONSTRAINT_VTAB, "SQLITE_CONSTRAINT_VTAB"),
    (ffi::SQLITE_IOERR_DELETE, "SQLITE_IOERR_DELETE"),
    (ffi::SQLITE_CONSTRAINT_ROWID, "SQLITE_CONSTRAINT_ROWID"),
    (ffi::SQLITE_IOERR_BLOCKED, "SQLITE_IOERR_BLOCKED"),
    (ffi::SQLITE_CONSTRAINT_PINNED, "SQLITE_CONSTRAINT_PINNED"),
    (ffi::SQLITE_IOERR_NOMEM, "SQLITE_IOERR_NOMEM"),
    (
        ffi::SQLITE_CONSTRAINT_DATATYPE,
        "SQLITE_CONSTRAINT_DATATYPE",
    ),
    (ffi::SQLITE_IOERR_ACCESS, "SQLITE_IOERR_ACCESS"),
    (
        ffi::SQLITE_IOERR_CHECKRESERVEDLOCK,
        "SQLITE_IOERR_CHECKRESERVEDLOCK",
    ),
    (ffi::SQLITE_IOERR_LOCK, "SQLITE_IOERR_LOCK"),
    (ffi::SQLITE_IOERR_CLOSE, "SQLITE_IOERR_CLOSE"),
    (ffi::SQLITE_IOERR_DIR_CLOSE, "SQLITE_IOERR_DIR_CLOSE"),
    (ffi::SQLITE_IOERR_SHMOPEN, "SQLITE_IOERR_SHMOPEN"),
    (ffi::SQLITE_IOERR_SHMSIZE, "SQLITE_IOERR_SHMSIZE"),
    (ffi::SQLITE_IOERR_SHMLOCK, "SQLITE_IOERR_SHMLOCK"),
    (ffi::SQLITE_IOERR_SHMMAP, "SQLITE_IOERR_SHMMAP"),
    (ffi::SQLITE_IOERR_SEEK, "SQLITE_IOERR_SEEK"),
    (ffi::SQLITE_IOERR_DELETE_NOENT, "SQLITE_IOERR_DELETE_NOENT"),
    (ffi::SQLITE_IOERR_MMAP, "SQLITE_IOERR_MMAP"),
    (ffi::SQLITE_IOERR_GETTEMPPATH, "SQLITE_IOERR_GETTEMPPATH"),
    (ffi::SQLITE_IOERR_CONVPATH, "SQLITE_IOERR_CONVPATH"),
    (ffi::SQLITE_IOERR_VNODE, "SQLITE_IOERR_VNODE"),
    (ffi::SQLITE_IOERR_AUTH, "SQLITE_IOERR_AUTH"),
    (ffi::SQLITE_IOERR_BEGIN_ATOMIC, "SQLITE_IOERR_BEGIN_ATOMIC"),
    (
        ffi::SQLITE_IOERR_COMMIT_ATOMIC,
        "SQLITE_IOERR_COMMIT_ATOMIC",
    ),
    (
        ffi::SQLITE_IOERR_ROLLBACK_ATOMIC,
        "SQLITE_IOERR_ROLLBACK_ATOMIC",
    ),
    (ffi::SQLITE_IOERR_DATA, "SQLITE_IOERR_DATA"),
    (ffi::SQLITE_IOERR_CORRUPTFS, "SQLITE_IOERR_CORRUPTFS"),
    (ffi::SQLITE_IOERR_IN_PAGE, "SQLITE_IOERR_IN_PAGE"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_codes() {
        assert!(CODE_NAMES.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn a_known_code_has_its_name_and_an_unknown_one_its_number() {
        assert_eq!(code_name(2067), "SQLITE_CONSTRAINT_UNIQUE");
        assert_eq!(code_name(26), "SQLITE_NOTADB");
        assert_eq!(code_name(99_999), "UNKNOWN_SQLITE_ERROR_99999");
    }
}
