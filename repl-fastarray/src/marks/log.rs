//! The change log of an array: which items were written to or removed since shadows were last updated from
//! the array.
//!
//! *Invariant:* each entry of the log belongs to one revision. The log contains the entries of the last
//! revisions up to `revision`, without gaps, and no shadow was updated from a later revision.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use repl_core::ItemId;

/// An entry of the log: the change of one item in one revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) id: ItemId,
    /// The item's position when it was changed. The bit [`REMOVED`](Self::REMOVED) is set in `position` if
    /// the item was removed.
    position: u32,
}

impl Entry {
    /// A bit that no position uses, because an array has fewer items than this.
    const REMOVED: u32 = 1 << 31;

    /// Returns the position that the item had when it was changed.
    pub(crate) fn position(self) -> usize {
        (self.position & !Self::REMOVED) as usize
    }

    /// Returns whether this entry records that the item was removed. An entry that does not record a removal
    /// records that the item was written to.
    pub(crate) fn is_removal(self) -> bool {
        self.position & Self::REMOVED != 0
    }
}

/// The changes of an array's items since shadows were last updated from it. If no shadow was ever updated
/// from the array, the log records no changes.
#[derive(Debug, Default)]
pub(crate) struct Log {
    /// Identifies this log among all logs of the process. The number of a log is zero until a shadow is first
    /// updated from the array. A shadow compares the number of the log with the number that it stored earlier
    /// to find out whether the live array was replaced.
    lineage: AtomicU64,
    /// The last revision from which a shadow was updated. The next change of the array drops all entries up
    /// to the followed revision.
    followed: AtomicU64,
    /// The first of the new ids, if the items get new ids when the array is renumbered. `first` is zero if
    /// the items keep their ids.
    first: AtomicU32,
    revision: u64,
    entries: Vec<Entry>,
    /// How far an item may be from the position that is recorded for it in `entries`. `drift` is `u32::MAX`
    /// if items may be anywhere.
    drift: u32,
}

/// The number of lineages that this process has used.
static LINEAGES: AtomicU64 = AtomicU64::new(0);

impl Log {
    /// Returns the lineage of this log, which is the number that identifies it. From the first call of
    /// `lineage` on, the log records changes.
    pub(crate) fn lineage(&self) -> NonZeroU64 {
        if let Some(known) = NonZeroU64::new(self.lineage.load(Ordering::Relaxed)) {
            return known;
        }
        let new = Self::new_lineage();
        match self.lineage.compare_exchange(0, new.get(), Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => new,
            Err(other) => NonZeroU64::new(other).unwrap_or(new),
        }
    }

    fn new_lineage() -> NonZeroU64 {
        NonZeroU64::MIN.saturating_add(LINEAGES.fetch_add(1, Ordering::Relaxed))
    }

    /// Records that this array has replaced another array, so that the items of this array get ids from
    /// `first` on when the array is renumbered. `begin_lineage` returns the new lineage (the number of the
    /// log).
    pub(crate) fn begin_lineage(&self, first: ItemId) -> NonZeroU64 {
        let new = Self::new_lineage();
        self.first.store(first.number(), Ordering::Relaxed);
        self.lineage.store(new.get(), Ordering::Relaxed);
        new
    }

    /// Returns the first new id if the items get new ids. Then drops all log entries, because they contain
    /// the old ids.
    pub(crate) fn renumber(&mut self) -> Option<ItemId> {
        let first = ItemId::new(std::mem::take(self.first.get_mut()))?;
        self.entries.clear();
        self.drift = 0;
        Some(first)
    }

    /// Returns whether the items have their final ids, so that the array need not be renumbered.
    pub(crate) fn has_final_ids(&self) -> bool {
        self.first.load(Ordering::Relaxed) == 0
    }

    /// Returns whether this log has the lineage `lineage` and whether its last revision is `revision`.
    pub(crate) fn is_at(&self, lineage: NonZeroU64, revision: u64) -> bool {
        revision == self.revision && lineage.get() == self.lineage.load(Ordering::Relaxed)
    }

    /// Returns the number of changes recorded so far.
    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    /// Returns the last revision before the revision of the first entry.
    fn base(&self) -> u64 {
        self.revision - self.entries.len() as u64
    }

