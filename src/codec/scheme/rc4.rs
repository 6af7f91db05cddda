//! rc4: RC4, as System.Data.SQLite had it. To read old files; no protection for new ones.
//!
//! ```text
//! all pages   | body |
//! ```
//!
//! - No salt, no tag, no reserved bytes, and page 1 has no clear part.
//! - The page number does not count: each page is XORed with the same keystream from its start, so
//!   two encrypted pages give away where the plain ones differ. The keystream is made once.
//! - A wrong key shows only as a page 1 without SQLite's magic; other pages come out as garbage.
//! - `legacy` is 1 and can be nothing else.

use rc4::{KeyInit, Rc4, StreamCipher};
use sha1::{Digest, Sha1};
use zeroize::Zeroizing;

use super::{PageCipher, Scheme};
use crate::codec::key::{Key, KeyError, Salt};
use crate::codec::page::{Layout, Page, PageError, PageNo};
use crate::codec::params::ParamSpec;
use crate::codec::settings::CipherConfig;

/// The scheme.
pub static SCHEME: Scheme = Scheme {
    name: "rc4",
    params: &[
        ParamSpec::integer("legacy", 1, 1, 1),
        ParamSpec::legacy_page_size(0),
    ],
    salted: false,
    layout,
    raw_key_len: |_| None,
    derive_key,
    open,
};

const KEY_LEN: usize = 16;

fn layout(_: &CipherConfig) -> Layout {
    Layout {
        reserve_len: 0,
        fresh: 0..0,
        first_body_at: 0,
        clear_header: false,
        stores_salt: false,
        authenticated: false,
    }
}

fn derive_key(_: &CipherConfig, passphrase: &[u8], _: Option<&Salt>) -> Result<Key, KeyError> {
    let mut digest = Zeroizing::new([0; 20]);
    Sha1::new_with_prefix(passphrase).finalize_into((&mut *digest).into());
    Ok(Key::new(&digest[..KEY_LEN]))
}

fn open(_: &CipherConfig, key: &Key, _: Option<&Salt>) -> Result<Box<dyn PageCipher>, KeyError> {
    Ok(Box::new(Rc4Pages {
        key: key.clone(),
        keystream: Zeroizing::default(),
    }))
}

struct Rc4Pages {
    key: Key,
    /// As long as the longest page so far.
    keystream: Zeroizing<Vec<u8>>,
}

impl Rc4Pages {
    fn apply_keystream(&mut self, page: &mut [u8]) {
        if self.keystream.len() < page.len() {
            self.keystream = Zeroizing::new(vec![0; page.len()]);
            Rc4::new_from_slice(self.key.as_bytes())
                .expect("RC4 takes keys of 16 bytes")
                .apply_keystream(&mut self.keystream);
        }
        for (byte, mask) in page.iter_mut().zip(self.keystream.iter()) {
            *byte ^= mask;
        }
    }
}

impl PageCipher for Rc4Pages {
    fn encrypt(&mut self, _: PageNo, page: &mut Page<'_>) -> Result<(), PageError> {
        self.apply_keystream(page.bytes_mut());
        Ok(())
    }

    fn decrypt(&mut self, _: PageNo, page: &mut Page<'_>) -> Result<(), PageError> {
        self.apply_keystream(page.bytes_mut());
        Ok(())
    }

    fn duplicate(&self) -> Box<dyn PageCipher> {
        Box::new(Rc4Pages {
            key: self.key.clone(),
            keystream: self.keystream.clone(),
        })
    }
}
