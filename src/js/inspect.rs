//! `inspect(path, key, cipher, params, salt)`: what a file is, as a plain object. And the check of
//! pages, which is a method of Database.
//!
//! What JavaScript checks of the options is in `lib/database-inspect.js`; the work is in
//! [`crate::inspect`] and [`crate::pager::check`].

use std::ffi::CStr;

use zeroize::Zeroizing;

use super::database::{Database, text_argument};
use super::node_api::{Call, Env, Kind, Value};
use super::state::Operation;
use crate::codec::key::parse_salt;
use crate::codec::{SCHEMES, Scheme, find_scheme};
use crate::error::{Error, Result, code_name};
use crate::inspect::look::{Kind as FileKind, Look};
use crate::inspect::{
    AutoVacuum, Database as Found, Header, Journal, LIMITS, Opened, Origin, Report, Request, Wal,
    inspect as look_at,
};
use crate::pager::check;

/// `inspect(path, key, cipher, params, salt)`: a name or null, bytes or null, pairs of name and text.
pub(super) fn inspect<'e>(call: &Call<'e>) -> Result<Value<'e>> {
    let path = text_argument(call, 0, "first")?;
    let request = Request {
        key: key_argument(call, 1)?,
        scheme: optional_text(call, 2)?
            .map(|name| scheme(&name))
            .transpose()?,
        params: params_argument(call, 3)?,
        salt: optional_text(call, 4)?
            .map(|text| parse_salt(&text))
            .transpose()
            .map_err(|error| Error::of_type(error.to_string()))?,
    };
    for (name, text) in &request.params {
        check_param(name, text, request.scheme)?;
    }
    report(call.env, &look_at(&path, &request)?)
}

/// `extent()` of a Database: what `checkPages` is to go through, in the transaction that is open.
pub(super) fn extent<'e>(call: &Call<'e>, database: &'e Database) -> Result<Value<'e>> {
    let session = database.session();
    session.check(Operation::Read)?;
    let extent = check::extent(&*session.handle()?)?;
    let object = Object::new(call.env)?;
    object.number(c"pageCount", extent.page_count)?;
    object.number(c"pageSize", extent.page_size)?;
    object.number(c"reserve", small(extent.reserve_len))?;
    object.optional(c"schemeReserve", extent.scheme_reserve_len.map(small))?;
    object.flag(c"authenticated", extent.authenticated)?;
    // What an empty file lacks is no problem.
    let header = Some(Header::read(&extent.page_1)).filter(|_| extent.page_count > 0);
    let problems = header.map_or_else(Vec::new, |header| header.problems(None));
    object.texts(c"problems", &problems)?;
    Ok(object.value)
}

/// `checkPages(first, count)` of a Database: `[{ page, code }]`.
pub(super) fn check_pages<'e>(call: &Call<'e>, database: &'e Database) -> Result<Value<'e>> {
    let session = database.session();
    let (first, count) = (page_argument(call, 0)?, page_argument(call, 1)?);
    session.check(Operation::Read)?;
    let bad = check::check_pages(&*session.handle()?, first, count)?;
    let array = call.env.array(bad.len())?;
    for (index, page) in (0..).zip(&bad) {
        let object = Object::new(call.env)?;
        object.number(c"page", page.page_no)?;
        object.text(c"code", &code_name(page.code))?;
        call.env.set_element(array, index, object.value)?;
    }
    Ok(array)
}

fn page_argument(call: &Call<'_>, index: usize) -> Result<u32> {
    let number = call.env.as_number(call.argument(index)?)?;
    // Saturates, and the caller's numbers are within the range.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "see above"
    )]
    Ok(number as u32)
}

fn key_argument(call: &Call<'_>, index: usize) -> Result<Option<Zeroizing<Vec<u8>>>> {
    let key = call.argument(index)?;
    if call.env.kind(key)? == Kind::Null {
        return Ok(None);
    }
    call.env
        .with_bytes(key, |bytes| Zeroizing::new(bytes.to_vec()))?
        .map(Some)
        .ok_or_else(|| Error::of_type("Expected the key to be a Buffer"))
}

fn optional_text(call: &Call<'_>, index: usize) -> Result<Option<String>> {
    match call.env.kind(call.argument(index)?)? {
        Kind::Null => Ok(None),
        _ => text_argument(call, index, "next").map(Some),
    }
}

