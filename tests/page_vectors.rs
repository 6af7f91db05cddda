//! Runs the test vectors in `vectors/`: one file per scheme, and one of primitives.
//!
//! Every case has a name, which a failure tells. A scheme without cases fails. What no vector can
//! say (changed bytes, wrong keys) is tested beside the code.

use std::fs;
use std::path::Path;

use aes::cipher::KeyInit;
use aes::{Aes256Dec, Aes256Enc};
use sealite::codec::{
    Cipher, CipherConfig, KeyError, PageNo, Reach, SCHEMES, Salt, SaltSource, Scheme, Settings,
    ascon, cbc_run, derive, kdf, key, scheme,
};
use serde_json::Value;

type Check = Result<(), String>;

#[test]
fn primitives() {
    let vectors = read("primitives");
    assert_eq!(hex(&vectors["padding"]), kdf::PAD);
    run("primitives", "pseudo_iv", &vectors["pseudo_iv"], |case| {
        same(
            "iv",
            &kdf::pseudo_iv(number(&case["page"])),
            &hex(&case["iv"]),
        )
    });
    run(
        "primitives",
        "chacha20_keystream",
        &vectors["chacha20_keystream"],
        |case| {
            let key = array(&case["key"]);
            let nonce = array(&case["nonce12"]);
            let keystream = hex(&case["keystream"]);
            // Also cut short, so that the wrap falls on, before and after the last block.
            for len in 0..=keystream.len() {
                let mut data = vec![0; len];
                scheme::chacha20::apply_keystream(
                    &key,
                    &nonce,
                    number(&case["counter"]),
                    &mut data,
                );
                same("keystream", &data, &keystream[..len])?;
            }
            Ok(())
        },
    );
}

#[test]
fn ascon_primitives() {
    let vectors = read("primitives");
    run("primitives", "ascon_hash", &vectors["ascon_hash"], |case| {
        same(
            "hash",
            &*ascon::hash(&hex(&case["msg"])),
            &hex(&case["out"]),
        )
    });
    run(
        "primitives",
        "ascon_pbkdf2",
        &vectors["ascon_pbkdf2"],
        |case| {
            let rounds = number(&case["iterations"]);
            let key = ascon::pbkdf2(&hex(&case["password"]), &array(&case["salt"]), rounds);
            same("key", &*key, &hex(&case["out"]))
        },
    );
    run("primitives", "ascon128", &vectors["ascon128"], |case| {
        let aead = || ascon::Aead::new(&array(&case["key"]), &array(&case["nonce"]));
        let (plain, tag) = (hex(&case["msg"]), hex(&case["tag"]));
        let mut message = plain.clone();
        same("tag", &aead().encrypt(&mut message), &tag)?;
        same("cipher text", &message, &hex(&case["ct"]))?;
        same(
            "tag of the cipher text",
            &aead().decrypt(&mut message),
            &tag,
        )?;
        same("plain text", &message, &plain)
    });
}

#[test]
fn aegis_primitives() {
    let vectors = read("primitives");
    run("primitives", "aegis", &vectors["aegis"], |case| {
        let at = usize::try_from(number(&case["algorithm"])).expect("fits") - 1;
        let algorithm = &scheme::aegis::ALGORITHMS[at];
        let (key, nonce) = (hex(&case["key"]), hex(&case["nonce"]));
        let once = (&*key, &*nonce);
        let (plain, sealed, tag) = (hex(&case["msg"]), hex(&case["ct"]), hex(&case["tag"]));
        let mut keystream = vec![0; hex(&case["stream"]).len()];
        (algorithm.keystream)(once, &mut keystream);
        same("keystream", &keystream, &hex(&case["stream"]))?;
        let mut message = plain.clone();
        same("tag", &(algorithm.encrypt)(once, &mut message), &tag)?;
        same("cipher text", &message, &sealed)?;
        let opened = (algorithm.decrypt)(once, &mut message, &array(&case["tag"]));
        assert!(opened, "the tag of the case opens its cipher text");
        same("plain text", &message, &plain)?;
        message = sealed;
        algorithm.decrypt_unchecked(once, &mut message);
        same("plain text without its tag", &message, &plain)
    });
}

#[test]
fn cbc_with_ciphertext_stealing() {
    let vectors = read("primitives");
    let section = "aes256_cbc_stealing";
    run("primitives", section, &vectors[section], |case| {
        let key: [u8; 32] = array(&case["key"]);
        let (iv, plain) = (array(&case["iv"]), hex(&case["msg"]));
        let mut data = plain.clone();
        cbc_run::encrypt(&Aes256Enc::new(&key.into()), &iv, &mut data);
        same("encrypted", &data, &hex(&case["ct"]))?;
        cbc_run::decrypt(&Aes256Dec::new(&key.into()), &iv, &mut data);
        same("decrypted", &data, &plain)
    });
}

