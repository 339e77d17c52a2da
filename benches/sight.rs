//! Changes that only some connections see: each of many connections sees a part of a large world.
//!
//! The hand-written side is the delta encoder of the bench `tick`, with a list of viewers for each cell. It
//! adds a change to the connections that see its cell, and writes the packets of each connection separately.
//! It has no conditions, and objects cannot move to other cells. Players stand still, so each connection
//! keeps seeing the same objects.
//!
//! *Invariant:* both sides write the same values, send them to the connections that see the same cells, store
//! all packets, and receive an ack of every packet.

#[allow(dead_code, reason = "each bench uses a part")]
#[path = "support/bits.rs"]
mod bits;
#[path = "support/config.rs"]
mod config;
#[allow(dead_code, reason = "each bench uses a part")]
#[path = "support/hand.rs"]
mod hand;
#[path = "support/player.rs"]
mod player;
#[path = "support/ratios.rs"]
mod ratios;
#[allow(dead_code, reason = "each bench uses a part")]
#[path = "support/wire.rs"]
mod wire;
#[allow(dead_code, reason = "each bench uses a part")]
#[path = "support/workload.rs"]
mod workload;

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput};
use repl::Area;
use repl::prelude::*;

use bits::BitWriter;
use config::at_once;
use hand::{Connection, World};
use player::Player;
use ratios::Side;
use workload::{Arena, Change, Workload};

const TICK: Duration = Duration::from_millis(16);
/// A timeout that is longer than any measurement.
const FOREVER: Duration = Duration::from_secs(1 << 32);
/// The greatest coordinate of a player. The least coordinate is its negative.
const EXTENT: f32 = 1_000.0;

/// A tenth of the players changes in each tick.
const CHANGES: Workload = Workload { name: "sight", players: 10_000, change: Change::Health(10) };

/// The number of connections, and the part of the world that each of them sees.
#[derive(Clone, Copy)]
struct Scene {
    name: &'static str,
    connections: usize,
    /// The radius in which a connection sees players.
    radius: f32,
}

/// The world is a square of 2,000 × 2,000 units. A circle with the radius of a scene covers 5 % or 20 % of
/// it.
const SCENES: [Scene; 4] = [
    Scene { name: "200_see_5_percent", connections: 200, radius: 252.0 },
    Scene { name: "200_see_20_percent", connections: 200, radius: 505.0 },
    Scene { name: "1000_see_5_percent", connections: 1_000, radius: 252.0 },
    Scene { name: "1000_see_20_percent", connections: 1_000, radius: 505.0 },
];

/// Returns the position of player or viewpoint `number`. The positions are spread evenly over the world.
fn place(number: u32, salt: u32) -> [f32; 3] {
    let mixed = u64::from(number ^ salt << 20).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    let part = |bits: u64| (bits % 20_000) as f32 / 10_000.0 * EXTENT - EXTENT;
    let mixed = mixed.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    [part(mixed >> 8), part(mixed >> 36), 0.0]
}

/// Returns the viewpoint of a connection. Its circle of sight lies within the world.
fn viewpoint(connection: usize, radius: f32) -> [f32; 3] {
    place(connection as u32, 1).map(|at| at * (EXTENT - radius) / EXTENT)
}

/// The packets of a tick to one client. Its length stands before each packet.
#[derive(Clone, Default)]
struct Packets(Vec<u8>);

impl Packets {
    fn push(&mut self, packet: &[u8]) {
        self.0.extend((packet.len() as u16).to_le_bytes());
        self.0.extend_from_slice(black_box(packet));
    }

    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = self.0.as_slice();
        std::iter::from_fn(move || {
            let (length, after) = rest.split_first_chunk()?;
            let (packet, next) = after.split_at(u16::from_le_bytes(*length).into());
            rest = next;
            Some(packet)
        })
    }
}

