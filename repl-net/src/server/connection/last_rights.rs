//! The rights of a client to calls on objects that were removed from the server but not yet from the client:
//! those that it had at the removal.
//!
//! *Invariant:* there is at most one entry for each slot, because a slot is not used again before the client has
//! removed the object.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use repl_core::Guid;

use crate::messages::recipient::Recipient;

/// The objects that the client saw when they were removed from the server.
#[derive(Debug, Default)]
pub(super) struct LastRights {
    by_slot: BTreeMap<u32, EndedObject>,
}

/// An object that was removed from the server.
#[derive(Clone, Copy, Debug)]
struct EndedObject {
    generation: NonZeroU32,
    /// Whether the client owned the object.
    was_owner: bool,
}

impl LastRights {
    /// Records that an object was removed from the server while the client saw it, and whether the client owned
    /// it. Costs O(log(objects)).
    pub(super) fn keep(&mut self, object: Guid, was_owner: bool) {
        let ended = EndedObject { generation: object.generation(), was_owner };
        self.by_slot.insert(object.slot(), ended);
    }

    /// Returns whether the client may still get a call on an object that was removed from the server.
    pub(super) fn allow(&self, object: Guid, recipient: Recipient) -> bool {
        let ended = self.by_slot.get(&object.slot()).filter(|ended| ended.generation == object.generation());
        ended.is_some_and(|ended| recipient != Recipient::Owner || ended.was_owner)
    }

    /// Records that the client has removed the object in a slot.
    pub(super) fn forget(&mut self, slot: u32) {
        self.by_slot.remove(&slot);
    }

    /// Forgets all objects.
    pub(super) fn clear(&mut self) {
        self.by_slot.clear();
    }

    /// Returns about how many bytes the objects take on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        self.by_slot.len().saturating_mul(size_of::<(u32, EndedObject)>())
    }
}
