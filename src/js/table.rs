//! Virtual tables: `db.table`.
//!
//! Definitions are checked, and rows are made arrays of the right length, in `lib/table.js`; how
//! SQLite calls what is here is in `sqlite::virtual_table`.

use std::ffi::{CStr, CString};
use std::rc::{Rc, Weak};

use super::database::{Database, Session, terminated_argument};
use super::keeper::{Keeper, Kept};
use super::node_api::{Call, Env, Kind, Value};
use super::state::Operation;
use super::udf::Context;
use super::value;
use crate::error::{Error, Result};
use crate::sqlite::callback::{Failed, Invocation, Outcome};
use crate::sqlite::step::Column;
use crate::sqlite::virtual_table::{self, Existence, Module, Names, Scan, Table};

struct UserModule {
    session: Weak<Session>,
    keeper: Rc<Keeper>,
    name: String,
    /// `define(module, database, table, ...arguments)` gives a definition of `lib/table.js`.
    define: Kept,
}

struct UserTable {
    context: Rc<Context>,
    declaration: CString,
    parameters: Vec<String>,
    direct_only: bool,
    /// `scan(...parameters)` gives the function that gives the rows.
    scan: Kept,
}

struct UserScan {
    context: Rc<Context>,
    /// `next()` gives an array of the columns, or undefined at the end.
    next: Kept,
    row: Kept,
}

/// `table(name, define, isEponymous)`
pub(super) fn table<'e>(call: &Call<'e>, this: &'e Database) -> Result<Value<'e>> {
    let session = this.session();
    let name = terminated_argument(call, 0)?;
    session.check(Operation::Reconfigure)?;
    let module = UserModule {
        session: Rc::downgrade(session),
        keeper: Rc::clone(&session.keeper),
        name: name.to_string_lossy().into_owned(),
        define: session.keeper.keep(call.env, call.argument(1)?)?,
    };
    let existence = if call.env.as_boolean(call.argument(2)?)? {
        Existence::Eponymous
    } else {
        Existence::Created
    };
    // Taking the place of a module may disconnect its table.
    let _executing = session.activity.execute();
    virtual_table::create_module(&*session.handle()?, &name, existence, module)?;
    call.env.undefined()
}

impl Module for UserModule {
    type Table = UserTable;

    fn connect(&self, names: &Names<'_>) -> Outcome<UserTable> {
        let entered = self.keeper.enter(|env| {
            let texts = [names.module, names.database, names.table];
            let texts = texts.iter().chain(&names.arguments);
            let arguments: Vec<_> = texts
                .map(|text: &&CStr| env.string(text.to_bytes()))
                .collect::<Result<_>>()?;
            let definition = env.call(self.define.get(env)?, &arguments)?;
            self.read(env, definition)
        });
        entered.ok_or(Failed)
    }

    fn poison(&self) {
        if let Some(session) = self.session.upgrade() {
            session.activity.poison();
        }
    }
}

impl UserModule {
    /// Reads `{ declaration, parameters, safeIntegers, directOnly, scan }`.
    fn read(&self, env: Env<'_>, definition: Value<'_>) -> Result<UserTable> {
        let session = self.session.upgrade();
        let session = session.ok_or_else(|| Error::Internal("the database is gone".into()))?;
        let text = |value| {
            let mut text = Vec::new();
            env.read_string(value, &mut text)?;
            Ok::<_, Error>(text)
        };
        let list = env.named(definition, c"parameters")?;
        let parameters = (0..env.array_len(list)?)
            .map(
                |index| Ok(String::from_utf8_lossy(&text(env.element(list, index)?)?).into_owned()),
            )
            .collect::<Result<_>>()?;
        let mut declaration = text(env.named(definition, c"declaration")?)?;
        // SQLite reads up to a NUL: a name that contains one cannot be declared.
        declaration.truncate(
            declaration
                .iter()
                .position(|&byte| byte == 0)
                .unwrap_or(declaration.len()),
        );
        let complaint = format!("Virtual table module \"{}\" yielded", self.name);
        let safe = env.named(definition, c"safeIntegers")?;
        Ok(UserTable {
            context: Rc::new(Context::new(env, &session, safe, complaint)?),
            declaration: CString::new(declaration).unwrap_or_default(),
            parameters,
            direct_only: env.as_boolean(env.named(definition, c"directOnly")?)?,
            scan: self.keeper.keep(env, env.named(definition, c"scan")?)?,
        })
    }
}

impl Table for UserTable {
    type Scan = UserScan;

    fn declaration(&self) -> &CStr {
        &self.declaration
    }

    fn parameters(&self) -> &[String] {
        &self.parameters
    }

    fn direct_only(&self) -> bool {
        self.direct_only
    }

    fn scan(&self, arguments: &[Option<Column<'_>>]) -> Outcome<UserScan> {
        let (context, keeper) = (&self.context, &self.context.keeper);
        context.enter(|env| {
            let to_js = |argument: &Option<Column<'_>>| match *argument {
                Some(value) => value::to_js(env, value, context.integers),
                None => env.undefined(),
            };
            let arguments: Vec<_> = arguments.iter().map(to_js).collect::<Result<_>>()?;
            let next = env.call(self.scan.get(env)?, &arguments)?;
            Ok(UserScan {
                context: Rc::clone(context),
                next: keeper.keep(env, next)?,
                row: keeper.keep(env, env.undefined()?)?,
            })
        })
    }
}

impl Scan for UserScan {
    fn advance(&mut self) -> Outcome<bool> {
        self.context.enter(|env| {
            let row = env.call(self.next.get(env)?, &[])?;
            let found = env.kind(row)? != Kind::Undefined;
            self.row.set(env, row)?;
            Ok(found)
        })
    }

    fn column(&self, index: usize, call: &Invocation<'_>) -> Outcome {
        self.context.enter(|env| {
            let index = u32::try_from(index).unwrap_or(u32::MAX);
            let value = env.element(self.row.get(env)?, index)?;
            self.context.answer(env, value, call)
        })
    }
}
