//! The replicated objects: ships that change in each tick, and an object with the stage of the run.
//!
//! *Invariant:* the time of a ship is read from the system's clock, which all processes share.

use std::time::{SystemTime, UNIX_EPOCH};

use repl::prelude::*;

/// An object that changes in each tick.
#[derive(Replicated, Default)]
#[replicated(all)]
pub(crate) struct Ship {
    /// The time at which the server has written the ship, by [`clock_ms`].
    pub(crate) written_ms: u32,
    pub(crate) load: [u64; 2],
}

impl Ship {
    /// Returns a ship with a load that cannot be compressed.
    pub(crate) fn new(number: u64, written_ms: u32) -> Self {
        let mixed = (u64::from(written_ms) << 16 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Self { written_ms, load: [mixed, mixed.rotate_left(23) ^ number] }
    }
}

/// The stages of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, NetSerialize)]
pub(crate) enum Stage {
    /// Clients join.
    #[default]
    Gathering,
    /// Clients measure.
    Measuring,
    /// Nothing moves any more.
    Anchored,
}

/// The state of the run, which the server sends to all clients.
#[derive(Replicated, Default)]
#[replicated(all)]
pub(crate) struct Course {
    pub(crate) stage: Stage,
    /// The [`sum`] over all ships after their last change.
    pub(crate) sum: u64,
}

/// Returns a sum over ships that does not depend on their order.
pub(crate) fn sum<'a>(ships: impl Iterator<Item = &'a Ship>) -> u64 {
    ships.fold(0, |sum, ship| {
        let [one, other] = ship.load;
        sum.wrapping_add(one.rotate_left(7) ^ other ^ u64::from(ship.written_ms))
    })
}

/// Returns the milliseconds of the system's clock. Only differences mean anything.
pub(crate) fn clock_ms() -> u32 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.as_millis() as u32
}
