//! What a client sees is decided once in each tick. Until then, objects that it may no longer see only leave,
//! and owners and roles that have changed are only noted. So what is taken back before the tick costs nothing.
//!
//! *Invariant:* what leaves is not seen, so only what brings it into sight anew lets it stay.

use std::collections::BTreeMap;

use super::ObjectStates;
use crate::body::role::Proxy;
use crate::body::sparse_slots::SparseSlots;

impl ObjectStates {
    /// Records that the client may not see an object now. Returns `false` if the client neither has the object
    /// nor will receive it, so that there is nothing to decide.
    pub(crate) fn leave(&mut self, slot: u32) -> bool {
        let leaves = self.is_expected(slot);
        if leaves {
            self.view.change_undecided(|undecided| undecided.leaving.insert(slot));
        }
        leaves
    }

    /// Records that the client may see an object after all.
    pub(crate) fn stay(&mut self, slot: u32) {
        if self.is_leaving(slot) {
            self.view.change_undecided(|undecided| undecided.leaving.remove(slot));
        }
    }

    /// Records that the owner or the role of an object may have changed. The client was told what `before`
    /// says, unless it has changed already since the last tick.
    pub(crate) fn note_proxy(&mut self, slot: u32, before: Proxy) {
        self.view.change_undecided(|undecided| _ = undecided.proxies.entry(slot).or_insert(before));
    }

    /// Takes the objects that leave, in ascending order.
    pub(crate) fn take_leaving(&mut self) -> SparseSlots {
        if self.view.undecided().is_none() {
            return SparseSlots::default();
        }
        self.view.change_undecided(|undecided| std::mem::take(&mut undecided.leaving))
    }

    /// Takes the objects whose owner or role may have changed, each with what the client was told.
    pub(crate) fn take_proxies(&mut self) -> BTreeMap<u32, Proxy> {
        if self.view.undecided().is_none() {
            return BTreeMap::new();
        }
        self.view.change_undecided(|undecided| std::mem::take(&mut undecided.proxies))
    }
}
