//! Rows as JavaScript values: objects, single values, objects per table, arrays.
//!
//! `lib/rows.js` makes functions per list of column names that build rows: one from its values, or
//! many from a batch (`packed`). Having them made costs more than a few rows, and having code
//! generated more than a hundred, so a statement earns them; until then, and where they do not suit,
//! properties are defined one by one.

use std::cell::{Cell, RefCell};
use std::ffi::{CStr, c_int};
use std::rc::Rc;

use super::node_api::{Access, Env, Kind, Property, Reference, Value};
use super::packed::Batch;
use super::value::{self, Integers};
use crate::error::Result;
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
    one: RefCell<Option<Rc<Builder>>>,
    parts: Cell<Parts>,
    many: RefCell<Option<(Shape, Earned, Rc<Builder>)>>,
}

/// What the rows that a statement gave until now are worth.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd)]
enum Earned {
    Nothing,
    Loops,
    GeneratedCode,
}

/// Whether `lib/rows.js` makes rows of `get` from parts.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Parts {
    #[default]
    NotAsked,
    Fit,
    /// No code can be generated, or a value fitted no cell.
    Unfit,
}

/// A row on its way to JavaScript.
pub(crate) enum Row<'e> {
    Made(Value<'e>),
    /// For `Batch::leave_row`, when nothing else can run any more.
    Parts(Box<Batch>),
}

/// Makes the rows of one execution.
pub(crate) struct RowMaker<'b> {
    pub(crate) shape: Shape,
    pub(crate) integers: Integers,
    pub(crate) builders: &'b Builders,
}

/// A function of `lib/rows.js`, or None where rows are built without one.
struct Builder(Option<Reference>);

const ROWS_TO_EARN_LOOPS: u32 = 2;
const ROWS_TO_EARN_CODE: u32 = 200;
/// `get` and `next` have no loops; a builder of one row is little code.
const ROWS_TO_EARN_ONE: u32 = 8;
/// Wider rows are not built by functions: their code would be too long.
const MAX_BUILDER_COLUMNS: usize = 64;
/// Rows per handle scope where they are built one by one.
const ROWS_PER_SCOPE: usize = 32;
/// Rows of so many columns need no allocation for their values.
const INLINE_COLUMNS: usize = 8;

