//! Checksums of the layouts of object types. Server and client compare the checksums of their layouts before
//! any state is sent.
//!
//! *Invariant:* a checksum covers wire names, wire types, widths, conditions, quantisers, and names and
//! versions of users' serialisers. A checksum never covers offsets, sizes in memory or the width of a pointer
//! (R21), so the same source has the same checksum on every compiler and target.

/// The prime of 64-bit FNV.
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// The powers of [`PRIME`]. For a zero byte, FNV only multiplies the sum by the prime. Most numbers contain
/// several zero bytes, so one multiplication by a power handles them together. This matters because the
/// compiler computes checksums slowly.
const PRIMES: [u64; 9] = {
    let (mut powers, mut i) = ([1_u64; 9], 1);
    while i < powers.len() {
        powers[i] = PRIME.wrapping_mul(powers[i - 1]);
        i += 1;
    }
    powers
};

/// A 64-bit FNV-1a checksum that can be computed in constant expressions.
#[derive(Clone, Copy)]
pub struct Checksum(u64);

impl Checksum {
    /// Returns a checksum to which nothing has been added yet.
    #[must_use]
    pub const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Returns the checksum of one text.
    #[must_use]
    pub const fn of(text: &str) -> u64 {
        Self::new().text(text).finish()
    }

    /// Adds a text and an end mark to the checksum.
    #[must_use]
    pub const fn text(self, text: &str) -> Self {
        let bytes = text.as_bytes();
        let (mut sum, mut i) = (self.0, 0);
        while i < bytes.len() {
            sum = (sum ^ bytes[i] as u64).wrapping_mul(PRIME);
            i += 1;
        }
        Self((sum ^ 0xff).wrapping_mul(PRIME))
    }

    /// Adds a number to the checksum, as eight bytes.
    #[must_use]
    pub const fn number(self, number: u64) -> Self {
        let (mut sum, mut rest, mut zeros) = (self.0, number, 8);
        while rest > 0 {
            sum = (sum ^ rest & 0xff).wrapping_mul(PRIME);
            (rest, zeros) = (rest >> 8, zeros - 1);
        }
        Self(sum.wrapping_mul(PRIMES[zeros]))
    }

    /// Returns the value of the checksum.
    #[must_use]
    pub const fn finish(self) -> u64 {
        self.0
    }
}

impl Default for Checksum {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the checksum of bytes, as the definition of 64-bit FNV-1a says.
    fn fnv(bytes: &[u8]) -> u64 {
        let add = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        bytes.iter().fold(0xcbf2_9ce4_8422_2325, add)
    }

    #[test]
    fn r21_numbers_and_texts_are_added_byte_by_byte() {
        for number in [0, 1, 0xff, 0x100, 0x00ff_0000_0001, 1 << 56, u64::MAX] {
            assert_eq!(Checksum::new().number(number).finish(), fnv(&number.to_le_bytes()), "{number}");
        }
        assert_eq!(Checksum::of("position"), fnv(b"position\xff"));
        let both = Checksum::new().text("").number(7).finish();
        assert_eq!(both, fnv(&[&[0xff], 7_u64.to_le_bytes().as_slice()].concat()));
    }
}
