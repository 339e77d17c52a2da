//! Each tick decides once what a client sees. Before that, objects that the client may no longer see are only
//! marked as leaving, and changed owners and roles are only recorded. So a change that is undone before the
//! tick costs nothing.
//!
//! *Invariant:* a leaving object counts as an object that the client does not have. So it remains on the
//! client only if it comes into sight again.

use std::collections::BTreeMap;

use super::ObjectStates;
use crate::body::role::Proxy;
use crate::body::sparse_slots::SparseSlots;

impl ObjectStates {
    /// Records that the client may not see an object now. Returns `false` if the client neither has the
    /// object nor will receive it, so that there is nothing to decide.
    pub(crate) fn leave(&mut self, slot: u32) -> bool {
        let leaves = self.is_expected(slot);
        if leaves {
            self.view.change_undecided(|undecided| undecided.leaving.insert(slot));
        }
        leaves
    }

    /// Records that the client may see an object again, so that it is not leaving any more.
    pub(crate) fn stay(&mut self, slot: u32) {
        if self.is_leaving(slot) {
            self.view.change_undecided(|undecided| undecided.leaving.remove(slot));
        }
    }

    /// Records that the owner or the role of an object may have changed. `before` is the state before the
    /// change. Only the first change since the last tick is recorded, because the client was told the state
    /// before it.
    pub(crate) fn note_proxy(&mut self, slot: u32, before: Proxy) {
        self.view.change_undecided(|undecided| _ = undecided.proxies.entry(slot).or_insert(before));
    }

    /// Removes and returns the leaving objects, in ascending order.
    pub(crate) fn take_leaving(&mut self) -> SparseSlots {
        if self.view.undecided().is_none() {
            return SparseSlots::default();
        }
        self.view.change_undecided(|undecided| std::mem::take(&mut undecided.leaving))
    }

    /// Removes and returns the objects whose owner or role may have changed, each with the state that the
    /// client was told.
    pub(crate) fn take_proxies(&mut self) -> BTreeMap<u32, Proxy> {
        if self.view.undecided().is_none() {
            return BTreeMap::new();
        }
        self.view.change_undecided(|undecided| std::mem::take(&mut undecided.proxies))
    }
}
