//! Scanning: finds the objects of a column (objects of one class in a slice) with plain memory or strings
//! that differ from their shadows. Values with a margin are compared with the seen bytes (their bytes at the
//! last comparison, see `schema/plan`) instead. The scan is compiled separately for each object type.
//!
//! *Invariant:* only bytes that the plan lists are read, and the plan lists no padding.
#![expect(unsafe_code, reason = "compares plain memory")]

use super::preload::preload;
use crate::schema::plan::{Planned, SeenRun};

/// The number of objects that are compared before the code branches on the result.
const BLOCK: usize = 8;

/// Calls `found` with the index of each object that differs from its shadow or its seen bytes, in plain
/// memory or strings. `seen` contains the seen bytes of all objects, one after another. If the length of
/// `seen` is different, all plain memory is compared with the shadows.
#[inline]
pub(crate) fn scan<T: Planned>(live: &[T], shadow: &[T], seen: &[u8], found: impl FnMut(usize)) {
    let bytes = const { T::WHOLE.seen_bytes() };
    if bytes > 0 && seen.len() == live.len() * bytes {
        let first = seen.as_ptr();
        // SAFETY: `at` is below the number of live objects, and each object has this many seen bytes.
        let add = |difference: &mut Difference, at: usize, live: &T, shadow: &T| unsafe {
            difference.add_with_seen(live, shadow, first.wrapping_add(at * bytes));
        };
        scan_rows(live, shadow, add, found);
    } else {
        scan_rows(live, shadow, |difference, _, live, shadow| difference.add_object(live, shadow), found);
    }
}

/// Calls `found` with the index of each object that differs from its shadow in strings, or for which `add`
/// adds a difference.
#[inline]
fn scan_rows<T: Planned>(
    live: &[T],
    shadow: &[T],
    add: impl Fn(&mut Difference, usize, &T, &T) + Copy,
    mut found: impl FnMut(usize),
) {
    let (blocks, rest) = live.as_chunks::<BLOCK>();
    let (shadow_blocks, shadow_rest) = shadow.as_chunks::<BLOCK>();
    for ((block, shadow_block), first) in blocks.iter().zip(shadow_blocks).zip((0..).step_by(BLOCK)) {
        let (mut difference, mut same) = (Difference::none(), true);
        for ((live, shadow), at) in block.iter().zip(shadow_block).zip(first..) {
            add(&mut difference, at, live, shadow);
            same &= same_strings(live, shadow);
        }
        if !(same && difference.is_none()) {
            scan_each(block, shadow_block, first, add, &mut found);
        }
    }
    scan_each(rest, shadow_rest, blocks.len() * BLOCK, add, &mut found);
}

#[cold]
#[inline(never)]
fn scan_each<T: Planned>(
    live: &[T],
    shadow: &[T],
    first: usize,
    add: impl Fn(&mut Difference, usize, &T, &T),
    found: &mut impl FnMut(usize),
) {
    for ((live, shadow), at) in live.iter().zip(shadow).zip(first..) {
        let mut difference = Difference::none();
        add(&mut difference, at, live, shadow);
        if !(difference.is_none() && same_strings(live, shadow)) {
            found(at);
        }
    }
}

/// Adds the seen bytes of an object that equals its shadow to the end of a list.
#[inline]
pub(crate) fn push_seen<T: Planned>(shadow: &T, seen: &mut Vec<u8>) {
    let first = std::ptr::from_ref(shadow).cast::<u8>();
    for SeenRun { run, .. } in const { T::WHOLE.seen_runs() } {
        // SAFETY: the plan of `T` lists initialised bytes inside a `T`, which the reference lends.
        seen.extend_from_slice(unsafe {
            std::slice::from_raw_parts(first.wrapping_add(run.offset), run.len)
        });
    }
}

/// The differing bits of all compared words, combined with OR. Zero means that all compared memory is equal.
///
/// For most lengths of a stretch, comparing slices would compile to a call of `memcmp`. Such a call and its
/// branch take twice as long as the loads in [`add`](Self::add).
struct Difference {
    word: u64,
    wide: wide::Wide,
}

impl Difference {
    #[inline]
    fn none() -> Self {
        Self { word: 0, wide: wide::zero() }
    }

