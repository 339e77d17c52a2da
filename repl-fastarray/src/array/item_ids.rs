//! The ids of a fast array's items, in the order of the items, and the log of their changes. A *shadow* is
//! the server's copy of an array, with the values that the server compared last.
//!
//! *Invariant:* no id occurs twice, and the id at an index belongs to the item at the same index. On a
//! shadow, a removed item may stay stored for a while as a tombstone. Lookups by id do not find tombstones.

use std::collections::TryReserveError;
use std::ops::Range;
use std::sync::OnceLock;

use repl_core::__private::preload;
use repl_core::ItemId;

use super::index::{Index, MAX_DRIFT, near};
use crate::ids::IdCounter;
use crate::marks::ItemLog;
use crate::replica::Receipt;

/// If a list has at most this many ids, a linear search is as fast as the index.
const LINEAR_SEARCH_IDS: usize = 32;

/// A shadow removes its tombstones from the storage when it has this many, or when they are a quarter of all
/// items if this is less.
pub(crate) const MAX_TOMBSTONES: usize = 32;

/// The ids of an array's items, and the data that the array stores about its items.
pub(crate) struct ItemIds {
    /// The list of the ids. An array that never had items has none.
    list: Option<Box<List>>,
    pub(crate) log: ItemLog,
    counter: IdCounter,
}

/// The ids of an array's items, with everything that an array without items does not need.
#[derive(Default)]
struct List {
    ids: Vec<ItemId>,
    /// The index, which finds the position of an id. The first lookup builds the index, small changes update
    /// it, and large changes drop it.
    index: OnceLock<Box<Index>>,
    /// In a shadow, the ids of items that count as removed but are still in `ids`. There are at most
    /// [`MAX_TOMBSTONES`] tombstones.
    tombstones: Vec<ItemId>,
    /// In a client's replica, the results of the update that is being received.
    receipt: Option<Box<Receipt>>,
}

impl List {
    fn position(&self, id: ItemId) -> Option<usize> {
        if self.is_tombstone(id) {
            return None;
        }
        match self.index.get() {
            Some(index) => index.position(id, &self.ids),
            None if self.ids.len() <= LINEAR_SEARCH_IDS => self.ids.iter().position(|&other| other == id),
            None => self.index.get_or_init(|| Box::new(Index::of(&self.ids))).position(id, &self.ids),
        }
    }

    fn is_tombstone(&self, id: ItemId) -> bool {
        // The search goes through all ids, even after a match. Without a branch for each id, the processor
        // compares several ids at a time and mispredicts no branches.
        self.tombstones.iter().fold(false, |found, &tombstones| found | (tombstones == id))
    }
}

impl ItemIds {
    /// Returns an empty list of ids. The first item that is added receives the id `next`.
    pub(crate) fn starting(next: ItemId) -> Self {
        Self { list: None, log: ItemLog::default(), counter: IdCounter::starting(next) }
    }

    /// Returns the ids of the items, in the order of the items.
    #[inline]
    pub(crate) fn ids(&self) -> &[ItemId] {
        self.list.as_ref().map_or(&[], |list| &list.ids)
    }

    pub(crate) fn ids_mut(&mut self) -> &mut [ItemId] {
        self.list.as_mut().map_or(&mut [], |list| &mut list.ids)
    }

    /// Returns the ids of the items, and the log.
    #[inline]
    pub(crate) fn ids_and_log(&mut self) -> (&[ItemId], &mut ItemLog) {
        (self.list.as_ref().map_or(&[], |list| &list.ids), &mut self.log)
    }

    #[inline]
    fn list_mut(&mut self) -> &mut List {
        self.list.get_or_insert_default()
    }

    #[inline]
    fn index(&self) -> Option<&Index> {
        self.list.as_ref()?.index.get().map(|index| &**index)
    }

    fn index_mut(&mut self) -> Option<&mut Index> {
        self.list.as_mut()?.index.get_mut().map(|index| &mut **index)
    }

    fn drop_index(&mut self) {
        if let Some(list) = &mut self.list {
            list.index.take();
        }
    }

