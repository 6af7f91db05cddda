//! The SQL functions `sqlite3mc_…` of every connection: their arguments out of SQLite, their answers
//! into it. What they do is in `config_functions` and `value_functions`.
#![expect(unsafe_code, reason = "called by SQLite with raw values")]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::slice;

use libsqlite3_sys as ffi;
use zeroize::Zeroizing;

use super::engine::Schema;
use super::{config_functions, value_functions};
use crate::guard;

/// A function of SQL.
pub(super) struct SqlFunction {
    pub(super) name: &'static CStr,
    /// How many arguments it takes.
    pub(super) counts: &'static [c_int],
    /// Not for views, triggers and whatever else is in a file, which may be somebody else's.
    pub(super) direct_only: bool,
    /// It is given the main database of the connection; an error is its text.
    pub(super) run: fn(Schema, &[Argument<'_>]) -> Result<Answer, String>,
}

/// A value that SQL hands over.
#[derive(Clone, Copy)]
pub(super) enum Argument<'v> {
    Null,
    Integer(i64),
    Real(f64),
    Text(&'v [u8]),
    Blob(&'v [u8]),
}

impl<'v> Argument<'v> {
    /// The bytes of a text or a blob.
    pub(super) fn bytes(self) -> Option<&'v [u8]> {
        match self {
            Argument::Text(bytes) | Argument::Blob(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// A text or a blob as a name. What is not UTF-8 names nothing.
    pub(super) fn name(self) -> Option<&'v str> {
        std::str::from_utf8(self.bytes()?).ok()
    }

    /// A text, and nothing but a text.
    pub(super) fn text(self) -> Option<&'v str> {
        match self {
            Argument::Text(_) => self.name(),
            _ => None,
        }
    }
}

/// A value that SQL is given.
pub(super) enum Answer {
    Null,
    Integer(i64),
    Real(f64),
    Text(Zeroizing<Vec<u8>>),
    Blob(Zeroizing<Vec<u8>>),
}

impl Answer {
    pub(super) fn text(text: impl Into<String>) -> Answer {
        Answer::Text(Zeroizing::new(text.into().into_bytes()))
    }
}

const UTF8: std::ffi::c_uchar = 1;

/// Has SQLite give the functions to each connection that it opens from now on.
pub(super) fn install() {
    // SAFETY: a function of this library, with the signature of an extension's entry.
    let code = unsafe { ffi::sqlite3_auto_extension(Some(x_register)) };
    assert_eq!(code, ffi::SQLITE_OK, "out of memory");
}

unsafe extern "C" fn x_register(
    db: *mut ffi::sqlite3,
    _message_ptr: *mut *mut c_char,
    _api_ptr: *const ffi::sqlite3_api_routines,
) -> c_int {
    guard::call(ffi::SQLITE_INTERNAL, || {
        let functions = config_functions::FUNCTIONS
            .iter()
            .chain(value_functions::FUNCTIONS);
        for function in functions {
            for count in function.counts {
                // SAFETY: the connection that is being opened; the function is a static.
                let code = unsafe { register(db, function, *count) };
                if code != ffi::SQLITE_OK {
                    return code;
                }
            }
        }
        ffi::SQLITE_OK
    })
}

/// # Safety
/// `db` is an open connection.
unsafe fn register(db: *mut ffi::sqlite3, function: &'static SqlFunction, count: c_int) -> c_int {
    let reach = if function.direct_only {
        ffi::SQLITE_DIRECTONLY
    } else {
        0
    };
    // SAFETY: the caller's promise; name and function are statics.
    unsafe {
        ffi::sqlite3_create_function_v2(
            db,
            function.name.as_ptr(),
            count,
            ffi::SQLITE_UTF8 | ffi::SQLITE_DETERMINISTIC | reach,
            ptr::from_ref(function).cast_mut().cast(),
            Some(x_function),
            None,
            None,
            None,
        )
    }
}

unsafe extern "C" fn x_function(
    context_ptr: *mut ffi::sqlite3_context,
    count: c_int,
    values_ptr: *mut *mut ffi::sqlite3_value,
) {
    // SAFETY: the context of this call.
    let failed = |text: &str| unsafe { fail(context_ptr, text) };
    guard::call_or_else(failed, || {
        // SAFETY: the context of this call.
        let function_ptr = unsafe { ffi::sqlite3_user_data(context_ptr) };
        // SAFETY: the static that `register` gave away.
        let function = unsafe { &*function_ptr.cast::<SqlFunction>() };
        // SAFETY: the context of this call.
        let db = unsafe { ffi::sqlite3_context_db_handle(context_ptr) };
        // SAFETY: SQLite's own open connection, which waits for this call.
        let Some(main) = (unsafe { Schema::new(db, 0) }) else {
            return failed("no main database");
        };
        let values: &[*mut ffi::sqlite3_value] = match usize::try_from(count) {
            // SAFETY: SQLite hands over that many values.
            Ok(count) if count > 0 => unsafe { slice::from_raw_parts(values_ptr, count) },
            _ => &[],
        };
        // SAFETY: values of this call, which stay until its end.
        let arguments: Vec<_> = values.iter().map(|v| unsafe { argument(*v) }).collect();
        match (function.run)(main, &arguments) {
            // SAFETY: the context of this call.
            Ok(answer) => unsafe { give(context_ptr, &answer) },
            Err(text) => failed(&text),
        }
    });
}

/// # Safety
/// `value_ptr` is a value of the running call and is not converted as long as the result is used.
unsafe fn argument<'v>(value_ptr: *mut ffi::sqlite3_value) -> Argument<'v> {
    // SAFETY: the caller's promise.
    let kind = unsafe { ffi::sqlite3_value_type(value_ptr) };
    match kind {
        // SAFETY: as above.
        ffi::SQLITE_INTEGER => Argument::Integer(unsafe { ffi::sqlite3_value_int64(value_ptr) }),
        // SAFETY: as above.
        ffi::SQLITE_FLOAT => Argument::Real(unsafe { ffi::sqlite3_value_double(value_ptr) }),
        ffi::SQLITE_TEXT | ffi::SQLITE_BLOB => {
            let bytes_ptr = if kind == ffi::SQLITE_TEXT {
                // SAFETY: as above; of a text in UTF-16 this makes UTF-8 first.
                unsafe { ffi::sqlite3_value_text(value_ptr) }
            } else {
                // SAFETY: as above.
                unsafe { ffi::sqlite3_value_blob(value_ptr) }.cast()
            };
            // SAFETY: as above; the length is that of the bytes just asked for.
            let len = unsafe { ffi::sqlite3_value_bytes(value_ptr) };
            let bytes = match usize::try_from(len) {
                // SAFETY: SQLite keeps that many bytes there until the call ends.
                Ok(len) if !bytes_ptr.is_null() => unsafe { slice::from_raw_parts(bytes_ptr, len) },
                _ => &[],
            };
            if kind == ffi::SQLITE_TEXT {
                Argument::Text(bytes)
            } else {
                Argument::Blob(bytes)
            }
        }
        _ => Argument::Null,
    }
}

/// # Safety
/// `context_ptr` is that of the running call.
unsafe fn give(context_ptr: *mut ffi::sqlite3_context, answer: &Answer) {
    match answer {
        // SAFETY: the caller's promise.
        Answer::Null => unsafe { ffi::sqlite3_result_null(context_ptr) },
        // SAFETY: as above.
        Answer::Integer(number) => unsafe { ffi::sqlite3_result_int64(context_ptr, *number) },
        // SAFETY: as above.
        Answer::Real(number) => unsafe { ffi::sqlite3_result_double(context_ptr, *number) },
        Answer::Text(text) => {
            let start = text.as_ptr().cast::<c_char>();
            // SAFETY: as above; SQLite copies the text.
            unsafe {
                ffi::sqlite3_result_text64(
                    context_ptr,
                    start,
                    text.len() as u64,
                    ffi::SQLITE_TRANSIENT(),
                    UTF8,
                )
            }
        }
        Answer::Blob(bytes) => {
            let start = bytes.as_ptr().cast::<c_void>();
            // SAFETY: as above; SQLite copies the bytes.
            unsafe {
                ffi::sqlite3_result_blob64(
                    context_ptr,
                    start,
                    bytes.len() as u64,
                    ffi::SQLITE_TRANSIENT(),
                )
            }
        }
    }
}

/// # Safety
/// As `give`.
unsafe fn fail(context_ptr: *mut ffi::sqlite3_context, text: &str) {
    let len = c_int::try_from(text.len()).unwrap_or(0);
    // SAFETY: the caller's promise; SQLite copies the text.
    unsafe { ffi::sqlite3_result_error(context_ptr, text.as_ptr().cast(), len) }
}
