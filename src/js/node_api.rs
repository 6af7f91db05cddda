//! Node-API behind safe types: values, references, classes, calls both ways.
//!
//! The only file of `js` with unsafe code. It knows neither SQLite nor what the classes do. Values
//! carry the lifetime of the handle scope they live in, so they cannot be kept beyond a callback;
//! [`Reference`] is what keeps something longer.

#![expect(
    unsafe_code,
    reason = "Node-API is a C interface; everything above this file is safe"
)]

use std::cell::{Cell, UnsafeCell};
use std::ffi::{CStr, c_void};
use std::marker::PhantomData;
use std::ptr;
use std::rc::{Rc, Weak};

use napi::sys;

use super::State;
use super::throw;
use super::wraps::{Wrapped, Wraps};
use crate::error::{Error, Result};
use crate::guard;

/// The environment of one callback (or of one inner handle scope).
#[derive(Clone, Copy)]
pub(crate) struct Env<'e> {
    ptr: sys::napi_env,
    scope: PhantomData<&'e ()>,
}

/// A JavaScript value, alive as long as its handle scope.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Value<'e> {
    ptr: sys::napi_value,
    scope: PhantomData<&'e ()>,
}

/// Says that values of the outer scope 'e may be used in the inner scope 's.
pub(crate) type Within<'s, 'e> = PhantomData<&'s &'e ()>;

/// What `typeof` says, with null kept apart.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Undefined,
    Null,
    Boolean,
    Number,
    String,
    Bigint,
    Object,
    Function,
    Other,
}

/// A property to define.
pub(crate) struct Property<'e> {
    pub(crate) name: &'e CStr,
    pub(crate) value: Value<'e>,
}

/// How a property may be used afterwards.
#[derive(Clone, Copy)]
pub(crate) enum Access {
    /// As if written by an assignment.
    Open,
    /// Enumerable; cannot be assigned, configured or deleted.
    Fixed,
    /// As Fixed, and not enumerable.
    Hidden,
}

/// One call from JavaScript.
pub(crate) struct Call<'e> {
    pub(crate) env: Env<'e>,
    pub(crate) this: Value<'e>,
    inline: [Value<'e>; INLINE_ARGUMENTS],
    spilled: Vec<Value<'e>>,
    count: usize,
}

/// A class of native objects.
pub(crate) trait Class: Sized + 'static {
    /// The name of the constructor.
    const NAME: &'static CStr;
    /// Distinguishes the classes of this addon from each other.
    const TAG: u64;
    /// The text of the TypeError when it is called without `new`.
    const NOT_CALLABLE: &'static str;
    /// What its prototype offers.
    const METHODS: &'static [Method<Self>];
    /// When the native part of a collected object goes.
    const RELEASE: Release;

    /// Makes the native part of a new object; an error becomes the exception of `new`.
    fn construct(call: &Call<'_>) -> Result<Self>;

    /// A panic went through a method of this object: it must refuse to work from now on.
    fn poison(&self);

    /// What a method failed with, before it is thrown: the object may have more to say.
    fn complete(&self, error: Error) -> Error;
}

/// When the native part of a collected object goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Release {
    /// In a turn of the event loop: Node keeps a record of the object until then.
    Finalizer,
    /// When `Wraps` looks for it: nothing is left, even in a long synchronous run.
    Sweep,
}

/// A method of a class.
pub(crate) struct Method<T: 'static> {
    pub(crate) name: &'static CStr,
    pub(crate) call: for<'e> fn(&Call<'e>, &'e T) -> Result<Value<'e>>,
}

/// A plain function of the addon.
pub(crate) struct Function {
    pub(crate) name: &'static CStr,
    pub(crate) call: for<'e> fn(&Call<'e>) -> Result<Value<'e>>,
}

/// Finds an object or a function again after the callback, and keeps it alive unless it is weak.
pub(crate) struct Reference {
    env_ptr: sys::napi_env,
    ptr: sys::napi_ref,
}

const INLINE_ARGUMENTS: usize = 8;

impl<'e> Env<'e> {
    /// The environment of the module registration that hands over `raw`.
    pub(crate) fn of_registration(registration: &'e napi::Env) -> Self {
        Self {
            ptr: registration.raw(),
            scope: PhantomData,
        }
    }

    /// The value behind a wrapper of the napi crate that lives in the same scope.
    pub(crate) fn adopt(self, value: &napi::bindgen_prelude::Object<'e>) -> Value<'e> {
        Value::new(napi::JsValue::raw(value))
    }

    fn check(self, status: sys::napi_status) -> Result<()> {
        if status == sys::Status::napi_ok {
            Ok(())
        } else {
            Err(self.failure(status))
        }
    }

    /// An error when an exception is pending, as after a callback whose failure SQLite ignored.
    pub(crate) fn check_pending(self) -> Result<()> {
        let mut pending = false;
        // SAFETY: `self.ptr` is the environment of the running callback; the out pointer is ours.
        self.check(unsafe { sys::napi_is_exception_pending(self.ptr, &raw mut pending) })?;
        if pending { Err(Error::Thrown) } else { Ok(()) }
    }

    #[cold]
    fn failure(self, status: sys::napi_status) -> Error {
        let mut pending = false;
        // SAFETY: `self.ptr` is the environment of the running callback; the out pointer is ours.
        let asked = unsafe { sys::napi_is_exception_pending(self.ptr, &raw mut pending) };
        let closing = matches!(
            status,
            sys::Status::napi_pending_exception | sys::Status::napi_closing
        ) || status == CANNOT_RUN_JS;
        if closing || (asked == sys::Status::napi_ok && pending) {
            return Error::Thrown;
        }
        Error::Internal(format!("Node-API call failed with status {status}").into())
    }

    /// Runs one Node-API call that yields a value.
    fn value(
        self,
        call: impl FnOnce(sys::napi_env, *mut sys::napi_value) -> sys::napi_status,
    ) -> Result<Value<'e>> {
        let mut out = ptr::null_mut();
        self.check(call(self.ptr, &raw mut out))?;
        Ok(Value::new(out))
    }

