//! How a client's ordered array comes to have the items that its server tells of, each at its label.
//!
//! Invariant: while an update is under way items stand where they stood, new ones at the end; all are in order before anybody is told.

use repl_core::ItemId;
use repl_core::label::Label;

use super::{Entry, OrderedFastArray};
use crate::item::FastArrayItem;
use crate::receipt::Receipt;
use crate::replica::Replica;
use crate::sequence::{Key, Sequence};
use crate::update::Standing;

/// The items of an update.
pub(crate) struct Places<'a, T>(&'a mut Sequence<Entry<T>>);

impl<T> Standing<T> for Places<'_, T> {
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
    type Items<'a> = Places<'a, T>;

    fn size(&self) -> usize {
        self.items.len()
    }

    fn spot(&self, id: ItemId) -> Option<Key> {
        self.key(id)
    }

    fn place(&self, spot: Key) -> usize {
        self.items.index_of(spot).unwrap_or_else(|| unreachable!("an item that is there has a place"))
    }

    fn item_at(&mut self, spot: Key) -> &mut T {
        match self.items.by_key_mut(spot) {
            Some(entry) => &mut entry.item,
            None => unreachable!("an item is where it was found"),
        }
    }

    fn stamp(&self, spot: Key) -> u64 {
        self.items.by_key(spot).map_or(0, |entry| entry.stamp)
    }

    fn noted(&mut self, spot: Key) -> Option<(&mut u64, &mut Receipt)> {
        Some((&mut self.items.by_key_mut(spot)?.stamp, self.receipt.as_mut()?))
    }

    fn receipt(&self) -> Option<&Receipt> {
        self.receipt.as_deref()
    }

    fn parts(&mut self) -> Option<(Places<'_, T>, &mut Receipt)> {
        Some((Places(&mut self.items), self.receipt.as_mut()?))
    }

    fn receive_locally(&mut self) {
        if self.receipt.is_none() {
            self.receipt = Some(Box::default());
            let any_local = self.ids().any(ItemId::is_local);
            self.ids.start_locally(any_local);
        }
    }

    fn append_received(&mut self, id: ItemId) -> Key {
        self.place(self.len(), Entry { item: T::initial(), label: Label::START, id, stamp: 0 })
    }

    fn take_out(&mut self, spots: Vec<Key>) {
        spots.into_iter().for_each(|spot| drop(self.take(spot)));
    }

    fn each_stamp(&self, each: &mut dyn FnMut(ItemId, Key, u64)) {
        let entries = self.items.keys_from(0).zip(self.items.iter());
        entries.for_each(|(key, entry)| each(entry.id, key, entry.stamp));
    }

    fn is_settled(&self) -> bool {
        self.unsettled.is_empty()
    }

    fn settle(&mut self) -> bool {
        let unsettled = std::mem::take(&mut self.unsettled);
        let mut moved = false;
        if let Some(receipt) = &self.receipt {
            // Labels that were only spread out leave the items where they are, and nobody need be told.
            moved = unsettled.iter().any(|&key| {
                let is_old = self.items.by_key(key).is_some_and(|entry| !receipt.is_added(entry.stamp));
                is_old && !self.is_in_order(key)
            });
        }
        self.items.settle(&unsettled, Entry::stands);
        moved
    }
}

impl<T: FastArrayItem> OrderedFastArray<T> {
    /// The item `id` of a replica has this label from now on.
    pub(super) fn receive_label(&mut self, id: ItemId, label: Label) {
        let Some(key) = self.told_of(id) else { return };
        if let Some(entry) = self.items.by_key_mut(key)
            && entry.label != label
        {
            entry.label = label;
            self.unsettled.push(key);
        }
    }

    /// Whether an item stands rightly between its neighbours.
    fn is_in_order(&self, key: Key) -> bool {
        let Some(place) = self.items.index_of(key) else { return true };
        let around = self.items.iter_from(place.saturating_sub(1)).take(2 + place.min(1));
        around.is_sorted_by(|one, other| one.stands(other).is_le())
    }
}
