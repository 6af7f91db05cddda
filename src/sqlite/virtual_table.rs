//! Virtual tables: what SQLite calls, and how a safe implementation is called from it.
//!
//! What a table does is behind [`Module`], [`Table`] and [`Scan`]. Its hidden columns come first:
//! they are the parameters, take `=` alone, and show the value that was passed. The rest (which plan,
//! row numbers, memory that SQLite holds and gives back) is the same for every table and done here.

#![expect(
    unsafe_code,
    reason = "SQLite calls virtual tables through C function pointers and structs of its own"
)]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{self, NonNull};
use std::slice;

use rusqlite::ffi;

use super::callback::{Invocation, Outcome, checked, read, x_destroy};
use super::step::Column;
use crate::error::Result;
use crate::guard;

/// Where tables come from.
pub(crate) trait Module: 'static {
    type Table: Table;

    fn connect(&self, names: &Names<'_>) -> Outcome<Self::Table>;
    /// A panic went through the module: the connection must refuse to work.
    fn poison(&self);
}

/// One table.
pub(crate) trait Table: 'static {
    type Scan: Scan;

    /// The CREATE TABLE statement; parameters are its first columns, and HIDDEN.
    fn declaration(&self) -> &CStr;
    fn parameters(&self) -> &[String];
    /// Not in triggers and views.
    fn direct_only(&self) -> bool;
    /// Starts a scan before its first row; None for a parameter that was not given.
    fn scan(&self, arguments: &[Option<Column<'_>>]) -> Outcome<Self::Scan>;
}

/// One pass through the rows of a table.
pub(crate) trait Scan: 'static {
    /// Goes to the next row; false at the end.
    fn advance(&mut self) -> Outcome<bool>;
    /// Answers with a column of the current row; `index` counts the columns after the parameters.
    fn column(&self, index: usize, call: &Invocation<'_>) -> Outcome;
}

/// What the SQL of a table says.
pub(crate) struct Names<'n> {
    pub(crate) module: &'n CStr,
    pub(crate) database: &'n CStr,
    pub(crate) table: &'n CStr,
    pub(crate) arguments: Vec<&'n CStr>,
}

/// How tables of a module come to be.
#[derive(Clone, Copy)]
pub(crate) enum Existence {
    /// There is one, with the name of the module.
    Eponymous,
    /// By CREATE VIRTUAL TABLE.
    Created,
}

/// Makes `module` known to SQL, in place of one of the same name.
pub(crate) fn create_module<M: Module>(
    connection: &rusqlite::Connection,
    name: &CStr,
    existence: Existence,
    module: M,
) -> Result<()> {
    let methods: &'static ffi::sqlite3_module = match existence {
        Existence::Eponymous => &Methods::<M>::EPONYMOUS,
        Existence::Created => &Methods::<M>::CREATED,
    };
    let data_ptr = Box::into_raw(Box::new(module)).cast();
    // SAFETY: the pointer is used for this call alone.
    let db_ptr = unsafe { connection.handle() };
    // SAFETY: an open connection, a NUL-terminated name, methods that live for ever, and a box that
    // `x_destroy::<M>` frees, also when this call fails.
    let rc = unsafe {
        let destroy = Some(x_destroy::<M> as unsafe extern "C" fn(*mut c_void));
        ffi::sqlite3_create_module_v2(db_ptr, name.as_ptr(), methods, data_ptr, destroy)
    };
    checked(connection, rc)
}

struct Methods<M>(M);

impl<M: Module> Methods<M> {
    const EPONYMOUS: ffi::sqlite3_module = ffi::sqlite3_module {
        iVersion: 0,
        xCreate: None,
        xConnect: Some(x_connect::<M>),
        xBestIndex: Some(x_best_index::<M>),
        xDisconnect: Some(x_disconnect::<M>),
        xDestroy: Some(x_disconnect::<M>),
        xOpen: Some(x_open::<M>),
        xClose: Some(x_close::<M>),
        xFilter: Some(x_filter::<M>),
        xNext: Some(x_next::<M>),
        xEof: Some(x_eof::<M>),
        xColumn: Some(x_column::<M>),
        xRowid: Some(x_rowid::<M>),
        xUpdate: None,
        xBegin: None,
        xSync: None,
        xCommit: None,
        xRollback: None,
        xFindFunction: None,
        xRename: None,
        xSavepoint: None,
        xRelease: None,
        xRollbackTo: None,
        xShadowName: None,
        xIntegrity: None,
    };
    const CREATED: ffi::sqlite3_module = ffi::sqlite3_module {
        xCreate: Some(x_create::<M>),
        ..Self::EPONYMOUS
    };
}