    pub(crate) fn undefined(self) -> Result<Value<'e>> {
        // SAFETY: valid environment and out pointer, from `value`.
        self.value(|env, out| unsafe { sys::napi_get_undefined(env, out) })
    }

    pub(crate) fn null(self) -> Result<Value<'e>> {
        // SAFETY: valid environment and out pointer, from `value`.
        self.value(|env, out| unsafe { sys::napi_get_null(env, out) })
    }

    pub(crate) fn boolean(self, value: bool) -> Result<Value<'e>> {
        // SAFETY: valid environment and out pointer, from `value`.
        self.value(|env, out| unsafe { sys::napi_get_boolean(env, value, out) })
    }

    pub(crate) fn number(self, value: f64) -> Result<Value<'e>> {
        // SAFETY: valid environment and out pointer, from `value`.
        self.value(|env, out| unsafe { sys::napi_create_double(env, value, out) })
    }

    /// The number nearest to `value`.
    pub(crate) fn integer(self, value: i64) -> Result<Value<'e>> {
        match i32::try_from(value) {
            // SAFETY: valid environment and out pointer, from `value`.
            Ok(small) => self.value(|env, out| unsafe { sys::napi_create_int32(env, small, out) }),
            // SAFETY: as above.
            Err(_) => self.value(|env, out| unsafe { sys::napi_create_int64(env, value, out) }),
        }
    }

    pub(crate) fn bigint(self, value: i64) -> Result<Value<'e>> {
        // SAFETY: valid environment and out pointer, from `value`.
        self.value(|env, out| unsafe { sys::napi_create_bigint_int64(env, value, out) })
    }

    /// A string from UTF-8; bytes that are not UTF-8 become U+FFFD.
    pub(crate) fn string(self, text: &[u8]) -> Result<Value<'e>> {
        let len = text.len().cast_signed();
        let start = text.as_ptr().cast();
        if text.is_ascii() {
            return self.latin1(text);
        }
        // SAFETY: `start` and `len` describe `text`, which outlives the call.
        self.value(|env, out| unsafe { sys::napi_create_string_utf8(env, start, len, out) })
    }

    /// A string of one character per byte.
    pub(crate) fn latin1(self, text: &[u8]) -> Result<Value<'e>> {
        let (start, len) = (text.as_ptr().cast(), text.len().cast_signed());
        // SAFETY: `start` and `len` describe `text`, which outlives the call.
        self.value(|env, out| unsafe { sys::napi_create_string_latin1(env, start, len, out) })
    }

    /// A Buffer with a copy of `bytes`.
    pub(crate) fn buffer(self, bytes: &[u8]) -> Result<Value<'e>> {
        let (start, len) = (bytes.as_ptr().cast(), bytes.len());
        // SAFETY: `start` and `len` describe `bytes`, which outlives the call; the copy's address
        // is not asked for.
        self.value(|env, out| unsafe {
            sys::napi_create_buffer_copy(env, len, start, ptr::null_mut(), out)
        })
    }

    pub(crate) fn object(self) -> Result<Value<'e>> {
        // SAFETY: valid environment and out pointer, from `value`.
        self.value(|env, out| unsafe { sys::napi_create_object(env, out) })
    }

    pub(crate) fn array(self, len: usize) -> Result<Value<'e>> {
        // SAFETY: valid environment and out pointer, from `value`.
        self.value(|env, out| unsafe { sys::napi_create_array_with_length(env, len, out) })
    }

    pub(crate) fn set_element(self, array: Value<'_>, index: u32, value: Value<'_>) -> Result<()> {
        // SAFETY: both values are alive in this environment.
        self.check(unsafe { sys::napi_set_element(self.ptr, array.ptr, index, value.ptr) })
    }

    /// Makes an own element of a place that the array does not have yet, whatever setters the
    /// prototypes have.
    pub(crate) fn define_element(
        self,
        array: Value<'_>,
        index: u32,
        value: Value<'_>,
    ) -> Result<()> {
        let descriptor = sys::napi_property_descriptor {
            name: self.string(index.to_string().as_bytes())?.ptr,
            value: value.ptr,
            attributes: Access::Open.attributes(),
            ..EMPTY_DESCRIPTOR
        };
        self.define_all(array, &[descriptor])
    }

    /// Defines own properties, whatever setters the prototypes have.
    pub(crate) fn define(
        self,
        object: Value<'_>,
        properties: &[Property<'_>],
        access: Access,
    ) -> Result<()> {
        let attributes = access.attributes();
        let descriptors: Vec<_> = properties
            .iter()
            .map(|property| sys::napi_property_descriptor {
                utf8name: property.name.as_ptr(),
                value: property.value.ptr,
                attributes,
                ..EMPTY_DESCRIPTOR
            })
            .collect();
        self.define_all(object, &descriptors)
    }

    /// A function that runs as a method of its receiver.
    pub(crate) fn method<T: Class>(self, method: &'static Method<T>) -> Result<Value<'e>> {
        let (name, len) = (
            method.name.as_ptr(),
            method.name.count_bytes().cast_signed(),
        );
        self.value(|env, out| {
            let data = method.as_data();
            // SAFETY: the name is NUL-terminated; `data` is a static `Method<T>`, which is what
            // `x_method::<T>` expects.
            unsafe { sys::napi_create_function(env, name, len, Some(x_method::<T>), data, out) }
        })
    }

    fn define_all(
        self,
        object: Value<'_>,
        descriptors: &[sys::napi_property_descriptor],
    ) -> Result<()> {
        let (len, start) = (descriptors.len(), descriptors.as_ptr());
        // SAFETY: the values are alive, names are NUL-terminated, and a `data` pointer belongs to a
        // static `Method` of the class its trampoline is made for.
        self.check(unsafe { sys::napi_define_properties(self.ptr, object.ptr, len, start) })
    }

    pub(crate) fn kind(self, value: Value<'_>) -> Result<Kind> {
        let mut kind = 0;
        // SAFETY: the value is alive in this environment; the out pointer is ours.
        self.check(unsafe { sys::napi_typeof(self.ptr, value.ptr, &raw mut kind) })?;
        Ok(match kind {
            sys::ValueType::napi_undefined => Kind::Undefined,
            sys::ValueType::napi_null => Kind::Null,
            sys::ValueType::napi_boolean => Kind::Boolean,
            sys::ValueType::napi_number => Kind::Number,
            sys::ValueType::napi_string => Kind::String,
            sys::ValueType::napi_bigint => Kind::Bigint,
            sys::ValueType::napi_object => Kind::Object,
            sys::ValueType::napi_function => Kind::Function,
            _ => Kind::Other,
        })
    }

    pub(crate) fn as_number(self, value: Value<'_>) -> Result<f64> {
        let mut number = 0.0;
        // SAFETY: the value is alive in this environment; the out pointer is ours.
        self.check(unsafe { sys::napi_get_value_double(self.ptr, value.ptr, &raw mut number) })?;
        Ok(number)
    }

    pub(crate) fn as_boolean(self, value: Value<'_>) -> Result<bool> {
        let mut flag = false;
        // SAFETY: the value is alive in this environment; the out pointer is ours.
        self.check(unsafe { sys::napi_get_value_bool(self.ptr, value.ptr, &raw mut flag) })?;
        Ok(flag)
    }

    /// The bigint as 64 bits, or None when it does not fit.
    pub(crate) fn as_bigint(self, value: Value<'_>) -> Result<Option<i64>> {
        let (mut number, mut lossless) = (0, false);
        // SAFETY: the value is alive in this environment; the out pointers are ours.
        let status = unsafe {
            sys::napi_get_value_bigint_int64(
                self.ptr,
                value.ptr,
                &raw mut number,
                &raw mut lossless,
            )
        };
        self.check(status)?;
        Ok(lossless.then_some(number))
    }

    /// Puts the string as UTF-8 into `text` (lone surrogates become U+FFFD).
    pub(crate) fn read_string(self, value: Value<'_>, text: &mut Vec<u8>) -> Result<()> {
        const FIRST_TRY: usize = 256;
        text.clear();
        text.reserve(FIRST_TRY);
        let written = self.write_utf8(value, text)?;
        // A character is written whole or not at all, and one byte is kept for the NUL: with
        // fewer than four bytes left the string may have been cut.
        if written + 4 < text.capacity() {
            return Ok(());
        }
        let mut len = 0;
        // SAFETY: a null buffer asks for the length alone; the out pointer is ours.
        let status = unsafe {
            sys::napi_get_value_string_utf8(self.ptr, value.ptr, ptr::null_mut(), 0, &raw mut len)
        };
        self.check(status)?;
        text.clear();
        text.reserve(len + 1);
        self.write_utf8(value, text).map(drop)
    }

    fn write_utf8(self, value: Value<'_>, text: &mut Vec<u8>) -> Result<usize> {
        let (start, capacity, mut written) = (text.as_mut_ptr().cast(), text.capacity(), 0);
        // SAFETY: `start` has room for `capacity` bytes; Node writes at most that many, NUL included.
        let status = unsafe {
            sys::napi_get_value_string_utf8(self.ptr, value.ptr, start, capacity, &raw mut written)
        };
        self.check(status)?;
        // SAFETY: Node has initialised `written` bytes, which are within the capacity.
        unsafe { text.set_len(written) };
        Ok(written)
    }

    pub(crate) fn is_array(self, value: Value<'_>) -> Result<bool> {
        let mut is_array = false;
        // SAFETY: the value is alive in this environment; the out pointer is ours.
        self.check(unsafe { sys::napi_is_array(self.ptr, value.ptr, &raw mut is_array) })?;
        Ok(is_array)
    }

    pub(crate) fn array_len(self, array: Value<'_>) -> Result<u32> {
        let mut len = 0;
        // SAFETY: the value is alive in this environment; the out pointer is ours.
        self.check(unsafe { sys::napi_get_array_length(self.ptr, array.ptr, &raw mut len) })?;
        Ok(len)
    }

    /// An element; may run a getter.
    pub(crate) fn element(self, array: Value<'_>, index: u32) -> Result<Value<'e>> {
        // SAFETY: the value is alive in this environment.
        self.value(|env, out| unsafe { sys::napi_get_element(env, array.ptr, index, out) })
    }

    /// A property; may run a getter or a proxy.
    pub(crate) fn property(self, object: Value<'_>, key: Value<'_>) -> Result<Value<'e>> {
        // SAFETY: both values are alive in this environment.
        self.value(|env, out| unsafe { sys::napi_get_property(env, object.ptr, key.ptr, out) })
    }

    /// A property of an object made by our own JavaScript.
    pub(crate) fn named(self, object: Value<'_>, name: &CStr) -> Result<Value<'e>> {
        // SAFETY: the object is alive in this environment, the name is NUL-terminated.
        self.value(|env, out| unsafe {
            sys::napi_get_named_property(env, object.ptr, name.as_ptr(), out)
        })
    }

    pub(crate) fn set_named(self, object: Value<'_>, name: &CStr, value: Value<'_>) -> Result<()> {
        // SAFETY: both values are alive in this environment, the name is NUL-terminated.
        self.check(unsafe {
            sys::napi_set_named_property(self.ptr, object.ptr, name.as_ptr(), value.ptr)
        })
    }

    /// Gives an object a property that does not show when its properties are listed.
    pub(crate) fn set_hidden(self, object: Value<'_>, name: &CStr, value: Value<'_>) -> Result<()> {
        let descriptor = sys::napi_property_descriptor {
            utf8name: name.as_ptr(),
            value: value.ptr,
            attributes: sys::PropertyAttributes::writable | sys::PropertyAttributes::configurable,
            ..EMPTY_DESCRIPTOR
        };
        self.define_all(object, &[descriptor])
    }

    /// Whether the object itself has the property; may run a proxy.
    pub(crate) fn has_own(self, object: Value<'_>, key: Value<'_>) -> Result<bool> {
        let mut found = false;
        // SAFETY: both values are alive in this environment; the out pointer is ours.
        self.check(unsafe {
            sys::napi_has_own_property(self.ptr, object.ptr, key.ptr, &raw mut found)
        })?;
        Ok(found)
    }

    /// The prototype, without asking a proxy (its prototype is null here).
    pub(crate) fn prototype(self, object: Value<'_>) -> Result<Value<'e>> {
        // SAFETY: the value is alive in this environment.
        self.value(|env, out| unsafe { sys::napi_get_prototype(env, object.ptr, out) })
    }

    /// The bytes a Buffer, typed array or DataView shows, or None for any other value.
    ///
    /// The caller's closure must not run JavaScript: it could free or move the bytes.
    pub(crate) fn with_bytes<R>(
        self,
        value: Value<'_>,
        read: impl FnOnce(&[u8]) -> R,
    ) -> Result<Option<R>> {
        let Some((start, len)) = self.byte_view(value)? else {
            return Ok(None);
        };
        if len == 0 || start.is_null() {
            return Ok(Some(read(&[])));
        }
        // SAFETY: V8 keeps the backing store at this address and size while the value is alive and
        // no JavaScript of this thread runs. Another thread that writes to shared memory meanwhile
        // races with the copy just as it does with any native reader of that memory.
        Ok(Some(read(unsafe {
            std::slice::from_raw_parts(start.cast(), len)
        })))
    }

    /// Copies each part to its place in an ArrayBuffer that is large enough for all.
    pub(crate) fn write_bytes(self, buffer: Value<'_>, parts: &[(usize, &[u8])]) -> Result<()> {
        let (mut start, mut len) = (ptr::null_mut(), 0);
        // SAFETY: the value is alive in this environment; the out pointers are ours.
        self.check(unsafe {
            sys::napi_get_arraybuffer_info(self.ptr, buffer.ptr, &raw mut start, &raw mut len)
        })?;
        for &(at, bytes) in parts {
            if start.is_null() || at.checked_add(bytes.len()).is_none_or(|end| end > len) {
                return Err(Error::Internal("the memory for rows is too small".into()));
            }
            // SAFETY: `at` is within the buffer, as just checked.
            let target = unsafe { start.cast::<u8>().add(at) };
            // SAFETY: the buffer has room for the bytes there and is alive, as no JavaScript runs
            // meanwhile; the source is memory of ours.
            unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), target, bytes.len()) };
        }
        Ok(())
    }

    fn byte_view(self, value: Value<'_>) -> Result<Option<(*mut c_void, usize)>> {
        let (mut typed, mut view) = (false, false);
        // SAFETY: the value is alive in this environment; the out pointer is ours.
        self.check(unsafe { sys::napi_is_typedarray(self.ptr, value.ptr, &raw mut typed) })?;
        let (mut start, mut len) = (ptr::null_mut(), 0);
        if typed {
            let (mut element, null) = (0, ptr::null_mut());
            // SAFETY: a typed array; the out pointers are ours or null where nothing is asked for.
            let status = unsafe {
                sys::napi_get_typedarray_info(
                    self.ptr,
                    value.ptr,
                    &raw mut element,
                    &raw mut len,
                    &raw mut start,
                    null,
                    ptr::null_mut(),
                )
            };
            self.check(status)?;
            return Ok(Some((start, len * element_len(element))));
        }
        // SAFETY: the value is alive in this environment; the out pointer is ours.
        self.check(unsafe { sys::napi_is_dataview(self.ptr, value.ptr, &raw mut view) })?;
        if !view {
            return Ok(None);
        }
        // SAFETY: a DataView; the out pointers are ours or null where nothing is asked for.
        let status = unsafe {
            sys::napi_get_dataview_info(
                self.ptr,
                value.ptr,
                &raw mut len,
                &raw mut start,
                ptr::null_mut(),
                ptr::null_mut(),
            )
        };
        self.check(status)?;
        Ok(Some((start, len)))
    }

    /// Calls a function with `this` undefined.
    pub(crate) fn call(self, function: Value<'_>, arguments: &[Value<'_>]) -> Result<Value<'e>> {
        let this = self.undefined()?;
        let (count, start) = (arguments.len(), arguments.as_ptr().cast());
        // SAFETY: all values are alive; `Value` is a transparent `napi_value`, so the slice is an
        // array of them.
        self.value(|env, out| unsafe {
            sys::napi_call_function(env, this.ptr, function.ptr, count, start, out)
        })
    }

    pub(crate) fn construct(self, class: Value<'_>, arguments: &[Value<'_>]) -> Result<Value<'e>> {
        let (count, start) = (arguments.len(), arguments.as_ptr().cast());
        // SAFETY: as in `call`.
        self.value(|env, out| unsafe { sys::napi_new_instance(env, class.ptr, count, start, out) })
    }

    /// Runs `body` in a handle scope of its own, so that what it makes does not pile up.
    pub(crate) fn scoped<R>(
        self,
        body: impl for<'s> FnOnce(Env<'s>, Within<'s, 'e>) -> Result<R>,
    ) -> Result<R> {
        let mut scope = ptr::null_mut();
        // SAFETY: valid environment; the out pointer is ours.
        self.check(unsafe { sys::napi_open_handle_scope(self.ptr, &raw mut scope) })?;
        let close = CloseScope {
            env_ptr: self.ptr,
            scope,
        };
        // The lifetime is new for every call of `body`, so no value of the scope can leave it.
        let result = body(
            Env {
                ptr: self.ptr,
                scope: PhantomData,
            },
            PhantomData,
        );
        drop(close);
        result
    }

    /// Keeps the object alive until the result is dropped.
    pub(crate) fn reference(self, object: Value<'_>) -> Result<Reference> {
        self.reference_counted(object, 1)
    }

    /// Finds the object as long as something else keeps it alive.
    pub(crate) fn weak_reference(self, object: Value<'_>) -> Result<Reference> {
        self.reference_counted(object, 0)
    }

    fn reference_counted(self, object: Value<'_>, count: u32) -> Result<Reference> {
        let mut out = ptr::null_mut();
        // SAFETY: the object is alive in this environment; the out pointer is ours.
        let status =
            unsafe { sys::napi_create_reference(self.ptr, object.ptr, count, &raw mut out) };
        self.check(status)?;
        Ok(Reference {
            env_ptr: self.ptr,
            ptr: out,
        })
    }

    /// Makes an Error, TypeError or RangeError.
    pub(crate) fn builtin_error(self, class: ErrorClass, message: &str) -> Result<Value<'e>> {
        let text = self.string(message.as_bytes())?;
        let make = match class {
            ErrorClass::Error => sys::napi_create_error,
            ErrorClass::TypeError => sys::napi_create_type_error,
            ErrorClass::RangeError => sys::napi_create_range_error,
        };
        // SAFETY: no code is given, the message is a live string.
        self.value(|env, out| unsafe { make(env, ptr::null_mut(), text.ptr, out) })
    }

    /// Makes `exception` the pending exception.
    pub(crate) fn throw(self, exception: Value<'_>) -> Result<()> {
        // SAFETY: the value is alive in this environment.
        self.check(unsafe { sys::napi_throw(self.ptr, exception.ptr) })
    }

    /// Defines a class and returns its constructor.
    pub(crate) fn class<T: Class>(self) -> Result<Value<'e>> {
        let methods: Vec<_> = T::METHODS
            .iter()
            .map(|method| sys::napi_property_descriptor {
                utf8name: method.name.as_ptr(),
                method: Some(x_method::<T>),
                attributes: Access::Open.attributes(),
                data: method.as_data(),
                ..EMPTY_DESCRIPTOR
            })
            .collect();
        let (name, len) = (T::NAME.as_ptr(), T::NAME.count_bytes().cast_signed());
        let (count, start) = (methods.len(), methods.as_ptr());
        self.value(|env, out| {
            // SAFETY: the name is NUL-terminated, the descriptors live during the call, their `data`
            // is a static `Method<T>`, which is what `x_method::<T>` expects.
            unsafe {
                sys::napi_define_class(
                    env,
                    name,
                    len,
                    Some(x_construct::<T>),
                    ptr::null_mut(),
                    count,
                    start,
                    out,
                )
            }
        })
    }

    /// Adds `[Symbol.iterator]() { return this; }` to the prototype of a class.
    pub(crate) fn make_iterable(self, class: Value<'_>) -> Result<()> {
        let global = self.value(|env, out| {
            // SAFETY: valid environment and out pointer, from `value`.
            unsafe { sys::napi_get_global(env, out) }
        })?;
        let symbol = self.named(self.named(global, c"Symbol")?, c"iterator")?;
        let descriptor = sys::napi_property_descriptor {
            name: symbol.ptr,
            method: Some(x_function),
            attributes: Access::Open.attributes(),
            data: RETURN_THIS.as_data(),
            ..EMPTY_DESCRIPTOR
        };
        self.define_all(self.named(class, c"prototype")?, &[descriptor])
    }

    /// Adds functions to `exports`.
    pub(crate) fn export(self, exports: Value<'_>, functions: &'static [Function]) -> Result<()> {
        let descriptors: Vec<_> = functions
            .iter()
            .map(|function| sys::napi_property_descriptor {
                utf8name: function.name.as_ptr(),
                method: Some(x_function),
                attributes: Access::Open.attributes(),
                data: function.as_data(),
                ..EMPTY_DESCRIPTOR
            })
            .collect();
        self.define_all(exports, &descriptors)
    }

    /// The native part of `object`, or the TypeError of a foreign receiver.
    pub(crate) fn unwrap<T: Class>(self, object: Value<'e>) -> Result<&'e T> {
        let mut native = ptr::null_mut();
        // SAFETY: the value is alive in this environment; the out pointer is ours.
        let status = unsafe { sys::napi_unwrap(self.ptr, object.ptr, &raw mut native) };
        // What another addon wraps is not in the list: its memory is not ours.
        if status != sys::Status::napi_ok || !self.state()?.wraps.has(native.addr(), T::TAG) {
            return Err(Error::of_type("Illegal invocation"));
        }
        // SAFETY: the list has a `Native<T>` at this address, which `wrap::<T>` gave to one object. It
        // stays in the list until that object is collected, which cannot be while its handle lives ('e).
        let native = unsafe { &*native.cast::<Native<T>>() };
        // SAFETY: the part is taken out only when the object is collected, so not during 'e; until
        // then only shared references to it are made.
        let part = unsafe { &*native.part.get() };
        part.as_ref()
            .ok_or_else(|| Error::of_type("Illegal invocation"))
    }

    fn wrap<T: Class>(self, object: Value<'_>, part: T) -> Result<()> {
        let wraps = &self.state()?.wraps;
        let native = Rc::new(Native {
            part: UnsafeCell::new(Some(part)),
            reference: Cell::new(ptr::null_mut()),
            release: T::RELEASE,
            wraps: Rc::downgrade(wraps),
        });
        match T::RELEASE {
            Release::Finalizer => self.wrap_finalized(object, &native)?,
            Release::Sweep => self.wrap_swept(object, &native)?,
        }
        wraps.add(self, native)
    }

    fn wrap_finalized<T: Class>(self, object: Value<'_>, native: &Rc<Native<T>>) -> Result<()> {
        let native_ptr = Rc::into_raw(Rc::clone(native));
        // SAFETY: the object is fresh from its constructor; `x_finalize::<T>` takes this very count
        // and deletes the reference.
        let status = unsafe {
            sys::napi_wrap(
                self.ptr,
                object.ptr,
                native_ptr.cast_mut().cast(),
                Some(x_finalize::<T>),
                ptr::null_mut(),
                native.reference.as_ptr(),
            )
        };
        if status != sys::Status::napi_ok {
            // SAFETY: Node did not take the pointer, so the count is still ours.
            drop(unsafe { Rc::from_raw(native_ptr) });
        }
        self.check(status)
    }

    fn wrap_swept<T: Class>(self, object: Value<'_>, native: &Rc<Native<T>>) -> Result<()> {
        let native_ptr = Rc::as_ptr(native).cast_mut().cast();
        // SAFETY: the object is fresh from its constructor. `unwrap` follows no pointer but of what
        // `Wraps` owns, and that keeps the part until the object is collected.
        self.check(unsafe {
            sys::napi_wrap(
                self.ptr,
                object.ptr,
                native_ptr,
                None,
                ptr::null_mut(),
                ptr::null_mut(),
            )
        })?;
        // SAFETY: as above; a weak reference, which `release` deletes.
        self.check(unsafe {
            sys::napi_create_reference(self.ptr, object.ptr, 0, native.reference.as_ptr())
        })
    }

    /// Gives the environment its state; once, at registration.
    pub(crate) fn set_state(self, state: State) -> Result<()> {
        let state_ptr = Box::into_raw(Box::new(state)).cast();
        // SAFETY: `x_drop_state` frees this very box when the environment ends.
        let status = unsafe {
            sys::napi_set_instance_data(self.ptr, state_ptr, Some(x_drop_state), ptr::null_mut())
        };
        self.check(status)
    }

    /// The state of the environment.
    pub(crate) fn state(self) -> Result<&'e State> {
        let mut state_ptr = ptr::null_mut();
        // SAFETY: valid environment; the out pointer is ours.
        self.check(unsafe { sys::napi_get_instance_data(self.ptr, &raw mut state_ptr) })?;
        let state_ptr = state_ptr.cast::<State>();
        // SAFETY: null, or the box of `set_state`, which lives until the environment ends, so longer
        // than any callback (lifetime 'e); only shared references to it are made.
        unsafe { state_ptr.as_ref() }.ok_or(Error::Internal("the addon is not registered".into()))
    }

    /// Runs `hook` once when the environment ends, while Node-API still works.
    pub(crate) fn at_exit(self, hook: Rc<dyn Fn()>) -> Result<()> {
        let hook_ptr = Box::into_raw(Box::new(hook)).cast();
        // SAFETY: `x_at_exit` gets this very box, once.
        self.check(unsafe { sys::napi_add_env_cleanup_hook(self.ptr, Some(x_at_exit), hook_ptr) })
    }
}

