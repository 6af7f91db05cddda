//! Passphrases, raw keys and salts: read from text, held, erased.
//!
//! How a passphrase becomes a key is in `kdf` and in the schemes; where a salt comes from is decided
//! in `cipher` and, for files, in `pager`. No type here shows a secret in its `Debug` output.

use std::fmt;

use zeroize::Zeroizing;

/// The salt of a key derivation, stored at the start of page 1.
pub type Salt = [u8; SALT_LEN];

/// Length of every scheme's salt.
pub const SALT_LEN: usize = 16;

/// Why no key could be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The system gave no random bytes, so there can be no new salt and no nonce.
    #[error("the system's random generator is not available")]
    RandomUnavailable,
    /// The derivation does not work with the given parameters.
    #[error("the key derivation refuses its parameters")]
    ParametersRefused,
}

/// Why the text of a key or a salt was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyTextError {
    /// The text of `hexkey` or `hexrekey`.
    #[error("Malformed hex string")]
    MalformedHex,
    /// The text of `cipher_salt`.
    #[error("Invalid cipher salt. Length < 32 or invalid hex digits.")]
    InvalidSalt,
}

/// A key that pages are encrypted with. Erased when dropped.
#[derive(Clone)]
pub struct Key(Zeroizing<Vec<u8>>);

