//! What a scheme is, and the list of them.
//!
//! Each scheme has one file: its table of parameters, its layout, its derivation, its pages. The
//! steps that are the same for all are in `cipher`, the cuts of a page in `page`.

pub mod aegis;
pub mod aes128cbc;
pub mod aes256cbc;
pub mod ascon128;
pub mod chacha20;
pub mod rc4;
pub mod sqlcipher;

use std::fmt;

use super::key::{Key, KeyError, Salt};
use super::page::{Layout, Page, PageError, PageNo};
use super::params::ParamSpec;
use super::settings::CipherConfig;

/// All schemes, in the order of their numbers in the C API. The only list.
pub static SCHEMES: &[&Scheme] = &[
    &aes128cbc::SCHEME,
    &aes256cbc::SCHEME,
    &chacha20::SCHEME,
    &sqlcipher::SCHEME,
    &rc4::SCHEME,
    &ascon128::SCHEME,
    &aegis::SCHEME,
];

/// The scheme of a connection that asked for none.
pub static DEFAULT_SCHEME: &Scheme = &chacha20::SCHEME;

/// The scheme of this name, in any ASCII case.
pub fn find_scheme(name: &str) -> Option<&'static Scheme> {
    let found = SCHEMES
        .iter()
        .find(|scheme| scheme.name.eq_ignore_ascii_case(name));
    found.copied()
}

/// What the outside may know of a scheme before it has a key.
pub struct Scheme {
    /// Name as in `PRAGMA cipher`, in lower case.
    pub name: &'static str,
    /// Its parameters, in the order in which they are listed to the user.
    pub params: &'static [ParamSpec],
    /// Whether the derivation takes a salt.
    pub salted: bool,
    /// Where it keeps what in a page.
    pub layout: LayoutFn,
    /// Length of its key when a key string may spell the key itself.
    pub raw_key_len: KeyLenFn,
    /// Makes the key of a passphrase. Slow where the scheme means it to be.
    pub derive_key: DeriveFn,
    /// Makes the page cipher of a key.
    pub open: OpenFn,
}

impl Scheme {
    /// The parameter of this name, in any ASCII case.
    pub fn param(&self, name: &str) -> Option<&'static ParamSpec> {
        self.params
            .iter()
            .find(|spec| spec.name.eq_ignore_ascii_case(name))
    }
}

impl fmt::Debug for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scheme({})", self.name)
    }
}

/// Parameters to layout.
pub type LayoutFn = fn(&CipherConfig) -> Layout;

/// Parameters to the length of a raw key, `None` when every key string is a passphrase.
pub type KeyLenFn = fn(&CipherConfig) -> Option<usize>;

/// Parameters, passphrase and salt (in a salted scheme) to key.
pub type DeriveFn = fn(&CipherConfig, &[u8], Option<&Salt>) -> Result<Key, KeyError>;

/// Parameters, key and salt (in a salted scheme) to page cipher.
pub type OpenFn = fn(&CipherConfig, &Key, Option<&Salt>) -> Result<Box<dyn PageCipher>, KeyError>;

/// One scheme, keyed, for one database file. It sees pages, never files.
pub trait PageCipher: Send {
    /// Encrypts the body in place and completes the tail, whose fresh part is filled already.
    fn encrypt(&mut self, page_no: PageNo, page: &mut Page<'_>) -> Result<(), PageError>;

    /// Checks the tag and decrypts the body in place.
    fn decrypt(&mut self, page_no: PageNo, page: &mut Page<'_>) -> Result<(), PageError>;

    /// The same key once more.
    fn duplicate(&self) -> Box<dyn PageCipher>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemes_are_found_in_any_case() {
        assert_eq!(find_scheme("ChaCha20").unwrap().name, "chacha20");
        assert_eq!(find_scheme("AES256CBC").unwrap().name, "aes256cbc");
        assert!(find_scheme("").is_none() && find_scheme("chacha").is_none());
    }

    #[test]
    fn parameters_start_within_their_range() {
        for scheme in SCHEMES {
            for spec in scheme.params {
                let default = spec.default.to_string();
                assert_eq!(
                    spec.parse(&default),
                    Ok(Some(spec.default)),
                    "{}",
                    spec.name
                );
            }
        }
    }
}
