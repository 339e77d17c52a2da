//! A shooter game: 64 players that all move, and 500 shots. In each tick, a fiftieth of the shots is replaced
//! by new ones.
//!
//! *Invariant:* both servers have the same objects with the same values.

use std::collections::VecDeque;

use repl::prelude::*;

use crate::bits::{BitReader, BitWriter};
use crate::game::Game;
use crate::rival::{Compared, DESPAWN, Entry, Mask, Row, Table};
use crate::shared::{self, Shared, World};

const PLAYERS: u32 = 64;
const SHOTS: usize = 500;
const NEW_SHOTS: u32 = 10;

/// The step of positions, in metres.
const STEP: f32 = 0.01;
const EXTENT: f32 = 327.0;

#[derive(Clone, Debug, Default, PartialEq, Replicated)]
pub(crate) struct Fighter {
    #[replicated(quantize(step = 0.01, range = -327.0..=327.0))]
    position: [f32; 3],
    #[replicated(quantize(step = 0.1, range = -51.0..=51.0))]
    velocity: [f32; 3],
    #[replicated(quantize(step = 1.5, range = 0.0..=360.0))]
    yaw: f32,
    #[replicated]
    health: u8,
    #[replicated]
    ammo: u8,
    #[replicated]
    team: u8,
}

#[derive(Clone, Debug, Default, PartialEq, Replicated)]
pub(crate) struct Shot {
    #[replicated(quantize(step = 0.01, range = -327.0..=327.0))]
    from: [f32; 3],
    #[replicated(quantize(step = 0.1, range = -51.0..=51.0))]
    velocity: [f32; 3],
    #[replicated]
    shooter: u8,
    #[replicated]
    number: u32,
}

fn position(value: f32) -> u64 {
    ((value + EXTENT) / STEP).round() as u64
}

fn speed(value: f32) -> u64 {
    ((value + 51.0) * 10.0).round() as u64
}

fn write_vector(vector: [f32; 3], bits: &mut BitWriter) {
    vector.into_iter().for_each(|value| bits.write(position(value), 17));
}

fn write_velocity(vector: [f32; 3], bits: &mut BitWriter) {
    vector.into_iter().for_each(|value| bits.write(speed(value), 10));
}

fn read_vector(bits: &mut BitReader<'_>) -> [f32; 3] {
    [(); 3].map(|()| bits.read(17) as f32 * STEP - EXTENT)
}

fn read_velocity(bits: &mut BitReader<'_>) -> [f32; 3] {
    [(); 3].map(|()| bits.read(10) as f32 * 0.1 - 51.0)
}

impl Row for Fighter {
    const ALL: Mask = 0b11_1111;

    fn difference(&self, other: &Self) -> Mask {
        u64::from(self.position != other.position)
            | u64::from(self.velocity != other.velocity) << 1
            | u64::from(self.yaw != other.yaw) << 2
            | u64::from(self.health != other.health) << 3
            | u64::from(self.ammo != other.ammo) << 4
            | u64::from(self.team != other.team) << 5
    }

    fn write(&self, fields: Mask, bits: &mut BitWriter) {
        if fields & 1 != 0 {
            write_vector(self.position, bits);
        }
        if fields & 2 != 0 {
            write_velocity(self.velocity, bits);
        }
        if fields & 4 != 0 {
            bits.write((self.yaw / 1.5).round() as u64, 8);
        }
        for (bit, value) in [(8, self.health), (16, self.ammo), (32, self.team)] {
            if fields & bit != 0 {
                bits.write(value.into(), 8);
            }
        }
    }

    fn read(&mut self, fields: Mask, bits: &mut BitReader<'_>) {
        if fields & 1 != 0 {
            self.position = read_vector(bits);
        }
        if fields & 2 != 0 {
            self.velocity = read_velocity(bits);
        }
        if fields & 4 != 0 {
            self.yaw = bits.read(8) as f32 * 1.5;
        }
        for (bit, value) in [(8, &mut self.health), (16, &mut self.ammo), (32, &mut self.team)] {
            if fields & bit != 0 {
                *value = bits.read(8) as u8;
            }
        }
    }
}

impl Row for Shot {
    const ALL: Mask = 1;

    fn difference(&self, other: &Self) -> Mask {
        u64::from(self != other)
    }

    fn write(&self, _: Mask, bits: &mut BitWriter) {
        write_vector(self.from, bits);
        write_velocity(self.velocity, bits);
        bits.write(u64::from(self.shooter) | u64::from(self.number) << 8, 40);
    }

    fn read(&mut self, _: Mask, bits: &mut BitReader<'_>) {
        (self.from, self.velocity) = (read_vector(bits), read_velocity(bits));
        let rest = bits.read(40);
        (self.shooter, self.number) = (rest as u8, (rest >> 8) as u32);
    }
}

/// The objects of the hand-written server (the rival).
pub(crate) struct Arena {
    fighters: Table<Fighter>,
    shots: Table<Shot>,
}

impl World for Arena {
    fn compare(&mut self, entries: &mut Vec<Entry>) {
        self.fighters.compare(0, Compared::All, entries);
        self.shots.compare(1, Compared::Nothing, entries);
    }

    fn write(&self, entry: Entry, bits: &mut BitWriter) {
        if entry.table == 0 {
            Row::write(&self.fighters.rows[entry.slot as usize], entry.fields, bits);
        } else {
            Row::write(&self.shots.rows[entry.slot as usize], entry.fields, bits);
        }
    }

    fn fields(table: u8) -> u32 {
        if table == 0 { 6 } else { 1 }
    }

    fn free(&mut self, table: u8, slot: u32) {
        if table == 0 { self.fighters.free(slot) } else { self.shots.free(slot) }
    }
}

