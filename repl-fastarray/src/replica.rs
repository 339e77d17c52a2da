//! Replicas: how a client's array comes to have the items that its server tells of, and how its callbacks are told.
//!
//! Invariant: items that the user of a client added are never received, spared, swept or removed here (S183).

use repl_core::{HandleSet, ItemId};

use crate::array::FastArray;
use crate::item::{ChangedProperties, FastArrayItem};
use crate::receipt::Receipt;
use crate::update::{ArrayUpdate, Standing};

/// The items of an update.
struct Slices<'a, T> {
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

impl<T: FastArrayItem> FastArray<T> {
    pub(crate) fn receive_locally(&mut self) {
        if self.receipt.is_none() {
            self.receipt = Some(Box::default());
            self.roster.start_locally();
        }
    }

    /// The receipt, with an update under way.
    fn open_receipt(&mut self) -> &mut Receipt {
        self.receive_locally();
        let len = self.items.len();
        let receipt = self.receipt.get_or_insert_default();
        receipt.begin(len);
        receipt
    }

    /// The receipt of an update under way, with the place and the stamp of an item of the server's.
    fn told_of(&mut self, id: ItemId) -> Option<(usize, &mut u64, &mut Receipt)> {
        self.open_receipt();
        if id.is_local() {
            return None;
        }
        let at = self.roster.position(id)?;
        Some((at, self.roster.stamps.get_mut(at)?, self.receipt.as_mut()?))
    }

    pub(crate) fn receive_whole(&mut self, id: ItemId) -> &mut T {
        debug_assert!(!id.is_local(), "a server gives no local ids");
        let at = match self.told_of(id) {
            Some((at, stamp, receipt)) => {
                receipt.keep(id, stamp);
                at
            }
            None => {
                let at = self.items.len();
                self.push_as(id, T::initial());
                let receipt = self.receipt.get_or_insert_default();
                receipt.add(id, &mut self.roster.stamps[at]);
                at
            }
        };
        &mut self.items[at]
    }

    pub(crate) fn receive_change(&mut self, id: ItemId, handles: &HandleSet) {
        if let Some((_, stamp, receipt)) = self.told_of(id)
            && !handles.is_empty()
            && !Receipt::is_doomed(*stamp)
        {
            receipt.change(id, stamp, T::HAS_CALLBACKS.then_some(handles));
        }
    }

    pub(crate) fn receive_removal(&mut self, id: ItemId) {
        if let Some((at, stamp, receipt)) = self.told_of(id) {
            if receipt.is_added(*stamp) {
                // Nobody has been told that it came.
                receipt.added.retain(|&added| added != id);
                self.swap_remove(at);
            } else {
                receipt.doom(id, stamp);
            }
        }
    }

    pub(crate) fn receive_sweep(&mut self) {
        self.open_receipt().sweep();
    }

    pub(crate) fn receive_sparing(&mut self, id: ItemId) {
        if let Some((_, stamp, receipt)) = self.told_of(id)
            && !Receipt::is_doomed(*stamp)
        {
            receipt.keep(id, stamp);
        }
    }

    pub(crate) fn each_received(&mut self, each: &mut dyn FnMut(&mut T)) {
        let Self { items, roster, receipt: Some(receipt), .. } = self else { return };
        for &id in receipt.added.iter().chain(receipt.changed.iter().map(|(id, _)| id)) {
            if let Some(item) = roster.position(id).and_then(|at| items.get_mut(at)) {
                each(item);
            }
        }
    }

    /// Items that were removed one by one or swept; O(items) after a sweep.
    pub(crate) fn each_departing(&self, each: &mut dyn FnMut(ItemId)) {
        let Some(receipt) = &self.receipt else { return };
        receipt.removed.iter().copied().for_each(&mut *each);
        if receipt.has_sweep() {
            let swept = self.roster.ids.iter().zip(&self.roster.stamps);
            swept.filter(|&(&id, &stamp)| receipt.is_swept(id, stamp)).for_each(|(&id, _)| each(id));
        }
    }

