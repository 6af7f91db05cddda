//! The objects of this addon, and the release of those that were collected.
//!
//! Node runs finalizers in a turn of the event loop, and keeps a record of each object until then.
//! A program that makes a million statements in one synchronous run cannot wait for that. So
//! statements have no finalizer: whenever the list has grown, or something was finalized, those that
//! have been collected are released here.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::rc::Rc;

use super::node_api::Env;
use crate::error::Result;

/// The native part of an object, whatever its class.
pub(crate) trait Wrapped {
    /// The tag of its class.
    fn tag(&self) -> u64;

    /// Whether JavaScript can never come back with the object.
    fn is_collected(&self, env: Env<'_>) -> Result<bool>;

    /// Drops the native part of an object that is collected.
    fn release(&self, env: Env<'_>) -> Result<()>;
}

/// The list of an environment.
pub(crate) struct Wraps {
    list: RefCell<Vec<Rc<dyn Wrapped>>>,
    /// By the address of each native part of the list: the tag of its class.
    tags: RefCell<HashMap<usize, u64, BuildHasherDefault<AddressHasher>>>,
    /// Looks for collected ones when the list is this long.
    look_at: Cell<usize>,
}

/// Looking costs little per object; below this it would free nothing worth it.
const MIN_LOOK_AT: usize = 1024;

impl Wraps {
    /// Remembers a new object; releases those that are gone when the list has doubled.
    pub(crate) fn add(&self, env: Env<'_>, wrapped: Rc<dyn Wrapped>) -> Result<()> {
        let address = address_of(&wrapped);
        self.tags.borrow_mut().insert(address, wrapped.tag());
        self.list.borrow_mut().push(wrapped);
        if self.list.borrow().len() < self.look_at.get() {
            return Ok(());
        }
        self.release_collected(env)
    }

    /// Whether there is a native part of that class at that address.
    pub(crate) fn has(&self, address: usize, tag: u64) -> bool {
        self.tags.borrow().get(&address) == Some(&tag)
    }

    /// Releases what has been collected.
    pub(crate) fn release_collected(&self, env: Env<'_>) -> Result<()> {
        // Nothing that is released may find the list borrowed.
        let list = self.list.take();
        let mut alive = Vec::with_capacity(list.len());
        env.scoped(|env, _within| {
            for wrapped in list {
                // What cannot be asked for is kept.
                if wrapped.is_collected(env).unwrap_or(false) && wrapped.release(env).is_ok() {
                    self.tags.borrow_mut().remove(&address_of(&wrapped));
                    continue;
                }
                alive.push(wrapped);
            }
            Ok(())
        })?;
        self.look_at.set((2 * alive.len()).max(MIN_LOOK_AT));
        self.list.borrow_mut().append(&mut alive);
        Ok(())
    }
}

impl Default for Wraps {
    fn default() -> Self {
        Self {
            list: RefCell::default(),
            tags: RefCell::default(),
            look_at: Cell::new(MIN_LOOK_AT),
        }
    }
}

fn address_of(wrapped: &Rc<dyn Wrapped>) -> usize {
    Rc::as_ptr(wrapped).addr()
}

/// Spreads addresses; nobody outside chooses them.
#[derive(Default)]
struct AddressHasher(u64);

impl Hasher for AddressHasher {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_usize(byte.into());
        }
    }

    fn write_usize(&mut self, address: usize) {
        // Odd, from the golden ratio: the high bits, which the table takes first, depend on all others.
        self.0 = (self.0 ^ address as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 ^= self.0 >> 32;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
