//! One scheme with its key, for one database file: what the pager calls.
//!
//! Here is what is the same for all schemes: which salt counts, raw keys, fresh bytes before a
//! page is encrypted, SQLite's magic and a clean page after. What differs is in `scheme/`.

use std::fmt;

use zeroize::Zeroizing;

use super::key::{KeyError, RawKey, Salt};
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
        None => (scheme.derive_key)(config, key, salt.as_ref())?,
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
mod tests {
    use super::super::settings::{Reach, Settings};
    use super::super::{SCHEMES, find_scheme};
    use super::*;

    const SALT: Salt = [0x5a; 16];

    type Params<'a> = &'a [(&'a str, &'a str)];

    /// A page as SQLite would have it: on page 1 a header that fits the page and the reserve.
    fn plain_page(len: usize, page_no: PageNo, reserve_len: usize) -> Vec<u8> {
        let mut page: Vec<u8> = (0..len).map(|at| u8::try_from(at % 251).unwrap()).collect();
        if page_no.is_first() {
            page[..16].copy_from_slice(&MAGIC);
            let [_, high, low] = [len >> 16, len >> 8 & 0xff, len & 0xff];
            let size = if len == 65536 { [0, 1] } else { [high, low] };
            page[16..18].copy_from_slice(&size.map(|byte| u8::try_from(byte).unwrap()));
            page[18..24].copy_from_slice(&[1, 1, u8::try_from(reserve_len).unwrap(), 64, 32, 32]);
        }
        page
    }

    fn config(scheme: &str, params: Params<'_>) -> CipherConfig {
        let mut settings = Settings::new();
        let scheme = find_scheme(scheme).unwrap();
        settings.set_scheme(Reach::Both, scheme);
        for (name, text) in params {
            let answer = settings.set_param_text(Reach::Both, scheme, name, text);
            assert_eq!(answer.unwrap().unwrap(), *text, "{name}");
        }
        settings.take()
    }

    fn cipher(scheme: &str, params: Params<'_>, key: &str) -> Cipher {
        let mut params = params.to_vec();
        if scheme == "chacha20" {
            params.push(("kdf_iter", "10"));
        }
        let config = config(scheme, &params);
        derive(&config, key.as_bytes(), SaltSource::FileHeader(SALT)).unwrap()
    }

    fn page_nos() -> [PageNo; 3] {
        [1, 2, u32::MAX].map(|number| PageNo::new(number).unwrap())
    }

    fn sealed(cipher: &mut Cipher, page_no: PageNo) -> Vec<u8> {
        let mut page = plain_page(512, page_no, cipher.reserve_len());
        cipher.encrypt(page_no, &mut page).unwrap();
        page
    }

