//! Tries a key on an image of page 1, under one variant after the other.
//!
//! A derivation is what costs; variants that ask for the same one share it. A scheme without a tag
//! decrypts anything, so what comes out has to look like the first page of a database.

use zeroize::Zeroizing;

use super::look::{HEAD_LEN, Kind, Sight, geometry, look};
use super::variants::{Variant, variants};
use super::{Image, Request};
use crate::codec::key::{Key, RawKey, show_salt};
use crate::codec::page::MAGIC;
use crate::codec::{Cipher, CipherConfig, PageNo, Salt, SaltSource, derive};

/// What opens a database.
pub(crate) struct Opened {
    pub(crate) scheme: &'static str,
    /// For a new connection, before the key.
    pub(crate) pragmas: Vec<String>,
    /// Bytes that the scheme keeps at the end of each page.
    pub(crate) reserve_len: usize,
    pub(crate) authenticated: bool,
    /// Bytes of page 1 that stay clear and are not SQLite's first fields alone.
    pub(crate) plaintext_header_size: u32,
}

/// A key string, and what was derived from it.
pub(super) struct Keys<'k> {
    text: &'k [u8],
    derived: Vec<Derived>,
}

struct Derived {
    /// Scheme, length of the key and the parameters that count.
    from: (&'static str, Vec<u32>, Salt),
    /// As a raw key. None: the derivation refuses its parameters.
    key: Option<Zeroizing<Vec<u8>>>,
}

impl<'k> Keys<'k> {
    pub(super) fn new(text: &'k Zeroizing<Vec<u8>>) -> Keys<'k> {
        Keys {
            text,
            derived: Vec::new(),
        }
    }

    pub(super) fn derivation_count(&self) -> usize {
        self.derived.len()
    }

    /// What opens this image, and the page in clear.
    pub(super) fn open(
        &mut self,
        image: &Image,
        page_sizes: &[u32],
        request: &Request,
        tried: &mut Vec<String>,
    ) -> Option<(Opened, Zeroizing<Vec<u8>>)> {
        let magic = image.bytes.starts_with(&MAGIC);
        let known = geometry(&image.bytes);
        for variant in variants(known, magic, request.scheme, &request.params) {
            let label = variant.label();
            if !variant.is_repetition() && !tried.contains(&label) {
                tried.push(label);
            }
            let Some(mut cipher) = self.cipher(&variant.config, image, request) else {
                continue;
            };
            for page_size in page_sizes {
                let page = image.bytes.get(..*page_size as usize);
                let page = page.and_then(|stored| decrypt(&mut cipher, stored));
                if let Some(page) = page {
                    return Some((opened(&variant, &cipher, *page_size, request), page));
                }
            }
        }
        None
    }

    fn cipher(
        &mut self,
        config: &CipherConfig,
        image: &Image,
        request: &Request,
    ) -> Option<Cipher> {
        let stored = SaltSource::FileHeader(*image.bytes.first_chunk()?);
        let scheme = config.scheme();
        let key_len = (scheme.raw_key_len)(config);
        let stores_salt = (scheme.layout)(config).stores_salt;
        let source = match request.salt {
            Some(salt) if !stores_salt => SaltSource::Saved(salt),
            _ => stored,
        };
        let (SaltSource::FileHeader(salt) | SaltSource::Saved(salt)) = source else {
            return None;
        };
        // Without a salt nothing is worth keeping; a raw key needs no derivation.
        let Some(key_len) = key_len.filter(|len| RawKey::parse(self.text, *len).is_none()) else {
            return derive(config, self.text, source).ok();
        };
        let key = self.derived_key(config, key_len, salt)?;
        derive(config, key, source).ok()
    }

    fn derived_key(&mut self, config: &CipherConfig, key_len: usize, salt: Salt) -> Option<&[u8]> {
        let scheme = config.scheme();
        let from = (scheme.name, costs(config, key_len), salt);
        let at = match self.derived.iter().position(|known| known.from == from) {
            Some(at) => at,
            None => {
                let key = (scheme.derive_key)(config, self.text, Some(&salt));
                self.derived.push(Derived {
                    from,
                    key: key.ok().map(|key| as_raw_key(&key)),
                });
                self.derived.len() - 1
            }
        };
        self.derived[at].key.as_ref().map(|key| key.as_slice())
    }
}

/// What a derivation depends on beside key string and salt.
fn costs(config: &CipherConfig, key_len: usize) -> Vec<u32> {
    // Of the legacy modes only that of chacha20 counts its own rounds; sqlcipher's are parameters.
    let legacy = match config.scheme().name {
        "chacha20" => config.value("legacy"),
        _ => 0,
    };
    let names = ["kdf_iter", "kdf_algorithm", "tcost", "mcost", "pcost"];
    let mut costs = names.map(|name| config.value(name)).to_vec();
    costs.extend([legacy, u32::try_from(key_len).unwrap_or(u32::MAX)]);
    costs
}

/// The hex notation, which no length makes ambiguous.
fn as_raw_key(key: &Key) -> Zeroizing<Vec<u8>> {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    // Of its final size, so that no copy of the key is left behind.
    let mut text = Zeroizing::new(Vec::with_capacity(2 * key.as_bytes().len() + 3));
    text.extend_from_slice(b"x'");
    for byte in key.as_bytes() {
        text.push(DIGITS[usize::from(byte >> 4)]);
        text.push(DIGITS[usize::from(byte & 15)]);
    }
    text.push(b'\'');
    text
}

/// The page in clear, if it is the first page of a database whose pages have this length.
fn decrypt(cipher: &mut Cipher, stored: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let mut page = Zeroizing::new(stored.to_vec());
    cipher.decrypt(PageNo::FIRST, &mut page).ok()?;
    let fits = geometry(&page)?.page_size as usize == page.len() && page.starts_with(&MAGIC);
    (fits && is_first_page(&page)).then_some(page)
}

fn is_first_page(page: &[u8]) -> bool {
    let head = &page[..page.len().min(HEAD_LEN)];
    let look = look(Sight {
        len: page.len() as u64,
        head,
        wal_len: 0,
        journal_len: 0,
    });
    look.kind == Kind::Plain
}

fn opened(variant: &Variant, cipher: &Cipher, page_size: u32, request: &Request) -> Opened {
    let told = variant.for_page_size(page_size);
    let mut pragmas = told.as_ref().unwrap_or(variant).pragmas();
    if let Some(salt) = request.salt.filter(|_| !cipher.salt_in_file()) {
        pragmas.push(format!("cipher_salt='{}'", show_salt(&salt)));
    }
    Opened {
        scheme: cipher.scheme().name,
        pragmas,
        reserve_len: cipher.reserve_len(),
        authenticated: cipher.authenticated(),
        plaintext_header_size: cipher.config().value("plaintext_header_size"),
    }
}
