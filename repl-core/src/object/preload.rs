//! Preloading: loads memory that will be read soon into the processor's cache.
//!
//! *Invariant:* with or without preloading, all functions return the same results.
#![expect(unsafe_code, reason = "the one instruction")]

/// Asks the processor to load the memory at `what`, which will be read or written some hundred instructions
/// later. Costs O(1), and never waits for the memory.
///
/// A plain read would be too slow: later instructions retire only after the read, so a read that misses every
/// cache stalls all of them.
#[inline]
pub fn preload<T>(what: &T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every processor of this architecture has the instruction. The instruction has no visible
        // effect on memory and faults at no address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(what).cast()) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = what;
}
