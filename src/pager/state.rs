//! What one connection remembers between its calls: the settings that PRAGMAs make, a saved salt,
//! and what VACUUM has to know. It lives in the memory that SQLite keeps for us with the connection.
#![expect(unsafe_code, reason = "reaches the connection's own memory")]

use super::engine::{self, Schema};
use crate::codec::value::ValueKey;
use crate::codec::{Salt, Settings};

/// See the module.
#[derive(Default)]
pub(super) struct State {
    pub(super) settings: Settings,
    /// `PRAGMA cipher_salt`, for every later key on this connection.
    pub(super) saved_salt: Option<Salt>,
    /// The index of the database that VACUUM is about to attach its copy for.
    pub(super) vacuum_source: Option<i32>,
    /// The key of `sqlite3mc_vle_key`.
    pub(super) value_key: Option<ValueKey>,
    /// The scheme that the name of the main database asks for, if there is none of that name.
    pub(super) unknown_cipher: Option<String>,
    /// What the file looked like that was last found to be no database, until an error shows it.
    pub(super) hint: Option<String>,
    /// The reserved bytes that VACUUM is to give the pages, while it runs for a rekey.
    pub(super) rekey_reserve_len: Option<usize>,
}

/// Runs `body` on the state of the connection. It must not call SQLite.
pub(super) fn with_state<R>(schema: Schema, body: impl FnOnce(&mut State) -> R) -> R {
    let mut state = engine::client_data::<State>(schema);
    // SAFETY: it lives as long as the connection, one thread uses a connection at a time, and `body`
    // does not call SQLite, so there is no other reference.
    body(unsafe { state.as_mut() })
}
