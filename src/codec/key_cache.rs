//! Derived keys that are kept for the next connection to the same file: off until it is asked for.
//!
//! The process has one cache, which all threads share. An entry is found by a keyed digest of
//! everything that a derivation depends on, so a wrong passphrase finds nothing. What is dropped for
//! its age, for want of room or on demand is erased. How a key is derived is in the schemes.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use hmac::{Hmac, KeyInit, Mac};
use parking_lot::Mutex;
use sha2::Sha256;
use zeroize::Zeroizing;

use super::key::{Key, KeyError, Salt};
use super::random::Random;
use super::settings::CipherConfig;

static CACHE: Mutex<Option<KeyCache>> = Mutex::new(None);

/// Starts an empty cache of at most `entry_limit` keys, each for `time_to_live`; the one before is
/// erased. Without room or time there is none.
pub fn keep_keys(entry_limit: usize, time_to_live: Duration) -> Result<(), KeyError> {
    let kept = (entry_limit > 0 && !time_to_live.is_zero())
        .then(|| KeyCache::new(entry_limit, time_to_live))
        .transpose()?;
    *CACHE.lock() = kept;
    Ok(())
}

/// The key of a passphrase: from the cache, else derived and put there. Nothing is locked while a
/// key is derived.
pub(super) fn derive_key(
    config: &CipherConfig,
    passphrase: &[u8],
    salt: Option<&Salt>,
) -> Result<Key, KeyError> {
    let derive = || (config.scheme().derive_key)(config, passphrase, salt);
    let Some((id, found)) = CACHE.lock().as_mut().map(|cache| {
        let id = cache.id(config, passphrase, salt);
        let found = cache.find(&id, Instant::now());
        (id, found)
    }) else {
        return derive();
    };
    if let Some(key) = found {
        return Ok(key);
    }
    let key = derive()?;
    // Not into a cache that was started meanwhile, which has another secret: it was to be empty.
    if let Some(cache) = CACHE.lock().as_mut()
        && cache.id(config, passphrase, salt) == id
    {
        cache.insert(id, key.clone(), Instant::now());
    }
    Ok(key)
}

/// In the order of use, the latest last.
struct KeyCache {
    entries: VecDeque<Entry>,
    entry_limit: usize,
    time_to_live: Duration,
    /// Of the digests. Without it a digest does not help to guess a passphrase.
    secret: Zeroizing<[u8; 32]>,
}

struct Entry {
    id: Id,
    key: Key,
    made: Instant,
}

type Id = [u8; 32];

impl KeyCache {
    fn new(entry_limit: usize, time_to_live: Duration) -> Result<KeyCache, KeyError> {
        let mut secret = Zeroizing::new([0; 32]);
        Random::open()?.fill(&mut *secret);
        Ok(KeyCache {
            entries: VecDeque::new(),
            entry_limit,
            time_to_live,
            secret,
        })
    }

    /// Each part of a length of its own says how long it is, so that no two inputs read the same.
    fn id(&self, config: &CipherConfig, passphrase: &[u8], salt: Option<&Salt>) -> Id {
        let mut digest = <Hmac<Sha256> as KeyInit>::new_from_slice(&*self.secret)
            .expect("HMAC takes keys of any length");
        let name = config.scheme().name.as_bytes();
        let salt = salt.map_or(&[][..], |salt| salt);
        for part in [name, salt, passphrase] {
            digest.update(&(part.len() as u64).to_le_bytes());
            digest.update(part);
        }
        for value in config.values() {
            digest.update(&value.to_le_bytes());
        }
        digest.finalize().into_bytes().into()
    }

    fn find(&mut self, id: &Id, now: Instant) -> Option<Key> {
        self.drop_old(now);
        let at = self.entries.iter().position(|entry| entry.id == *id)?;
        let entry = self.entries.remove(at)?;
        let key = entry.key.clone();
        self.entries.push_back(entry);
        Some(key)
    }

    fn insert(&mut self, id: Id, key: Key, now: Instant) {
        self.drop_old(now);
        // Two threads may have derived the same key.
        self.entries.retain(|entry| entry.id != id);
        while self.entries.len() >= self.entry_limit {
            self.entries.pop_front();
        }
        self.entries.push_back(Entry { id, key, made: now });
    }

