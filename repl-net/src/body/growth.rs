//! The growth and shrinking of lists that have one entry for each object.
//!
//! *Invariant:* a list that grows allocates memory for at most [`MOST_FACTOR`] times its number of entries.

/// Lists that take fewer bytes than this grow by the factor [`MOST_FACTOR`], and larger lists by the factor
/// 2.
const LARGE_BYTES: usize = 1 << 20;
/// Growing a list copies all its entries to new memory. This costs more than the work for a new entry, so
/// small lists grow by a large factor. The part of the new memory that is not used yet costs nothing.
const MOST_FACTOR: usize = 4;

/// Adds the entry that `make` returns to the end of a list. `make` is called after memory was allocated, so
/// that the entry is written directly into the list and is not copied.
#[inline]
pub(crate) fn push_with<T>(list: &mut Vec<T>, make: impl FnOnce() -> T) {
    if list.len() == list.capacity() {
        grow(list);
    }
    list.push(make());
}

#[inline(never)]
fn grow<T>(list: &mut Vec<T>) {
    let is_small = list.len().saturating_mul(size_of::<T>()) < LARGE_BYTES;
    list.reserve(if is_small { list.len() * (MOST_FACTOR - 1) } else { list.len() }.max(1));
}

/// Records how many entries a group of lists with equal lengths needed, to decide how much memory the lists
/// free at the end of a round (see [`ROUND_TICKS`](repl_link::parts::ROUND_TICKS)).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Demand {
    /// The greatest length in this round that was [recorded](Self::note).
    most: usize,
    /// The greatest length in the previous round.
    before: usize,
    /// The number of entries for which the user has reserved memory.
    reserved: usize,
}

impl Demand {
    /// Records the current length. Call this before the lists become shorter.
    #[inline]
    pub(crate) fn note(&mut self, len: usize) {
        self.most = self.most.max(len);
    }

    /// Records that the user reserves memory for `entries` entries. The lists keep this memory.
    pub(crate) fn reserve(&mut self, entries: usize) {
        self.reserved = self.reserved.max(entries);
    }

    /// Ends a round. `len` is the current length of the lists. Returns the number of entries for which the
    /// lists keep memory: one sixteenth more than the greatest length of the round, plus twice the growth
    /// since the previous round.
    pub(crate) fn end_round(&mut self, len: usize) -> usize {
        let most = std::mem::take(&mut self.most).max(len);
        let grown = most.saturating_sub(std::mem::replace(&mut self.before, most));
        (most + most / 16 + grown * 2).max(self.reserved)
    }
}

/// Reduces the capacity of a list to `kept` entries, if it is more than 9/8 of `kept`.
pub(crate) fn shrink<T>(list: &mut Vec<T>, kept: usize) {
    if list.capacity() > kept + kept / 8 {
        list.shrink_to(kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_lists_grow_faster_than_large_ones() {
        let mut list = Vec::new();
        for entry in 0..3 * LARGE_BYTES / 64 {
            push_with(&mut list, || [entry as u64; 8]);
            let factor = if list.len() * 64 > 2 * LARGE_BYTES { 2 } else { MOST_FACTOR };
            assert!(list.capacity() <= 8.max(list.len() * factor));
        }
        assert!(list.iter().zip(0..).all(|(entry, number)| *entry == [number; 8]));
    }

    #[test]
    fn lists_that_stay_as_they_are_keep_a_sixteenth_more_than_they_need() {
        let (mut demand, mut list) = (Demand::default(), vec![0_u8; 1_600]);
        let mut end_round = |list: &mut Vec<u8>| {
            let kept = demand.end_round(list.len());
            shrink(list, kept);
            list.capacity()
        };
        list.reserve_exact(4_800);
        assert!(end_round(&mut list) >= 1_600 * 3, "it has grown in this round");
        assert_eq!(end_round(&mut list), 1_700);
        list.truncate(1_595);
        assert_eq!(end_round(&mut list), 1_700, "a little too much memory is kept");
    }

    #[test]
    fn what_a_round_needed_at_some_time_is_kept_and_so_is_what_the_user_has_reserved() {
        let mut demand = Demand::default();
        demand.note(3_200);
        demand.end_round(0);
        demand.note(3_200);
        assert_eq!(demand.end_round(16), 3_400);
        assert_eq!(demand.end_round(16), 17);
        demand.reserve(1_000);
        assert_eq!(demand.end_round(16), 1_000);
    }
}
