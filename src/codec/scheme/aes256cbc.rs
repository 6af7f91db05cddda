//! aes256cbc: AES-256 (FIPS 197) in CBC mode, as wxSQLite3 had it.
//!
//! The picture of a page is in `cbc_page`. No salt, no tag, no reserved bytes.
//!
//! - The key is a chain of SHA-256 over the padded passphrase. `kdf_iter` is accepted, shown and
//!   ignored: the rounds are always 4001.
//! - Each page has its own AES key, SHA-256 over the key, the page number and a constant, so the
//!   key schedule is per page; that is the format.
//! - A wrong key shows only as a page 1 without SQLite's magic; other pages come out as garbage.

use aes::{Aes256Dec, Aes256Enc};
use cbc::cipher::KeyInit;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::{PageCipher, Scheme};
use crate::codec::key::{Key, KeyError, Salt};
use crate::codec::page::{Layout, Page, PageError, PageNo};
use crate::codec::params::ParamSpec;
use crate::codec::settings::CipherConfig;
use crate::codec::{cbc_page, kdf};

/// The scheme.
pub static SCHEME: Scheme = Scheme {
    name: "aes256cbc",
    params: &[
        ParamSpec::integer("legacy", 0, 0, 1),
        ParamSpec::legacy_page_size(0),
        ParamSpec::rounds("kdf_iter", ROUNDS),
    ],
    salted: false,
    layout,
    raw_key_len: |_| None,
    derive_key,
    open,
};

const KEY_LEN: usize = 32;
const ROUNDS: u32 = 4001;

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
    // Compat: the value of kdf_iter does not count (kdf_iter_changes_nothing).
    Ok(kdf::sha256_chain(passphrase, ROUNDS))
}

fn open(
    config: &CipherConfig,
    key: &Key,
    _: Option<&Salt>,
) -> Result<Box<dyn PageCipher>, KeyError> {
    Ok(Box::new(Aes256Pages {
        key: key.to_array(),
        legacy: config.value("legacy") != 0,
    }))
}

struct Aes256Pages {
    key: Zeroizing<[u8; KEY_LEN]>,
    legacy: bool,
}

impl Aes256Pages {
    fn page_key(&self, page_no: PageNo) -> Zeroizing<[u8; KEY_LEN]> {
        let mut page_key = Zeroizing::new([0; KEY_LEN]);
        Sha256::new_with_prefix(self.key.as_slice())
            .chain_update(page_no.get().to_le_bytes())
            .chain_update(b"sAlT")
            .finalize_into((&mut *page_key).into());
        page_key
    }
}

impl PageCipher for Aes256Pages {
    fn encrypt(&mut self, page_no: PageNo, page: &mut Page<'_>) -> Result<(), PageError> {
        let aes = Aes256Enc::new((&*self.page_key(page_no)).into());
        cbc_page::encrypt(&aes, page_no, page.bytes_mut(), self.legacy);
        Ok(())
    }

    fn decrypt(&mut self, page_no: PageNo, page: &mut Page<'_>) -> Result<(), PageError> {
        let aes = Aes256Dec::new((&*self.page_key(page_no)).into());
        cbc_page::decrypt(&aes, page_no, page.bytes_mut(), self.legacy);
        Ok(())
    }

    fn duplicate(&self) -> Box<dyn PageCipher> {
        Box::new(Aes256Pages {
            key: self.key.clone(),
            legacy: self.legacy,
        })
    }
}
