//! Joined leaves: leaves that follow one another both in memory and on the wire, so that they are compared,
//! copied, written and read together. A leaf is a value that is sent as a unit.
//!
//! *Invariant:* the wire form of joined leaves equals the wire forms of the leaves one after another. So
//! nobody can see on the wire which leaves were joined.

use crate::schema::codec::Direct;

/// The greatest number of leaves that are joined.
const MAX_LEAVES: u16 = 64;

/// How many leaves are joined, beginning with one leaf of a program. The joined leaves have consecutive
/// commands, and their values lie in memory without gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Joined {
    /// The number of leaves. It is zero if the wire form of the first leaf differs from its form in memory.
    pub(crate) leaves: u16,
    /// The number of bytes of all leaves in memory.
    pub(crate) bytes: u16,
    /// Whether the leaves are `bool`s, which take a byte in memory and a bit on the wire. The bytes of all
    /// other joined leaves equal their bits.
    pub(crate) are_flags: bool,
}

impl Joined {
    /// No leaves.
    pub(crate) const NONE: Self = Self { leaves: 0, bytes: 0, are_flags: false };

    /// Returns one leaf with this direct form.
    pub(crate) const fn of(direct: Option<Direct>) -> Self {
        match direct {
            // On a big-endian target, the bytes of a number are in another order than its bits.
            Some(Direct { bytes, bits, flip: 0 }) if cfg!(target_endian = "little") => {
                Self { leaves: 1, bytes: bytes as u16, are_flags: bits == 1 }
            }
            _ => Self::NONE,
        }
    }

    /// Returns this leaf joined with the leaves of `rest`, which come right after it both in memory and on
    /// the wire. Returns this leaf alone if they cannot be joined.
    pub(crate) const fn with(self, rest: Self) -> Self {
        let are_alike = self.leaves == 1 && rest.leaves > 0 && self.are_flags == rest.are_flags;
        if !are_alike || rest.leaves >= MAX_LEAVES {
            return self;
        }
        Self { leaves: rest.leaves + 1, bytes: self.bytes + rest.bytes, ..self }
    }

    /// Returns how many bits the leaves take on the wire.
    pub(crate) const fn bits(self) -> u32 {
        if self.are_flags { self.leaves as u32 } else { self.bytes as u32 * 8 }
    }
}
