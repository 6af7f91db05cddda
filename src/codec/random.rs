//! Random bytes for nonces and salts. Keys are never made here.

use std::sync::OnceLock;

use chacha20::ChaCha20Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use parking_lot::Mutex;
use zeroize::Zeroizing;

use super::key::KeyError;

/// The process's generator. To hold a `Random` is to know that it was seeded, so making a nonce
/// cannot fail. It is asked for a few bytes per page and calls the system once per process.
#[derive(Clone, Copy)]
pub struct Random(&'static Mutex<ChaCha20Rng>);

impl Random {
    /// Seeds the generator from the system, the first time.
    pub fn open() -> Result<Random, KeyError> {
        if let Some(generator) = GENERATOR.get() {
            return Ok(Random(generator));
        }
        let mut seed = Zeroizing::new([0; 32]);
        getrandom::fill(&mut *seed).map_err(|_| KeyError::RandomUnavailable)?;
        Ok(Random(
            GENERATOR.get_or_init(|| Mutex::new(ChaCha20Rng::from_seed(*seed))),
        ))
    }

    /// Fills a slice.
    pub fn fill(self, bytes: &mut [u8]) {
        self.0.lock().fill_bytes(bytes);
    }
}

static GENERATOR: OnceLock<Mutex<ChaCha20Rng>> = OnceLock::new();

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn nonces_do_not_repeat() {
        let random = Random::open().unwrap();
        let nonces: HashSet<[u8; 16]> = (0..1000)
            .map(|_| {
                let mut nonce = [0; 16];
                random.fill(&mut nonce);
                nonce
            })
            .collect();
        assert_eq!(nonces.len(), 1000);
    }
}
