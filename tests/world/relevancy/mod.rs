//! Which connections see which objects: positions and viewpoints, groups, owners, attached and hidden
//! objects.

mod campaign;
mod functions;
mod locations;
mod model;
mod near_only;
mod out_of_sight;
mod recipes;
mod rules;
mod tables;

use crate::support::Room;
use repl::prelude::*;
use repl::{Area, Position};

/// The radius within which creatures are seen.
const RADIUS: f32 = 100.0;
/// The length of the sides of the cells that contain creatures.
const SIDE: f32 = 25.0;

/// An object with a position in a plane.
#[derive(Replicated, Default, Clone, Debug, PartialEq)]
struct Creature {
    #[replicated]
    position: [f32; 2],
    #[replicated]
    health: u32,
    #[replicated(condition = OwnerOnly)]
    secret: u32,
    #[replicated(condition = NearOnly)]
    detail: u32,
}

/// An object with a position in space.
#[derive(Replicated, Default, Clone, Debug, PartialEq)]
struct Bird {
    #[replicated]
    position: [f32; 3],
}

/// An object without a position.
#[derive(Replicated, Default, Clone, Debug, PartialEq)]
struct Banner {
    #[replicated]
    colour: u32,
}

fn creature(x: f32, y: f32) -> Creature {
    Creature { position: [x, y], health: 1, secret: 1, detail: 1 }
}

fn in_plane(creature: &Creature) -> Position {
    [creature.position[0], creature.position[1], 0.0]
}

fn register(client: &mut Client) {
    client.register::<Creature>().register::<Bird>().register::<Banner>();
}

/// Returns a room with clients that are connected, and that have no viewpoints yet.
fn room(guests: usize) -> Room {
    room_with(Area::within(RADIUS).flat(), guests)
}

/// Returns a room in which creatures have this area.
fn room_with(area: Area, guests: usize) -> Room {
    let mut room = Room::new(ServerConfig::default(), register);
    room.server.class().locate(area, in_plane);
    room.server.class::<Bird>().locate(Area::within(RADIUS), |bird: &Bird| bird.position);
    room.server.register::<Banner>();
    for _ in 0..guests {
        room.enter();
    }
    room.settle();
    room
}
