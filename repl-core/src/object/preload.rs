//! Preloading: tells the processor which memory will be read soon.
//!
//! *Invariant:* preloading changes no result of the program.
#![expect(unsafe_code, reason = "the one instruction")]

/// Hints that the memory at `what` will be read or written some hundred steps from here. O(1), and never
/// waits.
///
/// A plain read would not do: instructions after it retire only when it is done, so a read that misses every
/// cache stalls them all.
#[inline]
pub fn preload<T>(what: &T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every processor of this architecture has the instruction. It has no visible effect on
        // memory and faults at no address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(what).cast()) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = what;
}
