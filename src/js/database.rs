//! Class Database: opening, keys, SQL that runs at once, prepare, close.
//!
//! The checks of the constructor's options and the public methods' shapes are in `index.js` and
//! `lib`; this is the native object behind them.

use std::cell::{Cell, Ref, RefCell};
use std::ffi::{CStr, CString};
use std::rc::Rc;
use std::time::Duration;

use super::backup::{self, Backups};
use super::keeper::{Keeper, Kept};
use super::node_api::{Call, Class, Env, Kind, Method, Release, Value};
use super::state::{Activity, Operation, Subject, not_open};
use super::statement::Statement;
use super::value::Integers;
use super::{inspect, table, udf};
use zeroize::Zeroizing;

use crate::error::{Error, Result};
use crate::pager;
use crate::sqlite::connection::{Connection, OpenMode};
use crate::sqlite::step::Use;
use crate::sqlite::{extension, sql_text};

/// The native part of a Database object.
pub(crate) struct Database(Rc<Session>);

/// A connection with what JavaScript attached to it.
pub(crate) struct Session {
    pub(crate) connection: Connection,
    pub(crate) activity: Activity,
    pub(crate) backups: Backups,
    /// The default of new statements.
    pub(crate) integers: Cell<Integers>,
    /// The JavaScript values that SQLite's side refers to.
    pub(crate) keeper: Rc<Keeper>,
    logger: RefCell<Option<Kept>>,
    /// An extension was loaded; what its functions do is not known.
    is_extended: Cell<bool>,
}

impl Class for Database {
    const NAME: &'static CStr = c"Database";
    const TAG: u64 = 1;
    const NOT_CALLABLE: &'static str = "Class constructor Database cannot be invoked without 'new'";
    const RELEASE: Release = Release::Finalizer;
    const METHODS: &'static [Method<Self>] = &[
        Method {
            name: c"prepare",
            call: prepare,
        },
        Method {
            name: c"exec",
            call: exec,
        },
        Method {
            name: c"pragma",
            call: pragma,
        },
        Method {
            name: c"explain",
            call: explain,
        },
        Method {
            name: c"key",
            call: |call, this| change_key(call, this, pager::key),
        },
        Method {
            name: c"rekey",
            call: |call, this| change_key(call, this, pager::rekey),
        },
        Method {
            name: c"function",
            call: udf::function,
        },
        Method {
            name: c"aggregate",
            call: udf::aggregate,
        },
        Method {
            name: c"table",
            call: table::table,
        },
        Method {
            name: c"loadExtension",
            call: load_extension,
        },
        Method {
            name: c"backup",
            call: backup::begin,
        },
        Method {
            name: c"busyTimeout",
            call: backup::busy_timeout,
        },
        Method {
            name: c"serialize",
            call: backup::serialize,
        },
        Method {
            name: c"extent",
            call: inspect::extent,
        },
        Method {
            name: c"checkPages",
            call: inspect::check_pages,
        },
        Method {
            name: c"close",
            call: close,
        },
        Method {
            name: c"defaultSafeIntegers",
            call: default_safe_integers,
        },
        Method {
            name: c"unsafeMode",
            call: unsafe_mode,
        },
        Method {
            name: c"isOpen",
            call: |call, this| call.env.boolean(this.0.connection.is_open()),
        },
        Method {
            name: c"inTransaction",
            call: |call, this| call.env.boolean(this.0.connection.in_transaction()),
        },
    ];

    /// `new Database(pathOrImage, readonly, fileMustExist, timeout, verbose, cipher, uri)`, checked by
    /// JavaScript.
    fn construct(call: &Call<'_>) -> Result<Self> {
        let env = call.env;
        let mode = match (
            env.as_boolean(call.argument(1)?)?,
            env.as_boolean(call.argument(2)?)?,
        ) {
            (true, _) => OpenMode::Read,
            (false, true) => OpenMode::Write,
            (false, false) => OpenMode::Create,
        };
        let timeout = Duration::try_from_secs_f64(env.as_number(call.argument(3)?)? / 1000.0)
            .unwrap_or_default();
        let (logger, cipher) = (call.argument(4)?, call.argument(5)?);
        let state = env.state()?;
        let use_uri = state.use_uri.get() || env.as_boolean(call.argument(6)?)?;
        let session = Rc::new(Session {
            connection: open_connection(call, mode, use_uri, timeout)?,
            activity: Activity::default(),
            backups: Backups::default(),
            integers: Cell::new(Integers::Number),
            keeper: Keeper::new(env, call.this)?,
            logger: RefCell::new(None),
            is_extended: Cell::new(false),
        });
        if env.kind(cipher)? == Kind::String {
            session.set_cipher(&text_argument(call, 5, "sixth")?)?;
        }
        if env.kind(logger)? == Kind::Function {
            session
                .logger
                .replace(Some(session.keeper.keep(env, logger)?));
        }
        state.sessions.add(&session);
        Ok(Self(session))
    }

    fn poison(&self) {
        self.0.activity.poison();
    }

    fn complete(&self, error: Error) -> Error {
        self.0.complete(error)
    }
}