/// What SQLite takes for its `sqlite3_vtab`.
#[repr(C)]
struct Connected<M: Module> {
    base: ffi::sqlite3_vtab,
    /// SQLite keeps a module as long as it has tables.
    module_ptr: *const M,
    table: M::Table,
}

/// What SQLite takes for its `sqlite3_vtab_cursor`.
#[repr(C)]
struct Cursor<M: Module> {
    base: ffi::sqlite3_vtab_cursor,
    /// One per parameter; None for one that was not given.
    arguments: Vec<Option<Saved>>,
    /// None before the first scan, and at the end of one.
    scan: Option<<M::Table as Table>::Scan>,
    row_id: i64,
}

/// A copy of a value of SQLite.
struct Saved(NonNull<ffi::sqlite3_value>);

impl Saved {
    /// # Safety
    /// `value_ptr` must be a live value.
    unsafe fn copy(value_ptr: *mut ffi::sqlite3_value) -> std::result::Result<Self, c_int> {
        // SAFETY: by the caller.
        NonNull::new(unsafe { ffi::sqlite3_value_dup(value_ptr) })
            .map(Self)
            .ok_or(ffi::SQLITE_NOMEM)
    }

    fn read(&self) -> std::result::Result<Column<'_>, c_int> {
        // SAFETY: a value of our own, unchanged while `self` is borrowed; converting its text to
        // UTF-8 is idempotent.
        unsafe { read(self.0.as_ptr()) }.map_err(|_| ffi::SQLITE_NOMEM)
    }
}

impl Drop for Saved {
    fn drop(&mut self) {
        // SAFETY: a copy that is ours alone.
        unsafe { ffi::sqlite3_value_free(self.0.as_ptr()) };
    }
}

type Answer = std::result::Result<(), c_int>;

/// What one plan must cost that passes no arguments; each argument makes it cheaper.
const FULL_COST: i64 = 1_000_000_000;

/// Runs the body of a trampoline.
fn answer<M: Module>(module: &M, body: impl FnOnce() -> Answer) -> c_int {
    let on_panic = |_text: &str| {
        module.poison();
        ffi::SQLITE_INTERNAL
    };
    guard::call_or_else(on_panic, || body().err().unwrap_or(ffi::SQLITE_OK))
}

fn failed<T>(outcome: Outcome<T>) -> std::result::Result<T, c_int> {
    outcome.map_err(|_| ffi::SQLITE_ERROR)
}

/// A text in SQLite's memory, which SQLite frees; null when there is no memory.
fn message(text: &str) -> *mut c_char {
    let text = [text.as_bytes(), b"\0"].concat();
    // SAFETY: any size may be asked for.
    let copy_ptr = unsafe { ffi::sqlite3_malloc64(text.len() as u64) }.cast::<u8>();
    if !copy_ptr.is_null() {
        // SAFETY: fresh memory with room for the text and its NUL.
        unsafe { ptr::copy_nonoverlapping(text.as_ptr(), copy_ptr, text.len()) };
    }
    copy_ptr.cast()
}

/// # Safety
/// `vtab_ptr` must be a table that `connect::<M>` made, alive during 't.
unsafe fn table_at<'t, M: Module>(vtab_ptr: *mut ffi::sqlite3_vtab) -> &'t Connected<M> {
    // SAFETY: by the caller; `base` is the first field.
    unsafe { &*vtab_ptr.cast::<Connected<M>>() }
}

impl<M: Module> Connected<M> {
    fn module(&self) -> &M {
        // SAFETY: SQLite keeps the module (`x_destroy` comes last) as long as it has this table.
        unsafe { &*self.module_ptr }
    }
}

/// # Safety
/// `cursor_ptr` must be a cursor that `x_open::<M>` made, alive and not in use elsewhere during 'c.
unsafe fn cursor_at<'c, M: Module>(
    cursor_ptr: *mut ffi::sqlite3_vtab_cursor,
) -> (&'c mut Cursor<M>, &'c Connected<M>) {
    // SAFETY: by the caller; `base` is the first field.
    let cursor = unsafe { &mut *cursor_ptr.cast::<Cursor<M>>() };
    // SAFETY: SQLite put the table of the cursor there, and closes cursors before their table.
    let table = unsafe { table_at::<M>(cursor.base.pVtab) };
    (cursor, table)
}

