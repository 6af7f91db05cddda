//! Single values under a key of their own: what the SQL functions `sqlite3mc_vle_…` make and read.
//!
//! ```text
//! | ec 01 algorithm 00 | nonce 16 | type 1, payload | tag 16 |
//! ```
//!
//! - chacha20: the last word of the nonce, big endian here, XOR a constant is the block counter; the
//!   block there XOR SHA-512 of the scope gives the keys of tag and body; the body starts at the next.
//! - ascon128: the key is a hash of the key, the nonce and that constant. The scope does not count.
//! - The tag covers header, nonce and body.
//!
//! How values and errors look in SQL is in `pager::value_functions`.

use ctutils::CtEq;
use poly1305::Poly1305;
use poly1305::universal_hash::KeyInit;
use sha2::{Digest, Sha256, Sha512};
use zeroize::Zeroizing;

use super::ascon::{self, Aead};
use super::kdf::Hash;
use super::key::{KeyError, SALT_LEN, Salt};
use super::random::Random;
use super::scheme::chacha20::apply_keystream;

/// Rounds of the derivation when none are asked for.
pub const DEFAULT_ROUNDS: u32 = 64007;

/// Which cipher values are under.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// ChaCha20 and Poly1305.
    ChaCha20,
    /// Ascon-128 v1.2.
    Ascon128,
}

/// Why a value cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// Not even a header.
    #[error("Encrypted content too short")]
    TooShort,
    /// It begins with another byte.
    #[error("Invalid VLE header in encrypted value")]
    InvalidHeader,
    /// Another key, another scope, or a changed value.
    #[error("AEAD authentication failed")]
    NotAuthentic,
}

/// The key of a connection for values.
pub struct ValueKey {
    algorithm: Algorithm,
    key: Zeroizing<[u8; KEY_LEN]>,
    random: Random,
}

const KEY_LEN: usize = 32;
const HEADER_LEN: usize = 4;
const NONCE_LEN: usize = 16;
const TAG_LEN: usize = 16;
const FIRST_BYTE: u8 = 0xec;
const VERSION: u8 = 1;
/// Stands where a page has its number.
const NUMBER: u32 = 0x1caf_eba9;

impl Algorithm {
    /// The algorithm that a name or the beginning of one stands for, in any ASCII case.
    pub fn find(text: &str) -> Option<Algorithm> {
        let begins = |name: &str| {
            name.get(..text.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(text))
        };
        if begins("chacha20") {
            Some(Algorithm::ChaCha20)
        } else if begins("ascon128") {
            Some(Algorithm::Ascon128)
        } else {
            None
        }
    }

    fn number(self) -> u8 {
        match self {
            Algorithm::ChaCha20 => 3,
            Algorithm::Ascon128 => 6,
        }
    }
}

impl ValueKey {
    /// Derives the key. The salt may be any bytes.
    pub fn derive(
        algorithm: Algorithm,
        passphrase: &[u8],
        salt: &[u8],
        rounds: u32,
    ) -> Result<ValueKey, KeyError> {
        let digest = Sha256::digest(salt);
        let mut salt = Salt::default();
        salt.copy_from_slice(&digest[..SALT_LEN]);
        let key = match algorithm {
            Algorithm::ChaCha20 => Hash::Sha256.pbkdf2(passphrase, &salt, rounds).to_array(),
            Algorithm::Ascon128 => ascon::pbkdf2(passphrase, &salt, rounds),
        };
        Ok(ValueKey {
            algorithm,
            key,
            random: Random::open()?,
        })
    }

    /// Encrypts a value, given with the byte of its type.
    pub fn seal(&self, value: &[u8], scope: &[u8]) -> Vec<u8> {
        let mut nonce = [0; NONCE_LEN];
        self.random.fill(&mut nonce);
        self.seal_with_nonce(value, scope, &nonce)
    }

