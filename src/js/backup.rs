//! Copies of a database: class Backup, which makes one step by step, and images.
//!
//! How far each step goes, and how long a locked database is waited for, is in `lib/backup.js`.

use std::cell::RefCell;
use std::ffi::CStr;
use std::rc::{Rc, Weak};

use zeroize::Zeroizing;

use super::database::{Database, Session, text_argument};
use super::node_api::{Call, Class, Env, Kind, Method, Release, Value};
use super::state::{Operation, not_open};
use crate::error::{Error, Result};
use crate::pager::copy::{self, CopyKey};
use crate::sqlite::backup::{self, Destination, Progress, RawBackup};

/// The native part of a Backup object.
pub(crate) struct Backup {
    slot: Rc<Slot>,
    session: Rc<Session>,
}

/// The copy, until it ends or its database is closed.
type Slot = RefCell<Option<RawBackup>>;

/// The copies of one database that may be running.
#[derive(Default)]
pub(crate) struct Backups {
    running: RefCell<Vec<Weak<Slot>>>,
}

impl Backups {
    fn add(&self, slot: &Rc<Slot>) {
        let mut running = self.running.borrow_mut();
        running.retain(|known| known.strong_count() > 0);
        running.push(Rc::downgrade(slot));
    }

    /// Ends every copy; the files that were made for them vanish.
    pub(crate) fn end_all(&self) {
        let running = self.running.take();
        for slot in running.iter().filter_map(Weak::upgrade) {
            slot.replace(None);
        }
    }
}

impl Class for Backup {
    const NAME: &'static CStr = c"Backup";
    const TAG: u64 = 4;
    const NOT_CALLABLE: &'static str = "Disabled constructor";
    const RELEASE: Release = Release::Finalizer;
    const METHODS: &'static [Method<Self>] = &[
        Method {
            name: c"step",
            call: step,
        },
        Method {
            name: c"end",
            call: end,
        },
    ];

    fn construct(call: &Call<'_>) -> Result<Self> {
        call.env
            .state()?
            .next_backup
            .take()
            .ok_or_else(|| Error::of_type(Self::NOT_CALLABLE))
    }

    fn poison(&self) {
        self.session.activity.poison();
    }

    fn complete(&self, error: Error) -> Error {
        self.session.complete(error)
    }
}

/// `backup(path, schema, cipher, key)` of a Database; `cipher` is a name or null, `key` is undefined
/// (that of the database), null (none) or the bytes of a passphrase.
pub(crate) fn begin<'e>(call: &Call<'e>, database: &'e Database) -> Result<Value<'e>> {
    let session = database.session();
    let (path, schema) = (
        text_argument(call, 0, "first")?,
        text_argument(call, 1, "second")?,
    );
    let key = copy_key(call)?;
    session.check(Operation::Read)?;
    let source = Rc::clone(&*session.handle()?);
    let raw = open(&source, &schema, &path, &key)?;
    let slot = Rc::new(RefCell::new(Some(raw)));
    session.backups.add(&slot);
    let backup = Backup {
        slot,
        session: Rc::clone(session),
    };
    call.env.state()?.wrap_backup(call.env, backup)
}

/// `busyTimeout()` of a Database: how many milliseconds it waits for a lock.
pub(crate) fn busy_timeout<'e>(call: &Call<'e>, database: &'e Database) -> Result<Value<'e>> {
    let timeout = backup::busy_timeout(&*database.session().handle()?)?;
    call.env.number(timeout.as_secs_f64() * 1000.0)
}

/// `serialize(schema)` of a Database.
pub(crate) fn serialize<'e>(call: &Call<'e>, database: &'e Database) -> Result<Value<'e>> {
    let schema = text_argument(call, 0, "first")?;
    database.session().check(Operation::Reconfigure)?;
    let image = copy::image(&*database.session().handle()?, &schema)?;
    call.env.buffer(&image)
}

fn copy_key(call: &Call<'_>) -> Result<CopyKey> {
    let key = call.argument(3)?;
    match call.env.kind(key)? {
        Kind::Undefined => return Ok(CopyKey::Same),
        Kind::Null => return Ok(CopyKey::Clear),
        _ => {}
    }
    let scheme = match call.env.kind(call.argument(2)?)? {
        Kind::String => Some(text_argument(call, 2, "third")?),
        _ => None,
    };
    let key = call
        .env
        .with_bytes(key, |bytes| Zeroizing::new(bytes.to_vec()))?
        .ok_or_else(|| Error::of_type("Expected the key to be a Buffer"))?;
    Ok(CopyKey::New { scheme, key })
}

/// Nothing is made before the source could be read, and nothing stays unless the copy ends well.
fn open(
    source: &Rc<rusqlite::Connection>,
    schema: &str,
    path: &str,
    key: &CopyKey,
) -> Result<RawBackup> {
    backup::at_once(source, || copy::read_page_1(source, schema))?;
    let destination = Destination::open(path, source, schema)?;
    if copy::key_copy(source, schema, destination.connection(), key)? {
        return RawBackup::new(source, schema, destination);
    }
    let between = Destination::temporary()?;
    copy::key_between(source, schema, between.connection())?;
    let between = RawBackup::new(source, schema, between)?.run()?;
    copy::convert_between(between.connection(), destination.connection())?;
    RawBackup::new(&Rc::new(between.into_connection()), "main", destination)
}

/// `step(pageCount)`: `{ totalPages, remainingPages }`
fn step<'e>(call: &Call<'e>, this: &'e Backup) -> Result<Value<'e>> {
    let page_count = call.env.as_number(call.argument(0)?)?;
    // Saturates, and the caller's numbers are within the range.
    #[expect(clippy::cast_possible_truncation, reason = "see above")]
    let page_count = page_count as i32;
    this.session.check(Operation::Read)?;
    let mut slot = this.slot.borrow_mut();
    let progress = slot.as_mut().ok_or_else(not_open)?.step(page_count)?;
    to_js(call.env, progress)
}

/// `end()`
fn end<'e>(call: &Call<'e>, this: &'e Backup) -> Result<Value<'e>> {
    this.slot.replace(None);
    call.env.undefined()
}

fn to_js(env: Env<'_>, progress: Progress) -> Result<Value<'_>> {
    let object = env.object()?;
    let count = |count: i32| env.integer(count.into());
    env.set_named(object, c"totalPages", count(progress.page_count)?)?;
    env.set_named(object, c"remainingPages", count(progress.remaining_count)?)?;
    Ok(object)
}
