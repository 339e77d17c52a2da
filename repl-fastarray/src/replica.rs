//! Replicas: how a client's array comes to have the items that its server tells of, and how its callbacks are told.
//!
//! Invariant: items that the user of a client added are never received, spared, swept or removed here (S183).

use repl_core::{HandleSet, ItemId};

use crate::array::FastArray;
use crate::item::{ChangedProperties, FastArrayItem, ItemCallbacks};
use crate::receipt::Receipt;
use crate::update::{ArrayUpdate, Standing};

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

    /// What the receipt noted of the item.
    fn stamp(&self, spot: Self::Spot) -> u64;

    /// The same, to be noted anew.
    fn noted(&mut self, spot: Self::Spot) -> Option<(&mut u64, &mut Receipt)>;

    /// The receipt; there is none before anything was received.
    fn receipt(&self) -> Option<&Receipt>;

    fn parts(&mut self) -> Option<(Self::Items<'_>, &mut Receipt)>;

    /// From now on there is a receipt, and new items are local.
    fn receive_locally(&mut self);

    /// Appends an initial item under an id that none has.
    fn append_received(&mut self, id: ItemId) -> Self::Spot;

    /// Takes out items.
    fn take_out(&mut self, spots: Vec<Self::Spot>);

    /// Calls `each` with all items in their order, where they are, and what the receipt noted of them.
    fn each_stamp(&self, each: &mut dyn FnMut(ItemId, Self::Spot, u64));

    /// Whether all items stand where they belong.
    fn is_settled(&self) -> bool;

    /// Puts the items where they belong, before anybody is told; says whether items that were there before have moved.
    fn settle(&mut self) -> bool;

    /// The receipt, with an update under way.
    fn open_receipt(&mut self) {
        self.receive_locally();
        let len = self.size();
        if let Some((_, receipt)) = self.parts() {
            receipt.begin(len);
        }
    }

    /// An item of the server's in an update under way.
    fn told_of(&mut self, id: ItemId) -> Option<Self::Spot> {
        self.open_receipt();
        if id.is_local() { None } else { self.spot(id) }
    }

    fn receive_whole(&mut self, id: ItemId) -> &mut Self::Item {
        debug_assert!(!id.is_local(), "a server gives no local ids");
        let known = self.told_of(id);
        let spot = known.unwrap_or_else(|| self.append_received(id));
        match self.noted(spot) {
            Some((stamp, receipt)) if known.is_some() => receipt.keep(id, stamp),
            Some((stamp, receipt)) => receipt.add(id, stamp),
            None => {}
        }
        self.item_at(spot)
    }

    fn receive_change(&mut self, id: ItemId, handles: &HandleSet) {
        if let Some(spot) = self.told_of(id)
            && let Some((stamp, receipt)) = self.noted(spot)
            && !handles.is_empty()
            && !Receipt::is_doomed(*stamp)
        {
            let is_asked = <Self::Item as ItemCallbacks>::HAS_CALLBACKS;
            receipt.change(id, stamp, is_asked.then_some(handles));
        }
    }

    fn receive_removal(&mut self, id: ItemId) {
        if let Some(spot) = self.told_of(id)
            && let Some((stamp, receipt)) = self.noted(spot)
        {
            if receipt.is_added(*stamp) {
                // Nobody has been told that it came.
                receipt.added.retain(|&added| added != id);
                self.take_out(vec![spot]);
            } else {
                receipt.doom(id, stamp);
            }
        }
    }

    fn receive_sweep(&mut self) {
        self.open_receipt();
        if let Some((_, receipt)) = self.parts() {
            receipt.sweep();
        }
    }

    fn receive_sparing(&mut self, id: ItemId) {
        if let Some(spot) = self.told_of(id)
            && let Some((stamp, receipt)) = self.noted(spot)
            && !Receipt::is_doomed(*stamp)
        {
            receipt.keep(id, stamp);
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
            self.each_stamp(&mut |id, _, stamp| {
                if receipt.is_swept(id, stamp) {
                    each(id);
                }
            });
        }
    }

    /// Whether the update under way has brought anything. O(1), but O(items) after a sweep.
    fn has_received(&self) -> bool {
        let mut any = !self.is_settled();
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
        let is_told = any && with_callbacks && <Self::Item as ItemCallbacks>::HAS_CALLBACKS;
        if is_told {
            self.tell(&doomed);
        }
        self.take_out(doomed);
        let final_len = self.size();
        let Some((mut items, receipt)) = self.parts() else { return };
        let old_len = receipt.old_len;
        receipt.close();
        if is_told {
            let standing = &mut items;
            Self::Item::post_replicated_receive(&mut ArrayUpdate {
                standing,
                indices: &[],
                old_len,
                final_len,
            });
        }
    }

    /// The items that go: those told of in the order of the telling, then those swept by index. Items that came and were swept
    /// in the same update are taken out at once. What is left in the receipt is there.
    fn doomed(&mut self) -> Vec<Self::Spot> {
        let Some((_, receipt)) = self.parts() else { return Vec::new() };
        let (mut added, mut changed) =
            (std::mem::take(&mut receipt.added), std::mem::take(&mut receipt.changed));
        let is_swept = |array: &Self, id, spot| {
            let stamp = array.stamp(spot);
            array.receipt().is_some_and(|receipt| receipt.is_swept(id, stamp))
        };
        added.retain(|&id| {
            let Some(spot) = self.spot(id) else { return false };
            let swept = is_swept(self, id, spot);
            if swept {
                self.take_out(vec![spot]);
            }
            !swept
        });
        changed.retain(|&(id, _)| {
            let spot = self.spot(id);
            spot.is_some_and(|spot| !Receipt::is_doomed(self.stamp(spot)) && !is_swept(self, id, spot))
        });
        let mut doomed = Vec::new();
        if let Some(receipt) = self.receipt() {
            doomed.extend(receipt.removed.iter().filter_map(|&id| self.spot(id)));
            if receipt.has_sweep() {
                self.each_stamp(&mut |id, spot, stamp| {
                    if receipt.is_swept(id, stamp) {
                        doomed.push(spot);
                    }
                });
            }
        }
        if let Some((_, receipt)) = self.parts() {
            (receipt.added, receipt.changed) = (added, changed);
        }
        doomed
    }

    /// Calls everything but the last callback, in the order of S178.
    fn tell(&mut self, doomed: &[Self::Spot]) {
        let final_len = self.size() - doomed.len();
        let doomed: Vec<_> = doomed.iter().map(|&spot| self.place(spot)).collect();
        let Some(receipt) = self.receipt() else { return };
        let place = |id| self.spot(id).map(|spot| self.place(spot));
        let added: Vec<_> = receipt.added.iter().filter_map(|&id| place(id)).collect();
        let changed: Vec<_> = receipt.changed.iter().filter_map(|&(id, _)| place(id)).collect();
        let Some((mut items, receipt)) = self.parts() else { return };
        let (standing, old_len) = (&mut items, receipt.old_len);
        let mut update = ArrayUpdate { standing, indices: &doomed, old_len, final_len };

        for &at in &doomed {
            if let Some(item) = update.get_mut(at) {
                item.pre_replicated_remove();
            }
        }
        Self::Item::pre_replicated_removes(&mut update);

        update.indices = &added;
        for &at in &added {
            if let Some(item) = update.get_mut(at) {
                item.post_replicated_add();
            }
        }
        Self::Item::post_replicated_adds(&mut update);

        update.indices = &changed;
        for (&at, (_, handles)) in changed.iter().zip(&receipt.changed) {
            if let Some(item) = update.get_mut(at) {
                item.post_replicated_change(&ChangedProperties::new(Self::Item::LAYOUT, handles));
            }
        }
        Self::Item::post_replicated_changes(&mut update);
    }
}

