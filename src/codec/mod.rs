//! Page encryption: pure Rust on byte slices. No file, no SQLite and no Node here, and no `unsafe`.
//!
//! | module | what it knows |
//! |---|---|
//! | [`cipher`] | one keyed scheme for one file: what the pager calls |
//! | [`page`] | page numbers, and which bytes of a page are clear, body and tail |
//! | [`scheme`] | the schemes, one file each, and [`SCHEMES`], their only list |
//! | [`cbc_page`] | the page format that the two schemes of wxSQLite3 share |
//! | [`cbc_run`] | AES-CBC over bytes, with ciphertext stealing |
//! | [`ascon`] | hash, AEAD and PBKDF2 of Ascon v1.2 |
//! | [`params`] | what a parameter is: names, ranges, how its text is read |
//! | [`settings`] | the values of all parameters on one connection |
//! | [`key`] | passphrases, raw keys and salts: read, hold, erase |
//! | [`kdf`] | key derivations |
//! | [`key_cache`] | derived keys that are kept, where that is asked for |
//! | [`random`] | nonces and salts |
//! | [`value`] | single values under a key of their own |
//!
//! A new scheme is one new file under `scheme/`, its line in [`SCHEMES`], and its vectors.
#![forbid(unsafe_code)]

pub mod ascon;
pub mod cbc_page;
pub mod cbc_run;
pub mod cipher;
pub mod kdf;
pub mod key;
pub mod key_cache;
pub mod page;
pub mod params;
pub mod random;
pub mod scheme;
pub mod settings;
pub mod value;

pub use cipher::{Cipher, SaltSource, derive};
pub use key::{KeyError, Salt};
pub use page::{PageError, PageNo};
pub use params::{ParamError, ParamValue};
pub use scheme::{SCHEMES, Scheme, find_scheme};
pub use settings::{CipherConfig, Level, Reach, Settings};
