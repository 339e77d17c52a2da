//! Checks that run before any measurement.
//!
//! *Invariant:* a candidate that fails a check is not measured: the check panics.

use repl::sim::Rng;

use crate::bits::BitWriter;
use crate::floor::Floor;
use crate::hand::{Connection, World};
use crate::mirror::Mirror;
use crate::player::{MarkedPlayer, Player};
use crate::served::{Avatar, Served, Writing};
use crate::workload::{Arena, Workload};

const CLIENTS: usize = 3;
const PLAYERS: u32 = 400;

/// A client, its connection, and the packets in flight between them.
struct Link {
    connection: Connection,
    mirror: Mirror,
    /// Packets that arrive a few ticks late, with their sequence numbers.
    late: Vec<(u64, Vec<u8>)>,
    received: Vec<u64>,
    sent: u64,
}

/// Checks that the delta encoder converges over a link that loses and reorders 40 % of the packets, and that
/// it sends nothing after that.
///
/// # Panics
/// Panics if the encoder does not converge.
pub(crate) fn delta_encoder_converges_under_loss() {
    let mut random = Rng::new(1);
    let mut world = World::new(PLAYERS);
    let mut writer = BitWriter::new();
    let mut links: Vec<Link> = (0..CLIENTS)
        .map(|_| Link {
            connection: Connection::new(PLAYERS as usize),
            mirror: Mirror::new(PLAYERS as usize),
            late: Vec::new(),
            received: Vec::new(),
            sent: 0,
        })
        .collect();
    for step in 0..200 {
        let storm = step < 150;
        if storm {
            for _ in 0..50 {
                let index = random.below(PLAYERS.into()) as u32;
                arena_write(&mut world, index, step, random.below(2) == 0);
            }
        }
        for link in &mut links {
            link.exchange(&world, &mut writer, storm, &mut random);
        }
        world.settle();
    }
    for link in &mut links {
        assert!(link.mirror.equals(&world.players), "a client differs from the server");
        let sent = link.sent;
        link.exchange(&world, &mut writer, false, &mut random);
        assert_eq!(link.sent, sent, "an idle world is silent");
    }
}

fn arena_write(world: &mut World, index: u32, step: u32, moves: bool) {
    if moves {
        world.turn(index, [step as f32, index as f32, 0.5], step as f32 * 0.01);
    } else {
        world.set_health(index, step as u16);
    }
}

impl Link {
    /// Runs one tick: sends packets, delivers those that are not lost or late, and handles the acks and
    /// losses of the packets that were sent two ticks ago.
    fn exchange(&mut self, world: &World, writer: &mut BitWriter, storm: bool, random: &mut Rng) {
        let resolved = self.sent;
        let Self { connection, late, sent, .. } = self;
        connection.send(world, writer, |packet| {
            late.push((*sent, packet.to_vec()));
            *sent += 1;
        });
        for (sequence, packet) in std::mem::take(&mut self.late) {
            match random.below(10) {
                0..2 if storm => {}
                2..4 if storm => self.late.push((sequence, packet)),
                _ if self.mirror.receive(&packet) => self.received.push(sequence),
                _ => {}
            }
        }
        if let Some(last) = resolved.checked_sub(1) {
            self.late.retain(|(sequence, _)| *sequence > last);
            self.connection.acknowledge(last, |sequence| !self.received.contains(&sequence));
        }
    }
}

/// Checks that both encoders send each workload to a client correctly.
///
/// # Panics
/// Panics if an encoder sends a wrong value.
pub(crate) fn both_encoders_carry(workload: &Workload) {
    let players = workload.players as usize;
    let mut world = World::new(workload.players);
    let mut writer = BitWriter::new();
    let (mut floor, mut connection) = (Floor::new(), Connection::new(players));
    let (mut from_floor, mut from_delta) = (Mirror::new(players), Mirror::new(players));
    floor.encode_spawns(&world, &mut writer);
    let mut sequence = floor.send(0, |packet| assert!(from_floor.receive(packet)));
    connection.send(&world, &mut writer, |packet| assert!(from_delta.receive(packet)));
    connection.acknowledge_all();
    for step in 0..3 {
        workload.apply(step, &mut world);
        floor.encode_changes(&world, &mut writer);
        sequence = floor.send(sequence, |packet| assert!(from_floor.receive(packet)));
        connection.send(&world, &mut writer, |packet| assert!(from_delta.receive(packet)));
        connection.acknowledge_all();
        world.settle();
        assert!(from_floor.equals(&world.players), "{}: the floor's client differs", workload.name);
        assert!(from_delta.equals(&world.players), "{}: the delta's client differs", workload.name);
    }
}

/// Checks that this library sends each workload to its clients correctly, and the same packets to all.
///
/// # Panics
/// Panics if a value is wrong or the packets differ.
pub(crate) fn servers_carry(workload: &Workload) {
    for writing in [Writing::ByReference, Writing::AllAtOnce] {
        server_carries::<Player>(workload, writing);
    }
    server_carries::<MarkedPlayer>(workload, Writing::ByReference);
}

fn server_carries<P: Avatar>(workload: &Workload, writing: Writing) {
    let mut served = Served::<P>::settled(workload.players, CLIENTS, writing);
    for step in 0..3 {
        served.check_tick(workload, step);
    }
}
