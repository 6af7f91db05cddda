//! The objects of this addon, and the release of those that were collected.
//!
//! Node runs finalizers in a turn of the event loop, and keeps a record of each object until then.
//! A program that makes a million statements in one synchronous run cannot wait for that. So
//! statements have no finalizer: whenever the list has grown, or something was finalized, those that
//! have been collected are released here.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::node_api::Env;
use crate::error::Result;

/// The native part of an object, whatever its class.
pub(crate) trait Wrapped {
    /// Whether JavaScript can never come back with the object.
    fn is_collected(&self, env: Env<'_>) -> Result<bool>;

    /// Drops the native part of an object that is collected.
    fn release(&self, env: Env<'_>) -> Result<()>;
}

/// The list of an environment.
pub(crate) struct Wraps {
    list: RefCell<Vec<Rc<dyn Wrapped>>>,
    /// Looks for collected ones when the list is this long.
    look_at: Cell<usize>,
}

/// Looking costs little per object; below this it would free nothing worth it.
const MIN_LOOK_AT: usize = 1024;

impl Wraps {
    /// Remembers a new object; releases those that are gone when the list has doubled.
    pub(crate) fn add(&self, env: Env<'_>, wrapped: Rc<dyn Wrapped>) -> Result<()> {
        self.list.borrow_mut().push(wrapped);
        if self.list.borrow().len() < self.look_at.get() {
            return Ok(());
        }
        self.release_collected(env)
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
            look_at: Cell::new(MIN_LOOK_AT),
        }
    }
}
