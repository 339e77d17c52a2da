//! One change among 10,000: of an item of a fast array, of an entry of a map, and of an object. Measures a
//! whole tick of the server with its clients' acks, and the work of one client.
//!
//! *Invariant:* every packet is received before the next change, and in the end the client equals the server.

#[path = "support/config.rs"]
mod config;
#[path = "support/ratios.rs"]
mod ratios;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion};
use repl::Property;
use repl::prelude::*;

use config::at_once;
use ratios::Side;

const LEN: u32 = 10_000;
const CONNECTIONS: [usize; 2] = [1, 32];
const TICK: Duration = Duration::from_millis(16);
/// A timeout that is longer than any measurement.
const FOREVER: Duration = Duration::from_secs(1 << 32);

/// The same fields as the item of an array, as the value of a map's entry, and as an object.
#[derive(Clone, Debug, Default, PartialEq, FastArrayItem)]
struct Item {
    kind: u16,
    count: u16,
    wear: u8,
}

#[derive(Clone, Debug, Default, PartialEq, Replicated)]
#[replicated(all)]
struct Object {
    kind: u16,
    count: u16,
    wear: u8,
}

/// A container with 10,000 parts, or a set of 10,000 objects. One part changes at a time.
trait Whole: Sized {
    fn spawn(server: &mut Server) -> Self;
    fn register(client: &mut Client);
    /// Changes the part `index`.
    fn change(&self, server: &mut Server, index: u32);
    fn assert_same(&self, server: &Server, client: &Client);
}

/// A container of [`LEN`] parts, which is a property of one object, the [`Holder`].
trait Container: Default + PartialEq + Property + Send + Sync {
    fn full() -> Self;
    fn change(&mut self, index: u32);
}

fn nth(index: u32) -> Item {
    Item { kind: index as u16, ..Item::default() }
}

impl Container for FastArray<Item> {
    fn full() -> Self {
        (0..LEN).map(nth).collect()
    }

    fn change(&mut self, index: u32) {
        self[index as usize].count += 1;
    }
}

impl Container for ReplicatedMap<u32, Item> {
    fn full() -> Self {
        (0..LEN).map(|key| (key, nth(key))).collect()
    }

    fn change(&mut self, index: u32) {
        self.get_mut(&index).expect("an entry").count += 1;
    }
}

impl Container for HashMap<u32, Item> {
    fn full() -> Self {
        (0..LEN).map(|key| (key, nth(key))).collect()
    }

    fn change(&mut self, index: u32) {
        self.get_mut(&index).expect("an entry").count += 1;
    }
}

#[derive(Default, Replicated)]
struct Holder<C: Container> {
    #[replicated]
    parts: C,
}

impl<C: Container> Whole for ObjectRef<Holder<C>> {
    fn spawn(server: &mut Server) -> Self {
        server.spawn(Holder { parts: C::full() })
    }

    fn register(client: &mut Client) {
        client.register::<Holder<C>>();
    }

    fn change(&self, server: &mut Server, index: u32) {
        server[*self].parts.change(index);
    }

    fn assert_same(&self, server: &Server, client: &Client) {
        assert!(client[*self].parts == server[*self].parts, "the client has what the server has");
    }
}

impl Whole for Vec<ObjectRef<Object>> {
    fn spawn(server: &mut Server) -> Self {
        (0..LEN).map(|index| server.spawn(Object { kind: index as u16, ..Object::default() })).collect()
    }

    fn register(client: &mut Client) {
        client.register::<Object>();
    }

    fn change(&self, server: &mut Server, index: u32) {
        server[self[index as usize]].count += 1;
    }

    fn assert_same(&self, server: &Server, client: &Client) {
        assert!(
            self.iter().all(|object| client[*object] == server[*object]),
            "the client has what the server has"
        );
    }
}

/// A server, its connections, and one client that answers for all of them, because all receive the same.
struct Scene<W> {
    server: Server,
    whole: W,
    connections: Vec<ConnectionId>,
    client: Client,
    now: Duration,
    next: u32,
    packets: Vec<Vec<u8>>,
}

impl<W: Whole> Scene<W> {
    fn new(connections: usize) -> Self {
        let mut server = Server::new(ServerConfig { timeout: FOREVER, ..at_once() });
        let whole = W::spawn(&mut server);
        let mut client =
            Client::new(ClientConfig { timeout: FOREVER, ..ClientConfig::default() }, Session::for_tests(1));
        W::register(&mut client);
        let connections = (0..connections).map(|_| server.connect(Duration::ZERO)).collect();
        let (now, next, packets) = (TICK, 0, Vec::new());
        let mut scene = Self { server, whole, connections, client, now, next, packets };
        for _ in 0..100 {
            scene.client();
            scene.send();
        }
        scene.updates(64);
        scene
    }

