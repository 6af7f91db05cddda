//! Keeps a panic from crossing into C or JavaScript.
//!
//! Every `extern "C"` function is one call of these. What the failing answer is, and what must not
//! be used any more after a panic, is known by the caller.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `body`; a panic in it becomes `on_panic`, which must be the failing answer of its caller.
pub(crate) fn call<R>(on_panic: R, body: impl FnOnce() -> R) -> R {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or(on_panic)
}

/// Runs `body`; when it panics, `on_panic` gets the text of the panic and gives the failing answer.
///
/// `on_panic` also marks what `body` was changing as unusable: that makes carrying on right.
pub(crate) fn call_or_else<R>(on_panic: impl FnOnce(&str) -> R, body: impl FnOnce() -> R) -> R {
    catch_unwind(AssertUnwindSafe(body))
        .unwrap_or_else(|payload| on_panic(text_of(payload.as_ref())))
}

fn text_of(payload: &(dyn Any + Send)) -> &str {
    match payload.downcast_ref::<String>() {
        Some(text) => text,
        None => payload
            .downcast_ref::<&str>()
            .copied()
            .unwrap_or("panic without a text"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_the_failing_answer() {
        assert_eq!(call(6, || panic!("odd")), 6);
        assert_eq!(
            call_or_else(str::to_owned, || panic!("page {} is odd", 7)),
            "page 7 is odd"
        );
    }

    #[test]
    fn without_a_panic_the_answer_passes_through() {
        assert_eq!(call(6, || 5), 5);
        assert_eq!(call_or_else(|_| 6, || 5), 5);
    }
}
