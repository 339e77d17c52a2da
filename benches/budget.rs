//! The cost of choosing which objects are sent first: 10,000 changed objects wait for one connection, and one
//! packet can be sent in each tick. The hand-written candidate does the same work on an array: it computes
//! for how long each object has waited, selects the objects that have waited longest, and encodes them.
//!
//! Also measures the cost of budgets that are too small. A server with 30 connections, which each need 400
//! changes in each tick, is compared with the same server without budgets.
//!
//! *Invariant:* with one packet in a tick, objects wait in every tick, and each tick changes as many objects
//! as it sends. With budgets of 98 and 50 percent, some objects wait in each tick.

#[path = "support/ratios.rs"]
mod ratios;

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::Criterion;
use repl::CongestionControl;
use repl::prelude::*;

use ratios::Side;

const OBJECTS: usize = 10_000;
/// The approximate number of objects that fit into a packet.
const SENT: usize = 180;
const TICK: Duration = Duration::from_millis(16);
/// The budget of one packet in each tick.
const BYTES_PER_SECOND: usize = 75_000;

/// The number of objects that each of the 30 connections sees. All of them change in each tick.
const CROWD_OBJECTS: usize = 400;
const CROWD_CONNECTIONS: u64 = 30;

#[derive(Replicated, Default, Clone, Copy)]
struct Creature {
    #[replicated]
    health: u32,
}

/// A server with one connection. Its budget is too small for all changes.
struct Repl {
    server: Server,
    client: Client,
    connection: ConnectionId,
    creatures: Vec<ObjectRef<Creature>>,
    next: usize,
    now: Duration,
}

impl Repl {
    fn new(has_priorities: bool) -> Self {
        let config = ServerConfig { congestion_control: CongestionControl::Off, ..ServerConfig::default() };
        let mut server = Server::new(config);
        let mut client = Client::new(ClientConfig::default(), Session::for_tests(1));
        client.register::<Creature>();
        let creatures = (0..OBJECTS).map(|_| server.spawn(Creature::default())).collect();
        if has_priorities {
            server
                .class::<Creature>()
                .set_priority_by(|creature: &Creature, _| 1.0 + (creature.health % 4) as f32);
        }
        let connection = server.connect(Duration::ZERO);
        let mut repl = Self { server, client, connection, creatures, next: 0, now: Duration::ZERO };
        while repl.client.objects::<Creature>().count() < OBJECTS {
            repl.tick(0);
        }
        (0..20).for_each(|_| _ = repl.tick(0));
        repl.server.connection(connection).set_budget(BYTES_PER_SECOND);
        repl.tick(OBJECTS);
        (0..20).for_each(|_| _ = repl.tick(SENT));
        let stats = repl.server.connection_info(connection).stats().expect("it is connected");
        assert!(stats.waiting_objects > OBJECTS / 2, "{} objects wait", stats.waiting_objects);
        repl
    }

    /// Changes some objects and returns how long the tick took.
    fn tick(&mut self, changes: usize) -> Duration {
        for _ in 0..changes {
            self.server[self.creatures[self.next]].health += 1;
            self.next = (self.next + 1) % OBJECTS;
        }
        self.now += TICK;
        let start = Instant::now();
        self.server.tick(self.now);
        let elapsed = start.elapsed();
        while let Some(packet) = self.server.poll_transmit(self.connection) {
            self.client.receive(self.now, packet).expect("a packet of the server");
        }
        self.client.tick(self.now);
        while let Some(packet) = self.client.poll_transmit() {
            self.server.receive(self.connection, self.now, packet);
        }
        elapsed
    }
}

/// The hand-written candidate: for each object, the tick since which it waits.
struct Hand {
    since: Vec<u32>,
    values: Vec<u32>,
    order: Vec<u64>,
    frame: u32,
    bytes: Vec<u8>,
}

impl Hand {
    fn new() -> Self {
        let (since, values) = ((0..OBJECTS as u32).collect(), vec![7; OBJECTS]);
        Self { since, values, order: Vec::new(), frame: OBJECTS as u32, bytes: Vec::new() }
    }

    fn tick(&mut self) -> Duration {
        let start = Instant::now();
        self.frame += 1;
        self.order.clear();
        let ages = self.since.iter().map(|since| (self.frame - since) as f32);
        self.order.extend((0_u64..).zip(ages).map(|(slot, age)| u64::from(!age.to_bits()) << 32 | slot));
        self.order.select_nth_unstable(SENT);
        let first = &mut self.order[..SENT];
        first.sort_unstable_by_key(|&rank| rank as u32);
        self.bytes.clear();
        for &rank in &*first {
            let slot = rank as u32 as usize;
            self.since[slot] = self.frame;
            self.bytes.extend((slot as u16).to_le_bytes());
            self.bytes.extend(self.values[slot].to_le_bytes());
        }
        black_box(&self.bytes);
        start.elapsed()
    }
}

