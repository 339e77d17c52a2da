//! How a client's array applies an update from the server, and how it calls the item callbacks. A replica is
//! the client's copy of an array.
//!
//! *Invariant:* an update never changes or removes items that the client's own code added (S183).
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

mod receipt;

use repl_core::{HandleSet, ItemId};

use crate::item::{ArrayUpdate, ChangedProperties, FastArrayItem, ItemAccess, ItemCallbackPolicy};

pub(crate) use receipt::Receipt;

/// The callback policy of the items of the array type `R`.
type Policy<R> = <<R as Replica>::Item as FastArrayItem>::CallbackPolicy;

/// An array of either kind that can receive updates on a client.
pub(crate) trait Replica: Sized {
    type Item: FastArrayItem;
    /// The index or key at which an item is stored. A `Spot` stays valid until any item is removed from the
    /// storage.
    type Spot: Copy;
    /// The items of the array, borrowed separately from the receipt (the record of the current update).
    type Items<'a>: ItemAccess<Self::Item>
    where
        Self: 'a;

    fn size(&self) -> usize;

    /// Returns where the item `id` is stored.
    fn spot(&self, id: ItemId) -> Option<Self::Spot>;

    /// Returns the index of the item that is stored at `spot`.
    fn index_of_spot(&self, spot: Self::Spot) -> usize;

    fn item_at(&mut self, spot: Self::Spot) -> &mut Self::Item;

    /// Returns the receipt of the array (the record of the current update). An array that has never received
    /// an update has no receipt.
    fn receipt(&self) -> Option<&Receipt>;

