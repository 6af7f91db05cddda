//! User functions and aggregates: what SQLite calls, and how a safe implementation is called from it.
//!
//! What a function does is behind [`Scalar`] and [`Aggregate`]; virtual tables are in
//! `virtual_table`. The implementation is one box that SQLite owns from the registration on and
//! frees through its destructor. An implementation that fails says no more than that: its reason
//! stays with it, and SQLite stops the statement at once.

#![expect(
    unsafe_code,
    reason = "SQLite calls functions through C function pointers with untyped user data"
)]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::marker::PhantomData;
use std::ptr::{self, NonNull};
use std::slice;

use rusqlite::ffi;

use super::step::{Bound, Column, error_of};
use crate::error::{Error, Result};
use crate::guard;

/// The highest number of arguments that a function can ask for by name.
pub(crate) const MAX_ARGUMENTS: u8 = 100;

/// A callback failed; its implementation knows why.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failed;

/// How a callback ended.
pub(crate) type Outcome<T = ()> = std::result::Result<T, Failed>;

/// How SQLite may use a function.
#[derive(Clone, Copy)]
pub(crate) struct Signature<'s> {
    pub(crate) name: &'s CStr,
    /// None for any number.
    pub(crate) argument_count: Option<u8>,
    pub(crate) deterministic: bool,
    /// Not in triggers, views and the schema.
    pub(crate) direct_only: bool,
}

/// A function of one row.
pub(crate) trait Scalar: 'static {
    fn call(&self, call: &Invocation<'_>) -> Outcome;
    /// A panic went through the function: the connection must refuse to work.
    fn poison(&self);
}

/// A function of many rows.
pub(crate) trait Aggregate: 'static {
    /// What one group, or one window, has come to.
    type Instance;

    fn start(&self) -> Outcome<Self::Instance>;
    /// Takes a row in.
    fn step(&self, instance: &Self::Instance, call: &Invocation<'_>) -> Outcome;
    /// Takes a row out, as the window has moved on.
    fn inverse(&self, instance: &Self::Instance, call: &Invocation<'_>) -> Outcome;
    fn result(&self, instance: &Self::Instance, call: &Invocation<'_>) -> Outcome;
    /// A panic went through the function: the connection must refuse to work.
    fn poison(&self);
}

/// One call by SQLite: its arguments, and the place for the answer.
pub(crate) struct Invocation<'c> {
    context_ptr: *mut ffi::sqlite3_context,
    arguments: &'c [*mut ffi::sqlite3_value],
    scope: PhantomData<&'c mut ()>,
}

/// Makes `function` known to SQL, in place of one of the same name and number of arguments.
pub(crate) fn create_function<F: Scalar>(
    connection: &rusqlite::Connection,
    signature: Signature<'_>,
    function: F,
) -> Result<()> {
    let data_ptr = Box::into_raw(Box::new(function)).cast();
    // SAFETY: the pointer is used for this call alone.
    let db_ptr = unsafe { connection.handle() };
    // SAFETY: an open connection, a NUL-terminated name, and a box that `x_destroy::<F>` frees, also
    // when this call fails; `x_function::<F>` expects this very type.
    let rc = unsafe {
        ffi::sqlite3_create_function_v2(
            db_ptr,
            signature.name.as_ptr(),
            signature.count(),
            signature.flags(),
            data_ptr,
            Some(x_function::<F>),
            None,
            None,
            Some(x_destroy::<F>),
        )
    };
    checked(connection, rc)
}

/// Makes `aggregate` known to SQL; with `in_windows` also as a window function.
pub(crate) fn create_aggregate<A: Aggregate>(
    connection: &rusqlite::Connection,
    signature: Signature<'_>,
    aggregate: A,
    in_windows: bool,
) -> Result<()> {
    let (mut x_value_or_none, mut x_inverse_or_none) = (None, None);
    if in_windows {
        x_value_or_none = Some(x_value::<A> as unsafe extern "C" fn(_));
        x_inverse_or_none = Some(x_inverse::<A> as unsafe extern "C" fn(_, _, _));
    }
    let data_ptr = Box::into_raw(Box::new(aggregate)).cast();
    // SAFETY: the pointer is used for this call alone.
    let db_ptr = unsafe { connection.handle() };
    // SAFETY: as in `create_function`, with the trampolines of `A`.
    let rc = unsafe {
        ffi::sqlite3_create_window_function(
            db_ptr,
            signature.name.as_ptr(),
            signature.count(),
            signature.flags(),
            data_ptr,
            Some(x_step::<A>),
            Some(x_final::<A>),
            x_value_or_none,
            x_inverse_or_none,
            Some(x_destroy::<A>),
        )
    };
    checked(connection, rc)
}

impl Signature<'_> {
    fn count(&self) -> c_int {
        self.argument_count.map_or(-1, c_int::from)
    }

    fn flags(&self) -> c_int {
        let mut flags = ffi::SQLITE_UTF8;
        if self.deterministic {
            flags |= ffi::SQLITE_DETERMINISTIC;
        }
        if self.direct_only {
            flags |= ffi::SQLITE_DIRECTONLY;
        }
        flags
    }
}

