//! Entities with three components each, in a store outside the library. They are replicated in two ways: as
//! one class for the whole entity, or as a root (an object without fields) with a subobject for each
//! component. Measures bytes and times of the first packets for a client, and of a tick in which a tenth of
//! the entities moves.
//!
//! *Invariant:* the clients of both ways end with the same values.
#![expect(clippy::print_stdout, reason = "the figures")]

#[path = "support/cpu.rs"]
mod cpu;

use std::time::Duration;

use cpu::thread_time;
use repl::WithoutFastArrays;
use repl::prelude::*;

const ENTITIES: usize = 2_000;
const MOVING: usize = ENTITIES / 10;
const TICK: Duration = Duration::from_millis(33);
const ROUNDS: usize = 15;
const TICKS: usize = 200;

/// All components of an entity in one class.
#[derive(Replicated, Clone, Default)]
#[replicated(all)]
struct Whole {
    position: [f32; 3],
    yaw: f32,
    health: u16,
    shield: u8,
    team: u8,
    name: u32,
}

/// The root of an entity.
#[derive(Replicated, Clone, Default)]
struct Root {}

#[derive(Replicated, Clone, Default)]
#[replicated(all)]
struct Place {
    position: [f32; 3],
    yaw: f32,
}

#[derive(Replicated, Clone, Default)]
#[replicated(all)]
struct Life {
    health: u16,
    shield: u8,
}

#[derive(Replicated, Clone, Default)]
#[replicated(all)]
struct Badge {
    team: u8,
    name: u32,
}

/// A class with the position of an entity.
trait Moves: Replicated + WithoutFastArrays {
    fn place(&mut self) -> (&mut [f32; 3], &mut f32);
}

impl Moves for Whole {
    fn place(&mut self) -> (&mut [f32; 3], &mut f32) {
        (&mut self.position, &mut self.yaw)
    }
}

impl Moves for Place {
    fn place(&mut self) -> (&mut [f32; 3], &mut f32) {
        (&mut self.position, &mut self.yaw)
    }
}

/// An entity that moves: the object with its position, and the live values in the store.
struct Moving<T> {
    object: ObjectRef<T>,
    live: T,
}

impl<T: Moves + Clone> Moving<T> {
    /// Moves the entity, and compares what has changed.
    fn step(&mut self, server: &mut Server) {
        let (position, yaw) = self.live.place();
        position[0] += 0.5;
        *yaw += 0.1;
        server.external().compare(self.object, &self.live).expect("it exists");
    }

    fn x(&self, client: &Client) -> Option<f32> {
        Some(client.get(self.object)?.clone().place().0[0])
    }
}

/// A way to replicate an entity.
trait Entity: Moves + Clone {
    fn register(server: &mut Server, client: &mut Client);
    fn spawn(server: &mut Server, number: usize) -> Moving<Self>;
}

fn place(number: usize) -> Place {
    Place { position: [number as f32, 1.5, -2.0], yaw: 0.25 }
}

impl Entity for Whole {
    fn register(server: &mut Server, client: &mut Client) {
        server.register_external::<Self>();
        client.register::<Self>();
    }

    fn spawn(server: &mut Server, number: usize) -> Moving<Self> {
        let Place { position, yaw } = place(number);
        let live = Self { position, yaw, health: 100, shield: 3, team: 1, name: number as u32 };
        Moving { object: server.external().spawn(&live), live }
    }
}

impl Entity for Place {
    fn register(server: &mut Server, client: &mut Client) {
        server.register_external::<Root>().register_external::<Self>();
        server.register_external::<Life>().register_external::<Badge>();
        client.register::<Root>().register::<Self>().register::<Life>().register::<Badge>();
    }

    fn spawn(server: &mut Server, number: usize) -> Moving<Self> {
        let root = server.external().spawn(&Root {});
        let live = place(number);
        let object = server.external().spawn_subobject(root, &live).expect("the root exists");
        server.external().spawn_subobject(root, &Life { health: 100, shield: 3 });
        server.external().spawn_subobject(root, &Badge { team: 1, name: number as u32 });
        Moving { object, live }
    }
}

