//! Scanning: finds the objects of a column whose plain memory or strings differ from their shadows. The scan
//! is compiled separately for each object type.
//!
//! *Invariant:* only bytes that the plan lists are read, and the plan lists no padding.
#![expect(unsafe_code, reason = "compares plain memory")]

use super::preload::preload;
use crate::schema::plan::{Planned, Run};

/// The number of objects that are compared before the code branches on the result.
const BLOCK: usize = 8;

/// Calls `found` with the index of each object whose plain memory or strings differ from the plain memory or
/// strings of its shadow.
#[inline]
pub(crate) fn scan<T: Planned>(live: &[T], shadow: &[T], mut found: impl FnMut(usize)) {
    let (blocks, rest) = live.as_chunks::<BLOCK>();
    let (shadow_blocks, shadow_rest) = shadow.as_chunks::<BLOCK>();
    for ((block, shadow_block), first) in blocks.iter().zip(shadow_blocks).zip((0..).step_by(BLOCK)) {
        let mut same = true;
        for (live, shadow) in block.iter().zip(shadow_block) {
            same &= same_runs(live, shadow) && same_strings(live, shadow);
        }
        if !same {
            scan_each(block, shadow_block, first, &mut found);
        }
    }
    scan_each(rest, shadow_rest, blocks.len() * BLOCK, &mut found);
}

#[cold]
#[inline(never)]
fn scan_each<T: Planned>(live: &[T], shadow: &[T], first: usize, found: &mut impl FnMut(usize)) {
    for ((live, shadow), at) in live.iter().zip(shadow).zip(first..) {
        if !(same_runs(live, shadow) && same_strings(live, shadow)) {
            found(at);
        }
    }
}

/// Returns whether all stretches of plain memory are the same in both objects. The lengths of the stretches
/// are constants, so the function compiles to a sequence of loads without a branch.
#[inline]
fn same_runs<T: Planned>(one: &T, other: &T) -> bool {
    let runs: &[Run] = const { T::PLAN.runs() };
    let (one, other) = (std::ptr::from_ref(one).cast::<u8>(), std::ptr::from_ref(other).cast::<u8>());
    let mut difference = Difference::none();
    for run in runs {
        let (one, other) = (one.wrapping_add(run.offset), other.wrapping_add(run.offset));
        // SAFETY: the plan of `T` lists initialised bytes inside a `T`, which the references lend.
        unsafe { difference.add(one, other, run.len) };
    }
    difference.is_none()
}

/// Calls `found` with the offset of each byte at which the plain memory of two objects differs. `found`
/// returns how many bytes the comparison may skip from this offset on, which is at least one.
#[inline]
pub(crate) fn differing_bytes<T: Planned>(one: &T, other: &T, mut found: impl FnMut(usize) -> usize) {
    let runs: &[Run] = const { T::PLAN.runs() };
    let (one, other) = (std::ptr::from_ref(one).cast::<u8>(), std::ptr::from_ref(other).cast::<u8>());
    for run in runs {
        let mut at = 0;
        while at < run.len {
            let left = run.len - at;
            // The last word of a long stretch of memory overlaps the word before it. Bytes in the overlap of
            // two words are found twice, which does no harm.
            let (start, bytes) = match left {
                8.. => (at, 8),
                _ if run.len >= 8 => (run.len - 8, 8),
                4..8 => (at, 4),
                _ => (at, 1),
            };
            let (one, other) = (one.wrapping_add(run.offset + start), other.wrapping_add(run.offset + start));
            // SAFETY: the plan of `T` lists initialised bytes inside a `T`, which the references lend.
            let ours = unsafe { load(one, bytes) };
            // SAFETY: as for the previous `unsafe` block.
            let theirs = unsafe { load(other, bytes) };
            let mut difference = ours ^ theirs;
            while difference != 0 {
                let byte = difference.trailing_zeros() as usize / 8;
                let end = byte + found(run.offset + start + byte);
                difference = if end < 8 { difference >> (end * 8) << (end * 8) } else { 0 };
            }
            at = start + bytes;
        }
    }
}

/// All bits in which two stretches of memory differ, combined with OR.
///
/// For most lengths of a stretch, comparing slices would compile to a call of `memcmp`. A call of `memcmp`
/// and its branch take twice as long as the loads of this type.
struct Difference {
    word: u64,
    wide: wide::Wide,
}

impl Difference {
    #[inline]
    fn none() -> Self {
        Self { word: 0, wide: wide::zero() }
    }

    /// Compares `len` bytes at both pointers in the widest loads that fit, and adds the bits in which they
    /// differ. The last of these loads may overlap the load before it.
    ///
    /// # Safety
    /// Both pointers point to `len` initialised bytes.
    #[inline]
    unsafe fn add(&mut self, one: *const u8, other: *const u8, len: usize) {
        let mut add = |at: usize, bytes: usize| {
            let (one, other) = (one.wrapping_add(at), other.wrapping_add(at));
            if bytes == 16 {
                // SAFETY: `at + 16` is at most `len`.
                self.wide = unsafe { wide::fold(self.wide, one, other) };
            } else {
                // SAFETY: `at + bytes` is at most `len`.
                let ours = unsafe { load(one, bytes) };
                // SAFETY: as for the previous `unsafe` block.
                self.word |= ours ^ unsafe { load(other, bytes) };
            }
        };
        let bytes = match len {
            0..4 => 1,
            4..8 => 4,
            8..16 => 8,
            _ => 16,
        };
        (0..len / bytes).for_each(|step| add(step * bytes, bytes));
        if !len.is_multiple_of(bytes) {
            add(len - bytes, bytes);
        }
    }

