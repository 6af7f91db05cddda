//! The objects of this addon that Node has not told us to finalize yet.
//!
//! Node runs finalizers in a turn of the event loop. A program that makes objects in one long
//! synchronous run would keep the native part of each until it ends, so whenever the list has
//! grown, what has been collected meanwhile is released here.

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
        if self.list.borrow().len() >= self.look_at.get() {
            self.release_collected(env)?;
        }
        self.list.borrow_mut().push(wrapped);
        Ok(())
    }

    fn release_collected(&self, env: Env<'_>) -> Result<()> {
        // Nothing that is released may find the list borrowed.
        let list = self.list.take();
        let mut alive = Vec::with_capacity(list.len());
        env.scoped(|env, _within| {
            for wrapped in list {
                if wrapped.is_collected(env)? {
                    wrapped.release(env)?;
                } else {
                    alive.push(wrapped);
                }
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