    /// Whether the update under way has brought anything.
    pub(crate) fn has_received(&self) -> bool {
        let mut any = false;
        self.each_departing(&mut |_| any = true);
        any || self
            .receipt
            .as_ref()
            .is_some_and(|receipt| !receipt.added.is_empty() || !receipt.changed.is_empty())
    }

    pub(crate) fn end_update(&mut self, with_callbacks: bool) {
        if self.receipt.as_ref().is_none_or(|receipt| !receipt.is_open()) {
            return;
        }
        let mut doomed = self.doomed();
        if with_callbacks && T::HAS_CALLBACKS {
            self.tell(&doomed);
        }
        doomed.sort_unstable();
        for &at in doomed.iter().rev() {
            self.swap_remove(at);
        }
        let Self { items, roster, receipt: Some(receipt), .. } = self else { return };
        let any = !(doomed.is_empty() && receipt.added.is_empty() && receipt.changed.is_empty());
        let old_len = receipt.old_len;
        receipt.close();
        if any && with_callbacks && T::HAS_CALLBACKS {
            let final_len = items.len();
            let standing = &mut Slices { items, ids: &roster.ids };
            T::post_replicated_receive(&mut ArrayUpdate { standing, indices: &[], old_len, final_len });
        }
    }

    /// Where the items stand that go: those told of in the order of the telling, then those swept by index. Items that came and were swept
    /// in the same update are taken out at once. What is left in the receipt is there.
    fn doomed(&mut self) -> Vec<usize> {
        let Self { items, roster, receipt: Some(receipt), .. } = self else { return Vec::new() };
        let mut added = std::mem::take(&mut receipt.added);
        added.retain(|&id| {
            let Some(at) = roster.position(id) else { return false };
            let swept = receipt.is_swept(id, roster.stamps[at]);
            if swept {
                items.swap_remove(at);
                roster.swap_remove(at);
            }
            !swept
        });
        receipt.added = added;
        let mut doomed: Vec<_> = receipt.removed.iter().filter_map(|&id| roster.position(id)).collect();
        if receipt.has_sweep() {
            for at in 0..items.len() {
                if receipt.is_swept(roster.ids[at], roster.stamps[at]) {
                    doomed.push(at);
                }
            }
        }
        let mut changed = std::mem::take(&mut receipt.changed);
        changed.retain(|&(id, _)| {
            let stamp = roster.position(id).map(|at| roster.stamps[at]);
            stamp.is_some_and(|stamp| !Receipt::is_doomed(stamp) && !receipt.is_swept(id, stamp))
        });
        receipt.changed = changed;
        doomed
    }

    /// Calls everything but the last callback, in the order of S178, unless nothing came of the update.
    fn tell(&mut self, doomed: &[usize]) {
        let Self { items, roster, receipt: Some(receipt), .. } = self else { return };
        if doomed.is_empty() && receipt.added.is_empty() && receipt.changed.is_empty() {
            return;
        }
        let added: Vec<_> = receipt.added.iter().filter_map(|&id| roster.position(id)).collect();
        let changed: Vec<_> = receipt.changed.iter().filter_map(|&(id, _)| roster.position(id)).collect();
        let (old_len, final_len) = (receipt.old_len, items.len() - doomed.len());
        let standing = &mut Slices { items, ids: &roster.ids };
        let mut update = ArrayUpdate { standing, indices: doomed, old_len, final_len };

        for &at in doomed {
            if let Some(item) = update.get_mut(at) {
                item.pre_replicated_remove();
            }
        }
        T::pre_replicated_removes(&mut update);

        update.indices = &added;
        for &at in &added {
            if let Some(item) = update.get_mut(at) {
                item.post_replicated_add();
            }
        }
        T::post_replicated_adds(&mut update);

        update.indices = &changed;
        for (&at, (_, handles)) in changed.iter().zip(&receipt.changed) {
            if let Some(item) = update.get_mut(at) {
                item.post_replicated_change(&ChangedProperties::new(T::LAYOUT, handles));
            }
        }
        T::post_replicated_changes(&mut update);
    }
}
