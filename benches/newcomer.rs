//! The first client of a world: spawning the objects, sending them, and receiving them on the client. Each
//! part is compared with the same work of a hand-written encoder. Also measures updates for a client that
//! already has all objects: players, or objects with many properties.
//!
//! *Invariant:* both candidates begin each turn with new servers and clients, so both allocate new memory.
//! After each turn, the client has exactly the values of the server.

#[allow(dead_code, reason = "each bench uses a part")]
#[path = "support/bits.rs"]
mod bits;
#[path = "support/config.rs"]
mod config;
#[path = "support/hand.rs"]
mod hand;
#[path = "support/mirror.rs"]
mod mirror;
#[path = "support/player.rs"]
mod player;
#[path = "support/ratios.rs"]
mod ratios;
#[path = "support/wire.rs"]
mod wire;
#[path = "support/workload.rs"]
mod workload;

use std::hint::black_box;
use std::time::{Duration, Instant};

use repl::prelude::*;

use bits::BitWriter;
use config::at_once;
use hand::{Connection, World};
use mirror::Mirror;
use player::Player;
use ratios::Side;
use workload::{Arena, Workload};

/// The workload of the updates.
const UPDATES: &Workload = &Workload::ALL[1];
const PLAYERS: u32 = UPDATES.players;
const TICK: Duration = Duration::from_millis(16);

/// Chooses one of the measured times.
type Part = fn(&Times) -> Duration;

/// How long each part of a first client took.
#[derive(Default)]
struct Times {
    spawn: Duration,
    send: Duration,
    receive: Duration,
    bytes: u64,
}

/// One of the candidates, with a client that has all players.
trait Candidate {
    /// Spawns all players, sends them to a client, and receives them there.
    fn join() -> (Self, Times)
    where
        Self: Sized;
    /// Changes the players of tick `step` and sends the changes. Returns how long the client took to receive
    /// them, and how many bytes they had.
    fn update(&mut self, step: u32) -> (Duration, u64);
    /// Returns whether the client has the values of the server.
    fn is_equal(&self) -> bool;
}

fn elapsed<T>(time: &mut Duration, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = black_box(work());
    *time += start.elapsed();
    result
}

/// A class of objects that the library replicates.
trait Subject: Replicated + PartialEq {
    /// Returns the object that slot `index` has at the start.
    fn nth(index: u32) -> Self;
    /// Changes one property.
    fn set_number(&mut self, number: u16);
}

impl Subject for Player {
    fn nth(index: u32) -> Self {
        Self::nth(index)
    }

    fn set_number(&mut self, number: u16) {
        self.health = number;
    }
}

/// An object with so many properties that a set of their handles needs an allocation.
#[derive(Clone, Debug, PartialEq, Replicated)]
#[replicated(all)]
struct Wide {
    numbers: [u16; 100],
}

impl Default for Wide {
    fn default() -> Self {
        Self { numbers: [0; 100] }
    }
}

impl Subject for Wide {
    fn nth(index: u32) -> Self {
        Self { numbers: std::array::from_fn(|at| (index as usize + at + 1) as u16) }
    }

    fn set_number(&mut self, number: u16) {
        self.numbers[90] = number;
    }
}

/// This library.
struct Repl<T> {
    server: Server,
    client: Client,
    connection: ConnectionId,
    objects: Vec<ObjectRef<T>>,
    now: Duration,
}

impl<T> Repl<T> {
    /// Runs one tick. Returns the server's time, the client's time, and the bytes that the client received.
    fn exchange(&mut self) -> (Duration, Duration, u64) {
        let Self { server, client, connection, now, .. } = self;
        *now += TICK;
        let (mut sending, mut receiving, mut packets) = (Duration::ZERO, Duration::ZERO, Vec::new());
        elapsed(&mut sending, || server.tick(*now));
        while let Some(packet) = elapsed(&mut sending, || server.poll_transmit(*connection)) {
            packets.push(packet.to_vec());
        }
        let mut answers = Vec::new();
        elapsed(&mut receiving, || {
            for packet in &packets {
                client.receive(*now, packet).expect("a packet of the server");
            }
            client.tick(*now);
        });
        while let Some(answer) = elapsed(&mut receiving, || client.poll_transmit()) {
            answers.push(answer.to_vec());
        }
        elapsed(&mut sending, || {
            answers.iter().for_each(|answer| server.receive(*connection, *now, answer));
        });
        while client.poll_event().is_some() {}
        (sending, receiving, packets.iter().map(|packet| packet.len() as u64).sum())
    }
}

impl<T: Subject> Candidate for Repl<T> {
    fn join() -> (Self, Times) {
        let mut times = Times::default();
        let mut server = Server::new(at_once());
        server.register::<T>();
        let mut client = Client::new(ClientConfig::default(), Session::for_tests(1));
        client.register::<T>();
        let connection = server.connect(Duration::ZERO);
        let objects =
            elapsed(&mut times.spawn, || (0..PLAYERS).map(|index| server.spawn(T::nth(index))).collect());
        client.tick(Duration::ZERO);
        while let Some(hello) = client.poll_transmit() {
            server.receive(connection, Duration::ZERO, hello);
        }
        let mut repl = Self { server, client, connection, objects, now: TICK };
        while repl.client.objects::<T>().count() < PLAYERS as usize {
            let (send, receive, bytes) = repl.exchange();
            times.send += send;
            times.receive += receive;
            times.bytes += bytes;
        }
        while repl.exchange().2 > 0 {}
        (repl, times)
    }

    fn update(&mut self, step: u32) -> (Duration, u64) {
        UPDATES.apply(step, self);
        let (_, receive, bytes) = self.exchange();
        (receive, bytes)
    }

