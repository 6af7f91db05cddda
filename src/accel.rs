//! Run-time choice of CPU features, for code that its crate compiles well only inside a function
//! that has them. No algorithm is here; the crates that choose by themselves need none of this.
#![expect(
    unsafe_code,
    reason = "calls a function compiled for a feature that was asked for"
)]

/// Runs `body`, compiled for AVX2 where the CPU has it.
///
/// `poly1305` chooses its AVX2 code by itself, but the operators in it are plain functions: in a
/// portable build each of their instructions is a call through memory. Inlined into a function that
/// has the feature they are what they were written as. `scripts/build.mjs` lets them be inlined.
#[inline(always)]
pub(crate) fn with_avx2<R>(body: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the CPU has AVX2, and the system saves its registers, as was just asked.
        return unsafe { compiled_for_avx2(body) };
    }
    body()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn compiled_for_avx2<R>(body: impl FnOnce() -> R) -> R {
    body()
}

#[cfg(test)]
mod tests {
    use super::with_avx2;

    #[test]
    fn the_body_runs_once_and_its_answer_comes_back() {
        let mut count = 0;
        let answer = with_avx2(|| {
            count += 1;
            count + 41
        });
        assert_eq!((count, answer), (1, 42));
    }
}
