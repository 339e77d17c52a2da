//! The occupants of slots: which object is in a slot, and where its values are.
//!
//! *Invariant:* a slot receives another object only after no connection uses the slot for the previous object
//! (R17). The next object in the slot has the next generation (R18).

use std::num::NonZeroU32;

use repl_core::Guid;

/// The object in a slot, or the last object that was there. This struct is small and separate from all other
/// state of the object, so that the occupants of many objects fit into the fast caches of the processor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Occupant {
    pub(crate) generation: NonZeroU32,
    /// The row of the object in the column of its class.
    pub(crate) row: u32,
    pub(crate) class: u16,
    /// Whether the slot has an object. Connections may still use the slot of an object that was removed.
    pub(crate) alive: bool,
}

const _: () = assert!(size_of::<Occupant>() == 12, "five occupants take one cache line");

impl Occupant {
    /// Returns the occupant of a new object that has no row and no class yet.
    pub(crate) fn new(generation: NonZeroU32) -> Self {
        Self { generation, row: 0, class: 0, alive: true }
    }

    /// Returns whether the object in this slot exists and has this guid. The caller makes sure that `guid`
    /// has the number of this slot.
    #[inline]
    pub(crate) fn is(self, guid: Guid) -> bool {
        self.alive && self.generation == guid.generation()
    }

    pub(crate) fn guid(self, slot: u32) -> Guid {
        Guid::new(slot, self.generation)
    }
}