    fn is_equal(&self) -> bool {
        self.objects.iter().all(|object| self.client.get(*object) == self.server.get(*object))
    }
}

impl<T: Subject> Arena for Repl<T> {
    fn set_health(&mut self, index: u32, health: u16) {
        self.server[self.objects[index as usize]].set_number(health);
    }

    fn turn(&mut self, _: u32, _: [f32; 3], _: f32) {
        unreachable!("the workload changes one property");
    }
}

/// The hand-written encoder and its client.
struct Hand {
    world: World,
    connection: Connection,
    mirror: Mirror,
}

impl Hand {
    fn exchange(&mut self) -> (Duration, Duration, u64) {
        let Self { world, connection, mirror } = self;
        let (mut sending, mut receiving) = (Duration::ZERO, Duration::ZERO);
        let (mut writer, mut packets) = (BitWriter::new(), Vec::new());
        let mut copying = Duration::ZERO;
        elapsed(&mut sending, || {
            connection.send(world, &mut writer, |packet| {
                elapsed(&mut copying, || packets.push(packet.to_vec()));
            });
            world.settle();
        });
        elapsed(&mut receiving, || packets.iter().for_each(|packet| assert!(mirror.receive(packet))));
        elapsed(&mut sending, || connection.acknowledge_all());
        (sending - copying, receiving, packets.iter().map(|packet| packet.len() as u64).sum())
    }
}

impl Candidate for Hand {
    fn join() -> (Self, Times) {
        let mut times = Times::default();
        let world = elapsed(&mut times.spawn, || World::new(PLAYERS));
        let connection = elapsed(&mut times.send, || Connection::new(PLAYERS as usize));
        let mirror = elapsed(&mut times.receive, || Mirror::new(PLAYERS as usize));
        let mut hand = Self { world, connection, mirror };
        let (send, receive, bytes) = hand.exchange();
        times.send += send;
        times.receive += receive;
        times.bytes += bytes;
        (hand, times)
    }

    fn update(&mut self, step: u32) -> (Duration, u64) {
        UPDATES.apply(step, &mut self.world);
        let (_, receive, bytes) = self.exchange();
        (receive, bytes)
    }

    fn is_equal(&self) -> bool {
        self.mirror.equals(&self.world.players)
    }
}

/// Returns the sum of one part's times over `count` joins.
fn joins<C: Candidate>(count: u64, part: Part) -> Duration {
    (0..count).map(|_| part(&C::join().1)).sum()
}

/// Returns how long a server takes to spawn all players if it has reserved memory for them before. Does this
/// `count` times.
fn spawns_with_room(count: u64) -> Duration {
    let mut spawning = Duration::ZERO;
    for _ in 0..count {
        let mut server = Server::new(at_once());
        let players: Vec<_> = elapsed(&mut spawning, || {
            server.class::<Player>().reserve(PLAYERS as usize);
            (0..PLAYERS).map(|index| server.spawn(Player::nth(index))).collect()
        });
        assert!(players.len() == PLAYERS as usize, "all players are spawned");
    }
    spawning
}

/// Returns how long a client takes to receive `count` ticks.
fn updates<C: Candidate>(candidate: &mut C, step: &mut u32, count: u64) -> Duration {
    let mut tick = |_| {
        *step += 1;
        candidate.update(*step).0
    };
    (0..count).map(&mut tick).sum()
}

fn check<C: Candidate>() -> (C, u64) {
    let (mut candidate, times) = C::join();
    assert!(candidate.is_equal(), "the new client differs from the server");
    assert!(candidate.update(1).1 > 0, "changes are sent");
    assert!(candidate.is_equal(), "the client differs from the server after an update");
    (candidate, times.bytes)
}

fn main() {
    let ((mut repl, repl_bytes), (mut hand, hand_bytes)) = (check::<Repl<Player>>(), check::<Hand>());
    let (mut wide, _) = check::<Repl<Wide>>();
    if !ratios::are_wanted() {
        return;
    }
    let parts: [(&str, Part); 4] = [
        ("spawn", |times| times.spawn),
        ("send to the first client", |times| times.send),
        ("spawn and send", |times| times.spawn + times.send),
        ("receive on the client", |times| times.receive),
    ];
    for (name, part) in parts {
        ratios::report(
            name,
            &mut [
                Side::new("repl", Some(repl_bytes), &mut |count| joins::<Repl<Player>>(count, part)),
                Side::new("hand", Some(hand_bytes), &mut |count| joins::<Hand>(count, part)),
            ],
        );
    }
    ratios::report(
        "spawn, with room",
        &mut [
            Side::new("repl", None, &mut spawns_with_room),
            Side::new("hand", None, &mut |count| joins::<Hand>(count, |times| times.spawn)),
        ],
    );
    let name = format!("receive {}, {} updates", UPDATES.name, UPDATES.changed());
    let (mut repl_step, mut hand_step) = (1, 1);
    ratios::report(
        &name,
        &mut [
            Side::new("repl", None, &mut |count| updates(&mut repl, &mut repl_step, count)),
            Side::new("hand", None, &mut |count| updates(&mut hand, &mut hand_step, count)),
        ],
    );
    let (mut wide_step, mut player_step) = (1, repl_step);
    ratios::report(
        "receive the same updates of a class with 100 properties",
        &mut [
            Side::new("100 properties", None, &mut |count| updates(&mut wide, &mut wide_step, count)),
            Side::new("22 properties", None, &mut |count| updates(&mut repl, &mut player_step, count)),
        ],
    );
    let is_equal = repl.is_equal() && hand.is_equal() && wide.is_equal();
    assert!(is_equal, "a client differs from its server");
}
