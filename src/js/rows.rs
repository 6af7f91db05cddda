//! Rows as JavaScript values: objects, single values, objects per table, arrays.
//!
//! Objects of the usual kind are built by functions that JavaScript makes once per list of column
//! names (`lib/rows.js`), many rows per call. Making them costs more than a few rows, so a
//! statement earns them; until then, and for names or widths that do not suit, properties are
//! defined one by one.

use std::cell::{Cell, RefCell};
use std::ffi::{CStr, c_int};
use std::rc::Rc;

use super::node_api::{Access, Env, Kind, Property, Reference, Value};
use super::value::{self, Integers};
use crate::error::{Error, Result};
use crate::sqlite::step::{Origin, RawStatement, Step};

/// What a row looks like.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// An object with a property per column.
    Flat,
    /// The value of the first column.
    Pluck,
    /// An object with an object per table.
    Expand,
    /// An array.
    Raw,
}

/// The row builders of one statement, once it has earned them.
#[derive(Default)]
pub(crate) struct Builders {
    /// The compilation they are for.
    version: Cell<c_int>,
    rows_made: Cell<u32>,
    known: RefCell<Option<Rc<Known>>>,
}

/// Makes the rows of one execution.
pub(crate) struct RowMaker<'b> {
    pub(crate) shape: Shape,
    pub(crate) integers: Integers,
    pub(crate) builders: &'b Builders,
}

/// What JavaScript answered for the column names.
enum Known {
    /// These names (or so many of them) are built property by property.
    Unsuited,
    /// `row(values…)` gives one object, `rows(array, at, values…)` puts `batch_len` into an array.
    Made {
        row: Reference,
        rows: Reference,
        batch_len: u32,
    },
}

/// Rows that a statement must give before builders are made for it.
const ROWS_TO_EARN_BUILDERS: u32 = 8;
/// Wider rows are not built by functions: their parameters would be too many.
const MAX_BUILDER_COLUMNS: usize = 64;
/// Rows per handle scope where no builder sets the number.
const ROWS_PER_SCOPE: u32 = 32;