/// An array of names and texts in turn.
fn params_argument(call: &Call<'_>, index: usize) -> Result<Vec<(String, String)>> {
    let (env, array) = (call.env, call.argument(index)?);
    let text = |at| {
        let mut bytes = Vec::new();
        env.read_string(env.element(array, at)?, &mut bytes)?;
        String::from_utf8(bytes).map_err(|_| Error::of_type("Expected a string"))
    };
    let pairs = 0..env.array_len(array)? / 2;
    pairs
        .map(|pair| Ok((text(2 * pair)?, text(2 * pair + 1)?)))
        .collect()
}

fn scheme(name: &str) -> Result<&'static Scheme> {
    find_scheme(name).ok_or_else(|| Error::of_type(format!("Cipher '{name}' unknown.")))
}

/// A parameter must be one of the scheme, or of any, and its value one that it can have there.
fn check_param(name: &str, text: &str, only: Option<&'static Scheme>) -> Result<()> {
    let schemes = SCHEMES
        .iter()
        .filter(|scheme| only.is_none_or(|only| only.name == scheme.name));
    let specs: Vec<_> = schemes.filter_map(|scheme| scheme.param(name)).collect();
    if specs.is_empty() {
        return Err(Error::of_type(format!("Unknown cipher parameter '{name}'")));
    }
    let values = specs
        .iter()
        .filter_map(|spec| spec.parse(text).ok().flatten());
    let Some(value) = values.max() else {
        return Err(Error::of_type(format!(
            "'{text}' is not a value of the cipher parameter '{name}'"
        )));
    };
    let limit = LIMITS
        .iter()
        .find(|limit| limit.name.eq_ignore_ascii_case(name));
    match limit.filter(|limit| value > limit.most) {
        None => Ok(()),
        Some(limit) => Err(Error::of_range(format!(
            "The cipher parameter '{name}' cannot be greater than {} here",
            limit.most
        ))),
    }
}

/// A plain object that is being made.
struct Object<'e> {
    env: Env<'e>,
    value: Value<'e>,
}

impl<'e> Object<'e> {
    fn new(env: Env<'e>) -> Result<Self> {
        let value = env.object()?;
        Ok(Object { env, value })
    }

    fn set(&self, name: &CStr, value: Value<'_>) -> Result<()> {
        self.env.set_named(self.value, name, value)
    }

    fn number(&self, name: &CStr, number: impl Into<i64>) -> Result<()> {
        self.set(name, self.env.integer(number.into())?)
    }

    fn optional(&self, name: &CStr, number: Option<u32>) -> Result<()> {
        match number {
            Some(number) => self.number(name, number),
            None => self.set(name, self.env.null()?),
        }
    }

    fn flag(&self, name: &CStr, flag: bool) -> Result<()> {
        self.set(name, self.env.boolean(flag)?)
    }

    fn text(&self, name: &CStr, text: &str) -> Result<()> {
        self.set(name, self.env.string(text.as_bytes())?)
    }

    fn texts<T: AsRef<str>>(&self, name: &CStr, texts: &[T]) -> Result<()> {
        let array = self.env.array(texts.len())?;
        for (index, text) in (0..).zip(texts) {
            let text = self.env.string(text.as_ref().as_bytes())?;
            self.env.set_element(array, index, text)?;
        }
        self.set(name, array)
    }
}

fn report<'e>(env: Env<'e>, report: &Report) -> Result<Value<'e>> {
    let object = Object::new(env)?;
    look(&object, &report.look)?;
    object.set(
        c"wal",
        report
            .wal
            .as_ref()
            .map_or_else(|| env.null(), |w| wal(env, w))?,
    )?;
    object.set(
        c"journal",
        report
            .journal
            .as_ref()
            .map_or_else(|| env.null(), |j| journal(env, j))?,
    )?;
    object.set(
        c"database",
        report
            .database
            .as_ref()
            .map_or_else(|| env.null(), |found| database(env, found))?,
    )?;
    object.texts(c"tried", &report.tried)?;
    object.number(c"derivations", small(report.derivation_count))?;
    Ok(object.value)
}

fn look(object: &Object<'_>, look: &Look) -> Result<()> {
    object.set(c"size", object.env.number(as_number(look.len))?)?;
    object.text(c"kind", kind_name(look.kind))?;
    object.text(c"description", &look.to_string())?;
    let sizes = look.page_sizes();
    let array = object.env.array(sizes.len())?;
    for (index, size) in (0..).zip(&sizes) {
        let size = object.env.integer((*size).into())?;
        object.env.set_element(array, index, size)?;
    }
    object.set(c"pageSizes", array)?;
    object.optional(c"reserve", look.geometry.map(|g| u32::from(g.reserve)))
}

