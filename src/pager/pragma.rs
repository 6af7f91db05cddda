//! The PRAGMAs about keys, ciphers and the directory of temporary files: routing. SQLite asks here, at prepare, before it looks into
//! its own table, so an unknown name must be passed on, not refused.
//!
//! How a value is read is in [`crate::codec`]; what a key does is in `keying` and `rekey`.

use libsqlite3_sys as ffi;

use super::engine::{Parse, Schema};
use super::state::with_state;
use super::{Failure, Result, hook, keying, rekey};
use crate::codec::key::{parse_hex_key, parse_salt, show_salt};
use crate::codec::params::parse_flag;
use crate::codec::{Level, Reach, find_scheme};

/// What a PRAGMA answers.
enum Answer {
    /// One row with one column; the text is value and name.
    Row(String),
    /// The same, with the name that the PRAGMA has.
    Value(&'static str),
    /// Handled, without a row.
    Nothing,
    /// Not ours.
    Unknown,
}

/// Handles a PRAGMA. False: it is SQLite's own, or unknown.
pub(super) fn pragma(schema: Schema, parse: &Parse, name: &str, value: Option<&str>) -> bool {
    match answer(schema, &name.to_ascii_lowercase(), value) {
        Ok(Answer::Row(text)) => parse.answer(&text, &text),
        Ok(Answer::Value(text)) => parse.answer(name, text),
        Ok(Answer::Nothing) => {}
        Ok(Answer::Unknown) => return false,
        Err(Error { code, message }) => parse.fail(code, &message),
    }
    true
}

/// The code and the text that preparing the PRAGMA fails with.
struct Error {
    code: i32,
    message: String,
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Error {
        let text = failure
            .message
            .unwrap_or_else(|| ffi::code_to_str(failure.code));
        Error {
            code: failure.code,
            message: text.to_owned(),
        }
    }
}

impl Error {
    fn new(message: String) -> Error {
        Error {
            code: ffi::SQLITE_ERROR,
            message,
        }
    }
}

fn answer(schema: Schema, name: &str, value: Option<&str>) -> std::result::Result<Answer, Error> {
    match (name, value) {
        ("key" | "hexkey", None) | ("hexkey", Some("")) => {
            Err(Failure::code(ffi::SQLITE_ERROR).into())
        }
        ("key", Some(text)) => done(keying::key(schema, text.as_bytes())),
        ("hexkey", Some(text)) => {
            let key = parse_hex_key(text).map_err(|error| Error::new(error.to_string()))?;
            done(keying::key(schema, &key))
        }
        ("rekey", text) => done(rekey::rekey(schema, text.unwrap_or_default().as_bytes())),
        ("hexrekey", text) => {
            let key = parse_hex_key(text.unwrap_or_default())
                .map_err(|error| Error::new(error.to_string()))?;
            done(rekey::rekey(schema, &key))
        }
        // SQLite knows these; in the replaced package they do nothing.
        ("textkey" | "textrekey", _) => Ok(Answer::Nothing),
        ("cipher", _) => cipher(schema, value),
        ("cipher_salt", _) => cipher_salt(schema, value),
        ("hmac_check", _) => {
            let on = with_state(schema, |state| {
                if let Some(text) = value {
                    state.settings.set_hmac_check(parse_flag(text, true));
                }
                state.settings.hmac_check()
            });
            Ok(flag(on))
        }
        ("mc_legacy_wal", _) => {
            let on = with_state(schema, |state| {
                if let Some(text) = value {
                    let on = parse_flag(text, false);
                    state.settings.set_mc_legacy_wal(Reach::Current, on);
                }
                state.settings.mc_legacy_wal(Level::Current)
            });
            Ok(flag(on))
        }
        ("temp_store_directory", _) => temp_store_directory(schema, value),
        _ => parameter(schema, name, value),
    }
}

fn done(result: Result) -> std::result::Result<Answer, Error> {
    result?;
    Ok(Answer::Row("ok".to_owned()))
}

fn flag(on: bool) -> Answer {
    Answer::Row(u8::from(on).to_string())
}

/// A PRAGMA without a schema name, or with `main`, is about the values that last.
fn is_lasting(schema: Schema) -> bool {
    schema.index() == 0
}

fn level(schema: Schema) -> Level {
    if is_lasting(schema) {
        Level::Default
    } else {
        Level::Current
    }
}

fn reach(schema: Schema) -> Reach {
    if is_lasting(schema) {
        Reach::Both
    } else {
        Reach::Current
    }
}

fn cipher(schema: Schema, value: Option<&str>) -> std::result::Result<Answer, Error> {
    let scheme = match value {
        None => with_state(schema, |state| state.settings.scheme(level(schema))),
        Some(name) => {
            let scheme =
                find_scheme(name).ok_or_else(|| Error::new(format!("Cipher '{name}' unknown.")))?;
            with_state(schema, |state| {
                state.settings.set_scheme(reach(schema), scheme)
            });
            scheme
        }
    };
    Ok(Answer::Row(scheme.name.to_owned()))
}

/// A parameter of the scheme that is selected now.
fn parameter(
    schema: Schema,
    name: &str,
    value: Option<&str>,
) -> std::result::Result<Answer, Error> {
    let shown = with_state(schema, |state| {
        let scheme = state.settings.scheme(Level::Current);
        match value {
            None => Ok(state
                .settings
                .param(scheme, name, level(schema))
                .map(|value| value.to_string())),
            Some(text) => state
                .settings
                .set_param_text(reach(schema), scheme, name, text),
        }
    });
    Ok(shown
        .map_err(|error| Error::new(error.to_string()))?
        .map_or(Answer::Unknown, Answer::Row))
}

/// Where temporary files are made from now on; an empty text leaves it to the system again.
///
/// Compat: SQLite drops the temporary tables here; they stay, as in the replaced package, where this
/// PRAGMA does nothing (__test__/encryption/temp-directory.test.js).
fn temp_store_directory(schema: Schema, value: Option<&str>) -> std::result::Result<Answer, Error> {
    let vfs = schema.vfs().ok_or(Failure::code(ffi::SQLITE_INTERNAL))?;
    let Some(text) = value else {
        return Ok(vfs.directory().map_or(Answer::Nothing, Answer::Value));
    };
    if schema.has_active_statements() {
        return Err(Error::new(
            "temporary storage cannot be changed while a statement is running".to_owned(),
        ));
    }
    schema.set_vfs(match text {
        "" => vfs.without_directory(),
        _ => vfs
            .with_directory(text)
            .map_err(|message| Error::new(message.to_owned()))?,
    });
    Ok(Answer::Nothing)
}

fn cipher_salt(schema: Schema, value: Option<&str>) -> std::result::Result<Answer, Error> {
    let salt = hook::with_codec(schema.pager(), |codec| {
        codec.cipher().map(|cipher| cipher.salt())
    })
    .flatten();
    match (value.filter(|text| !text.is_empty()), salt) {
        (None, salt) => Ok(salt
            .flatten()
            .map_or(Answer::Nothing, |salt| Answer::Row(show_salt(&salt)))),
        (Some(_), Some(_)) => Err(Error::new("Cipher salt can't be changed.".to_owned())),
        (Some(text), None) => {
            let salt = parse_salt(text).map_err(|error| Error::new(error.to_string()))?;
            with_state(schema, |state| state.saved_salt = Some(salt));
            Ok(Answer::Row("ok".to_owned()))
        }
    }
}