impl Key {
    /// Holds these bytes.
    pub fn new(bytes: &[u8]) -> Key {
        Key(Zeroizing::new(bytes.to_vec()))
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The bytes of a key whose length the scheme fixes.
    pub fn to_array<const N: usize>(&self) -> Zeroizing<[u8; N]> {
        let mut array = Zeroizing::new([0; N]);
        array.copy_from_slice(&self.0);
        array
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

/// A key string that spells the key itself, and perhaps the salt.
#[derive(Debug)]
pub struct RawKey {
    /// The key.
    pub key: Key,
    /// The salt, when the string holds one.
    pub salt: Option<Salt>,
}

impl RawKey {
    /// Reads one of the two notations, `raw:` and `x'..'`, for a key of `key_len` bytes. `None`: the
    /// bytes are a passphrase, whatever they begin with.
    pub fn parse(text: &[u8], key_len: usize) -> Option<RawKey> {
        if let Some(rest) = text.strip_prefix(b"raw:")
            && let Some(raw) = RawKey::binary(rest, key_len).or_else(|| RawKey::hex(rest, key_len))
        {
            return Some(raw);
        }
        match text {
            // Compat: the closing character counts for the length but may be any
            // (the_closing_quote_is_not_looked_at).
            [b'x' | b'X', b'\'', digits @ .., _] => RawKey::hex(digits, key_len),
            _ => None,
        }
    }

    fn binary(bytes: &[u8], key_len: usize) -> Option<RawKey> {
        let (key, rest) = bytes.split_at_checked(key_len)?;
        let salt = match rest.len() {
            0 => None,
            _ => Some(Salt::try_from(rest).ok()?),
        };
        Some(RawKey {
            key: Key::new(key),
            salt,
        })
    }

    fn hex(digits: &[u8], key_len: usize) -> Option<RawKey> {
        RawKey::binary(&decode_hex(digits)?, key_len)
    }
}

/// The bytes that `hexkey` or `hexrekey` spells. An empty text spells none.
pub fn parse_hex_key(text: &str) -> Result<Zeroizing<Vec<u8>>, KeyTextError> {
    decode_hex(text.as_bytes()).ok_or(KeyTextError::MalformedHex)
}

/// The salt that `cipher_salt` spells in its first 32 characters; the rest does not count.
pub fn parse_salt(text: &str) -> Result<Salt, KeyTextError> {
    let digits = text.as_bytes().get(..2 * SALT_LEN);
    let bytes = digits
        .and_then(decode_hex)
        .ok_or(KeyTextError::InvalidSalt)?;
    Salt::try_from(bytes.as_slice()).map_err(|_| KeyTextError::InvalidSalt)
}

/// The salt as `cipher_salt` shows it.
pub fn show_salt(salt: &Salt) -> String {
    salt.iter().map(|byte| format!("{byte:02X}")).collect()
}

fn decode_hex(digits: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let (pairs, odd) = digits.as_chunks::<2>();
    if !odd.is_empty() {
        return None;
    }
    // Collected into a buffer of its final size, so that no copy of a key is left behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(pairs.len()));
    for [high, low] in pairs {
        bytes.push(hex_value(*high)? << 4 | hex_value(*low)?);
    }
    Some(bytes)
}

fn hex_value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY_HEX: &str = "00112233445566778899aabbccddeeff00112233445566778899AABBCCDDEEFF";
    const SALT_HEX: &str = "0f0e0d0c0b0a09080706050403020100";

    fn salt_of(text: &str) -> Option<Option<Salt>> {
        RawKey::parse(text.as_bytes(), 32).map(|raw| {
            assert_eq!(raw.key.as_bytes(), &**parse_hex_key(KEY_HEX).unwrap());
            raw.salt
        })
    }

    #[test]
    fn both_notations_spell_a_key_with_or_without_salt() {
        let salt = Some(parse_salt(SALT_HEX).unwrap());
        assert_eq!(salt_of(&format!("raw:{KEY_HEX}")), Some(None));
        assert_eq!(salt_of(&format!("raw:{KEY_HEX}{SALT_HEX}")), Some(salt));
        assert_eq!(salt_of(&format!("x'{KEY_HEX}'")), Some(None));
        assert_eq!(salt_of(&format!("X'{KEY_HEX}{SALT_HEX}'")), Some(salt));
    }

    #[test]
    fn the_closing_quote_is_not_looked_at() {
        assert_eq!(salt_of(&format!("x'{KEY_HEX}!")), Some(None));
        assert_eq!(salt_of(&format!("x'{KEY_HEX}")), None);
    }

    #[test]
    fn everything_else_is_a_passphrase() {
        let upper = format!("RAW:{KEY_HEX}");
        let long = format!("raw:{KEY_HEX}0");
        let letter = format!("raw:{}g", &KEY_HEX[1..]);
        for text in ["", "raw:", "x'", "x''", "raw:short", &upper, &long, &letter] {
            assert!(RawKey::parse(text.as_bytes(), 32).is_none(), "{text}");
        }
    }

    #[test]
    fn binary_comes_before_hex() {
        let raw = RawKey::parse(b"raw:00112233445566778899aabbccddeeff", 16).unwrap();
        assert_eq!(raw.key.as_bytes(), b"0011223344556677");
        assert_eq!(raw.salt, Some(*b"8899aabbccddeeff"));
    }

    #[test]
    fn a_hex_key_has_an_even_number_of_digits() {
        assert_eq!(**parse_hex_key("").unwrap(), []);
        assert_eq!(**parse_hex_key("0aFf").unwrap(), [0x0a, 0xff]);
        for text in ["0", "0g", "+1", "0x12", "é"] {
            let error = parse_hex_key(text).unwrap_err();
            assert_eq!(error.to_string(), "Malformed hex string", "{text}");
        }
    }

    #[test]
    fn a_salt_has_at_least_32_digits_and_ends_there() {
        let salt = parse_salt(&format!("{SALT_HEX}zz")).unwrap();
        assert_eq!(show_salt(&salt), SALT_HEX.to_uppercase());
        for text in ["", "zz", &SALT_HEX[1..], &format!("z{SALT_HEX}")] {
            assert_eq!(parse_salt(text), Err(KeyTextError::InvalidSalt), "{text}");
        }
        assert_eq!(
            KeyTextError::InvalidSalt.to_string(),
            "Invalid cipher salt. Length < 32 or invalid hex digits."
        );
    }

    #[test]
    fn debug_output_shows_no_key() {
        assert_eq!(format!("{:?}", Key::new(b"secret")), "Key(..)");
    }
}
