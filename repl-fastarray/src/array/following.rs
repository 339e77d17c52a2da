//! Updates a shadow (the server's copy of an array with the values that it compared last) from the live
//! array, so that the shadow has the same items.
//!
//! *Invariant:* an item that was removed from a shadow may stay stored for a while as a tombstone. Lookups by
//! id do not find tombstones.

use std::mem::needs_drop;

use repl_core::{ItemId, Step};

use super::FastArray;
use crate::follow::{Following, Visit};
use crate::item::FastArrayItem;
use crate::marks::{ItemChange, ItemLog};

impl<T: FastArrayItem> Following for FastArray<T> {
    type Item = T;

    fn log(&self) -> &ItemLog {
        &self.item_ids.log
    }

    fn log_mut(&mut self) -> &mut ItemLog {
        &mut self.item_ids.log
    }

    fn take_step(&mut self, live: &Self, entry: ItemChange, visit: Visit<'_, T>) {
        if entry.is_removal() {
            if self.item_ids.had(&live.item_ids, entry.id) {
                self.remove_from_shadow(entry.id);
                visit(entry.id, Step::Removed);
            }
        } else if let Some(at) = live.item_ids.locate(entry.id, entry.position()) {
            self.step(live, at, visit);
        }
    }

    fn match_up(&mut self, live: &Self, visit: Visit<'_, T>) {
        self.take_out_tombstones();
        let mut is_there = vec![false; self.items.len()];
        for at in 0..live.items.len() {
            let own = self.step(live, at, visit);
            is_there.resize(self.items.len(), true);
            is_there[own] = true;
        }
        for at in (0..self.items.len()).rev() {
            if !is_there[at] {
                let id = self.item_ids.ids()[at];
                self.swap_remove(at);
                visit(id, Step::Removed);
            }
        }
    }

    fn first_for_successor(&self, live: &Self) -> Option<ItemId> {
        self.item_ids.first_for_successor(&live.item_ids)
    }

    fn start_over(&mut self, live: &Self, first: ItemId, visit: Visit<'_, T>) {
        self.take_out_tombstones();
        self.item_ids.ids().iter().for_each(|&id| visit(id, Step::Removed));
        self.truncate(0);
        let mut id = first;
        for live in &live.items {
            let at = self.append_initial(id);
            visit(id, Step::Added { live, shadow: &mut self.items[at] });
            id = id.next();
        }
        self.item_ids.continue_after(first, live.items.len());
    }

    fn continue_as(&mut self, live: &Self) {
        self.item_ids.follow(&live.item_ids);
    }
}

impl<T: FastArrayItem> FastArray<T> {
    /// Updates the shadow of the item at index `at` of the live array `live`. Returns the index of the shadow
    /// item.
    fn step(&mut self, live: &Self, at: usize, visit: Visit<'_, T>) -> usize {
        let (id, live) = (live.item_ids.ids()[at], &live.items[at]);
        // An item of a shadow is usually at the same index as in the live array.
        if let Some(at) = self.item_ids.position_from(id, at) {
            visit(id, Step::Touched { live, shadow: &mut self.items[at], moved: false });
            return at;
        }
        if self.item_ids.is_tombstone(id) {
            self.take_out_tombstones();
        }
        let at = self.append_initial(id);
        visit(id, Step::Added { live, shadow: &mut self.items[at] });
        at
    }

    /// Removes the item `id` from a shadow. Items that may own memory are removed from the storage
    /// immediately. Other items become tombstones, and are removed from the storage later together. Removing
    /// many items together is faster, because the processor finds many items of a large array in less time
    /// than one after another.
    fn remove_from_shadow(&mut self, id: ItemId) {
        if self.item_ids.add_tombstone(id) || needs_drop::<T>() {
            self.take_out_tombstones();
        }
    }

    fn take_out_tombstones(&mut self) {
        self.item_ids.preload_tombstones();
        while let Some(id) = self.item_ids.pop_tombstone() {
            if let Some(at) = self.item_ids.position(id) {
                self.items.swap_remove(at);
                self.item_ids.take_out(id, at);
            }
        }
    }

    /// Removes the item `id`, which this shadow has just appended and which cannot be sent. The shadow adds
    /// the item again when the live item is written to again.
    pub(super) fn remove_unsendable(&mut self, id: ItemId) {
        if let Some(at) = self.item_ids.position(id) {
            self.items.swap_remove(at);
            self.item_ids.take_out(id, at);
            self.item_ids.set_gaps(true);
        }
    }

