//! Key derivations and their building blocks. Which scheme uses which, and with how many rounds,
//! stands in the scheme's file.

use md5::Md5;
use pbkdf2::pbkdf2_hmac;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};
use zeroize::Zeroizing;

use super::key::{Key, Salt};

/// A hash inside PBKDF2 and HMAC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hash {
    /// FIPS 180-4, 20 bytes.
    Sha1,
    /// FIPS 180-4, 32 bytes.
    Sha256,
    /// FIPS 180-4, 64 bytes.
    Sha512,
}

impl Hash {
    /// PBKDF2 with HMAC to a key of 32 bytes.
    pub fn pbkdf2(self, passphrase: &[u8], salt: &Salt, rounds: u32) -> Key {
        let mut key = Zeroizing::new([0; 32]);
        match self {
            Hash::Sha1 => pbkdf2_hmac::<Sha1>(passphrase, salt, rounds, &mut *key),
            Hash::Sha256 => pbkdf2_hmac::<Sha256>(passphrase, salt, rounds, &mut *key),
            Hash::Sha512 => pbkdf2_hmac::<Sha512>(passphrase, salt, rounds, &mut *key),
        }
        Key::new(&*key)
    }
}

/// SHA-256 of the padded passphrase, hashed again `rounds` times.
pub fn sha256_chain(passphrase: &[u8], rounds: u32) -> Key {
    let padded = pad32(passphrase);
    let mut digest = Zeroizing::new([0; 32]);
    Sha256::new_with_prefix(padded.as_slice()).finalize_into((&mut *digest).into());
    for _ in 0..rounds {
        let input = digest.clone();
        Sha256::new_with_prefix(input.as_slice()).finalize_into((&mut *digest).into());
    }
    Key::new(&*digest)
}

/// The first 32 bytes of the passphrase followed by [`PAD`]. What comes after the 32nd byte of a
/// passphrase does not count.
pub fn pad32(passphrase: &[u8]) -> Zeroizing<[u8; 32]> {
    let mut padded = Zeroizing::new([0; 32]);
    let bytes = passphrase.iter().chain(&PAD);
    for (target, byte) in padded.iter_mut().zip(bytes) {
        *target = *byte;
    }
    padded
}

/// The initialization vector that the two AES-CBC schemes make of a page number: MD5 over four
/// steps of a small number generator (a factor of 40692 modulo 2147483399).
pub fn pseudo_iv(page_no: u32) -> [u8; 16] {
    let mut state = page_no.wrapping_add(1).cast_signed();
    let mut digest = Md5::new();
    for _ in 0..4 {
        let quotient = state / 52774;
        state = (state - quotient * 52774)
            .wrapping_mul(40692)
            .wrapping_sub(quotient.wrapping_mul(3791));
        if state < 0 {
            state = state.wrapping_add(2_147_483_399);
        }
        digest.update(state.to_le_bytes());
    }
    digest.finalize().into()
}

/// What fills a short passphrase up to 32 bytes; the padding string of the PDF standard.
pub const PAD: [u8; 32] = [
    0x28, 0xbf, 0x4e, 0x5e, 0x4e, 0x75, 0x8a, 0x41, 0x64, 0x00, 0x4e, 0x56, 0xff, 0xfa, 0x01, 0x08,
    0x2e, 0x2e, 0x00, 0xb6, 0xd0, 0x68, 0x3e, 0x80, 0x2f, 0x0c, 0xa9, 0xfe, 0x64, 0x53, 0x69, 0x7a,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_starts_over_for_each_length() {
        assert_eq!(*pad32(b""), PAD);
        let padded = pad32(b"abc");
        assert_eq!((&padded[..3], &padded[3..]), (&b"abc"[..], &PAD[..29]));
        assert_eq!(*pad32(&[b'x'; 40]), [b'x'; 32]);
    }

    #[test]
    fn the_page_number_may_be_any() {
        for page_no in [1, 0x7fff_ffff, 0x8000_0000, u32::MAX] {
            assert_ne!(pseudo_iv(page_no), pseudo_iv(page_no - 1), "{page_no}");
        }
    }
}
