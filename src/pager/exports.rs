//! The table of functions that the bridge calls. Nothing here is exported from the addon: the bridge
//! is given their addresses once.
#![expect(unsafe_code, reason = "called by SQLite with raw pointers")]

use std::borrow::Cow;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::slice;
use std::sync::Once;

use libsqlite3_sys as ffi;

use super::engine::{Pager, Parse, RawPager, RawParse, Schema};
use super::state::with_state;
use super::{Result, functions, hint, hook, keying, pragma, prove, rekey, uri};
use crate::{guard, vfs};

/// `SealiteHooks` of the bridge, field by field.
#[repr(C)]
struct Hooks {
    x_key: unsafe extern "C" fn(*mut ffi::sqlite3, c_int, *const c_void, c_int) -> c_int,
    x_rekey: unsafe extern "C" fn(*mut ffi::sqlite3, c_int, *const c_void, c_int) -> c_int,
    x_attach: unsafe extern "C" fn(*mut ffi::sqlite3, c_int, *const c_void, c_int) -> c_int,
    x_copy_key: unsafe extern "C" fn(*mut ffi::sqlite3, c_int, *mut *mut c_void, *mut c_int),
    x_pragma: unsafe extern "C" fn(
        *mut ffi::sqlite3,
        c_int,
        *mut RawParse,
        *const c_char,
        *const c_char,
    ) -> c_int,
    x_prove_key: unsafe extern "C" fn(*mut RawPager, *mut c_void) -> c_int,
    x_page_error: unsafe extern "C" fn(*mut c_void, u32) -> c_int,
    x_journal_plain: unsafe extern "C" fn(*mut c_void, *const c_void, u32) -> *mut c_void,
    x_change_counter: unsafe extern "C" fn(*mut c_void) -> u32,
    x_vacuum_begins: unsafe extern "C" fn(*mut ffi::sqlite3, c_int),
    x_vacuum_reserve: unsafe extern "C" fn(*mut ffi::sqlite3, c_int, c_int) -> c_int,
    x_key_by_name: unsafe extern "C" fn(*mut ffi::sqlite3, c_int, *mut c_int) -> c_int,
    x_not_a_database: unsafe extern "C" fn(*mut ffi::sqlite3, *mut RawPager),
    x_is_doubtful: unsafe extern "C" fn(*mut c_void) -> c_int,
    x_open_nameless: unsafe extern "C" fn(
        *mut ffi::sqlite3_vfs,
        *mut ffi::sqlite3_file,
        c_int,
        *mut c_int,
    ) -> c_int,
}

unsafe extern "C" {
    fn sealite_install(hooks: *const Hooks);
}

pub(super) fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let hooks = Hooks {
            x_key,
            x_rekey,
            x_attach,
            x_copy_key,
            x_pragma,
            x_prove_key,
            x_page_error,
            x_journal_plain,
            x_change_counter,
            x_vacuum_begins,
            x_vacuum_reserve,
            x_key_by_name,
            x_not_a_database,
            x_is_doubtful,
            x_open_nameless,
        };
        // SAFETY: the bridge copies the table; the fields are those of its own declaration.
        unsafe { sealite_install(&raw const hooks) };
        functions::install();
    });
}

/// What `x_copy_key` gives out instead of a key: "copy the cipher". Only its address counts.
static COPY_MARK: u8 = 0;

unsafe extern "C" fn x_key(
    db: *mut ffi::sqlite3,
    index: c_int,
    key_ptr: *const c_void,
    key_len: c_int,
) -> c_int {
    // SAFETY: SQLite passes its own arguments on.
    unsafe { on_schema(db, index, key_ptr, key_len, keying::key) }
}

unsafe extern "C" fn x_rekey(
    db: *mut ffi::sqlite3,
    index: c_int,
    key_ptr: *const c_void,
    key_len: c_int,
) -> c_int {
    // SAFETY: SQLite passes its own arguments on.
    unsafe { on_schema(db, index, key_ptr, key_len, rekey::rekey) }
}

/// ATTACH with a key, or with the mark that `x_copy_key` gave.
unsafe extern "C" fn x_attach(
    db: *mut ffi::sqlite3,
    index: c_int,
    key_ptr: *const c_void,
    key_len: c_int,
) -> c_int {
    if ptr::eq(key_ptr, ptr::from_ref(&COPY_MARK).cast()) {
        // SAFETY: SQLite passes its own arguments on.
        return unsafe {
            on_schema(db, index, ptr::null(), 0, |schema, _| {
                keying::key_by_copy(schema)
            })
        };
    }
    // SAFETY: as above.
    unsafe {
        on_schema(db, index, key_ptr, key_len, |schema, key| {
            // Compat: ATTACH ':memory:' KEY 'k' works and is not encrypted.
            if schema.pager().is_file() {
                uri::apply_settings(schema)?;
                keying::key(schema, key)
            } else {
                Ok(())
            }
        })
    }
}