/// The items of an update.
pub(crate) struct Slices<'a, T> {
    items: &'a mut [T],
    ids: &'a [ItemId],
}

impl<T> Standing<T> for Slices<'_, T> {
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
    type Items<'a> = Slices<'a, T>;

    fn size(&self) -> usize {
        self.items.len()
    }

    fn spot(&self, id: ItemId) -> Option<usize> {
        self.roster.position(id)
    }

    fn place(&self, spot: usize) -> usize {
        spot
    }

    fn item_at(&mut self, spot: usize) -> &mut T {
        &mut self.items[spot]
    }

    fn stamp(&self, spot: usize) -> u64 {
        self.roster.stamps[spot]
    }

    fn noted(&mut self, spot: usize) -> Option<(&mut u64, &mut Receipt)> {
        Some((&mut self.roster.stamps[spot], self.receipt.as_mut()?))
    }

    fn receipt(&self) -> Option<&Receipt> {
        self.receipt.as_deref()
    }

    fn parts(&mut self) -> Option<(Slices<'_, T>, &mut Receipt)> {
        let items = Slices { items: &mut self.items, ids: &self.roster.ids };
        Some((items, self.receipt.as_mut()?))
    }

    fn receive_locally(&mut self) {
        if self.receipt.is_none() {
            self.receipt = Some(Box::default());
            self.roster.start_locally();
        }
    }

    fn append_received(&mut self, id: ItemId) -> usize {
        self.push_as(id, T::initial());
        self.items.len() - 1
    }

    fn take_out(&mut self, mut spots: Vec<usize>) {
        // From the highest down, for the last item takes the place of each.
        spots.sort_unstable();
        spots.into_iter().rev().for_each(|spot| drop(self.swap_remove(spot)));
    }

    fn each_stamp(&self, each: &mut dyn FnMut(ItemId, usize, u64)) {
        let stamps = self.roster.ids.iter().zip(&self.roster.stamps);
        stamps.enumerate().for_each(|(spot, (&id, &stamp))| each(id, spot, stamp));
    }

    fn is_settled(&self) -> bool {
        true
    }

    fn settle(&mut self) -> bool {
        false
    }
}
