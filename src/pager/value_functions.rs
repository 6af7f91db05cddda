//! `sqlite3mc_vle_key`, `sqlite3mc_vle_encrypt` and `sqlite3mc_vle_decrypt`: single values under a key
//! of the connection, as they look in SQL. Their format is in [`crate::codec::value`].

use zeroize::Zeroizing;

use super::engine::Schema;
use super::functions::{Answer, Argument, SqlFunction};
use super::state::with_state;
use crate::codec::params::parse_whole_integer;
use crate::codec::value::{Algorithm, DEFAULT_ROUNDS, ValueKey};

pub(super) const FUNCTIONS: &[SqlFunction] = &[
    SqlFunction {
        name: c"sqlite3mc_vle_key",
        counts: &[1, 2, 3, 4],
        direct_only: true,
        run: key,
    },
    SqlFunction {
        name: c"sqlite3mc_vle_encrypt",
        counts: &[1, 2],
        // Schemas have them in views, triggers and generated columns.
        direct_only: false,
        run: encrypt,
    },
    SqlFunction {
        name: c"sqlite3mc_vle_decrypt",
        counts: &[1, 2],
        direct_only: false,
        run: decrypt,
    },
];

/// Stands for a salt that is empty or not given.
const DEFAULT_SALT: &[u8] = b"vle:default-salt";
/// The only option.
const ROUNDS_OPTION: &str = "kdf_iter";

/// SQLite's numbers of types stand before each value.
const INTEGER: u8 = 1;
const REAL: u8 = 2;
const TEXT: u8 = 3;
const BLOB: u8 = 4;
const NULL: u8 = 5;

/// `sqlite3mc_vle_key(passphrase [, salt [, algorithm [, options]]])`
fn key(main: Schema, arguments: &[Argument<'_>]) -> Result<Answer, String> {
    let passphrase = arguments[0]
        .bytes()
        .ok_or("The passphrase parameter must have type TEXT or BLOB")?;
    let salt = match arguments.get(1) {
        None | Some(Argument::Null) => DEFAULT_SALT,
        Some(salt) => match salt.bytes() {
            Some([]) => DEFAULT_SALT,
            Some(salt) => salt,
            None => {
                return Err(
                    "The salt parameter must have type TEXT or BLOB, but can be NULL".into(),
                );
            }
        },
    };
    let algorithm = match arguments.get(2) {
        None => Algorithm::ChaCha20,
        Some(Argument::Text(name)) => std::str::from_utf8(name)
            .ok()
            .and_then(Algorithm::find)
            .ok_or("Unsupported cipher type")?,
        Some(_) => return Err("The algorithm parameter must have type TEXT".into()),
    };
    let rounds = match arguments.get(3) {
        None => DEFAULT_ROUNDS,
        Some(Argument::Text(options)) => rounds_of(&String::from_utf8_lossy(options)),
        Some(_) => return Err("The options parameter must have type TEXT".into()),
    };
    let key = ValueKey::derive(algorithm, passphrase, salt, rounds).map_err(|e| e.to_string())?;
    with_state(main, |state| state.value_key = Some(key));
    Ok(Answer::text(format!("Ok. Options(kdf_iter={rounds})")))
}

/// The rounds that options like `kdf_iter=1000` ask for; a malformed one ends the list.
fn rounds_of(options: &str) -> u32 {
    let mut rounds = DEFAULT_ROUNDS;
    let mut rest = options;
    while let Some((name, values)) = rest.split_once('=') {
        let (value, next) = values.split_once(',').unwrap_or((values, ""));
        // Compat: the beginning of the name will do, even an empty one.
        let named = ROUNDS_OPTION.get(..name.len());
        if named.is_some_and(|start| start.eq_ignore_ascii_case(name)) {
            let Some(number) = parse_whole_integer(value.trim_end_matches(' ')) else {
                break;
            };
            rounds = u32::try_from(number)
                .ok()
                .filter(|rounds| *rounds > 0)
                .unwrap_or(DEFAULT_ROUNDS);
        }
        rest = next;
    }
    rounds
}

/// `sqlite3mc_vle_encrypt(value [, scope])`
fn encrypt(main: Schema, arguments: &[Argument<'_>]) -> Result<Answer, String> {
    let packed = |kind: u8, payload: &[u8]| Some(Zeroizing::new([&[kind], payload].concat()));
    with_key(main, |key| {
        let value = match arguments[0] {
            Argument::Integer(number) => packed(INTEGER, &number.to_be_bytes()),
            Argument::Real(number) => packed(REAL, &number.to_be_bytes()),
            Argument::Null | Argument::Text([]) | Argument::Blob([]) => None,
            Argument::Text(text) => packed(TEXT, text),
            Argument::Blob(bytes) => packed(BLOB, bytes),
        };
        let value = value.ok_or("sqlite3mc_vle_encrypt: Failed to pack value")?;
        let sealed = key.seal(&value, scope(arguments));
        Ok(Answer::Blob(Zeroizing::new(sealed)))
    })
}

/// `sqlite3mc_vle_decrypt(blob [, scope])`
fn decrypt(main: Schema, arguments: &[Argument<'_>]) -> Result<Answer, String> {
    let Argument::Blob(sealed) = arguments[0] else {
        return Err("sqlite3mc_vle_decrypt requires a BLOB".into());
    };
    with_key(main, |key| {
        let value = key
            .open(sealed, scope(arguments))
            .map_err(|error| error.to_string())?;
        unpack(&value).ok_or_else(|| "Invalid VLE header in encrypted value".into())
    })
}

fn unpack(value: &[u8]) -> Option<Answer> {
    let (kind, payload) = value.split_first()?;
    Some(match *kind {
        INTEGER => Answer::Integer(i64::from_be_bytes(payload.try_into().ok()?)),
        REAL => Answer::Real(f64::from_be_bytes(payload.try_into().ok()?)),
        TEXT => Answer::Text(Zeroizing::new(payload.to_vec())),
        BLOB => Answer::Blob(Zeroizing::new(payload.to_vec())),
        NULL => Answer::Null,
        _ => return None,
    })
}

/// What a value is bound to. Of another type it is the empty text.
fn scope<'v>(arguments: &[Argument<'v>]) -> &'v [u8] {
    arguments
        .get(1)
        .and_then(|scope| scope.bytes())
        .unwrap_or_default()
}