/// The class of an error that JavaScript itself has.
#[derive(Clone, Copy)]
pub(crate) enum ErrorClass {
    Error,
    TypeError,
    RangeError,
}

impl Value<'_> {
    fn new(ptr: sys::napi_value) -> Self {
        Self {
            ptr,
            scope: PhantomData,
        }
    }
}

impl Access {
    fn attributes(self) -> sys::napi_property_attributes {
        use sys::PropertyAttributes as Attribute;
        match self {
            Access::Open => Attribute::writable | Attribute::enumerable | Attribute::configurable,
            Access::Fixed => Attribute::enumerable,
            Access::Hidden => Attribute::default,
        }
    }
}

impl<T> Method<T> {
    fn as_data(&'static self) -> *mut c_void {
        ptr::from_ref(self).cast_mut().cast()
    }
}

impl Function {
    fn as_data(&'static self) -> *mut c_void {
        ptr::from_ref(self).cast_mut().cast()
    }
}

impl<'e> Call<'e> {
    /// The arguments that were given.
    pub(crate) fn arguments(&self) -> &[Value<'e>] {
        if self.count <= INLINE_ARGUMENTS {
            &self.inline[..self.count]
        } else {
            &self.spilled
        }
    }

    /// An argument, or undefined when it was not given.
    pub(crate) fn argument(&self, index: usize) -> Result<Value<'e>> {
        self.arguments()
            .get(index)
            .copied()
            .map_or_else(|| self.env.undefined(), Ok)
    }

    /// Reads what Node knows of a call, and the data pointer of the function.
    ///
    /// # Safety
    /// Both pointers must come from the callback that is running.
    unsafe fn read(
        env_ptr: sys::napi_env,
        info_ptr: sys::napi_callback_info,
    ) -> Result<(Self, *mut c_void)> {
        let env = Env {
            ptr: env_ptr,
            scope: PhantomData,
        };
        let mut inline = [Value::new(ptr::null_mut()); INLINE_ARGUMENTS];
        let (mut count, mut this, mut data) = (INLINE_ARGUMENTS, ptr::null_mut(), ptr::null_mut());
        let start = inline.as_mut_ptr().cast();
        // SAFETY: `start` has room for `count` values; the caller vouches for the other pointers.
        let status = unsafe {
            sys::napi_get_cb_info(
                env_ptr,
                info_ptr,
                &raw mut count,
                start,
                &raw mut this,
                &raw mut data,
            )
        };
        env.check(status)?;
        let mut spilled = Vec::new();
        if count > INLINE_ARGUMENTS {
            spilled.resize(count, Value::new(ptr::null_mut()));
            let start = spilled.as_mut_ptr().cast();
            // SAFETY: as above, with room for all arguments.
            let status = unsafe {
                sys::napi_get_cb_info(
                    env_ptr,
                    info_ptr,
                    &raw mut count,
                    start,
                    ptr::null_mut(),
                    ptr::null_mut(),
                )
            };
            env.check(status)?;
        }
        Ok((
            Self {
                env,
                this: Value::new(this),
                inline,
                spilled,
                count,
            },
            data,
        ))
    }
}

