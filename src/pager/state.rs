//! What one connection remembers between its calls: the settings that PRAGMAs make, a saved salt,
//! and what VACUUM has to know. It lives in the memory that SQLite keeps for us with the connection.
#![expect(unsafe_code, reason = "reaches the connection's own memory")]

use super::engine::{self, Schema};
use crate::codec::{Salt, Settings};

/// See the module.
#[derive(Default)]
pub(super) struct State {
    pub(super) settings: Settings,
    /// `PRAGMA cipher_salt`, for every later key on this connection.
    pub(super) saved_salt: Option<Salt>,
    /// The index of the database that VACUUM is about to attach its copy for.
    pub(super) vacuum_source: Option<i32>,
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