    #[inline]
    fn is_none(&self) -> bool {
        self.word == 0 && wide::is_zero(self.wide)
    }
}

/// Loads `bytes` bytes as a word. `bytes` is 1, 4 or 8. The byte at the lowest address is the lowest byte of
/// the word.
///
/// # Safety
/// The pointer points to `bytes` initialised bytes.
#[inline]
unsafe fn load(from: *const u8, bytes: usize) -> u64 {
    match bytes {
        // SAFETY: the caller guarantees the bytes; the same below.
        8 => unsafe { from.cast::<u64>().read_unaligned() }.to_le(),
        // SAFETY: as for the previous `unsafe` block.
        4 => u64::from(unsafe { from.cast::<u32>().read_unaligned() }.to_le()),
        // SAFETY: as for the previous `unsafe` block.
        _ => u64::from(unsafe { from.read() }),
    }
}

/// Compares 16 bytes at a time with SSE2, which every x86-64 processor has.
#[cfg(target_arch = "x86_64")]
mod wide {
    use std::arch::x86_64::{
        __m128i, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_or_si128, _mm_setzero_si128,
        _mm_xor_si128,
    };

    pub(super) type Wide = __m128i;

    #[inline]
    pub(super) fn zero() -> Wide {
        // SAFETY: every x86-64 processor has SSE2.
        unsafe { _mm_setzero_si128() }
    }

    /// # Safety
    /// Both pointers point to 16 initialised bytes.
    #[inline]
    pub(super) unsafe fn fold(sum: Wide, one: *const u8, other: *const u8) -> Wide {
        // SAFETY: the caller guarantees this.
        let one = unsafe { _mm_loadu_si128(one.cast()) };
        // SAFETY: the caller guarantees this.
        let other = unsafe { _mm_loadu_si128(other.cast()) };
        // SAFETY: every x86-64 processor has SSE2.
        let difference = unsafe { _mm_xor_si128(one, other) };
        // SAFETY: as for the previous `unsafe` block.
        unsafe { _mm_or_si128(sum, difference) }
    }

    #[inline]
    pub(super) fn is_zero(sum: Wide) -> bool {
        // SAFETY: every x86-64 processor has SSE2.
        let equal = unsafe { _mm_cmpeq_epi8(sum, zero()) };
        // SAFETY: as for the previous `unsafe` block.
        unsafe { _mm_movemask_epi8(equal) == 0xffff }
    }
}

/// Compares 16 bytes at a time, as two words.
#[cfg(not(target_arch = "x86_64"))]
mod wide {
    pub(super) type Wide = [u64; 2];

    #[inline]
    pub(super) fn zero() -> Wide {
        [0; 2]
    }

    /// # Safety
    /// Both pointers point to 16 initialised bytes.
    #[inline]
    pub(super) unsafe fn fold(sum: Wide, one: *const u8, other: *const u8) -> Wide {
        // SAFETY: the caller guarantees this.
        let one = unsafe { one.cast::<Wide>().read_unaligned() };
        // SAFETY: the caller guarantees this.
        let other = unsafe { other.cast::<Wide>().read_unaligned() };
        [sum[0] | one[0] ^ other[0], sum[1] | one[1] ^ other[1]]
    }

    #[inline]
    pub(super) fn is_zero(sum: Wide) -> bool {
        sum == [0; 2]
    }
}

/// Prefetches the text of an object's strings, which will be compared soon.
#[inline]
pub(crate) fn preload_strings<T: Planned>(object: &T) {
    let strings: &[usize] = const { T::PLAN.strings() };
    let object = std::ptr::from_ref(object).cast::<u8>();
    for &offset in strings {
        // SAFETY: the plan of `T` states that a string is at this offset.
        let string = unsafe { &*object.wrapping_add(offset).cast::<String>() };
        string.as_bytes().first().into_iter().for_each(preload);
    }
}

#[inline]
fn same_strings<T: Planned>(one: &T, other: &T) -> bool {
    let mut same = true;
    differing_strings(one, other, |_| same = false);
    same
}

/// Calls `found` with the index of each of the plan's strings in which two objects differ.
#[inline]
pub(crate) fn differing_strings<T: Planned>(one: &T, other: &T, mut found: impl FnMut(usize)) {
    let strings: &[usize] = const { T::PLAN.strings() };
    let (one, other) = (std::ptr::from_ref(one).cast::<u8>(), std::ptr::from_ref(other).cast::<u8>());
    for (at, &offset) in strings.iter().enumerate() {
        // SAFETY: the plan of `T` states that a string is at this offset.
        let ours = unsafe { &*one.wrapping_add(offset).cast::<String>() };
        // SAFETY: as for the previous `unsafe` block.
        let theirs = unsafe { &*other.wrapping_add(offset).cast::<String>() };
        // The check for empty strings avoids a call of `memcmp`.
        if ours.len() != theirs.len() || !(ours.is_empty() || ours == theirs) {
            found(at);
        }
    }
}