impl RowMaker<'_> {
    /// The current row.
    pub(crate) fn one<'e>(&self, env: Env<'e>, raw: &RawStatement) -> Result<Value<'e>> {
        if self.shape == Shape::Flat
            && let Some(known) = self.builders.earned(env, raw, 1)?
            && let Known::Made { row, .. } = &*known
        {
            return env.call(row.get(env)?, &self.values(env, raw)?);
        }
        self.plain(env, raw)
    }

    /// An array of all rows that are left.
    pub(crate) fn all<'e>(&self, env: Env<'e>, raw: &mut RawStatement) -> Result<Value<'e>> {
        let array = env.array(0)?;
        let mut len = 0;
        let mut step = raw.step()?;
        while step == Step::Row {
            step = env.scoped(|env, _within| match self.builders_for(env, raw)? {
                Some(known) => self.add_built(env, raw, array, &mut len, &known),
                None => self.add_plain(env, raw, array, &mut len),
            })?;
        }
        Ok(array)
    }

    fn builders_for(&self, env: Env<'_>, raw: &RawStatement) -> Result<Option<Rc<Known>>> {
        if self.shape == Shape::Flat {
            self.builders.earned(env, raw, ROWS_PER_SCOPE)
        } else {
            Ok(None)
        }
    }

    /// Adds rows from the current one on, one batch at most.
    fn add_built<'s>(
        &self,
        env: Env<'s>,
        raw: &mut RawStatement,
        array: Value<'s>,
        len: &mut u32,
        known: &Known,
    ) -> Result<Step> {
        let Known::Made {
            row,
            rows,
            batch_len,
        } = known
        else {
            return self.add_plain(env, raw, array, len);
        };
        let column_count = raw.column_count();
        let mut values = vec![array, env.number(f64::from(*len))?];
        let mut count = 0;
        let mut step = Step::Row;
        while step == Step::Row && count < *batch_len {
            self.push_values(env, raw, &mut values)?;
            count += 1;
            step = raw.step()?;
        }
        if count == *batch_len {
            env.call(rows.get(env)?, &values)?;
        } else {
            let row = row.get(env)?;
            for (at, values) in (*len..).zip(values[2..].chunks(column_count)) {
                env.set_element(array, at, env.call(row, values)?)?;
            }
        }
        *len += count;
        Ok(step)
    }

    fn add_plain(
        &self,
        env: Env<'_>,
        raw: &mut RawStatement,
        array: Value<'_>,
        len: &mut u32,
    ) -> Result<Step> {
        for _ in 0..ROWS_PER_SCOPE {
            env.set_element(array, *len, self.plain(env, raw)?)?;
            *len += 1;
            if raw.step()? == Step::Done {
                return Ok(Step::Done);
            }
        }
        Ok(Step::Row)
    }

    /// The current row, made without builders.
    fn plain<'e>(&self, env: Env<'e>, raw: &RawStatement) -> Result<Value<'e>> {
        match self.shape {
            Shape::Flat => {
                let columns: Vec<usize> = (0..raw.column_count()).collect();
                self.object_of(env, raw, &columns)
            }
            Shape::Pluck => value::column(env, raw, 0, self.integers),
            Shape::Expand => self.expanded(env, raw),
            Shape::Raw => {
                let array = env.array(raw.column_count())?;
                for (at, value) in (0..).zip(self.values(env, raw)?) {
                    env.set_element(array, at, value)?;
                }
                Ok(array)
            }
        }
    }

    fn object_of<'e>(
        &self,
        env: Env<'e>,
        raw: &RawStatement,
        columns: &[usize],
    ) -> Result<Value<'e>> {
        let property = |&index: &usize| {
            let value = value::column(env, raw, index, self.integers)?;
            Ok(Property {
                name: raw.column_name(index)?,
                value,
            })
        };
        let properties: Vec<_> = columns.iter().map(property).collect::<Result<_>>()?;
        let object = env.object()?;
        env.define(object, &properties, Access::Open)?;
        Ok(object)
    }

    fn expanded<'e>(&self, env: Env<'e>, raw: &RawStatement) -> Result<Value<'e>> {
        let mut tables: Vec<(&CStr, Vec<usize>)> = Vec::new();
        for index in 0..raw.column_count() {
            let table = raw.column_origin(index, Origin::Table).unwrap_or(c"$");
            match tables.iter_mut().find(|(known, _)| *known == table) {
                Some((_, columns)) => columns.push(index),
                None => tables.push((table, vec![index])),
            }
        }
        let property = |(table, columns): (_, Vec<usize>)| {
            Ok(Property {
                name: table,
                value: self.object_of(env, raw, &columns)?,
            })
        };
        let properties: Vec<_> = tables.into_iter().map(property).collect::<Result<_>>()?;
        let object = env.object()?;
        env.define(object, &properties, Access::Open)?;
        Ok(object)
    }

    fn values<'e>(&self, env: Env<'e>, raw: &RawStatement) -> Result<Vec<Value<'e>>> {
        let mut values = Vec::with_capacity(raw.column_count());
        self.push_values(env, raw, &mut values)?;
        Ok(values)
    }

    fn push_values<'e>(
        &self,
        env: Env<'e>,
        raw: &RawStatement,
        values: &mut Vec<Value<'e>>,
    ) -> Result<()> {
        for index in 0..raw.column_count() {
            values.push(value::column(env, raw, index, self.integers)?);
        }
        Ok(())
    }
}

impl Builders {
    /// The builders for the columns as they are now, if the statement gave enough rows already;
    /// counts `row_count` more.
    fn earned(
        &self,
        env: Env<'_>,
        raw: &RawStatement,
        row_count: u32,
    ) -> Result<Option<Rc<Known>>> {
        let made = self.rows_made.get();
        if made < ROWS_TO_EARN_BUILDERS {
            self.rows_made.set(made + row_count);
            return Ok(None);
        }
        let version = raw.reprepare_count();
        if self.version.replace(version) != version {
            self.known.replace(None);
        }
        if self.known.borrow().is_none() {
            let known = Known::ask(env, raw)?;
            self.known.replace(Some(Rc::new(known)));
        }
        Ok(self.known.borrow().clone())
    }
}

impl Known {
    fn ask(env: Env<'_>, raw: &RawStatement) -> Result<Self> {
        let column_count = raw.column_count();
        if column_count == 0 || column_count > MAX_BUILDER_COLUMNS {
            return Ok(Known::Unsuited);
        }
        let names = env.array(column_count)?;
        for (at, index) in (0..).zip(0..column_count) {
            env.set_element(names, at, env.string(raw.column_name(index)?.to_bytes())?)?;
        }
        let made = env.call(env.state()?.scripts()?.row_builders.get(env)?, &[names])?;
        if env.kind(made)? != Kind::Object {
            return Ok(Known::Unsuited);
        }
        let keep = |name| env.reference(env.named(made, name)?);
        Ok(Known::Made {
            row: keep(c"row")?,
            rows: keep(c"rows")?,
            batch_len: batch_len(env.as_number(env.named(made, c"batchLength")?)?)?,
        })
    }
}

fn batch_len(number: f64) -> Result<u32> {
    (1..=ROWS_PER_SCOPE)
        .find(|&len| f64::from(len) == number)
        .ok_or(Error::Internal("a batch of rows has an odd length".into()))
}