    pub(crate) fn reserve(&mut self, additional: usize) {
        if additional > 0 {
            self.list_mut().ids.reserve(additional);
        }
    }

    pub(crate) fn try_reserve(&mut self, additional: usize) -> Result<(), TryReserveError> {
        if additional > 0 { self.list_mut().ids.try_reserve(additional) } else { Ok(()) }
    }

    /// Returns the receipt of a client's replica (the record of the current update).
    #[inline]
    pub(crate) fn receipt(&self) -> Option<&Receipt> {
        self.list.as_ref()?.receipt.as_deref()
    }

    /// Returns the ids of the items and the receipt. If there is no receipt, the method creates one.
    #[inline]
    pub(crate) fn parts(&mut self) -> (&[ItemId], &mut Receipt) {
        let List { ids, receipt, .. } = self.list_mut();
        (ids, receipt.get_or_insert_default())
    }

    /// Returns the id that the first item of a copy of this array receives.
    pub(crate) fn next_for_copies(&self) -> ItemId {
        self.counter.next_for_copies()
    }

    /// From now on, new items receive local ids (ids that a server never uses).
    pub(crate) fn start_locally(&mut self) {
        self.counter.start_locally(self.ids().iter().any(|id| id.is_local()));
    }

    /// Renames the items in their order, with consecutive ids from `first` on.
    pub(crate) fn rename_from(&mut self, first: ItemId) {
        let mut next = first;
        for id in self.ids_mut() {
            *id = next;
            next = next.next();
        }
        self.counter = IdCounter::after(first, self.ids().len());
        self.drop_index();
    }

    /// Returns the first new id for the items of `successor`, the array that has replaced the array from
    /// which this shadow was updated before. Returns `None` if the items can keep their ids.
    /// [`IdCounter::first_for_successor`] describes when items need new ids.
    pub(crate) fn first_for_successor(&self, successor: &Self) -> Option<ItemId> {
        let (least, len) = (successor.ids().iter().min().copied(), successor.ids().len());
        self.counter.first_for_successor(&successor.counter, least, len, |each| {
            self.ids().iter().copied().for_each(each);
        })
    }

    /// From now on, new items receive the ids after the `len` consecutive ids that begin with `first`.
    pub(crate) fn continue_after(&mut self, first: ItemId, len: usize) {
        self.counter.follow(&IdCounter::after(first, len));
    }

    /// From now on, new items of this shadow receive the same ids as new items of `live`, from which the
    /// shadow was updated.
    pub(crate) fn follow(&mut self, live: &Self) {
        self.counter.follow(&live.counter);
    }

    /// Sets whether items of the live array may be missing in this shadow, because a value in them has no
    /// wire form. Must be called only on a shadow.
    pub(crate) fn set_gaps(&mut self, has_gaps: bool) {
        self.counter.set_gaps(has_gaps);
    }

    /// From now on, new items receive the same ids as new items of `other`, and this array counts as updated
    /// from the same live array. The array `other` must contain all ids of this list.
    pub(crate) fn continue_as(&mut self, other: &Self) {
        self.counter = other.counter;
        self.log.changes.copy_followed(&other.log.changes);
    }

    /// Returns a new id, which no item has.
    pub(crate) fn fresh(&mut self) -> ItemId {
        let mut counter = self.counter;
        let id = counter.fresh(|id| self.position(id).is_some());
        self.counter = counter;
        id
    }

    /// Returns the position of the item `id`. Costs O(1), but O(n) for the first lookup after many items have
    /// moved.
    pub(crate) fn position(&self, id: ItemId) -> Option<usize> {
        self.list.as_ref()?.position(id)
    }

    /// Returns the position of the item `id`. Tries the position `index` first.
    pub(crate) fn position_from(&self, id: ItemId, index: usize) -> Option<usize> {
        let list = self.list.as_ref()?;
        if list.ids.get(index) == Some(&id) && !list.is_tombstone(id) {
            // The caller usually looks up the same item again soon, so its index entry is prefetched.
            self.preload(id);
            return Some(index);
        }
        list.position(id)
    }