impl Database {
    pub(crate) fn session(&self) -> &Rc<Session> {
        &self.0
    }
}

impl Session {
    /// Refuses what must not start now.
    pub(crate) fn check(&self, operation: Operation) -> Result<()> {
        self.activity.check(
            operation,
            Subject {
                is_open: self.connection.is_open(),
                is_iterating: false,
            },
        )
    }

    pub(crate) fn handle(&self) -> Result<Ref<'_, Rc<rusqlite::Connection>>> {
        self.connection.handle().ok_or_else(not_open)
    }

    pub(crate) fn has_logger(&self) -> bool {
        self.logger.borrow().is_some()
    }

    /// Whether nobody can tell when a row is read: no function of a user runs in between, and nothing
    /// is written.
    pub(crate) fn may_read_ahead(&self) -> bool {
        self.keeper.is_unused()
            && !self.is_extended.get()
            && !self.activity.may_write_while_iterating()
    }

    /// Shows one statement to the logger, keys excepted.
    pub(crate) fn log(&self, env: Env<'_>, sql: Vec<u8>) -> Result<()> {
        let logger = self
            .logger
            .borrow()
            .as_ref()
            .map(|logger| logger.get(env))
            .transpose()?;
        let Some(logger) = logger else { return Ok(()) };
        env.call(logger, &[env.string(&sql_text::without_keys(sql))?])?;
        Ok(())
    }

    /// Says what the file looks like when it is no database.
    pub(crate) fn complete(&self, error: Error) -> Error {
        match error {
            Error::Sqlite {
                code: rusqlite::ffi::SQLITE_NOTADB,
                message,
            } => {
                let handle = self.connection.handle();
                match handle.and_then(|handle| pager::take_hint(&handle)) {
                    Some(hint) => Error::NotADatabase { message, hint },
                    None => Error::Sqlite {
                        code: rusqlite::ffi::SQLITE_NOTADB,
                        message,
                    },
                }
            }
            other => other,
        }
    }

    /// Closes the connection whatever is going on: the environment ends.
    pub(crate) fn abandon(&self) {
        self.keeper.abandon();
        self.logger.replace(None);
        self.backups.end_all();
        // Node is leaving; a file that cannot be closed properly is recovered at the next open.
        let _outcome = self.connection.close();
    }

    fn set_cipher(&self, name: &str) -> Result<()> {
        let sql = format!("PRAGMA cipher='{}'", name.replace('\'', "''"));
        let mut raw = self.compile_one(sql.into_bytes(), Use::Once)?;
        raw.step().map(drop)
    }
}

/// Whether the first argument, which may be left out, is true.
pub(crate) fn optional_boolean(call: &Call<'_>) -> Result<bool> {
    let Some(&flag) = call.arguments().first() else {
        return Ok(true);
    };
    if call.env.kind(flag)? == Kind::Boolean {
        return call.env.as_boolean(flag);
    }
    Err(Error::of_type("Expected first argument to be a boolean"))
}

fn bytes_argument(call: &Call<'_>, index: usize, position: &str) -> Result<Vec<u8>> {
    let value = call.argument(index)?;
    if call.env.kind(value)? != Kind::String {
        return Err(Error::of_type(format!(
            "Expected {position} argument to be a string"
        )));
    }
    let mut text = Vec::new();
    call.env.read_string(value, &mut text)?;
    Ok(text)
}

/// Opens the file that the first argument names, or the image that it is.
fn open_connection(
    call: &Call<'_>,
    mode: OpenMode,
    use_uri: bool,
    timeout: Duration,
) -> Result<Connection> {
    let source = call.argument(0)?;
    if call.env.kind(source)? == Kind::String {
        let path = text_argument(call, 0, "first")?;
        let connection = Connection::open(&path, mode, use_uri, timeout)?;
        if let Some(handle) = connection.handle() {
            pager::check_name(&handle)?;
        }
        return Ok(connection);
    }
    let open = |image: &[u8]| Connection::open_image(image, mode, timeout);
    call.env
        .with_bytes(source, open)?
        .ok_or_else(|| Error::of_type("Expected first argument to be a string"))?
}

