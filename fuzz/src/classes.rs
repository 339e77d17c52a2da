//! The classes of the fuzzers, which server and client have. Together these classes have each kind of
//! property once.
//!
//! *Invariant:* `change` depends only on its arguments, so that a recorded session can be repeated.

use std::collections::BTreeMap;
use std::time::Duration;

use repl::prelude::*;
use repl::{Area, Dormancy};

#[derive(NetSerialize, Clone, Debug, Default, PartialEq)]
pub enum Mood {
    #[default]
    Calm,
    Angry {
        at: u16,
        words: Vec<String>,
    },
    Lost(Option<i8>),
}

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(all)]
pub struct Limb {
    pub health: u8,
    pub joints: Vec<u16>,
}

#[derive(FastArrayItem, Clone, Debug, Default, PartialEq)]
pub struct Bag {
    pub kind: u8,
    pub marks: Vec<u8>,
    pub target: ObjectRef<Actor>,
    pub inner: FastArray<u16>,
}

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(all)]
pub struct Actor {
    pub score: u32,
    pub name: String,
    #[replicated(quantize(step = 0.5, range = -100.0..=100.0), saturate)]
    pub place: [f32; 2],
    #[replicated(max_len = 9)]
    pub limbs: Vec<Limb>,
    pub mood: Mood,
    pub target: ObjectRef<Self>,
    pub maybe: Option<u16>,
    #[replicated(range = -5..=900)]
    pub grade: i16,
    pub grid: Vec<Vec<bool>>,
    pub bags: FastArray<Bag>,
    pub line: OrderedFastArray<u8>,
    pub names: BTreeMap<u8, String>,
    pub boxed: Box<Limb>,
    pub wait: Duration,
    #[replicated(skip)]
    pub told: u32,
}

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(all)]
pub struct Pebble {
    #[replicated(notify = told)]
    pub weight: u8,
    #[replicated(skip)]
    pub calls: u32,
}

impl Pebble {
    fn told(&mut self) {
        self.calls += 1;
    }
}

/// An object that a client sees if it is near enough, so that its changes travel in tables.
#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(all)]
pub struct Bird {
    #[replicated(location)]
    pub place: [i16; 2],
    pub height: u8,
    pub songs: FastArray<u8>,
    #[replicated(condition = NearOnly)]
    pub rings: Vec<u16>,
}

/// How many birds a server has.
const BIRDS: i16 = 16;

/// Spawns the birds, in a row. Every fourth one sleeps while it rests.
pub fn spawn_birds(server: &mut Server) -> Vec<ObjectRef<Bird>> {
    let area = Area::within(40.0).near_within(20.0).slower_beyond(30.0, 3);
    server.class::<Bird>().set_area(area).set_out_of_sight(OutOfSight::kept().until_destroyed());
    let birds = (0..BIRDS).map(|at| {
        let bird = server.spawn(Bird { place: [8 * at, at % 3], height: 1, ..Bird::default() });
        if at % 4 == 0 {
            server.object(bird).set_dormancy(Dormancy::All);
        }
        bird
    });
    birds.collect()
}

/// Moves the viewpoint of a client along the row of birds, and changes some birds, different ones in each
/// tick.
pub fn change_birds(server: &mut Server, connection: ConnectionId, birds: &[ObjectRef<Bird>], tick: usize) {
    server.connection(connection).set_viewpoints(&[[(tick * 5 % 120) as f32, 0.0, 0.0]]);
    for (at, &bird) in birds.iter().enumerate().filter(|(at, _)| !(at + tick).is_multiple_of(3)) {
        let bird = &mut server[bird];
        match (at + tick) % 5 {
            0 => bird.place[1] = (bird.place[1] + 9) % 27,
            1 => drop(bird.songs.push(tick as u8)),
            2 => bird.rings.push(tick as u16),
            3 => drop(bird.songs.pop()),
            _ => bird.height = bird.height.wrapping_add(1),
        }
    }
}

/// The paths of two static pebbles. A client has placed only the first.
pub const PATHS: [&str; 2] = ["stage/stone", "stage/sand"];

pub fn register(client: &mut Client) {
    client.register::<Actor>().register::<Pebble>().register::<Bird>();
    client.statics().place(PATHS[0], Pebble { weight: 77, calls: 0 });
}

/// Spawns, hides, shows, changes or despawns the static pebbles. What happens differs from tick to tick.
pub fn change_statics(server: &mut Server, connection: ConnectionId, tick: usize) {
    let path = PATHS[tick / 8 % 2];
    match (server.find_static::<Pebble>(path), tick % 8) {
        (None, 1) => _ = server.statics().spawn(path, Pebble { weight: tick as u8, calls: 0 }),
        (Some(pebble), 3) => server[pebble].weight += 1,
        (Some(pebble), 4 | 6) => _ = server.object(pebble).set_visible(connection, tick % 8 == 6),
        (Some(pebble), 1) => server.despawn(pebble),
        _ => {}
    }
}

/// Changes one property, a different one in each tick.
pub fn change(actor: &mut Actor, tick: usize, other: ObjectRef<Actor>) {
    let number = tick as u8;
    match tick % 16 {
        0 => actor.score += 7_919,
        1 => actor.name = "abcdefgh".repeat(tick % 40),
        2 => actor.place[tick / 16 % 2] = tick as f32 / 3.0,
        3 => actor.limbs = vec![Limb { health: number, joints: vec![1, 2, 3] }; tick / 16 % 4],
        4 => actor.mood = Mood::Angry { at: tick as u16, words: vec!["no".into(); tick % 4] },
        5 => actor.target = other,
        6 => actor.maybe = (tick % 32 < 16).then_some(tick as u16),
        7 => actor.grade = tick as i16,
        8 => actor.grid = vec![vec![true; tick % 5]; tick % 7],
        9 => drop(actor.bags.push(Bag { kind: number, target: other, inner: [7].into(), ..Bag::default() })),
        10 => actor.bags.iter_mut().for_each(|mut bag| bag.marks.push(number)),
        11 => actor.line.extend([number, 1, 2]),
        12 => actor.line.swap(0, 2),
        13 => drop(actor.names.insert(number % 4, "who".into())),
        14 => actor.boxed.health += 1,
        _ => drop((actor.bags.pop(), actor.names.remove(&(number % 3)), actor.line.pop())),
    }
    actor.wait += Duration::from_millis(1_500);
}