impl<M: Module> Cursor<M> {
    /// Starts a scan with the arguments that are saved; NULL for one of them means no rows.
    fn start(&mut self, table: &M::Table) -> Answer {
        self.scan = None;
        self.row_id = 0;
        let mut arguments = Vec::with_capacity(self.arguments.len());
        for argument in &self.arguments {
            arguments.push(argument.as_ref().map(Saved::read).transpose()?);
        }
        if arguments
            .iter()
            .any(|value| matches!(value, Some(Column::Null)))
        {
            return Ok(());
        }
        self.scan = Some(failed(table.scan(&arguments))?);
        self.advance()
    }

    fn advance(&mut self) -> Answer {
        let Some(scan) = &mut self.scan else {
            return Ok(());
        };
        if failed(scan.advance())? {
            self.row_id += 1;
        } else {
            self.scan = None;
        }
        Ok(())
    }
}

/// # Safety
/// The pointers must be those of a running xCreate or xConnect of a module that was made with `M`.
unsafe fn connect<M: Module>(
    db_ptr: *mut ffi::sqlite3,
    data_ptr: *mut c_void,
    texts: &[*const c_char],
    out_ptr: *mut *mut ffi::sqlite3_vtab,
    message_ptr: *mut *mut c_char,
) -> c_int {
    // SAFETY: the box of `create_module::<M>`, which lives until its destructor.
    let module = unsafe { &*data_ptr.cast::<M>() };
    answer(module, || {
        let text = |text_ptr: &*const c_char| {
            // SAFETY: SQLite hands over NUL-terminated texts that live during the call.
            unsafe { CStr::from_ptr(*text_ptr) }
        };
        let [name, database, table, arguments @ ..] = texts else {
            return Err(ffi::SQLITE_INTERNAL);
        };
        let names = Names {
            module: text(name),
            database: text(database),
            table: text(table),
            arguments: arguments.iter().map(text).collect(),
        };
        let table = failed(module.connect(&names))?;
        // SAFETY: the connection that is connecting this table.
        if unsafe { declare(db_ptr, &table) } != ffi::SQLITE_OK {
            let name = names.table.to_string_lossy();
            let text = message(&format!("failed to declare virtual table \"{name}\""));
            // SAFETY: the place for a message that SQLite hands over.
            unsafe { message_ptr.write(text) };
            return Err(ffi::SQLITE_ERROR);
        }
        let connected = Box::new(Connected::<M> {
            base: ffi::sqlite3_vtab::default(),
            module_ptr: module,
            table,
        });
        // SAFETY: the place for the table that SQLite hands over; `x_disconnect` frees the box.
        unsafe { out_ptr.write(Box::into_raw(connected).cast()) };
        Ok(())
    })
}

/// # Safety
/// Only within xCreate or xConnect of the connection.
unsafe fn declare(db_ptr: *mut ffi::sqlite3, table: &impl Table) -> c_int {
    // SAFETY: by the caller; a NUL-terminated text.
    let rc = unsafe { ffi::sqlite3_declare_vtab(db_ptr, table.declaration().as_ptr()) };
    if rc != ffi::SQLITE_OK || !table.direct_only() {
        return rc;
    }
    // SAFETY: by the caller; this option has no further argument.
    unsafe { ffi::sqlite3_vtab_config(db_ptr, ffi::SQLITE_VTAB_DIRECTONLY) }
}

/// # Safety
/// `values_ptr` must point to `count` values that live during 'v, or `count` be 0.
unsafe fn list<'v, T>(count: c_int, values_ptr: *const T) -> &'v [T] {
    match usize::try_from(count) {
        // SAFETY: by the caller.
        Ok(len) if len > 0 => unsafe { slice::from_raw_parts(values_ptr, len) },
        _ => &[],
    }
}

// SQLite takes a module for eponymous when xCreate and xConnect are one function: `x_create` must
// not become the same code as `x_connect`, hence its own answer to a panic.
unsafe extern "C" fn x_create<M: Module>(
    db_ptr: *mut ffi::sqlite3,
    data_ptr: *mut c_void,
    count: c_int,
    texts_ptr: *const *const c_char,
    out_ptr: *mut *mut ffi::sqlite3_vtab,
    message_ptr: *mut *mut c_char,
) -> c_int {
    guard::call(ffi::SQLITE_ERROR, || {
        // SAFETY: the texts of this call.
        let texts = unsafe { list(count, texts_ptr) };
        // SAFETY: the pointers of the running xCreate.
        unsafe { connect::<M>(db_ptr, data_ptr, texts, out_ptr, message_ptr) }
    })
}

