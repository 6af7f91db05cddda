//! JavaScript values that SQLite's side refers to: callbacks, accumulators, rows of virtual tables.
//!
//! They live in an array that the native Database object owns, and not in references of their own,
//! which the garbage collector would have to respect: a callback that captures its database would
//! keep it open for ever. So they live as long as the database, and no longer.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::node_api::{Access, Env, Property, Reference, Value};
use super::throw;
use crate::error::{Error, Result};

/// The values of one database.
pub(crate) struct Keeper {
    /// None when the environment has ended.
    array: RefCell<Option<Rc<Reference>>>,
    free: RefCell<Vec<u32>>,
    count: Cell<u32>,
}

/// One kept value; forgotten when this is dropped.
pub(crate) struct Kept {
    keeper: Rc<Keeper>,
    at: u32,
}

impl Keeper {
    /// Gives `owner` the array.
    pub(crate) fn new(env: Env<'_>, owner: Value<'_>) -> Result<Rc<Self>> {
        let array = env.array(0)?;
        let property = Property {
            name: c"callbacks",
            value: array,
        };
        env.define(owner, &[property], Access::Hidden)?;
        Ok(Rc::new(Self {
            array: RefCell::new(Some(Rc::new(env.weak_reference(array)?))),
            free: RefCell::default(),
            count: Cell::new(0),
        }))
    }

    /// Whether nothing was ever kept: SQLite's side calls no JavaScript.
    pub(crate) fn is_unused(&self) -> bool {
        self.count.get() == 0
    }

    /// Keeps `value` until the result is dropped.
    pub(crate) fn keep(self: &Rc<Self>, env: Env<'_>, value: Value<'_>) -> Result<Kept> {
        let reused = self.free.borrow_mut().pop();
        let at = reused.map_or_else(|| self.new_place(env), Ok)?;
        let kept = Kept {
            keeper: Rc::clone(self),
            at,
        };
        kept.set(env, value)?;
        Ok(kept)
    }

    fn new_place(&self, env: Env<'_>) -> Result<u32> {
        let at = self.count.get();
        env.define_element(self.array()?.get(env)?, at, env.undefined()?)?;
        self.count.set(at + 1);
        Ok(at)
    }

    /// Runs `body` in a handle scope; an error of it becomes the pending exception.
    ///
    /// None after an error: the caller then gives SQLite the failing answer, and nothing else.
    pub(crate) fn enter<R>(&self, body: impl for<'s> FnOnce(Env<'s>) -> Result<R>) -> Option<R> {
        let array = self.array().ok()?;
        let entered = array.enter(|env| {
            let result = body(env);
            Ok(result.map_err(|error| throw::throw(env, error)).ok())
        });
        entered.ok().flatten()
    }

    /// Lets go of everything: the environment ends.
    pub(crate) fn abandon(&self) {
        self.array.replace(None);
    }

    fn array(&self) -> Result<Rc<Reference>> {
        let array = self.array.borrow().clone();
        array.ok_or_else(|| Error::Internal("the environment has ended".into()))
    }
}

impl Kept {
    pub(crate) fn get<'e>(&self, env: Env<'e>) -> Result<Value<'e>> {
        env.element(self.keeper.array()?.get(env)?, self.at)
    }

    pub(crate) fn set(&self, env: Env<'_>, value: Value<'_>) -> Result<()> {
        env.set_element(self.keeper.array()?.get(env)?, self.at, value)
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.keeper.free.borrow_mut().push(self.at);
        let Ok(array) = self.keeper.array() else {
            return;
        };
        // What cannot be removed now (the array was collected, an exception is pending) goes with
        // the next value of this place, or with the array.
        let _outcome =
            array.enter(|env| env.set_element(array.get(env)?, self.at, env.undefined()?));
    }
}
