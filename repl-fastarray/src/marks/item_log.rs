//! The log of an array: which items were written to or removed, and where they were.
//!
//! *Invariant:* an item is at most `drift` positions away from the position that its entry records.

use repl_core::ItemId;

use super::log::Log;

/// An entry of the log: the change of one item in one revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ItemChange {
    pub(crate) id: ItemId,
    /// The item's position when it was changed. The bit [`REMOVED`](Self::REMOVED) is set in `position` if
    /// the item was removed.
    position: u32,
}

impl ItemChange {
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

/// The changes of an array's items since shadows (the server's copies of the array) were last updated from
/// it.
#[derive(Debug, Default)]
pub(crate) struct ItemLog {
    pub(crate) changes: Log<ItemChange>,
}

impl ItemLog {
    /// Records that this array has replaced another array, so that the items of this array receive ids from
    /// `first` on when the array is renumbered.
    pub(crate) fn succeed(&self, first: ItemId) {
        self.changes.begin_lineage(first.number());
    }

    /// Returns the first new id if the items must receive new ids. Then drops all log entries, because they
    /// contain the old ids.
    pub(crate) fn renumber(&mut self) -> Option<ItemId> {
        ItemId::new(self.changes.take_first()?)
    }

    /// Returns whether the items have their final ids, so that the array need not be renumbered.
    pub(crate) fn has_final_ids(&self) -> bool {
        !self.changes.waits()
    }

    /// Returns how far items may be from the recorded positions. Returns `None` if this distance is unknown.
    #[inline]
    pub(crate) fn drift(&self) -> Option<usize> {
        self.changes.drift()
    }

    /// Returns whether the shadow with this log has all changes of the array with the log `live`.
    #[inline]
    pub(crate) fn is_up_to_date(&self, live: &Self) -> bool {
        self.changes.followed().is_some_and(|followed| live.changes.is_at(followed))
    }

    /// Returns the ids of the items that were written to, moved or removed in the array with the log `live`
    /// since the shadow with this log was last updated from it. An id may occur several times. Returns `None`
    /// if some of these changes are missing in `live`.
    pub(crate) fn edits(&self, live: &Self) -> Option<Vec<ItemId>> {
        let edits = live.changes.since(self.changes.followed()?)?;
        Some(edits.iter().map(|entry| entry.id).collect())
    }

    /// Records that the shadow with this log was updated from the array with the log `live`.
    #[inline]
    pub(crate) fn follow(&mut self, live: &Self) {
        self.changes.set_followed(live.changes.follow());
    }

    /// Records that the item `id` at `position`, one of `len` items, was written to.
    pub(crate) fn touch(&mut self, id: ItemId, position: usize, len: usize) {
        self.append(ItemChange { id, position: position as u32 }, len);
    }

    /// Records that the item `id` was removed from `position`. After the removal the array has `len` items.
    pub(crate) fn remove(&mut self, id: ItemId, position: usize, len: usize) {
        self.append(ItemChange { id, position: position as u32 | ItemChange::REMOVED }, len);
    }

    fn append(&mut self, entry: ItemChange, len: usize) {
        if self.changes.records() {
            self.changes.append(entry, len);
        }
    }

    /// Records that all items after some position have moved by `distance` positions.
    pub(crate) fn shifted(&mut self, distance: usize) {
        self.changes.shifted(distance);
    }