    /// Prefetches the index entry of `id` into the processor's cache, because a lookup follows soon.
    pub(crate) fn preload(&self, id: ItemId) {
        if let Some(index) = self.index() {
            index.preload(id);
        }
    }

    /// Prefetches the memory that a `swap_remove` of the item at `at` needs.
    pub(crate) fn preload_removal(&self, at: usize) {
        self.ids().get(at).into_iter().for_each(preload);
        self.ids().last().into_iter().for_each(|&last| self.preload(last));
    }

    /// Returns the position of the item `id`. `index` is the position that the log recorded for the item.
    pub(crate) fn locate(&self, id: ItemId, index: usize) -> Option<usize> {
        match self.log.drift() {
            Some(drift) if drift <= MAX_DRIFT && self.index().is_none() => near(id, index, drift, self.ids()),
            _ => self.position_from(id, index),
        }
    }

    /// Records in the log that the item at index `at` was written to.
    pub(crate) fn touch(&mut self, at: usize) {
        let (ids, log) = self.ids_and_log();
        log.touch(ids[at], at, ids.len());
    }

    pub(crate) fn push(&mut self, id: ItemId) {
        let List { ids, index, .. } = self.list_mut();
        let at = ids.len();
        ids.push(id);
        if let Some(index) = index.get_mut() {
            index.set(id, at);
        }
        self.log.touch(id, at, at + 1);
    }

    pub(crate) fn insert(&mut self, at: usize, id: ItemId) {
        let List { ids, index, .. } = self.list_mut();
        ids.insert(at, id);
        if let Some(index) = index.get_mut() {
            index.set(id, at);
        }
        if at + 1 < ids.len() {
            self.shifted(1);
        }
        self.touch(at);
    }

    pub(crate) fn remove(&mut self, at: usize) {
        let id = self.list_mut().ids.remove(at);
        self.removed(id, at);
        if at < self.ids().len() {
            self.shifted(1);
        }
    }

    pub(crate) fn swap_remove(&mut self, at: usize) {
        self.take_out(self.ids()[at], at);
    }

    /// Removes `id`, which is at index `at`, and moves the last id to this index. The caller passes `id` in
    /// addition to `at`, so that this function does not wait for a read of `ids[at]`.
    pub(crate) fn take_out(&mut self, id: ItemId, at: usize) {
        let List { ids, index, .. } = self.list_mut();
        ids.swap_remove(at);
        if let Some(&moved) = ids.get(at) {
            if let Some(index) = index.get_mut() {
                index.set(moved, at);
            }
            self.log.scattered();
        }
        self.removed(id, at);
    }

    /// Returns whether this shadow had the item `id`. The item may have been added to `live` and removed
    /// again since the shadow was last updated.
    pub(crate) fn had(&self, live: &Self, id: ItemId) -> bool {
        self.counter.had(id, &live.counter).unwrap_or_else(|| self.position(id).is_some())
    }

    /// Makes the item `id` of a shadow a tombstone. Returns whether the tombstones must now be removed from
    /// the storage.
    #[must_use]
    pub(crate) fn add_tombstone(&mut self, id: ItemId) -> bool {
        let List { ids, tombstones, .. } = self.list_mut();
        tombstones.push(id);
        tombstones.len() >= MAX_TOMBSTONES.min(ids.len() / 4)
    }

    #[inline]
    pub(crate) fn tombstones(&self) -> &[ItemId] {
        self.list.as_ref().map_or(&[], |list| &list.tombstones)
    }

    pub(crate) fn pop_tombstone(&mut self) -> Option<ItemId> {
        self.list.as_mut()?.tombstones.pop()
    }

    pub(crate) fn is_tombstone(&self, id: ItemId) -> bool {
        self.list.as_ref().is_some_and(|list| list.is_tombstone(id))
    }

    /// Prefetches the index entries of all tombstones into the processor's cache, because they will soon be
    /// removed from the storage.
    pub(crate) fn preload_tombstones(&self) {
        let last = self.ids().iter().rev().take(self.tombstones().len());
        self.tombstones().iter().chain(last).for_each(|&id| self.preload(id));
    }

