//! Keeps a panic from crossing into C or JavaScript.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `body`; a panic in it becomes `on_panic`, which must be the failing answer of its caller.
pub(crate) fn call<R>(on_panic: R, body: impl FnOnce() -> R) -> R {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or(on_panic)
}
