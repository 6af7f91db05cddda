//! The file without a name that SQLite sees: a file of the system's own VFS, which holds cipher text.
//!
//! What the cipher does is in `veil`. Sizes, locks and everything else are those of the file below;
//! only shared memory and memory maps are not offered, so SQLite reads and writes through here.
#![expect(unsafe_code, reason = "stands between SQLite and its VFS")]

use std::ffi::{c_int, c_void};
use std::mem;
use std::ptr;
use std::slice;

use libsqlite3_sys as ffi;

use super::directory::Vfs;
use super::veil::{Store, Veil};
use crate::guard;

/// What stands in the memory that SQLite sets aside for a file of its VFS.
#[repr(C)]
struct NamelessFile {
    base: ffi::sqlite3_file,
    open_ptr: *mut Open,
}

struct Open {
    veil: Veil,
    below: Below,
}

/// A file of the system's VFS, closed when dropped.
struct Below {
    /// Aligned for whatever a VFS keeps in it.
    memory: Box<[u128]>,
    /// The VFS may go on using the name it was given.
    _name: Option<Vec<u8>>,
}

/// Opens a file without a name; answers SQLite's result code.
///
/// # Safety
/// SQLite's own arguments of `xOpen`: a VFS, its `szOsFile` bytes at `file_ptr`, NULL or a variable at
/// `out_flags_ptr`.
pub(crate) unsafe fn open(
    vfs_ptr: *mut ffi::sqlite3_vfs,
    file_ptr: *mut ffi::sqlite3_file,
    flags: c_int,
    out_flags_ptr: *mut c_int,
) -> c_int {
    // SAFETY: the caller's promise; to be "not open" until it is.
    unsafe { (*file_ptr).pMethods = ptr::null() };
    // SAFETY: the caller's promise.
    let opened = unsafe { Below::open(vfs_ptr, flags, out_flags_ptr) }.and_then(|below| {
        Ok(Open {
            veil: Veil::new()?,
            below,
        })
    });
    match opened {
        Ok(open) => {
            let file = NamelessFile {
                base: ffi::sqlite3_file {
                    pMethods: &raw const METHODS,
                },
                open_ptr: Box::into_raw(Box::new(open)),
            };
            // SAFETY: `Below::open` has seen that there is room for it.
            unsafe { file_ptr.cast::<NamelessFile>().write(file) };
            ffi::SQLITE_OK
        }
        Err(code) => code,
    }
}

static METHODS: ffi::sqlite3_io_methods = ffi::sqlite3_io_methods {
    iVersion: 1,
    xClose: Some(x_close),
    xRead: Some(x_read),
    xWrite: Some(x_write),
    xTruncate: Some(x_truncate),
    xSync: Some(x_sync),
    xFileSize: Some(x_file_size),
    xLock: Some(x_lock),
    xUnlock: Some(x_unlock),
    xCheckReservedLock: Some(x_check_reserved_lock),
    xFileControl: Some(x_file_control),
    xSectorSize: Some(x_sector_size),
    xDeviceCharacteristics: Some(x_device_characteristics),
    xShmMap: None,
    xShmLock: None,
    xShmBarrier: None,
    xShmUnmap: None,
    xFetch: None,
    xUnfetch: None,
};

impl Below {
    /// # Safety
    /// As [`open`].
    unsafe fn open(
        vfs_ptr: *mut ffi::sqlite3_vfs,
        flags: c_int,
        out_flags_ptr: *mut c_int,
    ) -> Result<Below, c_int> {
        // SAFETY: the caller's promise.
        let vfs = unsafe { Vfs::new(vfs_ptr) }.ok_or(ffi::SQLITE_INTERNAL)?;
        let (vfs, name) = vfs.place();
        let vfs_ptr = vfs.as_ptr();
        // SAFETY: as above, or the VFS that the directory belongs to.
        let vfs = unsafe { &*vfs_ptr };
        let len = usize::try_from(vfs.szOsFile).map_err(|_| ffi::SQLITE_INTERNAL)?;
        if len < size_of::<NamelessFile>() {
            return Err(ffi::SQLITE_CANTOPEN);
        }
        let mut below = Below {
            memory: vec![0; len.div_ceil(size_of::<u128>())].into_boxed_slice(),
            _name: name,
        };
        let name_ptr = below
            ._name
            .as_ref()
            .map_or(ptr::null(), |name| name.as_ptr().cast());
        let x_open = vfs.xOpen.ok_or(ffi::SQLITE_CANTOPEN)?;
        // SAFETY: a VFS, room for its file, a name that stays as long as the file, and flags of SQLite.
        let code = unsafe { x_open(vfs_ptr, name_ptr, below.file_ptr(), flags, out_flags_ptr) };
        match code {
            ffi::SQLITE_OK => Ok(below),
            code => Err(code),
        }
    }

