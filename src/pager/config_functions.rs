//! `sqlite3mc_config`, `sqlite3mc_codec_data` and `sqlite3mc_version`: the settings of the connection
//! and the salt of a database in SQL.
//!
//! The PRAGMAs for the same settings are in `pragma`. Here a value that is out of range is NULL, and
//! setting one sets the current value alone unless `default:` stands before the name.

use std::ffi::CString;

use super::engine::Schema;
use super::functions::{Answer, Argument, SqlFunction};
use super::hook;
use super::state::with_state;
use crate::codec::key::show_salt;
use crate::codec::params::ParamSpec;
use crate::codec::{Level, Reach, SCHEMES, Scheme, Settings, find_scheme};

pub(super) const FUNCTIONS: &[SqlFunction] = &[
    SqlFunction {
        name: c"sqlite3mc_config",
        counts: &[1, 2, 3],
        direct_only: true,
        run: |main, arguments| {
            let answer = with_state(main, |state| config(&mut state.settings, arguments));
            Ok(answer.unwrap_or(Answer::Null))
        },
    },
    SqlFunction {
        name: c"sqlite3mc_codec_data",
        counts: &[1, 2],
        direct_only: true,
        run: |main, arguments| Ok(codec_data(main, arguments).unwrap_or(Answer::Null)),
    },
    SqlFunction {
        name: c"sqlite3mc_version",
        counts: &[0],
        direct_only: false,
        // Compat: the version whose formats and functions these are.
        run: |_, _| Ok(Answer::text("SQLite3 Multiple Ciphers 2.4.0")),
    },
];

/// Of a setting there are the value that lasts, the one for the next key, and the ends of its range.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    Current,
    Default,
    Min,
    Max,
}

impl Which {
    fn reach(self) -> Reach {
        match self {
            Which::Default => Reach::Both,
            _ => Reach::Current,
        }
    }

    fn pick<T>(self, of: impl FnOnce(Level) -> T, min: T, max: T) -> T {
        match self {
            Which::Current => of(Level::Current),
            Which::Default => of(Level::Default),
            Which::Min => min,
            Which::Max => max,
        }
    }
}

/// Cuts `default:`, `min:` or `max:` from a name.
fn split_prefix(name: &str) -> (Which, &str) {
    let prefixes = [
        ("default:", Which::Default),
        ("min:", Which::Min),
        ("max:", Which::Max),
    ];
    for (prefix, which) in prefixes {
        if let Some((start, rest)) = name.split_at_checked(prefix.len())
            && start.eq_ignore_ascii_case(prefix)
        {
            return (which, rest);
        }
    }
    (Which::Current, name)
}

#[derive(Clone, Copy)]
enum Global {
    Cipher,
    HmacCheck,
    McLegacyWal,
}

const GLOBALS: [(&str, Global); 3] = [
    ("cipher", Global::Cipher),
    ("hmac_check", Global::HmacCheck),
    ("mc_legacy_wal", Global::McLegacyWal),
];

fn find_global(name: &str) -> Option<Global> {
    let found = GLOBALS
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(name));
    found.map(|(_, global)| *global)
}

