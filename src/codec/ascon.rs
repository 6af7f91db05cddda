//! Hash, authenticated encryption and PBKDF2 of Ascon v1.2, the version of NIST's second round; not
//! those of SP 800-232, which start from other constants and read words the other way round.
//!
//! The permutation is a crate's. Where these stand in a page is in `scheme/ascon128`.

use ascon_core::State;
use zeroize::Zeroizing;

/// Length of a hash and of a block of PBKDF2.
pub const HASH_LEN: usize = 32;
/// Length of the AEAD's key, nonce and tag.
pub const BLOCK_LEN: usize = 16;

/// Bytes that enter or leave between two permutations.
const RATE: usize = 8;
const HASH_START: u64 = 0x0040_0c00_0000_0100;
const AEAD_START: u64 = 0x8040_0c06_0000_0000;

/// Ascon-Hash of the parts, one after the other.
pub fn hash(message: &[u8]) -> Zeroizing<[u8; HASH_LEN]> {
    let mut state = State::new(HASH_START, 0, 0, 0, 0);
    state.permute_12();
    absorb(&mut state, message);
    squeeze(state)
}

/// PBKDF2 with a keyed Ascon-Hash to a key of 32 bytes, which is one block.
pub fn pbkdf2(password: &[u8], salt: &[u8; 16], rounds: u32) -> Zeroizing<[u8; HASH_LEN]> {
    let keyed = keyed_hash(password);
    let mut first = [0; 20];
    first[..16].copy_from_slice(salt);
    first[16..].copy_from_slice(&1_u32.to_be_bytes());
    let mut block = prf(&keyed, &first);
    let mut key = block.clone();
    for _ in 1..rounds {
        block = prf(&keyed, &*block);
        for (byte, other) in key.iter_mut().zip(block.iter()) {
            *byte ^= other;
        }
    }
    key
}

/// A hash that begins with the name of the function and the password.
fn keyed_hash(password: &[u8]) -> State {
    let name = u64::from_be_bytes(*b"PBKDF2\0\0");
    let mut state = State::new(HASH_START, name, 0, 0, 0);
    state.permute_12();
    if !password.is_empty() {
        absorb(&mut state, password);
        state.permute_12();
        state[4] ^= 1;
    }
    state
}

fn prf(keyed: &State, input: &[u8]) -> Zeroizing<[u8; HASH_LEN]> {
    let mut state = keyed.clone();
    absorb(&mut state, input);
    squeeze(state)
}

fn absorb(state: &mut State, message: &[u8]) {
    let (words, rest) = message.as_chunks::<RATE>();
    for word in words {
        state[0] ^= u64::from_be_bytes(*word);
        state.permute_12();
    }
    state[0] ^= padded(rest);
}

fn squeeze(mut state: State) -> Zeroizing<[u8; HASH_LEN]> {
    let mut output = Zeroizing::new([0; HASH_LEN]);
    for word in output.as_chunks_mut::<RATE>().0 {
        state.permute_12();
        *word = state[0].to_be_bytes();
    }
    output
}

/// A last word that is not full, perhaps empty: one bit ends it.
fn padded(rest: &[u8]) -> u64 {
    let mut word = [0; RATE];
    word[..rest.len()].copy_from_slice(rest);
    word[rest.len()] = 0x80;
    u64::from_be_bytes(word)
}

/// Ascon-128 of one message under its own key and nonce.
pub struct Aead {
    state: State,
    key: Zeroizing<[u64; 2]>,
}

impl Aead {
    /// Begins a message without associated data.
    pub fn new(key: &[u8; BLOCK_LEN], nonce: &[u8; BLOCK_LEN]) -> Aead {
        Aead::with_data(key, nonce, &[])
    }

    /// Begins a message whose tag covers `data`, too.
    pub fn with_data(key: &[u8; BLOCK_LEN], nonce: &[u8; BLOCK_LEN], data: &[u8]) -> Aead {
        let [key, nonce] = [key, nonce].map(|bytes| {
            let (words, _) = bytes.as_chunks();
            [words[0], words[1]].map(u64::from_be_bytes)
        });
        let mut state = State::new(AEAD_START, key[0], key[1], nonce[0], nonce[1]);
        state.permute_12();
        state[3] ^= key[0];
        state[4] ^= key[1];
        if !data.is_empty() {
            let (words, rest) = data.as_chunks::<RATE>();
            for word in words {
                state[0] ^= u64::from_be_bytes(*word);
                state.permute_6();
            }
            state[0] ^= padded(rest);
            state.permute_6();
        }
        // The last word's lowest bit parts the associated data from the message.
        state[4] ^= 1;
        Aead {
            state,
            key: Zeroizing::new(key),
        }
    }

    /// Encrypts the message in place and gives its tag.
    pub fn encrypt(mut self, message: &mut [u8]) -> [u8; BLOCK_LEN] {
        let (words, rest) = message.as_chunks_mut::<RATE>();
        for word in words {
            self.state[0] ^= u64::from_be_bytes(*word);
            *word = self.state[0].to_be_bytes();
            self.state.permute_6();
        }
        self.state[0] ^= padded(rest);
        let sealed = self.state[0].to_be_bytes();
        rest.copy_from_slice(&sealed[..rest.len()]);
        self.tag()
    }

    /// Decrypts the message in place and gives the tag that belongs to it.
    pub fn decrypt(mut self, message: &mut [u8]) -> [u8; BLOCK_LEN] {
        let (words, rest) = message.as_chunks_mut::<RATE>();
        for word in words {
            let sealed = u64::from_be_bytes(*word);
            *word = (self.state[0] ^ sealed).to_be_bytes();
            self.state[0] = sealed;
            self.state.permute_6();
        }
        let mask = self.state[0].to_be_bytes();
        for (byte, mask) in rest.iter_mut().zip(mask) {
            *byte ^= mask;
        }
        self.state[0] ^= padded(rest);
        self.tag()
    }

    fn tag(mut self) -> [u8; BLOCK_LEN] {
        self.state[1] ^= self.key[0];
        self.state[2] ^= self.key[1];
        self.state.permute_12();
        let mut tag = [0; BLOCK_LEN];
        tag[..8].copy_from_slice(&(self.state[3] ^ self.key[0]).to_be_bytes());
        tag[8..].copy_from_slice(&(self.state[4] ^ self.key[1]).to_be_bytes());
        tag
    }
}
