//! The objects, and how they change.
//!
//! *Invariant:* the same objects change in the same ticks for every measured server.

use repl::prelude::*;

const OBJECTS: u32 = 1_000;
const DIRTY: usize = 100;

/// A moving object.
#[derive(Replicated, Default)]
#[replicated(all)]
pub(crate) struct Thing {
    position: [f32; 2],
    health: u8,
}

/// The objects of a server.
pub(crate) struct World {
    things: Vec<ObjectRef<Thing>>,
    next: usize,
}

impl World {
    pub(crate) fn new(server: &mut Server) -> Self {
        server.register::<Thing>();
        Self { things: (0..OBJECTS).map(|_| server.spawn(Thing::default())).collect(), next: 0 }
    }

    /// Changes [`DIRTY`] objects: those whose turn it is.
    pub(crate) fn step(&mut self, server: &mut Server) {
        for _ in 0..DIRTY {
            let thing = &mut server[self.things[self.next]];
            thing.position[0] += 0.37;
            thing.position[1] -= 0.21;
            self.next = (self.next + 1) % self.things.len();
        }
    }
}

/// Returns a client on which the class is registered.
pub(crate) fn client(number: usize) -> Client {
    let mut client = Client::new(ClientConfig::default(), Session::for_tests(number as u64 + 1));
    client.register::<Thing>();
    client
}
