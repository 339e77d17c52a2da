//! A small server with four clients and 200 actors with many properties. In each tick, six properties of 30
//! actors change.
//!
//! *Invariant:* both servers have the same actors with the same values.

use repl::prelude::*;

use crate::bits::BitWriter;
use crate::fields::{Numbers, Steps, row};
use crate::game::Game;
use crate::rival::{Compared, Entry, Row, Table};
use crate::shared::{self, Shared, World};

const ACTORS: u32 = 200;
const ACTIVE: u32 = 30;

const POSITION: Steps = Steps { least: -327.0, per_unit: 100.0, width: 16 };
const VELOCITY: Steps = Steps { least: -51.0, per_unit: 10.0, width: 10 };
const ANGLE: Steps = Steps { least: 0.0, per_unit: 1.0 / 1.5, width: 8 };

#[derive(Clone, Debug, Default, PartialEq, Replicated)]
#[replicated(all)]
pub(crate) struct Actor {
    #[replicated(quantize(step = 0.01, range = -327.0..=327.0))]
    position: [f32; 3],
    #[replicated(quantize(step = 0.1, range = -51.0..=51.0))]
    velocity: [f32; 3],
    #[replicated(quantize(step = 1.5, range = 0.0..=360.0))]
    turn: f32,
    #[replicated(quantize(step = 1.5, range = 0.0..=360.0))]
    pitch: f32,
    stamina: u8,
    ammo: u8,
    health: u8,
    armour: u8,
    clip: u8,
    weapon: u8,
    team: u8,
    stance: u8,
    level: u8,
    colour: u8,
    hat: u8,
    badge: u8,
    score: u16,
    kills: u16,
    deaths: u16,
    assists: u16,
    gold: u16,
    respawn_ticks: u16,
    ping_ms: u16,
    experience: u32,
    target: u32,
    clan: u32,
    is_alive: bool,
    is_ready: bool,
    is_aiming: bool,
    is_running: bool,
}

row!(Actor {
    0 position: POSITION,
    1 velocity: VELOCITY,
    2 turn: ANGLE,
    3 pitch: ANGLE,
} {
    4 stamina,
    5 ammo,
    6 health,
    7 armour,
    8 clip,
    9 weapon,
    10 team,
    11 stance,
    12 level,
    13 colour,
    14 hat,
    15 badge,
    16 score,
    17 kills,
    18 deaths,
    19 assists,
    20 gold,
    21 respawn_ticks,
    22 ping_ms,
    23 experience,
    24 target,
    25 clan,
    26 is_alive,
    27 is_ready,
    28 is_aiming,
    29 is_running,
});

const _: () = assert!(Actor::ALL == (1 << 30) - 1, "an actor has 30 properties");

/// The six properties that change.
#[derive(Clone, Copy)]
struct Motion {
    position: [f32; 3],
    velocity: [f32; 3],
    turn: f32,
    pitch: f32,
    stamina: u8,
    ammo: u8,
}

impl Motion {
    fn of(actor: u32, step: u32) -> Self {
        let angle = (step * 3 + actor * 40) as f32 * 0.01;
        Self {
            position: [angle.sin() * 300.0, angle.cos() * 300.0, angle.sin() * 7.0],
            velocity: [angle.cos() * 45.0, -angle.sin() * 45.0, angle.cos()],
            turn: (step * 2 + actor) as f32 * 1.5 % 360.0,
            pitch: (step + actor * 3) as f32 * 1.5 % 360.0,
            stamina: step as u8,
            ammo: (step + actor) as u8,
        }
    }

    fn apply(self, actor: &mut Actor) {
        actor.position = self.position;
        actor.velocity = self.velocity;
        actor.turn = self.turn;
        actor.pitch = self.pitch;
        actor.stamina = self.stamina;
        actor.ammo = self.ammo;
    }
}

fn actor(number: u32) -> Actor {
    let mut actor = Actor {
        health: 100,
        team: (number % 2) as u8,
        colour: number as u8,
        score: number as u16 * 7,
        gold: 1_000 + number as u16,
        clan: number / 5,
        is_alive: true,
        is_ready: !number.is_multiple_of(3),
        ..Actor::default()
    };
    Motion::of(number, 0).apply(&mut actor);
    actor
}