    fn drop_old(&mut self, now: Instant) {
        let time_to_live = self.time_to_live;
        self.entries
            .retain(|entry| now.saturating_duration_since(entry.made) < time_to_live);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::find_scheme;
    use crate::codec::settings::{Reach, Settings};

    const SECOND: Duration = Duration::from_secs(1);

    fn cache(entry_limit: usize) -> KeyCache {
        KeyCache::new(entry_limit, 10 * SECOND).unwrap()
    }

    fn config(scheme: &str, params: &[(&str, &str)]) -> CipherConfig {
        let scheme = find_scheme(scheme).unwrap();
        let mut settings = Settings::for_scheme(scheme);
        for (name, text) in params {
            let set = settings.set_param_text(Reach::Both, scheme, name, text);
            assert!(set.unwrap().is_some());
        }
        settings.take()
    }

    fn found(cache: &mut KeyCache, id: u8, now: Instant) -> bool {
        cache.find(&[id; 32], now).is_some()
    }

    #[test]
    fn whatever_a_derivation_depends_on_makes_another_entry() {
        let cache = cache(1);
        let chacha20 = config("chacha20", &[]);
        let ids = [
            cache.id(&chacha20, b"key", Some(&[1; 16])),
            cache.id(&chacha20, b"kez", Some(&[1; 16])),
            cache.id(&chacha20, b"key\0", Some(&[1; 16])),
            cache.id(&chacha20, b"key", Some(&[2; 16])),
            cache.id(&chacha20, b"key", None),
            cache.id(&config("ascon128", &[]), b"key", Some(&[1; 16])),
            cache.id(
                &config("chacha20", &[("kdf_iter", "4000")]),
                b"key",
                Some(&[1; 16]),
            ),
            cache.id(
                &config("chacha20", &[("legacy", "1")]),
                b"key",
                Some(&[1; 16]),
            ),
        ];
        for (at, id) in ids.iter().enumerate() {
            assert!(!ids[..at].contains(id), "{at}");
        }
        assert_eq!(ids[0], cache.id(&chacha20, b"key", Some(&[1; 16])));
        assert_ne!(ids[0], self::cache(1).id(&chacha20, b"key", Some(&[1; 16])));
    }

    #[test]
    fn a_key_lives_its_time_from_when_it_was_made_however_often_it_is_used() {
        let (mut cache, start) = (cache(4), Instant::now());
        cache.insert([1; 32], Key::new(b"one"), start);
        assert!(found(&mut cache, 1, start + 9 * SECOND));
        assert!(!found(&mut cache, 1, start + 10 * SECOND));
        assert!(cache.entries.is_empty());
    }

    #[test]
    fn the_key_used_longest_ago_makes_room() {
        let (mut cache, now) = (cache(2), Instant::now());
        cache.insert([1; 32], Key::new(b"one"), now);
        cache.insert([2; 32], Key::new(b"two"), now);
        assert!(found(&mut cache, 1, now));
        cache.insert([3; 32], Key::new(b"three"), now);
        let still = [1, 2, 3].map(|id| found(&mut cache, id, now));
        assert_eq!((still, cache.entries.len()), ([true, false, true], 2));
    }

    /// The only test that touches the cache of the process.
    #[test]
    fn a_hit_gives_the_derived_key_until_the_cache_is_switched_off() {
        let config = config("chacha20", &[("kdf_iter", "2")]);
        let salt = Some(&[7; 16]);
        let derived = (config.scheme().derive_key)(&config, b"key", salt).unwrap();
        let kept_count = || {
            let mut cache = CACHE.lock();
            cache.as_mut().map(|cache| {
                let id = cache.id(&config, b"key", salt);
                usize::from(cache.find(&id, Instant::now()).is_some())
            })
        };
        assert_eq!(kept_count(), None);
        // Other tests derive keys meanwhile: there is room for all.
        keep_keys(10_000, 100 * SECOND).unwrap();
        assert_eq!(kept_count(), Some(0));
        for _ in 0..2 {
            let key = derive_key(&config, b"key", salt).unwrap();
            assert_eq!(key.as_bytes(), derived.as_bytes());
            assert_eq!(kept_count(), Some(1));
        }
        let other = derive_key(&config, b"kez", salt).unwrap();
        assert_ne!(other.as_bytes(), derived.as_bytes());
        keep_keys(10_000, 100 * SECOND).unwrap();
        assert_eq!(kept_count(), Some(0));
        keep_keys(0, SECOND).unwrap();
        assert_eq!(kept_count(), None);
    }
}
