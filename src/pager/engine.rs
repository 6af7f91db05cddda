//! Safe wrappers of the bridge (`engine/bridge.c`): one database of a connection, its pager, the
//! memory that a connection keeps for us. Nothing is decided here.
#![expect(unsafe_code, reason = "calls the bridge")]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::{self, NonNull};

use libsqlite3_sys as ffi;
use rusqlite::Connection;

use crate::vfs::Vfs;

/// SQLite's `Pager`, `Parse`: never looked into.
#[repr(C)]
pub(super) struct RawPager {
    _private: [u8; 0],
}
#[repr(C)]
pub(super) struct RawParse {
    _private: [u8; 0],
}

pub(super) type XCodec = unsafe extern "C" fn(*mut c_void, *mut c_void, u32, c_int) -> *mut c_void;
pub(super) type XSizeChange = unsafe extern "C" fn(*mut c_void, c_int, c_int);
pub(super) type XFree = unsafe extern "C" fn(*mut c_void);

unsafe extern "C" {
    fn sealite_database_index(db: *mut ffi::sqlite3, name: *const c_char) -> c_int;
    fn sealite_pager(db: *mut ffi::sqlite3, index: c_int) -> *mut RawPager;
    fn sealite_page_size(db: *mut ffi::sqlite3, index: c_int) -> u32;
    fn sealite_wanted_page_size(db: *mut ffi::sqlite3) -> c_int;
    fn sealite_reserve(db: *mut ffi::sqlite3, index: c_int) -> c_int;
    fn sealite_set_page_size(
        db: *mut ffi::sqlite3,
        index: c_int,
        size: c_int,
        reserve: c_int,
        fixed: c_int,
    ) -> c_int;
    fn sealite_secure_delete(db: *mut ffi::sqlite3, index: c_int);
    fn sealite_in_use(db: *mut ffi::sqlite3, index: c_int) -> c_int;
    fn sealite_vfs(db: *mut ffi::sqlite3) -> *mut ffi::sqlite3_vfs;
    fn sealite_set_vfs(db: *mut ffi::sqlite3, vfs: *mut ffi::sqlite3_vfs);
    fn sealite_autocommit(db: *mut ffi::sqlite3) -> c_int;
    fn sealite_active_statements(db: *mut ffi::sqlite3) -> c_int;
    fn sealite_is_file(pager: *mut RawPager) -> c_int;
    fn sealite_is_memory(pager: *mut RawPager) -> c_int;
    fn sealite_wal_is_open(pager: *mut RawPager) -> c_int;
    fn sealite_codec(pager: *mut RawPager) -> *mut c_void;
    fn sealite_set_codec(
        pager: *mut RawPager,
        x_codec: Option<XCodec>,
        x_size_change: Option<XSizeChange>,
        x_free: Option<XFree>,
        codec: *mut c_void,
    );
    fn sealite_read_file(pager: *mut RawPager, into: *mut c_void, len: c_int, at: i64) -> c_int;
    fn sealite_read_journal(pager: *mut RawPager, into: *mut c_void, len: c_int, at: i64) -> c_int;
    fn sealite_check_reserved(pager: *mut RawPager, reserved: *mut c_int) -> c_int;
    fn sealite_journal_size(pager: *mut RawPager, size: *mut i64) -> c_int;
    fn sealite_super_is_missing(pager: *mut RawPager, missing: *mut c_int) -> c_int;
    fn sealite_file_size(pager: *mut RawPager, size: *mut i64) -> c_int;
    fn sealite_file_name(pager: *mut RawPager) -> *const c_char;
    fn sealite_checkpoint(db: *mut ffi::sqlite3, index: c_int, mode: c_int) -> c_int;
    fn sealite_page_1_was_read(pager: *mut RawPager);
    fn sealite_pager_page_size(pager: *mut RawPager) -> u32;
    fn sealite_begin_read(db: *mut ffi::sqlite3, index: c_int, opened: *mut c_int) -> c_int;
    fn sealite_copy_page(
        db: *mut ffi::sqlite3,
        index: c_int,
        page_no: u32,
        into: *mut c_void,
    ) -> c_int;
    fn sealite_begin_write(db: *mut ffi::sqlite3, index: c_int) -> c_int;
    fn sealite_rewrite_page(db: *mut ffi::sqlite3, index: c_int, page_no: u32) -> c_int;
    fn sealite_page_count(db: *mut ffi::sqlite3, index: c_int) -> u32;
    fn sealite_commit(db: *mut ffi::sqlite3, index: c_int) -> c_int;
    fn sealite_rollback(db: *mut ffi::sqlite3, index: c_int) -> c_int;
    fn sealite_vacuum(db: *mut ffi::sqlite3, index: c_int, message: *mut *mut c_char) -> c_int;
    fn sealite_free_message(db: *mut ffi::sqlite3, message: *mut c_char);
    fn sealite_pragma_row(parse: *mut RawParse, name: *const c_char, text: *const c_char);
    fn sealite_pragma_error(parse: *mut RawParse, code: c_int, text: *const c_char);
}

