//! Logs and metrics, with the features `tracing` and `metrics`.
//!
//! *Invariant:* each test records only the logs and metrics of its own thread.

#[path = "../support/mod.rs"]
mod support;

mod counters;
mod spans;

use repl::prelude::*;
use repl::{BitReader, BitWriter, ReadError, ReferenceMap, WriteError};
use support::Room;

#[derive(Replicated, Default)]
struct Lamp {
    #[replicated]
    level: u16,
    #[replicated]
    mood: Mood,
}

#[derive(Replicated, Default)]
struct Wall {
    #[replicated]
    cracks: u32,
}

/// A value that cannot be sent if it is odd.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Mood(u8);

impl NetSerialize for Mood {
    const WIRE_NAME: &'static str = "Mood";

    fn write(&self, writer: &mut BitWriter) -> Result<(), WriteError> {
        if self.0 % 2 == 1 { Err(WriteError::OutOfRange) } else { self.0.write(writer) }
    }

    fn read(reader: &mut BitReader<'_>, references: &mut ReferenceMap<'_>) -> Result<Self, ReadError> {
        u8::read(reader, references).map(Self)
    }
}
repl::leaf!(Mood);

/// Returns a room with this many lamps and clients, and a wall. No client has received anything.
fn room(lamps: u16, guests: usize) -> (Room, Vec<ObjectRef<Lamp>>) {
    let mut room = Room::new(ServerConfig::default(), |client| {
        client.register::<Lamp>().register::<Wall>();
    });
    room.server.register::<Lamp>().register::<Wall>();
    room.server.spawn(Wall::default());
    let lamps = (0..lamps).map(|level| room.server.spawn(Lamp { level, ..Lamp::default() })).collect();
    (0..guests).for_each(|_| _ = room.enter());
    (room, lamps)
}
