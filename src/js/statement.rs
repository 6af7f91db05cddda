//! Class Statement: run, get, all, iterate, bind, the modes, columns, toString.

use std::cell::{Cell, OnceCell};
use std::ffi::CStr;
use std::rc::Rc;

use super::bind::{self, Parameters};
use super::database::{Session, optional_boolean};
use super::iterator::StatementIterator;
use super::node_api::{Access, Call, Class, Env, Method, Property, Release, Value};
use super::packed::Batch;
use super::rows::{Builders, Row, RowMaker, Shape};
use super::state::{Operation, Subject, not_open};
use super::value::Integers;
use crate::error::{Error, Result};
use crate::sqlite::kept;
use crate::sqlite::sql_text;
use crate::sqlite::step::{Origin, RawStatement, Step};

/// The native part of a Statement object.
pub(crate) struct Statement(Rc<Prepared>);

/// A prepared statement with its modes.
pub(crate) struct Prepared {
    pub(crate) session: Rc<Session>,
    pub(crate) statement: kept::Statement,
    pub(crate) parameters: Parameters,
    /// The text with the parameters that were bound for good, once they are. Kept, as a user function
    /// may ask for it while the statement runs.
    pub(crate) bound: OnceCell<Vec<u8>>,
    /// An iterator of it is open.
    pub(crate) iterating: Cell<bool>,
    pub(crate) builders: Builders,
    shape: Cell<Shape>,
    integers: Cell<Integers>,
    is_reader: bool,
    is_readonly: bool,
}

const NOT_A_READER: &str = "This statement does not return data. Use run() instead";
const BOUND_TWICE: &str = "The bind() method can only be invoked once per statement object";
const NOT_FOR_USERS: &str = "Statements can only be constructed by the db.prepare() method";

impl Class for Statement {
    const NAME: &'static CStr = c"Statement";
    const TAG: u64 = 2;
    const NOT_CALLABLE: &'static str = NOT_FOR_USERS;
    const RELEASE: Release = Release::Sweep;
    const METHODS: &'static [Method<Self>] = &[
        Method {
            name: c"run",
            call: run,
        },
        Method {
            name: c"get",
            call: get,
        },
        Method {
            name: c"all",
            call: all,
        },
        Method {
            name: c"iterate",
            call: iterate,
        },
        Method {
            name: c"bind",
            call: bind,
        },
        Method {
            name: c"pluck",
            call: |call, this| set_shape(call, this, "pluck", Shape::Pluck),
        },
        Method {
            name: c"expand",
            call: |call, this| set_shape(call, this, "expand", Shape::Expand),
        },
        Method {
            name: c"raw",
            call: |call, this| set_shape(call, this, "raw", Shape::Raw),
        },
        Method {
            name: c"safeIntegers",
            call: safe_integers,
        },
        Method {
            name: c"columns",
            call: columns,
        },
        Method {
            name: c"toString",
            call: to_string,
        },
    ];

    fn construct(call: &Call<'_>) -> Result<Self> {
        call.env
            .state()?
            .next_statement
            .take()
            .ok_or_else(|| Error::of_type(NOT_FOR_USERS))
    }

    fn poison(&self) {
        self.0.session.activity.poison();
    }

    fn complete(&self, error: Error) -> Error {
        self.0.session.complete(error)
    }
}

/// One function for all statements: one for each would cost two kilobytes.
pub(crate) const BUSY_GETTER: &Method<Statement> = &Method {
    name: c"busy",
    call: |call, this| call.env.boolean(this.0.iterating.get()),
};

impl Statement {
    pub(crate) fn new(session: &Rc<Session>, raw: RawStatement) -> Self {
        let gives_rows = raw.column_count() > 0;
        if gives_rows && (!raw.is_readonly() || sql_text::may_set_keys(raw.sql().to_bytes())) {
            session.activity.expect_writes_while_iterating();
        }
        Self(Rc::new(Prepared {
            parameters: Parameters::of(&raw),
            is_reader: raw.column_count() > 0,
            is_readonly: raw.is_readonly(),
            statement: session.connection.keep(raw),
            session: Rc::clone(session),
            bound: OnceCell::new(),
            iterating: Cell::new(false),
            builders: Builders::default(),
            shape: Cell::new(Shape::Flat),
            integers: Cell::new(session.integers.get()),
        }))
    }