/// None is NULL.
fn config(settings: &mut Settings, arguments: &[Argument<'_>]) -> Option<Answer> {
    let name = arguments.first()?.name()?;
    let (which, global) = split_prefix(name);
    match (arguments, find_global(global)) {
        ([_], Some(Global::Cipher)) => Some(cipher_name(settings, which)),
        ([_], Some(global)) => Some(number(settings, global, which)),
        ([_, value], Some(Global::Cipher)) => {
            let scheme = find_scheme(value.text()?)?;
            settings.set_scheme(which.reach(), scheme);
            Some(Answer::text(scheme.name))
        }
        ([_, Argument::Integer(value)], Some(global)) => {
            set_number(settings, global, which, truncated(*value))
        }
        ([_], None) => list(name),
        ([_, param], None) => of_param(settings, name, param.text()?, None),
        ([_, param, Argument::Integer(value)], None) => {
            of_param(settings, name, param.text()?, Some(truncated(*value)))
        }
        _ => None,
    }
}

/// Compat: an integer counts by its low 32 bits.
fn truncated(value: i64) -> i32 {
    let [a, b, c, d, ..] = value.to_le_bytes();
    i32::from_le_bytes([a, b, c, d])
}

fn list(name: &str) -> Option<Answer> {
    let names: Vec<_> = if name.eq_ignore_ascii_case("global") {
        GLOBALS.iter().map(|(name, _)| *name).collect()
    } else {
        find_scheme(name)?
            .params
            .iter()
            .map(|spec| spec.name)
            .collect()
    };
    Some(Answer::text(names.join(",")))
}

/// A parameter of a scheme, or a global setting as a number.
fn of_param(
    settings: &mut Settings,
    owner: &str,
    param: &str,
    value: Option<i32>,
) -> Option<Answer> {
    let (which, param) = split_prefix(param);
    if value.is_some() && matches!(which, Which::Min | Which::Max) {
        return None;
    }
    if owner.eq_ignore_ascii_case("global") {
        let global = find_global(param)?;
        return match value {
            None => Some(number(settings, global, which)),
            Some(value) => set_number(settings, global, which, value),
        };
    }
    let scheme = find_scheme(owner)?;
    let spec = scheme.param(param)?;
    match value {
        None => Some(param_number(settings, scheme, spec, which)),
        Some(value) => settings
            .set_param_number(which.reach(), scheme, spec, value)
            .then_some(Answer::Integer(value.into())),
    }
}

fn param_number(
    settings: &Settings,
    scheme: &'static Scheme,
    spec: &ParamSpec,
    which: Which,
) -> Answer {
    let at = |level| settings.param_number(scheme, spec, level);
    Answer::Integer(which.pick(at, spec.min, spec.max).into())
}

fn cipher_name(settings: &Settings, which: Which) -> Answer {
    let at = |level| settings.scheme(level).name;
    // Compat: the highest number of a scheme is one that no scheme has.
    Answer::text(which.pick(at, SCHEMES[0].name, ""))
}

/// The highest number that a scheme may be given.
const MAX_SCHEMES: i64 = 16;

fn number(settings: &Settings, global: Global, which: Which) -> Answer {
    Answer::Integer(match global {
        Global::Cipher => {
            let of = |level| scheme_number(settings.scheme(level));
            which.pick(of, 1, MAX_SCHEMES)
        }
        Global::HmacCheck => {
            // Tags are always checked by default.
            let of = |level| level == Level::Default || settings.hmac_check();
            which.pick(of, false, true).into()
        }
        Global::McLegacyWal => which
            .pick(|level| settings.mc_legacy_wal(level), false, true)
            .into(),
    })
}

fn set_number(settings: &mut Settings, global: Global, which: Which, value: i32) -> Option<Answer> {
    let flag = match value {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    };
    match global {
        Global::Cipher => {
            let scheme = SCHEMES.iter().find(|s| scheme_number(s) == value.into())?;
            settings.set_scheme(which.reach(), scheme);
        }
        Global::HmacCheck => settings.set_hmac_check(flag?),
        Global::McLegacyWal => settings.set_mc_legacy_wal(which.reach(), flag?),
    }
    Some(Answer::Integer(value.into()))
}

/// The number of a scheme in the C API: its place in the list, from 1 on.
fn scheme_number(scheme: &Scheme) -> i64 {
    let at = SCHEMES.iter().position(|known| known.name == scheme.name);
    at.and_then(|at| i64::try_from(at + 1).ok()).unwrap_or(0)
}

/// `sqlite3mc_codec_data('cipher_salt' [, schema])`
fn codec_data(main: Schema, arguments: &[Argument<'_>]) -> Option<Answer> {
    if !arguments
        .first()?
        .name()?
        .eq_ignore_ascii_case("cipher_salt")
    {
        return None;
    }
    let schema = match arguments.get(1) {
        None => main,
        Some(name) => main.named(&CString::new(name.name()?).ok()?)?,
    };
    let salt = hook::with_codec(schema.pager(), |codec| codec.cipher()?.salt()).flatten()?;
    Some(Answer::text(show_salt(&salt)))
}
