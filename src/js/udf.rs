//! User functions and aggregates: `db.function` and `db.aggregate`.
//!
//! The checks of the arguments and their defaults are in `lib/function.js` and `lib/aggregate.js`;
//! how SQLite calls what is here is in `sqlite::callback`; tables are in `table`. A callback that
//! throws leaves its exception pending: SQLite stops at once, and JavaScript gets the same value.

use std::ffi::CString;
use std::rc::{Rc, Weak};

use super::database::{Database, Session, terminated_argument};
use super::keeper::{Keeper, Kept};
use super::node_api::{Call, Env, Kind, Value};
use super::state::Operation;
use super::value::{self, Argument, Integers, Misfit};
use crate::error::{Error, Result};
use crate::sqlite::callback::{self, Aggregate, Failed, Invocation, Outcome, Scalar, Signature};

/// Who a callback belongs to, and how values go in and out of it.
pub(super) struct Context {
    session: Weak<Session>,
    pub(super) keeper: Rc<Keeper>,
    pub(super) integers: Integers,
    /// What messages begin with when an answer is no SQLite value.
    complaint: String,
}

struct UserFunction {
    context: Context,
    function: Kept,
}

struct UserAggregate {
    context: Context,
    start: Kept,
    step: Kept,
    inverse: Option<Kept>,
    result: Option<Kept>,
}

/// `function(name, argumentCount, fn, safeIntegers, deterministic, directOnly)`
pub(super) fn function<'e>(call: &Call<'e>, this: &'e Database) -> Result<Value<'e>> {
    let session = this.session();
    let name = name_argument(call)?;
    session.check(Operation::Reconfigure)?;
    let function = UserFunction {
        context: context(call, session, &name, 3)?,
        function: session.keeper.keep(call.env, call.argument(2)?)?,
    };
    let signature = signature(call, &name, 4)?;
    callback::create_function(&*session.handle()?, signature, function)?;
    call.env.undefined()
}

/// `aggregate(name, argumentCount, [start, step, inverse, result], safeIntegers, deterministic, directOnly)`
pub(super) fn aggregate<'e>(call: &Call<'e>, this: &'e Database) -> Result<Value<'e>> {
    let (env, session) = (call.env, this.session());
    let name = name_argument(call)?;
    session.check(Operation::Reconfigure)?;
    let callbacks = call.argument(2)?;
    let keep = |index| session.keeper.keep(env, env.element(callbacks, index)?);
    let keep_if_given = |index| match env.kind(env.element(callbacks, index)?)? {
        Kind::Function => keep(index).map(Some),
        _ => Ok(None),
    };
    let aggregate = UserAggregate {
        context: context(call, session, &name, 3)?,
        start: keep(0)?,
        step: keep(1)?,
        inverse: keep_if_given(2)?,
        result: keep_if_given(3)?,
    };
    let (signature, in_windows) = (signature(call, &name, 4)?, aggregate.inverse.is_some());
    callback::create_aggregate(&*session.handle()?, signature, aggregate, in_windows)?;
    env.undefined()
}

/// The name up to a NUL, as SQLite would read it.
fn name_argument(call: &Call<'_>) -> Result<CString> {
    const MAX_NAME_LEN: usize = 255;
    let name = terminated_argument(call, 0)?;
    if name.as_bytes().len() > MAX_NAME_LEN {
        return Err(Error::of_range(format!(
            "User-defined function name cannot be longer than {MAX_NAME_LEN} bytes"
        )));
    }
    Ok(name)
}

fn context(
    call: &Call<'_>,
    session: &Rc<Session>,
    name: &CString,
    safe_at: usize,
) -> Result<Context> {
    let name = name.to_string_lossy();
    let safe = call.argument(safe_at)?;
    Context::new(
        call.env,
        session,
        safe,
        format!("User-defined function {name}() returned"),
    )
}

/// The number of arguments is the second argument of the call, -1 for any.
fn signature<'n>(call: &Call<'_>, name: &'n CString, flags_at: usize) -> Result<Signature<'n>> {
    let count = call.env.as_number(call.argument(1)?)?;
    Ok(Signature {
        name,
        argument_count: (0..=callback::MAX_ARGUMENTS).find(|&known| f64::from(known) == count),
        deterministic: call.env.as_boolean(call.argument(flags_at)?)?,
        direct_only: call.env.as_boolean(call.argument(flags_at + 1)?)?,
    })
}