impl Invocation<'_> {
    /// # Safety
    /// The pointers must be those of the callback that is running; 'c must not outlive it.
    pub(super) unsafe fn new(
        context_ptr: *mut ffi::sqlite3_context,
        count: c_int,
        values_ptr: *mut *mut ffi::sqlite3_value,
    ) -> Self {
        let arguments = match usize::try_from(count) {
            // SAFETY: SQLite hands over `count` values, which the caller vouches for.
            Ok(len) if len > 0 => unsafe { slice::from_raw_parts(values_ptr, len) },
            _ => &[],
        };
        Self {
            context_ptr,
            arguments,
            scope: PhantomData,
        }
    }

    /// The arguments; an error for one that memory did not suffice for.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = Result<Column<'_>>> {
        // SAFETY: the values live as long as the callback, which is as long as `self`.
        self.arguments
            .iter()
            .map(|&value_ptr| unsafe { read(value_ptr) })
    }

    /// Sets the answer; text and bytes are copied. A value that is too long becomes SQLite's error.
    pub(crate) fn answer(&self, value: Bound<'_>) {
        let context_ptr = self.context_ptr;
        match value {
            // SAFETY: the context of the running callback.
            Bound::Null => unsafe { ffi::sqlite3_result_null(context_ptr) },
            // SAFETY: as above.
            Bound::Integer(number) => unsafe { ffi::sqlite3_result_int64(context_ptr, number) },
            // SAFETY: as above.
            Bound::Real(number) => unsafe { ffi::sqlite3_result_double(context_ptr, number) },
            Bound::Text(text) => {
                let (start, len) = (text.as_ptr().cast::<c_char>(), text.len() as u64);
                let copy = ffi::SQLITE_TRANSIENT();
                // SAFETY: as above; SQLite copies the text before it returns (TRANSIENT).
                unsafe { ffi::sqlite3_result_text64(context_ptr, start, len, copy, UTF8) }
            }
            Bound::Blob(bytes) => {
                let (start, len) = (bytes.as_ptr().cast::<c_void>(), bytes.len() as u64);
                let copy = ffi::SQLITE_TRANSIENT();
                // SAFETY: as above.
                unsafe { ffi::sqlite3_result_blob64(context_ptr, start, len, copy) }
            }
        }
    }

    /// The box of `create_function` or `create_aggregate`.
    ///
    /// # Safety
    /// `T` must be the type that this function was registered with.
    unsafe fn data<T>(&self) -> &T {
        // SAFETY: the context of the running callback.
        let data_ptr = unsafe { ffi::sqlite3_user_data(self.context_ptr) };
        // SAFETY: the box lives until the destructor, which SQLite calls when nothing uses the
        // function any more; only shared references to it are made.
        unsafe { &*data_ptr.cast::<T>() }
    }

    /// Stops the statement.
    pub(super) fn fail(&self, message: &str) {
        let len = c_int::try_from(message.len()).unwrap_or(0);
        // SAFETY: the context of the running callback; the text is copied.
        unsafe { ffi::sqlite3_result_error(self.context_ptr, message.as_ptr().cast(), len) };
    }
}

/// A value of SQLite.
///
/// # Safety
/// The value must stay unchanged during 'v.
pub(super) unsafe fn read<'v>(value_ptr: *mut ffi::sqlite3_value) -> Result<Column<'v>> {
    // SAFETY: a live value, by the caller.
    Ok(match unsafe { ffi::sqlite3_value_type(value_ptr) } {
        // SAFETY: as above.
        ffi::SQLITE_INTEGER => Column::Integer(unsafe { ffi::sqlite3_value_int64(value_ptr) }),
        // SAFETY: as above.
        ffi::SQLITE_FLOAT => Column::Real(unsafe { ffi::sqlite3_value_double(value_ptr) }),
        ffi::SQLITE_TEXT => {
            // SAFETY: as above; asked before the length, as this may convert to UTF-8.
            let start = unsafe { ffi::sqlite3_value_text(value_ptr) };
            if start.is_null() {
                return Err(Error::of_code(ffi::SQLITE_NOMEM));
            }
            // SAFETY: `start` is what was asked for just before.
            Column::Text(unsafe { bytes_at(value_ptr, start) })
        }
        ffi::SQLITE_BLOB => {
            // SAFETY: as above.
            let start = unsafe { ffi::sqlite3_value_blob(value_ptr) };
            // SAFETY: `start` is what was asked for just before; null for an empty blob.
            Column::Blob(unsafe { bytes_at(value_ptr, start.cast()) })
        }
        _ => Column::Null,
    })
}

