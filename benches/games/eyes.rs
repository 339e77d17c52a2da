//! Many connections in a square world. Each sees the twentieth of the creatures that is around its own
//! viewpoint. A quarter of the creatures and all viewpoints walk in each tick.
//!
//! *Invariant:* the library's server and the hand-written one have the same creatures and viewpoints, and
//! divide the world into the same cells.

use repl::Area;
use repl::prelude::*;
use repl::sim::Rng;

use crate::fields::{Numbers, Steps, row};
use crate::game::Game;
use crate::grid::Grid;
use crate::sighted::{self, Placed, Sighted};

const CREATURES: usize = 2_000;
/// Creatures and viewpoints are at most this far from zero, on both axes.
const EXTENT: f32 = 1_000.0;
/// A circle with this radius covers a twentieth of the world.
const RADIUS: f32 = 252.0;
/// How far a creature walks in a tick, in units: 6 units a second.
const STRIDE: f32 = 0.1;
/// The number of ticks for which a quarter of the creatures walks, before the next quarter walks.
const WALK_TICKS: u32 = 64;

const POSITION: Steps = Steps { least: -EXTENT, per_unit: 100.0, width: 18 };
const ANGLE: Steps = Steps { least: 0.0, per_unit: 1.0 / 1.5, width: 8 };

#[derive(Clone, Debug, Default, PartialEq, Replicated)]
#[replicated(all)]
pub(crate) struct Creature {
    #[replicated(quantize(step = 0.01, range = -1000.0..=1000.0))]
    position: [f32; 2],
    #[replicated(quantize(step = 1.5, range = 0.0..=360.0))]
    turn: f32,
    health: u16,
    kind: u8,
    mood: u8,
}

row!(Creature { 0 position: POSITION, 1 turn: ANGLE, } { 2 health, 3 kind, 4 mood, });

impl Placed for Creature {
    fn position(&self) -> [f32; 2] {
        self.position
    }
}

/// A creature or viewpoint. It walks straight ahead, and turns back at a border of the world.
#[derive(Clone)]
struct Walker {
    at: [f32; 2],
    /// The direction in which it walks, in degrees.
    turn: f32,
    border: f32,
}

impl Walker {
    fn new(rng: &mut Rng, border: f32) -> Self {
        let mut part = || rng.below(20_001) as f32 / 20_000.0;
        Self { at: [(); 2].map(|()| (part() * 2.0 - 1.0) * border), turn: part() * 359.0, border }
    }

    fn walk(&mut self) {
        let (sin, cos) = self.turn.to_radians().sin_cos();
        let next = [self.at[0] + cos * STRIDE, self.at[1] + sin * STRIDE];
        if next.iter().all(|at| at.abs() < self.border) {
            self.at = next;
        } else {
            self.turn = (self.turn + 150.0) % 360.0;
        }
    }
}

pub(crate) struct ManyEyes<const CONNECTIONS: usize> {
    walkers: Vec<Walker>,
    viewers: Vec<Walker>,
    creatures: Vec<ObjectRef<Creature>>,
    connections: Vec<ConnectionId>,
    /// The numbers of the creatures that change in this tick, each with its change.
    next: Vec<(u32, Motion)>,
}

/// The change of a creature that walks.
#[derive(Clone, Copy)]
struct Motion {
    position: [f32; 2],
    turn: f32,
    /// Whether the creature gets hurt.
    is_hurt: bool,
}

impl Motion {
    fn apply(self, creature: &mut Creature) {
        creature.position = self.position;
        creature.turn = self.turn;
        if self.is_hurt {
            creature.health = creature.health.wrapping_sub(1);
        }
    }
}

impl<const CONNECTIONS: usize> Game for ManyEyes<CONNECTIONS> {
    type Rival = Sighted<Creature>;
    type Mirror = Shown;
    const NAME: &'static str = if CONNECTIONS == 200 { "many_eyes_200" } else { "many_eyes_1000" };
    const CONNECTIONS: usize = CONNECTIONS;

    fn register(client: &mut Client) {
        client.register::<Creature>();
    }

