//! The class of all objects, and a hash over a set of objects.
//!
//! *Invariant:* values are whole multiples of their steps, so that a client has exactly the values of the
//! server.

use std::hash::{DefaultHasher, Hash, Hasher};

use repl::prelude::*;

/// A point in the plane, in metres.
pub(crate) type Point = [f32; 2];

/// The world reaches from minus this number to plus this number in both directions, in metres.
pub(crate) const EDGE: f32 = 2_000.0;

/// The step of positions, in metres.
pub(crate) const STEP: f32 = 0.25;

/// An object that moves and changes.
#[derive(Replicated, Clone, Default)]
pub(crate) struct Thing {
    #[replicated(location, quantize(step = 0.25, range = -2048.0..=2048.0))]
    pub(crate) position: Point,
    #[replicated]
    pub(crate) health: u8,
    #[replicated]
    pub(crate) kind: u16,
}

/// Returns the area in which a client sees about `relevant` of the objects.
pub(crate) fn area(objects: u32, relevant: u32) -> Area {
    let world = 4.0 * EDGE * EDGE;
    let share = (f64::from(relevant) / f64::from(objects)).min(1.0) as f32;
    Area::within((world * share / std::f32::consts::PI).sqrt())
}

/// A summary of a set of objects: their number, and a hash over all their values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sum {
    pub(crate) objects: u32,
    pub(crate) hash: u64,
}

impl Sum {
    /// Returns the sum of some objects. It does not depend on their order.
    pub(crate) fn of<'a>(things: impl Iterator<Item = (ObjectRef<Thing>, &'a Thing)>) -> Self {
        things.fold(Self::default(), |sum, (object, Thing { position, health, kind })| {
            let mut hasher = DefaultHasher::new();
            (object, position.map(f32::to_bits), health, kind).hash(&mut hasher);
            Self { objects: sum.objects + 1, hash: sum.hash.wrapping_add(hasher.finish()) }
        })
    }
}