/// The objects of one client of the rival.
pub(crate) struct Shown {
    fighters: Vec<Fighter>,
    shots: Vec<Option<Shot>>,
}

impl Default for Shown {
    fn default() -> Self {
        Self { fighters: vec![Fighter::default(); PLAYERS as usize], shots: Vec::new() }
    }
}

/// The shooter on both servers.
pub(crate) struct Shooter {
    /// The new states of the fighters, and the new shots of this tick.
    next: (Vec<Fighter>, Vec<Shot>),
    fighters: Vec<ObjectRef<Fighter>>,
    shots: VecDeque<ObjectRef<Shot>>,
    rival_shots: VecDeque<u32>,
}

fn fighter(number: u32, step: u32) -> Fighter {
    let turn = (step * 3 + number * 40) as f32 * 0.01;
    Fighter {
        position: [turn.sin() * 300.0, turn.cos() * 300.0, 1.0 + (number % 7) as f32],
        velocity: [turn.cos() * 45.0, -turn.sin() * 45.0, 0.0],
        yaw: (turn * 57.3).rem_euclid(360.0),
        health: 100 - ((step / 8 + number) % 64) as u8,
        ammo: 30,
        team: (number % 2) as u8,
    }
}

fn shot(number: u32, step: u32) -> Shot {
    let from = fighter(number % PLAYERS, step);
    Shot { from: from.position, velocity: from.velocity, shooter: number as u8 % 64, number }
}

impl Game for Shooter {
    type Rival = Shared<Arena>;
    type Mirror = Shown;
    const NAME: &'static str = "shooter";
    const CONNECTIONS: usize = 64;

    fn register(client: &mut Client) {
        client.register::<Fighter>().register::<Shot>();
    }

    fn begin(server: &mut Server) -> (Self, Shared<Arena>) {
        server.register::<Fighter>().register::<Shot>();
        let mut arena = Arena { fighters: Table::new(), shots: Table::new() };
        let fighters = (0..PLAYERS).map(|number| {
            arena.fighters.spawn(fighter(number, 0));
            server.spawn(fighter(number, 0))
        });
        let fighters = fighters.collect();
        let (shots, rival_shots) = (VecDeque::new(), VecDeque::new());
        let game = Self { next: (Vec::new(), Vec::new()), fighters, shots, rival_shots };
        (game, Shared::new(arena, Self::CONNECTIONS))
    }

    fn prepare(&mut self, step: u32) {
        let shots = (0..NEW_SHOTS).map(|number| shot(step * NEW_SHOTS + number, step)).collect();
        self.next = ((0..PLAYERS).map(|number| fighter(number, step)).collect(), shots);
    }

    fn step(&mut self, server: &mut Server) {
        for (&object, next) in self.fighters.iter().zip(&self.next.0) {
            server[object] = next.clone();
        }
        for shot in &self.next.1 {
            self.shots.push_back(server.spawn(shot.clone()));
        }
        while self.shots.len() > SHOTS {
            self.shots.pop_front().into_iter().for_each(|shot| server.despawn(shot));
        }
    }

    fn step_rival(&mut self, rival: &mut Shared<Arena>) {
        let world = &mut rival.world;
        world.fighters.rows.clone_from_slice(&self.next.0);
        for shot in &self.next.1 {
            self.rival_shots.push_back(world.shots.spawn(shot.clone()));
        }
        while self.rival_shots.len() > SHOTS {
            self.rival_shots.pop_front().into_iter().for_each(|shot| world.shots.despawn(shot));
        }
    }

    fn receive(mirror: &mut Shown, packet: &[u8]) {
        shared::read_packet::<Arena>(packet, |entry, bits| {
            let slot = entry.slot as usize;
            if entry.table == 0 {
                return Row::read(&mut mirror.fighters[slot], entry.fields, bits);
            }
            if mirror.shots.len() <= slot {
                mirror.shots.resize(slot + 1, None);
            }
            mirror.shots[slot] = (entry.fields & DESPAWN == 0).then(|| {
                let mut shot = Shot::default();
                Row::read(&mut shot, entry.fields, bits);
                shot
            });
        });
    }

    fn check(server: &Server, _: ConnectionId, client: &Client) -> usize {
        assert_eq!(client.objects::<Fighter>().count(), PLAYERS as usize);
        for (object, fighter) in client.objects::<Fighter>() {
            let of_server = &server[object];
            let pairs = fighter.position.into_iter().zip(of_server.position);
            assert!(pairs.into_iter().all(|(one, other)| (one - other).abs() < STEP), "{object:?}");
            assert_eq!((fighter.health, fighter.team), (of_server.health, of_server.team));
        }
        let shots: Vec<u32> = client.objects::<Shot>().map(|(_, shot)| shot.number).collect();
        assert_eq!(shots.len(), SHOTS);
        assert!(client.objects::<Shot>().all(|(object, shot)| shot.number == server[object].number));
        PLAYERS as usize + SHOTS
    }

    fn check_rival(rival: &Shared<Arena>, _: usize, mirror: &Shown) -> usize {
        for (slot, fighter) in rival.world.fighters.alive() {
            let shown = &mirror.fighters[slot as usize];
            assert!((shown.position[0] - fighter.position[0]).abs() < STEP && shown.health == fighter.health);
        }
        assert_eq!(mirror.shots.iter().flatten().count(), SHOTS);
        for (slot, shot) in rival.world.shots.alive() {
            assert_eq!(mirror.shots[slot as usize].as_ref().map(|shot| shot.number), Some(shot.number));
        }
        PLAYERS as usize + SHOTS
    }
}
