//! Lifecycles of objects: torn-off objects, objects with replication switched off, objects that are owned by
//! other objects, and objects of a level.
//!
//! *Invariant:* the tests deliver, lose or repeat each packet by hand, or with a seed.

mod openings;
mod owners;
mod random_static_objects;
mod random_tear_offs;
mod static_objects;
mod static_references;
mod subobjects;
mod tear_offs;

use crate::support::Room;
use repl::prelude::*;

/// The object of most tests.
#[derive(Replicated, Debug, Default, Clone, PartialEq)]
struct Pawn {
    #[replicated]
    health: u32,
    #[replicated]
    pose: Vec<u16>,
    #[replicated(condition = OwnerOnly)]
    secret: u32,
    #[replicated(notify = on_target)]
    target: ObjectRef<Self>,
    notified: u32,
}

impl Pawn {
    fn on_target(&mut self) {
        self.notified += 1;
    }
}

fn pawn(health: u32) -> Pawn {
    Pawn { health, secret: health + 1_000, ..Pawn::default() }
}

fn pawns(client: &mut Client) {
    client.register::<Pawn>();
}

/// Returns a room with clients that have one pawn.
fn one_pawn(guests: usize) -> (Room, ObjectRef<Pawn>) {
    Room::furnished(ServerConfig::default(), pawns, guests, |server| server.spawn(pawn(1)))
}

/// Returns the health of a pawn on a client, if the client has the pawn.
fn health(room: &Room, guest: usize, pawn: ObjectRef<Pawn>) -> Option<u32> {
    room.guests[guest].client.get(pawn).map(|pawn| pawn.health)
}
