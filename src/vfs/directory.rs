//! In which directory the files without a name are made: `PRAGMA temp_store_directory`, per connection.
//!
//! SQLite knows one such directory for the whole process. When it opens a file it names a VFS and not
//! the connection; so a connection with a directory of its own gets a VFS of its own: that of the
//! system under another name. There is one for each directory that was ever set, and it stays, as
//! SQLite may hold a pointer to it in many places.
//!
//! Without the PRAGMA it is as SQLite has it: `SQLITE_TMPDIR`, `TMPDIR`, `/var/tmp`, and so on.
#![expect(unsafe_code, reason = "registers a VFS with SQLite")]

use std::ffi::{CStr, CString, c_int};
use std::fs;
use std::ptr::{self, NonNull};

use libsqlite3_sys as ffi;
use parking_lot::Mutex;

/// A VFS that SQLite knows: one of the system's, or one for a directory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Vfs(NonNull<ffi::sqlite3_vfs>);

/// A VFS for a directory.
struct Directory {
    /// As the PRAGMA had it.
    text: String,
    /// It stays the same when the process changes its working directory.
    path: CString,
    vfs: Vfs,
    /// The one that `vfs` is a copy of.
    system: Vfs,
}

// SAFETY: it is never changed nor freed, and SQLite lets any thread use a VFS.
unsafe impl Send for Vfs {}
// SAFETY: as above.
unsafe impl Sync for Vfs {}

static DIRECTORIES: Mutex<Vec<&'static Directory>> = Mutex::new(Vec::new());

// The text of SQLite.
const NOT_A_DIRECTORY: &str = "not a writable directory";
const NOT_OF_THE_SYSTEM: &str = "the VFS of this connection chooses the directory itself";

unsafe extern "C" {
    fn sealite_is_system_vfs(vfs: *const ffi::sqlite3_vfs) -> c_int;
}

impl Vfs {
    /// # Safety
    /// `vfs_ptr` is a VFS that is registered with SQLite, or was.
    pub(crate) unsafe fn new(vfs_ptr: *mut ffi::sqlite3_vfs) -> Option<Vfs> {
        NonNull::new(vfs_ptr).map(Vfs)
    }

    pub(crate) fn as_ptr(self) -> *mut ffi::sqlite3_vfs {
        self.0.as_ptr()
    }

    /// The directory that was set, as it was written then.
    pub(crate) fn directory(self) -> Option<&'static str> {
        Some(&self.registered()?.text)
    }

    /// The same VFS with the system's choice of a directory.
    pub(crate) fn without_directory(self) -> Vfs {
        self.registered().map_or(self, |directory| directory.system)
    }

    /// The same VFS with a directory of its own; or why there can be none.
    pub(crate) fn with_directory(self, text: &str) -> Result<Vfs, &'static str> {
        let system = self.without_directory();
        if !system.is_system() {
            return Err(NOT_OF_THE_SYSTEM);
        }
        let path = std::path::absolute(text)
            .ok()
            .and_then(|path| CString::new(path.to_str()?).ok())
            .filter(|path| system.can_write_to(path))
            .ok_or(NOT_A_DIRECTORY)?;
        let mut directories = DIRECTORIES.lock();
        let known = directories
            .iter()
            .find(|known| known.system == system && known.text == text && known.path == path);
        if let Some(known) = known {
            return Ok(known.vfs);
        }
        let vfs = system
            .registered_copy(directories.len())
            .ok_or(NOT_A_DIRECTORY)?;
        directories.push(Box::leak(Box::new(Directory {
            text: text.to_owned(),
            path,
            vfs,
            system,
        })));
        Ok(vfs)
    }

    /// Which VFS opens a file without a name, and what name it is given: none where the system chooses,
    /// also when the directory can no longer be written to.
    pub(super) fn place(self) -> (Vfs, Option<Vec<u8>>) {
        let Some(directory) = self.registered() else {
            return (self, None);
        };
        let mut random = [0; 8];
        let name = (directory.system.can_write_to(&directory.path)
            && getrandom::fill(&mut random).is_ok())
        .then(|| new_name(&directory.path, u64::from_ne_bytes(random)));
        (directory.system, name)
    }

    fn registered(self) -> Option<&'static Directory> {
        let directories = DIRECTORIES.lock();
        directories
            .iter()
            .copied()
            .find(|directory| directory.vfs == self)
    }

    /// One of SQLite's own for this system; others may not bear to be copied.
    fn is_system(self) -> bool {
        // SAFETY: a VFS, see `new`.
        unsafe { sealite_is_system_vfs(self.as_ptr()) != 0 }
    }

    fn can_write_to(self, path: &CStr) -> bool {
        // SAFETY: a VFS, see `new`.
        let Some(x_access) = (unsafe { self.0.as_ref() }).xAccess else {
            return false;
        };
        let is_directory = path
            .to_str()
            .is_ok_and(|path| fs::metadata(path).is_ok_and(|found| found.is_dir()));
        let mut writable = 0;
        // SAFETY: the method of this VFS, with a path that ends with NUL and a variable.
        let code = unsafe {
            x_access(
                self.as_ptr(),
                path.as_ptr(),
                ffi::SQLITE_ACCESS_READWRITE,
                &raw mut writable,
            )
        };
        is_directory && code == ffi::SQLITE_OK && writable != 0
    }

    /// Registered, so that an ATTACH, which asks for the VFS of its connection by name, finds it.
    fn registered_copy(self, number: usize) -> Option<Vfs> {
        // SAFETY: one of SQLite's own, which has all the fields.
        let mut copy = unsafe { *self.as_ptr() };
        copy.zName = CString::new(format!("sealite-directory-{number}"))
            .ok()?
            .into_raw();
        copy.pNext = ptr::null_mut();
        let copy_ptr = Box::into_raw(Box::new(copy));
        // SAFETY: a whole VFS that is never freed, nor is its name.
        let code = unsafe { ffi::sqlite3_vfs_register(copy_ptr, 0) };
        (code == ffi::SQLITE_OK).then_some(Vfs(NonNull::new(copy_ptr)?))
    }
}

/// A name that SQLite itself might choose. It ends with two NULs: what follows the first is where a VFS
/// looks for the parameters of a URI.
fn new_name(directory: &CStr, number: u64) -> Vec<u8> {
    let mut name = directory.to_bytes().to_vec();
    name.extend_from_slice(format!("/etilqs_{number:016x}\0\0").as_bytes());
    name
}
