//! Methods that add and remove items of an ordered array.
//!
//! *Invariant:* every item that is added receives a label between the labels of its neighbours, and is
//! marked.

use std::cmp::Ordering;
use std::ops::RangeBounds;

use repl_core::ItemId;
use repl_core::label::Label;

use super::OrderedFastArray;
use super::labelled_item::LabelledItem;
use crate::indices::{bounds, no_item};
use crate::marks::ItemMut;
use crate::sequence::Key;

impl<T> OrderedFastArray<T> {
    /// Appends a new item and returns its id. If the item was removed from an array before, it is still a new
    /// item with a new id.
    pub fn push(&mut self, item: T) -> ItemId {
        self.insert(self.items.len(), item)
    }

    /// Inserts a new item before the item at `index`, and returns its id.
    ///
    /// # Panics
    /// Panics if `index` is greater than the length.
    #[track_caller]
    pub fn insert(&mut self, index: usize, item: T) -> ItemId {
        let id = self.fresh();
        let before = index.checked_sub(1).and_then(|at| self.items.key_at(at));
        let after = self.items.key_at(index);
        let hint = self.notes_mut().runs.hint(before, after);
        let key = match Label::between(self.label_of(before), self.label_of(after), hint) {
            Some(label) if self.receipt.is_some() || !label.is_long() => {
                self.insert_entry(index, LabelledItem { item, label, id })
            }
            None if self.receipt.is_some() => self.insert_local_after(before, id, item),
            _ => {
                let key = self.insert_entry(index, LabelledItem { item, label: Label::START, id });
                self.make_room(index..index + 1);
                key
            }
        };
        self.notes_mut().runs.inserted(before, after, key, 1);
        self.touch(key);
        id
    }

    /// Removes the item at `index` and returns it. The items that remain keep their order. If you put the
    /// removed item back, it is a new item. Ordered arrays have no `swap_remove`, because it would not be
    /// faster than `remove`.
    ///
    /// # Panics
    /// Panics if `index` is not less than the length.
    #[track_caller]
    pub fn remove(&mut self, index: usize) -> T {
        let removed = self.items.key_at(index).and_then(|key| self.take(key));
        removed.unwrap_or_else(|| no_item(index, self.items.len()))
    }

    /// Removes the item `id` and returns it. Costs O(n) for the first lookup by id.
    pub fn remove_by_id(&mut self, id: ItemId) -> Option<T> {
        self.take(self.key(id)?)
    }

    /// Removes the last item and returns it.
    pub fn pop(&mut self) -> Option<T> {
        self.take(self.items.key_at(self.items.len().checked_sub(1)?)?)
    }

    /// Removes all items from the array. Costs O(n).
    pub fn clear(&mut self) {
        let Self { items, notes, log, .. } = self;
        let Some(notes) = notes else { return };
        notes.drop_index();
        notes.runs.clear();
        for (key, entry) in items.keys_from(0).zip(items.iter()) {
            log.remove(entry.id, key.number(), 0);
        }
        items.clear();
    }

    /// Removes all items after the first `len` items. Costs O(log n) for each removed item.
    pub fn truncate(&mut self, len: usize) {
        if len < self.items.len() {
            self.drain(len..);
        }
    }

    /// Removes the items of a range and returns them. Drained items are removed immediately, even if the
    /// iterator is not used. Costs O(log n) for each removed item.
    ///
    /// # Panics
    /// Panics if the range ends before it starts, or if it ends after the end of the array.
    #[track_caller]
    pub fn drain(&mut self, range: impl RangeBounds<usize>) -> std::vec::IntoIter<T> {
        let keys = self.keys(bounds(range, self.items.len()));
        let drained: Vec<T> = keys.into_iter().filter_map(|key| self.take(key)).collect();
        drained.into_iter()
    }

    /// Keeps the items for which `keep` returns true, in their order. The items to which `keep` writes are
    /// marked. Costs O(n), and O(log n) for each item that is removed.
    pub fn retain_mut(&mut self, mut keep: impl FnMut(&mut ItemMut<'_, T>) -> bool) {
        for (at, key) in self.keys(0..self.items.len()).into_iter().enumerate() {
            if self.guard(key, at).is_some_and(|mut item| !keep(&mut item)) {
                self.take(key);
            }
        }
    }

    /// Inserts an item that a client's own code adds after the item `before`, if there is no free label
    /// between two items of the server. The inserted item receives the label of `before`. The inserted item
    /// comes after all server items with the same label, because local ids are greater than server ids.
    fn insert_local_after(&mut self, before: Option<Key>, id: ItemId, item: T) -> Key {
        let label = self.label_of(before).cloned().unwrap_or_default();
        let entry = LabelledItem { item, label, id };
        let index = self.items.partition_point(|other| other.compare_position(&entry) == Ordering::Less);
        self.insert_entry(index, entry)
    }

    /// Returns a new id, which no item has.
    fn fresh(&mut self) -> ItemId {
        let mut counter = self.id_counter;
        let id = counter.fresh(|id| self.key(id).is_some());
        self.id_counter = counter;
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::IdCounter;

    #[test]
    fn s139_several_ids_in_use_in_a_row_are_skipped() {
        let mut array = OrderedFastArray::from([1_u16, 2, 3]);
        array.id_counter = IdCounter::starting(ItemId::LAST);
        assert_eq!([array.push(4), array.push(5)].map(ItemId::number), [ItemId::LAST.number(), 4]);
    }
}
