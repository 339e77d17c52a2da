//! How a client's fast array applies an update from the server.
//!
//! *Invariant:* items keep their indices until all item callbacks of an update have run. After the callbacks,
//! each removed item is replaced at its index by the last item of the array (S180).
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::cmp::Reverse;

use repl_core::__private::preload;
use repl_core::ItemId;

use super::FastArray;
use crate::item::{FastArrayItem, ItemAccess};
use crate::replica::{Receipt, Replica};

/// The items and ids of a fast array, in the form in which callbacks access them.
pub(crate) struct SliceItems<'a, T> {
    items: &'a mut [T],
    ids: &'a [ItemId],
}

impl<T> ItemAccess<T> for SliceItems<'_, T> {
    fn len(&self) -> usize {
        self.items.len()
    }

    fn item(&self, index: usize) -> Option<&T> {
        self.items.get(index)
    }

    fn item_mut(&mut self, index: usize) -> Option<&mut T> {
        self.items.get_mut(index)
    }

    fn id(&self, index: usize) -> Option<ItemId> {
        self.ids.get(index).copied()
    }
}

impl<T: FastArrayItem> Replica for FastArray<T> {
    type Item = T;
    type Spot = usize;
    type Items<'a> = SliceItems<'a, T>;

    fn size(&self) -> usize {
        self.items.len()
    }

    fn spot(&self, id: ItemId) -> Option<usize> {
        self.item_ids.position(id)
    }

    fn index_of_spot(&self, spot: usize) -> usize {
        spot
    }

    #[expect(clippy::indexing_slicing, reason = "a spot is where this array found or put an item")]
    fn item_at(&mut self, spot: usize) -> &mut T {
        &mut self.items[spot]
    }

    fn receipt(&self) -> Option<&Receipt> {
        self.item_ids.receipt()
    }

    fn parts(&mut self) -> (SliceItems<'_, T>, &mut Receipt) {
        if self.item_ids.receipt().is_none() {
            self.item_ids.start_locally();
        }
        let (ids, receipt) = self.item_ids.parts();
        (SliceItems { items: &mut self.items, ids }, receipt)
    }

    fn append_received(&mut self, id: ItemId) -> usize {
        self.append_initial(id)
    }

    fn preload_removal(&self, spot: usize) {
        self.items.get(spot).into_iter().for_each(preload);
        self.item_ids.preload_removal(spot);
    }

    fn take_out(&mut self, mut going: Vec<(ItemId, usize)>) {
        // Items with high indices are removed first, because each removal moves the last item of the array.
        going.sort_unstable_by_key(|&(_, spot)| Reverse(spot));
        for (id, spot) in going {
            self.items.swap_remove(spot);
            self.item_ids.take_out(id, spot);
        }
    }

    fn each_spot(&self, each: &mut dyn FnMut(ItemId, usize)) {
        self.item_ids.ids().iter().zip(0..).for_each(|(&id, spot)| each(id, spot));
    }

    fn has_moved(&self) -> bool {
        false
    }

    fn sort_moved(&mut self) -> bool {
        false
    }
}
