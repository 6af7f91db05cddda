//! Run-time choice of CPU features, for code that its crate compiles well only inside a function
//! that has them. No algorithm is here; the crates that choose by themselves need none of this.
#![expect(
    unsafe_code,
    reason = "calls a function compiled for a feature that was asked for"
)]

#[cfg(target_arch = "x86_64")]
use std::arch::is_x86_feature_detected;

/// Runs `body`, compiled for the widest vectors that the CPU has.
///
/// `chacha20` and `poly1305` choose their vector code by themselves, but parts of it are plain functions: in a
/// portable build each of their instructions is a call through memory. Inlined into a function that has the
/// features they are what they were written as. `scripts/build.mjs` lets them be inlined.
#[inline(always)]
pub(crate) fn with_vectors<R>(body: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl") {
        // SAFETY: the CPU has both, and the system saves their registers, as was just asked.
        return unsafe { compiled_for_avx512(body) };
    } else if is_x86_feature_detected!("avx2") {
        // SAFETY: as above, for AVX2.
        return unsafe { compiled_for_avx2(body) };
    }
    body()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl")]
fn compiled_for_avx512<R>(body: impl FnOnce() -> R) -> R {
    body()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn compiled_for_avx2<R>(body: impl FnOnce() -> R) -> R {
    body()
}

#[cfg(test)]
mod tests {
    use super::with_vectors;

    #[test]
    fn the_body_runs_once_and_its_answer_comes_back() {
        let mut count = 0;
        let answer = with_vectors(|| {
            count += 1;
            count + 41
        });
        assert_eq!((count, answer), (1, 42));
    }
}
