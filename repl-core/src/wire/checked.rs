//! The positions in the input that validation stores for the apply pass: the start and end of each update,
//! and the ends of keys and of values that user code reads.
//!
//! *Invariant:* only [`Class::validate`](crate::Class::validate) fills a `Checked`. Because of the stored
//! positions, the apply pass knows where to continue, even if user code reads a value differently the second
//! time.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::ops::Range;

use crate::bits::{BitReader, BitSlice, ReadError};

/// The positions that were stored for validated updates, in the order of the updates. Reuse one `Checked` for
/// many packets, so that packets do not allocate memory.
#[derive(Debug, Default)]
pub struct Checked {
    /// The positions at the ends of map keys and of values that user code reads.
    ends: Vec<u32>,
    updates: Vec<Span>,
    /// The index of the next update to take.
    next: usize,
    asked: bool,
    /// Whether a key of the update that is being validated refers to an object.
    refers: bool,
}

/// One validated update: the positions of its start and its end, and the length of `ends` after the update.
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    start: u32,
    end: u32,
    ends: u32,
    refers: bool,
}

/// A position in a [`Checked`]. [`Checked::truncate`] can return to it.
#[derive(Clone, Copy, Debug)]
pub struct CheckedMark {
    ends: usize,
    updates: usize,
}

/// The bits of one validated update, which is about to be applied.
#[derive(Clone, Debug)]
pub struct CheckedUpdate<'c, 'b> {
    pub(crate) reader: BitReader<'b>,
    /// The position of `reader` after the update.
    pub(crate) end: usize,
    pub(crate) ends: Ends<'c>,
}

/// The end positions of the values of one update in the input, in the order of reading.
#[derive(Clone, Debug)]
pub(crate) struct Ends<'c> {
    positions: std::slice::Iter<'c, u32>,
    /// Whether any key in the update refers to an object.
    pub(crate) refers: bool,
}

impl Checked {
    /// Returns a `Checked` without updates.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Removes all stored positions and keeps the memory.
    pub fn clear(&mut self) {
        self.ends.clear();
        self.updates.clear();
        (self.next, self.asked, self.refers) = (0, false, false);
    }

    /// Returns the current end of the stored positions, for [`truncate`](Self::truncate).
    #[must_use]
    pub fn mark(&self) -> CheckedMark {
        CheckedMark { ends: self.ends.len(), updates: self.updates.len() }
    }

    /// Removes the positions that were stored since `mark`.
    pub fn truncate(&mut self, mark: CheckedMark) {
        self.ends.truncate(mark.ends);
        self.updates.truncate(mark.updates);
        self.refers = false;
    }

    /// Returns whether the updates that were stored since `mark`, except the first of them, each take at
    /// least `bits` bits.
    #[must_use]
    pub fn rest_takes(&self, mark: CheckedMark, bits: usize) -> bool {
        let rest = self.updates.iter().skip(mark.updates).skip(1);
        rest.into_iter().all(|span| span.end.saturating_sub(span.start) as usize >= bits)
    }

    /// Returns whether user code resolved a reference while it read a value. In this case, the result of the
    /// read may depend on which objects existed.
    #[must_use]
    pub fn has_asked(&self) -> bool {
        self.asked
    }

    /// Returns the next validated update, and moves `reader` past it. `reader` reads the same bits as the
    /// reader of the validation, and has not read the update yet.
    pub fn take<'b>(&mut self, reader: &mut BitReader<'b>) -> CheckedUpdate<'_, 'b> {
        let before =
            self.next.checked_sub(1).and_then(|last| self.updates.get(last)).copied().unwrap_or_default();
        let span = self.updates.get(self.next).copied().unwrap_or_default();
        self.next = self.next.saturating_add(1);
        let ends = self.ends.get(before.ends as usize..span.ends as usize).unwrap_or_default();
        let (start, end) = (span.start as usize, span.end as usize);
        move_to(start, reader);
        let ends = Ends { positions: ends.iter(), refers: span.refers };
        let update = CheckedUpdate { reader: reader.clone(), end, ends };
        move_to(end, reader);
        update
    }

    /// Records that a value ended at `position`, and whether user code resolved a reference while it read the
    /// value (`asked`).
    pub(crate) fn value(&mut self, position: usize, asked: bool) {
        self.ends.push(position as u32);
        self.asked |= asked;
    }

    pub(crate) fn key_refers(&mut self) {
        self.refers = true;
    }

    /// Records the positions at which an update started and ended.
    pub(crate) fn update(&mut self, positions: Range<usize>) {
        let refers = std::mem::take(&mut self.refers);
        let (start, end) = (positions.start as u32, positions.end as u32);
        self.updates.push(Span { start, end, ends: self.ends.len() as u32, refers });
    }
}

fn move_to(position: usize, reader: &mut BitReader<'_>) {
    // Validation has read these bits already, so `skip_bits` cannot fail.
    let skipped = reader.skip_bits(position.wrapping_sub(reader.position()));
    debug_assert_eq!(skipped, Ok(()), "an update that was not validated");
}

impl CheckedUpdate<'_, '_> {
    /// Returns whether any key of a map in the update refers to an object.
    #[must_use]
    pub fn refers(&self) -> bool {
        self.ends.refers
    }
}

impl Ends<'_> {
    /// Returns the bits of the next value that user code reads, and moves `reader` past them.
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
        checked.update(0..5);
        checked.update(6..9);
        let mark = checked.mark();
        checked.value(11, true);
        checked.update(9..12);
        checked.truncate(mark);
        checked.value(10, true);
        checked.value(20, false);
        checked.update(9..21);
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