impl Reference {
    /// The object it refers to; an error when that is gone, as can be with a weak one.
    pub(crate) fn get<'e>(&self, env: Env<'e>) -> Result<Value<'e>> {
        // SAFETY: the reference belongs to this environment. An empty one gives a null pointer.
        let value =
            env.value(|env, out| unsafe { sys::napi_get_reference_value(env, self.ptr, out) })?;
        if value.ptr.is_null() {
            return Err(Error::Internal("the object was collected".into()));
        }
        Ok(value)
    }

    /// Runs `body` in a handle scope of the environment: for code that no JavaScript function
    /// called, but SQLite within one, or the garbage collector.
    pub(crate) fn enter<R>(&self, body: impl for<'s> FnOnce(Env<'s>) -> Result<R>) -> Result<R> {
        // The environment outlives its references (see `drop`), so it is alive here.
        let env = Env {
            ptr: self.env_ptr,
            scope: PhantomData,
        };
        env.scoped(|env, _within| body(env))
    }
}

impl Drop for Reference {
    fn drop(&mut self) {
        // SAFETY: references are held by objects and by the state of this environment, and Node
        // runs their finalizers before it forgets the environment. A failure leaves a leak.
        let _status = unsafe { sys::napi_delete_reference(self.env_ptr, self.ptr) };
    }
}