    #[test]
    fn pages_of_every_size_come_back() {
        let modes: [Params<'_>; 2] = [&[], &[("legacy", "1")]];
        for (scheme, params) in SCHEMES.iter().flat_map(|s| modes.map(|m| (s.name, m))) {
            let mut cipher = cipher(scheme, params, "pw");
            for (bits, page_no) in (9..=16).flat_map(|bits| page_nos().map(|no| (bits, no))) {
                let plain = plain_page(1 << bits, page_no, cipher.reserve_len());
                let mut page = plain.clone();
                cipher.encrypt(page_no, &mut page).unwrap();
                assert_ne!(page, plain);
                cipher.decrypt(page_no, &mut page).unwrap();
                let body_len = page.len() - cipher.reserve_len();
                assert!(
                    page[..body_len] == plain[..body_len],
                    "{scheme} {params:?} {page_no:?} {bits}"
                );
            }
        }
    }

    #[test]
    fn chacha20_counters_around_the_wrap_come_back() {
        let mut cipher = cipher("chacha20", &[], "pw");
        let page_no = PageNo::new(7).unwrap();
        for back in 0..70_u32 {
            let mut nonce = [3; 16];
            nonce[12..].copy_from_slice(&(back.wrapping_neg() ^ 7).to_le_bytes());
            let plain = plain_page(4096, page_no, 32);
            let mut page = plain.clone();
            cipher
                .encrypt_with_nonce(page_no, &mut page, &nonce)
                .unwrap();
            cipher.decrypt(page_no, &mut page).unwrap();
            assert_eq!(page[..4064], plain[..4064], "{back} blocks before the end");
        }
    }

    #[test]
    fn every_changed_byte_of_an_authenticated_page_is_noticed() {
        let modes: [Params<'_>; 3] = [&[], &[("legacy", "1")], &[("plaintext_header_size", "32")]];
        for (params, page_no) in modes.iter().flat_map(|m| page_nos().map(|no| (m, no))) {
            let mut cipher = cipher("chacha20", params, "pw");
            let stored = sealed(&mut cipher, page_no);
            // Salt, clear header, body, nonce and tag, each byte with each of its bits once.
            for at in 0..stored.len() {
                let mut page = stored.clone();
                page[at] ^= 1 << (at % 8);
                let opened = cipher.decrypt(page_no, &mut page);
                assert_eq!(opened, Err(PageError::NotAuthentic), "byte {at}");
                assert!(page.iter().all(|byte| *byte == 0), "byte {at}");
            }
        }
    }

    #[test]
    fn a_page_moved_to_another_number_is_noticed() {
        let mut cipher = cipher("chacha20", &[], "pw");
        let mut page = sealed(&mut cipher, PageNo::new(2).unwrap());
        let opened = cipher.decrypt(PageNo::new(3).unwrap(), &mut page);
        assert_eq!(opened, Err(PageError::NotAuthentic));
    }

    #[test]
    fn a_page_of_zeros_is_not_authentic() {
        let mut cipher = cipher("chacha20", &[], "pw");
        for page_no in page_nos() {
            let opened = cipher.decrypt(page_no, &mut [0; 512]);
            assert_eq!(opened, Err(PageError::NotAuthentic));
        }
    }

    #[test]
    fn a_wrong_key_is_noticed_by_the_tag_or_shows_no_magic() {
        let page_no = PageNo::FIRST;
        let mut page = sealed(&mut cipher("chacha20", &[], "pw"), page_no);
        let opened = cipher("chacha20", &[], "wrong").decrypt(page_no, &mut page);
        assert_eq!(opened, Err(PageError::NotAuthentic));

        let modes: [Params<'_>; 2] = [&[], &[("legacy", "1")]];
        for params in modes {
            let mut page = sealed(&mut cipher("aes256cbc", params, "pw"), page_no);
            cipher("aes256cbc", params, "wrong")
                .decrypt(page_no, &mut page)
                .unwrap();
            assert_ne!(page[..16], MAGIC, "{params:?}");
        }
    }

    #[test]
    fn each_write_has_its_own_nonce_and_aes256cbc_has_none() {
        let page_no = PageNo::new(2).unwrap();
        let mut chacha20 = cipher("chacha20", &[], "pw");
        let mut copy = chacha20.duplicate();
        assert_ne!(
            sealed(&mut chacha20, page_no),
            sealed(&mut chacha20, page_no)
        );
        assert_ne!(
            sealed(&mut chacha20, page_no)[480..496],
            sealed(&mut copy, page_no)[480..496]
        );
        let mut aes256cbc = cipher("aes256cbc", &[], "pw");
        assert_eq!(
            sealed(&mut aes256cbc, page_no),
            sealed(&mut aes256cbc, page_no)
        );
    }

    #[test]
    fn page_one_starts_as_its_mode_says() {
        let fields = plain_page(512, PageNo::FIRST, 32)[16..24].to_vec();
        let cases: [(Params<'_>, &Salt, bool); 4] = [
            (&[], &SALT, true),
            (&[("legacy", "1")], &SALT, false),
            (&[("plaintext_header_size", "1")], &MAGIC, true),
            (
                &[("legacy", "1"), ("plaintext_header_size", "24")],
                &MAGIC,
                true,
            ),
        ];
        for (params, start, clear) in cases {
            let mut cipher = cipher("chacha20", params, "pw");
            let page = sealed(&mut cipher, PageNo::FIRST);
            assert_eq!(&page[..16], start, "{params:?}");
            assert_eq!(page[16..24] == fields, clear, "{params:?}");
            assert_eq!(cipher.clear_header(), clear, "{params:?}");
            assert_eq!(cipher.salt_in_file(), *start == SALT, "{params:?}");
        }
    }

    #[test]
    fn aes256cbc_compares_the_clear_header_with_its_encrypted_copy() {
        let mut cipher = cipher("aes256cbc", &[], "pw");
        let stored = sealed(&mut cipher, PageNo::FIRST);
        for (at, noticed) in [
            (0, false),
            (7, false),
            (8, true),
            (15, true),
            (18, true),
            (20, true),
        ] {
            let mut page = stored.clone();
            page[at] ^= 1;
            cipher.decrypt(PageNo::FIRST, &mut page).unwrap();
            assert_eq!(page[..16] != MAGIC, noticed, "byte {at}");
        }
    }

    #[test]
    fn aes256cbc_reads_legacy_pages_but_legacy_reads_no_others() {
        let mut plain = cipher("aes256cbc", &[], "pw");
        let mut legacy = cipher("aes256cbc", &[("legacy", "1")], "pw");
        assert!(plain.clear_header() && !legacy.clear_header());
        let mut page = sealed(&mut legacy, PageNo::FIRST);
        plain.decrypt(PageNo::FIRST, &mut page).unwrap();
        assert_eq!(page, plain_page(512, PageNo::FIRST, 0));
        let mut page = sealed(&mut plain, PageNo::FIRST);
        legacy.decrypt(PageNo::FIRST, &mut page).unwrap();
        assert_ne!(page[16..24], plain_page(512, PageNo::FIRST, 0)[16..24]);
    }

    #[test]
    fn kdf_iter_changes_nothing() {
        let page_no = PageNo::new(2).unwrap();
        let page = sealed(&mut cipher("aes256cbc", &[], "pw"), page_no);
        assert_eq!(
            page,
            sealed(
                &mut cipher("aes256cbc", &[("kdf_iter", "1")], "pw"),
                page_no
            )
        );
    }

    #[test]
    fn without_hmac_check_a_changed_page_still_opens() {
        let mut settings = Settings::new();
        settings.set_hmac_check(false);
        let mut lenient = derive(&settings.take(), b"pw", SaltSource::Saved(SALT)).unwrap();
        assert!(!lenient.authenticated());
        let page_no = PageNo::new(2).unwrap();
        let mut page = sealed(&mut lenient, page_no);
        page[0] ^= 1;
        lenient.duplicate().decrypt(page_no, &mut page).unwrap();
        let plain = plain_page(512, page_no, 32);
        assert_eq!((page[0], &page[1..480]), (plain[0] ^ 1, &plain[1..480]));
        let strict = derive(&settings.take(), b"pw", SaltSource::Saved(SALT)).unwrap();
        assert!(strict.authenticated());
    }

    #[test]
    fn a_salt_comes_from_the_file_first_and_is_drawn_last() {
        let fast = config("chacha20", &[("kdf_iter", "1")]);
        let headed = config("chacha20", &[("plaintext_header_size", "32")]);
        let raw = [b"raw:".as_slice(), &[1; 32], &[2; 16]].concat();
        let salt =
            |config, key: &[u8], source| derive(config, key, source).unwrap().salt().unwrap();
        assert_eq!(salt(&fast, b"pw", SaltSource::FileHeader(SALT)), SALT);
        assert_eq!(salt(&fast, b"pw", SaltSource::Saved(SALT)), SALT);
        let drawn = salt(&fast, b"pw", SaltSource::New);
        assert_ne!(drawn, salt(&fast, b"pw", SaltSource::New));
        assert_eq!(salt(&fast, &raw, SaltSource::FileHeader(SALT)), SALT);
        assert_eq!(salt(&fast, &raw, SaltSource::New), [2; 16]);
        assert_eq!(salt(&headed, &raw, SaltSource::FileHeader(MAGIC)), [2; 16]);
        assert_eq!(cipher("aes256cbc", &[], "pw").salt(), None);
    }

    #[test]
    fn another_salt_needs_the_passphrase() {
        let page_no = PageNo::FIRST;
        let mut first = cipher("chacha20", &[], "pw");
        let mut second = first.duplicate().with_salt([6; 16]).unwrap().unwrap();
        assert_eq!(second.salt(), Some([6; 16]));
        let mut page = sealed(&mut second, page_no);
        assert_eq!(page[..16], [6; 16]);
        assert!(first.decrypt(page_no, &mut page.clone()).is_err());
        first
            .with_salt([6; 16])
            .unwrap()
            .unwrap()
            .decrypt(page_no, &mut page)
            .unwrap();
        first.forget_passphrase();
        assert!(first.with_salt([6; 16]).unwrap().is_none());
        let raw = cipher("chacha20", &[], &format!("raw:{}", "k".repeat(32)));
        assert!(raw.with_salt([6; 16]).unwrap().is_some());
        assert!(
            cipher("aes256cbc", &[], "pw")
                .with_salt([6; 16])
                .unwrap()
                .is_none()
        );
    }

    #[test]
    fn only_a_legacy_mode_brings_a_page_size() {
        let page_size = |scheme, params| cipher(scheme, params, "pw").page_size_override();
        assert_eq!(page_size("chacha20", &[]), None);
        assert_eq!(page_size("chacha20", &[("legacy", "1")]), Some(4096));
        let unknown = [("legacy", "1"), ("legacy_page_size", "0")];
        assert_eq!(page_size("chacha20", &unknown), None);
        assert_eq!(page_size("aes256cbc", &[("legacy", "1")]), None);
        let known = [("legacy", "1"), ("legacy_page_size", "1024")];
        assert_eq!(page_size("aes256cbc", &known), Some(1024));
    }

    #[test]
    fn a_slice_that_is_no_page_is_refused() {
        for scheme in SCHEMES {
            let mut cipher = cipher(scheme.name, &[], "pw");
            for len in [0, 1, 16, 100, 511, 513, 131_072] {
                let mut bytes = vec![1; len];
                let refused = Err(PageError::NotAPage(len));
                assert_eq!(cipher.encrypt(PageNo::FIRST, &mut bytes), refused);
                assert_eq!(cipher.decrypt(PageNo::FIRST, &mut bytes), refused);
            }
        }
    }

    #[test]
    fn debug_output_shows_no_secret() {
        let cipher = cipher("chacha20", &[], "passphrase");
        assert_eq!(format!("{cipher:?}"), "Cipher(chacha20, ..)");
    }

    #[test]
    fn a_cipher_may_move_to_another_thread() {
        fn sendable<T: Send>(_: &T) {}
        sendable(&cipher("chacha20", &[], "pw"));
    }
}
