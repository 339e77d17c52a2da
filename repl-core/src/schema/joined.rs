//! Joined leaves: leaves that follow one another both in memory and on the wire, so that they are compared,
//! copied, written and read together. A leaf is a value that is sent as a unit.
//!
//! *Invariant:* the wire form of joined leaves equals the wire forms of the leaves one after another. So
//! nobody can see on the wire which leaves were joined.

use crate::schema::codec::Direct;

const MAX_LEAVES: u16 = 64;

/// How many leaves are joined, beginning with one leaf of a program. The joined leaves have consecutive
/// commands, and their values lie in memory without gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Joined {
    /// The number of leaves. It is zero if the wire form of the first leaf differs from its form in memory.
    pub(crate) leaves: u16,
    /// The number of bytes of all leaves in memory.
    pub(crate) bytes: u16,
    pub(crate) form: Form,
}

/// How the bytes of joined leaves become bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// The bytes are the bits.
    Number,
    /// The leaves are `bool`s, which take a byte in memory and a bit on the wire.
    Flags,
    /// There is one leaf, a signed integer. Its highest bit is inverted on the wire.
    Signed,
}

impl Joined {
    pub(crate) const NONE: Self = Self { leaves: 0, bytes: 0, form: Form::Number };

    /// Returns one leaf with this direct form (its wire form equals its form in memory).
    pub(crate) const fn of(direct: Option<Direct>) -> Self {
        match direct {
            // On a big-endian target, the bytes of a number are in another order than its bits.
            Some(Direct { bytes, bits, flip }) if cfg!(target_endian = "little") => {
                let form = if bits == 1 {
                    Form::Flags
                } else if flip != 0 {
                    Form::Signed
                } else {
                    Form::Number
                };
                Self { leaves: 1, bytes: bytes as u16, form }
            }
            _ => Self::NONE,
        }
    }

    /// Returns this leaf joined with the leaves of `rest`, which come right after it both in memory and on
    /// the wire. Returns this leaf alone if the leaves cannot be joined.
    pub(crate) const fn with(self, rest: Self) -> Self {
        let are_alike = match (self.form, rest.form) {
            (Form::Number, Form::Number) | (Form::Flags, Form::Flags) => self.leaves == 1 && rest.leaves > 0,
            _ => false,
        };
        if !are_alike || rest.leaves >= MAX_LEAVES {
            return self;
        }
        Self { leaves: rest.leaves + 1, bytes: self.bytes + rest.bytes, ..self }
    }

    /// Returns the bit that is inverted on the wire if there is one signed leaf.
    pub(crate) const fn flip(self) -> u64 {
        1 << (self.bytes * 8 - 1)
    }
}
