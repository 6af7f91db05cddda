//! Everything that knows Node: classes, values, what may run while what is running.
//!
//! | file | what is there |
//! |---|---|
//! | `node_api` | Node-API behind safe types; the only unsafe file |
//! | `database`, `statement`, `iterator` | the classes |
//! | `backup` | copies of a database |
//! | `inspect` | what a file is, and which of its pages are bad |
//! | `execution` | one run of a statement, from parameters to reset |
//! | `state` | what may start while what is running |
//! | `bind`, `value` | parameters, single values |
//! | `rows`, `packed` | rows; batches of them |
//! | `udf`, `table` | user functions and aggregates; virtual tables |
//! | `keeper` | JavaScript values that SQLite's side refers to |
//! | `wraps` | native parts whose objects were collected |
//! | `throw` | errors to exceptions |
//!
//! Here is what one environment (the main thread or a worker) keeps.

mod backup;
mod bind;
mod database;
mod execution;
mod inspect;
mod iterator;
mod keeper;
mod node_api;
mod packed;
mod rows;
mod state;
mod statement;
mod table;
mod throw;
mod udf;
mod value;
mod wraps;

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::{Rc, Weak};
use std::time::Duration;

use napi_derive::napi;

use self::backup::Backup;
use self::database::{Database, Session};
use self::iterator::StatementIterator;
use self::node_api::{Call, Class, Env, Function, Reference, Value};
use self::packed::Batch;
use self::statement::Statement;
use self::wraps::Wraps;
use crate::codec::key_cache::keep_keys;
use crate::error::{Error, Result};
use crate::pager;

/// What one environment keeps.
pub(crate) struct State {
    scripts: OnceCell<Scripts>,
    statement_class: Reference,
    iterator_class: Reference,
    backup_class: Reference,
    /// The getter `busy` of all statements.
    pub(crate) busy_getter: Reference,
    /// The native part for the object that is being constructed.
    pub(crate) next_statement: RefCell<Option<Statement>>,
    pub(crate) next_iterator: RefCell<Option<StatementIterator>>,
    pub(crate) next_backup: RefCell<Option<Backup>>,
    /// The batch for the next rows; None while somebody fills it.
    batch: Cell<Option<Box<Batch>>>,
    pub(crate) sessions: Rc<Sessions>,
    pub(crate) wraps: Rc<Wraps>,
    /// Whether file names may be URIs.
    pub(crate) use_uri: Cell<bool>,
}

/// The JavaScript functions that native code calls.
pub(crate) struct Scripts {
    /// `class SqliteError`.
    pub(crate) sqlite_error: Reference,
    /// The memory that batches are read from.
    pub(crate) memory: Reference,
    /// Makes the function that builds a row with given names from its values.
    pub(crate) row_builder: Reference,
    /// Has a statement make its rows of `get` from the memory.
    pub(crate) read_one: Reference,
    /// Makes the function that appends a batch of rows to an array.
    pub(crate) rows_builder: Reference,
    /// Appends values to an array.
    pub(crate) append: Reference,
    /// Makes an array of its arguments.
    pub(crate) list: Reference,
    /// Gives a statement its own properties.
    pub(crate) describe: Reference,
    /// Builds `{ value, done }`.
    pub(crate) iterator_result: Reference,
}

/// The databases that are to be closed when the environment ends.
#[derive(Default)]
pub(crate) struct Sessions {
    open: RefCell<Vec<Weak<Session>>>,
}

impl State {
    /// What JavaScript handed over with `initialize`.
    pub(crate) fn scripts(&self) -> Result<&Scripts> {
        self.scripts
            .get()
            .ok_or(Error::Internal("initialize() was not called".into()))
    }

    /// An empty batch: the one kept here, or another while that one is being filled.
    pub(crate) fn take_batch(&self) -> Box<Batch> {
        let mut batch = self.batch.take().unwrap_or_default();
        batch.clear();
        batch
    }

    /// Takes a batch back for the next rows.
    pub(crate) fn keep_batch(&self, batch: Box<Batch>) {
        self.batch.set(Some(batch));
    }

    /// Makes the JavaScript object of a statement.
    pub(crate) fn wrap_statement<'e>(
        &self,
        env: Env<'e>,
        statement: Statement,
    ) -> Result<Value<'e>> {
        self.next_statement.replace(Some(statement));
        env.construct(self.statement_class.get(env)?, &[])
    }

    /// Makes the JavaScript object of an iterator.
    pub(crate) fn wrap_iterator<'e>(
        &self,
        env: Env<'e>,
        iterator: StatementIterator,
    ) -> Result<Value<'e>> {
        self.next_iterator.replace(Some(iterator));
        env.construct(self.iterator_class.get(env)?, &[])
    }

    /// Makes the JavaScript object of a running backup.
    pub(crate) fn wrap_backup<'e>(&self, env: Env<'e>, backup: Backup) -> Result<Value<'e>> {
        self.next_backup.replace(Some(backup));
        env.construct(self.backup_class.get(env)?, &[])
    }
}

