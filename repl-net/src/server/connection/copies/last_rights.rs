//! The last rights of a client to calls on objects. When an object is removed from the server or torn off,
//! this module records the rights of that moment. They apply until the client knows of the removal or the
//! tear-off.
//!
//! *Invariant:* there is at most one entry for each slot, because a slot is not used again before the client
//! has removed the object.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use repl_core::Guid;

/// The objects that the client saw when they were removed from the server or torn off.
#[derive(Debug, Default)]
pub(crate) struct LastRights {
    /// In a box, because most clients see no removal for a long time.
    ended: Option<Box<Ended>>,
}

#[derive(Debug, Default)]
struct Ended {
    by_slot: BTreeMap<u32, EndedObject>,
}

/// An object that was removed from the server or torn off.
#[derive(Clone, Copy, Debug)]
struct EndedObject {
    generation: NonZeroU32,
    /// Whether the client owned the object.
    was_owner: bool,
}

impl LastRights {
    /// Records that an object is removed from the server or torn off now, and whether the client owns it. The
    /// client must see the object. Costs O(log(objects)).
    pub(crate) fn keep(&mut self, object: Guid, was_owner: bool) {
        let ended = EndedObject { generation: object.generation(), was_owner };
        self.ended.get_or_insert_default().by_slot.insert(object.slot(), ended);
    }

    /// Returns whether the client owned an object when it was removed from the server or torn off. Returns
    /// `None` if the object was not removed or torn off, or if the client did not see it then.
    pub(crate) fn was_owner(&self, object: Guid) -> Option<bool> {
        let ended = self
            .ended
            .as_ref()
            .and_then(|ended| ended.by_slot.get(&object.slot()))
            .filter(|ended| ended.generation == object.generation());
        ended.map(|ended| ended.was_owner)
    }

    /// Records that the client has removed the object in a slot, or knows that it is torn off.
    pub(crate) fn forget(&mut self, slot: u32) {
        if let Some(ended) = &mut self.ended {
            ended.by_slot.remove(&slot);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.ended = None;
    }

    /// Returns about how many bytes the objects take on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.ended
            .as_ref()
            .map_or(0, |ended| ended.by_slot.len())
            .saturating_mul(size_of::<(u32, EndedObject)>())
    }
}