/// What an object wraps.
struct Native<T> {
    part: UnsafeCell<Option<T>>,
    /// A weak reference to the object, until it is released.
    reference: Cell<sys::napi_ref>,
    release: Release,
    wraps: Weak<Wraps>,
}

impl<T> Native<T> {
    /// Drops the part and the reference.
    ///
    /// # Safety
    /// The object must be collected, so that nobody has a reference to the part; for an object with
    /// a finalizer, that must be running.
    unsafe fn clear(&self, env_ptr: sys::napi_env) {
        let reference = self.reference.replace(ptr::null_mut());
        if !reference.is_null() {
            // SAFETY: a reference of this environment that nobody else deletes. A failure is a leak.
            let _status = unsafe { sys::napi_delete_reference(env_ptr, reference) };
        }
        // SAFETY: the caller vouches that no other reference to the part exists.
        drop(unsafe { &mut *self.part.get() }.take());
    }
}

impl<T: Class> Wrapped for Native<T> {
    fn tag(&self) -> u64 {
        T::TAG
    }

    fn is_collected(&self, env: Env<'_>) -> Result<bool> {
        let (reference, mut object) = (self.reference.get(), ptr::null_mut());
        if reference.is_null() {
            return Ok(true);
        }
        // SAFETY: a reference of this environment; whoever deletes it clears the field.
        let status = unsafe { sys::napi_get_reference_value(env.ptr, reference, &raw mut object) };
        env.check(status)?;
        Ok(object.is_null())
    }