    /// Changes a part. Each call changes another part.
    fn change(&mut self) {
        self.next = (self.next + 7_919) % LEN;
        self.whole.change(&mut self.server, self.next);
    }

    /// Runs a tick of the server. Stores the packets of the first connection.
    fn send(&mut self) {
        self.now += TICK;
        self.server.tick(self.now);
        for (at, connection) in self.connections.iter().enumerate() {
            while let Some(packet) = self.server.poll_transmit(*connection) {
                if at == 0 {
                    self.packets.push(packet.to_vec());
                }
            }
        }
    }

    /// Lets the client receive the packets, and answers for all connections. Returns how long the client took
    /// and how long the server took to receive the answers.
    fn client(&mut self) -> (Duration, Duration) {
        let start = Instant::now();
        for packet in self.packets.drain(..) {
            self.client.receive(self.now, &packet).expect("a packet of the server");
        }
        self.client.tick(self.now);
        let mut answers = Vec::new();
        while let Some(answer) = self.client.poll_transmit() {
            answers.push(answer.to_vec());
        }
        let client = start.elapsed();
        let start = Instant::now();
        for connection in &self.connections {
            answers.iter().for_each(|answer| self.server.receive(*connection, self.now, answer));
        }
        (client, start.elapsed())
    }

    /// Runs `count` ticks with one change each. Returns the time of the server and the time of the client.
    fn updates(&mut self, count: u64) -> (Duration, Duration) {
        let (mut server, mut client) = (Duration::ZERO, Duration::ZERO);
        for _ in 0..count {
            let start = Instant::now();
            self.change();
            self.send();
            server += start.elapsed();
            let (received, acknowledged) = self.client();
            (server, client) = (server + acknowledged, client + received);
        }
        self.whole.assert_same(&self.server, &self.client);
        (server, client)
    }

    /// Returns the bytes of the packets of one change to one client.
    fn bytes(&mut self) -> u64 {
        self.change();
        self.send();
        let bytes = self.packets.iter().map(|packet| packet.len() as u64).sum();
        self.client();
        bytes
    }
}

type Array = ObjectRef<Holder<FastArray<Item>>>;
type Recorded = ObjectRef<Holder<ReplicatedMap<u32, Item>>>;
type Plain = ObjectRef<Holder<HashMap<u32, Item>>>;
type Objects = Vec<ObjectRef<Object>>;

fn bench<W: Whole>(criterion: &mut Criterion, name: &str) {
    let mut group = criterion.benchmark_group(format!("containers/{name}"));
    group.sample_size(20).measurement_time(Duration::from_secs(1)).warm_up_time(Duration::from_millis(300));
    for connections in CONNECTIONS {
        let mut scene = Scene::<W>::new(connections);
        group.bench_function(BenchmarkId::new("server", connections), |bencher| {
            bencher.iter_custom(|count| scene.updates(count).0);
        });
    }
    let mut scene = Scene::<W>::new(1);
    group.bench_function("client", |bencher| bencher.iter_custom(|count| scene.updates(count).1));
    group.finish();
}

fn print_ratios() {
    for connections in CONNECTIONS {
        let (mut array, mut recorded) =
            (Scene::<Array>::new(connections), Scene::<Recorded>::new(connections));
        let (mut objects, mut plain) = (Scene::<Objects>::new(connections), Scene::<Plain>::new(connections));
        let bytes = [array.bytes(), recorded.bytes(), objects.bytes(), plain.bytes()].map(Some);
        ratios::report(
            &format!("one of {LEN}, server × {connections}"),
            &mut [
                Side::new("ReplicatedMap", bytes[1], &mut |count| recorded.updates(count).0),
                Side::new("FastArray", bytes[0], &mut |count| array.updates(count).0),
                Side::new("objects", bytes[2], &mut |count| objects.updates(count).0),
                Side::new("HashMap", bytes[3], &mut |count| plain.updates(count).0),
            ],
        );
        ratios::report(
            &format!("one of {LEN}, client of {connections}"),
            &mut [
                Side::new("ReplicatedMap", bytes[1], &mut |count| recorded.updates(count).1),
                Side::new("FastArray", bytes[0], &mut |count| array.updates(count).1),
                Side::new("objects", bytes[2], &mut |count| objects.updates(count).1),
                Side::new("HashMap", bytes[3], &mut |count| plain.updates(count).1),
            ],
        );
    }
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    bench::<Array>(&mut criterion, "FastArray");
    bench::<Recorded>(&mut criterion, "ReplicatedMap");
    bench::<Objects>(&mut criterion, "objects");
    bench::<Plain>(&mut criterion, "HashMap");
    criterion.final_summary();
    if ratios::are_wanted() {
        print_ratios();
    }
}