    fn begin(server: &mut Server) -> (Self, Sighted<Creature>) {
        let area = Area::within(RADIUS).keep_within(RADIUS);
        server.class::<Creature>().locate(area, |creature: &Creature| creature.position);
        let mut rng = Rng::new(7);
        let walkers: Vec<Walker> = (0..CREATURES).map(|_| Walker::new(&mut rng, EXTENT)).collect();
        // The circles around the viewpoints lie within the world.
        let viewers = (0..CONNECTIONS).map(|_| Walker::new(&mut rng, EXTENT - RADIUS)).collect();
        let rows = walkers.iter().zip(0..).map(|(walker, number)| creature(walker, number));
        let rows: Vec<Creature> = rows.collect();
        let creatures = rows.iter().map(|creature| server.spawn(creature.clone())).collect();
        let rival = Sighted::new(rows, Grid::new(EXTENT, RADIUS, CONNECTIONS), CONNECTIONS);
        (Self { walkers, viewers, creatures, connections: Vec::new(), next: Vec::new() }, rival)
    }

    fn connect(&mut self, connection: ConnectionId) {
        self.connections.push(connection);
    }

    fn prepare(&mut self, step: u32) {
        self.viewers.iter_mut().for_each(Walker::walk);
        self.next.clear();
        let first = step / WALK_TICKS % 4;
        for number in (first..CREATURES as u32).step_by(4) {
            let walker = &mut self.walkers[number as usize];
            walker.walk();
            let is_hurt = (step + number / 4).is_multiple_of(32);
            self.next.push((number, Motion { position: walker.at, turn: walker.turn, is_hurt }));
        }
    }

    fn step(&mut self, server: &mut Server) {
        for (&connection, viewer) in self.connections.iter().zip(&self.viewers) {
            server.connection(connection).set_viewpoints(&[[viewer.at[0], viewer.at[1], 0.0]]);
        }
        for (number, motion) in &self.next {
            motion.apply(&mut server[self.creatures[*number as usize]]);
        }
    }

    fn step_rival(&mut self, rival: &mut Sighted<Creature>) {
        for (client, viewer) in self.viewers.iter().enumerate() {
            rival.look(client, viewer.at);
        }
        for (number, motion) in &self.next {
            motion.apply(rival.table.edit(*number));
        }
    }

    fn receive(mirror: &mut Shown, packet: &[u8]) {
        sighted::receive(&mut mirror.0, packet);
    }

    fn check(server: &Server, connection: ConnectionId, client: &Client) -> usize {
        for (object, creature) in server.objects::<Creature>() {
            let shown = client.get(object);
            assert_eq!(shown.is_some(), server.object_info(object).is_relevant_to(connection), "{object:?}");
            shown.into_iter().for_each(|shown| check_creature(shown, creature));
        }
        checked_count(client.objects::<Creature>().count())
    }

    fn check_rival(rival: &Sighted<Creature>, client: usize, mirror: &Shown) -> usize {
        for (slot, creature) in rival.table.alive() {
            let shown = &mirror.0[slot as usize];
            assert_eq!(shown.is_some(), rival.grid.is_seen(slot, client as u32), "{slot}");
            shown.iter().for_each(|shown| check_creature(shown, creature));
        }
        checked_count(mirror.0.iter().flatten().count())
    }
}

/// The objects of one client of the rival, which is the hand-written server.
pub(crate) struct Shown(Vec<Option<Creature>>);

impl Default for Shown {
    fn default() -> Self {
        Self(vec![None; CREATURES])
    }
}

fn creature(walker: &Walker, number: u32) -> Creature {
    let (kind, mood) = ((number % 9) as u8, (number % 5) as u8);
    Creature { position: walker.at, turn: walker.turn, health: 1_000, kind, mood }
}

/// Checks that a shown creature equals the creature of the server, except for quantisation.
fn check_creature(shown: &Creature, creature: &Creature) {
    let mut pairs = shown.position.into_iter().zip(creature.position);
    assert!(pairs.all(|(one, other)| (one - other).abs() < 0.011), "{shown:?} {creature:?}");
    assert!((shown.turn - creature.turn).abs() < 1.5, "{shown:?} {creature:?}");
    let rest = |creature: &Creature| (creature.health, creature.kind, creature.mood);
    assert_eq!(rest(shown), rest(creature));
}

/// Checks that the number of seen creatures is about a twentieth of all.
fn checked_count(seen: usize) -> usize {
    assert!((CREATURES / 40..CREATURES / 10).contains(&seen), "{seen} creatures are seen");
    seen
}
