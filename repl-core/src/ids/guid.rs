//! [`Guid`]: the identity of an object.
//!
//! *Invariant:* a guid names one object forever (R18).
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::fmt;
use std::num::NonZeroU32;

/// Names one object of a server by a slot, and by the number of objects that have used this slot so far. A
/// guid is never used again (R18). A client that has connected to a restarted server has guids of its own for
/// the objects of that server (see [`Epoch`](crate::Epoch)).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Guid {
    slot: u32,
    generation: NonZeroU32,
}

impl Guid {
    /// Returns the guid of the object in `slot` with this `generation`. Generations are counted from one.
    #[must_use]
    pub const fn new(slot: u32, generation: NonZeroU32) -> Self {
        Self { slot, generation }
    }

    /// Returns the slot of the object. Updates name the object by its slot.
    #[must_use]
    pub const fn slot(self) -> u32 {
        self.slot
    }

    /// Returns the generation: the number of objects that have used the slot up to this object.
    #[must_use]
    pub const fn generation(self) -> NonZeroU32 {
        self.generation
    }
}

impl fmt::Debug for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}v{}", self.slot, self.generation)
    }
}