impl Context {
    /// `safe` is a boolean, or undefined for the default of the database.
    pub(super) fn new(
        env: Env<'_>,
        session: &Rc<Session>,
        safe: Value<'_>,
        complaint: String,
    ) -> Result<Self> {
        let integers = match env.kind(safe)? {
            Kind::Boolean => Integers::from_safe(env.as_boolean(safe)?),
            _ => session.integers.get(),
        };
        Ok(Self {
            session: Rc::downgrade(session),
            keeper: Rc::clone(&session.keeper),
            integers,
            complaint,
        })
    }

    /// Runs `body`; its error becomes the pending exception.
    pub(super) fn enter<R>(&self, body: impl for<'s> FnOnce(Env<'s>) -> Result<R>) -> Outcome<R> {
        self.keeper.enter(body).ok_or(Failed)
    }

    /// Answers SQLite with a JavaScript value.
    pub(super) fn answer(
        &self,
        env: Env<'_>,
        value: Value<'_>,
        call: &Invocation<'_>,
    ) -> Result<()> {
        let argument =
            Argument::classify(env, value, env.kind(value)?)?.map_err(|misfit| match misfit {
                Misfit::Type => Error::of_type(format!("{} an invalid value", self.complaint)),
                Misfit::Bigint => {
                    Error::of_range(format!("{} a bigint that was too big", self.complaint))
                }
            })?;
        argument.give(env, &mut Vec::new(), |value| call.answer(value))
    }

    /// A panic went through a callback: the connection must refuse to work.
    pub(super) fn poison(&self) {
        if let Some(session) = self.session.upgrade() {
            session.activity.poison();
        }
    }

    /// Adds the arguments of SQLite's call to `arguments`.
    fn extend<'s>(
        &self,
        env: Env<'s>,
        call: &Invocation<'_>,
        mut arguments: Vec<Value<'s>>,
    ) -> Result<Vec<Value<'s>>> {
        for argument in call.arguments() {
            arguments.push(value::to_js(env, argument?, self.integers)?);
        }
        Ok(arguments)
    }
}

impl Scalar for UserFunction {
    fn call(&self, call: &Invocation<'_>) -> Outcome {
        let context = &self.context;
        context.enter(|env| {
            let arguments = context.extend(env, call, Vec::new())?;
            let answer = env.call(self.function.get(env)?, &arguments)?;
            context.answer(env, answer, call)
        })
    }

    fn poison(&self) {
        self.context.poison();
    }
}

impl UserAggregate {
    /// `fold(accumulator, ...arguments)` gives the new accumulator, or undefined for the old one.
    fn fold(&self, fold: &Kept, accumulator: &Kept, call: &Invocation<'_>) -> Outcome {
        let context = &self.context;
        context.enter(|env| {
            let arguments = context.extend(env, call, vec![accumulator.get(env)?])?;
            let folded = env.call(fold.get(env)?, &arguments)?;
            if env.kind(folded)? == Kind::Undefined {
                return Ok(());
            }
            accumulator.set(env, folded)
        })
    }
}

impl Aggregate for UserAggregate {
    /// The accumulator.
    type Instance = Kept;

    fn start(&self) -> Outcome<Kept> {
        self.context.enter(|env| {
            let accumulator = env.call(self.start.get(env)?, &[])?;
            self.context.keeper.keep(env, accumulator)
        })
    }

    fn step(&self, accumulator: &Kept, call: &Invocation<'_>) -> Outcome {
        self.fold(&self.step, accumulator, call)
    }

    fn inverse(&self, accumulator: &Kept, call: &Invocation<'_>) -> Outcome {
        match &self.inverse {
            Some(inverse) => self.fold(inverse, accumulator, call),
            None => Err(Failed),
        }
    }

    fn result(&self, accumulator: &Kept, call: &Invocation<'_>) -> Outcome {
        self.context.enter(|env| {
            let mut answer = accumulator.get(env)?;
            if let Some(result) = &self.result {
                answer = env.call(result.get(env)?, &[answer])?;
            }
            self.context.answer(env, answer, call)
        })
    }

    fn poison(&self) {
        self.context.poison();
    }
}
