//! The hint of a NOTADB error: what the file looks like, and what it was tried with. SQLite tells us
//! when it finds that a file is no database; the hint waits with the connection until the error that
//! comes of it is thrown.

use std::ffi::c_int;
use std::fs;

use super::engine::{Pager, Schema};
use super::hook;
use super::state::with_state;
use crate::inspect::look::{HEAD_LEN, Look, Sight, look};

/// Remembers what the file of this pager looks like.
pub(super) fn remember(main: Schema, pager: Pager) {
    // A file that cannot be read has an error of its own.
    let words = look_at(pager).map(|look| format!("{look} {}", tried(pager)));
    with_state(main, |state| state.hint = words.ok());
}

fn look_at(pager: Pager) -> Result<Look, c_int> {
    let len = pager.file_len()?;
    let mut head = [0; HEAD_LEN];
    let head_len = usize::try_from(len).unwrap_or(HEAD_LEN).min(HEAD_LEN);
    pager.read_file(&mut head[..head_len], 0)?;
    let beside = |suffix: &str| {
        let file = fs::metadata(pager.file_name() + suffix);
        file.map_or(0, |file| file.len())
    };
    Ok(look(Sight {
        len,
        head: &head[..head_len],
        wal_len: beside("-wal"),
        journal_len: beside("-journal"),
    }))
}

/// The key and the settings that did not fit; never the key itself.
fn tried(pager: Pager) -> String {
    let cipher = hook::with_codec(pager, |codec| {
        codec.cipher().map(|cipher| cipher.config().to_string())
    });
    match cipher.flatten() {
        None => "It was read without a key.".to_owned(),
        Some(config) => format!("It was read with a key, under {config}."),
    }
}
