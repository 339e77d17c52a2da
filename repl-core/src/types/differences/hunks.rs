//! Hunks: which stretches of a list are removed, and what is inserted in their places.
//!
//! *Invariant:* the hunks of a difference are in the order of the list, and do not overlap.

use std::ops::Range;

use super::area::{Area, Stretch};
use super::stretches::stretches;
use crate::bits::{BitReader, BitWriter, ReadError, WriteError, width_bits};

/// A stretch of the old list that is replaced by a stretch of the new one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hunk {
    /// How many units are the same since the end of the hunk before, or since the beginning.
    same: usize,
    /// How many units of the old list are removed.
    removed: usize,
    /// The units of the new list that are inserted.
    inserted: Range<usize>,
}

/// Two hunks with fewer units between them are one, because each hunk takes about 20 bits.
const LEAST_BETWEEN: usize = 3;

/// Finds how a new list differs from an old one. `is_same` compares a unit of the old list with one of
/// the new list. `hashes` returns hashes of the units in both parts of an area: equal units have equal
/// hashes.
pub(super) fn hunks(
    (old, new): (usize, usize),
    is_same: impl Fn(usize, usize) -> bool,
    hashes: impl FnOnce(Area) -> (Vec<u64>, Vec<u64>),
) -> Vec<Hunk> {
    let mut stretches = stretches((old, new), is_same, hashes);
    let is_at_an_edge = |stretch: &Stretch| {
        let (old_end, new_end) = stretch.ends();
        (stretch.old, stretch.new) == (0, 0) || (old_end, new_end) == (old, new)
    };
    stretches.retain(|stretch| stretch.len >= LEAST_BETWEEN || is_at_an_edge(stretch));
    let (mut hunks, mut end, mut same) = (Vec::new(), (0, 0), 0);
    for next in stretches.into_iter().chain([Stretch { old, new, len: 0 }]) {
        let (removed, inserted) = (next.old.saturating_sub(end.0), end.1..next.new);
        if removed > 0 || !inserted.is_empty() {
            hunks.push(Hunk { same, removed, inserted });
        }
        (end, same) = (next.ends(), next.len);
    }
    hunks
}

/// Writes hunks. `write` writes the units of the new list in a range.
pub(super) fn write_hunks(
    old: usize,
    hunks: &[Hunk],
    writer: &mut BitWriter,
    mut write: impl FnMut(Range<usize>, &mut BitWriter) -> Result<(), WriteError>,
) -> Result<(), WriteError> {
    let mut left = old;
    for Hunk { same, removed, inserted } in hunks {
        writer.write_flag(true);
        writer.write_bits(*same as u64, width_bits((left as u64).saturating_add(1)));
        writer.write_exp_golomb(*removed as u64, 0);
        write(inserted.clone(), writer)?;
        left = left.saturating_sub(*same).saturating_sub(*removed);
    }
    writer.write_flag(false);
    Ok(())
}

/// Reads hunks, and calls `same` for each range of the old list that stays, and `insert` to read what is
/// inserted after it.
pub(super) fn read_hunks<B>(
    old: usize,
    reader: &mut BitReader<'_>,
    built: &mut B,
    same: impl Fn(&mut B, Range<usize>),
    mut insert: impl FnMut(&mut B, &mut BitReader<'_>) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    let mut at = 0_usize;
    while reader.read_flag()? {
        let left = old.saturating_sub(at);
        let stay = reader.read_bits(width_bits((left as u64).saturating_add(1)))? as usize;
        let removed = usize::try_from(reader.read_exp_golomb(0)?).map_err(|_| ReadError::OutOfRange)?;
        let end = stay.checked_add(removed).filter(|end| *end <= left).ok_or(ReadError::OutOfRange)?;
        same(built, at..at.saturating_add(stay));
        insert(built, reader)?;
        at = at.saturating_add(end);
    }
    same(built, at..old);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the hunks between two texts: how many bytes are the same, how many are removed, and where the
    /// inserted ones are in the new text.
    fn between(old: &str, new: &str) -> Vec<(usize, usize, Range<usize>)> {
        let (old, new) = (old.as_bytes(), new.as_bytes());
        let hashes = |bytes: &[u8], (start, end)| bytes[start..end].iter().map(|&byte| byte.into()).collect();
        let is_same = |one: usize, other: usize| old[one] == new[other];
        let found =
            hunks((old.len(), new.len()), is_same, |area| (hashes(old, area.old), hashes(new, area.new)));
        found.into_iter().map(|Hunk { same, removed, inserted }| (same, removed, inserted)).collect()
    }

    #[test]
    fn units_at_both_ends_are_not_sent_even_if_they_are_few() {
        assert_eq!(between("ab", "a-b"), [(1, 0, 1..2)]);
        assert_eq!(between("abc", "-abc"), [(0, 0, 0..1)]);
        assert_eq!(between("ab", "ab"), []);
    }

    #[test]
    fn a_few_units_between_two_changes_are_sent_with_them() {
        assert_eq!(between("0123456789abc", "01234_67_9abc"), [(5, 4, 5..9)]);
        assert_eq!(between("0123456789abc", "01234_678_abc"), [(5, 1, 5..6), (3, 1, 9..10)]);
    }
}