impl RowMaker<'_> {
    /// The current row.
    pub(crate) fn one<'e>(&self, env: Env<'e>, raw: &RawStatement) -> Result<Value<'e>> {
        if self.shape == Shape::Flat
            && self.builders.count(raw, 1) >= ROWS_TO_EARN_ONE
            && let Some(row) = &self.builders.one(env, raw)?.0
        {
            let row = row.get(env)?;
            return self.values(env, raw, |values| env.call(row, values))?;
        }
        self.plain(env, raw)
    }

    /// The current row of `statement`, or what its JavaScript method makes the row from.
    pub(crate) fn parts<'e>(
        &self,
        env: Env<'e>,
        raw: &RawStatement,
        statement: Value<'e>,
    ) -> Result<Row<'e>> {
        let earned = self.shape == Shape::Flat && self.builders.count(raw, 0) >= ROWS_TO_EARN_ONE;
        if earned && self.builders.take_parts(env, raw, statement)? {
            let mut batch = env.state()?.take_batch();
            if batch.try_row(raw, raw.column_count(), self.integers)? {
                return Ok(Row::Parts(batch));
            }
            self.builders.parts.set(Parts::Unfit);
            env.state()?.keep_batch(batch);
        }
        self.one(env, raw).map(Row::Made)
    }

    /// An array of all rows that are left.
    pub(crate) fn all<'e>(&self, env: Env<'e>, raw: &mut RawStatement) -> Result<Value<'e>> {
        let array = env.array(0)?;
        let mut step = raw.step()?;
        if step == Step::Done {
            return Ok(array);
        }
        let mut batch = env.state()?.take_batch();
        while step == Step::Row {
            step = env.scoped(|env, _within| self.add_some(env, raw, array, &mut batch))?;
        }
        env.state()?.keep_batch(batch);
        Ok(array)
    }

    /// An array of the next rows, `limit` at most, and how the last step went.
    pub(crate) fn ahead<'e>(
        &self,
        env: Env<'e>,
        raw: &mut RawStatement,
        limit: u32,
    ) -> Result<(Value<'e>, Result<Step>)> {
        let array = env.array(0)?;
        // Before anything else: a step may compile the statement again, with other columns.
        let mut step = raw.step();
        if !matches!(step, Ok(Step::Row)) {
            return Ok((array, step));
        }
        let rows = self.rows_builder(env, raw)?;
        let mut batch = env.state()?.take_batch();
        let (mut row_count, mut others, mut values) = (0, Vec::new(), vec![array]);
        loop {
            row_count += 1;
            match rows {
                None => values.push(self.plain(env, raw)?),
                Some(_) => {
                    batch.add_row(env, raw, self.width(raw), self.integers, &mut others)?;
                }
            }
            if row_count == limit || batch.is_full(self.width(raw)) {
                break;
            }
            step = raw.step();
            if !matches!(step, Ok(Step::Row)) {
                break;
            }
        }
        self.builders.count(raw, row_count);
        match rows {
            Some(rows) => batch.give(env, rows, array, row_count, &others)?,
            None => append(env, &values)?,
        }
        env.state()?.keep_batch(batch);
        Ok((array, step))
    }

    fn rows_builder<'e>(&self, env: Env<'e>, raw: &RawStatement) -> Result<Option<Value<'e>>> {
        match self.builders.earned(raw) {
            Earned::Nothing => Ok(None),
            earned => {
                let builder = self.builders.many(env, raw, self.shape, earned)?;
                builder.0.as_ref().map(|rows| rows.get(env)).transpose()
            }
        }
    }

    /// How many columns a row takes its values from.
    fn width(&self, raw: &RawStatement) -> usize {
        match self.shape {
            Shape::Pluck => 1,
            Shape::Flat | Shape::Expand | Shape::Raw => raw.column_count(),
        }
    }

    /// Adds rows from the current one on, one batch at most.
    fn add_some<'s>(
        &self,
        env: Env<'s>,
        raw: &mut RawStatement,
        array: Value<'s>,
        batch: &mut Batch,
    ) -> Result<Step> {
        match self.rows_builder(env, raw)? {
            Some(rows) => self.add_packed(env, raw, array, rows, batch),
            None => self.add_plain(env, raw, array),
        }
    }

    fn add_packed<'s>(
        &self,
        env: Env<'s>,
        raw: &mut RawStatement,
        array: Value<'s>,
        rows: Value<'s>,
        batch: &mut Batch,
    ) -> Result<Step> {
        let column_count = self.width(raw);
        let (mut others, mut row_count, mut step) = (Vec::new(), 0, Step::Row);
        while step == Step::Row && !batch.is_full(column_count) {
            batch.add_row(env, raw, column_count, self.integers, &mut others)?;
            row_count += 1;
            step = raw.step()?;
        }
        self.builders.count(raw, row_count);
        batch.give(env, rows, array, row_count, &others)?;
        Ok(step)
    }

    fn add_plain<'s>(
        &self,
        env: Env<'s>,
        raw: &mut RawStatement,
        array: Value<'s>,
    ) -> Result<Step> {
        let mut values = vec![array];
        let mut step = Step::Row;
        let earned = self.builders.earned(raw);
        while step == Step::Row
            && values.len() <= ROWS_PER_SCOPE
            && self.builders.earned(raw) == earned
        {
            values.push(self.plain(env, raw)?);
            self.builders.count(raw, 1);
            step = raw.step()?;
        }
        append(env, &values)?;
        Ok(step)
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
                let list = env.state()?.scripts()?.list.get(env)?;
                self.values(env, raw, |values| env.call(list, values))?
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

    /// Gives `take` the values of the current row.
    fn values<'e, R>(
        &self,
        env: Env<'e>,
        raw: &RawStatement,
        take: impl FnOnce(&[Value<'e>]) -> R,
    ) -> Result<R> {
        let column = |index| value::column(env, raw, index, self.integers);
        let column_count = raw.column_count();
        if column_count <= INLINE_COLUMNS {
            let mut values = [env.undefined()?; INLINE_COLUMNS];
            for (index, value) in values[..column_count].iter_mut().enumerate() {
                *value = column(index)?;
            }
            return Ok(take(&values[..column_count]));
        }
        let values: Vec<_> = (0..column_count).map(column).collect::<Result<_>>()?;
        Ok(take(&values))
    }
}

/// Appends values, whose first is the array, to the array.
fn append(env: Env<'_>, array_and_values: &[Value<'_>]) -> Result<()> {
    let append = env.state()?.scripts()?.append.get(env)?;
    env.call(append, array_and_values).map(drop)
}