/// A result code as a `Result`.
fn check(code: c_int) -> Result<(), c_int> {
    if code == ffi::SQLITE_OK {
        Ok(())
    } else {
        Err(code)
    }
}

/// The database of this name.
pub(super) fn find_schema(connection: &Connection, name: &CStr) -> Option<Schema> {
    // SAFETY: the handle of an open connection, used by this thread only.
    let db = unsafe { connection.handle() };
    // SAFETY: as above; the name ends with NUL.
    let index = unsafe { sealite_database_index(db, name.as_ptr()) };
    // SAFETY: as above.
    unsafe { Schema::new(db, index) }
}

/// One open database of a connection.
#[derive(Clone, Copy)]
pub(super) struct Schema {
    db: NonNull<ffi::sqlite3>,
    index: c_int,
    pager: Pager,
}

impl Schema {
    /// None: there is no database of this index, or it is not open.
    ///
    /// # Safety
    /// `db` is an open connection that this thread uses alone, and stays so, with the database
    /// attached, for as long as the value is used: values are not kept beyond one call from SQLite
    /// or from the addon.
    pub(super) unsafe fn new(db: *mut ffi::sqlite3, index: c_int) -> Option<Schema> {
        let db = NonNull::new(db)?;
        // SAFETY: the caller's promise; any index may be asked.
        let pager_ptr = unsafe { sealite_pager(db.as_ptr(), index) };
        Some(Schema {
            db,
            index,
            pager: Pager(NonNull::new(pager_ptr)?),
        })
    }

    pub(super) fn pager(self) -> Pager {
        self.pager
    }

    /// The main database of the same connection.
    pub(super) fn main(self) -> Option<Schema> {
        self.sibling(0)
    }

    pub(super) fn sibling(self, index: c_int) -> Option<Schema> {
        // SAFETY: the connection is the one of `self`.
        unsafe { Schema::new(self.db.as_ptr(), index) }
    }

    /// Another database of the same connection.
    pub(super) fn named(self, name: &CStr) -> Option<Schema> {
        // SAFETY: an open connection; the name ends with NUL.
        self.sibling(unsafe { sealite_database_index(self.db.as_ptr(), name.as_ptr()) })
    }

    pub(super) fn index(self) -> c_int {
        self.index
    }

    pub(super) fn db(self) -> *mut ffi::sqlite3 {
        self.db.as_ptr()
    }

    pub(super) fn page_size(self) -> u32 {
        // SAFETY: an open database, see `new`.
        unsafe { sealite_page_size(self.db.as_ptr(), self.index) }
    }

    /// What `PRAGMA page_size` asked for on this connection.
    pub(super) fn wanted_page_size(self) -> Option<u32> {
        // SAFETY: an open connection, see `new`.
        let size = unsafe { sealite_wanted_page_size(self.db.as_ptr()) };
        u32::try_from(size).ok().filter(|size| *size > 0)
    }

    pub(super) fn reserve_len(self) -> usize {
        // SAFETY: an open database, see `new`.
        let reserve = unsafe { sealite_reserve(self.db.as_ptr(), self.index) };
        usize::try_from(reserve).unwrap_or(0)
    }

    /// Sets page size and reserve whatever was believed before. `fixed`: they are the file's.
    /// Not while pages are in use.
    pub(super) fn set_page_size(
        self,
        page_size: u32,
        reserve_len: usize,
        fixed: bool,
    ) -> Result<(), c_int> {
        let size = c_int::try_from(page_size).map_err(|_| ffi::SQLITE_INTERNAL)?;
        let reserve = c_int::try_from(reserve_len).map_err(|_| ffi::SQLITE_INTERNAL)?;
        // SAFETY: an open database, see `new`.
        check(unsafe {
            sealite_set_page_size(
                self.db.as_ptr(),
                self.index,
                size,
                reserve,
                c_int::from(fixed),
            )
        })
    }

    pub(super) fn set_secure_delete(self) {
        // SAFETY: an open database, see `new`.
        unsafe { sealite_secure_delete(self.db.as_ptr(), self.index) }
    }