fn with_key(
    main: Schema,
    body: impl FnOnce(&ValueKey) -> Result<Answer, String>,
) -> Result<Answer, String> {
    with_state(main, |state| match &state.value_key {
        Some(key) => body(key),
        None => Err("VLE key not set".into()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_read_as_in_the_replaced_package() {
        let cases = [
            ("", DEFAULT_ROUNDS),
            ("kdf_iter=1000", 1000),
            ("kdf_iter = 1000", DEFAULT_ROUNDS),
            ("KDF_ITER=1000", 1000),
            ("k=8", 8),
            ("=5", 5),
            ("kdf_iter=0", DEFAULT_ROUNDS),
            ("kdf_iter=-5", DEFAULT_ROUNDS),
            ("kdf_iter=+5", 5),
            ("kdf_iter=0X1F", 31),
            ("kdf_iter=0x", DEFAULT_ROUNDS),
            ("kdf_iter=12abc", DEFAULT_ROUNDS),
            ("kdf_iter=5 ", 5),
            (" kdf_iter=5", DEFAULT_ROUNDS),
            ("kdf_iter=5,", 5),
            ("x=y,kdf_iter=9", 9),
            (",kdf_iter=9", DEFAULT_ROUNDS),
            ("kdf_iter=1,kdf_iter=2", 2),
            ("kdf_iter=5;kdf_iter=6", DEFAULT_ROUNDS),
            ("kdf_iterx=3", DEFAULT_ROUNDS),
            ("kdf_iter=10,x", 10),
            ("kdf_iter=99999999999", DEFAULT_ROUNDS),
        ];
        for (options, rounds) in cases {
            assert_eq!(rounds_of(options), rounds, "{options:?}");
        }
    }
}
