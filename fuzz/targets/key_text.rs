//! Key strings, hexadecimal keys and salts of any bytes: reading never panics, what is read as a raw key
//! is the same in the other notation, and every scheme makes a cipher of it or says why not.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sealite::codec::key::{RawKey, parse_hex_key, parse_salt, show_salt};
use sealite::codec::{PageNo, Reach, SCHEMES, SaltSource, Settings, derive};

fuzz_target!(|input: &[u8]| {
    let Some((choice, text)) = input.split_first() else {
        return;
    };
    for key_len in [16, 32] {
        if let Some(raw) = RawKey::parse(text, key_len) {
            same_in_hex(&raw, key_len);
        }
    }
    if let Ok(text) = str::from_utf8(text) {
        if let Ok(key) = parse_hex_key(text) {
            assert_eq!(key.len() * 2, text.len());
        }
        if let Ok(salt) = parse_salt(text) {
            assert!(show_salt(&salt).eq_ignore_ascii_case(&text[..32]));
        }
    }
    make_cipher(usize::from(*choice), text);
});

fn same_in_hex(raw: &RawKey, key_len: usize) {
    let bytes = raw.key.as_bytes().iter().chain(raw.salt.iter().flatten());
    let digits: String = bytes.map(|byte| format!("{byte:02x}")).collect();
    let again =
        RawKey::parse(format!("x'{digits}'").as_bytes(), key_len).expect("the other notation");
    assert_eq!(again.key.as_bytes(), raw.key.as_bytes());
    assert_eq!(again.salt, raw.salt);
}

fn make_cipher(choice: usize, text: &[u8]) {
    let scheme = SCHEMES[choice % SCHEMES.len()];
    let mut settings = Settings::for_scheme(scheme);
    for (name, value) in [
        ("kdf_iter", "1"),
        ("fast_kdf_iter", "1"),
        ("tcost", "1"),
        ("mcost", "8"),
    ] {
        let _ = settings.set_param_text(Reach::Both, scheme, name, value);
    }
    let salt = if choice < 128 {
        SaltSource::New
    } else {
        SaltSource::FileHeader([9; 16])
    };
    let Ok(mut cipher) = derive(&settings.take(), text, salt) else {
        return;
    };
    let mut page = vec![choice as u8; 512];
    cipher.encrypt(PageNo::FIRST, &mut page).expect("a page");
    cipher
        .decrypt(PageNo::FIRST, &mut page)
        .expect("its own page");
}