    /// Whether a transaction or a statement holds pages of this database, or a backup reads it.
    pub(super) fn in_use(self) -> bool {
        // SAFETY: an open database, see `new`.
        unsafe { sealite_in_use(self.db.as_ptr(), self.index) != 0 }
    }

    /// Whether a statement of the connection is running or being iterated, on whichever database.
    pub(super) fn has_active_statements(self) -> bool {
        // SAFETY: an open connection, see `new`.
        unsafe { sealite_active_statements(self.db.as_ptr()) != 0 }
    }

    /// The VFS of the connection.
    pub(super) fn vfs(self) -> Option<Vfs> {
        // SAFETY: an open connection, see `new`.
        let vfs_ptr = unsafe { sealite_vfs(self.db.as_ptr()) };
        // SAFETY: the VFS of a connection is registered.
        unsafe { Vfs::new(vfs_ptr) }
    }

    /// Not while a statement is running: a sort may have threads that ask for the VFS.
    pub(super) fn set_vfs(self, vfs: Vfs) {
        // SAFETY: an open connection, see `new`; what a `Vfs` is stays one.
        unsafe { sealite_set_vfs(self.db.as_ptr(), vfs.as_ptr()) }
    }

    /// Whether the connection is inside BEGIN or an outermost SAVEPOINT.
    pub(super) fn in_transaction(self) -> bool {
        // SAFETY: an open connection, see `new`.
        unsafe { sealite_autocommit(self.db.as_ptr()) == 0 }
    }

    /// Reads page 1 and keeps others from changing the database while `body` runs: in the transaction
    /// that is open, or in one of its own.
    pub(super) fn reading<R>(self, body: impl FnOnce() -> Result<R, c_int>) -> Result<R, c_int> {
        let mut opened = 0;
        // SAFETY: an open database, see `new`.
        check(unsafe { sealite_begin_read(self.db.as_ptr(), self.index, &raw mut opened) })?;
        let done = body();
        if opened != 0 {
            // The end of a transaction that only read cannot fail.
            self.commit()?;
        }
        done
    }

    /// Copies a page in clear. Inside a transaction only; `into` has the length of a page.
    pub(super) fn copy_page(self, page_no: u32, into: &mut [u8]) -> Result<(), c_int> {
        assert_eq!(
            into.len(),
            self.page_size() as usize,
            "a page is copied whole"
        );
        // SAFETY: an open database in a transaction; the buffer has the length of a page.
        check(unsafe {
            sealite_copy_page(
                self.db.as_ptr(),
                self.index,
                page_no,
                into.as_mut_ptr().cast(),
            )
        })
    }

    pub(super) fn begin_write(self) -> Result<(), c_int> {
        // SAFETY: an open database, see `new`.
        check(unsafe { sealite_begin_write(self.db.as_ptr(), self.index) })
    }

    /// Has the commit write this page. Inside a write transaction only.
    pub(super) fn rewrite_page(self, page_no: u32) -> Result<(), c_int> {
        // SAFETY: an open database in a write transaction.
        check(unsafe { sealite_rewrite_page(self.db.as_ptr(), self.index, page_no) })
    }

    /// Inside a transaction only.
    pub(super) fn page_count(self) -> u32 {
        // SAFETY: an open database, see `new`.
        unsafe { sealite_page_count(self.db.as_ptr(), self.index) }
    }

    pub(super) fn commit(self) -> Result<(), c_int> {
        // SAFETY: an open database, see `new`.
        check(unsafe { sealite_commit(self.db.as_ptr(), self.index) })
    }

    pub(super) fn rollback(self) -> Result<(), c_int> {
        // SAFETY: an open database, see `new`.
        check(unsafe { sealite_rollback(self.db.as_ptr(), self.index) })
    }

    /// Empties the WAL into the database. Waits as long as the busy timeout for those who read or write;
    /// nothing without a WAL. Not inside a transaction.
    pub(super) fn empty_wal(self) -> Result<(), c_int> {
        self.checkpoint(ffi::SQLITE_CHECKPOINT_TRUNCATE)
    }

    /// Copies of the WAL what can be copied without waiting.
    pub(super) fn copy_wal(self) -> Result<(), c_int> {
        self.checkpoint(ffi::SQLITE_CHECKPOINT_PASSIVE)
    }

    fn checkpoint(self, mode: c_int) -> Result<(), c_int> {
        // SAFETY: an open database, see `new`.
        check(unsafe { sealite_checkpoint(self.db.as_ptr(), self.index, mode) })
    }

