//! The position of a subobject's parent, as the opening of the subobject contains it.
//!
//! *Invariant:* no object is its own parent.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::num::NonZeroI32;

use repl_core::{BitReader, BitWriter, ReadError};

use super::role::PROXY_BITS;

/// The greatest number of additional bits that an opening takes if it contains a [`ParentGap`].
pub(crate) const PARENT_BITS: usize = PROXY_BITS + 65;

/// The slot of a subobject minus the slot of its parent. If many parents have one subobject of the same kind
/// each, this difference is mostly the same for all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ParentGap(NonZeroI32);

impl ParentGap {
    pub(crate) fn between(parent: u32, slot: u32) -> Option<Self> {
        let gap = i64::from(slot).saturating_sub(parent.into());
        i32::try_from(gap).ok().and_then(NonZeroI32::new).map(Self)
    }

    /// Returns the slot of the parent of the subobject in `slot`, or `None` if the result is not a valid
    /// slot.
    pub(crate) fn parent_of(self, slot: u32) -> Option<u32> {
        u32::try_from(i64::from(slot).checked_sub(self.0.get().into())?).ok()
    }

    pub(crate) fn write(self, writer: &mut BitWriter) {
        writer.write_flag(self.0.get() < 0);
        writer.write_exp_golomb(u64::from(self.0.get().unsigned_abs()).saturating_sub(1), 1);
    }

    /// Reads a gap that [`write`](Self::write) wrote.
    pub(crate) fn read(reader: &mut BitReader<'_>) -> Result<Self, ReadError> {
        let is_below = reader.read_flag()?;
        let distance = i32::try_from(reader.read_exp_golomb(1)?).ok().and_then(|less| less.checked_add(1));
        let gap = distance.map(|gap| if is_below { gap.saturating_neg() } else { gap });
        gap.and_then(NonZeroI32::new).map(Self).ok_or(ReadError::OutOfRange)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_read_as_they_are_written() {
        let pairs = [(0, 1), (7, 8), (8, 7), (0, 1 << 30), (1 << 30, 0), (100, 90)];
        for (parent, slot) in pairs {
            let gap = ParentGap::between(parent, slot).expect("they differ");
            let mut writer = BitWriter::new();
            gap.write(&mut writer);
            assert!(writer.bit_len() + PROXY_BITS <= PARENT_BITS);
            assert_eq!(ParentGap::read(&mut writer.as_slice().reader()), Ok(gap));
            assert_eq!(gap.parent_of(slot), Some(parent));
        }
        assert_eq!(ParentGap::between(3, 3), None);
    }

    #[test]
    fn a_parent_beyond_all_slots_is_none() {
        let gap = ParentGap::between(5, 9).expect("they differ");
        assert_eq!(gap.parent_of(3), None);
    }
}
