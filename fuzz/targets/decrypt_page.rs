//! Pages of any content under every scheme: decrypting never panics; a page that was not made under the
//! key is refused where there is a tag; what was encrypted comes back; a changed bit under the tag does not.
#![no_main]

use std::cell::RefCell;
use std::collections::HashMap;

use libfuzzer_sys::fuzz_target;
use sealite::codec::{Cipher, PageNo, Reach, SCHEMES, SaltSource, Settings, derive};

/// The modes of the schemes that change the layout, cheap to derive. A parameter that a scheme does not
/// have is passed over.
const MODES: &[&[(&str, &str)]] = &[
    &[],
    &[("legacy", "1")],
    &[("legacy", "4")],
    &[("plaintext_header_size", "32")],
    &[("plaintext_header_size", "96")],
    &[("hmac_use", "0")],
    &[("hmac_algorithm", "0"), ("hmac_pgno", "2")],
    &[("algorithm", "1")],
    &[("algorithm", "3")],
    &[("algorithm", "6")],
];
const CHEAP: &[(&str, &str)] = &[
    ("kdf_iter", "1"),
    ("fast_kdf_iter", "1"),
    ("tcost", "1"),
    ("mcost", "8"),
];

fuzz_target!(|input: &[u8]| {
    let Some((head, content)) = input.split_at_checked(8) else {
        return;
    };
    let page_no = u32::from_be_bytes([head[4], head[5], head[6], head[7]]);
    let Some(page_no) = PageNo::new(page_no) else {
        return;
    };
    CIPHERS.with_borrow_mut(|ciphers| {
        let key = (head[0] % 7, head[1] % 10, head[2] & 1);
        let cipher = ciphers.entry(key).or_insert_with(|| cipher(key));
        let mut page = content.to_vec();
        let _ = cipher.decrypt(page_no, &mut page);
        page.resize(512 << (head[3] % 8), head[2]);
        page[..content.len().min(512)].copy_from_slice(&content[..content.len().min(512)]);
        check(cipher, page_no, page, content);
    });
});

thread_local! {
    static CIPHERS: RefCell<HashMap<(u8, u8, u8), Cipher>> = RefCell::default();
}

fn cipher((scheme, mode, unchecked): (u8, u8, u8)) -> Cipher {
    let scheme = SCHEMES[usize::from(scheme)];
    let mut settings = Settings::for_scheme(scheme);
    for (name, text) in MODES[usize::from(mode)].iter().chain(CHEAP) {
        let _ = settings.set_param_text(Reach::Both, scheme, name, text);
    }
    settings.set_hmac_check(unchecked == 0);
    derive(&settings.take(), b"key", SaltSource::FileHeader([7; 16]))
        .expect("the parameters are fine")
}

fn check(cipher: &mut Cipher, page_no: PageNo, plain: Vec<u8>, choices: &[u8]) {
    let mut page = plain.clone();
    if cipher.decrypt(page_no, &mut page).is_err() {
        assert!(
            page.iter().all(|byte| *byte == 0),
            "a refused page is cleared"
        );
    } else {
        assert!(!cipher.authenticated(), "any bytes were taken for a page");
    }
    let mut stored = plain.clone();
    cipher
        .encrypt(page_no, &mut stored)
        .expect("it has a page's size");
    let mut back = stored.clone();
    cipher.decrypt(page_no, &mut back).expect("its own page");
    let body_end = plain.len() - cipher.reserve_len();
    // SQLite's magic replaces the first bytes of page 1; bytes 16 to 24 choose how aes128cbc and aes256cbc read it.
    let body_at = if page_no.is_first() { 24 } else { 0 };
    let free_choice = page_no.is_first() && cipher.scheme().name.ends_with("cbc");
    if !free_choice {
        assert_eq!(back[body_at..body_end], plain[body_at..body_end]);
    }
    if !cipher.authenticated() {
        return;
    }
    let at = choices
        .iter()
        .take(2)
        .fold(1, |sum, byte| sum * 256 + usize::from(*byte))
        % stored.len();
    // Not under every tag: the start of page 1, and of sqlcipher's tail what a shorter tag leaves free.
    let guarded = (!page_no.is_first() || at >= 100)
        && (cipher.scheme().name != "sqlcipher" || at < body_end + 36);
    stored[at] ^= 1 << (choices.first().unwrap_or(&0) % 8);
    let refused = cipher.decrypt(page_no, &mut stored).is_err();
    assert!(refused || !guarded, "a changed bit at {at} was not noticed");
}