    /// VACUUM into the database itself.
    pub(super) fn vacuum(self) -> Result<(), c_int> {
        let mut message_ptr = ptr::null_mut();
        // SAFETY: an open database, see `new`; no transaction is open.
        let code = unsafe { sealite_vacuum(self.db.as_ptr(), self.index, &raw mut message_ptr) };
        // SAFETY: the message came from this connection, or is NULL.
        unsafe { sealite_free_message(self.db.as_ptr(), message_ptr) };
        check(code)
    }
}

/// The pager of an open database.
#[derive(Clone, Copy)]
pub(super) struct Pager(NonNull<RawPager>);

impl Pager {
    /// # Safety
    /// `pager_ptr` is an open pager, used by this thread alone for as long as the value is used.
    pub(super) unsafe fn new(pager_ptr: *mut RawPager) -> Option<Pager> {
        NonNull::new(pager_ptr).map(Pager)
    }

    /// A database with a file of its own name: neither in memory nor temporary.
    pub(super) fn is_file(self) -> bool {
        // SAFETY: an open pager.
        unsafe { sealite_is_file(self.0.as_ptr()) != 0 }
    }

    pub(super) fn is_memory(self) -> bool {
        // SAFETY: an open pager.
        unsafe { sealite_is_memory(self.0.as_ptr()) != 0 }
    }

    pub(super) fn wal_is_open(self) -> bool {
        // SAFETY: an open pager.
        unsafe { sealite_wal_is_open(self.0.as_ptr()) != 0 }
    }

    pub(super) fn page_size(self) -> u32 {
        // SAFETY: an open pager.
        unsafe { sealite_pager_page_size(self.0.as_ptr()) }
    }

    /// Page 1 is known to be good under the codec that was just set: the checkpoint at close is made.
    pub(super) fn page_1_was_read(self) {
        // SAFETY: an open pager.
        unsafe { sealite_page_1_was_read(self.0.as_ptr()) }
    }

    /// What `set_codec` was given last, or NULL.
    pub(super) fn codec_ptr(self) -> *mut c_void {
        // SAFETY: an open pager.
        unsafe { sealite_codec(self.0.as_ptr()) }
    }

    /// # Safety
    /// No page is in use. `codec_ptr` is what the functions expect and lives until `x_free` is called
    /// with it; what was set before is now the caller's.
    pub(super) unsafe fn set_codec(
        self,
        functions: Option<(XCodec, XSizeChange, XFree)>,
        codec_ptr: *mut c_void,
    ) {
        let (x_codec, x_size_change, x_free) = match functions {
            Some((codec, size_change, free)) => (Some(codec), Some(size_change), Some(free)),
            None => (None, None, None),
        };
        // SAFETY: an open pager, and the caller's promise.
        unsafe { sealite_set_codec(self.0.as_ptr(), x_codec, x_size_change, x_free, codec_ptr) }
    }

    /// Reads from the database file. `Ok(false)`: the file ends before; the rest is zero.
    pub(super) fn read_file(self, into: &mut [u8], at: i64) -> Result<bool, c_int> {
        let len = c_int::try_from(into.len()).map_err(|_| ffi::SQLITE_INTERNAL)?;
        // SAFETY: an open file; the buffer has that length.
        read_result(unsafe {
            sealite_read_file(self.0.as_ptr(), into.as_mut_ptr().cast(), len, at)
        })
    }

    /// Reads from the rollback journal, which is open.
    pub(super) fn read_journal(self, into: &mut [u8], at: i64) -> Result<bool, c_int> {
        let len = c_int::try_from(into.len()).map_err(|_| ffi::SQLITE_INTERNAL)?;
        // SAFETY: an open file; the buffer has that length.
        read_result(unsafe {
            sealite_read_journal(self.0.as_ptr(), into.as_mut_ptr().cast(), len, at)
        })
    }

    pub(super) fn file_len(self) -> Result<u64, c_int> {
        let mut size = 0;
        // SAFETY: an open file.
        check(unsafe { sealite_file_size(self.0.as_ptr(), &raw mut size) })?;
        Ok(u64::try_from(size).unwrap_or(0))
    }

    pub(super) fn file_name(self) -> String {
        // SAFETY: an open pager.
        let name_ptr = unsafe { sealite_file_name(self.0.as_ptr()) };
        // SAFETY: a text that ends with NUL and lives as long as the pager.
        let name = unsafe { CStr::from_ptr(name_ptr) };
        name.to_string_lossy().into_owned()
    }