impl Sessions {
    /// Remembers an open database; forgets those that are gone when the list has grown.
    pub(crate) fn add(&self, session: &Rc<Session>) {
        let mut open = self.open.borrow_mut();
        if open.len() == open.capacity() {
            open.retain(|known| known.strong_count() > 0);
        }
        open.push(Rc::downgrade(session));
    }

    fn close_all(&self) {
        let sessions: Vec<_> = self
            .open
            .borrow_mut()
            .drain(..)
            .filter_map(|known| known.upgrade())
            .collect();
        for session in sessions {
            session.abandon();
        }
    }
}

/// Called by Node for each environment that loads the addon.
#[napi(module_exports)]
pub fn register(exports: napi::bindgen_prelude::Object<'_>, env: napi::Env) -> napi::Result<()> {
    let scope = Env::of_registration(&env);
    set_up(scope, scope.adopt(&exports))
        .map_err(|error| napi::Error::from_reason(error.to_string()))
}

fn set_up(env: Env<'_>, exports: Value<'_>) -> Result<()> {
    pager::install();
    let statement = env.class::<Statement>()?;
    let iterator = env.class::<StatementIterator>()?;
    let backup = env.class::<Backup>()?;
    env.make_iterable(iterator)?;
    env.set_named(exports, Database::NAME, env.class::<Database>()?)?;
    env.set_named(exports, Statement::NAME, statement)?;
    env.set_named(exports, StatementIterator::NAME, iterator)?;
    env.export(exports, FUNCTIONS)?;
    let sessions = Rc::<Sessions>::default();
    let at_exit = Rc::clone(&sessions);
    env.at_exit(Rc::new(move || at_exit.close_all()))?;
    env.set_state(State {
        scripts: OnceCell::new(),
        statement_class: env.reference(statement)?,
        iterator_class: env.reference(iterator)?,
        backup_class: env.reference(backup)?,
        busy_getter: env.reference(env.method(statement::BUSY_GETTER)?)?,
        next_statement: RefCell::new(None),
        next_iterator: RefCell::new(None),
        next_backup: RefCell::new(None),
        batch: Cell::default(),
        sessions,
        wraps: Rc::default(),
        use_uri: Cell::new(std::env::var_os("SQLITE_USE_URI").is_some_and(|value| value == "1")),
    })
}

const FUNCTIONS: &[Function] = &[
    Function {
        name: c"initialize",
        call: initialize,
    },
    Function {
        name: c"inspect",
        call: inspect::inspect,
    },
    Function {
        name: c"keyCache",
        call: key_cache,
    },
];

/// `keyCache(entries, ttl)`, the time in milliseconds; checked by JavaScript. No entries: off.
fn key_cache<'e>(call: &Call<'e>) -> Result<Value<'e>> {
    let env = call.env;
    let entries = env.as_number(call.argument(0)?)?;
    // Saturates, and JavaScript's numbers are within the range.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "see above"
    )]
    let entries = entries as usize;
    let time_to_live =
        Duration::try_from_secs_f64(env.as_number(call.argument(1)?)? / 1000.0).unwrap_or_default();
    keep_keys(entries, time_to_live).map_err(|error| Error::Internal(error.to_string().into()))?;
    env.undefined()
}

/// `initialize({ SqliteError, …what lib/rows.js exports })`; later calls change nothing.
fn initialize<'e>(call: &Call<'e>) -> Result<Value<'e>> {
    let env = call.env;
    let scripts = call.argument(0)?;
    let keep = |name| env.reference(env.named(scripts, name)?);
    let scripts = Scripts {
        sqlite_error: keep(c"SqliteError")?,
        memory: keep(c"memory")?,
        row_builder: keep(c"rowBuilder")?,
        rows_builder: keep(c"rowsBuilder")?,
        read_one: keep(c"readOne")?,
        append: keep(c"append")?,
        list: keep(c"list")?,
        describe: keep(c"describe")?,
        iterator_result: keep(c"iteratorResult")?,
    };
    // A second copy of the JavaScript part gets the first one's SqliteError from the addon's state.
    let _known = env.state()?.scripts.set(scripts);
    env.undefined()
}