    /// Adds the bits in which the plain memory of an object differs from its shadow.
    #[inline]
    fn add_object<T: Planned>(&mut self, live: &T, shadow: &T) {
        self.add_runs(live, shadow);
        let (one, other) = (std::ptr::from_ref(live).cast::<u8>(), std::ptr::from_ref(shadow).cast::<u8>());
        for SeenRun { run, .. } in const { T::PLAN.seen_runs() } {
            let (one, other) = (one.wrapping_add(run.offset), other.wrapping_add(run.offset));
            // SAFETY: the plan of `T` lists initialised bytes inside a `T`, which the references lend.
            unsafe { self.add(one, other, run.len) };
        }
    }

    /// Does the same as [`add_object`](Self::add_object), but compares the values with a margin with the seen
    /// bytes of the object.
    ///
    /// # Safety
    /// `seen` points to the seen bytes of an object.
    #[inline]
    unsafe fn add_with_seen<T: Planned>(&mut self, live: &T, shadow: &T, seen: *const u8) {
        self.add_runs(live, shadow);
        let first = std::ptr::from_ref(live).cast::<u8>();
        for SeenRun { run, at } in const { T::PLAN.seen_runs() } {
            let (one, other) = (first.wrapping_add(run.offset), seen.wrapping_add(*at));
            // SAFETY: the plan of `T` lists initialised bytes inside a `T`, which the reference lends, and
            // their offsets in the seen bytes.
            unsafe { self.add(one, other, run.len) };
        }
    }