    /// Returns the items and the receipt. If the array has no receipt, the method creates one. As soon as the
    /// array has a receipt, items that the client's own code adds receive local ids.
    fn parts(&mut self) -> (Self::Items<'_>, &mut Receipt);

    /// Appends an item with initial values and with an id that no other item has.
    fn append_received(&mut self, id: ItemId) -> Self::Spot;

    /// Prefetches the memory that the removal of the item at `spot` will read.
    fn preload_removal(&self, spot: Self::Spot) {
        let _ = spot;
    }

    /// Removes the items `going` from the storage of the array.
    fn take_out(&mut self, going: Vec<(ItemId, Self::Spot)>);

    /// Calls `each` with the id and the `Spot` of each item, in the order of the items.
    fn each_spot(&self, each: &mut dyn FnMut(ItemId, Self::Spot));

    /// Returns whether the update has moved items that were in the array before.
    fn has_moved(&self) -> bool;

    /// Puts the items into the order of their labels, before any callback runs. Returns whether items that
    /// were in the array before have moved.
    fn sort_moved(&mut self) -> bool;

    /// Returns the receipt of the array (the record of the current update). If no update has begun, this
    /// begins an update.
    fn open_receipt(&mut self) -> &mut Receipt {
        let len = self.size();
        let (_, receipt) = self.parts();
        receipt.begin(len);
        receipt
    }

    /// Returns where the item `id` is stored, and the receipt. If no update has begun, this begins an update.
    /// Returns `None` if the array has no item `id`, or if the client's own code added the item.
    fn server_item(&mut self, id: ItemId) -> Option<(Self::Spot, &mut Receipt)> {
        let spot = if id.is_local() { None } else { self.spot(id) };
        let receipt = self.open_receipt();
        Some((spot?, receipt))
    }

    fn receive_whole(&mut self, id: ItemId) -> &mut Self::Item {
        debug_assert!(!id.is_local(), "a server gives no local ids");
        let known = self.server_item(id).map(|(spot, receipt)| {
            receipt.keep(id);
            spot
        });
        let spot = known.unwrap_or_else(|| {
            self.open_receipt().add(id);
            self.append_received(id)
        });
        self.item_at(spot)
    }

    fn receive_change(&mut self, id: ItemId, handles: &HandleSet) {
        if let Some((_, receipt)) = self.server_item(id)
            && !handles.is_empty()
            && !receipt.is_marked_removed(id)
        {
            let has_callbacks = Policy::<Self>::HAS_CALLBACKS;
            receipt.change(id, has_callbacks.then_some(handles));
        }
    }

    fn receive_removal(&mut self, id: ItemId) {
        if let Some((spot, receipt)) = self.server_item(id) {
            if receipt.is_added(id) {
                // No callback has reported yet that the item was added, so no callback must report its
                // removal.
                receipt.cancel_add(id);
                self.take_out(vec![(id, spot)]);
            } else {
                receipt.mark_removed(id);
                self.preload_removal(spot);
            }
        }
    }

    fn receive_sweep(&mut self) {
        self.open_receipt().sweep();
    }

    fn receive_sparing(&mut self, id: ItemId) {
        if let Some((_, receipt)) = self.server_item(id)
            && !receipt.is_marked_removed(id)
        {
            receipt.keep(id);
        }
    }

    /// Removes the items that the client's own code added.
    fn take_out_local(&mut self) {
        let mut local = Vec::new();
        self.each_spot(&mut |id, spot| local.extend(id.is_local().then_some((id, spot))));
        self.take_out(local);
    }

    fn each_received(&mut self, each: &mut dyn FnMut(&mut Self::Item)) {
        let Some(receipt) = self.receipt() else { return };
        let changed = receipt.changed.iter().map(|(id, _)| id);
        let spots: Vec<_> = receipt.added.iter().chain(changed).filter_map(|&id| self.spot(id)).collect();
        spots.into_iter().for_each(|spot| each(self.item_at(spot)));
    }

    /// Calls `each` with the items that this update removes, either by listing them or by a sweep (which
    /// removes all items that the rest of the update does not mention). Costs O(items) after a sweep.
    fn each_marked_for_removal(&self, each: &mut dyn FnMut(ItemId)) {
        let Some(receipt) = self.receipt() else { return };
        receipt.removed.iter().copied().for_each(&mut *each);
        if receipt.has_sweep() {
            self.each_spot(&mut |id, _| {
                if receipt.is_swept(id) {
                    each(id);
                }
            });
        }
    }

    /// Returns whether the current update has added, changed, moved or removed an item. Costs O(1), but
    /// O(items) after a sweep (see `Receipt::sweep`).
    fn has_received(&self) -> bool {
        let mut any = self.has_moved();
        self.each_marked_for_removal(&mut |_| any = true);
        any || self.receipt().is_some_and(|receipt| !receipt.added.is_empty() || !receipt.changed.is_empty())
    }

    fn end_update(&mut self, with_callbacks: bool) {
        if self.receipt().is_none_or(|receipt| !receipt.is_open()) {
            return;
        }
        let moved = self.sort_moved();
        let removed = self.removed();
        let any = self.receipt().is_some_and(|receipt| {
            moved || !(removed.is_empty() && receipt.added.is_empty() && receipt.changed.is_empty())
        });
        let runs_callbacks = any && with_callbacks && Policy::<Self>::HAS_CALLBACKS;
        if runs_callbacks {
            self.run_callbacks(&removed);
        }
        self.take_out(removed);
        let final_len = self.size();
        let (mut items, receipt) = self.parts();
        let old_len = receipt.old_len;
        receipt.close();
        if runs_callbacks {
            let access = &mut items;
            Policy::<Self>::received(&mut ArrayUpdate { access, indices: &[], old_len, final_len });
        }
    }

    /// Returns the items that must be removed. The items that the update lists come first, in the order of
    /// the update. After these come the items that a sweep removes, in the order of their indices. Items that
    /// were added and swept in the same update are removed from the storage immediately. After this call, the
    /// added and changed items in the receipt are items that remain in the array.
    fn removed(&mut self) -> Vec<(ItemId, Self::Spot)> {
        let swept = self.open_receipt().drop_removed();
        let swept = swept.into_iter().filter_map(|id| Some((id, self.spot(id)?))).collect();
        self.take_out(swept);
        let Some(receipt) = self.receipt() else { return Vec::new() };
        let removed = receipt.removed.iter();
        let mut removed: Vec<_> = removed.filter_map(|&id| Some((id, self.spot(id)?))).collect();
        if receipt.has_sweep() {
            self.each_spot(&mut |id, spot| {
                if receipt.is_swept(id) {
                    removed.push((id, spot));
                }
            });
        }
        removed
    }

    /// Calls all callbacks of an update except the last callback, in the order of S178.
    fn run_callbacks(&mut self, removed: &[(ItemId, Self::Spot)]) {
        let final_len = self.size().saturating_sub(removed.len());
        let removed: Vec<_> = removed.iter().map(|&(_, spot)| self.index_of_spot(spot)).collect();
        let Some(receipt) = self.receipt() else { return };
        let index_of = |id| self.spot(id).map(|spot| self.index_of_spot(spot));
        let added: Vec<_> = receipt.added.iter().filter_map(|&id| index_of(id)).collect();
        let changed: Vec<_> = receipt.changed.iter().filter_map(|&(id, _)| index_of(id)).collect();
        let (mut items, receipt) = self.parts();
        let (access, old_len) = (&mut items, receipt.old_len);
        let mut update = ArrayUpdate { access, indices: &removed, old_len, final_len };

        for &at in &removed {
            if let Some(item) = update.get_mut(at) {
                Policy::<Self>::removing(item);
            }
        }
        Policy::<Self>::all_removing(&mut update);

        update.indices = &added;
        for &at in &added {
            if let Some(item) = update.get_mut(at) {
                Policy::<Self>::added(item);
            }
        }
        Policy::<Self>::all_added(&mut update);

        update.indices = &changed;
        for (&at, (_, handles)) in changed.iter().zip(&receipt.changed) {
            if let Some(item) = update.get_mut(at) {
                let changed = ChangedProperties::new(Self::Item::LAYOUT, handles);
                Policy::<Self>::changed(item, &changed);
            }
        }
        Policy::<Self>::all_changed(&mut update);
    }
}
