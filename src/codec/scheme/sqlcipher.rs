//! sqlcipher: AES-256 (FIPS 197) in CBC mode with an HMAC (RFC 2104), after SQLCipher.
//!
//! ```text
//! page 1      | 0..16 salt | 16..24 clear | body | vector 16 | HMAC | random |
//! legacy 1-4  | 0..16 salt | body                | vector 16 | HMAC | random |
//! other pages | body                             | vector 16 | HMAC | random |
//! ```
//!
//! - `legacy` 1 to 4 gives the files of SQLCipher 1 to 4; 0, the default, differs from 4 only in the
//!   clear bytes of page 1. There the body is no whole number of blocks: ciphertext stealing.
//! - All of the tail is random at each write; its first 16 bytes are the initialization vector, and
//!   the HMAC is laid over what follows. Of SHA-1's 32 bytes 12 stay random.
//! - The HMAC covers the body, the vector and the page number: neither the salt nor clear bytes.
//! - Its key is derived from the page key under the salt with each byte XORed by `hmac_salt_mask`,
//!   so it depends on the salt even when the page key is given raw.
//! - `plaintext_header_size`: that many bytes of page 1 stay clear, and no salt is stored; not in
//!   legacy 1 to 3, which ignore it.

use aes::{Aes256Dec, Aes256Enc};
use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use sha2::{Sha256, Sha512};

use super::{PageCipher, Scheme};
use crate::codec::cbc_run;
use crate::codec::kdf::Hash;
use crate::codec::key::{Key, KeyError, Salt};
use crate::codec::page::{HEADER_FIELDS, Layout, Page, PageError, PageNo};
use crate::codec::params::{ParamSpec, Preset};
use crate::codec::settings::CipherConfig;

/// The scheme.
pub static SCHEME: Scheme = Scheme {
    name: "sqlcipher",
    params: &[
        ParamSpec::integer("legacy", 0, 0, 4).presetting(&LEGACY),
        ParamSpec::legacy_page_size(4096),
        ParamSpec::rounds("kdf_iter", 256_000),
        ParamSpec::rounds("fast_kdf_iter", 2),
        ParamSpec::integer("hmac_use", 1, 0, 1),
        ParamSpec::integer("hmac_pgno", 1, 0, 2),
        ParamSpec::integer("hmac_salt_mask", 0x3a, 0, 255),
        ParamSpec::integer("kdf_algorithm", 2, 0, 2),
        ParamSpec::integer("hmac_algorithm", 2, 0, 2),
        ParamSpec::integer("hmac_algorithm_compat", 1, 0, 1),
        ParamSpec::plaintext_header_size().accepting(|len| len % 16 == 0),
    ],
    salted: true,
    layout,
    raw_key_len: |_| Some(KEY_LEN),
    derive_key,
    open,
};

const KEY_LEN: usize = 32;
const VECTOR_LEN: usize = 16;
/// First encrypted byte of page 1 in the files of SQLCipher itself.
const SALT_END: usize = 16;

/// The parameters of SQLCipher 1 to 4.
static LEGACY: [Preset; 4] = [
    Preset {
        value: 1,
        sets: &[
            ("legacy_page_size", 1024),
            ("kdf_iter", 4000),
            ("hmac_use", 0),
            ("kdf_algorithm", 0),
            ("hmac_algorithm", 0),
        ],
    },
    Preset {
        value: 2,
        sets: &[
            ("legacy_page_size", 1024),
            ("kdf_iter", 4000),
            ("hmac_use", 1),
            ("kdf_algorithm", 0),
            ("hmac_algorithm", 0),
        ],
    },
    Preset {
        value: 3,
        sets: &[
            ("legacy_page_size", 1024),
            ("kdf_iter", 64_000),
            ("hmac_use", 1),
            ("kdf_algorithm", 0),
            ("hmac_algorithm", 0),
        ],
    },
    Preset {
        value: 4,
        sets: &[
            ("legacy_page_size", 4096),
            ("kdf_iter", 256_000),
            ("hmac_use", 1),
            ("kdf_algorithm", 2),
            ("hmac_algorithm", 2),
        ],
    },
];

fn layout(config: &CipherConfig) -> Layout {
    let header_len = match config.value("legacy") {
        0 | 4 => config.value("plaintext_header_size") as usize,
        _ => 0,
    };
    let first_body_at = header_len.max(match config.value("legacy") {
        0 => HEADER_FIELDS.end,
        _ => SALT_END,
    });
    let reserve_len = match (config.value("hmac_use"), hash(config, "hmac_algorithm")) {
        (0, _) => VECTOR_LEN,
        (_, Hash::Sha1 | Hash::Sha256) => VECTOR_LEN + 32,
        (_, Hash::Sha512) => VECTOR_LEN + 64,
    };
    Layout {
        reserve_len,
        fresh: 0..reserve_len,
        first_body_at,
        clear_header: first_body_at >= HEADER_FIELDS.end,
        stores_salt: header_len == 0,
        authenticated: config.value("hmac_use") != 0,
    }
}

fn hash(config: &CipherConfig, name: &str) -> Hash {
    match config.value(name) {
        0 => Hash::Sha1,
        1 => Hash::Sha256,
        _ => Hash::Sha512,
    }
}

fn derive_key(
    config: &CipherConfig,
    passphrase: &[u8],
    salt: Option<&Salt>,
) -> Result<Key, KeyError> {
    let salt = salt.expect("a salted scheme is given a salt");
    Ok(hash(config, "kdf_algorithm").pbkdf2(passphrase, salt, config.value("kdf_iter")))
}

