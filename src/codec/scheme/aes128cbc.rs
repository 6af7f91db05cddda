//! aes128cbc: AES-128 (FIPS 197) in CBC mode, as wxSQLite3 had it.
//!
//! The picture of a page is in `cbc_page`. No salt, no tag, no reserved bytes.
//!
//! - The key is made as in revision 3 of PDF's standard security handler: the padded passphrase,
//!   encrypted with RC4 under keys from the padding alone, then MD5 over both, hashed again.
//! - Each page has its own AES key, MD5 over the key, the page number and a constant.
//! - A wrong key shows only as a page 1 without SQLite's magic; other pages come out as garbage.

use aes::{Aes128Dec, Aes128Enc};
use cbc::cipher::KeyInit;
use md5::{Digest, Md5};
use rc4::{Rc4, StreamCipher};
use zeroize::Zeroizing;

use super::{PageCipher, Scheme};
use crate::codec::cbc_page;
use crate::codec::kdf::{PAD, pad32};
use crate::codec::key::{Key, KeyError, Salt};
use crate::codec::page::{Layout, Page, PageError, PageNo};
use crate::codec::params::ParamSpec;
use crate::codec::settings::CipherConfig;

/// The scheme.
pub static SCHEME: Scheme = Scheme {
    name: "aes128cbc",
    params: &[
        ParamSpec::integer("legacy", 0, 0, 1),
        ParamSpec::legacy_page_size(0),
    ],
    salted: false,
    layout,
    raw_key_len: |_| None,
    derive_key,
    open,
};

const KEY_LEN: usize = 16;
/// How often each digest of the key derivation is hashed again.
const HASH_ROUNDS: u32 = 50;
const RC4_ROUNDS: u8 = 20;

fn layout(config: &CipherConfig) -> Layout {
    Layout {
        reserve_len: 0,
        fresh: 0..0,
        first_body_at: 0,
        clear_header: config.value("legacy") == 0,
        stores_salt: false,
        authenticated: false,
    }
}

fn derive_key(_: &CipherConfig, passphrase: &[u8], _: Option<&Salt>) -> Result<Key, KeyError> {
    let user = pad32(passphrase);
    let mut owner = user.clone();
    let digest = md5_chain(&[&PAD]);
    for round in 0..RC4_ROUNDS {
        let key = Zeroizing::new(digest.map(|byte| byte ^ round));
        Rc4::new_from_slice(&*key)
            .expect("RC4 takes keys of 16 bytes")
            .apply_keystream(&mut *owner);
    }
    Ok(Key::new(&*md5_chain(&[&*user, &*owner])))
}

fn md5_chain(parts: &[&[u8]]) -> Zeroizing<[u8; KEY_LEN]> {
    let mut digest = md5(parts);
    for _ in 0..HASH_ROUNDS {
        digest = md5(&[&*digest]);
    }
    digest
}

fn md5(parts: &[&[u8]]) -> Zeroizing<[u8; KEY_LEN]> {
    let mut digest = Zeroizing::new([0; KEY_LEN]);
    let mut hash = Md5::new();
    for part in parts {
        hash.update(part);
    }
    hash.finalize_into((&mut *digest).into());
    digest
}

fn open(
    config: &CipherConfig,
    key: &Key,
    _: Option<&Salt>,
) -> Result<Box<dyn PageCipher>, KeyError> {
    Ok(Box::new(Aes128Pages {
        key: key.to_array(),
        legacy: config.value("legacy") != 0,
    }))
}

struct Aes128Pages {
    key: Zeroizing<[u8; KEY_LEN]>,
    legacy: bool,
}

impl Aes128Pages {
    fn page_key(&self, page_no: PageNo) -> Zeroizing<[u8; KEY_LEN]> {
        md5(&[&*self.key, &page_no.get().to_le_bytes(), b"sAlT"])
    }
}

impl PageCipher for Aes128Pages {
    fn encrypt(&mut self, page_no: PageNo, page: &mut Page<'_>) -> Result<(), PageError> {
        let aes = Aes128Enc::new((&*self.page_key(page_no)).into());
        cbc_page::encrypt(&aes, page_no, page.bytes_mut(), self.legacy);
        Ok(())
    }

    fn decrypt(&mut self, page_no: PageNo, page: &mut Page<'_>) -> Result<(), PageError> {
        let aes = Aes128Dec::new((&*self.page_key(page_no)).into());
        cbc_page::decrypt(&aes, page_no, page.bytes_mut(), self.legacy);
        Ok(())
    }

    fn duplicate(&self) -> Box<dyn PageCipher> {
        Box::new(Aes128Pages {
            key: self.key.clone(),
            legacy: self.legacy,
        })
    }
}
