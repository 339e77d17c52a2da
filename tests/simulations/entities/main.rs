//! Worlds of entities in a store of the user's own: each entity is a root, and each of its components a
//! subobject (R22).
//!
//! *Invariant:* on a client, no component is ever there without its root, and in the end each client has exactly what it
//! may see.

mod guest;
mod store;
mod world;

use repl::sim::{SeedReport, seeds};
use world::World;

fn run(seed: u64) {
    let mut report = SeedReport::new(seed);
    let mut world = World::new(seed);
    for tick in 0..150 {
        report.reached(tick);
        world.play();
    }
    world.settle();
}

#[test]
fn r22_s202_families_come_whole_and_leave_whole() {
    seeds(0..60).for_each(run);
}

#[test]
#[ignore = "a campaign, which takes minutes"]
fn r22_s202_families_come_whole_and_leave_whole_in_2_000_worlds() {
    seeds(1_000..3_000).for_each(run);
}
