//! One run of a statement, from its arguments to its reset; and SQL that is run at once.
//!
//! The rule that keeps re-entrancy harmless: JavaScript (getters of arguments, the logger) runs
//! only while no statement is borrowed, and the state is checked again afterwards.

use super::bind::{self, Arguments};
use super::database::Session;
use super::node_api::{Env, Value};
use super::rows::{Builders, RowMaker, Shape};
use super::state::{Operation, not_open};
use super::statement::Prepared;
use crate::error::{Error, Result};
use crate::sqlite::sql_text;
use crate::sqlite::step::{RawStatement, Step, Use};

const NO_STATEMENT: &str = "The supplied SQL string contains no statements";
const SEVERAL_STATEMENTS: &str = "The supplied SQL string contains more than one statement";
const ALREADY_BOUND: &str = "This statement already has bound parameters";

impl Prepared {
    /// Runs the statement with `arguments`: `body` steps it and makes the result.
    pub(crate) fn execute<R>(
        &self,
        env: Env<'_>,
        operation: Operation,
        arguments: &[Value<'_>],
        body: impl FnOnce(&mut RawStatement) -> Result<R>,
    ) -> Result<R> {
        self.bind_arguments(env, operation, arguments)?;
        let _executing = self.session.activity.execute();
        let logged = self.log(env);
        let mut raw = self.statement.get_mut()?.ok_or_else(not_open)?;
        let result = logged.and_then(|()| body(&mut raw));
        let ended = raw.reset();
        self.forget_arguments(&mut raw);
        result.and_then(|value| ended.map(|()| value))
    }

    /// Binds the arguments of one run; a statement with bound parameters takes none.
    pub(crate) fn bind_arguments(
        &self,
        env: Env<'_>,
        operation: Operation,
        arguments: &[Value<'_>],
    ) -> Result<()> {
        if self.bound.get().is_some() {
            return if arguments.is_empty() {
                Ok(())
            } else {
                Err(Error::of_type(ALREADY_BOUND))
            };
        }
        if arguments.is_empty() && self.parameters.is_empty() {
            return Ok(());
        }
        let collected = bind::collect(env, &self.parameters, arguments)?;
        self.check_free(operation)?;
        if self.bound.get().is_some() {
            return Err(Error::of_type(ALREADY_BOUND));
        }
        self.bind_collected(env, &collected)
    }

    /// Binds values that are complete.
    pub(crate) fn bind_collected(&self, env: Env<'_>, collected: &Arguments<'_>) -> Result<()> {
        let mut raw = self.statement.get_mut()?.ok_or_else(not_open)?;
        collected.bind(env, &mut raw)
    }

    /// Shows the statement to the logger, if there is one.
    pub(crate) fn log(&self, env: Env<'_>) -> Result<()> {
        if !self.session.has_logger() {
            return Ok(());
        }
        let text = self.expanded_sql()?.ok_or_else(not_open)?;
        self.session.log(env, text)
    }

    /// The SQL with its values, or None after the connection closed.
    pub(crate) fn expanded_sql(&self) -> Result<Option<Vec<u8>>> {
        self.statement
            .get()?
            .map(|raw| raw.expanded_sql())
            .transpose()
    }
}

impl Session {
    /// Compiles text that must be one statement.
    pub(crate) fn compile_one(&self, text: Vec<u8>, usage: Use) -> Result<RawStatement> {
        let sql = terminated(text);
        // Compiling may connect virtual tables and try deterministic functions.
        let _executing = self.activity.execute();
        let (raw, taken) = self.connection.compile(&sql, usage)?;
        let raw = raw.ok_or_else(|| Error::of_range(NO_STATEMENT))?;
        if sql_text::is_blank(&sql[taken..sql.len() - 1]) {
            Ok(raw)
        } else {
            Err(Error::of_range(SEVERAL_STATEMENTS))
        }
    }

    /// Runs text that must be one statement and gives all its rows, or the first value.
    pub(crate) fn query<'e>(
        &self,
        env: Env<'e>,
        text: Vec<u8>,
        first_value: bool,
    ) -> Result<Value<'e>> {
        // First, so that it lasts until the statement is finalized.
        let _executing = self.activity.execute();
        let mut raw = self.compile_one(text, Use::Once)?;
        self.log_raw(env, &raw)?;
        let shape = if first_value {
            Shape::Pluck
        } else {
            Shape::Flat
        };
        let maker = RowMaker {
            shape,
            integers: self.integers.get(),
            builders: &Builders::default(),
        };
        let result = match first_value {
            false => maker.all(env, &mut raw)?,
            true if raw.step()? == Step::Row => maker.one(env, &raw)?,
            true => env.undefined()?,
        };
        raw.reset()?;
        Ok(result)
    }

    /// Runs every statement of `text` to its end.
    pub(crate) fn run_all(&self, env: Env<'_>, text: Vec<u8>) -> Result<()> {
        let sql = terminated(text);
        let mut rest = &sql[..];
        let _executing = self.activity.execute();
        loop {
            rest = &rest[sql_text::separators_len(rest)..];
            let (raw, taken) = self.connection.compile(rest, Use::Once)?;
            let Some(mut raw) = raw else { return Ok(()) };
            rest = &rest[taken..];
            self.log_raw(env, &raw)?;
            while raw.step()? == Step::Row {}
            // Some PRAGMAs go on when a virtual table cannot be connected.
            env.check_pending()?;
        }
    }

    fn log_raw(&self, env: Env<'_>, raw: &RawStatement) -> Result<()> {
        if self.has_logger() {
            self.log(env, raw.expanded_sql()?)
        } else {
            Ok(())
        }
    }
}

/// SQL up to its first NUL, which SQLite takes for the end, with a NUL.
fn terminated(mut text: Vec<u8>) -> Vec<u8> {
    if let Some(end) = text.iter().position(|&byte| byte == 0) {
        text.truncate(end);
    }
    text.push(0);
    text
}