/// # Safety
/// As for `read`; `start` is null or the start of the value's text or bytes.
unsafe fn bytes_at<'v>(value_ptr: *mut ffi::sqlite3_value, start: *const u8) -> &'v [u8] {
    if start.is_null() {
        return &[];
    }
    // SAFETY: a live value, by the caller.
    let len = usize::try_from(unsafe { ffi::sqlite3_value_bytes(value_ptr) }).unwrap_or(0);
    // SAFETY: SQLite keeps `len` bytes there as long as the value is not changed.
    unsafe { slice::from_raw_parts(start, len) }
}

/// What SQLite keeps per group: a pointer to this, in memory that it zeroes and frees itself.
struct Group<I> {
    /// None when it could not be started.
    instance: Option<I>,
    /// Has answered rows of a window: its end answers nothing.
    in_window: bool,
    failed: bool,
}

impl<I> Group<I> {
    fn start(instance: Outcome<I>) -> Self {
        Self {
            failed: instance.is_err(),
            instance: instance.ok(),
            in_window: false,
        }
    }

    /// Runs one callback of the group unless an earlier one failed.
    fn run(&mut self, callback: impl FnOnce(&I) -> Outcome) -> Outcome {
        let outcome = match &self.instance {
            Some(instance) if !self.failed => callback(instance),
            _ => Err(Failed),
        };
        self.failed = outcome.is_err();
        outcome
    }
}

/// Where SQLite keeps the pointer to the group, or None when it has no memory for it.
///
/// # Safety
/// Only in step, inverse and value of an aggregate with this instance type.
unsafe fn place_of<I>(call: &Invocation<'_>) -> Option<NonNull<*mut Group<I>>> {
    let len = c_int::try_from(size_of::<*mut Group<I>>()).ok()?;
    // SAFETY: the context of the running callback of an aggregate.
    let place_ptr = unsafe { ffi::sqlite3_aggregate_context(call.context_ptr, len) };
    NonNull::new(place_ptr.cast())
}

/// Runs one callback of a group, which is started when it is the first one.
///
/// # Safety
/// As for `place_of`; `A` must be what the function was registered with.
unsafe fn with_group<A: Aggregate>(
    call: &Invocation<'_>,
    callback: impl FnOnce(&A, &mut Group<A::Instance>) -> Outcome,
) -> Outcome {
    // SAFETY: by the caller.
    let aggregate = unsafe { call.data::<A>() };
    // SAFETY: by the caller.
    let place = unsafe { place_of::<A::Instance>(call) }.ok_or(Failed)?;
    // SAFETY: SQLite zeroed the place at first; later it holds what is written below.
    let mut group_ptr = unsafe { place.read() };
    if group_ptr.is_null() {
        group_ptr = Box::into_raw(Box::new(Group::start(aggregate.start())));
        // SAFETY: the place has the size of a pointer and lives as long as the group.
        unsafe { place.write(group_ptr) };
    }
    // SAFETY: the box above, which `x_final` frees; one callback of a group runs at a time, as a
    // callback can start nothing on its own connection.
    callback(aggregate, unsafe { &mut *group_ptr })
}

const UTF8: std::ffi::c_uchar = 1;
const FAILED: &str = "the user function failed";

/// The error of a registration, if it failed.
pub(super) fn checked(connection: &rusqlite::Connection, rc: c_int) -> Result<()> {
    match error_of(connection) {
        _ if rc == ffi::SQLITE_OK => Ok(()),
        // Misuse is not kept with the connection.
        Error::Sqlite {
            code: ffi::SQLITE_OK,
            ..
        } => Err(Error::of_code(rc)),
        error => Err(error),
    }
}

/// Runs the body of a trampoline: a failure or a panic stops the statement.
fn answer(call: &Invocation<'_>, poison: impl FnOnce(), body: impl FnOnce() -> Outcome) {
    guard::call_or_else(
        |text| {
            poison();
            call.fail(&format!("internal error: {text}"));
        },
        || {
            if body().is_err() {
                call.fail(FAILED);
            }
        },
    );
}

unsafe extern "C" fn x_function<F: Scalar>(
    context_ptr: *mut ffi::sqlite3_context,
    count: c_int,
    values_ptr: *mut *mut ffi::sqlite3_value,
) {
    guard::call((), || {
        // SAFETY: the pointers of the running callback.
        let call = unsafe { Invocation::new(context_ptr, count, values_ptr) };
        // SAFETY: `create_function` pairs this trampoline with a box of `F`.
        let function = unsafe { call.data::<F>() };
        answer(&call, || function.poison(), || function.call(&call));
    });
}