/// This library, with a client for each connection.
struct Repl {
    server: Server,
    players: Vec<ObjectRef<Player>>,
    clients: Vec<(ConnectionId, Client)>,
    /// The packets of a tick to each client.
    sent: Vec<Packets>,
    answers: Vec<(ConnectionId, Vec<u8>)>,
    now: Duration,
}

/// Writes to the players of a server.
struct ByReference<'a>(&'a mut Server, &'a [ObjectRef<Player>]);

impl Arena for ByReference<'_> {
    #[inline]
    fn set_health(&mut self, index: u32, health: u16) {
        self.0[self.1[index as usize]].health = health;
    }

    fn turn(&mut self, index: u32, position: [f32; 3], yaw: f32) {
        let player = &mut self.0[self.1[index as usize]];
        (player.position, player.yaw) = (position, yaw);
    }
}

impl Repl {
    fn new(scene: Scene) -> Self {
        let mut server = Server::new(ServerConfig { timeout: FOREVER, ..at_once() });
        server
            .class::<Player>()
            .locate(Area::within(scene.radius).flat(), |player: &Player| place(player.id, 0));
        let players = (0..CHANGES.players).map(|index| server.spawn(Player::nth(index))).collect();
        let clients = (0..scene.connections).map(|number| {
            let mut client = Client::new(
                ClientConfig { timeout: FOREVER, ..ClientConfig::default() },
                Session::for_tests(number as u64 + 1),
            );
            client.register::<Player>();
            let connection = server.connect(Duration::ZERO);
            server.connection(connection).set_viewpoints(&[viewpoint(number, scene.radius)]);
            (connection, client)
        });
        let clients: Vec<_> = clients.collect();
        let sent = vec![Packets::default(); clients.len()];
        let mut repl = Self { server, players, clients, sent, answers: Vec::new(), now: TICK };
        for step in 0..40 {
            repl.send(step);
            repl.deliver();
            repl.acknowledge();
        }
        repl
    }

    /// Makes the packets of a tick, and returns their bytes.
    fn send(&mut self, step: u32) -> u64 {
        CHANGES.apply(step, &mut ByReference(&mut self.server, &self.players));
        self.now += TICK;
        self.server.tick(self.now);
        let mut bytes = 0;
        for ((connection, _), sent) in self.clients.iter().zip(&mut self.sent) {
            sent.0.clear();
            while let Some(packet) = self.server.poll_transmit(*connection) {
                sent.push(packet);
                bytes += packet.len() as u64;
            }
        }
        bytes
    }

    /// Runs the clients' work, which is not measured.
    fn deliver(&mut self) {
        for ((connection, client), sent) in self.clients.iter_mut().zip(&self.sent) {
            for packet in sent.iter() {
                client.receive(self.now, packet).expect("a packet of the server");
            }
            client.tick(self.now);
            while let Some(packet) = client.poll_transmit() {
                self.answers.push((*connection, packet.to_vec()));
            }
            while client.poll_event().is_some() {}
        }
    }

    fn acknowledge(&mut self) {
        for (connection, packet) in self.answers.drain(..) {
            self.server.receive(connection, self.now, &packet);
        }
    }

    /// Returns the number of players on all clients together, and checks that they equal those of the server.
    fn check(&self) -> usize {
        let mut seen = 0;
        for (_, client) in &self.clients {
            for (player, shown) in client.objects::<Player>() {
                assert_eq!(shown, &self.server[player]);
                seen += 1;
            }
        }
        seen
    }
}

/// The hand-written delta encoder, with the viewers of each cell.
struct Hand {
    world: World,
    connections: Vec<Connection>,
    /// For each player, the connections that see it.
    viewers: Vec<Vec<u32>>,
    writer: BitWriter,
    /// The packets of a tick to each client, stored in the same way as those of the library.
    sent: Vec<Packets>,
}

