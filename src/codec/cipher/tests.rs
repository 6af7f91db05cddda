//! What holds for every scheme and mode, one table of them all, and what holds for a few.
//!
//! Known answers are in `tests/vectors`; here is what they cannot say: changed bytes, wrong keys,
//! pages of all sizes, and which bytes of page 1 are what.

use super::*;
use crate::codec::settings::{Reach, Settings};
use crate::codec::{SCHEMES, find_scheme};

const SALT: Salt = [0x5a; 16];

type Params<'a> = &'a [(&'a str, &'a str)];

/// A scheme under parameters that change its pages.
struct Mode {
    scheme: &'static str,
    params: Params<'static>,
    /// What page 1 starts with; `None`: cipher text.
    start: Option<Salt>,
    /// First authenticated byte of page 1, and how many bytes at the end of each page are not.
    /// `None`: there is no tag.
    tagged: Option<(usize, usize)>,
}

const fn mode(
    scheme: &'static str,
    params: Params<'static>,
    start: Option<Salt>,
    tagged: Option<(usize, usize)>,
) -> Mode {
    Mode {
        scheme,
        params,
        start,
        tagged,
    }
}

const HEADER_32: (&str, &str) = ("plaintext_header_size", "32");

static MODES: [Mode; 29] = [
    mode("aes128cbc", &[], None, None),
    mode("aes128cbc", &[("legacy", "1")], None, None),
    mode("aes256cbc", &[], None, None),
    mode("aes256cbc", &[("legacy", "1")], None, None),
    mode("chacha20", &[], Some(SALT), Some((0, 0))),
    mode("chacha20", &[HEADER_32], Some(MAGIC), Some((0, 0))),
    mode("chacha20", &[("legacy", "1")], Some(SALT), Some((0, 0))),
    mode(
        "chacha20",
        &[("legacy", "1"), HEADER_32],
        Some(MAGIC),
        Some((0, 0)),
    ),
    mode("sqlcipher", &[], Some(SALT), Some((24, 0))),
    mode("sqlcipher", &[HEADER_32], Some(MAGIC), Some((32, 0))),
    mode("sqlcipher", &[("legacy", "1")], Some(SALT), None),
    mode("sqlcipher", &[("legacy", "2")], Some(SALT), Some((16, 12))),
    mode("sqlcipher", &[("legacy", "3")], Some(SALT), Some((16, 12))),
    mode(
        "sqlcipher",
        &[("legacy", "3"), HEADER_32],
        Some(SALT),
        Some((16, 12)),
    ),
    mode("sqlcipher", &[("legacy", "4")], Some(SALT), Some((16, 0))),
    mode(
        "sqlcipher",
        &[("legacy", "4"), HEADER_32],
        Some(MAGIC),
        Some((32, 0)),
    ),
    mode(
        "sqlcipher",
        &[("hmac_algorithm", "1")],
        Some(SALT),
        Some((24, 0)),
    ),
    mode(
        "sqlcipher",
        &[("hmac_pgno", "0")],
        Some(SALT),
        Some((24, 0)),
    ),
    mode(
        "sqlcipher",
        &[("hmac_pgno", "2")],
        Some(SALT),
        Some((24, 0)),
    ),
    mode("rc4", &[], None, None),
    mode("ascon128", &[], Some(SALT), Some((24, 0))),
    mode("ascon128", &[HEADER_32], Some(MAGIC), Some((32, 0))),
    mode(
        "aegis",
        &[("algorithm", "aegis-128l")],
        Some(SALT),
        Some((24, 0)),
    ),
    mode(
        "aegis",
        &[("algorithm", "aegis-128x2")],
        Some(SALT),
        Some((24, 0)),
    ),
    mode(
        "aegis",
        &[("algorithm", "aegis-128x4")],
        Some(SALT),
        Some((24, 0)),
    ),
    mode(
        "aegis",
        &[("algorithm", "aegis-256")],
        Some(SALT),
        Some((24, 0)),
    ),
    mode(
        "aegis",
        &[("algorithm", "aegis-256x2")],
        Some(SALT),
        Some((24, 0)),
    ),
    mode(
        "aegis",
        &[("algorithm", "aegis-256x4")],
        Some(SALT),
        Some((24, 0)),
    ),
    mode("aegis", &[HEADER_32], Some(MAGIC), Some((32, 0))),
];