/// Whether an ATTACH without KEY takes over a cipher.
unsafe extern "C" fn x_copy_key(
    db: *mut ffi::sqlite3,
    index: c_int,
    key_ptr: *mut *mut c_void,
    len_ptr: *mut c_int,
) {
    guard::call((), || {
        // SAFETY: SQLite's own open connection.
        let Some(schema) = (unsafe { Schema::new(db, index) }) else {
            return;
        };
        let vacuuming = with_state(schema, |state| state.vacuum_source.is_some());
        let keyed =
            hook::with_codec(schema.pager(), |codec| codec.cipher().is_some()).unwrap_or(false);
        if vacuuming || keyed {
            // SAFETY: both point to variables of the caller. It does not write through the key.
            unsafe { key_ptr.write(ptr::from_ref(&COPY_MARK).cast_mut().cast()) };
            // SAFETY: as above.
            unsafe { len_ptr.write(1) };
        }
    });
}

unsafe extern "C" fn x_pragma(
    db: *mut ffi::sqlite3,
    index: c_int,
    parse_ptr: *mut RawParse,
    name_ptr: *const c_char,
    value_ptr: *const c_char,
) -> c_int {
    // SAFETY: the parser of this call.
    let Some(parse) = (unsafe { Parse::new(parse_ptr) }) else {
        return 0;
    };
    let failed = |text: &str| {
        parse.fail(ffi::SQLITE_INTERNAL, text);
        1
    };
    guard::call_or_else(failed, || {
        // SAFETY: SQLite's own open connection.
        let Some(schema) = (unsafe { Schema::new(db, index) }) else {
            return 0;
        };
        // SAFETY: NULL or a text that ends with NUL and outlives the call.
        let name = unsafe { text(name_ptr) }.unwrap_or_default();
        // SAFETY: as above.
        let value = unsafe { text(value_ptr) };
        c_int::from(pragma::pragma(schema, &parse, &name, value.as_deref()))
    })
}

unsafe extern "C" fn x_prove_key(pager_ptr: *mut RawPager, codec_ptr: *mut c_void) -> c_int {
    guard::call(ffi::SQLITE_INTERNAL, || {
        // SAFETY: the pager that asks.
        let Some(pager) = (unsafe { Pager::new(pager_ptr) }) else {
            return ffi::SQLITE_INTERNAL;
        };
        // SAFETY: its codec, which nothing else uses during the call.
        let codec = unsafe { hook::from_ptr(codec_ptr) };
        prove::prove_key(pager, codec.map(hook::Hooked::codec))
            .err()
            .unwrap_or(ffi::SQLITE_OK)
    })
}

unsafe extern "C" fn x_page_error(codec_ptr: *mut c_void, _page_no: u32) -> c_int {
    guard::call(ffi::SQLITE_INTERNAL, || {
        // SAFETY: the codec of the pager that asks.
        let hooked = unsafe { hook::from_ptr(codec_ptr) };
        // A panic leaves no code; the page is then not to be trusted.
        let code = hooked.map_or(ffi::SQLITE_INTERNAL, |hooked| hooked.codec().page_error());
        if code == ffi::SQLITE_OK {
            ffi::SQLITE_CORRUPT
        } else {
            code
        }
    })
}

unsafe extern "C" fn x_journal_plain(
    codec_ptr: *mut c_void,
    stored_ptr: *const c_void,
    page_no: u32,
) -> *mut c_void {
    // SAFETY: the codec of the pager that asks, and a page of its size.
    guard::call(ptr::null_mut(), || unsafe {
        hook::journal_plain(codec_ptr, stored_ptr, page_no)
    })
}

unsafe extern "C" fn x_change_counter(codec_ptr: *mut c_void) -> u32 {
    guard::call(0, || {
        // SAFETY: the codec of the pager that asks.
        let hooked = unsafe { hook::from_ptr(codec_ptr) };
        hooked.map_or(0, |hooked| hooked.codec().change_counter())
    })
}

/// VACUUM of database `index` is about to attach its copy; -1: it has.
unsafe extern "C" fn x_vacuum_begins(db: *mut ffi::sqlite3, index: c_int) {
    guard::call((), || {
        // SAFETY: SQLite's own open connection; main is always there.
        if let Some(main) = unsafe { Schema::new(db, 0) } {
            with_state(main, |state| {
                state.vacuum_source = (index >= 0).then_some(index)
            });
        }
    });
}