/// A server with many connections that all see the same objects.
struct Crowd {
    server: Server,
    clients: Vec<(ConnectionId, Client)>,
    now: Duration,
}

impl Crowd {
    /// `budget` is the budget of each connection, as a part of the bytes that it needs. `None` means no
    /// limit.
    fn new(budget: Option<f64>) -> Self {
        let config = ServerConfig { congestion_control: CongestionControl::Off, ..ServerConfig::default() };
        let mut server = Server::new(config);
        (0..CROWD_OBJECTS).for_each(|_| _ = server.spawn(Creature::default()));
        let clients = (1..=CROWD_CONNECTIONS).map(|nonce| {
            let mut client = Client::new(ClientConfig::default(), Session::for_tests(nonce));
            client.register::<Creature>();
            (server.connect(Duration::ZERO), client)
        });
        let clients = clients.collect();
        let mut crowd = Self { server, clients, now: Duration::ZERO };
        (0..100).for_each(|_| _ = crowd.tick());
        let Some(part) = budget else { return crowd };
        let before = crowd.bytes_sent();
        (0..100).for_each(|_| _ = crowd.tick());
        let wanted = (crowd.bytes_sent() - before) as f64 / (100.0 * TICK.as_secs_f64());
        for (connection, _) in &crowd.clients {
            crowd.server.connection(*connection).set_budget((wanted * part) as usize);
        }
        (0..100).for_each(|_| _ = crowd.tick());
        for (connection, _) in &crowd.clients {
            let stats = crowd.server.connection_info(*connection).stats().expect("it is connected");
            assert!(stats.waiting_objects > 0, "the budget is too small");
        }
        crowd
    }

    /// Returns the bytes that were sent to the first connection.
    fn bytes_sent(&self) -> u64 {
        self.server.connection_info(self.clients[0].0).stats().map_or(0, |stats| stats.bytes_sent)
    }

    /// Changes all objects and returns how long the tick took.
    fn tick(&mut self) -> Duration {
        self.server.objects_mut::<Creature>().for_each(|(_, creature)| creature.health += 1);
        self.now += TICK;
        let start = Instant::now();
        self.server.tick(self.now);
        let elapsed = start.elapsed();
        for (connection, client) in &mut self.clients {
            while let Some(packet) = self.server.poll_transmit(*connection) {
                client.receive(self.now, packet).expect("a packet of the server");
            }
            client.tick(self.now);
            while let Some(packet) = client.poll_transmit() {
                self.server.receive(*connection, self.now, packet);
            }
        }
        elapsed
    }
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let (mut plain, mut weighted, mut hand) = (Repl::new(false), Repl::new(true), Hand::new());
    let sum =
        |count: u64, tick: &mut dyn FnMut() -> Duration| -> Duration { (0..count).map(|_| tick()).sum() };
    let mut group = criterion.benchmark_group("budget/waiting");
    group.sample_size(20).measurement_time(Duration::from_secs(2)).warm_up_time(Duration::from_millis(500));
    group.bench_function("tick", |bencher| bencher.iter_custom(|count| sum(count, &mut || plain.tick(SENT))));
    group.bench_function("tick_with_priorities", |bencher| {
        bencher.iter_custom(|count| sum(count, &mut || weighted.tick(SENT)))
    });
    group.bench_function("hand", |bencher| bencher.iter_custom(|count| sum(count, &mut || hand.tick())));
    group.finish();
    let [mut all, mut most, mut half] = [None, Some(0.98), Some(0.5)].map(Crowd::new);
    let mut group = criterion.benchmark_group("budget/crowd");
    group.sample_size(10).measurement_time(Duration::from_secs(2)).warm_up_time(Duration::from_millis(500));
    group.bench_function("no_budget", |bencher| bencher.iter_custom(|count| sum(count, &mut || all.tick())));
    group
        .bench_function("98_percent", |bencher| bencher.iter_custom(|count| sum(count, &mut || most.tick())));
    group.bench_function("half", |bencher| bencher.iter_custom(|count| sum(count, &mut || half.tick())));
    group.finish();
    criterion.final_summary();
    if ratios::are_wanted() {
        ratios::report(
            "budget/waiting",
            &mut [
                Side::new("tick", None, &mut |count| sum(count, &mut || plain.tick(SENT))),
                Side::new("with_priorities", None, &mut |count| sum(count, &mut || weighted.tick(SENT))),
                Side::new("hand", None, &mut |count| sum(count, &mut || hand.tick())),
            ],
        );
        ratios::report(
            "budget/crowd",
            &mut [
                Side::new("98_percent", None, &mut |count| sum(count, &mut || most.tick())),
                Side::new("half", None, &mut |count| sum(count, &mut || half.tick())),
                Side::new("no_budget", None, &mut |count| sum(count, &mut || all.tick())),
            ],
        );
    }
}