#[test]
fn key_derivation() {
    for_each_scheme("key_derivation", |scheme, case| {
        let config = config(scheme, case);
        let salt = salt(&case["salt"]);
        let derived = (scheme.derive_key)(&config, passphrase(case), salt.as_ref());
        if case["refused"] == true {
            return match derived {
                Err(KeyError::ParametersRefused) => Ok(()),
                other => Err(format!("{other:?}")),
            };
        }
        let derived = derived.map_err(|error| error.to_string())?;
        same("key", derived.as_bytes(), &hex(&case["key"]))?;
        if let Some(expected) = case.get("hmac_key") {
            let salt = salt.expect("salted");
            let hmac_key = scheme::sqlcipher::derive_hmac_key(&config, &derived, &salt);
            same("HMAC key", hmac_key.as_bytes(), &hex(expected))?;
        }
        let reserve_len = usize::try_from(number(&case["reserved"])).expect("fits");
        match cipher(scheme, case).reserve_len() {
            found if found == reserve_len => Ok(()),
            found => Err(format!("reserved: {found}, expected {reserve_len}")),
        }
    });
}

#[test]
fn raw_keys() {
    for scheme in SCHEMES
        .iter()
        .filter(|scheme| !read(scheme.name)["raw_keys"].is_null())
    {
        run(
            scheme.name,
            "raw_keys",
            &read(scheme.name)["raw_keys"],
            |case| {
                let config = config(scheme, case);
                let source =
                    salt(&case["file_header"]).map_or(SaltSource::New, SaltSource::FileHeader);
                let mut cipher = derive(&config, &hex(&case["key_string"]), source)
                    .map_err(|e| e.to_string())?;
                same("salt", &cipher.salt().expect("salted"), &hex(&case["salt"]))?;
                // The key itself is not to be seen: a page encrypted with it has to open with the
                // key of the vector.
                let spelled = [b"raw:", hex(&case["key"]).as_slice()].concat();
                let source = SaltSource::Saved(array(&case["salt"]));
                let mut other = derive(&config, &spelled, source).map_err(|e| e.to_string())?;
                let page_no = PageNo::new(2).expect("not 0");
                let mut page = vec![9; 512];
                cipher
                    .encrypt(page_no, &mut page)
                    .map_err(|e| e.to_string())?;
                other
                    .decrypt(page_no, &mut page)
                    .map_err(|e| format!("key: {e}"))?;
                let body_len = page.len() - cipher.reserve_len();
                same("page", &page[..body_len], &vec![9; body_len])
            },
        );
    }
}

#[test]
fn pages() {
    for_each_scheme("pages", |scheme, case| {
        let mut cipher = cipher(scheme, case);
        let page_no = PageNo::new(number(&case["page"])).expect("not 0");
        let (plain, encrypted) = (hex(&case["plain"]), hex(&case["encrypted"]));
        let mut page = plain.clone();
        cipher
            .encrypt_with_nonce(page_no, &mut page, &hex(&case["nonce"]))
            .map_err(|error| error.to_string())?;
        same("encrypted", &page, &encrypted)?;
        let body_len = page.len() - cipher.reserve_len();
        opens_to(&mut cipher, page_no, &encrypted, &plain[..body_len])?;
        let mut page = plain.clone();
        cipher
            .encrypt(page_no, &mut page)
            .map_err(|error| error.to_string())?;
        opens_to(&mut cipher, page_no, &page, &plain[..body_len])
    });
}

#[test]
fn wal_frames() {
    let vectors = &read("chacha20")["wal"];
    run("chacha20", "wal", vectors, |case| {
        let mut cipher = cipher(find("chacha20"), case);
        let file = hex(&case["file"]);
        let (header, frames) = file.split_at(32);
        let page_len = usize::try_from(be32(header, 8)).expect("fits");
        let mut sums = wal_checksum([0, 0], &header[..24]);
        same_sums("header checksum", sums, header, 24)?;
        let expected = case["frames"].as_array().expect("frames");
        let found: Vec<&[u8]> = frames.chunks(24 + page_len).collect();
        assert_eq!(found.len(), expected.len());
        for (frame, expected) in found.into_iter().zip(expected) {
            let (head, page) = frame.split_at(24);
            sums = wal_checksum(wal_checksum(sums, &head[..8]), page);
            same_sums("frame checksum", sums, head, 16)?;
            let number = be32(head, 0);
            assert_eq!(u64::from(number), expected["page"]);
            let page_no = PageNo::new(number).expect("not 0");
            opens_to(&mut cipher, page_no, page, &hex(&expected["plain"]))?;
        }
        Ok(())
    });
}

#[test]
fn journal_records() {
    let vectors = &read("chacha20")["journal_records"];
    run("chacha20", "journal_records", vectors, |case| {
        let mut cipher = cipher(find("chacha20"), case);
        let (record, plain) = (hex(&case["record"]), hex(&case["plain"]));
        let page_no = PageNo::new(be32(&record, 0)).expect("not 0");
        let page = &record[4..record.len() - 4];
        let body = &plain[..plain.len() - cipher.reserve_len()];
        opens_to(&mut cipher, page_no, page, body)?;
        let sampled = (0..page.len() - 199)
            .rev()
            .step_by(200)
            .filter(|at| *at > 0);
        let sum = sampled
            .map(|at| u32::from(plain[at]))
            .fold(number(&case["checksum_seed"]), u32::wrapping_add);
        same("checksum", &sum.to_be_bytes(), &record[record.len() - 4..])
    });
}