    /// Returns the ids that are not tombstones, with their positions in ascending order.
    pub(crate) fn present(&self) -> impl Iterator<Item = (ItemId, usize)> {
        self.ids().iter().copied().zip(0..).filter(|&(id, _)| !self.is_tombstone(id))
    }

    /// Removes the ids at the positions `range`. The ids that remain keep their order.
    pub(crate) fn remove_range(&mut self, range: Range<usize>) {
        if range.len() > MAX_DRIFT {
            self.drop_index();
        }
        let Some(list) = &mut self.list else { return };
        let removed: Vec<_> = list.ids.drain(range.clone()).collect();
        removed.iter().for_each(|&id| self.removed(id, range.start));
        if range.start < self.ids().len() {
            self.shifted(removed.len());
        }
    }

    fn removed(&mut self, id: ItemId, at: usize) {
        if let Some(index) = self.index_mut() {
            index.remove(id);
        }
        let (ids, log) = self.ids_and_log();
        log.remove(id, at, ids.len());
    }

    /// Records that all ids after some position have moved by at most `distance` positions.
    pub(crate) fn shifted(&mut self, distance: usize) {
        self.log.shifted(distance);
        if self.index_mut().is_some_and(|index| !index.shifted(distance)) {
            self.drop_index();
        }
    }

    pub(crate) fn swap(&mut self, one: usize, other: usize) {
        if one == other {
            return;
        }
        let List { ids, index, .. } = self.list_mut();
        ids.swap(one, other);
        if let Some(index) = index.get_mut() {
            index.set(ids[one], one);
            index.set(ids[other], other);
        }
        self.log.scattered();
    }

    /// Calls `reorder` with the list of all ids, so that it can change their order.
    pub(crate) fn reorder(&mut self, reorder: impl FnOnce(&mut [ItemId])) {
        reorder(self.ids_mut());
        self.drop_index();
        self.log.scattered();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u32) -> ItemId {
        ItemId::new(number).expect("not zero")
    }

    #[test]
    fn s139_ids_wrap_around_and_skip_ids_in_use() {
        for (first, last) in [(ItemId::FIRST, ItemId::LAST), (ItemId::FIRST_LOCAL, id(u32::MAX))] {
            let mut item_ids = ItemIds::starting(first);
            for _ in 0..3 {
                let id = item_ids.fresh();
                item_ids.push(id);
            }
            item_ids.remove(1);
            item_ids.counter = IdCounter::starting(last);
            let mut given = Vec::new();
            for _ in 0..4 {
                let id = item_ids.fresh();
                item_ids.push(id);
                given.push(id.number().wrapping_sub(first.number()));
            }
            assert_eq!(given, [last.number() - first.number(), 1, 3, 4], "{first}");
        }
    }

    #[test]
    fn s139_several_ids_in_use_in_a_row_are_skipped() {
        let mut item_ids = ItemIds::starting(ItemId::FIRST);
        for _ in 0..3 {
            let id = item_ids.fresh();
            item_ids.push(id);
        }
        item_ids.counter = IdCounter::starting(ItemId::LAST);
        let new = [0; 2].map(|_| {
            let id = item_ids.fresh();
            item_ids.push(id);
            id
        });
        assert_eq!(new, [ItemId::LAST, id(4)]);
    }

    #[test]
    fn ids_that_shifted_far_are_found_by_a_new_index() {
        let mut item_ids = ItemIds::starting(ItemId::FIRST);
        for _ in 0..1_000 {
            let id = item_ids.fresh();
            item_ids.push(id);
        }
        assert_eq!(item_ids.position(id(1_000)), Some(999));
        for _ in 0..600 {
            let id = item_ids.fresh();
            item_ids.insert(0, id);
        }
        assert_eq!(item_ids.position(id(1_000)), Some(1_599));
        assert_eq!(item_ids.position(id(1_600)), Some(0));
        assert_eq!(item_ids.position(id(1_601)), None);
    }
}