    /// A parameter of the URI that the database was opened by.
    pub(super) fn uri_parameter(self, name: &str) -> Option<String> {
        let name = to_c_text(name);
        // SAFETY: an open pager.
        let file_name_ptr = unsafe { sealite_file_name(self.0.as_ptr()) };
        // SAFETY: a file name of SQLite, behind which its parameters stand; a name that ends with NUL.
        let value_ptr = unsafe { ffi::sqlite3_uri_parameter(file_name_ptr, name.as_ptr()) };
        if value_ptr.is_null() {
            return None;
        }
        // SAFETY: a text that ends with NUL and lives as long as the pager.
        let value = unsafe { CStr::from_ptr(value_ptr) };
        Some(value.to_string_lossy().into_owned())
    }

    /// Whether some connection is writing, or about to. Takes no lock.
    pub(super) fn is_being_written(self) -> Result<bool, c_int> {
        let mut reserved = 0;
        // SAFETY: an open file.
        check(unsafe { sealite_check_reserved(self.0.as_ptr(), &raw mut reserved) })?;
        Ok(reserved != 0)
    }

    pub(super) fn journal_len(self) -> Result<i64, c_int> {
        let mut size = 0;
        // SAFETY: an open journal.
        check(unsafe { sealite_journal_size(self.0.as_ptr(), &raw mut size) })?;
        Ok(size)
    }

    /// Whether the journal names a super-journal that does not exist: it is then not hot.
    pub(super) fn super_journal_is_missing(self) -> Result<bool, c_int> {
        let mut missing = 0;
        // SAFETY: an open journal.
        check(unsafe { sealite_super_is_missing(self.0.as_ptr(), &raw mut missing) })?;
        Ok(missing != 0)
    }
}

fn read_result(code: c_int) -> Result<bool, c_int> {
    match code {
        ffi::SQLITE_OK => Ok(true),
        ffi::SQLITE_IOERR_SHORT_READ => Ok(false),
        code => Err(code),
    }
}

/// A PRAGMA that is being prepared.
pub(super) struct Parse(NonNull<RawParse>);

impl Parse {
    /// # Safety
    /// `parse_ptr` is the parser that SQLite handed to the hook; the value is not kept beyond the call.
    pub(super) unsafe fn new(parse_ptr: *mut RawParse) -> Option<Parse> {
        NonNull::new(parse_ptr).map(Parse)
    }

    /// Answers one row with one column.
    pub(super) fn answer(&self, name: &str, text: &str) {
        let (name, text) = (to_c_text(name), to_c_text(text));
        // SAFETY: the parser of the running call; SQLite copies both.
        unsafe { sealite_pragma_row(self.0.as_ptr(), name.as_ptr(), text.as_ptr()) }
    }

    pub(super) fn fail(&self, code: c_int, message: &str) {
        let message = to_c_text(message);
        // SAFETY: the parser of the running call; SQLite copies the text.
        unsafe { sealite_pragma_error(self.0.as_ptr(), code, message.as_ptr()) }
    }
}

/// The text up to its first NUL, which is as far as SQLite reads it.
fn to_c_text(text: &str) -> CString {
    let text = text.split('\0').next().unwrap_or_default();
    CString::new(text).unwrap_or_default()
}

/// What a connection keeps for us under our name, made when it is first asked for. SQLite frees it
/// with the connection.
pub(super) fn client_data<T: Default>(schema: Schema) -> NonNull<T> {
    const NAME: &CStr = c"sealite";
    unsafe extern "C" fn x_destroy<T>(data_ptr: *mut c_void) {
        // SAFETY: the box that `client_data` gave away; SQLite calls this once.
        crate::guard::call((), || drop(unsafe { Box::from_raw(data_ptr.cast::<T>()) }));
    }
    // SAFETY: an open connection.
    let found = unsafe { ffi::sqlite3_get_clientdata(schema.db(), NAME.as_ptr()) };
    if let Some(found) = NonNull::new(found.cast::<T>()) {
        return found;
    }
    let data_ptr = Box::into_raw(Box::<T>::default());
    // SAFETY: an open connection; the box lives until SQLite calls the destructor. When SQLite cannot
    // keep it, it calls the destructor at once: hence the question that follows.
    let code = unsafe {
        ffi::sqlite3_set_clientdata(
            schema.db(),
            NAME.as_ptr(),
            data_ptr.cast(),
            Some(x_destroy::<T>),
        )
    };
    assert_eq!(code, ffi::SQLITE_OK, "out of memory");
    NonNull::new(data_ptr).expect("a box is never NULL")
}
