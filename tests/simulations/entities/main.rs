//! Worlds of entities in a store of the user's own. Each entity is a root, and each of its components is a
//! subobject (R22).
//!
//! *Invariant:* a client never has a component without its root. In the end each client has exactly what it
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
    seeds(0..1_000).for_each(run);
}

/// A second test with other seeds, so that the two tests run at the same time.
#[test]
fn r22_s202_more_families_come_whole_and_leave_whole() {
    seeds(1_000..2_000).for_each(run);
}
