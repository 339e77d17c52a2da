//! Hunks: which stretches of a list are removed, and what is inserted in their places.
//!
//! *Invariant:* the hunks of a difference are in the order of the list, and do not overlap.

use std::ops::Range;

use imara_diff::{Algorithm, Diff, Token};

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
const LEAST_BETWEEN: u32 = 3;

/// Finds how a new list differs from an old one. `tokens` returns numbers for the units in a range of the old
/// list and in one of the new list: equal numbers for equal units.
pub(super) fn hunks(
    (old, new): (usize, usize),
    is_same: impl Fn(usize, usize) -> bool,
    tokens: impl FnOnce(Range<usize>, Range<usize>) -> (Vec<Token>, Vec<Token>),
) -> Vec<Hunk> {
    let most = old.min(new);
    let before = (0..most).take_while(|&at| is_same(at, at)).count();
    let from_end = |len: usize, at: usize| len.wrapping_sub(1).wrapping_sub(at);
    let left = most.saturating_sub(before);
    let after = (0..left).take_while(|&at| is_same(from_end(old, at), from_end(new, at))).count();
    let (old, new) = (before..old.saturating_sub(after), before..new.saturating_sub(after));
    if old.is_empty() && new.is_empty() {
        return Vec::new();
    }
    if old.is_empty() || new.is_empty() {
        return vec![Hunk { same: before, removed: old.len(), inserted: new }];
    }
    let (old, new) = tokens(old, new);
    let mut diff = Diff::default();
    diff.compute_with(Algorithm::Myers, &old, &new, 0);
    let mut found: Vec<imara_diff::Hunk> = Vec::new();
    for hunk in diff.hunks() {
        match found.last_mut() {
            Some(last) if hunk.before.start.saturating_sub(last.before.end) < LEAST_BETWEEN => {
                (last.before.end, last.after.end) = (hunk.before.end, hunk.after.end);
            }
            _ => found.push(hunk),
        }
    }
    let (mut end, start) = (0, before);
    let hunk = |hunk: imara_diff::Hunk| {
        let first = start.saturating_add(hunk.before.start as usize);
        let same = first.saturating_sub(end);
        end = start.saturating_add(hunk.before.end as usize);
        let inserted = |at: u32| start.saturating_add(at as usize);
        Hunk {
            same,
            removed: hunk.before.len(),
            inserted: inserted(hunk.after.start)..inserted(hunk.after.end),
        }
    };
    found.into_iter().map(hunk).collect()
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