    fn release(&self, env: Env<'_>) -> Result<()> {
        if !self.is_collected(env)? {
            return Ok(());
        }
        if self.release == Release::Finalizer {
            // The reference is left to the finalizer.
            // SAFETY: just asked; an object that is collected has no handle, so no `unwrap` of it
            // is in use.
            drop(unsafe { &mut *self.part.get() }.take());
            return Ok(());
        }
        // SAFETY: as above, and the object has no finalizer.
        unsafe { self.clear(env.ptr) };
        Ok(())
    }
}

struct CloseScope {
    env_ptr: sys::napi_env,
    scope: sys::napi_handle_scope,
}

impl Drop for CloseScope {
    fn drop(&mut self) {
        // SAFETY: the scope was opened by `scoped` and is the innermost one. It cannot fail but by
        // being closed twice.
        let _status = unsafe { sys::napi_close_handle_scope(self.env_ptr, self.scope) };
    }
}

const RETURN_THIS: &Function = &Function {
    name: c"[Symbol.iterator]",
    call: |call| Ok(call.this),
};

const CANNOT_RUN_JS: sys::napi_status = 23;

const EMPTY_DESCRIPTOR: sys::napi_property_descriptor = sys::napi_property_descriptor {
    utf8name: ptr::null(),
    name: ptr::null_mut(),
    method: None,
    getter: None,
    setter: None,
    value: ptr::null_mut(),
    attributes: 0,
    data: ptr::null_mut(),
};