    /// Returns the log entries after `revision`, or `None` if some of them were dropped. Several log entries
    /// may be about the same item.
    pub(crate) fn since(&self, revision: u64) -> Option<&[Entry]> {
        self.entries.get(revision.checked_sub(self.base())? as usize..)
    }

    /// Returns how far items may be from the recorded positions. Returns `None` if this distance is unknown.
    pub(crate) fn drift(&self) -> Option<usize> {
        (self.drift != u32::MAX).then_some(self.drift as usize)
    }

    /// Records that a shadow was updated from the array at the current revision.
    pub(crate) fn follow(&self) {
        // `fetch_max` would wait for all earlier writes, so it is not used. If two shadows are updated from
        // the array at the same time, one of the two revisions may not be stored in `followed`. If a revision
        // is not stored in `followed`, the only effect is that the log keeps entries longer.
        if self.followed.load(Ordering::Relaxed) < self.revision {
            self.followed.store(self.revision, Ordering::Relaxed);
        }
    }

    /// Drops the log entries that a shadow has read. Returns false if no shadow was ever updated from the
    /// array, because the log then records no changes.
    fn trim(&mut self) -> bool {
        if *self.lineage.get_mut() == 0 {
            return false;
        }
        let followed = *self.followed.get_mut();
        let seen = followed.saturating_sub(self.base());
        self.entries.drain(..seen as usize);
        if self.entries.is_empty() {
            self.drift = 0;
        }
        true
    }

    /// Records that the item `id` at `position`, one of `len` items, was written to.
    pub(crate) fn touch(&mut self, id: ItemId, position: usize, len: usize) {
        self.append(Entry { id, position: position as u32 }, len);
    }

    /// Records that the item `id` was removed from `position`. After the removal the array has `len` items.
    pub(crate) fn remove(&mut self, id: ItemId, position: usize, len: usize) {
        self.append(Entry { id, position: position as u32 | Entry::REMOVED }, len);
    }

    fn append(&mut self, entry: Entry, len: usize) {
        // An item is often written to several times in a row.
        if !self.trim() || self.entries.last() == Some(&entry) {
            return;
        }
        self.entries.push(entry);
        self.revision += 1;
        if self.entries.len() > 2 * len + 64 {
            // A shadow for which these entries are missing compares all items, which costs less than reading
            // so many log entries.
            self.entries.clear();
        }
    }

    /// Records that all items after some position have moved by `distance` positions.
    pub(crate) fn shifted(&mut self, distance: usize) {
        if self.trim() && !self.entries.is_empty() {
            self.drift = self.drift.saturating_add(u32::try_from(distance).unwrap_or(u32::MAX));
        }
    }

    /// Records that items have moved so far that a search near their recorded positions fails.
    pub(crate) fn scattered(&mut self) {
        self.shifted(usize::MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_recorded_of_old_ids_is_dropped_when_items_get_new_ones() {
        let mut log = Log::default();
        log.touch(ItemId::FIRST, 0, 9);
        assert_eq!(log.revision(), 0, "nobody has followed it");
        log.lineage();
        log.touch(ItemId::FIRST, 0, 9);
        log.remove(ItemId::FIRST, 0, 8);
        log.shifted(3);
        assert_eq!((log.since(0).map(<[Entry]>::len), log.drift()), (Some(2), Some(3)));
        assert_eq!(log.renumber(), None, "the items keep their ids");
        assert_eq!((log.since(0).map(<[Entry]>::len), log.drift()), (Some(2), Some(3)));
        log.begin_lineage(ItemId::FIRST);
        assert!(!log.has_final_ids());
        assert_eq!(log.renumber(), Some(ItemId::FIRST));
        assert!(log.has_final_ids());
        let none: &[Entry] = &[];
        assert_eq!((log.since(0), log.since(log.revision()), log.drift()), (None, Some(none), Some(0)));
    }

    #[test]
    fn what_was_followed_is_dropped_with_the_next_change() {
        let mut log = Log::default();
        log.lineage();
        for round in 0..100 {
            log.touch(ItemId::FIRST, round, 9);
            log.shifted(2);
            assert_eq!((log.entries.len(), log.drift()), (1, Some(2)), "round {round}");
            log.follow();
        }
        log.shifted(2);
        assert_eq!((log.entries.len(), log.drift()), (0, Some(0)));
    }
}
