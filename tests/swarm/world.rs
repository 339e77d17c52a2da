//! The server of a run with a model of it: what there is, what it was, and who may see what.
//!
//! *Invariant:* the model asks the server for values only, never for what it thinks of connections.

use std::collections::{BTreeMap, BTreeSet};

use repl::sim::Rng;
use repl::{
    ArchetypeId, Client, Condition, ConnectionId, Guid, ObjectRef, PropertyIndex, Role, Server, ViewFlags,
};

use crate::canary::Canary;
use crate::classes::{Actor, Chest, Creature, Dot, Ink, Pack, Shown};
use crate::ledger::{Leaf, Leaves, Ledger, hash, property_of};
use crate::plan::Plan;

/// What the run does with an object, whatever its class.
#[derive(Clone, Copy)]
pub struct Kind {
    pub conditions: &'static [Condition],
    pub leaves: fn(&Server, Guid) -> Vec<Leaf>,
    pub replica: fn(&Client, Guid) -> Option<Vec<Leaf>>,
    /// What the replica was told since the last call, and the values of its properties with notifies.
    pub told: fn(&mut Client, Guid) -> Option<(Shown, Vec<(usize, u64)>)>,
    pub fresh: fn(bool) -> (Vec<Leaf>, Vec<(usize, u64)>),
    change: fn(&mut Server, Guid, u32, usize, &mut Ink<'_>),
    spawn: fn(&mut Server, ArchetypeId, u32, &mut Ink<'_>) -> ObjectRef<()>,
}

fn leaves_of<T: Creature>(object: &T) -> Vec<Leaf> {
    let mut leaves = Leaves::default();
    object.leaves(&mut leaves);
    leaves.list
}

fn kind<T: Creature>(make: fn(bool) -> T) -> KindOf<T> {
    KindOf { make }
}

struct KindOf<T> {
    make: fn(bool) -> T,
}

/// The archetype of actors that are not made from their defaults.
pub fn veteran() -> Actor {
}