/// The actors of the hand-written server (the rival).
pub(crate) struct Stage(Table<Actor>);

impl World for Stage {
    fn compare(&mut self, entries: &mut Vec<Entry>) {
        self.0.compare(0, Compared::Edited, entries);
    }

    fn write(&self, entry: Entry, bits: &mut BitWriter) {
        Row::write(&self.0.rows[entry.slot as usize], entry.fields, bits);
    }

    fn fields(_: u8) -> u32 {
        Actor::ALL.count_ones()
    }

    fn free(&mut self, _: u8, slot: u32) {
        self.0.free(slot);
    }
}

/// The game of the small server, on both sides.
pub(crate) struct ListenServer {
    actors: Vec<ObjectRef<Actor>>,
    /// The changes in this tick.
    motions: Vec<(u32, Motion)>,
}

impl Game for ListenServer {
    type Rival = Shared<Stage>;
    type Mirror = Vec<Actor>;
    const NAME: &'static str = "listen_server";
    const CONNECTIONS: usize = 4;

    fn register(client: &mut Client) {
        client.register::<Actor>();
    }

    fn begin(server: &mut Server) -> (Self, Shared<Stage>) {
        let mut stage = Stage(Table::new());
        let actors = (0..ACTORS).map(|number| {
            stage.0.spawn(actor(number));
            server.spawn(actor(number))
        });
        (Self { actors: actors.collect(), motions: Vec::new() }, Shared::new(stage, Self::CONNECTIONS))
    }

    /// An actor moves for 30 ticks, and rests for 170.
    fn prepare(&mut self, step: u32) {
        self.motions.clear();
        let active = (step..step + ACTIVE).map(|number| number % ACTORS);
        self.motions.extend(active.map(|number| (number, Motion::of(number, step))));
    }

    fn step(&mut self, server: &mut Server) {
        for (number, motion) in &self.motions {
            motion.apply(&mut server[self.actors[*number as usize]]);
        }
    }

    fn step_rival(&mut self, rival: &mut Shared<Stage>) {
        for (number, motion) in &self.motions {
            motion.apply(rival.world.0.edit(*number));
        }
    }

    fn receive(mirror: &mut Vec<Actor>, packet: &[u8]) {
        shared::read_packet::<Stage>(packet, |entry, bits| {
            if mirror.len() <= entry.slot as usize {
                mirror.resize(entry.slot as usize + 1, Actor::default());
            }
            Row::read(&mut mirror[entry.slot as usize], entry.fields, bits);
        });
    }

    fn check(server: &Server, _: ConnectionId, client: &Client) -> usize {
        client.objects::<Actor>().for_each(|(object, shown)| check_actor(shown, &server[object]));
        assert_eq!(client.objects::<Actor>().count(), ACTORS as usize);
        ACTORS as usize
    }

    fn check_rival(rival: &Shared<Stage>, _: usize, mirror: &Vec<Actor>) -> usize {
        rival.world.0.alive().for_each(|(slot, actor)| check_actor(&mirror[slot as usize], actor));
        mirror.len()
    }
}

/// Checks that a shown actor equals the actor of the server, except for quantisation.
fn check_actor(shown: &Actor, actor: &Actor) {
    let is_near = |(one, other): (&[f32], &[f32]), step: f32| {
        one.iter().zip(other).all(|(one, other)| (one - other).abs() < step)
    };
    assert!(is_near((&shown.position, &actor.position), 0.01), "{shown:?} {actor:?}");
    assert!(is_near((&shown.velocity, &actor.velocity), 0.1), "{shown:?} {actor:?}");
    assert!((shown.turn - actor.turn).abs() < 1.5 && (shown.pitch - actor.pitch).abs() < 1.5);
    let Actor { position, velocity, turn, pitch, .. } = actor.clone();
    assert_eq!(&Actor { position, velocity, turn, pitch, ..shown.clone() }, actor);
}