fn kind_name(kind: FileKind) -> &'static str {
    match kind {
        FileKind::Empty => "empty",
        FileKind::Zeros => "zeros",
        FileKind::Plain => "plain",
        FileKind::PlainHeader => "plain-header",
        FileKind::Encrypted => "encrypted",
        FileKind::Opaque => "unknown",
        FileKind::Wal => "wal",
        FileKind::Journal => "journal",
    }
}

fn wal<'e>(env: Env<'e>, wal: &Wal) -> Result<Value<'e>> {
    let object = Object::new(env)?;
    object.set(c"size", env.number(as_number(wal.len))?)?;
    object.flag(c"valid", wal.valid)?;
    object.number(c"pageSize", wal.page_size)?;
    object.text(c"salt", &hex(&wal.salt))?;
    object.number(c"checkpoints", wal.checkpoint_count)?;
    object.number(c"frames", wal.frame_count)?;
    object.number(c"committedFrames", wal.committed_count)?;
    object.number(c"pageCount", wal.page_count)?;
    Ok(object.value)
}

fn journal<'e>(env: Env<'e>, journal: &Journal) -> Result<Value<'e>> {
    let object = Object::new(env)?;
    object.set(c"size", env.number(as_number(journal.len))?)?;
    object.flag(c"valid", journal.valid)?;
    object.flag(c"hot", journal.hot)?;
    object.number(c"pageSize", journal.page_size)?;
    object.set(c"records", env.number(as_number(journal.record_count))?)?;
    Ok(object.value)
}

fn database<'e>(env: Env<'e>, found: &Found) -> Result<Value<'e>> {
    let object = Object::new(env)?;
    match &found.opened {
        Some(opened) => opened_by(&object, opened)?,
        None => not_encrypted(&object)?,
    }
    let origin = match found.origin {
        Origin::File => "file",
        Origin::Wal => "wal",
        Origin::Journal => "journal",
    };
    object.text(c"page1From", origin)?;
    header(&object, &found.header)?;
    object.texts(c"problems", &found.problems)?;
    Ok(object.value)
}

fn opened_by(object: &Object<'_>, opened: &Opened) -> Result<()> {
    object.text(c"cipher", opened.scheme)?;
    object.texts(c"pragmas", &opened.pragmas)?;
    object.flag(c"authenticated", opened.authenticated)?;
    object.number(c"plaintextHeaderSize", opened.plaintext_header_size)
}

fn not_encrypted(object: &Object<'_>) -> Result<()> {
    object.set(c"cipher", object.env.null()?)?;
    object.texts::<&str>(c"pragmas", &[])?;
    object.flag(c"authenticated", false)?;
    object.number(c"plaintextHeaderSize", 0)
}

fn header(object: &Object<'_>, header: &Header) -> Result<()> {
    object.number(c"pageSize", header.page_size)?;
    object.number(c"reserve", header.reserve)?;
    object.optional(c"pageCount", header.page_count)?;
    object.number(c"freePages", header.free_page_count)?;
    object.number(c"userVersion", header.user_version)?;
    object.number(c"applicationId", header.application_id)?;
    object.number(c"changeCounter", header.change_counter)?;
    object.text(
        c"journalMode",
        if header.is_wal() { "wal" } else { "rollback" },
    )?;
    object.text(
        c"encoding",
        match header.encoding {
            2 => "UTF-16le",
            3 => "UTF-16be",
            _ => "UTF-8",
        },
    )?;
    object.text(
        c"autoVacuum",
        match header.auto_vacuum {
            AutoVacuum::None => "none",
            AutoVacuum::Full => "full",
            AutoVacuum::Incremental => "incremental",
        },
    )?;
    object.text(c"sqliteVersion", &version(header.sqlite_version))
}

/// As SQLite writes its version: 3054001 is 3.54.1.
fn version(number: u32) -> String {
    format!(
        "{}.{}.{}",
        number / 1_000_000,
        number / 1000 % 1000,
        number % 1000
    )
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn small(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Exact up to 2^53, which no file reaches.
#[expect(clippy::cast_precision_loss, reason = "see above")]
fn as_number(len: u64) -> f64 {
    len as f64
}