/// The reserved bytes of VACUUM's copy: those that SQLite wants, unless a rekey says otherwise.
unsafe extern "C" fn x_vacuum_reserve(
    db: *mut ffi::sqlite3,
    _index: c_int,
    reserve_len: c_int,
) -> c_int {
    guard::call(reserve_len, || {
        // SAFETY: as above.
        let main = unsafe { Schema::new(db, 0) };
        let rekey = main.and_then(|main| with_state(main, |state| state.rekey_reserve_len));
        rekey
            .and_then(|len| c_int::try_from(len).ok())
            .unwrap_or(reserve_len)
    })
}

/// A database has been opened and no key was given: whether its name has one.
unsafe extern "C" fn x_key_by_name(
    db: *mut ffi::sqlite3,
    index: c_int,
    seen_ptr: *mut c_int,
) -> c_int {
    guard::call(ffi::SQLITE_INTERNAL, || {
        // SAFETY: SQLite's own open connection.
        let Some(schema) = (unsafe { Schema::new(db, index) }) else {
            return ffi::SQLITE_OK;
        };
        let seen = match uri::key_by_name(schema) {
            Ok(seen) => seen,
            Err(failure) => return failure.code,
        };
        // SAFETY: NULL, or a variable of the caller.
        if let Some(into) = unsafe { seen_ptr.as_mut() } {
            *into = c_int::from(seen);
        }
        ffi::SQLITE_OK
    })
}

/// The file of this pager is found to be no database.
unsafe extern "C" fn x_not_a_database(db: *mut ffi::sqlite3, pager_ptr: *mut RawPager) {
    guard::call((), || {
        // SAFETY: SQLite's own open connection.
        let main = unsafe { Schema::new(db, 0) };
        // SAFETY: the pager that reports it.
        let pager = unsafe { Pager::new(pager_ptr) };
        if let (Some(main), Some(pager)) = (main, pager) {
            hint::remember(main, pager);
        }
    });
}

unsafe extern "C" fn x_is_doubtful(codec_ptr: *mut c_void) -> c_int {
    guard::call(1, || {
        // SAFETY: the codec of the pager that asks.
        let hooked = unsafe { hook::from_ptr(codec_ptr) };
        hooked.map_or(0, |hooked| c_int::from(hooked.codec().is_doubtful()))
    })
}

unsafe extern "C" fn x_open_nameless(
    vfs_ptr: *mut ffi::sqlite3_vfs,
    file_ptr: *mut ffi::sqlite3_file,
    flags: c_int,
    out_flags_ptr: *mut c_int,
) -> c_int {
    // SAFETY: SQLite passes its own arguments on.
    guard::call(ffi::SQLITE_CANTOPEN, || unsafe {
        vfs::open(vfs_ptr, file_ptr, flags, out_flags_ptr)
    })
}

/// # Safety
/// The arguments are SQLite's: an open connection, `key_len` bytes at `key_ptr` (or NULL, or a length
/// below 0 for a text that ends with NUL).
unsafe fn on_schema(
    db: *mut ffi::sqlite3,
    index: c_int,
    key_ptr: *const c_void,
    key_len: c_int,
    body: impl FnOnce(Schema, &[u8]) -> Result,
) -> c_int {
    guard::call(ffi::SQLITE_INTERNAL, || {
        // SAFETY: the caller's promise.
        let Some(schema) = (unsafe { Schema::new(db, index) }) else {
            return ffi::SQLITE_ERROR;
        };
        let key: &[u8] = if key_ptr.is_null() {
            &[]
        } else if let Ok(len) = usize::try_from(key_len) {
            // SAFETY: the caller's promise.
            unsafe { slice::from_raw_parts(key_ptr.cast::<u8>(), len) }
        } else {
            // SAFETY: the caller's promise.
            unsafe { CStr::from_ptr(key_ptr.cast()) }.to_bytes()
        };
        body(schema, key).map_or_else(|failure| failure.code, |()| ffi::SQLITE_OK)
    })
}

/// # Safety
/// NULL, or a text that ends with NUL and lives as long as the answer is used.
unsafe fn text<'t>(text_ptr: *const c_char) -> Option<Cow<'t, str>> {
    if text_ptr.is_null() {
        return None;
    }
    // SAFETY: the caller's promise.
    Some(unsafe { CStr::from_ptr(text_ptr) }.to_string_lossy())
}
