//! One value, both ways: a column to JavaScript, an argument to a parameter.
//!
//! Which argument belongs to which parameter is in `bind`; rows are in `rows`.

use super::node_api::{Env, Kind, Value};
use crate::error::{Error, Result};
use crate::sqlite::step::{Bound, Column, RawStatement};

/// How INTEGER values are shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Integers {
    /// The nearest number.
    Number,
    Bigint,
}

/// An argument whose type has been checked.
#[derive(Clone, Copy)]
pub(crate) enum Argument<'e> {
    Null,
    Real(f64),
    Integer(i64),
    Text(Value<'e>),
    Bytes(Value<'e>),
}

const WRONG_TYPE: &str = "SQLite3 can only bind numbers, strings, bigints, buffers, and null";
const TOO_BIG: &str = "The bound string, buffer, or bigint is too big";

impl Integers {
    pub(crate) fn from_safe(safe: bool) -> Self {
        if safe {
            Integers::Bigint
        } else {
            Integers::Number
        }
    }

    /// The JavaScript value of an INTEGER.
    pub(crate) fn to_js(self, env: Env<'_>, value: i64) -> Result<Value<'_>> {
        match self {
            Integers::Number => env.integer(value),
            Integers::Bigint => env.bigint(value),
        }
    }
}

/// The JavaScript value of column `index` of the current row.
pub(crate) fn column<'e>(
    env: Env<'e>,
    row: &RawStatement,
    index: usize,
    integers: Integers,
) -> Result<Value<'e>> {
    match row.column(index)? {
        Column::Null => env.null(),
        Column::Integer(value) => integers.to_js(env, value),
        Column::Real(value) => env.number(value),
        Column::Text(text) => env.string(text),
        Column::Blob(bytes) => env.buffer(bytes),
    }
}

impl<'e> Argument<'e> {
    /// Checks a value that is meant for one parameter. Runs no JavaScript.
    pub(crate) fn from_js(env: Env<'e>, value: Value<'e>) -> Result<Self> {
        match env.kind(value)? {
            Kind::Null | Kind::Undefined => Ok(Argument::Null),
            Kind::Number => Ok(Argument::Real(env.as_number(value)?)),
            Kind::String => Ok(Argument::Text(value)),
            Kind::Bigint => match env.as_bigint(value)? {
                Some(number) => Ok(Argument::Integer(number)),
                None => Err(Error::of_range(TOO_BIG)),
            },
            Kind::Object if env.with_bytes(value, |_| ())?.is_some() => Ok(Argument::Bytes(value)),
            _ => Err(Error::of_type(WRONG_TYPE)),
        }
    }

    /// Puts the value into parameter `index` (from 1). Runs no JavaScript.
    pub(crate) fn bind(
        self,
        env: Env<'_>,
        raw: &mut RawStatement,
        index: usize,
        text: &mut Vec<u8>,
    ) -> Result<()> {
        let bound = self.with_bound(env, text, |value| raw.bind(index, value))?;
        bound.map_err(|error| match error {
            Error::Sqlite {
                code: rusqlite::ffi::SQLITE_TOOBIG,
                ..
            } => Error::of_range(TOO_BIG),
            other => other,
        })
    }

    /// Runs `body` with the value. Runs no JavaScript.
    pub(crate) fn with_bound<R>(
        self,
        env: Env<'_>,
        text: &mut Vec<u8>,
        body: impl FnOnce(Bound<'_>) -> R,
    ) -> Result<R> {
        match self {
            Argument::Null => Ok(body(Bound::Null)),
            // SQLite has no NaN: it stores NULL.
            Argument::Real(number) => Ok(body(Bound::Real(number))),
            Argument::Integer(number) => Ok(body(Bound::Integer(number))),
            Argument::Text(value) => {
                env.read_string(value, text)?;
                Ok(body(Bound::Text(text)))
            }
            Argument::Bytes(value) => env
                .with_bytes(value, |bytes| body(Bound::Blob(bytes)))?
                .ok_or_else(|| Error::of_type(WRONG_TYPE)),
        }
    }
}