    /// Adds the bits in which an object differs from its shadow, only for the runs that are compared with the
    /// shadow. The lengths of the runs are constants, so the function compiles to a sequence of loads without
    /// a branch.
    #[inline]
    fn add_runs<T: Planned>(&mut self, live: &T, shadow: &T) {
        let (one, other) = (std::ptr::from_ref(live).cast::<u8>(), std::ptr::from_ref(shadow).cast::<u8>());
        for run in const { T::PLAN.runs() } {
            let (one, other) = (one.wrapping_add(run.offset), other.wrapping_add(run.offset));
            // SAFETY: the plan of `T` lists initialised bytes inside a `T`, which the references lend.
            unsafe { self.add(one, other, run.len) };
        }
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
pub(super) unsafe fn load(from: *const u8, bytes: usize) -> u64 {
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
pub(super) mod wide {
    use std::arch::x86_64::{
        __m128i, _mm_cmpeq_epi8, _mm_cvtsi64_si128, _mm_loadu_si128, _mm_movemask_epi8, _mm_or_si128,
        _mm_setzero_si128, _mm_xor_si128,
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

    /// Compares 16 bytes, and returns a bit for each byte that is the same in both places.
    ///
    /// # Safety
    /// Both pointers point to 16 initialised bytes.
    #[inline]
    pub(in crate::object) unsafe fn same_bytes(one: *const u8, other: *const u8) -> u64 {
        // SAFETY: the caller guarantees this.
        let one = unsafe { _mm_loadu_si128(one.cast()) };
        // SAFETY: the caller guarantees this.
        same(one, unsafe { _mm_loadu_si128(other.cast()) })
    }

    /// Compares the bytes of two words, and returns a bit for each byte that is the same in both. Bits 8 to
    /// 15 of the result are set, too: they stand for no bytes of the words.
    #[inline]
    pub(in crate::object) fn same_bytes_of(one: u64, other: u64) -> u64 {
        // SAFETY: every x86-64 processor has SSE2.
        let one = unsafe { _mm_cvtsi64_si128(one.cast_signed()) };
        // SAFETY: as for the previous `unsafe` block.
        same(one, unsafe { _mm_cvtsi64_si128(other.cast_signed()) })
    }

    #[inline]
    fn same(one: Wide, other: Wide) -> u64 {
        // SAFETY: every x86-64 processor has SSE2.
        let equal = unsafe { _mm_cmpeq_epi8(one, other) };
        // SAFETY: as for the previous `unsafe` block.
        u64::from(unsafe { _mm_movemask_epi8(equal) } as u16)
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
pub(super) mod wide {
    use super::load;
    use crate::object::joined::gather;

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

    /// Compares 16 bytes, and returns a bit for each byte that is the same in both places.
    ///
    /// # Safety
    /// Both pointers point to 16 initialised bytes.
    #[inline]
    pub(in crate::object) unsafe fn same_bytes(one: *const u8, other: *const u8) -> u64 {
        let word = |at: usize| {
            // SAFETY: the caller guarantees 16 bytes, and `at` is 0 or 8.
            let one = unsafe { load(one.wrapping_add(at), 8) };
            // SAFETY: as for the previous `unsafe` block.
            same_bytes_of(one, unsafe { load(other.wrapping_add(at), 8) })
        };
        word(0) | word(8) << 8
    }

    /// Compares the bytes of two words, and returns a bit for each byte that is the same in both.
    #[inline]
    pub(in crate::object) const fn same_bytes_of(one: u64, other: u64) -> u64 {
        const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
        let difference = one ^ other;
        // In the sum, the highest bit of a byte is set if any lower bit of the byte was set.
        let highest = (((difference & LOW) + LOW) | difference) & !LOW;
        !gather(highest >> 7) & 0xff
    }

    #[inline]
    pub(super) fn is_zero(sum: Wide) -> bool {
        sum == [0; 2]
    }
}

/// Prefetches the text of an object's strings, which will be compared soon.
#[inline]
pub(crate) fn preload_strings<T: Planned>(object: &T) {
    let text = |string: &String| string.as_bytes().first().into_iter().for_each(preload);
    strings(object).for_each(text);
}

/// Returns the strings of an object that its plan lists.
#[inline]
fn strings<T: Planned>(object: &T) -> impl Iterator<Item = &String> {
    let offsets: &[usize] = const { T::PLAN.strings() };
    let first = std::ptr::from_ref(object).cast::<u8>();
    // SAFETY: the plan of `T` states that a string is at this offset.
    offsets.iter().map(move |&offset| unsafe { &*first.wrapping_add(offset).cast::<String>() })
}

#[inline]
fn same_strings<T: Planned>(one: &T, other: &T) -> bool {
    strings(one).zip(strings(other)).all(|(one, other)| is_same(one, other))
}

/// For each string of the plan that differs between two objects, calls `found` with the index of the string
/// and with the string of `from`. Copies this string to the other object if `found` returns true.
#[inline(always)]
pub(crate) fn copy_differing_strings<T: Planned>(
    from: &T,
    to: &mut T,
    mut found: impl FnMut(usize, &str) -> bool,
) {
    let offsets: &[usize] = const { T::PLAN.strings() };
    let first = std::ptr::from_mut(to).cast::<u8>();
    for ((at, &offset), ours) in offsets.iter().enumerate().zip(strings(from)) {
        // SAFETY: the plan of `T` states that a string is at this offset, and its strings do not overlap.
        let theirs = unsafe { &mut *first.wrapping_add(offset).cast::<String>() };
        if !is_same(ours, theirs) && found(at, ours) {
            copy_string(ours, theirs);
        }
    }
}

#[inline(never)]
fn copy_string(from: &String, to: &mut String) {
    // Making a new string takes a third of the time of growing an empty string.
    if to.capacity() == 0 {
        *to = from.clone();
    } else {
        to.clone_from(from);
    }
}

/// Returns whether two strings are equal. Short strings are compared without a call of `memcmp`.
#[inline]
fn is_same(one: &String, other: &String) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if one.len() != other.len() {
        return false;
    }
    match (ends_of(one), ends_of(other)) {
        (Some(one), Some(other)) => one == other,
        _ => one == other,
    }
}

/// Returns the first and the last 8 bytes of a slice of 8 to 16 bytes. The two may overlap. Returns zeros for
/// an empty slice.
#[inline]
fn ends_of(bytes: &[u8]) -> Option<[u64; 2]> {
    match (bytes.first_chunk(), bytes.last_chunk()) {
        (Some(first), Some(last)) if bytes.len() <= 16 => {
            Some([u64::from_ne_bytes(*first), u64::from_ne_bytes(*last)])
        }
        _ if bytes.is_empty() => Some([0; 2]),
        _ => None,
    }
}
