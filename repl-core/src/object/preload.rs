//! Preloading: telling the processor what will be read soon.
//!
//! Invariant: a hint and no more; nothing that a program computes depends on it.
#![expect(unsafe_code, reason = "the one instruction")]

/// The memory at `what` will be read or written some hundred steps from here. O(1), and never waits.
///
/// A plain read would not do: whatever follows it can only be finished after it, so a read that misses every cache holds all up wherever it stands.
#[inline]
pub fn preload<T>(what: &T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the instruction is in every processor of this architecture; it reads nothing that can be seen, and faults at no address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(what).cast()) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = what;
}
