//! Replicas: how a client's array comes to have the items that its server tells of, and how its callbacks are
//! told.
//!
//! Invariant: items that the user of a client added are never received, spared, swept or removed here (S183).
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

mod receipt;

use repl_core::{HandleSet, ItemId};

use crate::item::{ArrayUpdate, ChangedProperties, FastArrayItem, ItemsTold, Standing};

pub(crate) use receipt::Receipt;

/// Who is told what becomes of an array's items.
type Told<R> = <<R as Replica>::Item as FastArrayItem>::Told;

/// An array of whatever kind, as an update finds it.
pub(crate) trait Replica: Sized {
    type Item: FastArrayItem;
    /// Where an item is, for as long as none is taken out.
    type Spot: Copy;
    /// The items of the array, apart from its receipt.
    type Items<'a>: Standing<Self::Item>
    where
        Self: 'a;

    fn size(&self) -> usize;

    /// Where the item `id` is.
    fn spot(&self, id: ItemId) -> Option<Self::Spot>;

    /// At which index that is.
    fn place(&self, spot: Self::Spot) -> usize;

    fn item_at(&mut self, spot: Self::Spot) -> &mut Self::Item;

    /// The receipt; there is none before this is a replica.
    fn receipt(&self) -> Option<&Receipt>;

    /// The items, and the receipt: from now on there is one, and new items are local.
    fn parts(&mut self) -> (Self::Items<'_>, &mut Receipt);

    /// Appends an initial item under an id that none has.
    fn append_received(&mut self, id: ItemId) -> Self::Spot;

    /// The item at `spot` will be taken out.
    fn preload_removal(&self, spot: Self::Spot) {
        let _ = spot;
    }

    /// Takes out items.
    fn take_out(&mut self, going: Vec<(ItemId, Self::Spot)>);

    /// Calls `each` with all items in their order, and where they are.
    fn each_spot(&self, each: &mut dyn FnMut(ItemId, Self::Spot));

    /// Whether items that were there before do not stand where they belong.
    fn has_moved(&self) -> bool;

    /// Puts the items where they belong, before anybody is told; says whether items that were there before
    /// have moved.
    fn settle(&mut self) -> bool;

    /// The receipt, with an update under way.
    fn open_receipt(&mut self) -> &mut Receipt {
        let len = self.size();
        let (_, receipt) = self.parts();
        receipt.begin(len);
        receipt
    }

    /// The receipt, with an update under way, if the item is there and the server's.
    fn told_of(&mut self, id: ItemId) -> Option<(Self::Spot, &mut Receipt)> {
        let spot = if id.is_local() { None } else { self.spot(id) };
        let receipt = self.open_receipt();
        Some((spot?, receipt))
    }

    fn receive_whole(&mut self, id: ItemId) -> &mut Self::Item {
        debug_assert!(!id.is_local(), "a server gives no local ids");
        let known = self.told_of(id).map(|(spot, receipt)| {
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
        if let Some((_, receipt)) = self.told_of(id)
            && !handles.is_empty()
            && !receipt.is_doomed(id)
        {
            let is_asked = Told::<Self>::HAS_CALLBACKS;
            receipt.change(id, is_asked.then_some(handles));
        }
    }

    fn receive_removal(&mut self, id: ItemId) {
        if let Some((spot, receipt)) = self.told_of(id) {
            if receipt.is_added(id) {
                // Nobody has been told that it came.
                receipt.take_back(id);
                self.take_out(vec![(id, spot)]);
            } else {
                receipt.doom(id);
                self.preload_removal(spot);
            }
        }
    }

    fn receive_sweep(&mut self) {
        self.open_receipt().sweep();
    }

    fn receive_sparing(&mut self, id: ItemId) {
        if let Some((_, receipt)) = self.told_of(id)
            && !receipt.is_doomed(id)
        {
            receipt.keep(id);
        }
    }

    fn each_received(&mut self, each: &mut dyn FnMut(&mut Self::Item)) {
        let Some(receipt) = self.receipt() else { return };
        let changed = receipt.changed.iter().map(|(id, _)| id);
        let spots: Vec<_> = receipt.added.iter().chain(changed).filter_map(|&id| self.spot(id)).collect();
        spots.into_iter().for_each(|spot| each(self.item_at(spot)));
    }

    /// Items that were removed one by one or swept; O(items) after a sweep.
    fn each_departing(&self, each: &mut dyn FnMut(ItemId)) {
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

    /// Whether the update under way has brought anything. O(1), but O(items) after a sweep.
    fn has_received(&self) -> bool {
        let mut any = self.has_moved();
        self.each_departing(&mut |_| any = true);
        any || self.receipt().is_some_and(|receipt| !receipt.added.is_empty() || !receipt.changed.is_empty())
    }

    fn end_update(&mut self, with_callbacks: bool) {
        if self.receipt().is_none_or(|receipt| !receipt.is_open()) {
            return;
        }
        let moved = self.settle();
        let doomed = self.doomed();
        let any = self.receipt().is_some_and(|receipt| {
            moved || !(doomed.is_empty() && receipt.added.is_empty() && receipt.changed.is_empty())
        });
        let is_told = any && with_callbacks && Told::<Self>::HAS_CALLBACKS;
        if is_told {
            self.tell(&doomed);
        }
        self.take_out(doomed);
        let final_len = self.size();
        let (mut items, receipt) = self.parts();
        let old_len = receipt.old_len;
        receipt.close();
        if is_told {
            let standing = &mut items;
            Told::<Self>::received(&mut ArrayUpdate { standing, indices: &[], old_len, final_len });
        }
    }

    /// The items that go: those told of in the order of the telling, then those swept by index. Items that
    /// came and were swept in the same update are taken out at once. What is left in the receipt is there.
    fn doomed(&mut self) -> Vec<(ItemId, Self::Spot)> {
        let swept = self.open_receipt().settle();
        let swept = swept.into_iter().filter_map(|id| Some((id, self.spot(id)?))).collect();
        self.take_out(swept);
        let Some(receipt) = self.receipt() else { return Vec::new() };
        let removed = receipt.removed.iter();
        let mut doomed: Vec<_> = removed.filter_map(|&id| Some((id, self.spot(id)?))).collect();
        if receipt.has_sweep() {
            self.each_spot(&mut |id, spot| {
                if receipt.is_swept(id) {
                    doomed.push((id, spot));
                }
            });
        }
        doomed
    }

    /// Calls everything but the last callback, in the order of S178.
    fn tell(&mut self, doomed: &[(ItemId, Self::Spot)]) {
        let final_len = self.size().saturating_sub(doomed.len());
        let doomed: Vec<_> = doomed.iter().map(|&(_, spot)| self.place(spot)).collect();
        let Some(receipt) = self.receipt() else { return };
        let place = |id| self.spot(id).map(|spot| self.place(spot));
        let added: Vec<_> = receipt.added.iter().filter_map(|&id| place(id)).collect();
        let changed: Vec<_> = receipt.changed.iter().filter_map(|&(id, _)| place(id)).collect();
        let (mut items, receipt) = self.parts();
        let (standing, old_len) = (&mut items, receipt.old_len);
        let mut update = ArrayUpdate { standing, indices: &doomed, old_len, final_len };

        for &at in &doomed {
            if let Some(item) = update.get_mut(at) {
                Told::<Self>::removing(item);
            }
        }
        Told::<Self>::all_removing(&mut update);

        update.indices = &added;
        for &at in &added {
            if let Some(item) = update.get_mut(at) {
                Told::<Self>::added(item);
            }
        }
        Told::<Self>::all_added(&mut update);

        update.indices = &changed;
        for (&at, (_, handles)) in changed.iter().zip(&receipt.changed) {
            if let Some(item) = update.get_mut(at) {
                let changed = ChangedProperties::new(Self::Item::LAYOUT, handles);
                Told::<Self>::changed(item, &changed);
            }
        }
        Told::<Self>::all_changed(&mut update);
    }
}