    fn seal_with_nonce(&self, value: &[u8], scope: &[u8], nonce: &[u8; NONCE_LEN]) -> Vec<u8> {
        let mut sealed = Vec::with_capacity(HEADER_LEN + NONCE_LEN + value.len() + TAG_LEN);
        sealed.extend([FIRST_BYTE, VERSION, self.algorithm.number(), 0]);
        sealed.extend(nonce);
        sealed.extend(value);
        let (front, body) = sealed.split_at_mut(HEADER_LEN + NONCE_LEN);
        let tag = match self.algorithm {
            Algorithm::ChaCha20 => {
                let once = OneTime::new(&self.key, nonce, scope);
                once.apply_to(body);
                once.tag(&sealed)
            }
            Algorithm::Ascon128 => self.aead(nonce, front).encrypt(body),
        };
        sealed.extend(tag);
        sealed
    }

    /// Decrypts a value; it comes with the byte of its type.
    pub fn open(&self, sealed: &[u8], scope: &[u8]) -> Result<Zeroizing<Vec<u8>>, ValueError> {
        if sealed.len() < HEADER_LEN {
            return Err(ValueError::TooShort);
        }
        if sealed[0] != FIRST_BYTE {
            return Err(ValueError::InvalidHeader);
        }
        // The replaced package reads past the end of a value that has no room for nonce and tag.
        let (covered, tag) = sealed
            .split_last_chunk::<TAG_LEN>()
            .filter(|(covered, _)| covered.len() > HEADER_LEN + NONCE_LEN)
            .ok_or(ValueError::TooShort)?;
        let (front, body) = covered.split_at(HEADER_LEN + NONCE_LEN);
        let mut nonce = [0; NONCE_LEN];
        nonce.copy_from_slice(&front[HEADER_LEN..]);
        let mut value = Zeroizing::new(body.to_vec());
        let computed = match self.algorithm {
            Algorithm::ChaCha20 => {
                let once = OneTime::new(&self.key, &nonce, scope);
                once.apply_to(&mut value);
                once.tag(covered)
            }
            Algorithm::Ascon128 => self.aead(&nonce, front).decrypt(&mut value),
        };
        if computed[..].ct_eq(&tag[..]).to_bool() {
            Ok(value)
        } else {
            Err(ValueError::NotAuthentic)
        }
    }

    fn aead(&self, nonce: &[u8; NONCE_LEN], front: &[u8]) -> Aead {
        let mut input = Zeroizing::new([0; KEY_LEN + NONCE_LEN + 4]);
        input[..KEY_LEN].copy_from_slice(&*self.key);
        input[KEY_LEN..KEY_LEN + NONCE_LEN].copy_from_slice(nonce);
        input[KEY_LEN + NONCE_LEN..].copy_from_slice(&NUMBER.to_be_bytes());
        let hash = ascon::hash(&*input);
        let (halves, _) = hash.as_chunks();
        Aead::with_data(&halves[0], nonce, front)
    }
}

impl std::fmt::Debug for ValueKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ValueKey({:?}, ..)", self.algorithm)
    }
}

/// The two keys that serve one value under chacha20.
struct OneTime {
    keys: Zeroizing<[u8; 64]>,
    nonce: [u8; 12],
    /// Of the body's first block.
    counter: u32,
}

impl OneTime {
    fn new(key: &[u8; KEY_LEN], nonce: &[u8; NONCE_LEN], scope: &[u8]) -> OneTime {
        let ([start @ .., a, b, c, d], mut keys) = (nonce, Zeroizing::new([0; 64]));
        let counter = u32::from_be_bytes([*a, *b, *c, *d]) ^ NUMBER;
        keys.copy_from_slice(&Sha512::digest(scope));
        apply_keystream(key, start, counter, &mut *keys);
        OneTime {
            keys,
            nonce: *start,
            counter: counter.wrapping_add(1),
        }
    }

    fn apply_to(&self, body: &mut [u8]) {
        apply_keystream(self.halves()[1], &self.nonce, self.counter, body);
    }