impl Hand {
    /// Returns a server whose connections see the same players as the clients of `repl`.
    fn new(repl: &Repl) -> Self {
        let world = World::new(CHANGES.players);
        let mut viewers = vec![Vec::new(); world.players.len()];
        let mut connections = Vec::new();
        for (number, (_, client)) in repl.clients.iter().enumerate() {
            let mut connection = Connection::blind(world.players.len());
            for (_, player) in client.objects::<Player>() {
                let index = player.id - world.players[0].id;
                viewers[index as usize].push(number as u32);
                connection.want(index, wire::ALL);
            }
            connections.push(connection);
        }
        let sent = vec![Packets::default(); connections.len()];
        let mut hand = Self { world, connections, viewers, writer: BitWriter::new(), sent };
        hand.send_all();
        hand.acknowledge();
        hand
    }

    fn send(&mut self, step: u32) -> u64 {
        CHANGES.apply(step, &mut self.world);
        for (slot, fields) in self.world.changes() {
            for &viewer in &self.viewers[slot as usize] {
                self.connections[viewer as usize].want(slot, fields);
            }
        }
        self.send_all()
    }

    fn send_all(&mut self) -> u64 {
        let mut bytes = 0;
        for (connection, sent) in self.connections.iter_mut().zip(&mut self.sent) {
            sent.0.clear();
            connection.send_wanted(&self.world, &mut self.writer, |packet| {
                sent.push(packet);
                bytes += packet.len() as u64;
            });
        }
        self.world.settle();
        bytes
    }

    fn acknowledge(&mut self) {
        self.connections.iter_mut().for_each(Connection::acknowledge_all);
    }
}

/// Both sides of a scene, tick after tick.
struct Running {
    repl: Repl,
    hand: Hand,
    step: u32,
}

impl Running {
    fn new(scene: Scene) -> Self {
        let repl = Repl::new(scene);
        let hand = Hand::new(&repl);
        Self { repl, hand, step: 1_000 }
    }

    /// Runs ticks of both sides in turns, so that the clients' work leaves the caches of the processor in the
    /// same state for both. Returns the time of each side.
    fn ticks(&mut self, ticks: u64) -> [Duration; 2] {
        let mut times = [Duration::ZERO; 2];
        let mut timed = |side: usize, start: Instant| times[side] += start.elapsed();
        for _ in 0..ticks {
            self.step += 1;
            let start = Instant::now();
            self.repl.send(self.step);
            timed(0, start);
            self.repl.deliver();
            let start = Instant::now();
            self.repl.acknowledge();
            timed(0, start);
            let start = Instant::now();
            self.hand.send(self.step);
            self.hand.acknowledge();
            timed(1, start);
        }
        times
    }
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    for scene in SCENES {
        if !ratios::are_wanted() && scene.connections > 200 {
            continue;
        }
        let mut running = Running::new(scene);
        let seen = running.repl.check() as u64;
        let clients = scene.connections as u64;
        let [repl_bytes, hand_bytes] =
            [running.repl.send(999), running.hand.send(999)].map(|bytes| bytes / clients);
        running.repl.deliver();
        running.repl.acknowledge();
        running.hand.acknowledge();
        let mut group = criterion.benchmark_group(format!("sight/{}", scene.name));
        group.sample_size(10).measurement_time(Duration::from_secs(2));
        group.throughput(Throughput::Elements(seen / 10));
        group.bench_function("repl", |bencher| bencher.iter_custom(|ticks| running.ticks(ticks)[0]));
        group.bench_function("hand", |bencher| bencher.iter_custom(|ticks| running.ticks(ticks)[1]));
        group.finish();
        running.repl.check();
        if ratios::are_wanted() {
            let shared = std::cell::RefCell::new(&mut running);
            ratios::report(
                scene.name,
                &mut [
                    Side::new("repl", Some(repl_bytes), &mut |ticks| shared.borrow_mut().ticks(ticks)[0]),
                    Side::new("hand", Some(hand_bytes), &mut |ticks| shared.borrow_mut().ticks(ticks)[1]),
                ],
            );
        }
    }
    criterion.final_summary();
}
