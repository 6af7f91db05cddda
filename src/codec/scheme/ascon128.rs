//! ascon128: Ascon-128 v1.2, of the second round of NIST's contest, not SP 800-232.
//!
//! ```text
//! page 1      | 0..16 salt | 16..24 clear | body | tag 16 | nonce 16 |
//! other pages | body                             | tag 16 | nonce 16 |
//! ```
//!
//! - Each write of a page has its own key: a hash of the key, the nonce and the page number. The same
//!   nonce then serves the cipher itself.
//! - The tag covers the body, and through the key nonce and page number: neither the salt nor clear
//!   bytes.
//! - `plaintext_header_size`: that many bytes of page 1 stay clear, and no salt is stored.

use ctutils::CtEq;
use zeroize::Zeroizing;

use super::{PageCipher, Scheme};
use crate::codec::ascon::{self, Aead, BLOCK_LEN};
use crate::codec::key::{Key, KeyError, Salt};
use crate::codec::page::{HEADER_FIELDS, Layout, Page, PageError, PageNo};
use crate::codec::params::ParamSpec;
use crate::codec::settings::CipherConfig;

/// The scheme.
pub static SCHEME: Scheme = Scheme {
    name: "ascon128",
    params: &[
        ParamSpec::rounds("kdf_iter", 64007),
        ParamSpec::plaintext_header_size(),
    ],
    salted: true,
    layout,
    raw_key_len: |_| Some(KEY_LEN),
    derive_key,
    open,
};

const KEY_LEN: usize = 32;
const TAG_LEN: usize = BLOCK_LEN;
const NONCE_LEN: usize = BLOCK_LEN;

fn layout(config: &CipherConfig) -> Layout {
    let header_len = config.value("plaintext_header_size") as usize;
    Layout {
        reserve_len: TAG_LEN + NONCE_LEN,
        fresh: TAG_LEN..TAG_LEN + NONCE_LEN,
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
    let key = ascon::pbkdf2(passphrase, salt, config.value("kdf_iter"));
    Ok(Key::new(&*key))
}

fn open(
    config: &CipherConfig,
    key: &Key,
    _: Option<&Salt>,
) -> Result<Box<dyn PageCipher>, KeyError> {
    Ok(Box::new(AsconPages {
        key: key.to_array(),
        check_tag: config.hmac_check(),
    }))
}

struct AsconPages {
    key: Zeroizing<[u8; KEY_LEN]>,
    check_tag: bool,
}

impl AsconPages {
    /// The cipher for one write of one page, whose tail holds the nonce.
    fn aead(&self, page_no: PageNo, tail: &[u8]) -> Aead {
        let mut input = Zeroizing::new([0; KEY_LEN + NONCE_LEN + 4]);
        let (key, rest) = input.split_at_mut(KEY_LEN);
        let (nonce, number) = rest.split_at_mut(NONCE_LEN);
        key.copy_from_slice(&*self.key);
        nonce.copy_from_slice(&tail[TAG_LEN..]);
        number.copy_from_slice(&page_no.get().to_be_bytes());
        let hash = ascon::hash(&*input);
        let (halves, _) = hash.as_chunks();
        let (nonce, _) = tail[TAG_LEN..].as_chunks();
        Aead::new(&halves[0], &nonce[0])
    }
}

impl PageCipher for AsconPages {
    fn encrypt(&mut self, page_no: PageNo, page: &mut Page<'_>) -> Result<(), PageError> {
        let aead = self.aead(page_no, page.tail());
        let tag = aead.encrypt(page.body_mut());
        page.tail_mut()[..TAG_LEN].copy_from_slice(&tag);
        page.place_salt();
        Ok(())
    }

    /// Decryption and tag are one pass. The caller clears a page that is not authentic.
    fn decrypt(&mut self, page_no: PageNo, page: &mut Page<'_>) -> Result<(), PageError> {
        let aead = self.aead(page_no, page.tail());
        let tag = aead.decrypt(page.body_mut());
        let authentic = tag[..].ct_eq(&page.tail()[..TAG_LEN]).to_bool();
        if self.check_tag && !authentic {
            return Err(PageError::NotAuthentic);
        }
        Ok(())
    }

    fn duplicate(&self) -> Box<dyn PageCipher> {
        Box::new(AsconPages {
            key: self.key.clone(),
            check_tag: self.check_tag,
        })
    }
}
