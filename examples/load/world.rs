//! The world on the server: the objects, and the points from which the clients see them.
//!
//! *Invariant:* each tick changes exactly `--dirty` objects. The objects take turns, wherever they are.

use repl::prelude::*;
use repl::sim::Rng;

use crate::args::Args;
use crate::model::{self, EDGE, Point, STEP, Sum, Thing};

/// Each client walks in a circle: `ROUND` is its radius in metres, `SPEED` the speed in metres a second.
const ROUND: f32 = 50.0;
const SPEED: f32 = 5.0;

pub(crate) struct World {
    things: Vec<ObjectRef<Thing>>,
    /// The centre of each client's circle.
    centres: Vec<Point>,
    dirty: usize,
    hz: f32,
    tick: u32,
    next: usize,
    rng: Rng,
}

impl World {
    pub(crate) fn new(server: &mut Server, args: &Args) -> Self {
        let mut rng = Rng::new(args.seed);
        server.register::<Thing>();
        server.class::<Thing>().set_area(model::area(args.objects, args.relevant));
        let things = (0..args.objects).map(|_| {
            let (position, kind) = (anywhere(&mut rng), rng.below(500) as u16);
            server.spawn(Thing { position, health: 100, kind })
        });
        Self {
            things: things.collect(),
            centres: (0..args.clients).map(|_| anywhere(&mut rng)).collect(),
            dirty: args.dirty as usize,
            hz: args.hz as f32,
            tick: 0,
            next: 0,
            rng,
        }
    }

    /// Moves and changes `--dirty` objects: those whose turn it is.
    pub(crate) fn step(&mut self, server: &mut Server) {
        self.tick += 1;
        for _ in 0..self.dirty {
            let axis = self.rng.below(2) as usize;
            let way = if self.rng.below(2) == 0 { STEP } else { -STEP };
            let thing = &mut server[self.things[self.next]];
            thing.position[axis] = (thing.position[axis] + way).clamp(-EDGE, EDGE);
            thing.health = thing.health.wrapping_add(7);
            self.next = (self.next + 1) % self.things.len();
        }
    }

    /// Returns the position of a client.
    pub(crate) fn viewpoint(&self, client: u32) -> [f32; 3] {
        let [x, y] = self.centres[client as usize];
        let turned = self.tick as f32 / self.hz * SPEED / ROUND + client as f32;
        [x + ROUND * turned.cos(), y + ROUND * turned.sin(), 0.0]
    }

    /// Returns the sum of the objects that a client may see.
    pub(crate) fn sum(&self, server: &Server, connection: ConnectionId) -> Sum {
        let sees = |thing: &ObjectRef<Thing>| server.object_info(*thing).is_relevant_to(connection);
        Sum::of(self.things.iter().copied().filter(sees).map(|thing| (thing, &server[thing])))
    }
}

/// Returns a random point of the world whose coordinates are whole multiples of [`STEP`].
fn anywhere(rng: &mut Rng) -> Point {
    std::array::from_fn(|_| (rng.below((2.0 * EDGE / STEP) as u64 + 1) as f32) * STEP - EDGE)
}
