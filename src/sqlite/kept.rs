//! Statements that are kept for later: how many of them may stay compiled, and how an emptied one
//! comes back.
//!
//! A compiled statement costs some kilobytes that no garbage collector sees. So of the idle ones a
//! connection keeps the [`IDLE_COUNT`] used last; the others shrink to their text and are compiled
//! again, unseen, when they are used. Opening and closing is in `connection`, stepping in `step`.

use std::cell::{Cell, Ref, RefCell, RefMut};
use std::ffi::c_int;
use std::rc::{Rc, Weak};

use super::sql_text;
use super::step::{Bound, RawStatement, Use};
use crate::error::{Error, Result};

/// The connection of rusqlite, or None after it was closed.
pub(crate) type Handle = Rc<RefCell<Option<Rc<rusqlite::Connection>>>>;

/// A statement that its connection can take away.
pub(crate) struct Statement {
    slot: Rc<Slot>,
    owner: Rc<Kept>,
}

/// The kept statements of one connection.
pub(crate) struct Kept {
    handle: Handle,
    places: RefCell<Places>,
    clock: Cell<u64>,
}

/// A value that was bound for good.
pub(crate) enum OwnedValue {
    Null,
    Integer(i64),
    Real(f64),
    Text(Box<[u8]>),
    Blob(Box<[u8]>),
}

struct Slot {
    content: RefCell<Content>,
    /// Where it stands in `Places`, while it is compiled.
    place: Cell<Option<usize>>,
    last_used: Cell<u64>,
    /// How many reasons there are to keep it compiled.
    pins: Cell<u32>,
    values: RefCell<Box<[OwnedValue]>>,
}

enum Content {
    Compiled(RawStatement),
    /// What it is compiled from, and how often it was compiled again before.
    Emptied(Box<[u8]>, c_int),
    /// The connection was closed.
    Gone,
}

/// The compiled statements.
struct Places {
    slots: Vec<Weak<Slot>>,
    free: Vec<usize>,
    /// Looks for idle ones when so many are compiled.
    look_at: usize,
}

/// About 3.5 MB of compiled statements. Programs that keep their statements on purpose have some
/// hundred; a program that goes round more than this compiles them anew each time.
const IDLE_COUNT: usize = 1024;
/// So many are left when there are too many.
const IDLE_COUNT_LEFT: usize = IDLE_COUNT / 4 * 3;
/// Values that are larger than this are not kept twice: their statement stays compiled.
const MAX_VALUES_LEN: usize = 1 << 14;

impl Statement {
    /// The statement, for reading its descriptions; None after the connection closed.
    ///
    /// Fails when it must be compiled again and cannot be.
    pub(crate) fn get(&self) -> Result<Option<Ref<'_, RawStatement>>> {
        self.restore()?;
        let Ok(content) = self.slot.content.try_borrow() else {
            return Ok(None);
        };
        Ok(Ref::filter_map(content, Content::compiled).ok())
    }

    /// The statement, for running it; None after the connection closed or while it runs already.
    ///
    /// Fails when it must be compiled again and cannot be.
    pub(crate) fn get_mut(&self) -> Result<Option<RefMut<'_, RawStatement>>> {
        self.restore()?;
        Ok(self.compiled_mut())
    }

    /// The statement, if it is compiled and does not run.
    pub(crate) fn compiled_mut(&self) -> Option<RefMut<'_, RawStatement>> {
        RefMut::filter_map(
            self.slot.content.try_borrow_mut().ok()?,
            Content::compiled_mut,
        )
        .ok()
    }

    /// Keeps the statement compiled, with its parameters, until `unpin`.
    pub(crate) fn pin(&self) {
        self.slot.pins.set(self.slot.pins.get() + 1);
    }

    /// Takes one `pin` back.
    pub(crate) fn unpin(&self) {
        self.slot.pins.set(self.slot.pins.get().saturating_sub(1));
    }

    /// Binds these values again whenever the statement is compiled again.
    pub(crate) fn keep_values(&self, values: Vec<OwnedValue>) {
        if values.iter().map(OwnedValue::len).sum::<usize>() > MAX_VALUES_LEN {
            self.pin();
        } else {
            self.slot.values.replace(values.into());
        }
    }

    fn restore(&self) -> Result<()> {
        self.slot.last_used.set(self.owner.tick());
        let Ok(content) = self.slot.content.try_borrow() else {
            return Ok(());
        };
        let Content::Emptied(sql, reprepare_count) = &*content else {
            return Ok(());
        };
        let Some(handle) = self.owner.handle.borrow().clone() else {
            return Ok(());
        };
        let (raw, _taken) = RawStatement::prepare(&handle, sql, Use::Often)?;
        let mut raw = raw.ok_or(Error::Internal("a kept statement has no text".into()))?;
        raw.continue_count(reprepare_count + 1);
        for (at, value) in self.slot.values.borrow().iter().enumerate() {
            raw.bind(at + 1, value.as_bound())?;
        }
        drop(content);
        self.slot.content.replace(Content::Compiled(raw));
        self.owner.add(&self.slot);
        Ok(())
    }
}