/// The measured figures.
struct Figures {
    opening_bytes: usize,
    opening: Duration,
    tick_bytes: usize,
    tick: Duration,
}

fn measure<E: Entity>() -> Figures {
    let mut server = Server::new(ServerConfig {
        congestion_control: repl::CongestionControl::Off,
        ..ServerConfig::default()
    });
    let mut client = Client::new(ClientConfig::default(), Session::for_tests(1));
    E::register(&mut server, &mut client);
    let id = server.connect(Duration::ZERO);
    let mut now = Duration::ZERO;
    let mut exchange = |server: &mut Server, client: &mut Client, work: &mut dyn FnMut(&mut Server)| {
        now += TICK;
        let mut back = Vec::new();
        client.tick(now);
        while let Some(packet) = client.poll_transmit() {
            back.push(packet.to_vec());
        }
        let start = thread_time();
        back.iter().for_each(|packet| server.receive(id, now, packet));
        work(server);
        server.tick(now);
        let mut packets = Vec::new();
        while let Some(packet) = server.poll_transmit(id) {
            packets.push(packet.to_vec());
        }
        let took = thread_time() - start;
        packets.iter().for_each(|packet| client.receive(now, packet).expect("nothing is damaged"));
        while client.poll_event().is_some() {}
        (packets.iter().map(Vec::len).sum::<usize>(), took)
    };
    while !client.is_connected() {
        exchange(&mut server, &mut client, &mut |_| ());
    }
    let mut entities = Vec::new();
    let (mut opening_bytes, mut opening) = exchange(&mut server, &mut client, &mut |server| {
        entities = (0..ENTITIES).map(|number| E::spawn(server, number)).collect();
    });
    for _ in 0..10 {
        let (bytes, took) = exchange(&mut server, &mut client, &mut |_| ());
        (opening_bytes, opening) = (opening_bytes + bytes, opening + took);
    }
    let (mut tick_bytes, mut tick, mut next) = (0, Duration::ZERO, 0);
    for _ in 0..TICKS {
        let (bytes, took) = exchange(&mut server, &mut client, &mut |server| {
            for _ in 0..MOVING {
                entities[next].step(server);
                next = (next + 1) % ENTITIES;
            }
        });
        (tick_bytes, tick) = (tick_bytes + bytes, tick + took);
    }
    for (number, entity) in entities.iter().enumerate() {
        let steps = TICKS * MOVING / ENTITIES;
        assert_eq!(entity.x(&client), Some(number as f32 + steps as f32 * 0.5), "entity {number}");
    }
    Figures { opening_bytes, opening, tick_bytes: tick_bytes / TICKS, tick: tick / TICKS as u32 }
}

fn main() {
    // `cargo test` runs benches too, and then without this argument.
    if !std::env::args().any(|arg| arg == "--bench") {
        return;
    }
    let median = |mut times: Vec<Duration>| {
        times.sort_unstable();
        times[times.len() / 2].as_secs_f64() * 1e6
    };
    let rounds: Vec<_> = (0..ROUNDS).map(|_| (measure::<Whole>(), measure::<Place>())).collect();
    let Some((one, parts)) = rounds.first() else { return };
    let show = |what: &str, bytes: [usize; 2], time: [f64; 2]| {
        println!(
            "{what:<8} one class {} bytes {:.0} µs, root and parts {} bytes {:.0} µs: {:.2} times the bytes, {:.2} times the \
             time",
            bytes[0],
            time[0],
            bytes[1],
            time[1],
            bytes[1] as f64 / bytes[0] as f64,
            time[1] / time[0]
        );
    };
    let opening = |figures: fn(&(Figures, Figures)) -> Duration| median(rounds.iter().map(figures).collect());
    show(
        "opening",
        [one.opening_bytes, parts.opening_bytes],
        [opening(|(one, _)| one.opening), opening(|(_, parts)| parts.opening)],
    );
    show(
        "tick",
        [one.tick_bytes, parts.tick_bytes],
        [opening(|(one, _)| one.tick), opening(|(_, parts)| parts.tick)],
    );
}