unsafe extern "C" fn x_step<A: Aggregate>(
    context_ptr: *mut ffi::sqlite3_context,
    count: c_int,
    values_ptr: *mut *mut ffi::sqlite3_value,
) {
    guard::call((), || {
        // SAFETY: the pointers of the running callback.
        let call = unsafe { Invocation::new(context_ptr, count, values_ptr) };
        // SAFETY: `create_aggregate` pairs this trampoline with a box of `A`.
        let poison = || unsafe { call.data::<A>() }.poison();
        answer(&call, poison, || {
            let step = |aggregate: &A, group: &mut Group<A::Instance>| {
                group.run(|instance| aggregate.step(instance, &call))
            };
            // SAFETY: as above; this is the step callback.
            unsafe { with_group(&call, step) }
        });
    });
}

unsafe extern "C" fn x_inverse<A: Aggregate>(
    context_ptr: *mut ffi::sqlite3_context,
    count: c_int,
    values_ptr: *mut *mut ffi::sqlite3_value,
) {
    guard::call((), || {
        // SAFETY: the pointers of the running callback.
        let call = unsafe { Invocation::new(context_ptr, count, values_ptr) };
        // SAFETY: `create_aggregate` pairs this trampoline with a box of `A`.
        let poison = || unsafe { call.data::<A>() }.poison();
        answer(&call, poison, || {
            let inverse = |aggregate: &A, group: &mut Group<A::Instance>| {
                group.in_window = true;
                group.run(|instance| aggregate.inverse(instance, &call))
            };
            // SAFETY: as above; this is the inverse callback.
            unsafe { with_group(&call, inverse) }
        });
    });
}

unsafe extern "C" fn x_value<A: Aggregate>(context_ptr: *mut ffi::sqlite3_context) {
    guard::call((), || {
        // SAFETY: the pointer of the running callback, which has no arguments.
        let call = unsafe { Invocation::new(context_ptr, 0, ptr::null_mut()) };
        // SAFETY: `create_aggregate` pairs this trampoline with a box of `A`.
        let poison = || unsafe { call.data::<A>() }.poison();
        answer(&call, poison, || {
            let value = |aggregate: &A, group: &mut Group<A::Instance>| {
                group.in_window = true;
                group.run(|instance| aggregate.result(instance, &call))
            };
            // SAFETY: as above; this is the value callback.
            unsafe { with_group(&call, value) }
        });
    });
}

unsafe extern "C" fn x_final<A: Aggregate>(context_ptr: *mut ffi::sqlite3_context) {
    guard::call((), || {
        // SAFETY: the pointer of the running callback, which has no arguments.
        let call = unsafe { Invocation::new(context_ptr, 0, ptr::null_mut()) };
        // SAFETY: `create_aggregate` pairs this trampoline with a box of `A`.
        let aggregate = unsafe { call.data::<A>() };
        answer(
            &call,
            || aggregate.poison(),
            || {
                // SAFETY: the context of the running callback; size 0 makes nothing.
                let place_ptr = unsafe { ffi::sqlite3_aggregate_context(context_ptr, 0) };
                // SAFETY: null, or the place that `with_group` of this aggregate filled.
                let taken = unsafe { take_group::<A::Instance>(place_ptr.cast()) };
                let mut group = taken.unwrap_or_else(|| Group::start(aggregate.start()));
                if group.in_window && !group.failed {
                    return Ok(());
                }
                group.run(|instance| aggregate.result(instance, &call))
            },
        );
    });
}

/// The group of a place, which is empty afterwards; None without a place or a group.
///
/// # Safety
/// `place_ptr` must be null or a place that `with_group` with this instance type uses.
unsafe fn take_group<I>(place_ptr: *mut *mut Group<I>) -> Option<Group<I>> {
    let place = NonNull::new(place_ptr)?;
    // SAFETY: a place holds null or the group's pointer; null now, so that it is taken once.
    let group_ptr = NonNull::new(unsafe { place.replace(ptr::null_mut()) })?;
    // SAFETY: the box of `with_group`, which nobody uses any more.
    Some(*unsafe { Box::from_raw(group_ptr.as_ptr()) })
}

pub(super) unsafe extern "C" fn x_destroy<T>(data_ptr: *mut c_void) {
    guard::call((), || {
        // SAFETY: the box of the registration; SQLite hands it over once, when nothing uses it.
        drop(unsafe { Box::from_raw(data_ptr.cast::<T>()) });
    });
}
