//! The protocol's rules R1 to R10 and R15 to R20, tested by the public interface. The tests delay, reorder,
//! repeat or drop each packet by hand.
//!
//! *Invariant:* the name of a test contains the number of its rule, and the test asserts only results that a
//! user of the library can see.

mod acks;
mod age;
mod backlog;
mod closings;
mod identity;
mod large;
mod loss;
mod openings;
mod order;
mod round_trips;
mod silence;

use repl::prelude::*;

/// The object of most tests: plain values, a name, a list.
#[derive(Replicated, Debug, Default, Clone, PartialEq)]
#[replicated(all)]
struct Thing {
    a: u32,
    b: u32,
    name: String,
    list: Vec<u16>,
    target: ObjectRef<Self>,
    maybe: Option<u32>,
}

fn thing(a: u32) -> Thing {
    Thing { a, ..Thing::default() }
}

fn things(client: &mut Client) {
    client.register::<Thing>();
}

/// Returns a room with one client, which has one object of the class `Thing`.
fn one_thing() -> (crate::support::Room, ObjectRef<Thing>) {
    crate::support::Room::furnished(ServerConfig::default(), things, 1, |server| server.spawn(thing(0)))
}

/// Returns a room with one client that has two things.
fn two_things() -> (crate::support::Room, ObjectRef<Thing>, ObjectRef<Thing>) {
    let furnish = |server: &mut Server| (server.spawn(thing(0)), server.spawn(thing(0)));
    let (room, (one, other)) = crate::support::Room::furnished(ServerConfig::default(), things, 1, furnish);
    (room, one, other)
}

/// Returns the first client's copy.
fn copy(room: &crate::support::Room, object: ObjectRef<Thing>) -> Thing {
    room.client().get(object).expect("the client has it").clone()
}
