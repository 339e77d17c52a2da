//! What is replicated: ships that change in each tick, and what the server tells all clients about the run.
//!
//! *Invariant:* the time of a ship is read from the clock of the system, which all processes share.

use std::time::{SystemTime, UNIX_EPOCH};

use repl::prelude::*;

/// Something that changes in each tick.
#[derive(Replicated, Default)]
#[replicated(all)]
pub(crate) struct Ship {
    /// When the server has written it, by [`clock_ms`].
    pub(crate) written_ms: u32,
    pub(crate) load: [u64; 2],
}

impl Ship {
    /// Returns a ship whose load is of no use to a compressor.
    pub(crate) fn new(number: u64, written_ms: u32) -> Self {
        let mixed = (u64::from(written_ms) << 16 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Self { written_ms, load: [mixed, mixed.rotate_left(23) ^ number] }
    }
}

/// What a run is doing now.
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

/// What the server tells all clients about the run.
#[derive(Replicated, Default)]
#[replicated(all)]
pub(crate) struct Course {
    pub(crate) stage: Stage,
    /// The sum of all ships when they have come to rest.
    pub(crate) sum: u64,
}

/// Returns a sum over ships, in whatever order they come.
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
