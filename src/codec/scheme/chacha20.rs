//! chacha20: ChaCha20 and Poly1305 (RFC 8439), put together in the way of sqleet.
//!
//! ```text
//! page 1      | 0..16 salt | 16..24 clear | body | nonce 16 | tag 16 |
//! other pages | body                             | nonce 16 | tag 16 |
//! ```
//!
//! - The last word of the nonce, XOR the page number, is the block counter; the other twelve bytes
//!   are the nonce of the RFC. The counter wraps and carries nothing into the nonce.
//! - The block at that counter gives two keys: 0..32 for the tag, 32..64 for the body, which starts
//!   at the next counter.
//! - The tag covers everything before it, without the RFC's padding and lengths.
//! - A legacy page 1 is encrypted from byte 0 and the salt then put over it; 12345 rounds, always.
//! - `plaintext_header_size`: that many bytes of page 1 stay clear, and no salt is stored.

use chacha20::cipher::{Array, StreamCipherCore};
use chacha20::variants::Ietf;
use chacha20::{ChaChaCore, KeyIvInit, R20};
use ctutils::CtEq;
use poly1305::Poly1305;
use poly1305::universal_hash::{KeyInit, UniversalHash};
use zeroize::Zeroizing;

use super::{PageCipher, Scheme};
use crate::accel::with_vectors;
use crate::codec::kdf::Hash;
use crate::codec::key::{Key, KeyError, Salt};
use crate::codec::page::{HEADER_FIELDS, Layout, Page, PageError, PageNo};
use crate::codec::params::ParamSpec;
use crate::codec::settings::CipherConfig;