impl Mode {
    fn cipher(&self, key: &str) -> Cipher {
        cipher(self.scheme, self.params, key)
    }

    fn name(&self) -> String {
        format!("{} {:?}", self.scheme, self.params)
    }
}

fn tagged_modes() -> impl Iterator<Item = &'static Mode> {
    MODES.iter().filter(|mode| mode.tagged.is_some())
}

/// Parameters that make a derivation quick.
fn quick(scheme: &str) -> Params<'static> {
    match scheme {
        "chacha20" | "sqlcipher" | "ascon128" => &[("kdf_iter", "10")],
        "aegis" => &[("tcost", "1"), ("mcost", "8")],
        _ => &[],
    }
}

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
    settings(scheme, params).take()
}

fn settings(scheme: &str, params: Params<'_>) -> Settings {
    let mut settings = Settings::new();
    let scheme = find_scheme(scheme).unwrap();
    settings.set_scheme(Reach::Both, scheme);
    for (name, text) in params {
        let answer = settings.set_param_text(Reach::Both, scheme, name, text);
        assert_eq!(answer.unwrap().unwrap(), *text, "{name}");
    }
    settings
}

fn cipher(scheme: &str, params: Params<'_>, key: &str) -> Cipher {
    let config = config(scheme, &[params, quick(scheme)].concat());
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
fn every_scheme_has_a_mode_here() {
    for scheme in SCHEMES {
        assert!(
            MODES.iter().any(|mode| mode.scheme == scheme.name),
            "{scheme:?}"
        );
    }
}

#[test]
fn pages_of_every_size_come_back() {
    for mode in &MODES {
        let mut cipher = mode.cipher("pw");
        for (bits, page_no) in (9..=16).flat_map(|bits| page_nos().map(|no| (bits, no))) {
            let plain = plain_page(1 << bits, page_no, cipher.reserve_len());
            let mut page = plain.clone();
            cipher.encrypt(page_no, &mut page).unwrap();
            assert_ne!(page, plain);
            cipher.decrypt(page_no, &mut page).unwrap();
            let body_len = page.len() - cipher.reserve_len();
            assert!(
                page[..body_len] == plain[..body_len],
                "{} {page_no:?} {bits}",
                mode.name()
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
fn every_changed_byte_under_the_tag_is_noticed_and_no_other() {
    for (mode, page_no) in tagged_modes().flat_map(|mode| page_nos().map(|no| (mode, no))) {
        let (head_len, filler_len) = mode.tagged.unwrap();
        let mut cipher = mode.cipher("pw");
        assert!(cipher.authenticated());
        let stored = sealed(&mut cipher, page_no);
        let from = if page_no.is_first() { head_len } else { 0 };
        // Salt, clear header, body, nonce and tag, each byte with each of its bits once.
        for at in 0..stored.len() {
            let mut page = stored.clone();
            page[at] ^= 1 << (at % 8);
            let opened = cipher.decrypt(page_no, &mut page);
            let noticed = (from..stored.len() - filler_len).contains(&at);
            assert_eq!(
                opened == Err(PageError::NotAuthentic),
                noticed,
                "{} {page_no:?} byte {at}",
                mode.name()
            );
            assert_eq!(page.iter().all(|byte| *byte == 0), noticed, "byte {at}");
        }
    }
}

#[test]
fn a_page_moved_to_another_number_is_noticed() {
    for mode in tagged_modes() {
        let mut cipher = mode.cipher("pw");
        let mut page = sealed(&mut cipher, PageNo::new(2).unwrap());
        let opened = cipher.decrypt(PageNo::new(3).unwrap(), &mut page);
        assert_eq!(opened, Err(PageError::NotAuthentic), "{}", mode.name());
    }
}

#[test]
fn a_page_of_zeros_is_not_authentic() {
    for (mode, page_no) in tagged_modes().flat_map(|mode| page_nos().map(|no| (mode, no))) {
        let opened = mode.cipher("pw").decrypt(page_no, &mut [0; 512]);
        assert_eq!(opened, Err(PageError::NotAuthentic), "{}", mode.name());
    }
}

#[test]
fn a_wrong_key_is_noticed_by_the_tag_or_shows_no_header() {
    for mode in &MODES {
        let mut cipher = mode.cipher("pw");
        let mut page = sealed(&mut cipher, PageNo::FIRST);
        let plain = plain_page(512, PageNo::FIRST, cipher.reserve_len());
        let opened = mode.cipher("wrong").decrypt(PageNo::FIRST, &mut page);
        if mode.tagged.is_some() {
            assert_eq!(opened, Err(PageError::NotAuthentic), "{}", mode.name());
        } else {
            assert_ne!(page[..24], plain[..24], "{}", mode.name());
        }
    }
}

#[test]
fn without_a_tag_and_with_clear_fields_a_wrong_key_shows_in_the_body_alone() {
    let params = [("hmac_use", "0")];
    let mut page = sealed(&mut cipher("sqlcipher", &params, "pw"), PageNo::FIRST);
    let mut wrong = cipher("sqlcipher", &params, "wrong");
    assert!(!wrong.authenticated());
    wrong.decrypt(PageNo::FIRST, &mut page).unwrap();
    let plain = plain_page(512, PageNo::FIRST, 16);
    assert_eq!(page[..24], plain[..24]);
    assert_ne!(page[24..40], plain[24..40]);
}

#[test]
fn each_write_is_another_where_there_is_a_nonce() {
    for mode in &MODES {
        let mut cipher = mode.cipher("pw");
        let mut copy = cipher.duplicate();
        let page_no = PageNo::new(2).unwrap();
        let pages = [&mut cipher, &mut copy].map(|cipher| sealed(cipher, page_no));
        let fresh = cipher.reserve_len() > 0;
        assert_eq!(pages[0] != pages[1], fresh, "{}", mode.name());
        assert_eq!(sealed(&mut cipher, page_no) != pages[0], fresh);
        for mut page in pages {
            copy.decrypt(page_no, &mut page).unwrap();
            let body_len = page.len() - cipher.reserve_len();
            let plain = plain_page(512, page_no, 0);
            assert_eq!(page[..body_len], plain[..body_len], "{}", mode.name());
        }
    }
}

#[test]
fn page_one_of_every_mode_starts_as_it_says() {
    for mode in &MODES {
        let mut cipher = mode.cipher("pw");
        let page = sealed(&mut cipher, PageNo::FIRST);
        let plain = plain_page(512, PageNo::FIRST, cipher.reserve_len());
        let clear = page[16..24] == plain[16..24];
        assert_eq!(cipher.clear_header(), clear, "{}", mode.name());
        assert_eq!(cipher.salt_in_file(), mode.start == Some(SALT));
        assert_eq!(cipher.salt().is_some(), mode.start.is_some());
        match mode.start {
            Some(start) => assert_eq!(page[..16], start, "{}", mode.name()),
            None => assert!(page[..16] != MAGIC && page[..16] != SALT),
        }
    }
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
fn the_cbc_schemes_compare_the_clear_header_with_its_encrypted_copy() {
    for scheme in ["aes128cbc", "aes256cbc"] {
        let mut cipher = cipher(scheme, &[], "pw");
        let stored = sealed(&mut cipher, PageNo::FIRST);
        for at in [0, 7, 8, 15, 18, 20] {
            let mut page = stored.clone();
            page[at] ^= 1;
            cipher.decrypt(PageNo::FIRST, &mut page).unwrap();
            assert_eq!(page[..16] != MAGIC, at >= 8, "{scheme} byte {at}");
        }
    }
}

#[test]
fn the_cbc_schemes_read_legacy_pages_but_legacy_reads_no_others() {
    for scheme in ["aes128cbc", "aes256cbc"] {
        let mut plain = cipher(scheme, &[], "pw");
        let mut legacy = cipher(scheme, &[("legacy", "1")], "pw");
        assert!(plain.clear_header() && !legacy.clear_header());
        let mut page = sealed(&mut legacy, PageNo::FIRST);
        plain.decrypt(PageNo::FIRST, &mut page).unwrap();
        assert_eq!(page, plain_page(512, PageNo::FIRST, 0));
        let mut page = sealed(&mut plain, PageNo::FIRST);
        legacy.decrypt(PageNo::FIRST, &mut page).unwrap();
        assert_ne!(page[16..24], plain_page(512, PageNo::FIRST, 0)[16..24]);
    }
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
    for mode in tagged_modes() {
        let mut settings = settings(mode.scheme, &[mode.params, quick(mode.scheme)].concat());
        settings.set_hmac_check(false);
        let mut lenient = derive(&settings.take(), b"pw", SaltSource::Saved(SALT)).unwrap();
        assert!(!lenient.authenticated());
        let page_no = PageNo::new(2).unwrap();
        let mut page = sealed(&mut lenient, page_no);
        let body_len = page.len() - lenient.reserve_len();
        page[200] ^= 1;
        lenient.duplicate().decrypt(page_no, &mut page).unwrap();
        let plain = plain_page(512, page_no, 0);
        // What the cipher had done before the change is right, in every scheme.
        assert_eq!(page[..128], plain[..128], "{}", mode.name());
        assert_ne!(page[..body_len], plain[..body_len], "{}", mode.name());
        let strict = derive(&settings.take(), b"pw", SaltSource::Saved(SALT)).unwrap();
        assert!(strict.authenticated());
    }
}

#[test]
fn a_salt_comes_from_the_file_first_and_is_drawn_last() {
    let fast = config("chacha20", &[("kdf_iter", "1")]);
    let headed = config("chacha20", &[("plaintext_header_size", "32")]);
    let raw = [b"raw:".as_slice(), &[1; 32], &[2; 16]].concat();
    let salt = |config, key: &[u8], source| derive(config, key, source).unwrap().salt().unwrap();
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
fn another_salt_needs_the_key_string() {
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
    assert!(
        cipher("aes256cbc", &[], "pw")
            .with_salt([6; 16])
            .unwrap()
            .is_none()
    );
}

#[test]
fn sqlcipher_has_another_hmac_key_under_another_salt_also_for_a_raw_key() {
    let raw = format!("raw:{}", "k".repeat(32));
    let mut first = cipher("sqlcipher", &[], &raw);
    let mut second = first.with_salt([6; 16]).unwrap().unwrap();
    for page_no in page_nos() {
        let page = sealed(&mut second, page_no);
        let opened = first.decrypt(page_no, &mut page.clone());
        assert_eq!(opened, Err(PageError::NotAuthentic));
        let mut found = first.with_salt([6; 16]).unwrap().unwrap();
        found.decrypt(page_no, &mut page.clone()).unwrap();
    }
}

#[test]
fn sqlcipher_legacy_sets_five_parameters_and_a_later_value_counts() {
    let all = |params| {
        let config = config("sqlcipher", params);
        [
            "legacy_page_size",
            "kdf_iter",
            "hmac_use",
            "kdf_algorithm",
            "hmac_algorithm",
        ]
        .map(|name| config.value(name))
    };
    assert_eq!(all(&[("legacy", "1")]), [1024, 4000, 0, 0, 0]);
    assert_eq!(all(&[("legacy", "2")]), [1024, 4000, 1, 0, 0]);
    assert_eq!(all(&[("legacy", "3")]), [1024, 64_000, 1, 0, 0]);
    assert_eq!(all(&[("legacy", "4")]), [4096, 256_000, 1, 2, 2]);
    let back = [("legacy", "2"), ("legacy", "0")];
    assert_eq!(all(&back), [1024, 4000, 1, 0, 0]);
    let later = [("legacy", "3"), ("kdf_iter", "7")];
    assert_eq!(all(&later), [1024, 7, 1, 0, 0]);
    let earlier = [("kdf_iter", "7"), ("legacy", "3")];
    assert_eq!(all(&earlier), [1024, 64_000, 1, 0, 0]);
}

#[test]
fn sqlcipher_takes_plain_headers_of_whole_blocks() {
    let mut settings = settings("sqlcipher", &[]);
    let scheme = find_scheme("sqlcipher").unwrap();
    for (text, answer) in [("24", "0"), ("48", "48"), ("100", "48"), ("96", "96")] {
        let found = settings.set_param_text(Reach::Both, scheme, "plaintext_header_size", text);
        assert_eq!(found, Ok(Some(answer.to_owned())), "{text}");
    }
}

#[test]
fn each_parameter_of_sqlcipher_makes_other_pages() {
    let page_no = PageNo::new(2).unwrap();
    let params: [Params<'_>; 8] = [
        &[("kdf_iter", "11")],
        &[("fast_kdf_iter", "3")],
        &[("hmac_use", "0")],
        &[("hmac_pgno", "2")],
        &[("hmac_salt_mask", "0")],
        &[("kdf_algorithm", "1")],
        &[("hmac_algorithm", "1")],
        &[("hmac_algorithm", "1"), ("hmac_algorithm_compat", "0")],
    ];
    let make = |params: Params<'_>| {
        let config = config("sqlcipher", &[quick("sqlcipher"), params].concat());
        derive(&config, b"pw", SaltSource::FileHeader(SALT)).unwrap()
    };
    for (at, of_page) in params.iter().enumerate() {
        let page = sealed(&mut make(of_page), page_no);
        for (other_at, of_reader) in params.iter().enumerate() {
            let mut reader = make(of_reader);
            let opened = reader.decrypt(page_no, &mut page.clone()).is_ok();
            let checks = reader.authenticated();
            assert_eq!(
                opened,
                at == other_at || !checks,
                "{of_page:?} {of_reader:?}"
            );
        }
    }
}

#[test]
fn aegis_refuses_what_argon2_refuses_and_too_much_memory() {
    let refused: [Params<'_>; 5] = [
        &[("mcost", "7")],
        &[("mcost", "15"), ("pcost", "2")],
        &[("mcost", "4194305")],
        &[("mcost", "2147483647")],
        &[("pcost", "2147483647")],
    ];
    for params in refused {
        let config = config("aegis", params);
        for (key, works) in [("pw", false), (&*format!("x'{}'", "ab".repeat(32)), true)] {
            let derived = derive(&config, key.as_bytes(), SaltSource::Saved(SALT));
            match derived {
                Ok(_) => assert!(works, "{params:?}"),
                Err(error) => assert!(!works && error == KeyError::ParametersRefused),
            }
        }
    }
}

#[test]
fn aegis_algorithms_do_not_read_each_other() {
    let page_no = PageNo::new(2).unwrap();
    let all = || {
        MODES
            .iter()
            .filter(|mode| mode.scheme == "aegis" && mode.params != [HEADER_32])
    };
    for writer in all() {
        let page = sealed(&mut writer.cipher("pw"), page_no);
        for reader in all() {
            let opened = reader.cipher("pw").decrypt(page_no, &mut page.clone());
            assert_eq!(opened.is_ok(), reader.params == writer.params);
        }
    }
}

#[test]
fn rc4_masks_every_page_alike_whatever_came_before() {
    let mut cipher = cipher("rc4", &[], "pw");
    let mut mask = |page_no, len| {
        let mut page = vec![0; len];
        cipher.encrypt(page_no, &mut page).unwrap();
        page
    };
    let short = mask(PageNo::FIRST, 512);
    let long = mask(PageNo::new(2).unwrap(), 65536);
    assert_eq!(long[..512], short);
    assert_eq!(mask(PageNo::new(9).unwrap(), 1024), long[..1024]);
}

#[test]
fn every_key_string_is_a_passphrase_where_there_are_no_raw_keys() {
    let raw = format!("x'{}'", "ab".repeat(32));
    for scheme in SCHEMES {
        let config = config(scheme.name, &[]);
        let knows = (scheme.raw_key_len)(&config).is_some();
        assert_eq!(knows, scheme.salted, "{scheme:?}");
        if !knows {
            let page_no = PageNo::new(2).unwrap();
            let page = sealed(&mut cipher(scheme.name, &[], &raw), page_no);
            let mut other = cipher(scheme.name, &[], &raw.to_uppercase());
            assert_ne!(sealed(&mut other, page_no), page, "{scheme:?}");
        }
    }
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
    assert_eq!(page_size("sqlcipher", &[]), None);
    for (legacy, size) in [("1", 1024), ("2", 1024), ("3", 1024), ("4", 4096)] {
        let cipher = cipher("sqlcipher", &[("legacy", legacy)], "pw");
        assert_eq!(cipher.page_size_override(), Some(size));
    }
    assert_eq!(page_size("rc4", &[]), None);
    assert_eq!(page_size("rc4", &known), Some(1024));
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