unsafe extern "C" fn x_connect<M: Module>(
    db_ptr: *mut ffi::sqlite3,
    data_ptr: *mut c_void,
    count: c_int,
    texts_ptr: *const *const c_char,
    out_ptr: *mut *mut ffi::sqlite3_vtab,
    message_ptr: *mut *mut c_char,
) -> c_int {
    guard::call(ffi::SQLITE_INTERNAL, || {
        // SAFETY: the texts of this call.
        let texts = unsafe { list(count, texts_ptr) };
        // SAFETY: the pointers of the running xConnect.
        unsafe { connect::<M>(db_ptr, data_ptr, texts, out_ptr, message_ptr) }
    })
}

unsafe extern "C" fn x_disconnect<M: Module>(vtab_ptr: *mut ffi::sqlite3_vtab) -> c_int {
    guard::call(ffi::SQLITE_INTERNAL, || {
        // SAFETY: the box of `connect`; SQLite hands it over once.
        drop(unsafe { Box::from_raw(vtab_ptr.cast::<Connected<M>>()) });
        ffi::SQLITE_OK
    })
}

unsafe extern "C" fn x_best_index<M: Module>(
    vtab_ptr: *mut ffi::sqlite3_vtab,
    info_ptr: *mut ffi::sqlite3_index_info,
) -> c_int {
    guard::call(ffi::SQLITE_INTERNAL, || {
        // SAFETY: the table and the description of the running xBestIndex.
        let connected = unsafe { table_at::<M>(vtab_ptr) };
        answer(connected.module(), || {
            // SAFETY: as above; nobody else uses the description during the call.
            let info = unsafe { &mut *info_ptr };
            let parameters = connected.table.parameters();
            // SAFETY: as above.
            let planned = unsafe { plan(parameters, info) };
            planned.map_err(|refusal| match refusal {
                Refusal::Unusable => ffi::SQLITE_CONSTRAINT,
                Refusal::NotEqual(parameter) => {
                    let text = message(&format!(
                        "virtual table parameter \"{parameter}\" can only be constrained by the '=' operator"
                    ));
                    // SAFETY: SQLite frees the message that it finds there; the reference
                    // `connected` is not used any more.
                    unsafe { (*vtab_ptr).zErrMsg = text };
                    ffi::SQLITE_ERROR
                }
            })
        })
    })
}

/// Why a plan cannot be.
enum Refusal<'p> {
    /// It needs an argument that is not known at this place; another order of the tables may do.
    Unusable,
    NotEqual(&'p str),
}

/// Takes every `=` on a parameter as its argument; which ones there are goes to xFilter as bits.
///
/// # Safety
/// `info` must be the description of a running xBestIndex.
unsafe fn plan<'p>(
    parameters: &'p [String],
    info: &mut ffi::sqlite3_index_info,
) -> std::result::Result<(), Refusal<'p>> {
    // SAFETY: SQLite's description holds so many constraints.
    let constraints = unsafe { list(info.nConstraint, info.aConstraint) };
    let mut chosen = vec![None; parameters.len()];
    for (at, constraint) in constraints.iter().enumerate() {
        let op = c_int::from(constraint.op);
        // These two are about no column.
        if op == ffi::SQLITE_INDEX_CONSTRAINT_LIMIT || op == ffi::SQLITE_INDEX_CONSTRAINT_OFFSET {
            continue;
        }
        let column = usize::try_from(constraint.iColumn).unwrap_or(usize::MAX);
        let Some(parameter) = parameters.get(column) else {
            continue;
        };
        if op != ffi::SQLITE_INDEX_CONSTRAINT_EQ {
            return Err(Refusal::NotEqual(parameter));
        }
        if constraint.usable == 0 {
            return Err(Refusal::Unusable);
        }
        // A second `=` on the parameter stays with SQLite, which compares it with the first.
        chosen[column].get_or_insert(at);
    }
    let (mut given, mut count) = (0_u32, 0);
    for (parameter, at) in chosen.iter().enumerate() {
        let Some(at) = *at else { continue };
        count += 1;
        given |= 1 << parameter;
        // SAFETY: there is one usage per constraint, and `at` is the place of one.
        let usage_ptr = unsafe { info.aConstraintUsage.add(at) };
        // SAFETY: as above; nobody else uses it during the call.
        let usage = unsafe { &mut *usage_ptr };
        usage.argvIndex = count;
        usage.omit = 1;
    }
    info.idxNum = given.cast_signed();
    info.estimatedRows = FULL_COST / i64::from(count + 1);
    info.estimatedCost = info.estimatedRows as f64;
    Ok(())
}

