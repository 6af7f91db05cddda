//! Where SQLite's pager meets the codec: keys are set here, pages pass through here.
//!
//! | module | what it knows |
//! |---|---|
//! | `attached` | the codec of one open file: which cipher reads, which writes |
//! | `keying` | setting a key, copying one for ATTACH and VACUUM |
//! | `rekey` | all pages from one key to another |
//! | `copy` | what a backup and an image need to know of keys |
//! | `stored` | the bytes of a file as they are, read without a lock |
//! | `check` | reads every page and says which cannot be decrypted |
//! | `prove` | no journal is played back before page 1 proved the key |
//! | `uri` | keys and settings in `file:` names |
//! | `hint` | what a file looks like that is no database |
//! | `functions` | the SQL functions `sqlite3mc_…`: values in and out |
//! | `config_functions` | those about settings, salt and version |
//! | `value_functions` | those that encrypt single values |
//! | `pragma` | PRAGMA key, rekey, cipher and the parameters of the ciphers: routing |
//! | `state` | what one connection remembers: settings, a saved salt |
//! | `engine` | safe wrappers of the bridge (`engine/bridge.c`) |
//! | `hook` | the functions that the pager calls for each page |
//! | `exports` | the table of functions that the bridge calls |
//!
//! Page encryption itself is in [`crate::codec`]; nothing here knows Node.

mod attached;
pub(crate) mod check;
mod config_functions;
pub(crate) mod copy;
mod engine;
mod exports;
mod functions;
mod hint;
mod hook;
mod keying;
mod pragma;
mod prove;
mod rekey;
mod state;
pub(crate) mod stored;
mod uri;
mod value_functions;

use std::ffi::{CString, c_int};

use libsqlite3_sys as ffi;
use rusqlite::Connection;
use zeroize::Zeroizing;

use crate::error::Error;
use engine::Schema;

/// Why a key could not be set or changed: SQLite's result code, and a text where SQLite's own for
/// that code does not say enough. PRAGMAs show the text; `key()` and `rekey()` show SQLite's.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Failure {
    code: c_int,
    message: Option<&'static str>,
}

impl Failure {
    const fn new(message: &'static str) -> Failure {
        Failure {
            code: ffi::SQLITE_ERROR,
            message: Some(message),
        }
    }

    const fn code(code: c_int) -> Failure {
        Failure {
            code,
            message: None,
        }
    }
}

type Result<T = ()> = std::result::Result<T, Failure>;

/// Registers the codec with SQLite. Call it before the first database is opened; calling it again
/// changes nothing.
pub fn install() {
    exports::install();
}

/// Sets the key of a database. Nothing is verified: that happens when page 1 is read.
///
/// # Errors
/// SQLite's result code: `SQLITE_ERROR` for an empty key, for a database without a file and inside
/// a transaction; what reading the salt from the file gave.
pub fn key(connection: &Connection, schema: &str, key: &[u8]) -> std::result::Result<(), c_int> {
    let schema = find(connection, schema)?;
    if key.is_empty() {
        return Err(ffi::SQLITE_ERROR);
    }
    // A copy of our own: what JavaScript hands over may change while it is read.
    keying::key(schema, &Zeroizing::new(key.to_vec())).map_err(|failure| failure.code)
}

/// Encrypts a database under another key; an empty key decrypts it.
///
/// # Errors
/// SQLite's result code; the database is then as before, under the old key.
pub fn rekey(connection: &Connection, schema: &str, key: &[u8]) -> std::result::Result<(), c_int> {
    let schema = find(connection, schema)?;
    rekey::rekey(schema, &Zeroizing::new(key.to_vec())).map_err(|failure| failure.code)
}

/// Whether the name of the file asked for something that there is.
///
/// # Errors
/// The name of a scheme that is unknown: the database must not be used.
pub(crate) fn check_name(connection: &Connection) -> crate::error::Result<()> {
    let main = find(connection, "main").map_err(Error::of_code)?;
    match state::with_state(main, |state| state.unknown_cipher.take()) {
        None => Ok(()),
        Some(name) => Err(Error::Sqlite {
            code: ffi::SQLITE_ERROR,
            message: format!("unknown cipher '{name}'"),
        }),
    }
}

/// What the file looked like that this connection found to be no database, to go with the error. Given
/// once.
pub(crate) fn take_hint(connection: &Connection) -> Option<String> {
    let main = find(connection, "main").ok()?;
    state::with_state(main, |state| state.hint.take())
}

fn find(connection: &Connection, schema: &str) -> std::result::Result<Schema, c_int> {
    let name = CString::new(schema).map_err(|_| ffi::SQLITE_ERROR)?;
    engine::find_schema(connection, &name).ok_or(ffi::SQLITE_ERROR)
}
