//! One value, both ways: a column to JavaScript, an argument to a parameter.
//!
//! Which argument belongs to which parameter is in `bind`; rows are in `rows`; what user functions
//! take and answer is in `udf`.

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

/// Why a value cannot go into SQLite.
#[derive(Clone, Copy)]
pub(crate) enum Misfit {
    Type,
    /// A bigint of more than 64 bits.
    Bigint,
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
    to_js(env, row.column(index)?, integers)
}

/// The JavaScript value of an SQLite value.
pub(crate) fn to_js<'e>(env: Env<'e>, value: Column<'_>, integers: Integers) -> Result<Value<'e>> {
    match value {
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
        Self::of_kind(env, value, env.kind(value)?)
    }

    /// As `from_js`, where it is known what `typeof` says.
    pub(crate) fn of_kind(env: Env<'e>, value: Value<'e>, kind: Kind) -> Result<Self> {
        Self::classify(env, value, kind)?.map_err(|misfit| match misfit {
            Misfit::Type => Error::of_type(WRONG_TYPE),
            Misfit::Bigint => Error::of_range(TOO_BIG),
        })
    }

    /// Tells what SQLite would make of a value, or why nothing. Runs no JavaScript.
    pub(crate) fn classify(
        env: Env<'e>,
        value: Value<'e>,
        kind: Kind,
    ) -> Result<std::result::Result<Self, Misfit>> {
        Ok(Ok(match kind {
            Kind::Null | Kind::Undefined => Argument::Null,
            Kind::Number => Argument::Real(env.as_number(value)?),
            Kind::String => Argument::Text(value),
            Kind::Bigint => match env.as_bigint(value)? {
                Some(number) => Argument::Integer(number),
                None => return Ok(Err(Misfit::Bigint)),
            },
            Kind::Object if env.with_bytes(value, |_| ())?.is_some() => Argument::Bytes(value),
            _ => return Ok(Err(Misfit::Type)),
        }))
    }

    /// Hands the value to `take`, which must not run JavaScript.
    pub(crate) fn give<R>(
        self,
        env: Env<'_>,
        text: &mut Vec<u8>,
        take: impl FnOnce(Bound<'_>) -> R,
    ) -> Result<R> {
        match self {
            // SQLite has no NaN: it stores NULL.
            Argument::Null => Ok(take(Bound::Null)),
            Argument::Real(number) => Ok(take(Bound::Real(number))),
            Argument::Integer(number) => Ok(take(Bound::Integer(number))),
            Argument::Text(value) => {
                env.read_string(value, text)?;
                Ok(take(Bound::Text(text)))
            }
            Argument::Bytes(value) => env
                .with_bytes(value, |bytes| take(Bound::Blob(bytes)))?
                .ok_or_else(|| Error::of_type(WRONG_TYPE)),
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
        let bound = self.give(env, text, |value| raw.bind(index, value))?;
        bound.map_err(|error| match error {
            Error::Sqlite {
                code: rusqlite::ffi::SQLITE_TOOBIG,
                ..
            } => Error::of_range(TOO_BIG),
            other => other,
        })
    }
}