    fn tag(&self, covered: &[u8]) -> [u8; TAG_LEN] {
        let poly = Poly1305::new(self.halves()[0].into());
        poly.compute_unpadded(covered).into()
    }

    fn halves(&self) -> [&[u8; KEY_LEN]; 2] {
        let (halves, _) = self.keys.as_chunks();
        [&halves[0], &halves[1]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from_hex(text: &str) -> Vec<u8> {
        super::super::key::parse_hex_key(text).unwrap().to_vec()
    }

    fn key(algorithm: Algorithm) -> ValueKey {
        ValueKey::derive(algorithm, b"pass", b"salt", 7).unwrap()
    }

    const BLOBS: [(Algorithm, &str, &str); 2] = [
        (
            Algorithm::ChaCha20,
            "fed2f40df9a73fd4fd7c28052c2eae60f76fd2f2f51b3ca87842cb6f0750e138",
            "ec010300fe81a9383fb9f1a6c14fcacd958463334d5922f91dec7eeb7028d55ce042b33ca5191c5d0291",
        ),
        (
            Algorithm::Ascon128,
            "28b809a24bcec4011f18ff4153f8ffce34ede9a0854fc49d70f2881643c8d74d",
            "ec010600097ec1dd0c32e751860db82f928d3a77d6f66f899f6e2c1b0c920bebec7d5edf8ca7f05e8083",
        ),
    ];

    #[test]
    fn values_of_the_replaced_package_are_read_and_made() {
        for (algorithm, key_hex, blob) in BLOBS {
            let (key, blob) = (key(algorithm), from_hex(blob));
            assert_eq!(key.key.to_vec(), from_hex(key_hex));
            assert_eq!(&**key.open(&blob, b"scope").unwrap(), b"\x03hello");
            let mut nonce = [0; NONCE_LEN];
            nonce.copy_from_slice(&blob[4..20]);
            assert_eq!(key.seal_with_nonce(b"\x03hello", b"scope", &nonce), blob);
        }
    }

    #[test]
    fn a_flipped_bit_anywhere_behind_the_first_byte_is_noticed() {
        for (algorithm, _, blob) in BLOBS {
            let blob = from_hex(blob);
            for at in 1..blob.len() {
                let mut changed = blob.clone();
                changed[at] ^= 1;
                let opened = key(algorithm).open(&changed, b"scope");
                assert_eq!(opened.unwrap_err(), ValueError::NotAuthentic, "{at}");
            }
        }
    }

    #[test]
    fn another_scope_is_another_value_only_under_chacha20() {
        let [chacha20, ascon128] = BLOBS.map(|(algorithm, _, blob)| {
            key(algorithm)
                .open(&from_hex(blob), b"other")
                .map(|value| value.to_vec())
        });
        assert_eq!(chacha20, Err(ValueError::NotAuthentic));
        assert_eq!(ascon128, Ok(b"\x03hello".to_vec()));
    }

    #[test]
    fn short_and_foreign_values_are_refused() {
        for (algorithm, _, blob) in BLOBS {
            let blob = from_hex(blob);
            for len in 0..=36 {
                let opened = key(algorithm).open(&blob[..len], b"scope");
                assert_eq!(opened.unwrap_err(), ValueError::TooShort, "{len}");
            }
            let opened = key(algorithm).open(&[0; 50], b"scope");
            assert_eq!(opened.unwrap_err(), ValueError::InvalidHeader);
        }
    }

    #[test]
    fn an_algorithm_is_named_by_its_beginning() {
        assert_eq!(Algorithm::find(""), Some(Algorithm::ChaCha20));
        assert_eq!(Algorithm::find("ChaCha"), Some(Algorithm::ChaCha20));
        assert_eq!(Algorithm::find("ASC"), Some(Algorithm::Ascon128));
        for text in ["chacha200", "aegis", "é"] {
            assert_eq!(Algorithm::find(text), None, "{text}");
        }
    }
}
