//! What validation leaves for the pass that applies: where each update ended, and each value that a reader of
//! the user's own read.
//!
//! Invariant: only [`Class::validate`](crate::Class::validate) fills it; so whoever applies knows where to go
//! on, whatever readers answer the second time.
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

use crate::bits::{BitReader, BitSlice, ReadError};

/// Updates that were validated, in order. To be used again, so that a packet allocates nothing.
#[derive(Debug, Default)]
pub struct Checked {
    /// The positions at which values of readers of the user's own ended, and keys.
    ends: Vec<u32>,
    updates: Vec<Span>,
    /// The next update to be taken.
    next: usize,
    asked: bool,
    /// Whether a key of the update that is being validated mentions an object.
    refers: bool,
}

/// One update: its last position, and how many of the ends are of it and those before.
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    bits: u32,
    ends: u32,
    refers: bool,
}

/// How far a [`Checked`] was filled.
#[derive(Clone, Copy, Debug)]
pub struct CheckedMark {
    ends: usize,
    updates: usize,
}

/// The bits of one update that was validated, to be applied.
#[derive(Clone, Debug)]
pub struct CheckedUpdate<'c, 'b> {
    pub(crate) reader: BitReader<'b>,
    /// Where `reader` stands at the end.
    pub(crate) end: usize,
    pub(crate) ends: Ends<'c>,
}

/// The ends of values within one update, in the order of the walk.
#[derive(Clone, Debug)]
pub(crate) struct Ends<'c> {
    positions: std::slice::Iter<'c, u32>,
    /// Whether keys mention objects.
    pub(crate) refers: bool,
}

impl Checked {
    /// Holds nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets all, keeping the memory.
    pub fn clear(&mut self) {
        self.ends.clear();
        self.updates.clear();
        (self.next, self.asked, self.refers) = (0, false, false);
    }

    /// How far it is filled, for [`truncate`](Self::truncate).
    #[must_use]
    pub fn mark(&self) -> CheckedMark {
        CheckedMark { ends: self.ends.len(), updates: self.updates.len() }
    }

    /// Forgets what was validated since `mark`.
    pub fn truncate(&mut self, mark: CheckedMark) {
        self.ends.truncate(mark.ends);
        self.updates.truncate(mark.updates);
        self.refers = false;
    }

    /// Whether a reader of the user's own has asked for a reference, so that what it made of the bits may
    /// depend on the objects that were there.
    #[must_use]
    pub fn has_asked(&self) -> bool {
        self.asked
    }

    /// Takes the next update; `reader` must stand where that update began, and stands behind it afterwards.
    pub fn take<'b>(&mut self, reader: &mut BitReader<'b>) -> CheckedUpdate<'_, 'b> {
        let before =
            self.next.checked_sub(1).and_then(|last| self.updates.get(last)).copied().unwrap_or_default();
        let span = self.updates.get(self.next).copied().unwrap_or_default();
        self.next = self.next.saturating_add(1);
        let ends = self.ends.get(before.ends as usize..span.ends as usize).unwrap_or_default();
        let end = span.bits as usize;
        let update = CheckedUpdate {
            reader: reader.clone(),
            end,
            ends: Ends { positions: ends.iter(), refers: span.refers },
        };
        let left = end.saturating_sub(reader.position());
        // Validation has read as far.
        let skipped = reader.skip_bits(left);
        debug_assert!(skipped.is_ok(), "an update that was not validated");
        update
    }

    /// A value ended at `position`, and has `asked` for a reference or not.
    pub(crate) fn value(&mut self, position: usize, asked: bool) {
        self.ends.push(position as u32);
        self.asked |= asked;
    }

    /// A key that was read mentions an object.
    pub(crate) fn key_refers(&mut self) {
        self.refers = true;
    }

    /// An update ended at `position`.
    pub(crate) fn update(&mut self, position: usize) {
        let refers = std::mem::take(&mut self.refers);
        self.updates.push(Span { bits: position as u32, ends: self.ends.len() as u32, refers });
    }
}

impl CheckedUpdate<'_, '_> {
    /// Whether a key of a map in it mentions an object.
    #[must_use]
    pub fn refers(&self) -> bool {
        self.ends.refers
    }
}

impl Ends<'_> {
    /// The bits of the next value, which `reader` then stands behind.
    pub(crate) fn take<'b>(&mut self, reader: &mut BitReader<'b>) -> Result<BitSlice<'b>, ReadError> {
        let end = *self.positions.next().ok_or(ReadError::End)? as usize;
        reader.take(end.checked_sub(reader.position()).ok_or(ReadError::End)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_update_is_taken_with_its_own_ends() {
        let bytes = [0; 8];
        let mut checked = Checked::new();
        checked.value(3, false);
        checked.update(5);
        checked.update(9);
        let mark = checked.mark();
        checked.value(11, true);
        checked.update(12);
        checked.truncate(mark);
        checked.value(10, true);
        checked.value(20, false);
        checked.update(21);
        assert!(checked.has_asked());
        let mut reader = BitReader::new(&bytes);
        let mut take = |reader: &mut BitReader<'_>| {
            let mut update = checked.take(reader);
            std::iter::from_fn(|| update.ends.take(&mut update.reader).ok().map(|bits| bits.len()))
                .collect::<Vec<_>>()
        };
        assert_eq!((take(&mut reader), reader.position()), (vec![3], 5));
        assert_eq!((take(&mut reader), reader.position()), (vec![], 9));
        assert_eq!((take(&mut reader), reader.position()), (vec![1, 10], 21));
    }
}