impl Drop for Statement {
    fn drop(&mut self) {
        self.owner.remove(&self.slot);
    }
}

impl Kept {
    pub(crate) fn new(handle: &Handle) -> Rc<Self> {
        Rc::new(Self {
            handle: Rc::clone(handle),
            places: RefCell::default(),
            clock: Cell::new(0),
        })
    }

    /// Takes charge of a statement for as long as the result is held.
    pub(crate) fn keep(self: &Rc<Self>, raw: RawStatement) -> Statement {
        let slot = Rc::new(Slot {
            content: RefCell::new(Content::Compiled(raw)),
            place: Cell::new(None),
            last_used: Cell::new(self.tick()),
            pins: Cell::new(0),
            values: RefCell::default(),
        });
        self.add(&slot);
        Statement {
            slot,
            owner: Rc::clone(self),
        }
    }

    /// Finalizes every statement that is not running, for good.
    pub(crate) fn close(&self) {
        for slot in self.slots() {
            // What cannot be borrowed is running; the connection then refuses to close.
            if let Ok(mut content) = slot.content.try_borrow_mut() {
                *content = Content::Gone;
            }
        }
    }

    fn tick(&self) -> u64 {
        self.clock.set(self.clock.get() + 1);
        self.clock.get()
    }

    fn slots(&self) -> Vec<Rc<Slot>> {
        let places = self.places.borrow();
        places.slots.iter().filter_map(Weak::upgrade).collect()
    }

    /// Counts a statement that has just been compiled.
    fn add(&self, slot: &Rc<Slot>) {
        if self.places.borrow().is_full() {
            self.make_room();
        }
        let mut places = self.places.borrow_mut();
        let weak = Rc::downgrade(slot);
        let place = places.free.pop().unwrap_or(places.slots.len());
        if place == places.slots.len() {
            places.slots.push(weak);
        } else {
            places.slots[place] = weak;
        }
        slot.place.set(Some(place));
    }

    fn remove(&self, slot: &Slot) {
        if let Some(place) = slot.place.take() {
            let mut places = self.places.borrow_mut();
            places.slots[place] = Weak::new();
            places.free.push(place);
        }
    }

    /// Empties the idle statements that were not used for longest, when there are too many.
    fn make_room(&self) {
        let mut idle = self.slots();
        let compiled_count = idle.len();
        idle.retain(|slot| slot.is_idle());
        let busy_count = compiled_count - idle.len();
        if idle.len() >= IDLE_COUNT {
            idle.sort_unstable_by_key(|slot| slot.last_used.get());
            for slot in idle.drain(..idle.len() - IDLE_COUNT_LEFT) {
                slot.empty();
                self.remove(&slot);
            }
        }
        // Where many cannot be emptied, looking at them often would cost more than it frees.
        let until_next = (IDLE_COUNT - idle.len()).max(busy_count / 4);
        self.places.borrow_mut().look_at = busy_count + idle.len() + until_next;
    }
}

impl Slot {
    /// Whether it could be emptied: it is compiled, neither runs nor is iterated, and compiling it
    /// again does nothing but that.
    fn is_idle(&self) -> bool {
        self.pins.get() == 0
            && self.content.try_borrow_mut().is_ok_and(|content| {
                content
                    .compiled()
                    .is_some_and(|raw| sql_text::compiles_quietly(raw.sql().to_bytes()))
            })
    }

