//! The notes of an ordered array on its items: where each id is, where users insert items, and which items an
//! update has moved.
//!
//! *Invariant:* if there is an index, it has an entry for each item of the array, and no other entries.

use std::sync::OnceLock;

use repl_core::ItemId;

use super::labelled_item::LabelledItem;
use super::runs::Runs;
use crate::ids::IdTable;
use crate::sequence::{Key, Sequence};

/// Everything that an ordered array stores about its items beside their labels and their order.
#[derive(Default)]
pub(super) struct Notes {
    /// The table that finds the position of an item by id. The first lookup by id builds this table, and
    /// later changes update it. If all items are removed or receive new ids, the table is dropped.
    index: OnceLock<IdTable<Key>>,
    pub(super) runs: Runs,
    /// In a client's replica, the keys of the items that received new labels from the update.
    pub(super) relabeled: Vec<Key>,
}

impl Notes {
    /// Returns the key under which the item `id` is stored in `items`. Costs O(n) if there is no index yet.
    pub(super) fn key<T>(&self, id: ItemId, items: &Sequence<LabelledItem<T>>) -> Option<Key> {
        let index = self.index.get_or_init(|| {
            let mut index = IdTable::with_capacity(items.len());
            let keys = items.iter().zip(items.keys_from(0));
            keys.for_each(|(entry, key)| index.set(entry.id, key));
            index
        });
        index.get(id)
    }

    pub(super) fn insert(&mut self, id: ItemId, key: Key) {
        if let Some(index) = self.index.get_mut() {
            index.set(id, key);
        }
    }

    pub(super) fn remove(&mut self, id: ItemId) {
        if let Some(index) = self.index.get_mut() {
            index.remove(id);
        }
    }

    /// Drops the index, because all items are removed or receive new ids.
    pub(super) fn drop_index(&mut self) {
        self.index.take();
    }
}
