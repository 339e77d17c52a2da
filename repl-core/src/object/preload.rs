//! Preloading: loads memory that will be read soon into the processor's cache.
//!
//! *Invariant:* with or without preloading, all functions return the same results.
#![cfg_attr(all(target_arch = "x86_64", not(miri)), expect(unsafe_code, reason = "the one instruction"))]

/// Asks the processor to load the memory at `what`, which will be read or written some hundred instructions
/// later. Costs O(1), and never waits for the memory.
///
/// A plain read would be too slow: later instructions retire only after the read, so a read that misses every
/// cache stalls all of them.
#[inline]
pub fn preload<T>(what: &T) {
    preload_at(std::ptr::from_ref(what).cast());
}

/// Does the same as [`preload`] for all of the memory of `what`, which may be larger than a line of the
/// cache. Costs O(lines), less than a nanosecond for each.
#[inline]
pub fn preload_all<T: ?Sized>(what: &T) {
    let first = std::ptr::from_ref(what).cast::<u8>();
    // If the memory begins within a line, its last byte may be in one more line.
    for offset in (0..size_of_val(what)).step_by(LINE_BYTES) {
        preload_at(first.wrapping_add(offset));
    }
    preload_at(first.wrapping_add(size_of_val(what).saturating_sub(1)));
}

/// The size of a line of the cache.
const LINE_BYTES: usize = 64;

#[inline]
fn preload_at(address: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every processor of this architecture has the instruction. The instruction has no visible
        // effect on memory and faults at no address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = address;
}