    /// Records that items may be anywhere, so that a search near their recorded positions would fail.
    pub(crate) fn scattered(&mut self) {
        self.shifted(usize::MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marks::FollowedRevision;

    /// Returns how many entries of the log come after `known`, and the drift.
    fn lacking(log: &ItemLog, known: FollowedRevision) -> (Option<usize>, Option<usize>) {
        (log.changes.since(known).map(<[ItemChange]>::len), log.drift())
    }

    #[test]
    fn no_entry_from_before_hides_that_any_item_may_have_changed() {
        let mut log = ItemLog::default();
        let first = log.changes.follow();
        log.touch(ItemId::FIRST, 0, 9);
        log.touch(ItemId::FIRST.next(), 1, 9);
        let second = log.changes.follow();
        log.changes.skip();
        assert_eq!([first, second].map(|known| lacking(&log, known).0), [None, None]);
        let third = log.changes.follow();
        log.touch(ItemId::FIRST, 0, 9);
        assert_eq!([first, second, third].map(|known| lacking(&log, known).0), [None, None, Some(1)]);
    }

    #[test]
    fn what_was_recorded_of_old_ids_is_dropped_when_items_get_new_ones() {
        let mut log = ItemLog::default();
        log.touch(ItemId::FIRST, 0, 9);
        assert!(log.changes.entries().is_empty(), "nobody has followed it");
        let known = log.changes.follow();
        log.touch(ItemId::FIRST, 0, 9);
        log.remove(ItemId::FIRST, 0, 8);
        log.shifted(3);
        assert_eq!(lacking(&log, known), (Some(2), Some(3)));
        assert_eq!(log.renumber(), None, "the items keep their ids");
        assert_eq!(lacking(&log, known), (Some(2), Some(3)));
        log.succeed(ItemId::FIRST);
        assert!(!log.has_final_ids());
        assert_eq!(log.renumber(), Some(ItemId::FIRST));
        assert!(log.has_final_ids());
        assert_eq!(lacking(&log, known), (None, Some(0)));
        assert_eq!(lacking(&log, log.changes.follow()), (Some(0), Some(0)));
    }

    #[test]
    fn a_shadow_has_the_revision_of_its_live_log_and_records_nothing() {
        let (mut live, mut shadow) = (ItemLog::default(), ItemLog::default());
        assert!(!shadow.is_up_to_date(&live), "nobody has followed it");
        shadow.follow(&live);
        assert!(shadow.is_up_to_date(&live) && !live.is_up_to_date(&shadow));
        live.touch(ItemId::FIRST, 0, 9);
        shadow.touch(ItemId::LAST, 0, 9);
        assert_eq!(shadow.edits(&live), Some(vec![ItemId::FIRST]));
        let mut copy = ItemLog::default();
        copy.changes.copy_followed(&shadow.changes);
        assert_eq!(copy.edits(&live), Some(vec![ItemId::FIRST]));
        shadow.follow(&live);
        assert!(shadow.is_up_to_date(&live) && !copy.is_up_to_date(&live));
        assert!(!copy.is_up_to_date(&shadow), "a shadow is no live array");
    }

    /// A comparison can reach an array twice if it is in an item that was written to twice.
    #[test]
    fn a_shadow_is_up_to_date_before_its_array_is_renumbered_and_after() {
        let (mut live, mut shadow) = (ItemLog::default(), ItemLog::default());
        live.changes.follow();
        live.touch(ItemId::FIRST, 0, 9);
        live.succeed(ItemId::LAST);
        shadow.follow(&live);
        assert!(shadow.is_up_to_date(&live));
        assert_eq!(live.renumber(), Some(ItemId::LAST));
        assert!(shadow.is_up_to_date(&live));
        assert_eq!(shadow.edits(&live), Some(Vec::new()));
    }

    #[test]
    fn a_log_with_shadows_of_its_own_still_records_after_its_array_became_a_copy() {
        let (mut live, mut shadow, mut other) = (ItemLog::default(), ItemLog::default(), ItemLog::default());
        shadow.follow(&live);
        other.follow(&ItemLog::default());
        live.changes.copy_followed(&other.changes);
        live.touch(ItemId::FIRST, 0, 9);
        assert_eq!(shadow.edits(&live), Some(vec![ItemId::FIRST]));
    }

    #[test]
    fn a_shadow_that_is_followed_itself_records_its_changes() {
        let (live, mut middle, mut last) = (ItemLog::default(), ItemLog::default(), ItemLog::default());
        middle.follow(&live);
        last.follow(&middle);
        middle.touch(ItemId::FIRST, 0, 9);
        assert_eq!(last.edits(&middle), Some(vec![ItemId::FIRST]));
        assert!(!middle.is_up_to_date(&live), "it does not know any more");
    }

    #[test]
    fn what_was_followed_is_dropped_with_the_next_change() {
        let mut log = ItemLog::default();
        let first = log.changes.follow();
        let mut known = first;
        for round in 0..100 {
            log.touch(ItemId::FIRST, round, 9);
            log.shifted(2);
            assert_eq!(lacking(&log, known), (Some(1), Some(2)), "round {round}");
            assert_eq!(log.changes.since(first).is_some(), round == 0, "round {round}");
            known = log.changes.follow();
        }
        log.shifted(2);
        assert_eq!(log.drift(), Some(0));
        assert!(log.changes.entries().is_empty());
    }
}
