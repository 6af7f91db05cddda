//! The functions that SQLite's pager calls for each page, and the box that it holds for them.
//!
//! What they do is in [`AttachedCodec`]; here are the raw pointers and the modes.
#![expect(unsafe_code, reason = "called by SQLite with raw pages")]

use std::ffi::{c_int, c_void};
use std::ptr::{self, NonNull};
use std::slice;

use super::attached::{AttachedCodec, is_zero};
use super::engine::{Pager, Schema};
use super::{Failure, Result};
use crate::codec::PageNo;
use crate::guard;

/// The box behind a pager's codec pointer. The page size is the pager's: SQLite reports each change.
pub(super) struct Hooked {
    codec: AttachedCodec,
    page_len: usize,
}

impl Hooked {
    pub(super) fn codec(&mut self) -> &mut AttachedCodec {
        &mut self.codec
    }
}

/// What the pager wants of a page, from its mode numbers.
enum PageOp {
    /// 0, 2, 3: it was read.
    Load,
    /// 4: the file ends within it; the rest is zero.
    LoadShort,
    /// 5: it was added in this transaction; where a later page was written first it is all zero.
    LoadNew,
    /// 6: it goes to the database file or the WAL.
    StoreMain,
    /// 7: it goes to a journal.
    StoreJournal,
}

impl PageOp {
    fn new(mode: c_int) -> Option<PageOp> {
        match mode {
            0 | 2 | 3 => Some(PageOp::Load),
            4 => Some(PageOp::LoadShort),
            5 => Some(PageOp::LoadNew),
            6 => Some(PageOp::StoreMain),
            7 => Some(PageOp::StoreJournal),
            _ => None,
        }
    }
}

/// Gives a database a codec, or takes it away, and drops the one before.
///
/// # Errors
/// While a transaction or a statement holds pages: the page cache is cleared, and they would be
/// freed in use. And while a backup reads the database: it relies on how pages are laid out.
pub(super) fn set_codec(schema: Schema, codec: Option<AttachedCodec>) -> Result {
    refuse_while_in_use(schema)?;
    let pager = schema.pager();
    let old_ptr = pager.codec_ptr();
    match codec {
        Some(codec) => {
            let hooked = Box::new(Hooked { codec, page_len: 0 });
            let functions = Some((x_codec as _, x_size_change as _, x_free as _));
            // SAFETY: no page is in use, as asked above; `x_free` frees the box.
            unsafe { pager.set_codec(functions, Box::into_raw(hooked).cast()) };
        }
        // SAFETY: as above; without functions there is nothing to expect of the pointer.
        None => unsafe { pager.set_codec(None, ptr::null_mut()) },
    }
    if let Some(old) = NonNull::new(old_ptr.cast::<Hooked>()) {
        // SAFETY: the box of an earlier call, which the pager has let go of.
        drop(unsafe { Box::from_raw(old.as_ptr()) });
    }
    Ok(())
}

/// A transaction or a statement of this database holds pages, or a backup reads it.
pub(super) fn refuse_while_in_use(schema: Schema) -> Result {
    if schema.in_use() {
        return Err(Failure::new(
            "The key cannot be changed inside a transaction or during a backup",
        ));
    }
    Ok(())
}

/// Runs `body` on the codec of a pager, if it has one.
pub(super) fn with_codec<R>(pager: Pager, body: impl FnOnce(&mut AttachedCodec) -> R) -> Option<R> {
    let mut hooked = NonNull::new(pager.codec_ptr().cast::<Hooked>())?;
    // SAFETY: the box lives as long as the pager holds it, one thread uses a connection at a time,
    // and `body` calls nothing that calls the pager, so there is no other reference.
    let hooked = unsafe { hooked.as_mut() };
    Some(body(hooked.codec()))
}

/// # Safety
/// `codec_ptr` is what a pager holds as its codec, or NULL; no other reference to it is in use.
pub(super) unsafe fn from_ptr<'c>(codec_ptr: *mut c_void) -> Option<&'c mut Hooked> {
    // SAFETY: the caller's promise.
    unsafe { codec_ptr.cast::<Hooked>().as_mut() }
}

/// The pager's question for each page. NULL is failure: it then asks `page_error`.
unsafe extern "C" fn x_codec(
    codec_ptr: *mut c_void,
    page_ptr: *mut c_void,
    page_no: u32,
    mode: c_int,
) -> *mut c_void {
    guard::call(ptr::null_mut(), || {
        // SAFETY: the pager gives back what `set_codec` gave it, and calls from one thread.
        let hooked = unsafe { from_ptr(codec_ptr) };
        let (Some(hooked), Some(page_no), Some(op)) =
            (hooked, PageNo::new(page_no), PageOp::new(mode))
        else {
            return ptr::null_mut();
        };
        // SAFETY: a whole page of the size that SQLite last reported; it does not overlap our
        // buffers, as the pager passes only pages of its own.
        let page = unsafe { slice::from_raw_parts_mut(page_ptr.cast::<u8>(), hooked.page_len) };
        let stored = match op {
            PageOp::Load => hooked.codec.load(page_no, page).map(|()| None),
            PageOp::LoadNew if is_zero(page) => Ok(None),
            PageOp::LoadNew => hooked.codec.load(page_no, page).map(|()| None),
            PageOp::LoadShort => hooked.codec.load_short(page_no, page).map(|()| None),
            PageOp::StoreMain => hooked.codec.store_main(page_no, page),
            PageOp::StoreJournal => hooked.codec.store_journal(page_no, page),
        };
        match stored {
            Ok(None) => page_ptr,
            Ok(Some(stored)) => stored.as_mut_ptr().cast(),
            Err(_) => ptr::null_mut(),
        }
    })
}

/// SQLite reports page size and reserve. The reserve is not needed: a scheme knows its own.
unsafe extern "C" fn x_size_change(codec_ptr: *mut c_void, page_size: c_int, _reserve: c_int) {
    guard::call((), || {
        // SAFETY: as in `x_codec`.
        let hooked = unsafe { from_ptr(codec_ptr) };
        if let (Some(hooked), Ok(page_len)) = (hooked, usize::try_from(page_size)) {
            hooked.page_len = page_len;
            hooked.codec.set_page_len(page_len);
        }
    });
}

/// The pager is closed.
unsafe extern "C" fn x_free(codec_ptr: *mut c_void) {
    guard::call((), || {
        if !codec_ptr.is_null() {
            // SAFETY: the box of `set_codec`; the pager calls this once, at its end.
            drop(unsafe { Box::from_raw(codec_ptr.cast::<Hooked>()) });
        }
    });
}

/// A record of the rollback or statement journal in clear, in a buffer of ours; NULL if it cannot be
/// decrypted.
///
/// # Safety
/// `codec_ptr` is a pager's codec; `stored_ptr` is a whole page of that pager.
pub(super) unsafe fn journal_plain(
    codec_ptr: *mut c_void,
    stored_ptr: *const c_void,
    page_no: u32,
) -> *mut c_void {
    // SAFETY: the caller's promise.
    let (Some(hooked), Some(page_no)) = (unsafe { from_ptr(codec_ptr) }, PageNo::new(page_no))
    else {
        return ptr::null_mut();
    };
    // SAFETY: the caller's promise; the pager reads records into a buffer of its own.
    let stored = unsafe { slice::from_raw_parts(stored_ptr.cast::<u8>(), hooked.page_len) };
    hooked
        .codec
        .journal_plain(page_no, stored)
        .map_or(ptr::null_mut(), |page| page.as_mut_ptr().cast())
}