    /// Makes the JavaScript object with its own properties.
    pub(crate) fn into_js<'e>(
        self,
        env: Env<'e>,
        source: Value<'e>,
        database: Value<'e>,
    ) -> Result<Value<'e>> {
        let state = env.state()?;
        let (reader, readonly) = (
            env.boolean(self.0.is_reader)?,
            env.boolean(self.0.is_readonly)?,
        );
        let object = state.wrap_statement(env, self)?;
        let busy = state.busy_getter.get(env)?;
        env.call(
            state.scripts()?.describe.get(env)?,
            &[object, reader, readonly, source, database, busy],
        )
    }
}

impl Prepared {
    /// Refuses what must not start now, with this statement.
    pub(crate) fn check_free(&self, operation: Operation) -> Result<()> {
        let subject = Subject {
            is_open: self.session.connection.is_open(),
            is_iterating: self.iterating.get(),
        };
        self.session.activity.check(operation, subject)
    }

    pub(crate) fn is_readonly(&self) -> bool {
        self.is_readonly
    }

    /// How the rows of the next execution look.
    pub(crate) fn look(&self) -> (Shape, Integers) {
        (self.shape.get(), self.integers.get())
    }

    /// Makes the rows of an execution that looks like this.
    pub(crate) fn row_maker(&self, (shape, integers): (Shape, Integers)) -> RowMaker<'_> {
        RowMaker {
            shape,
            integers,
            builders: &self.builders,
        }
    }

    /// Clears the parameters after a run, unless they were bound for good.
    pub(crate) fn forget_arguments(&self, raw: &mut RawStatement) {
        if self.bound.get().is_none() && !self.parameters.is_empty() {
            raw.clear_bindings();
        }
    }

    fn check_reader(&self) -> Result<()> {
        if self.is_reader {
            Ok(())
        } else {
            Err(Error::of_type(NOT_A_READER))
        }
    }

    fn check_reader_for(&self, method: &str) -> Result<()> {
        if self.is_reader {
            return Ok(());
        }
        Err(Error::of_type(format!(
            "The {method}() method is only for statements that return data"
        )))
    }
}

fn run<'e>(call: &Call<'e>, this: &'e Statement) -> Result<Value<'e>> {
    let (env, prepared) = (call.env, &this.0);
    prepared.check_free(Operation::Write)?;
    let changes_before = prepared.session.handle()?.total_changes();
    prepared.execute(env, Operation::Write, call.arguments(), RawStatement::step)?;
    let handle = prepared.session.handle()?;
    // SQLite's count is that of the last statement that changed anything.
    let changes = if handle.total_changes() == changes_before {
        0
    } else {
        handle.changes()
    };
    let changes = i64::try_from(changes).unwrap_or(i64::MAX);
    let row_id = (handle.last_insert_rowid(), prepared.integers.get());
    Batch::leave_integers(env, &[(changes, Integers::Number), row_id])?;
    env.undefined()
}

fn get<'e>(call: &Call<'e>, this: &'e Statement) -> Result<Value<'e>> {
    let prepared = &this.0;
    prepared.check_reader()?;
    prepared.check_free(Operation::Read)?;
    let env = call.env;
    let row = prepared.execute(env, Operation::Read, call.arguments(), |raw| {
        match raw.step()? {
            Step::Row => prepared
                .row_maker(prepared.look())
                .parts(env, raw, call.this),
            Step::Done => env.undefined().map(Row::Made),
        }
    })?;
    match row {
        Row::Made(row) => Ok(row),
        Row::Parts(batch) => {
            let text = batch.leave_row(env)?;
            env.state()?.keep_batch(batch);
            Ok(text)
        }
    }
}

