//! What may start while what is running: one table, and its messages.

use std::cell::Cell;

use crate::error::{Error, Result};

/// What is going on in one database.
#[derive(Default)]
pub(crate) struct Activity {
    /// SQLite or a function that SQLite or the library called is running.
    executing: Cell<bool>,
    iterators: Cell<u32>,
    unsafe_mode: Cell<bool>,
    poisoned: Cell<bool>,
    /// A statement that gives rows, and writes or sets keys, was prepared: it may run while others are
    /// iterated.
    writes_while_iterating: Cell<bool>,
}

/// What a caller wants to start.
#[derive(Clone, Copy)]
pub(crate) enum Operation {
    /// `prepare`, `explain`, `columns`, `bind`, `get`, `all`, `iterate`.
    Read,
    /// `exec`, `pragma`, `run`.
    Write,
    /// `key`, `rekey`, `loadExtension`, `function`, `aggregate`, `table`.
    Reconfigure,
    /// `close`.
    Close,
    /// `pluck`, `expand`, `raw`, `safeIntegers`; `next` and `return` of iterators.
    Adjust,
}

/// What an open iterator means for an operation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WhileIterating {
    Allowed,
    UnsafeModeOnly,
    Refused,
}

/// What an operation is about.
#[derive(Clone, Copy)]
pub(crate) struct Subject {
    pub(crate) is_open: bool,
    /// The statement it needs is being iterated.
    pub(crate) is_iterating: bool,
}

/// Ends an execution when it is dropped.
pub(crate) struct Executing<'a> {
    activity: &'a Activity,
    /// Whether something was executing before, as when a collected iterator ends within a callback.
    before: bool,
}

const NOT_OPEN: &str = "The database connection is not open";
const BUSY: &str = "This database connection is busy executing a query";
const LOCKED: &str = "This statement is busy executing a query";
const POISONED: &str = "The database connection cannot be used after an internal error";
const TOO_MANY_ITERATORS: &str = "Too many active database iterators";

const MAX_ITERATORS: u32 = 65_535;

impl Operation {
    /// The table: needs an open connection, and what an open iterator means. While something is
    /// executing, nothing may start.
    const fn rule(self) -> (bool, WhileIterating) {
        match self {
            Operation::Read => (true, WhileIterating::Allowed),
            Operation::Write => (true, WhileIterating::UnsafeModeOnly),
            Operation::Reconfigure => (true, WhileIterating::Refused),
            Operation::Close => (false, WhileIterating::Refused),
            Operation::Adjust => (false, WhileIterating::Allowed),
        }
    }
}

impl Activity {
    /// Refuses what must not start now: OPEN, then BUSY, then LOCKED, then the iterators of others.
    pub(crate) fn check(&self, operation: Operation, subject: Subject) -> Result<()> {
        let (needs_open, iterating) = operation.rule();
        if needs_open && !subject.is_open {
            return Err(not_open());
        }
        if needs_open && self.poisoned.get() {
            return Err(Error::Internal(POISONED.into()));
        }
        if self.executing.get() {
            return Err(Error::of_type(BUSY));
        }
        if subject.is_iterating {
            return Err(Error::of_type(LOCKED));
        }
        let refused = match iterating {
            WhileIterating::Allowed => false,
            WhileIterating::UnsafeModeOnly => !self.unsafe_mode.get(),
            WhileIterating::Refused => true,
        };
        if refused && self.iterators.get() > 0 {
            Err(Error::of_type(BUSY))
        } else {
            Ok(())
        }
    }

    /// Marks the database as executing until the result is dropped.
    pub(crate) fn execute(&self) -> Executing<'_> {
        Executing {
            activity: self,
            before: self.executing.replace(true),
        }
    }

    pub(crate) fn add_iterator(&self) -> Result<()> {
        if self.iterators.get() == MAX_ITERATORS {
            return Err(Error::of_range(TOO_MANY_ITERATORS));
        }
        self.iterators.set(self.iterators.get() + 1);
        Ok(())
    }

    pub(crate) fn remove_iterator(&self) {
        self.iterators.set(self.iterators.get().saturating_sub(1));
    }

    pub(crate) fn set_unsafe_mode(&self, on: bool) {
        self.unsafe_mode.set(on);
    }

    pub(crate) fn expect_writes_while_iterating(&self) {
        self.writes_while_iterating.set(true);
    }

    /// Whether what an iterator reads can change between two of its steps.
    pub(crate) fn may_write_while_iterating(&self) -> bool {
        self.unsafe_mode.get() || self.writes_while_iterating.get()
    }

    /// After a panic nothing more is done with the connection than closing it.
    pub(crate) fn poison(&self) {
        self.poisoned.set(true);
    }
}

impl Drop for Executing<'_> {
    fn drop(&mut self) {
        self.activity.executing.set(self.before);
    }
}

/// The error of a connection that is closed.
pub(crate) fn not_open() -> Error {
    Error::of_type(NOT_OPEN)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPEN: Subject = Subject {
        is_open: true,
        is_iterating: false,
    };
    const CLOSED: Subject = Subject {
        is_open: false,
        is_iterating: false,
    };

    fn allowed(activity: &Activity, operation: Operation) -> bool {
        activity.check(operation, OPEN).is_ok()
    }

    #[test]
    fn an_open_iterator_refuses_writing_unless_in_unsafe_mode() {
        let activity = Activity::default();
        activity.add_iterator().unwrap();
        assert!(allowed(&activity, Operation::Read));
        assert!(!allowed(&activity, Operation::Write));
        activity.set_unsafe_mode(true);
        assert!(allowed(&activity, Operation::Write));
        assert!(!allowed(&activity, Operation::Reconfigure));
        assert!(!allowed(&activity, Operation::Close));
        activity.remove_iterator();
        assert!(allowed(&activity, Operation::Close));
    }

    #[test]
    fn nothing_starts_while_something_executes() {
        let activity = Activity::default();
        activity.set_unsafe_mode(true);
        let executing = activity.execute();
        for operation in [
            Operation::Read,
            Operation::Write,
            Operation::Close,
            Operation::Adjust,
        ] {
            assert!(!allowed(&activity, operation));
        }
        drop(executing);
        assert!(allowed(&activity, Operation::Close));
    }

    #[test]
    fn a_closed_connection_may_be_closed_and_adjusted() {
        let activity = Activity::default();
        assert!(activity.check(Operation::Close, CLOSED).is_ok());
        assert!(activity.check(Operation::Adjust, CLOSED).is_ok());
        assert!(activity.check(Operation::Read, CLOSED).is_err());
    }

    #[test]
    fn a_statement_that_is_iterated_is_locked_for_itself() {
        let activity = Activity::default();
        activity.add_iterator().unwrap();
        let refusal = activity
            .check(
                Operation::Write,
                Subject {
                    is_iterating: true,
                    ..OPEN
                },
            )
            .unwrap_err();
        assert_eq!(refusal.to_string(), LOCKED);
        assert_eq!(
            activity
                .check(Operation::Write, OPEN)
                .unwrap_err()
                .to_string(),
            BUSY
        );
    }

    #[test]
    fn iterators_are_counted_up_to_their_limit() {
        let activity = Activity::default();
        for _ in 0..MAX_ITERATORS {
            activity.add_iterator().unwrap();
        }
        assert!(matches!(activity.add_iterator(), Err(Error::Range(_))));
    }
}