impl Builders {
    /// Counts `row_count` more rows; the result is how many there were before.
    fn count(&self, raw: &RawStatement, row_count: u32) -> u32 {
        let version = raw.reprepare_count();
        if self.version.replace(version) != version {
            self.one.replace(None);
            self.parts.set(Parts::NotAsked);
            self.many.replace(None);
        }
        let made = self.rows_made.get();
        self.rows_made.set(made.saturating_add(row_count));
        made
    }

    fn earned(&self, raw: &RawStatement) -> Earned {
        match self.count(raw, 0) {
            0..ROWS_TO_EARN_LOOPS => Earned::Nothing,
            ROWS_TO_EARN_LOOPS..ROWS_TO_EARN_CODE => Earned::Loops,
            _ => Earned::GeneratedCode,
        }
    }

    fn one(&self, env: Env<'_>, raw: &RawStatement) -> Result<Rc<Builder>> {
        if let Some(builder) = &*self.one.borrow() {
            return Ok(Rc::clone(builder));
        }
        let make = |names| {
            let make = env.state()?.scripts()?.row_builder.get(env)?;
            env.call(make, &[names])
        };
        let builder = Rc::new(Builder::ask(env, raw, make)?);
        self.one.replace(Some(Rc::clone(&builder)));
        Ok(builder)
    }

    fn take_parts(&self, env: Env<'_>, raw: &RawStatement, statement: Value<'_>) -> Result<bool> {
        if self.parts.get() == Parts::NotAsked {
            let made = match column_names(env, raw)? {
                Some(names) => {
                    let read_one = env.state()?.scripts()?.read_one.get(env)?;
                    env.as_boolean(env.call(read_one, &[statement, names])?)?
                }
                None => false,
            };
            self.parts.set(if made { Parts::Fit } else { Parts::Unfit });
        }
        Ok(self.parts.get() == Parts::Fit)
    }

    fn many(
        &self,
        env: Env<'_>,
        raw: &RawStatement,
        shape: Shape,
        earned: Earned,
    ) -> Result<Rc<Builder>> {
        if let Some((known_shape, known_earned, builder)) = &*self.many.borrow()
            && (*known_shape, *known_earned) == (shape, earned)
        {
            return Ok(Rc::clone(builder));
        }
        let builder = Rc::new(match shape.name() {
            None => Builder(None),
            Some(name) => Builder::ask(env, raw, |names| {
                let make = env.state()?.scripts()?.rows_builder.get(env)?;
                let often = env.boolean(earned == Earned::GeneratedCode)?;
                env.call(make, &[env.string(name)?, names, often])
            })?,
        });
        self.many
            .replace(Some((shape, earned, Rc::clone(&builder))));
        Ok(builder)
    }
}

impl Shape {
    /// What `lib/rows.js` calls it, if it builds such rows.
    fn name(self) -> Option<&'static [u8]> {
        match self {
            Shape::Flat => Some(b"flat"),
            Shape::Pluck => Some(b"pluck"),
            Shape::Raw => Some(b"raw"),
            Shape::Expand => None,
        }
    }
}

impl Builder {
    /// Has a function made for the column names.
    fn ask<'e>(
        env: Env<'e>,
        raw: &RawStatement,
        make: impl FnOnce(Value<'e>) -> Result<Value<'e>>,
    ) -> Result<Self> {
        let Some(names) = column_names(env, raw)? else {
            return Ok(Self(None));
        };
        let made = make(names)?;
        if env.kind(made)? == Kind::Function {
            Ok(Self(Some(env.reference(made)?)))
        } else {
            Ok(Self(None))
        }
    }
}

/// An array of the column names, if rows of so many columns are built by functions.
fn column_names<'e>(env: Env<'e>, raw: &RawStatement) -> Result<Option<Value<'e>>> {
    let column_count = raw.column_count();
    if column_count == 0 || column_count > MAX_BUILDER_COLUMNS {
        return Ok(None);
    }
    let name = |index| env.string(raw.column_name(index)?.to_bytes());
    let names: Vec<_> = (0..column_count).map(name).collect::<Result<_>>()?;
    let list = env.state()?.scripts()?.list.get(env)?;
    env.call(list, &names).map(Some)
}
