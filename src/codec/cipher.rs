//! One scheme with its key, for one database file: what the pager calls.
//!
//! Here is what is the same for all schemes: which salt counts, raw keys, fresh bytes before a
//! page is encrypted, SQLite's magic and a clean page after. What differs is in `scheme/`.

use std::fmt;

use zeroize::Zeroizing;

use super::key::{KeyError, RawKey, Salt};
use super::key_cache;
use super::page::{Layout, MAGIC, Page, PageError, PageNo, is_page_size};
use super::random::Random;
use super::scheme::{PageCipher, Scheme};
use super::settings::CipherConfig;

/// Where the salt of a new cipher comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SaltSource {
    /// Set by `PRAGMA cipher_salt`.
    Saved(Salt),
    /// The first 16 bytes of the database file.
    FileHeader(Salt),
    /// Nowhere, since the file is empty: it is drawn at random.
    New,
}

/// Makes a cipher of a key string: a passphrase, or one of the notations of a raw key.
pub fn derive(config: &CipherConfig, key: &[u8], salt: SaltSource) -> Result<Cipher, KeyError> {
    let random = Random::open()?;
    let scheme = config.scheme();
    let layout = (scheme.layout)(config);
    let raw = (scheme.raw_key_len)(config).and_then(|key_len| RawKey::parse(key, key_len));
    let salt = scheme.salted.then(|| {
        let spelled = raw.as_ref().and_then(|raw| raw.salt);
        choose_salt(salt, spelled, layout.stores_salt, random)
    });
    let key_text = scheme.salted.then(|| Zeroizing::new(key.to_vec()));
    let key = match raw {
        Some(raw) => raw.key,
        None => key_cache::derive_key(config, key, salt.as_ref())?,
    };
    Ok(Cipher {
        layout,
        pages: (scheme.open)(config, &key, salt.as_ref())?,
        config: config.clone(),
        salt,
        key_text,
        random,
    })
}

/// One scheme with its key, for one database file.
pub struct Cipher {
    config: CipherConfig,
    layout: Layout,
    salt: Option<Salt>,
    /// The key string, kept until page 1 proved the key.
    key_text: Option<Zeroizing<Vec<u8>>>,
    pages: Box<dyn PageCipher>,
    random: Random,
}

impl Cipher {
    /// The scheme.
    pub fn scheme(&self) -> &'static Scheme {
        self.config.scheme()
    }

    /// What it was made with.
    pub fn config(&self) -> &CipherConfig {
        &self.config
    }

    /// Bytes that the scheme keeps at the end of each page, whatever the file's header says.
    pub fn reserve_len(&self) -> usize {
        self.layout.reserve_len
    }

    /// The salt; `None` when the scheme has none.
    pub fn salt(&self) -> Option<Salt> {
        self.salt
    }

    /// The page size that a legacy mode brings along, when one is set.
    pub fn page_size_override(&self) -> Option<u32> {
        let page_size = self.config.value("legacy_page_size");
        let legacy = self.config.value("legacy") != 0;
        (legacy && is_page_size(page_size as usize)).then_some(page_size)
    }

    /// Whether bytes 16..24 of page 1 are stored in clear, so that page size and reserve can be
    /// read without a key.
    pub fn clear_header(&self) -> bool {
        self.layout.clear_header
    }

    /// Whether a wrong key or a changed page is noticed by a tag.
    pub fn authenticated(&self) -> bool {
        self.layout.authenticated && self.config.hmac_check()
    }

    /// Whether page 1 starts with the salt.
    pub fn salt_in_file(&self) -> bool {
        self.layout.stores_salt
    }

    /// Encrypts a whole page in place, under a new nonce where the scheme has one.
    pub fn encrypt(&mut self, page_no: PageNo, page: &mut [u8]) -> Result<(), PageError> {
        let random = self.random;
        self.seal(page_no, page, |fresh| random.fill(fresh))
    }

    /// Encrypts under a given nonce (the fresh part of the tail). Only for test vectors: two pages
    /// under one nonce give away what differs between them.
    ///
    /// # Panics
    /// When the length of `nonce` is not that of the scheme.
    pub fn encrypt_with_nonce(
        &mut self,
        page_no: PageNo,
        page: &mut [u8],
        nonce: &[u8],
    ) -> Result<(), PageError> {
        self.seal(page_no, page, |fresh| fresh.copy_from_slice(nonce))
    }

    /// Decrypts a whole page in place. After an error the page is all zero.
    pub fn decrypt(&mut self, page_no: PageNo, page: &mut [u8]) -> Result<(), PageError> {
        let salt = self.salt_at_start();
        let opened = Page::cut(page, page_no, &self.layout, salt)
            .and_then(|mut page| self.pages.decrypt(page_no, &mut page));
        if opened.is_err() {
            page.fill(0);
        } else if page_no.is_first() && salt.is_some() {
            page[..MAGIC.len()].copy_from_slice(&MAGIC);
        }
        opened
    }

    /// Derives the same key string under another salt; of a raw key, what else depends on the salt.
    /// `None`: the scheme has no salt, or the string is forgotten.
    pub fn with_salt(&self, salt: Salt) -> Result<Option<Cipher>, KeyError> {
        let key_text = self.key_text.as_ref();
        key_text
            .map(|text| derive(&self.config, text, SaltSource::FileHeader(salt)))
            .transpose()
    }

    /// Erases the key string. The key stays.
    pub fn forget_passphrase(&mut self) {
        self.key_text = None;
    }

    /// The same key and salt once more.
    pub fn duplicate(&self) -> Cipher {
        Cipher {
            config: self.config.clone(),
            layout: self.layout.clone(),
            salt: self.salt,
            key_text: self.key_text.clone(),
            pages: self.pages.duplicate(),
            random: self.random,
        }
    }

    fn seal(
        &mut self,
        page_no: PageNo,
        page: &mut [u8],
        refresh: impl FnOnce(&mut [u8]),
    ) -> Result<(), PageError> {
        let salt = self.salt_at_start();
        let mut page = Page::cut(page, page_no, &self.layout, salt)?;
        refresh(&mut page.tail_mut()[self.layout.fresh.clone()]);
        self.pages.encrypt(page_no, &mut page)
    }

    fn salt_at_start(&self) -> Option<Salt> {
        self.salt.filter(|_| self.salt_in_file())
    }
}

impl fmt::Debug for Cipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cipher({}, ..)", self.scheme().name)
    }
}

/// A salt spelled inside a raw key counts only where no other is known, or where the file does not
/// hold the salt.
fn choose_salt(source: SaltSource, spelled: Option<Salt>, stored: bool, random: Random) -> Salt {
    match (source, spelled) {
        (SaltSource::New, Some(spelled)) => spelled,
        (_, Some(spelled)) if !stored => spelled,
        (SaltSource::Saved(salt) | SaltSource::FileHeader(salt), _) => salt,
        (SaltSource::New, None) => {
            let mut salt = Salt::default();
            random.fill(&mut salt);
            salt
        }
    }
}

#[cfg(test)]
mod tests;