/// The scheme.
pub static SCHEME: Scheme = Scheme {
    name: "chacha20",
    params: &[
        ParamSpec::integer("legacy", 0, 0, 1),
        ParamSpec::legacy_page_size(4096),
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
const NONCE_LEN: usize = 16;
const TAG_LEN: usize = 16;
const BLOCK_LEN: usize = 64;
/// Blocks that the widest backend makes at once. What is left of a page goes through a buffer of
/// this length, as a single block costs as much as a whole batch.
const BATCH_LEN: usize = 16 * BLOCK_LEN;
const LEGACY_ROUNDS: u32 = 12345;

fn layout(config: &CipherConfig) -> Layout {
    let header_len = config.value("plaintext_header_size") as usize;
    let first_body_at = match config.value("legacy") {
        0 => header_len.max(HEADER_FIELDS.end),
        _ => header_len,
    };
    Layout {
        reserve_len: NONCE_LEN + TAG_LEN,
        fresh: 0..NONCE_LEN,
        first_body_at,
        clear_header: first_body_at >= HEADER_FIELDS.end,
        stores_salt: header_len == 0,
        authenticated: true,
    }
}

fn derive_key(
    config: &CipherConfig,
    passphrase: &[u8],
    salt: Option<&Salt>,
) -> Result<Key, KeyError> {
    let rounds = match config.value("legacy") {
        0 => config.value("kdf_iter"),
        _ => LEGACY_ROUNDS,
    };
    let salt = salt.expect("a salted scheme is given a salt");
    Ok(Hash::Sha256.pbkdf2(passphrase, salt, rounds))
}

fn open(
    config: &CipherConfig,
    key: &Key,
    _: Option<&Salt>,
) -> Result<Box<dyn PageCipher>, KeyError> {
    Ok(Box::new(ChaCha20Pages {
        key: key.to_array(),
        check_tag: config.hmac_check(),
    }))
}

struct ChaCha20Pages {
    key: Zeroizing<[u8; KEY_LEN]>,
    check_tag: bool,
}

impl PageCipher for ChaCha20Pages {
    fn encrypt(&mut self, page_no: PageNo, page: &mut Page<'_>) -> Result<(), PageError> {
        with_vectors(|| self.seal(page_no, page));
        Ok(())
    }

    fn decrypt(&mut self, page_no: PageNo, page: &mut Page<'_>) -> Result<(), PageError> {
        with_vectors(|| self.open(page_no, page))
    }

    fn duplicate(&self) -> Box<dyn PageCipher> {
        Box::new(ChaCha20Pages {
            key: self.key.clone(),
            check_tag: self.check_tag,
        })
    }
}

// Everything from here on is inlined into the function that has the vectors.
impl ChaCha20Pages {
    #[inline(always)]
    fn seal(&self, page_no: PageNo, page: &mut Page<'_>) {
        let once = OneTime::new(&self.key, page_no, page.tail());
        once.apply_to(page.body_mut());
        page.place_salt();
        let tag = once.tag(page.through_tail(NONCE_LEN));
        page.tail_mut()[NONCE_LEN..].copy_from_slice(&tag);
    }

    #[inline(always)]
    fn open(&self, page_no: PageNo, page: &mut Page<'_>) -> Result<(), PageError> {
        let once = OneTime::new(&self.key, page_no, page.tail());
        if self.check_tag {
            let computed = once.tag(page.through_tail(NONCE_LEN));
            if !computed[..].ct_eq(&page.tail()[NONCE_LEN..]).to_bool() {
                return Err(PageError::NotAuthentic);
            }
        }
        once.apply_to(page.body_mut());
        Ok(())
    }
}

/// The two keys that serve one write of one page.
struct OneTime {
    keys: Zeroizing<[u8; BLOCK_LEN]>,
    nonce: [u8; 12],
    /// Of the body's first block.
    counter: u32,
}

impl OneTime {
    #[inline(always)]
    fn new(key: &[u8; KEY_LEN], page_no: PageNo, tail: &[u8]) -> OneTime {
        let mut nonce = [0; 12];
        let mut word = [0; 4];
        nonce.copy_from_slice(&tail[..12]);
        word.copy_from_slice(&tail[12..NONCE_LEN]);
        let counter = u32::from_le_bytes(word) ^ page_no.get();
        let mut keys = Zeroizing::new([0; BLOCK_LEN]);
        core(key, &nonce, counter).write_keystream_block((&mut *keys).into());
        OneTime {
            keys,
            nonce,
            counter: counter.wrapping_add(1),
        }
    }

    #[inline(always)]
    fn apply_to(&self, body: &mut [u8]) {
        let (_, key) = self.halves();
        apply_keystream(key, &self.nonce, self.counter, body);
    }

    /// The message is a whole number of tag blocks, so no padding takes place.
    #[inline(always)]
    fn tag(&self, message: &[u8]) -> poly1305::Tag {
        let (key, _) = self.halves();
        let mut poly = Poly1305::new(key.into());
        poly.update_padded(message);
        poly.finalize()
    }

    fn halves(&self) -> (&[u8; KEY_LEN], &[u8; KEY_LEN]) {
        let (halves, _) = self.keys.as_chunks();
        (&halves[0], &halves[1])
    }
}

/// XORs the keystream from block `counter` on. Pages whose counter wraps are cut there and go on at
/// block 0 with the same nonce: no backend of the crate is asked to count past the end.
#[inline(always)]
pub fn apply_keystream(key: &[u8; KEY_LEN], nonce: &[u8; 12], counter: u32, data: &mut [u8]) {
    let left_count = (u32::MAX - counter) as usize;
    let left_len = left_count.saturating_add(1).saturating_mul(BLOCK_LEN);
    let (data, wrapped) = data.split_at_mut(left_len.min(data.len()));
    apply_unwrapped(key, nonce, counter, data);
    if !wrapped.is_empty() {
        apply_unwrapped(key, nonce, 0, wrapped);
    }
}

#[inline(always)]
fn apply_unwrapped(key: &[u8; KEY_LEN], nonce: &[u8; 12], counter: u32, data: &mut [u8]) {
    let mut core = core(key, nonce, counter);
    let (batches, rest) = data.split_at_mut(data.len() - data.len() % BATCH_LEN);
    core.apply_keystream_blocks(Array::slice_as_chunks_mut(batches).0);
    if !rest.is_empty() {
        let mut batch = [0; BATCH_LEN];
        batch[..rest.len()].copy_from_slice(rest);
        let (blocks, _) = Array::slice_as_chunks_mut(&mut batch);
        core.apply_keystream_blocks(&mut blocks[..rest.len().div_ceil(BLOCK_LEN)]);
        rest.copy_from_slice(&batch[..rest.len()]);
    }
}

#[inline(always)]
fn core(key: &[u8; KEY_LEN], nonce: &[u8; 12], counter: u32) -> ChaChaCore<R20, Ietf> {
    let mut core = ChaChaCore::new(key.into(), nonce.into());
    core.set_block_pos(counter);
    core
}
