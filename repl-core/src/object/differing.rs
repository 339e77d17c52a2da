//! Finds the bytes in which two stretches of memory differ, and returns them as the bits of a mask.
//!
//! *Invariant:* only the bytes of the stretches are read. The memory after them may be invalid.
#![expect(unsafe_code, reason = "compares plain memory")]

use super::scan::{load, wide};

/// The greatest number of bytes that are compared at once, because each byte has a bit in a mask.
pub(super) const MAX_BYTES: usize = 64;

/// Returns a bit for each byte that differs. If the compiler knows the length, the compiled code has no
/// branches.
///
/// # Safety
/// Both pointers point to `len` initialised bytes. `len` is 1 to 64.
#[inline(always)]
pub(super) unsafe fn differing_bytes(one: *const u8, other: *const u8, len: usize) -> u64 {
    let width = match len {
        0..4 => 1,
        4..8 => 4,
        8..16 => 8,
        _ => 16,
    };
    let (mut same, mut at) = (0, 0);
    while at < len {
        // The last load may overlap the load before it.
        let begin = at.min(len - width);
        let (one, other) = (one.wrapping_add(begin), other.wrapping_add(begin));
        // SAFETY: `begin + width` is at most `len`.
        let found = unsafe { same_bytes(one, other, width) };
        same |= (found >> (at - begin)) << at;
        at += width;
    }
    !same & (u64::MAX >> (MAX_BYTES - len))
}

/// Returns a bit for each byte that is the same in both places. `bytes` is 1, 4, 8 or 16.
///
/// # Safety
/// Both pointers point to `bytes` initialised bytes.
#[inline(always)]
unsafe fn same_bytes(one: *const u8, other: *const u8, bytes: usize) -> u64 {
    if bytes == 16 {
        // SAFETY: as for this function.
        return unsafe { wide::same_bytes(one, other) };
    }
    // SAFETY: as for this function.
    let one = unsafe { load(one, bytes) };
    // SAFETY: as for this function.
    wide::same_bytes_of(one, unsafe { load(other, bytes) }) & (u64::MAX >> (MAX_BYTES - bytes))
}

/// `bytes` is a mask of bytes. For each value that contains one of these bytes, returns the bit of its last
/// byte. `last` contains the bit of the last byte of every value.
#[inline]
pub(super) const fn last_of_values(bytes: u64, last: u64) -> u64 {
    // The sum adds one to each bit of a value except the last bit. If any of these bits is set, the sum
    // carries into the last bit.
    ((bytes & !last).wrapping_add(!last) | bytes) & last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_differs_if_any_of_its_bytes_differs() {
        let values = [(0, 4), (0, 1), (3, 8), (1, 2), (0, 1), (0, 16), (4, 12), (0, 8), (3, 1)];
        let mut ranges = Vec::new();
        let mut end = 0;
        for (gap, bytes) in values {
            end += gap + bytes;
            ranges.push(end - bytes..end);
        }
        assert_eq!(end, 64);
        let owned = ranges.iter().flat_map(Clone::clone).fold(0, |mask, at| mask | 1_u64 << at);
        let last = ranges.iter().fold(0, |mask, range| mask | 1_u64 << (range.end - 1));
        for one in 0..64 {
            for other in 0..64 {
                let bytes = (1 << one | 1 << other) & owned;
                let differing =
                    ranges.iter().filter(|range| (range.start..range.end).any(|at| bytes >> at & 1 == 1));
                let expected = differing.fold(0, |mask, range| mask | 1 << (range.end - 1));
                assert_eq!(last_of_values(bytes, last), expected, "bytes {one} and {other}");
            }
        }
    }

    #[test]
    fn each_byte_that_differs_is_found() {
        let one: [u8; 64] = std::array::from_fn(|at| at as u8);
        for len in 1..=64 {
            for (first, second) in (0..len).flat_map(|first| (0..len).map(move |second| (first, second))) {
                let mut other = one;
                other[first] ^= 0x80;
                other[second] ^= 0x01;
                // SAFETY: both arrays have 64 bytes.
                let found = unsafe { differing_bytes(one.as_ptr(), other.as_ptr(), len) };
                assert_eq!(found, 1 << first | 1 << second, "{len} bytes");
            }
        }
    }

    #[test]
    fn words_differ_in_the_same_bytes_as_their_vectors() {
        for (one, other) in [(0, 0), (0, u64::MAX), (0x0100_ff00_0000_8001, 0), (0x80, 0x8000_0000_0000_0000)]
        {
            let bytes = (0..8).filter(|at| (one ^ other) >> (at * 8) & 0xff != 0);
            let differing = bytes.fold(0, |mask, at| mask | 1 << at);
            assert_eq!(wide::same_bytes_of(one, other) & 0xff, !differing & 0xff);
        }
    }
}