    /// Appends an item with initial values and with an id that no other item has. Returns the index of the
    /// item.
    pub(super) fn append_initial(&mut self, id: ItemId) -> usize {
        self.push_as(id, T::initial());
        self.items.len() - 1
    }

    /// Makes the items of this array equal to the items of `other`. The argument `copy` copies the values of
    /// one item. The method also copies the revision of the live array from which `other` was last updated.
    /// Local items are neither copied nor removed (S183).
    pub(super) fn copy_items(&mut self, other: &Self, copy: &mut dyn FnMut(&T, &mut T)) {
        self.take_out_tombstones();
        for at in (0..self.items.len()).rev() {
            let id = self.item_ids.ids()[at];
            if !id.is_local() && other.item_ids.position(id).is_none() {
                self.swap_remove(at);
            }
        }
        let present = other.item_ids.present().filter(|(id, _)| !id.is_local());
        for (index, (id, from)) in present.enumerate() {
            let at = self.item_ids.position(id).unwrap_or_else(|| self.append_initial(id));
            self.swap(at, index);
            copy(&other.items[from], &mut self.items[index]);
        }
        if self.item_ids.receipt().is_none() {
            self.item_ids.continue_as(&other.item_ids);
        }
    }
}

#[cfg(test)]
mod tests {
    use repl_core::{Keyed, KeyedShadow};

    use super::*;
    use crate::array::item_ids::MAX_TOMBSTONES;

    /// Returns the steps that a shadow reports when it is updated from `live`.
    fn steps(shadow: &mut FastArray<u32>, live: &FastArray<u32>) -> Vec<(u32, &'static str)> {
        let mut steps = Vec::new();
        KeyedShadow::follow(shadow, live, &mut |id, step| {
            let step = match step {
                Step::Added { live, shadow } => {
                    *shadow = *live;
                    "added"
                }
                Step::Touched { .. } => "touched",
                Step::Removed => "removed",
            };
            steps.push((id.number(), step));
        });
        steps
    }

    fn ids(array: &FastArray<u32>) -> Vec<u32> {
        let mut ids = Vec::new();
        Keyed::ids(array, &mut |id| ids.push(id.number()));
        ids.sort_unstable();
        ids
    }

    #[test]
    fn tombstones_of_a_shadow_are_not_found_and_are_taken_out_when_there_are_many() {
        let mut live: FastArray<u32> = (0..400).collect();
        let mut shadow = FastArray::new();
        steps(&mut shadow, &live);
        let (mut most, mut last) = (0, 0);
        for _ in 0..300 {
            let id = live.id(live.len() / 2).expect("it is long enough");
            live.remove_by_id(id);
            assert_eq!(steps(&mut shadow, &live), [(id.number(), "removed")]);
            assert_eq!((Keyed::item(&shadow, id), Keyed::len(&shadow)), (None, live.len()));
            assert_eq!(ids(&shadow), ids(&live));
            last = shadow.items.len() - live.len();
            most = last.max(most);
        }
        assert_eq!(most, MAX_TOMBSTONES - 1);
        assert!(last <= shadow.items.len() / 4, "{last} of {}", shadow.items.len());

        let mut copy = FastArray::new();
        copy.copy_items(&shadow, &mut |from, to| *to = *from);
        assert_eq!((copy.items.len(), ids(&copy)), (live.len(), ids(&live)));
    }

    #[test]
    fn items_that_hold_memory_are_taken_out_at_once() {
        let mut live: FastArray<String> = (0..400).map(|item| item.to_string()).collect();
        let mut shadow = FastArray::new();
        KeyedShadow::follow(&mut shadow, &live, &mut |_, _| {});
        live.remove(7);
        KeyedShadow::follow(&mut shadow, &live, &mut |_, _| {});
        assert_eq!(shadow.items.len(), 399);
    }

    #[test]
    fn s174_a_reused_id_is_a_new_item() {
        for looks_between in [true, false] {
            let mut live: FastArray<u32> = (0..100).collect();
            live.item_ids.continue_as(&FastArray::<u32>::with_next_id(ItemId::LAST).item_ids);
            live.push(100);
            let mut shadow = FastArray::new();
            steps(&mut shadow, &live);
            live.remove(0);
            let mut told = if looks_between { steps(&mut shadow, &live) } else { Vec::new() };
            assert_eq!(live.push(101), ItemId::FIRST);
            told.extend(steps(&mut shadow, &live));
            assert_eq!(told, [(1, "removed"), (1, "added")]);
            assert_eq!(Keyed::item(&shadow, ItemId::FIRST), Some(&101));
            assert_eq!(ids(&shadow), ids(&live));
        }
    }
}