fn element_len(kind: sys::napi_typedarray_type) -> usize {
    use sys::TypedarrayType as Kind;
    match kind {
        Kind::int16_array | Kind::uint16_array | FLOAT16_ARRAY => 2,
        Kind::int32_array | Kind::uint32_array | Kind::float32_array => 4,
        Kind::float64_array | Kind::bigint64_array | Kind::biguint64_array => 8,
        _ => 1,
    }
}

/// Newer than the base version of Node-API.
const FLOAT16_ARRAY: sys::napi_typedarray_type = 11;

/// Turns the result of a callback into what Node expects: a value, or null and an exception.
fn answer(env_ptr: sys::napi_env, result: Result<Value<'_>>) -> sys::napi_value {
    let env = Env {
        ptr: env_ptr,
        scope: PhantomData,
    };
    result.map_or_else(
        |error| {
            throw::throw(env, error);
            ptr::null_mut()
        },
        |value| value.ptr,
    )
}

fn answer_panic(env_ptr: sys::napi_env, text: &str) -> sys::napi_value {
    answer(
        env_ptr,
        Err(Error::Internal(format!("internal error: {text}").into())),
    )
}

unsafe extern "C" fn x_method<T: Class>(
    env_ptr: sys::napi_env,
    info_ptr: sys::napi_callback_info,
) -> sys::napi_value {
    let receiver: Cell<Option<*const T>> = Cell::new(None);
    guard::call_or_else(
        |text| {
            if let Some(native_ptr) = receiver.get() {
                // SAFETY: the receiver is alive until this callback returns.
                unsafe { &*native_ptr }.poison();
            }
            answer_panic(env_ptr, text)
        },
        || {
            // SAFETY: Node calls this function with the pointers of a running callback.
            let result = unsafe { Call::read(env_ptr, info_ptr) }.and_then(|(call, data)| {
                // SAFETY: `class` and `define_getter` pair this trampoline with a static `Method<T>`.
                let method = unsafe { &*data.cast::<Method<T>>() };
                let native: &T = call.env.unwrap(call.this)?;
                receiver.set(Some(ptr::from_ref(native)));
                (method.call)(&call, native)
                    .map(|value| value.ptr)
                    .map_err(|error| native.complete(error))
            });
            answer(env_ptr, result.map(Value::new))
        },
    )
}

