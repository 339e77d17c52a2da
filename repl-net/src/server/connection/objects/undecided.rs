//! What a client sees is decided once in each tick. Until then, objects that it may no longer see only leave,
//! and owners and roles that have changed are only noted. So what is taken back before the tick costs nothing.
//!
//! *Invariant:* an object that leaves is known to the connection, was sent, and is not being closed.

use std::collections::BTreeMap;

use super::ObjectStates;
use crate::body::role::Proxy;
use crate::body::sparse_slots::SparseSlots;

/// What the next tick decides about objects that the client has.
#[derive(Debug, Default)]
pub(crate) struct Undecided {
    /// The objects that the client may not see now. They are closed in the next tick.
    leaving: SparseSlots,
    /// The objects whose owner or role may have changed for the client, each with what the client was told.
    proxies: BTreeMap<u32, Proxy>,
}

impl Undecided {
    pub(super) fn is_empty(&self) -> bool {
        self.leaving.is_empty() && self.proxies.is_empty()
    }

    /// Forgets an object that is removed from the server.
    pub(super) fn forget(&mut self, slot: u32) {
        self.leaving.remove(slot);
        self.proxies.remove(&slot);
    }
}

impl ObjectStates {
    /// Returns whether the client may not see an object now that it has, so that the next tick closes it.
    pub(crate) fn is_leaving(&self, slot: u32) -> bool {
        self.view.undecided().is_some_and(|undecided| undecided.leaving.contains(slot))
    }

    /// Records that the client may not see an object now. Returns `false` if the client does not have the
    /// object, so that there is nothing to decide.
    pub(crate) fn leave(&mut self, slot: u32) -> bool {
        let leaves = self.may_leave(slot);
        if leaves {
            self.view.change_undecided(|undecided| undecided.leaving.insert(slot));
        }
        leaves
    }

    /// Returns whether something of an object was sent, and the object is not being closed.
    fn may_leave(&self, slot: u32) -> bool {
        match self.tracked.get(slot) {
            Some(tracked) => !tracked.is_closing() && !tracked.is_untouched(),
            None => self.is_known(slot) && !self.standings.unsent().contains(slot),
        }
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
