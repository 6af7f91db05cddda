//! Keys and settings in the name of a file: `file:mail.db?cipher=chacha20&kdf_iter=1000&key=secret`.
//! Only where names are URIs, which the constructor's option `uri` says; SQLite cuts the name up.

use zeroize::Zeroizing;

use super::engine::Schema;
use super::state::with_state;
use super::{Failure, Result, keying};
use crate::codec::key::parse_salt;
use crate::codec::params::parse_flag;
use crate::codec::{Level, Reach, Salt, Settings, find_scheme};

/// Takes settings and key of a database that has just been opened from its name. True: the name has a
/// key, if only an empty one, which means no encryption.
///
/// Without a key in the name, its settings last for the main database and do not count for another.
pub(super) fn key_by_name(schema: Schema) -> Result<bool> {
    let is_main = schema.index() == 0;
    let reach = if is_main { Reach::Both } else { Reach::Current };
    let key = key(schema);
    if key.is_none() && !is_main {
        return Ok(false);
    }
    if let Some(name) = with_state(schema, |state| apply(schema, &mut state.settings, reach)) {
        if is_main {
            // SQLite has no way to say more than that opening failed: it is asked for afterwards.
            with_state(schema, |state| state.unknown_cipher = Some(name));
            return Ok(true);
        }
        return Err(UNKNOWN_CIPHER);
    }
    if let Some(key) = &key {
        keying::key(schema, key)?;
    }
    Ok(key.is_some())
}

/// Takes the settings for a key that is given beside the name.
pub(super) fn apply_settings(schema: Schema) -> Result {
    let unknown = with_state(schema, |state| {
        apply(schema, &mut state.settings, Reach::Current)
    });
    unknown.map_or(Ok(()), |_name| Err(UNKNOWN_CIPHER))
}

const UNKNOWN_CIPHER: Failure = Failure::new("unknown cipher in the name of the file");

/// The salt that the name gives. What is no salt does not count.
pub(super) fn salt(schema: Schema) -> Option<Salt> {
    parse_salt(&schema.pager().uri_parameter("cipher_salt")?).ok()
}

/// Answers the name of a scheme that there is none of. Of SQLite it asks texts only, which does not
/// come back here.
fn apply(schema: Schema, settings: &mut Settings, reach: Reach) -> Option<String> {
    let value = |name: &str| schema.pager().uri_parameter(name);
    if let Some(name) = value("cipher") {
        match find_scheme(&name) {
            Some(scheme) => settings.set_scheme(reach, scheme),
            None => return Some(name),
        }
    }
    if let Some(text) = value("hmac_check") {
        settings.set_hmac_check(parse_flag(&text, true));
    }
    if let Some(text) = value("mc_legacy_wal") {
        settings.set_mc_legacy_wal(reach, parse_flag(&text, false));
    }
    let scheme = settings.scheme(Level::Current);
    // In the order of the table, so that `legacy` comes before the parameters that it presets.
    for spec in scheme.params {
        if let Some(text) = value(spec.name) {
            // A value that is none changes nothing, as in a PRAGMA; nor does text.
            let _value = settings.set_param_text(reach, scheme, spec.name, &text);
        }
    }
    None
}

/// The first of `hexkey`, `key` and `textkey` that the name has.
fn key(schema: Schema) -> Option<Zeroizing<Vec<u8>>> {
    let value = |name: &str| schema.pager().uri_parameter(name).map(Zeroizing::new);
    if let Some(digits) = value("hexkey").filter(|digits| !digits.is_empty()) {
        return Some(hex_prefix(&digits));
    }
    let text = value("key").or_else(|| value("textkey"))?;
    Some(Zeroizing::new(text.as_bytes().to_vec()))
}

/// The bytes that the digits at the start spell; an odd last digit does not count.
fn hex_prefix(text: &str) -> Zeroizing<Vec<u8>> {
    let digits: Vec<u32> = text.chars().map_while(|c| c.to_digit(16)).collect();
    let digits = Zeroizing::new(digits);
    let bytes = digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]);
    Zeroizing::new(bytes.filter_map(|byte| u8::try_from(byte).ok()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hexkey_ends_at_the_first_other_character() {
        assert_eq!(**hex_prefix("00fFz1"), [0x00, 0xff]);
        assert_eq!(**hex_prefix("abc"), [0xab]);
        assert_eq!(**hex_prefix("g0"), []);
    }
}
