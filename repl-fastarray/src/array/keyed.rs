//! The traits through which `repl-core` uses a fast array.
//!
//! *Invariant:* `repl-core` accesses items only by their ids. When `repl-core` writes to a replica (a
//! client's copy of an array) or a shadow (the server's copy), it does not mark items.

use repl_core::__private::{Preload, Shape};
use repl_core::{ItemId, Keyed, KeyedReplica, KeyedShadow, Property, ReceivedChange, Step};

use super::FastArray;
use crate::follow::Following;
use crate::item::{FastArrayItem, ItemCallbackPolicy};
use crate::replica::Replica;

#[expect(unsafe_code, reason = "a type states its own shape")]
// SAFETY: the shape accesses items only through `Keyed`, with functions that are generated for this type, and
// the shape is not marked as bitwise.
unsafe impl<T: FastArrayItem> Property for FastArray<T> {
    const SHAPE: &'static Shape = &Shape::keyed::<Self>("FastArray");

    fn initial() -> Self {
        Self::new()
    }
}

impl<T: FastArrayItem> Keyed for FastArray<T> {
    type Item = T;

    const HAS_CALLBACKS: bool = T::CallbackPolicy::HAS_CALLBACKS;

    fn len(&self) -> usize {
        self.items.len() - self.item_ids.tombstones().len()
    }

    fn item(&self, id: ItemId) -> Option<&T> {
        self.by_id(id)
    }

    fn item_mut(&mut self, id: ItemId) -> Option<&mut T> {
        self.items.get_mut(self.item_ids.position(id)?)
    }

    fn ids(&self, each: &mut dyn FnMut(ItemId)) {
        self.item_ids.present().for_each(|(id, _)| each(id));
    }

    fn renumber(&mut self) {
        if let Some(first) = self.item_ids.log.renumber() {
            self.item_ids.rename_from(first);
        }
    }
}

impl<T: FastArrayItem> KeyedShadow for FastArray<T> {
    fn is_up_to_date(&self, live: &Self) -> bool {
        self.item_ids.log.is_up_to_date(&live.item_ids.log)
    }

    fn follow(&mut self, live: &Self, visit: &mut dyn FnMut(ItemId, Step<&T, &mut T>)) -> bool {
        let must_renumber = self.catch_up(live, visit);
        self.item_ids.set_gaps(Keyed::len(self) < live.items.len());
        must_renumber
    }

    fn remove_unsendable(&mut self, id: ItemId) {
        self.remove_unsendable(id);
    }

    fn copy_from(&mut self, other: &Self, copy: &mut dyn FnMut(&T, &mut T)) {
        self.copy_items(other, copy);
    }

    fn edits(&self, live: &Self) -> Option<Vec<ItemId>> {
        self.item_ids.log.edits(&live.item_ids.log)
    }

    fn follow_edits(&mut self, live: &Self) {
        self.item_ids.log.follow(&live.item_ids.log);
    }
}

impl<T: FastArrayItem> KeyedReplica for FastArray<T> {
    fn become_replica(&mut self) {
        self.parts();
    }

    fn is_replica(&self) -> bool {
        self.item_ids.receipt().is_some()
    }

    fn own(&mut self) {
        if self.item_ids.receipt().is_none() {
            self.clear();
            self.become_replica();
        }
    }

    fn remove_local(&mut self) {
        self.take_out_local();
    }

    fn received_whole(&mut self, id: ItemId) -> &mut T {
        self.receive_whole(id)
    }

    fn receive(&mut self, id: ItemId, change: ReceivedChange<'_>) {
        match change {
            ReceivedChange::Spared => self.receive_sparing(id),
            ReceivedChange::Changed(handles) => self.receive_change(id, handles),
            ReceivedChange::Removed => self.receive_removal(id),
            // `received_whole` has already recorded that the item is new. A `FastArray` has no order on
            // clients, so no item moves.
            ReceivedChange::Added | ReceivedChange::Moved(_) => {}
        }
    }

    fn received_sweep(&mut self) {
        self.receive_sweep();
    }

    fn marked_for_removal(&self, each: &mut dyn FnMut(ItemId)) {
        self.each_marked_for_removal(each);
    }

    fn received(&mut self, each: &mut dyn FnMut(&mut T)) {
        self.each_received(each);
    }

    fn has_received_changes(&self) -> bool {
        self.has_received()
    }

    fn conclude(&mut self, with_callbacks: bool) {
        self.end_update(with_callbacks);
    }
}

impl<T: FastArrayItem> Preload for FastArray<T> {
    fn preload(&self, id: ItemId) {
        self.item_ids.preload(id);
    }
}
