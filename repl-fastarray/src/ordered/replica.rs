//! How a client's ordered array applies an update from the server.
//!
//! *Invariant:* while an update is received, items keep their positions, and new items are at the end. All
//! items are put in order before any callback runs.

use repl_core::ItemId;
use repl_core::label::Label;

use super::OrderedFastArray;
use super::labelled_item::LabelledItem;
use crate::item::{FastArrayItem, ItemAccess};
use crate::replica::{Receipt, Replica};
use crate::sequence::{Key, Sequence};

/// The items of an ordered array, in the form in which callbacks access them.
pub(crate) struct OrderedItems<'a, T>(&'a mut Sequence<LabelledItem<T>>);

impl<T> ItemAccess<T> for OrderedItems<'_, T> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn item(&self, index: usize) -> Option<&T> {
        self.0.get(index).map(|entry| &entry.item)
    }

    fn item_mut(&mut self, index: usize) -> Option<&mut T> {
        self.0.get_mut(index).map(|entry| &mut entry.item)
    }

    fn id(&self, index: usize) -> Option<ItemId> {
        self.0.get(index).map(|entry| entry.id)
    }
}

impl<T: FastArrayItem> Replica for OrderedFastArray<T> {
    type Item = T;
    type Spot = Key;
    type Items<'a> = OrderedItems<'a, T>;

    fn size(&self) -> usize {
        self.items.len()
    }

    fn spot(&self, id: ItemId) -> Option<Key> {
        self.key(id)
    }

    fn index_of_spot(&self, spot: Key) -> usize {
        self.items.index_of(spot).unwrap_or_else(|| unreachable!("an item that is there has an index"))
    }

    fn item_at(&mut self, spot: Key) -> &mut T {
        match self.items.by_key_mut(spot) {
            Some(entry) => &mut entry.item,
            None => unreachable!("an item is where it was found"),
        }
    }

    fn receipt(&self) -> Option<&Receipt> {
        self.receipt.as_deref()
    }

    fn parts(&mut self) -> (OrderedItems<'_, T>, &mut Receipt) {
        if self.receipt.is_none() {
            let any_local = self.items.iter().any(|entry| entry.id.is_local());
            self.id_counter.start_locally(any_local);
        }
        (OrderedItems(&mut self.items), self.receipt.get_or_insert_default())
    }

    fn append_received(&mut self, id: ItemId) -> Key {
        self.insert_entry(self.items.len(), LabelledItem { item: T::initial(), label: Label::START, id })
    }

    fn take_out(&mut self, going: Vec<(ItemId, Key)>) {
        going.into_iter().for_each(|(_, spot)| drop(self.take(spot)));
    }

    fn each_spot(&self, each: &mut dyn FnMut(ItemId, Key)) {
        self.items.iter().zip(self.items.keys_from(0)).for_each(|(entry, key)| each(entry.id, key));
    }

    fn has_moved(&self) -> bool {
        // An item with a new label has not necessarily moved. Only items that change their position are
        // reported as moved.
        let relabeled = self.notes.iter().flat_map(|notes| &notes.relabeled);
        relabeled.copied().any(|key| {
            let is_new = |id| self.receipt.as_ref().is_some_and(|receipt| receipt.is_added(id));
            let is_old = self.items.by_key(key).is_some_and(|entry| !is_new(entry.id));
            is_old && !self.is_in_order(key)
        })
    }

    fn sort_moved(&mut self) -> bool {
        let moved = self.has_moved();
        let Some(notes) = &mut self.notes else { return false };
        let relabeled = std::mem::take(&mut notes.relabeled);
        self.items.sort_moved(&relabeled, LabelledItem::compare_position);
        moved
    }
}

impl<T: FastArrayItem> OrderedFastArray<T> {
    /// Sets the label of the item `id` of a client's replica.
    pub(super) fn receive_label(&mut self, id: ItemId, label: Label) {
        let Some((key, _)) = self.server_item(id) else { return };
        if let Some(entry) = self.items.by_key_mut(key)
            && entry.label != label
        {
            entry.label = label;
            self.notes_mut().relabeled.push(key);
        }
    }

    /// Returns whether an item is in the right order with its neighbours.
    fn is_in_order(&self, key: Key) -> bool {
        let Some(index) = self.items.index_of(key) else { return true };
        let around = self.items.iter_from(index.saturating_sub(1)).take(2 + index.min(1));
        around.is_sorted_by(|one, other| one.compare_position(other).is_le())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_labels_are_noted_only_until_the_items_are_in_order() {
        let mut array: OrderedFastArray<u16> = OrderedFastArray::new();
        let ids = [1, 2, 3].map(|item| array.push(item));
        for id in ids {
            let last = array.items.get(2).map(|entry| entry.label.clone()).expect("three items");
            let hint = array.notes_mut().runs.hint(None, None);
            array.receive_label(id, Label::between(Some(&last), None, hint).expect("there is room"));
            assert!(array.sort_moved());
            assert_eq!(array.id(2), Some(id));
            assert!(array.notes.as_ref().is_some_and(|notes| notes.relabeled.is_empty()));
        }
    }
}
