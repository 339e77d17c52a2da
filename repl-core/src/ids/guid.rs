//! [`Guid`]: the identity of an object.
//!
//! *Invariant:* a guid names one object or one asset forever (R18).
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::fmt;
use std::num::NonZeroU32;

/// The generation of guids that name assets. No object has this generation: the last object of a slot has the
/// generation before it.
const ASSETS: NonZeroU32 = NonZeroU32::MAX;

/// Names one object of a server by a slot, and by a generation: the number of objects that have used this
/// slot so far. A guid is never used again. After a restart of the server, a client uses other guids than the
/// server for the objects (see [`Epoch`](crate::Epoch)).
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

    /// Returns the guid of the [asset](crate::AssetRef) with this number. Because assets have guids too, the
    /// code that finds the values that refer to an object also finds the values that refer to an asset.
    #[must_use]
    pub const fn asset(number: NonZeroU32) -> Self {
        Self { slot: number.get(), generation: ASSETS }
    }

    /// Returns the number of the asset that the guid names. Returns `None` if it names an object.
    #[must_use]
    pub const fn asset_number(self) -> Option<NonZeroU32> {
        if self.generation.get() == ASSETS.get() { NonZeroU32::new(self.slot) } else { None }
    }

    /// Returns the guid of the next object in the slot. Returns `None` if all generations are used up.
    #[must_use]
    pub fn next(self) -> Option<Self> {
        let next = Self { generation: self.generation.checked_add(1)?, ..self };
        next.is_of_object().then_some(next)
    }

    /// Returns whether an object can have this generation.
    pub(crate) const fn is_of_object(self) -> bool {
        self.generation.get() != ASSETS.get()
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
        match self.asset_number() {
            Some(number) => write!(f, "asset {number}"),
            None => write!(f, "{}v{}", self.slot, self.generation),
        }
    }
}