fn all<'e>(call: &Call<'e>, this: &'e Statement) -> Result<Value<'e>> {
    let prepared = &this.0;
    prepared.check_reader()?;
    prepared.check_free(Operation::Read)?;
    prepared.execute(call.env, Operation::Read, call.arguments(), |raw| {
        prepared.row_maker(prepared.look()).all(call.env, raw)
    })
}

fn iterate<'e>(call: &Call<'e>, this: &'e Statement) -> Result<Value<'e>> {
    let (env, prepared) = (call.env, &this.0);
    prepared.check_reader()?;
    prepared.check_free(Operation::Read)?;
    prepared.bind_arguments(env, Operation::Read, call.arguments())?;
    let iterator = env
        .state()?
        .wrap_iterator(env, StatementIterator::open(prepared)?)?;
    env.define(
        iterator,
        &[Property {
            name: c"statement",
            value: call.this,
        }],
        Access::Fixed,
    )?;
    Ok(iterator)
}

fn bind<'e>(call: &Call<'e>, this: &'e Statement) -> Result<Value<'e>> {
    let prepared = &this.0;
    let check = || {
        if prepared.bound.get().is_some() {
            return Err(Error::of_type(BOUND_TWICE));
        }
        prepared.check_free(Operation::Read)
    };
    check()?;
    let collected = bind::collect(call.env, &prepared.parameters, call.arguments())?;
    check()?;
    prepared.bind_collected(call.env, &collected)?;
    prepared
        .statement
        .keep_values(collected.to_owned(call.env)?);
    let text = prepared.expanded_sql()?.ok_or_else(not_open)?;
    prepared
        .bound
        .set(sql_text::without_keys(text))
        .map_err(|_| Error::of_type(BOUND_TWICE))?;
    Ok(call.this)
}

fn set_shape<'e>(
    call: &Call<'e>,
    this: &Statement,
    method: &str,
    shape: Shape,
) -> Result<Value<'e>> {
    let prepared = &this.0;
    prepared.check_reader_for(method)?;
    prepared.check_free(Operation::Adjust)?;
    if optional_boolean(call)? {
        prepared.shape.set(shape);
    } else if prepared.shape.get() == shape {
        prepared.shape.set(Shape::Flat);
    }
    Ok(call.this)
}

fn safe_integers<'e>(call: &Call<'e>, this: &'e Statement) -> Result<Value<'e>> {
    this.0.check_free(Operation::Adjust)?;
    this.0
        .integers
        .set(Integers::from_safe(optional_boolean(call)?));
    Ok(call.this)
}

fn columns<'e>(call: &Call<'e>, this: &'e Statement) -> Result<Value<'e>> {
    let (env, prepared) = (call.env, &this.0);
    prepared.check_reader_for("columns")?;
    prepared.session.check(Operation::Read)?;
    let raw = prepared.statement.get()?.ok_or_else(not_open)?;
    let mut described = Vec::with_capacity(raw.column_count());
    for index in 0..raw.column_count() {
        let object = env.object()?;
        let text = |text: Option<&CStr>| {
            text.map_or_else(|| env.null(), |text| env.string(text.to_bytes()))
        };
        let origin = |origin| text(raw.column_origin(index, origin));
        let properties = [
            Property {
                name: c"name",
                value: text(Some(raw.column_name(index)?))?,
            },
            Property {
                name: c"column",
                value: origin(Origin::Column)?,
            },
            Property {
                name: c"table",
                value: origin(Origin::Table)?,
            },
            Property {
                name: c"database",
                value: origin(Origin::Database)?,
            },
            Property {
                name: c"type",
                value: origin(Origin::DeclaredType)?,
            },
        ];
        env.define(object, &properties, Access::Open)?;
        described.push(object);
    }
    env.call(env.state()?.scripts()?.list.get(env)?, &described)
}

fn to_string<'e>(call: &Call<'e>, this: &'e Statement) -> Result<Value<'e>> {
    let bound = this.0.bound.get();
    match bound.filter(|_| this.0.session.connection.is_open()) {
        Some(sql) => call.env.string(sql),
        None => call.env.named(call.this, c"source"),
    }
}
