//! aegis: the six AEGIS algorithms of the CFRG draft, with tags of 32 bytes and no associated data.
//!
//! ```text
//! page 1      | 0..16 salt | 16..24 clear | body | tag 32 | nonce 16 or 32 |
//! other pages | body                             | tag 32 | nonce 16 or 32 |
//! ```
//!
//! - Key and nonce have 16 bytes in the 128 family and 32 in the 256 family.
//! - Each write of a page has its own key and nonce: the keystream of the key under the stored nonce,
//!   with the page number over the last four bytes of the second.
//! - The tag covers the body, and through the key nonce and page number: neither the salt nor clear
//!   bytes.
//! - The key is derived with Argon2id. What Argon2 refuses is refused here; the replaced package goes
//!   on with a key of zeros.
//! - `plaintext_header_size`: that many bytes of page 1 stay clear, and no salt is stored.

use argon2::Argon2;
use zeroize::Zeroizing;

use super::{PageCipher, Scheme};
use crate::codec::key::{Key, KeyError, Salt};
use crate::codec::page::{HEADER_FIELDS, Layout, Page, PageError, PageNo};
use crate::codec::params::{LARGEST, ParamSpec};
use crate::codec::settings::CipherConfig;

/// The scheme.
pub static SCHEME: Scheme = Scheme {
    name: "aegis",
    params: &[
        ParamSpec::rounds("tcost", 2),
        ParamSpec::integer("mcost", 19456, 1, LARGEST),
        ParamSpec::integer("pcost", 1, 1, LARGEST),
        ParamSpec::integer("algorithm", 4, 1, 6).named(&[
            "aegis-128l",
            "aegis-128x2",
            "aegis-128x4",
            "aegis-256",
            "aegis-256x2",
            "aegis-256x4",
        ]),
        ParamSpec::plaintext_header_size(),
    ],
    salted: true,
    layout,
    raw_key_len: |config| Some(algorithm(config).key_len),
    derive_key,
    open,
};

const TAG_LEN: usize = 32;
const MAX_KEY_LEN: usize = 32;
/// Most memory for one key derivation, in KiB: 4 GiB. `mcost` may ask for 2 TiB, and a failed
/// allocation, or a system that runs out of memory later, would end the process.
const MAX_MEMORY: u32 = 4 << 20;

fn layout(config: &CipherConfig) -> Layout {
    let header_len = config.value("plaintext_header_size") as usize;
    let reserve_len = TAG_LEN + algorithm(config).key_len;
    Layout {
        reserve_len,
        fresh: TAG_LEN..reserve_len,
        first_body_at: header_len.max(HEADER_FIELDS.end),
        clear_header: true,
        stores_salt: header_len == 0,
        authenticated: true,
    }
}

fn derive_key(
    config: &CipherConfig,
    passphrase: &[u8],
    salt: Option<&Salt>,
) -> Result<Key, KeyError> {
    let salt = salt.expect("a salted scheme is given a salt");
    let [tcost, mcost, pcost] = ["tcost", "mcost", "pcost"].map(|name| config.value(name));
    if mcost > MAX_MEMORY {
        return Err(KeyError::ParametersRefused);
    }
    let mut key = Zeroizing::new([0; MAX_KEY_LEN]);
    let key = &mut key[..algorithm(config).key_len];
    argon2::Params::new(mcost, tcost, pcost, Some(key.len()))
        .and_then(|params| {
            Argon2::new(argon2::Algorithm::Argon2id, argon2::Version::V0x13, params)
                .hash_password_into(passphrase, salt, key)
        })
        .map_err(|_| KeyError::ParametersRefused)?;
    Ok(Key::new(key))
}

fn open(
    config: &CipherConfig,
    key: &Key,
    _: Option<&Salt>,
) -> Result<Box<dyn PageCipher>, KeyError> {
    Ok(Box::new(AegisPages {
        algorithm: algorithm(config),
        key: key.clone(),
        check_tag: config.hmac_check(),
    }))
}

struct AegisPages {
    algorithm: &'static Algorithm,
    key: Key,
    check_tag: bool,
}

impl AegisPages {
    /// Key and nonce for one write of one page, whose tail holds the stored nonce.
    fn once(&self, page_no: PageNo, tail: &[u8]) -> Zeroizing<[u8; 2 * MAX_KEY_LEN]> {
        let mut once = Zeroizing::new([0; 2 * MAX_KEY_LEN]);
        let len = 2 * self.algorithm.key_len;
        let stored = (self.key.as_bytes(), &tail[TAG_LEN..]);
        (self.algorithm.keystream)(stored, &mut once[..len]);
        once[len - 4..len].copy_from_slice(&page_no.get().to_be_bytes());
        once
    }
}

