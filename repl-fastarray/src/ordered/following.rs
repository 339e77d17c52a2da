//! Updates a shadow (the server's copy of an array with the values that it compared last) from a live ordered
//! array, so that the shadow receives the same items and labels.
//!
//! *Invariant:* the log entries of an ordered array contain keys of the live array, not indices. An item
//! keeps its key as long as it exists.

use std::collections::HashSet;

use repl_core::{ItemId, Step};

use super::OrderedFastArray;
use super::labelled_item::LabelledItem;
use crate::follow::{Following, Visit};
use crate::ids::IdCounter;
use crate::item::FastArrayItem;
use crate::marks::{self, ItemLog};
use crate::sequence::Key;

impl<T: FastArrayItem> Following for OrderedFastArray<T> {
    type Item = T;

    fn log(&self) -> &ItemLog {
        &self.log
    }

    fn log_mut(&mut self) -> &mut ItemLog {
        &mut self.log
    }

    fn take_step(&mut self, live: &Self, entry: marks::ItemChange, visit: Visit<'_, T>) {
        if entry.is_removal() {
            if let Some(key) = self.key(entry.id) {
                self.take(key);
                visit(entry.id, Step::Removed);
            }
            return;
        }
        // The key of an item that was removed may belong to another item now.
        let touched = live.items.by_key(Key::of(entry.position()));
        if let Some(touched) = touched.filter(|touched| touched.id == entry.id) {
            self.step(touched, visit);
        }
    }

    fn match_up(&mut self, live: &Self, visit: Visit<'_, T>) {
        let there: HashSet<Key> = live.items.iter().map(|entry| self.step(entry, visit)).collect();
        for key in self.keys(0..self.items.len()) {
            if !there.contains(&key)
                && let Some(gone) = self.take_entry(key)
            {
                visit(gone.id, Step::Removed);
            }
        }
    }

    fn first_for_successor(&self, live: &Self) -> Option<ItemId> {
        let (least, len) = (live.ids().min(), live.len());
        self.id_counter.first_for_successor(&live.id_counter, least, len, |each| {
            self.items.iter().for_each(|entry| each(entry.id));
        })
    }

    fn start_over(&mut self, live: &Self, first: ItemId, visit: Visit<'_, T>) {
        self.items.iter().for_each(|entry| visit(entry.id, Step::Removed));
        self.clear();
        let mut id = first;
        for entry in live.items.iter() {
            let key = self.append_initial(entry, id);
            if let Some(shadow) = self.items.by_key_mut(key) {
                visit(id, Step::Added { live: &entry.item, shadow: &mut shadow.item });
            }
            id = id.next();
        }
        self.id_counter.follow(&IdCounter::after(first, live.len()));
    }

    fn continue_as(&mut self, live: &Self) {
        self.id_counter.follow(&live.id_counter);
    }
}

impl<T: FastArrayItem> OrderedFastArray<T> {
    /// Updates the shadow of an item of the live array that was written to. Returns the key of the shadow
    /// item.
    fn step(&mut self, live: &LabelledItem<T>, visit: Visit<'_, T>) -> Key {
        let id = live.id;
        let known = self.key(id);
        let key = known.unwrap_or_else(|| self.append_initial(live, id));
        if let Some(shadow) = self.items.by_key_mut(key) {
            let moved = shadow.label != live.label;
            shadow.label.clone_from(&live.label);
            let (live, shadow) = (&live.item, &mut shadow.item);
            let is_new = known.is_none();
            visit(
                id,
                if is_new { Step::Added { live, shadow } } else { Step::Touched { live, shadow, moved } },
            );
        }
        key
    }

    /// Appends an item with initial values, with the given `id` and the label of `other`. The items of a
    /// shadow are in no particular order.
    fn append_initial(&mut self, other: &LabelledItem<T>, id: ItemId) -> Key {
        let entry = LabelledItem { item: T::initial(), label: other.label.clone(), id };
        self.insert_entry(self.items.len(), entry)
    }

    /// Renames the items in their order, with consecutive ids from `first` on.
    pub(super) fn rename_from(&mut self, first: ItemId) {
        let mut next = first;
        for key in self.keys(0..self.items.len()) {
            if let Some(entry) = self.items.by_key_mut(key) {
                entry.id = next;
                next = next.next();
            }
        }
        self.id_counter = IdCounter::after(first, self.items.len());
        if let Some(notes) = &mut self.notes {
            notes.drop_index();
        }
    }

    /// Makes the items of this array equal to the items of `other`. The argument `copy` copies the values of
    /// one item. The method also copies the revision of the live array from which `other` was last updated.
    /// Local items are neither copied nor removed (S183).
    pub(super) fn copy_items(&mut self, other: &Self, copy: &mut dyn FnMut(&T, &mut T)) {
        let is_gone = |id: ItemId| !id.is_local() && other.key(id).is_none();
        let gone = self.items.keys_from(0).zip(self.items.iter()).filter(|(_, entry)| is_gone(entry.id));
        for key in gone.map(|(key, _)| key).collect::<Vec<_>>() {
            self.take(key);
        }
        for from in other.items.iter().filter(|entry| !entry.id.is_local()) {
            let key = self.key(from.id).unwrap_or_else(|| self.append_initial(from, from.id));
            if let Some(to) = self.items.by_key_mut(key) {
                to.label.clone_from(&from.label);
                copy(&from.item, &mut to.item);
            }
        }
        if !self.items.iter().is_sorted_by(|one, other| one.compare_position(other).is_le()) {
            self.items.sort_by(LabelledItem::compare_position);
        }
        if self.receipt.is_none() {
            self.id_counter = other.id_counter;
            self.log.changes.copy_followed(&other.log.changes);
        }
    }
}
