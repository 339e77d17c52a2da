//! The verdicts of the functions that decide which connections see the objects of a class: one bit for each
//! pair of an object and a connection, stored with the connection.
//!
//! *Invariant:* a verdict changes only when the function is called for its pair, or when the object is
//! removed.

use super::priority::Viewer;
use crate::body::slot_set::bits;
use crate::body::sparse_slots::SparseSlots;

/// The verdicts of all functions about one connection.
#[derive(Debug, Default)]
pub(crate) struct Verdicts {
    /// The objects that the connection sees, according to the last calls of the functions.
    pub(crate) seen: SparseSlots,
    /// Whether something of the connection has changed that functions may read.
    pub(crate) is_outdated: bool,
}

/// Objects of a class whose function is called in this tick.
#[derive(Debug, Default)]
pub(crate) struct Due {
    /// The objects as words of 64 slots, each as its index and its bit mask.
    words: Vec<(u32, u64)>,
    /// The rows of these objects, in the same order.
    rows: Vec<u32>,
}

impl Due {
    pub(crate) fn clear(&mut self) {
        self.words.clear();
        self.rows.clear();
    }

    /// Adds the objects of a word that have a bit in `mask`. `row_of` returns the row of the object in a
    /// slot.
    pub(crate) fn push(&mut self, word: usize, mask: u64, row_of: impl Fn(u32) -> u32) {
        self.words.push((word as u32, mask));
        self.rows.extend(bits(mask).map(|bit| row_of(word as u32 * 64 + bit)));
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }
}

/// What one connection contributes to the calls of a function, and what receives the results.
pub(crate) struct Pairs<'a> {
    pub(crate) viewer: Viewer<'a>,
    /// The objects that the connection owns.
    pub(crate) owned: &'a SparseSlots,
    pub(crate) seen: &'a mut SparseSlots,
    /// Receives the verdicts that have changed, as words of 64 slots with bit masks.
    pub(crate) changed: &'a mut Vec<(u32, u64)>,
}

/// A function that decides which connections see the objects of the class `T`.
pub(crate) trait Decide<T>: Send + Sync {
    /// Calls the function for some objects and one connection. The shadows of the objects are in `rows`. One
    /// call handles many objects, because a dynamic call takes longer than the work for one object.
    fn decide(&self, rows: &[T], due: &Due, pairs: &mut Pairs<'_>);
}

impl<T, F: Fn(&T, &Viewer<'_>) -> bool + Send + Sync> Decide<T> for F {
    fn decide(&self, rows: &[T], due: &Due, pairs: &mut Pairs<'_>) {
        let Pairs { viewer, owned, seen, changed } = pairs;
        let mut left = due.rows.iter();
        for &(word, mask) in &due.words {
            let owned = owned.word(word as usize);
            let mut now = 0;
            for (bit, &row) in bits(mask).zip(&mut left) {
                viewer.is_owner = owned >> bit & 1 == 1;
                now |= u64::from(self(&rows[row as usize], viewer)) << bit;
            }
            let changes = (seen.word(word as usize) ^ now) & mask;
            if changes != 0 {
                seen.insert_mask(word as usize, changes & now);
                seen.remove_mask(word as usize, changes & !now);
                changed.push((word, changes));
            }
        }
    }
}