impl PageCipher for AegisPages {
    fn encrypt(&mut self, page_no: PageNo, page: &mut Page<'_>) -> Result<(), PageError> {
        let once = self.once(page_no, page.tail());
        let tag = (self.algorithm.encrypt)(self.algorithm.halves(&*once), page.body_mut());
        page.tail_mut()[..TAG_LEN].copy_from_slice(&tag);
        page.place_salt();
        Ok(())
    }

    fn decrypt(&mut self, page_no: PageNo, page: &mut Page<'_>) -> Result<(), PageError> {
        let once = self.once(page_no, page.tail());
        let once = self.algorithm.halves(&*once);
        let (body, tail) = page.body_and_tail_mut();
        let (tags, _) = tail.as_chunks();
        let stored = (!self.check_tag).then(|| body.to_vec());
        if !(self.algorithm.decrypt)(once, body, &tags[0]) {
            body.copy_from_slice(&stored.ok_or(PageError::NotAuthentic)?);
            self.algorithm.decrypt_unchecked(once, body);
        }
        Ok(())
    }

    fn duplicate(&self) -> Box<dyn PageCipher> {
        Box::new(AegisPages {
            algorithm: self.algorithm,
            key: self.key.clone(),
            check_tag: self.check_tag,
        })
    }
}

/// A key and a nonce, both as long as the algorithm's [`Algorithm::key_len`].
pub type KeyAndNonce<'k> = (&'k [u8], &'k [u8]);

/// One of the six.
pub struct Algorithm {
    /// Length of the key, and of the nonce.
    pub key_len: usize,
    /// Fills the last slice with the keystream of a key and a nonce.
    pub keystream: fn(KeyAndNonce<'_>, &mut [u8]),
    /// Encrypts in place under a key and a nonce and gives the tag.
    pub encrypt: fn(KeyAndNonce<'_>, &mut [u8]) -> [u8; TAG_LEN],
    /// Decrypts in place under a key and a nonce; false, and zeros, when the tag is another.
    pub decrypt: fn(KeyAndNonce<'_>, &mut [u8], &[u8; TAG_LEN]) -> bool,
}

impl Algorithm {
    fn halves<'o>(&self, once: &'o [u8]) -> KeyAndNonce<'o> {
        once[..2 * self.key_len].split_at(self.key_len)
    }

    /// Decrypts whatever the tag is: `hmac_check=0`, to rescue what a damaged page still holds.
    ///
    /// The crate gives nothing out without the right tag. But zeros encrypted after the plain text so
    /// far come out as the next keystream, so each block is found by encrypting all before it again.
    pub fn decrypt_unchecked(&self, once: KeyAndNonce<'_>, body: &mut [u8]) {
        const BLOCK_LEN: usize = 16;
        let mut plain = Zeroizing::new(vec![0; body.len()]);
        let mut replay = Zeroizing::new(vec![0; body.len()]);
        for at in (0..body.len()).step_by(BLOCK_LEN) {
            let end = body.len().min(at + BLOCK_LEN);
            replay[..end].copy_from_slice(&plain[..end]);
            (self.encrypt)(once, &mut replay[..end]);
            for i in at..end {
                plain[i] = replay[i] ^ body[i];
            }
        }
        body.copy_from_slice(&plain);
    }
}

/// The six types of the crate have the same methods and no common trait.
macro_rules! algorithm {
    ($module:ident::$cipher:ident) => {
        Algorithm {
            key_len: size_of::<::aegis::$module::Key>(),
            keystream: |once, output| {
                keyed!($module::$cipher, once).stream(output);
            },
            encrypt: |once, body| keyed!($module::$cipher, once).encrypt_in_place(body, &[]),
            decrypt: |once, body, tag| {
                let cipher = keyed!($module::$cipher, once);
                cipher.decrypt_in_place(body, tag, &[]).is_ok()
            },
        }
    };
}

macro_rules! keyed {
    ($module:ident::$cipher:ident, $once:ident) => {{
        let (key, nonce) = $once;
        let fits = "key and nonce have the length of their algorithm";
        ::aegis::$module::$cipher::<TAG_LEN>::new(
            key.try_into().expect(fits),
            nonce.try_into().expect(fits),
        )
    }};
}

/// The algorithm that the parameter selects.
fn algorithm(config: &CipherConfig) -> &'static Algorithm {
    &ALGORITHMS[config.value("algorithm") as usize - 1]
}

/// All algorithms, in the order of the parameter's values.
pub static ALGORITHMS: [Algorithm; 6] = [
    algorithm!(aegis128l::Aegis128L),
    algorithm!(aegis128x2::Aegis128X2),
    algorithm!(aegis128x4::Aegis128X4),
    algorithm!(aegis256::Aegis256),
    algorithm!(aegis256x2::Aegis256X2),
    algorithm!(aegis256x4::Aegis256X4),
];