    fn empty(&self) {
        self.content.replace_with(|content| match content {
            Content::Compiled(raw) => {
                let sql = raw.sql().to_bytes_with_nul().into();
                Content::Emptied(sql, raw.reprepare_count())
            }
            Content::Emptied(..) | Content::Gone => std::mem::replace(content, Content::Gone),
        });
    }
}

impl Content {
    fn compiled(&self) -> Option<&RawStatement> {
        match self {
            Content::Compiled(raw) => Some(raw),
            Content::Emptied(..) | Content::Gone => None,
        }
    }

    fn compiled_mut(&mut self) -> Option<&mut RawStatement> {
        match self {
            Content::Compiled(raw) => Some(raw),
            Content::Emptied(..) | Content::Gone => None,
        }
    }
}

impl Places {
    fn is_full(&self) -> bool {
        self.slots.len() - self.free.len() >= self.look_at
    }
}

impl Default for Places {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
            look_at: IDLE_COUNT,
        }
    }
}

impl From<Bound<'_>> for OwnedValue {
    fn from(value: Bound<'_>) -> Self {
        match value {
            Bound::Null => OwnedValue::Null,
            Bound::Integer(number) => OwnedValue::Integer(number),
            Bound::Real(number) => OwnedValue::Real(number),
            Bound::Text(text) => OwnedValue::Text(text.into()),
            Bound::Blob(bytes) => OwnedValue::Blob(bytes.into()),
        }
    }
}

impl OwnedValue {
    fn as_bound(&self) -> Bound<'_> {
        match self {
            OwnedValue::Null => Bound::Null,
            OwnedValue::Integer(number) => Bound::Integer(*number),
            OwnedValue::Real(number) => Bound::Real(*number),
            OwnedValue::Text(text) => Bound::Text(text),
            OwnedValue::Blob(bytes) => Bound::Blob(bytes),
        }
    }

    fn len(&self) -> usize {
        match self {
            OwnedValue::Text(bytes) | OwnedValue::Blob(bytes) => bytes.len(),
            OwnedValue::Null | OwnedValue::Integer(_) | OwnedValue::Real(_) => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::connection::{Connection, OpenMode};
    use super::*;
    use std::time::Duration;

    fn memory() -> Connection {
        Connection::open(":memory:", OpenMode::Create, false, Duration::ZERO).unwrap()
    }

    fn keep(connection: &Connection, sql: &str) -> Statement {
        let text = format!("{sql}\0");
        let (raw, _) = connection.compile(text.as_bytes(), Use::Once).unwrap();
        connection.keep(raw.unwrap())
    }

    fn compiled_count(statements: &[Statement]) -> usize {
        statements
            .iter()
            .filter(|statement| statement.compiled_mut().is_some())
            .count()
    }

    #[test]
    fn idle_statements_stay_within_their_bound() {
        let connection = memory();
        let all: Vec<_> = (0..3 * IDLE_COUNT)
            .map(|_| keep(&connection, "select 1"))
            .collect();
        assert!((IDLE_COUNT_LEFT..=IDLE_COUNT).contains(&compiled_count(&all)));
        assert!(all[0].compiled_mut().is_none());
        assert!(all[0].get().unwrap().is_some());
        assert!(compiled_count(&all) <= IDLE_COUNT);
    }

    #[test]
    fn what_acts_when_compiled_or_is_pinned_stays() {
        let connection = memory();
        let pragma = keep(&connection, "/* c */ pragma user_version");
        let pinned = keep(&connection, "select 1");
        pinned.pin();
        let all: Vec<_> = (0..2 * IDLE_COUNT)
            .map(|_| keep(&connection, "select 1"))
            .collect();
        assert!(compiled_count(&all) <= IDLE_COUNT);
        assert!(pragma.compiled_mut().is_some() && pinned.compiled_mut().is_some());
    }

    #[test]
    fn a_dropped_statement_gives_its_place_to_the_next() {
        let connection = memory();
        let first = keep(&connection, "select 1").slot.place.get();
        assert_eq!(keep(&connection, "select 2").slot.place.get(), first);
    }
}
