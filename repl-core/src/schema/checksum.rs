//! Checksums of the layouts of object types. Server and client compare the checksums of their layouts before
//! any state is sent.
//!
//! *Invariant:* a checksum covers wire names, wire types, widths, conditions, quantisers, and names and
//! versions of users' serialisers. A checksum never covers offsets, sizes in memory or the width of a pointer
//! (R21), so the same source has the same checksum on every compiler and target.

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
        let mut sum = self;
        let mut i = 0;
        while i < bytes.len() {
            sum = sum.byte(bytes[i]);
            i += 1;
        }
        sum.byte(0xff)
    }

    /// Adds a number to the checksum, as eight bytes.
    #[must_use]
    pub const fn number(self, number: u64) -> Self {
        let bytes = number.to_le_bytes();
        let mut sum = self;
        let mut i = 0;
        while i < bytes.len() {
            sum = sum.byte(bytes[i]);
            i += 1;
        }
        sum
    }

    /// Returns the value of the checksum.
    #[must_use]
    pub const fn finish(self) -> u64 {
        self.0
    }

    const fn byte(self, byte: u8) -> Self {
        Self((self.0 ^ byte as u64).wrapping_mul(0x0000_0100_0000_01b3))
    }
}

impl Default for Checksum {
    fn default() -> Self {
        Self::new()
    }
}
