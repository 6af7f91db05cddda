//! Turns an [`Error`] into the exception JavaScript sees: SqliteError, TypeError, RangeError, Error.

use rusqlite::ffi;

use super::node_api::{Env, ErrorClass, Value};
use crate::error::{Error, Result, code_name};

/// Makes `error` the pending exception of the environment.
pub(crate) fn throw(env: Env<'_>, error: Error) {
    // Failing to make the exception means that another one is pending or that the environment is
    // ending; both reach JavaScript without our help.
    let _outcome =
        exception(env, error).and_then(|made| made.map_or(Ok(()), |value| env.throw(value)));
}

fn exception(env: Env<'_>, error: Error) -> Result<Option<Value<'_>>> {
    match error {
        Error::Sqlite { code, message } => sqlite_error(env, code, &message).map(Some),
        Error::NotADatabase { message, hint } => {
            let error = sqlite_error(env, ffi::SQLITE_NOTADB, &message)?;
            env.set_hidden(error, c"hint", env.string(hint.as_bytes())?)?;
            Ok(Some(error))
        }
        Error::Type(message) => env.builtin_error(ErrorClass::TypeError, &message).map(Some),
        Error::Range(message) => env
            .builtin_error(ErrorClass::RangeError, &message)
            .map(Some),
        Error::Internal(message) => env.builtin_error(ErrorClass::Error, &message).map(Some),
        Error::Thrown => Ok(None),
    }
}

fn sqlite_error<'e>(env: Env<'e>, code: i32, message: &str) -> Result<Value<'e>> {
    let class = env.state()?.scripts()?.sqlite_error.get(env)?;
    let arguments = [
        env.string(message.as_bytes())?,
        env.string(code_name(code).as_bytes())?,
    ];
    env.construct(class, &arguments)
}