    fn file_ptr(&mut self) -> *mut ffi::sqlite3_file {
        self.memory.as_mut_ptr().cast()
    }

    /// None: not open.
    fn methods(&self) -> Option<&'static ffi::sqlite3_io_methods> {
        // SAFETY: the memory begins with a `sqlite3_file`, zeroed or as the VFS has left it.
        let methods_ptr = unsafe { (*self.memory.as_ptr().cast::<ffi::sqlite3_file>()).pMethods };
        // SAFETY: NULL, or the table of a VFS, which is never freed.
        unsafe { methods_ptr.as_ref() }
    }

    fn close(&mut self) -> c_int {
        let Some(x_close) = self.methods().and_then(|methods| methods.xClose) else {
            return ffi::SQLITE_OK;
        };
        // SAFETY: an open file.
        let code = unsafe { x_close(self.file_ptr()) };
        self.memory.fill(0);
        code
    }

    /// Calls one of the file's methods, which all of them have.
    fn call<F>(
        &mut self,
        method: impl FnOnce(&ffi::sqlite3_io_methods) -> Option<F>,
        body: impl FnOnce(F, *mut ffi::sqlite3_file) -> c_int,
    ) -> c_int {
        match self.methods().and_then(method) {
            Some(method) => body(method, self.file_ptr()),
            None => ffi::SQLITE_INTERNAL,
        }
    }
}

impl Drop for Below {
    fn drop(&mut self) {
        // Closed already, or never handed out: nobody waits for the code.
        let _code = self.close();
    }
}

impl Store for Below {
    fn read(&mut self, into: &mut [u8], at: u64) -> Result<(), c_int> {
        let len = c_int::try_from(into.len()).map_err(|_| ffi::SQLITE_IOERR_READ)?;
        let at = i64::try_from(at).map_err(|_| ffi::SQLITE_IOERR_READ)?;
        check(self.call(
            |methods| methods.xRead,
            // SAFETY: an open file and a buffer of that length.
            |x_read, file_ptr| unsafe { x_read(file_ptr, into.as_mut_ptr().cast(), len, at) },
        ))
    }

    fn write(&mut self, from: &[u8], at: u64) -> Result<(), c_int> {
        let len = c_int::try_from(from.len()).map_err(|_| ffi::SQLITE_IOERR_WRITE)?;
        let at = i64::try_from(at).map_err(|_| ffi::SQLITE_IOERR_WRITE)?;
        check(self.call(
            |methods| methods.xWrite,
            // SAFETY: an open file and a buffer of that length.
            |x_write, file_ptr| unsafe { x_write(file_ptr, from.as_ptr().cast(), len, at) },
        ))
    }
}

fn check(code: c_int) -> Result<(), c_int> {
    match code {
        ffi::SQLITE_OK => Ok(()),
        code => Err(code),
    }
}

fn code_of(result: Result<(), c_int>) -> c_int {
    result.err().unwrap_or(ffi::SQLITE_OK)
}

/// The open file behind what SQLite holds.
///
/// # Safety
/// `file_ptr` is a file that [`open`] has opened and that is not closed. SQLite uses it in one call at a
/// time, and the reference lives no longer than that call.
unsafe fn opened<'call>(file_ptr: *mut ffi::sqlite3_file) -> &'call mut Open {
    // SAFETY: the caller's promise.
    let open_ptr = unsafe { (*file_ptr.cast::<NamelessFile>()).open_ptr };
    // SAFETY: the box of `open`, which `x_close` alone drops.
    unsafe { &mut *open_ptr }
}