unsafe extern "C" fn x_function(
    env_ptr: sys::napi_env,
    info_ptr: sys::napi_callback_info,
) -> sys::napi_value {
    guard::call_or_else(
        |text| answer_panic(env_ptr, text),
        || {
            // SAFETY: Node calls this function with the pointers of a running callback.
            let result = unsafe { Call::read(env_ptr, info_ptr) }.and_then(|(call, data)| {
                // SAFETY: this trampoline is always paired with a static `Function`.
                let function = unsafe { &*data.cast::<Function>() };
                (function.call)(&call).map(|value| value.ptr)
            });
            answer(env_ptr, result.map(Value::new))
        },
    )
}

unsafe extern "C" fn x_construct<T: Class>(
    env_ptr: sys::napi_env,
    info_ptr: sys::napi_callback_info,
) -> sys::napi_value {
    guard::call_or_else(
        |text| answer_panic(env_ptr, text),
        || {
            let mut target = ptr::null_mut();
            // SAFETY: Node calls this function with the pointers of a running callback.
            let status = unsafe { sys::napi_get_new_target(env_ptr, info_ptr, &raw mut target) };
            // SAFETY: as above.
            let result = unsafe { Call::read(env_ptr, info_ptr) }.and_then(|(call, _)| {
                call.env.check(status)?;
                if target.is_null() {
                    return Err(Error::of_type(T::NOT_CALLABLE));
                }
                let native = T::construct(&call)?;
                call.env.wrap(call.this, native)?;
                Ok(call.this.ptr)
            });
            answer(env_ptr, result.map(Value::new))
        },
    )
}

unsafe extern "C" fn x_finalize<T>(
    env_ptr: sys::napi_env,
    native_ptr: *mut c_void,
    _hint_ptr: *mut c_void,
) {
    guard::call((), || {
        // SAFETY: the pointer of `wrap_finalized`; Node hands it over once, with its count.
        let native = unsafe { Rc::from_raw(native_ptr.cast::<Native<T>>().cast_const()) };
        // SAFETY: the object is collected, or its environment ends and runs no method any more.
        unsafe { native.clear(env_ptr) };
        // What went with it may have been collected too: the statements of a database.
        if let Some(wraps) = native.wraps.upgrade() {
            let scope = PhantomData;
            // What cannot be looked at now is looked at another time.
            let _outcome = wraps.release_collected(Env {
                ptr: env_ptr,
                scope,
            });
        }
    });
}

unsafe extern "C" fn x_drop_state(
    _env_ptr: sys::napi_env,
    state_ptr: *mut c_void,
    _hint_ptr: *mut c_void,
) {
    guard::call((), || {
        // SAFETY: the pointer of `set_state`; Node hands it over once.
        drop(unsafe { Box::from_raw(state_ptr.cast::<State>()) });
    });
}

unsafe extern "C" fn x_at_exit(hook_ptr: *mut c_void) {
    guard::call((), || {
        // SAFETY: the pointer of `at_exit`; Node hands it over once.
        let hook = unsafe { Box::from_raw(hook_ptr.cast::<Rc<dyn Fn()>>()) };
        hook();
    });
}