/// The key of the HMAC, from the key of the pages. SQLCipher itself derives it with the hash of the
/// key derivation; `hmac_algorithm_compat=0` takes the hash of the HMAC.
pub fn derive_hmac_key(config: &CipherConfig, key: &Key, salt: &Salt) -> Key {
    let mask = config.value("hmac_salt_mask").to_le_bytes()[0];
    let hash = match config.value("hmac_algorithm_compat") {
        0 => hash(config, "hmac_algorithm"),
        _ => hash(config, "kdf_algorithm"),
    };
    let salt = salt.map(|byte| byte ^ mask);
    hash.pbkdf2(key.as_bytes(), &salt, config.value("fast_kdf_iter"))
}

fn open(
    config: &CipherConfig,
    key: &Key,
    salt: Option<&Salt>,
) -> Result<Box<dyn PageCipher>, KeyError> {
    let salt = salt.expect("a salted scheme is given a salt");
    let page_key = key.to_array::<KEY_LEN>();
    let hmac = (config.value("hmac_use") != 0).then(|| {
        let key = derive_hmac_key(config, key, salt);
        keyed_hmac(hash(config, "hmac_algorithm"), &key)
    });
    Ok(Box::new(SqlCipherPages {
        encryptor: Aes256Enc::new((&*page_key).into()),
        decryptor: Aes256Dec::new((&*page_key).into()),
        hmac,
        number_bytes: match config.value("hmac_pgno") {
            0 => u32::to_ne_bytes,
            1 => u32::to_le_bytes,
            _ => u32::to_be_bytes,
        },
        check_tag: config.hmac_check(),
    }))
}

struct SqlCipherPages {
    encryptor: Aes256Enc,
    decryptor: Aes256Dec,
    hmac: Option<Box<dyn PageMac>>,
    number_bytes: fn(u32) -> [u8; 4],
    check_tag: bool,
}

impl PageCipher for SqlCipherPages {
    fn encrypt(&mut self, page_no: PageNo, page: &mut Page<'_>) -> Result<(), PageError> {
        let vector = vector_of(page);
        cbc_run::encrypt(&self.encryptor, &vector, page.body_mut());
        page.place_salt();
        if let Some(hmac) = &self.hmac {
            let number = (self.number_bytes)(page_no.get());
            hmac.tag(page, number);
        }
        Ok(())
    }

    fn decrypt(&mut self, page_no: PageNo, page: &mut Page<'_>) -> Result<(), PageError> {
        if let Some(hmac) = self.hmac.as_ref().filter(|_| self.check_tag) {
            let number = (self.number_bytes)(page_no.get());
            if !hmac.matches(page, number) {
                return Err(PageError::NotAuthentic);
            }
        }
        let vector = vector_of(page);
        cbc_run::decrypt(&self.decryptor, &vector, page.body_mut());
        Ok(())
    }

    fn duplicate(&self) -> Box<dyn PageCipher> {
        Box::new(SqlCipherPages {
            encryptor: self.encryptor.clone(),
            decryptor: self.decryptor.clone(),
            hmac: self.hmac.as_ref().map(|hmac| hmac.duplicate()),
            number_bytes: self.number_bytes,
            check_tag: self.check_tag,
        })
    }
}

fn vector_of(page: &Page<'_>) -> [u8; VECTOR_LEN] {
    let mut vector = [0; VECTOR_LEN];
    vector.copy_from_slice(&page.tail()[..VECTOR_LEN]);
    vector
}

/// An HMAC with its key, over whichever hash.
trait PageMac: Send {
    /// Writes the tag into the page.
    fn tag(&self, page: &mut Page<'_>, number: [u8; 4]);

    /// Whether the page has the right tag. Takes the same time for each wrong one.
    fn matches(&self, page: &Page<'_>, number: [u8; 4]) -> bool;

    fn duplicate(&self) -> Box<dyn PageMac>;
}

impl<M: Mac + Clone + Send + 'static> PageMac for M {
    fn tag(&self, page: &mut Page<'_>, number: [u8; 4]) {
        let tag = over_page(self, page, number).finalize().into_bytes();
        page.tail_mut()[VECTOR_LEN..][..tag.len()].copy_from_slice(&tag);
    }

    fn matches(&self, page: &Page<'_>, number: [u8; 4]) -> bool {
        let stored = &page.tail()[VECTOR_LEN..][..M::output_size()];
        over_page(self, page, number).verify_slice(stored).is_ok()
    }

    fn duplicate(&self) -> Box<dyn PageMac> {
        Box::new(self.clone())
    }
}

fn over_page<M: Mac + Clone>(mac: &M, page: &Page<'_>, number: [u8; 4]) -> M {
    mac.clone()
        .chain_update(page.body_through_tail(VECTOR_LEN))
        .chain_update(number)
}

fn keyed_hmac(hash: Hash, key: &Key) -> Box<dyn PageMac> {
    fn keyed<M: Mac + KeyInit>(key: &Key) -> M {
        <M as KeyInit>::new_from_slice(key.as_bytes()).expect("HMAC takes keys of any length")
    }
    match hash {
        Hash::Sha1 => Box::new(keyed::<Hmac<Sha1>>(key)),
        Hash::Sha256 => Box::new(keyed::<Hmac<Sha256>>(key)),
        Hash::Sha512 => Box::new(keyed::<Hmac<Sha512>>(key)),
    }
}