unsafe extern "C" fn x_close(file_ptr: *mut ffi::sqlite3_file) -> c_int {
    guard::call(ffi::SQLITE_IOERR_CLOSE, || {
        // SAFETY: SQLite's open file.
        let file = unsafe { &mut *file_ptr.cast::<NamelessFile>() };
        file.base.pMethods = ptr::null();
        let open_ptr = mem::replace(&mut file.open_ptr, ptr::null_mut());
        // SAFETY: the box of `open`; nobody has it any more.
        let mut open = unsafe { Box::from_raw(open_ptr) };
        open.below.close()
    })
}

unsafe extern "C" fn x_read(
    file_ptr: *mut ffi::sqlite3_file,
    into_ptr: *mut c_void,
    len: c_int,
    at: i64,
) -> c_int {
    guard::call(ffi::SQLITE_IOERR_READ, || {
        let (Ok(len), Ok(at)) = (usize::try_from(len), u64::try_from(at)) else {
            return ffi::SQLITE_IOERR_READ;
        };
        // SAFETY: SQLite's open file.
        let open = unsafe { opened(file_ptr) };
        // SAFETY: SQLite's buffer of that length.
        let into = unsafe { slice::from_raw_parts_mut(into_ptr.cast::<u8>(), len) };
        code_of(open.veil.read(&mut open.below, into, at))
    })
}

unsafe extern "C" fn x_write(
    file_ptr: *mut ffi::sqlite3_file,
    from_ptr: *const c_void,
    len: c_int,
    at: i64,
) -> c_int {
    guard::call(ffi::SQLITE_IOERR_WRITE, || {
        let (Ok(len), Ok(at)) = (usize::try_from(len), u64::try_from(at)) else {
            return ffi::SQLITE_IOERR_WRITE;
        };
        // SAFETY: SQLite's open file.
        let open = unsafe { opened(file_ptr) };
        // SAFETY: SQLite's buffer of that length.
        let from = unsafe { slice::from_raw_parts(from_ptr.cast::<u8>(), len) };
        code_of(open.veil.write(&mut open.below, from, at))
    })
}

unsafe extern "C" fn x_truncate(file_ptr: *mut ffi::sqlite3_file, len: i64) -> c_int {
    guard::call(ffi::SQLITE_IOERR_TRUNCATE, || {
        // SAFETY: SQLite's open file.
        let open = unsafe { opened(file_ptr) };
        let code = open.below.call(
            |methods| methods.xTruncate,
            // SAFETY: an open file.
            |x_truncate, below_ptr| unsafe { x_truncate(below_ptr, len) },
        );
        if code == ffi::SQLITE_OK {
            open.veil.truncate(u64::try_from(len).unwrap_or(0));
        }
        code
    })
}

/// Methods that the file below answers: the function, the method, the answer to a panic, arguments.
macro_rules! pass_on {
    ($($function:ident $method:ident $on_panic:ident ($($argument:ident: $Type:ty),*);)*) => {$(
        unsafe extern "C" fn $function(file_ptr: *mut ffi::sqlite3_file $(, $argument: $Type)*) -> c_int {
            guard::call(ffi::$on_panic, || {
                // SAFETY: SQLite's open file.
                let open = unsafe { opened(file_ptr) };
                open.below.call(
                    |methods| methods.$method,
                    // SAFETY: an open file; the arguments are SQLite's.
                    |method, below_ptr| unsafe { method(below_ptr $(, $argument)*) },
                )
            })
        }
    )*};
}

pass_on! {
    x_sync xSync SQLITE_IOERR_FSYNC (flags: c_int);
    x_file_size xFileSize SQLITE_IOERR_FSTAT (size_ptr: *mut i64);
    x_lock xLock SQLITE_IOERR_LOCK (level: c_int);
    x_unlock xUnlock SQLITE_IOERR_UNLOCK (level: c_int);
    x_check_reserved_lock xCheckReservedLock SQLITE_IOERR_CHECKRESERVEDLOCK (held_ptr: *mut c_int);
    x_file_control xFileControl SQLITE_IOERR (operation: c_int, argument_ptr: *mut c_void);
    x_sector_size xSectorSize SQLITE_OK ();
    x_device_characteristics xDeviceCharacteristics SQLITE_OK ();
}