/// Runs the cases of one section of each scheme; each scheme must have some.
fn for_each_scheme(section: &str, check: impl Fn(&'static Scheme, &Value) -> Check) {
    for scheme in SCHEMES {
        run(scheme.name, section, &read(scheme.name)[section], |case| {
            check(scheme, case)
        });
    }
}

/// Runs cases to the end, then fails with the names of those that failed.
fn run(file: &str, section: &str, cases: &Value, check: impl Fn(&Value) -> Check) {
    let cases = cases
        .as_array()
        .unwrap_or_else(|| panic!("{file} has no {section}"));
    assert!(!cases.is_empty(), "{file} has no {section}");
    let failed: Vec<String> = cases
        .iter()
        .filter_map(|case| {
            let name = case["name"].as_str().expect("every case has a name");
            check(case)
                .err()
                .map(|why| format!("{file}, {section}, {name}: {why}"))
        })
        .collect();
    eprintln!(
        "{file}, {section}: {} of {} passed",
        cases.len() - failed.len(),
        cases.len()
    );
    assert!(failed.is_empty(), "\n{}", failed.join("\n"));
}

fn read(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/vectors/{name}.json"));
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn find(name: &str) -> &'static Scheme {
    scheme::find_scheme(name).expect("listed")
}

fn config(scheme: &'static Scheme, case: &Value) -> CipherConfig {
    let mut settings = Settings::new();
    settings.set_scheme(Reach::Both, scheme);
    let params = case["params"].as_object().expect("params");
    // In the order of the table: sqlcipher's legacy moves others, which a case then sets.
    let listed = scheme
        .params
        .iter()
        .filter(|spec| params.contains_key(spec.name));
    assert_eq!(listed.clone().count(), params.len(), "{params:?}");
    for spec in listed {
        let value = number(&params[spec.name]);
        let answer = settings.set_param_text(Reach::Both, scheme, spec.name, &value.to_string());
        assert_eq!(
            answer,
            Ok(Some(spec.show(value).to_string())),
            "{}",
            spec.name
        );
    }
    settings.take()
}

fn cipher(scheme: &'static Scheme, case: &Value) -> Cipher {
    let source = salt(&case["salt"]).map_or(SaltSource::New, SaltSource::Saved);
    derive(&config(scheme, case), passphrase(case), source).expect("random bytes")
}

fn opens_to(cipher: &mut Cipher, page_no: PageNo, stored: &[u8], plain: &[u8]) -> Check {
    let mut page = stored.to_vec();
    cipher
        .decrypt(page_no, &mut page)
        .map_err(|error| error.to_string())?;
    same("decrypted", &page[..plain.len()], plain)
}

fn same(what: &str, found: &[u8], expected: &[u8]) -> Check {
    match found.iter().zip(expected).position(|(a, b)| a != b) {
        None if found.len() == expected.len() => Ok(()),
        None => Err(format!(
            "{what}: {} bytes, expected {}",
            found.len(),
            expected.len()
        )),
        Some(at) => Err(format!("{what} differs from byte {at} on")),
    }
}

fn same_sums(what: &str, sums: [u32; 2], stored: &[u8], at: usize) -> Check {
    same(
        what,
        &sums.map(u32::to_be_bytes).concat(),
        &stored[at..at + 8],
    )
}

/// SQLite's running checksum of a WAL with the little-endian magic.
fn wal_checksum(sums: [u32; 2], data: &[u8]) -> [u32; 2] {
    let (pairs, _) = data.as_chunks::<8>();
    pairs.iter().fold(sums, |[a, b], pair| {
        let word = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| pair[at + i]));
        let a = a.wrapping_add(word(0)).wrapping_add(b);
        [a, b.wrapping_add(word(4)).wrapping_add(a)]
    })
}

fn be32(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(std::array::from_fn(|i| bytes[at + i]))
}

fn hex(value: &Value) -> Vec<u8> {
    let text = value.as_str().expect("a string");
    key::parse_hex_key(text).expect("hex").to_vec()
}

fn array<const N: usize>(value: &Value) -> [u8; N] {
    hex(value).try_into().expect("a field of fixed length")
}

fn salt(value: &Value) -> Option<Salt> {
    (!value.is_null()).then(|| array(value))
}

fn number(value: &Value) -> u32 {
    value
        .as_u64()
        .and_then(|n| u32::try_from(n).ok())
        .expect("a number")
}

fn passphrase(case: &Value) -> &[u8] {
    case["passphrase"].as_str().expect("a text").as_bytes()
}
