//! Time per page of every scheme, both directions, beside the primitives alone: `npm run bench`.
//!
//! A few dozen lines of our own: criterion and divan give times and bytes per second, but neither cycles per
//! byte nor a reference beside each row, and criterion compiles some eighty crates for its reports. Cycles
//! are those of the time stamp counter, which runs at the nominal frequency.
#![expect(unsafe_code, reason = "reads the time stamp counter")]
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program that prints its figures, and may stop"
)]

use std::hint::black_box;
use std::time::Instant;

use aes::cipher::{BlockModeDecrypt, BlockModeEncrypt, KeyIvInit};
use hmac::{KeyInit, Mac};
use poly1305::universal_hash::UniversalHash;
use sealite::codec::{Cipher, PageNo, Reach, SCHEMES, SaltSource, Settings, derive, scheme};

const PAGE_LEN: usize = 4096;
/// Pages per sample, and samples; the median is shown.
const BATCH: u32 = 200;
const SAMPLES: usize = 41;

/// Nanoseconds and cycles of one call, the median of the samples.
fn measure(mut operation: impl FnMut()) -> (f64, f64) {
    let mut samples: Vec<(f64, f64)> = (0..SAMPLES)
        .map(|_| {
            let (start, cycles) = (Instant::now(), cycles());
            for _ in 0..BATCH {
                operation();
            }
            let elapsed = start.elapsed().as_secs_f64() * 1e9;
            let cycles = self::cycles().wrapping_sub(cycles) as f64;
            (elapsed / f64::from(BATCH), cycles / f64::from(BATCH))
        })
        .collect();
    samples.sort_by(|a, b| a.0.total_cmp(&b.0));
    samples[SAMPLES / 2]
}

#[cfg(target_arch = "x86_64")]
fn cycles() -> u64 {
    // SAFETY: every x86-64 has the instruction.
    unsafe { std::arch::x86_64::_rdtsc() }
}

#[cfg(not(target_arch = "x86_64"))]
fn cycles() -> u64 {
    0
}

fn cipher(name: &str, params: &[(&str, i32)]) -> Cipher {
    let scheme = SCHEMES.iter().find(|scheme| scheme.name == name).unwrap();
    let mut settings = Settings::for_scheme(scheme);
    for (param, value) in params {
        let spec = scheme
            .params
            .iter()
            .find(|spec| spec.name == *param)
            .unwrap();
        settings.set_param_number(Reach::Current, scheme, spec, *value);
    }
    derive(&settings.take(), b"key", SaltSource::FileHeader([7; 16])).unwrap()
}

fn row(name: &str, cipher: &mut Cipher, limit: Option<(f64, f64)>) {
    let page_no = PageNo::new(2).unwrap();
    let mut page = vec![3; PAGE_LEN];
    let mut sealed = page.clone();
    cipher.encrypt(page_no, &mut sealed).unwrap();
    let encrypt = measure(|| cipher.encrypt(page_no, black_box(&mut page)).unwrap());
    let mut scratch = sealed.clone();
    let decrypt = measure(|| {
        scratch.copy_from_slice(&sealed);
        cipher.decrypt(page_no, black_box(&mut scratch)).unwrap();
    });
    let show = |(ns, cycles): (f64, f64)| {
        format!("{:.2} µs {:.2} c/B", ns / 1e3, cycles / PAGE_LEN as f64)
    };
    let limits = limit.map_or("-".to_owned(), |(seal, open)| {
        format!("{:.2} / {:.2} µs", seal / 1e3, open / 1e3)
    });
    println!(
        "| {name} | {} | {} | {limits} |",
        show(encrypt),
        show(decrypt)
    );
}

/// The primitives of chacha20 on one page, each alone.
fn chacha20_limit() -> f64 {
    let mut page = vec![3; PAGE_LEN];
    let stream =
        measure(|| scheme::chacha20::apply_keystream(&[9; 32], &[7; 12], 1, black_box(&mut page)))
            .0;
    let poly = measure(|| {
        let mut mac = poly1305::Poly1305::new(&[9; 32].into());
        mac.update_padded(black_box(&page));
        black_box(mac.finalize());
    })
    .0;
    stream + poly
}

/// AES-256-CBC on one page: encryption, which is serial, and decryption.
fn aes_limit() -> (f64, f64) {
    let (key, iv) = ([9; 32], [7; 16]);
    let mut blocks = vec![aes::Block::from([3; 16]); PAGE_LEN / 16];
    let seal = measure(|| {
        cbc::Encryptor::<aes::Aes256Enc>::new(&key.into(), &iv.into())
            .encrypt_blocks(black_box(&mut blocks))
    })
    .0;
    let open = measure(|| {
        cbc::Decryptor::<aes::Aes256Dec>::new(&key.into(), &iv.into())
            .decrypt_blocks(black_box(&mut blocks))
    })
    .0;
    (seal, open)
}

fn hmac_sha512_limit() -> f64 {
    let page = vec![3; PAGE_LEN];
    measure(|| {
        let mut mac = hmac::Hmac::<sha2::Sha512>::new_from_slice(&[9; 32]).unwrap();
        mac.update(black_box(&page));
        black_box(mac.finalize());
    })
    .0
}

fn main() {
    println!("| scheme | encrypt | decrypt | primitives alone: encrypt / decrypt |");
    println!("|---|---|---|---|");
    let chacha20 = chacha20_limit();
    let (seal, open) = aes_limit();
    let hmac = hmac_sha512_limit();
    row(
        "chacha20",
        &mut cipher("chacha20", &[("kdf_iter", 1)]),
        Some((chacha20, chacha20)),
    );
    row(
        "aes256cbc",
        &mut cipher("aes256cbc", &[]),
        Some((seal, open)),
    );
    row("aes128cbc", &mut cipher("aes128cbc", &[]), None);
    row(
        "sqlcipher",
        &mut cipher("sqlcipher", &[("kdf_iter", 1)]),
        Some((seal + hmac, open + hmac)),
    );
    row("rc4", &mut cipher("rc4", &[]), None);
    row(
        "ascon128",
        &mut cipher("ascon128", &[("kdf_iter", 1)]),
        None,
    );
    for (number, name) in (1..).zip(["128l", "128x2", "128x4", "256", "256x2", "256x4"]) {
        row(
            &format!("aegis-{name}"),
            &mut cipher("aegis", &[("algorithm", number)]),
            None,
        );
    }
    let slow = |name, label: &str| {
        let scheme = SCHEMES.iter().find(|scheme| scheme.name == name).unwrap();
        let start = Instant::now();
        derive(
            &Settings::for_scheme(scheme).take(),
            b"correct horse",
            SaltSource::FileHeader([7; 16]),
        )
        .unwrap();
        println!(
            "| {label} | {:.2} ms |",
            start.elapsed().as_secs_f64() * 1e3
        );
    };
    println!("\n| key derivation from a passphrase, defaults | time |\n|---|---|");
    for scheme in SCHEMES {
        slow(scheme.name, scheme.name);
    }
}
