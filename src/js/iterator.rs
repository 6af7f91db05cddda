//! Class StatementIterator: next, return, and the end of an iteration however it comes.
//!
//! Where nobody can tell when a row is read, `lib/iterator.js` takes several at a time with `ahead`
//! and gives them out one by one. The statement stays locked until the last one has been given out.

use std::cell::{Cell, RefCell};
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
    /// How many rows the next `ahead` may read.
    ahead_count: Cell<u32>,
    /// What the statement came to after the rows that `ahead` gave.
    ending: RefCell<Option<Result<()>>>,
}

/// So many rows are read ahead at most.
const MAX_AHEAD: u32 = 32;

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
        Method {
            name: c"ahead",
            call: ahead,
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
            ahead_count: Cell::new(1),
            ending: RefCell::new(None),
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

    /// The next rows, none at the end. Each time twice as many, so that an iteration that is left
    /// early has read few in vain.
    fn advance_ahead<'e>(&self, env: Env<'e>) -> Result<Value<'e>> {
        if let Some(ending) = self.ending.take() {
            // The step's own error is the one to report; closing repeats it.
            let _outcome = self.close();
            return ending.and_then(|()| env.array(0));
        }
        let _executing = self.prepared.session.activity.execute();
        self.progress.set(Progress::Started);
        let limit = self.ahead_count.get();
        self.ahead_count.set((limit * 2).min(MAX_AHEAD));
        let mut raw = self.prepared.statement.get_mut()?.ok_or_else(not_open)?;
        let maker = self.prepared.row_maker(self.look);
        let (rows, step) = maker.ahead(env, &mut raw, limit)?;
        match step {
            Ok(Step::Row) => {}
            Ok(Step::Done) => drop(self.ending.replace(Some(Ok(())))),
            Err(error) => drop(self.ending.replace(Some(Err(error)))),
        }
        Ok(rows)
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

/// `ahead()` gives an array of rows, which is empty at the end; undefined where each row is to be
/// asked for with `next`.
fn ahead<'e>(call: &Call<'e>, this: &'e StatementIterator) -> Result<Value<'e>> {
    let prepared = &this.prepared;
    prepared.session.check(Operation::Adjust)?;
    if this.progress.get() == Progress::Closed
        || (this.ending.borrow().is_none()
            && !(prepared.is_readonly() && prepared.session.may_read_ahead()))
    {
        return call.env.undefined();
    }
    let rows = this.advance_ahead(call.env).inspect_err(|_| {
        let _outcome = this.close();
    })?;
    if call.env.array_len(rows)? > 0 || this.progress.get() == Progress::Closed {
        return Ok(rows);
    }
    // It ended with this very step.
    this.advance_ahead(call.env)
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