unsafe extern "C" fn x_open<M: Module>(
    _vtab_ptr: *mut ffi::sqlite3_vtab,
    out_ptr: *mut *mut ffi::sqlite3_vtab_cursor,
) -> c_int {
    guard::call(ffi::SQLITE_INTERNAL, || {
        let cursor = Box::new(Cursor::<M> {
            base: ffi::sqlite3_vtab_cursor::default(),
            arguments: Vec::new(),
            scan: None,
            row_id: 0,
        });
        // SAFETY: the place for the cursor that SQLite hands over; `x_close` frees the box.
        unsafe { out_ptr.write(Box::into_raw(cursor).cast()) };
        ffi::SQLITE_OK
    })
}

unsafe extern "C" fn x_close<M: Module>(cursor_ptr: *mut ffi::sqlite3_vtab_cursor) -> c_int {
    guard::call(ffi::SQLITE_INTERNAL, || {
        // SAFETY: the box of `x_open`; SQLite hands it over once.
        drop(unsafe { Box::from_raw(cursor_ptr.cast::<Cursor<M>>()) });
        ffi::SQLITE_OK
    })
}

unsafe extern "C" fn x_filter<M: Module>(
    cursor_ptr: *mut ffi::sqlite3_vtab_cursor,
    given: c_int,
    _text_ptr: *const c_char,
    count: c_int,
    values_ptr: *mut *mut ffi::sqlite3_value,
) -> c_int {
    guard::call(ffi::SQLITE_INTERNAL, || {
        // SAFETY: the cursor of the running xFilter.
        let (cursor, connected) = unsafe { cursor_at::<M>(cursor_ptr) };
        answer(connected.module(), || {
            // SAFETY: the values of this call.
            let mut values = unsafe { list(count, values_ptr.cast_const()) }.iter();
            cursor.arguments.clear();
            for parameter in 0..connected.table.parameters().len() {
                let is_given = given.cast_unsigned() & (1 << parameter) != 0;
                let value_ptr = is_given.then(|| values.next()).flatten();
                // SAFETY: a live value of this call.
                let saved = value_ptr.map(|&value_ptr| unsafe { Saved::copy(value_ptr) });
                cursor.arguments.push(saved.transpose()?);
            }
            cursor.start(&connected.table)
        })
    })
}

unsafe extern "C" fn x_next<M: Module>(cursor_ptr: *mut ffi::sqlite3_vtab_cursor) -> c_int {
    guard::call(ffi::SQLITE_INTERNAL, || {
        // SAFETY: the cursor of the running xNext.
        let (cursor, connected) = unsafe { cursor_at::<M>(cursor_ptr) };
        answer(connected.module(), || cursor.advance())
    })
}

unsafe extern "C" fn x_eof<M: Module>(cursor_ptr: *mut ffi::sqlite3_vtab_cursor) -> c_int {
    guard::call(1, || {
        // SAFETY: the cursor of the running xEof.
        let (cursor, _) = unsafe { cursor_at::<M>(cursor_ptr) };
        c_int::from(cursor.scan.is_none())
    })
}

unsafe extern "C" fn x_column<M: Module>(
    cursor_ptr: *mut ffi::sqlite3_vtab_cursor,
    context_ptr: *mut ffi::sqlite3_context,
    index: c_int,
) -> c_int {
    guard::call(ffi::SQLITE_INTERNAL, || {
        // SAFETY: the cursor of the running xColumn.
        let (cursor, connected) = unsafe { cursor_at::<M>(cursor_ptr) };
        answer(connected.module(), || {
            let index = usize::try_from(index).map_err(|_| ffi::SQLITE_RANGE)?;
            if let Some(argument) = cursor.arguments.get(index) {
                if let Some(Saved(value)) = argument {
                    // SAFETY: the context of the running xColumn; the value is copied.
                    unsafe { ffi::sqlite3_result_value(context_ptr, value.as_ptr()) };
                }
                return Ok(());
            }
            // SAFETY: the context of the running xColumn, which has no arguments.
            let call = unsafe { Invocation::new(context_ptr, 0, ptr::null_mut()) };
            let scan = cursor.scan.as_ref().ok_or(ffi::SQLITE_MISUSE)?;
            failed(scan.column(index - cursor.arguments.len(), &call))
        })
    })
}

unsafe extern "C" fn x_rowid<M: Module>(
    cursor_ptr: *mut ffi::sqlite3_vtab_cursor,
    out_ptr: *mut i64,
) -> c_int {
    guard::call(ffi::SQLITE_INTERNAL, || {
        // SAFETY: the cursor of the running xRowid.
        let (cursor, _) = unsafe { cursor_at::<M>(cursor_ptr) };
        // SAFETY: the place for the number that SQLite hands over.
        unsafe { out_ptr.write(cursor.row_id) };
        ffi::SQLITE_OK
    })
}