pub(crate) fn text_argument(call: &Call<'_>, index: usize, position: &str) -> Result<String> {
    String::from_utf8(bytes_argument(call, index, position)?)
        .map_err(|_| Error::Internal("Node gave a string that is not UTF-8".into()))
}

/// A text that is checked to be one by JavaScript, up to its first NUL.
pub(super) fn terminated_argument(call: &Call<'_>, index: usize) -> Result<CString> {
    let mut text = Vec::new();
    call.env.read_string(call.argument(index)?, &mut text)?;
    let end = text
        .iter()
        .position(|&byte| byte == 0)
        .unwrap_or(text.len());
    text.truncate(end);
    CString::new(text).map_err(|_| Error::Internal("a text was not cut at its NUL".into()))
}

/// `prepare(sql, database)`
fn prepare<'e>(call: &Call<'e>, this: &'e Database) -> Result<Value<'e>> {
    let sql = bytes_argument(call, 0, "first")?;
    this.0.check(Operation::Read)?;
    let raw = this.0.compile_one(sql, Use::Often)?;
    Statement::new(&this.0, raw).into_js(call.env, call.argument(0)?, call.argument(1)?)
}

/// `exec(sql)`
fn exec<'e>(call: &Call<'e>, this: &'e Database) -> Result<Value<'e>> {
    let sql = bytes_argument(call, 0, "first")?;
    this.0.check(Operation::Write)?;
    this.0.run_all(call.env, sql)?;
    call.env.undefined()
}

/// `pragma(sql, firstValue)`
fn pragma<'e>(call: &Call<'e>, this: &'e Database) -> Result<Value<'e>> {
    let sql = bytes_argument(call, 0, "first")?;
    this.0.check(Operation::Write)?;
    this.0
        .query(call.env, sql, call.env.as_boolean(call.argument(1)?)?)
}

/// `explain(sql)`
fn explain<'e>(call: &Call<'e>, this: &'e Database) -> Result<Value<'e>> {
    let sql = bytes_argument(call, 0, "first")?;
    this.0.check(Operation::Read)?;
    this.0.query(call.env, sql, false)
}

/// `key(buffer)` and `rekey(buffer)`
fn change_key<'e>(
    call: &Call<'e>,
    this: &Database,
    change: fn(&rusqlite::Connection, &str, &[u8]) -> std::result::Result<(), i32>,
) -> Result<Value<'e>> {
    let key = call.argument(0)?;
    this.0.check(Operation::Reconfigure)?;
    // A copy: a rekey may call user functions (an index on one), which could take the bytes away.
    let key = call
        .env
        .with_bytes(key, |bytes| Zeroizing::new(bytes.to_vec()))?
        .ok_or_else(|| Error::of_type("Expected the key to be a Buffer"))?;
    let _executing = this.0.activity.execute();
    change(&*this.0.handle()?, "main", &key).map_err(Error::of_code)?;
    call.env.integer(0)
}

/// `loadExtension(path, entryPoint)`
fn load_extension<'e>(call: &Call<'e>, this: &'e Database) -> Result<Value<'e>> {
    let path = text_argument(call, 0, "first")?;
    let entry_point = match call.arguments().len() {
        0 | 1 => None,
        _ => Some(text_argument(call, 1, "second")?),
    };
    this.0.check(Operation::Reconfigure)?;
    let _executing = this.0.activity.execute();
    this.0.is_extended.set(true);
    extension::load(&*this.0.handle()?, &path, entry_point.as_deref())?;
    call.env.undefined()
}

/// `close()`
fn close<'e>(call: &Call<'e>, this: &'e Database) -> Result<Value<'e>> {
    this.0.check(Operation::Close)?;
    this.0.backups.end_all();
    this.0.connection.close()?;
    this.0.logger.replace(None);
    call.env.undefined()
}

/// `defaultSafeIntegers(on)`
fn default_safe_integers<'e>(call: &Call<'e>, this: &'e Database) -> Result<Value<'e>> {
    this.0
        .integers
        .set(Integers::from_safe(optional_boolean(call)?));
    call.env.undefined()
}

/// `unsafeMode(on)`
fn unsafe_mode<'e>(call: &Call<'e>, this: &'e Database) -> Result<Value<'e>> {
    let on = optional_boolean(call)?;
    this.0.activity.set_unsafe_mode(on);
    this.0.connection.set_defensive(!on)?;
    call.env.undefined()
}
