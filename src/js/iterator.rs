//! Class StatementIterator: next, return, and the end of an iteration however it comes.

use std::cell::Cell;
use std::ffi::CStr;
use std::rc::Rc;

use super::node_api::{Call, Class, Env, Method, Release, Value};
use super::rows::Shape;
use super::state::{Operation, not_open};
use super::statement::Prepared;
use super::value::Integers;
use crate::error::{Error, Result};
use crate::sqlite::step::Step;

/// The native part of a StatementIterator object.
pub(crate) struct StatementIterator {
    prepared: Rc<Prepared>,
    look: (Shape, Integers),
    progress: Cell<Progress>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    NotStarted,
    Started,
    Closed,
}

impl Class for StatementIterator {
    const NAME: &'static CStr = c"StatementIterator";
    const TAG: u64 = 3;
    const NOT_CALLABLE: &'static str = "Disabled constructor";
    const RELEASE: Release = Release::Finalizer;
    const METHODS: &'static [Method<Self>] = &[
        Method {
            name: c"next",
            call: next,
        },
        Method {
            name: c"return",
            call: finish,
        },
    ];

    fn construct(call: &Call<'_>) -> Result<Self> {
        call.env
            .state()?
            .next_iterator
            .take()
            .ok_or_else(|| Error::of_type(Self::NOT_CALLABLE))
    }

    fn poison(&self) {
        self.prepared.session.activity.poison();
    }

    fn complete(&self, error: Error) -> Error {
        self.prepared.session.complete(error)
    }
}

impl StatementIterator {
    /// Locks the statement, whose parameters are bound, until the iteration ends.
    pub(crate) fn open(prepared: &Rc<Prepared>) -> Result<Self> {
        prepared.session.activity.add_iterator().inspect_err(|_| {
            if let Some(mut raw) = prepared.statement.compiled_mut() {
                prepared.forget_arguments(&mut raw);
            }
        })?;
        prepared.iterating.set(true);
        prepared.statement.pin();
        Ok(Self {
            prepared: Rc::clone(prepared),
            look: prepared.look(),
            progress: Cell::new(Progress::NotStarted),
        })
    }

    /// Ends the iteration; once.
    fn close(&self) -> Result<()> {
        if self.progress.replace(Progress::Closed) == Progress::Closed {
            return Ok(());
        }
        self.prepared.iterating.set(false);
        self.prepared.statement.unpin();
        self.prepared.session.activity.remove_iterator();
        // Aggregates that are half-way end here, which may call their functions.
        let _executing = self.prepared.session.activity.execute();
        let Some(mut raw) = self.prepared.statement.compiled_mut() else {
            return Ok(());
        };
        let ended = raw.reset();
        self.prepared.forget_arguments(&mut raw);
        ended
    }

    /// The next row, or None at the end.
    fn advance<'e>(&self, env: Env<'e>) -> Result<Option<Value<'e>>> {
        let _executing = self.prepared.session.activity.execute();
        if self.progress.replace(Progress::Started) == Progress::NotStarted {
            self.prepared.log(env)?;
        }
        let mut raw = self.prepared.statement.get_mut()?.ok_or_else(not_open)?;
        match raw.step()? {
            Step::Row => self.prepared.row_maker(self.look).one(env, &raw).map(Some),
            Step::Done => Ok(None),
        }
    }
}

impl Drop for StatementIterator {
    fn drop(&mut self) {
        // Collected half-way: nobody is left to hear of a failure.
        let _outcome = self.close();
    }
}

fn next<'e>(call: &Call<'e>, this: &'e StatementIterator) -> Result<Value<'e>> {
    this.prepared.session.check(Operation::Adjust)?;
    if this.progress.get() == Progress::Closed {
        return result(call.env, None);
    }
    let advanced = this.advance(call.env);
    if !matches!(advanced, Ok(Some(_))) {
        // The step's own error is the one to report; closing repeats it.
        let _outcome = this.close();
    }
    result(call.env, advanced?)
}

fn finish<'e>(call: &Call<'e>, this: &'e StatementIterator) -> Result<Value<'e>> {
    this.prepared.session.check(Operation::Adjust)?;
    this.close()?;
    result(call.env, None)
}

fn result<'e>(env: Env<'e>, row: Option<Value<'e>>) -> Result<Value<'e>> {
    let done = env.boolean(row.is_none())?;
    let row = row.map_or_else(|| env.undefined(), Ok)?;
    env.call(
        env.state()?.scripts()?.iterator_result.get(env)?,
        &[row, done],
    )
}
