//! Maps: the cost of one changed entry, and the cost of sending all entries to a new client, both compared
//! with the same entries in a fast array.
//!
//! A map of the standard library does not know which entries were written to, so each comparison looks at all
//! of them. The comparisons of a `ReplicatedMap` and of a fast array look at the changed entry only.
//!
//! *Invariant:* after each measured change the client equals the server.

#[path = "support/config.rs"]
mod config;
#[path = "support/link.rs"]
mod link;
#[path = "support/ratios.rs"]
mod ratios;

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput};
use repl::Property;
use repl::prelude::*;

use config::at_once;
use link::Link;
use ratios::Side;

const LENGTHS: [u32; 3] = [100, 1_000, 10_000];
const TICK: Duration = Duration::from_millis(16);

#[derive(Clone, Debug, Default, PartialEq, FastArrayItem)]
struct Item {
    kind: u16,
    count: u16,
    wear: u8,
}

/// A container of the entries.
trait Store: Send + Sync + Property + PartialEq {
    const NAME: &'static str;

    fn of(len: u32) -> Self;

    /// Changes the value of the entry with the key `key`, or of the item at that index.
    fn change(&mut self, key: u32);
}

fn entries(len: u32) -> impl Iterator<Item = (u32, Item)> {
    (0..len).map(|key| (key, Item { kind: key as u16, ..Item::default() }))
}

macro_rules! map {
    ($type:ty, $name:literal) => {
        impl Store for $type {
            const NAME: &'static str = $name;

            fn of(len: u32) -> Self {
                entries(len).collect()
            }

            fn change(&mut self, key: u32) {
                self.get_mut(&key).expect("an entry").count ^= 1;
            }
        }
    };
}

map!(HashMap<u32, Item>, "HashMap");
map!(BTreeMap<u32, Item>, "BTreeMap");
map!(ReplicatedMap<u32, Item>, "ReplicatedMap");

impl Store for FastArray<Item> {
    const NAME: &'static str = "FastArray";

    fn of(len: u32) -> Self {
        entries(len).map(|(_, item)| item).collect()
    }

    fn change(&mut self, key: u32) {
        self[key as usize].count ^= 1;
    }
}

#[derive(Default, Replicated)]
struct Board<S: Store + Default> {
    #[replicated]
    entries: S,
}

/// One container on both sides. One entry changes at a time.
struct Changing<S: Store + Default> {
    link: Link<Board<S>>,
    len: u32,
    next: u32,
}

impl<S: Store + Default> Changing<S> {
    fn new(len: u32) -> Self {
        Self { link: Link::new(Board { entries: S::of(len) }), len, next: 0 }
    }

    /// Changes an entry. Each call changes another entry.
    fn change(&mut self) {
        self.next = (self.next + 7_919) % self.len;
        self.link.live.entries.change(self.next);
    }

    /// Returns the time of building and applying the updates of `count` changes.
    fn updates(&mut self, count: u64) -> Duration {
        let mut elapsed = Duration::ZERO;
        for _ in 0..count {
            self.change();
            let start = Instant::now();
            self.link.build();
            self.link.apply();
            elapsed += start.elapsed();
        }
        assert!(self.link.live.entries == self.link.replica.entries, "the replica has what is live");
        elapsed
    }

    /// Returns the bytes of one update.
    fn bytes(&mut self) -> u64 {
        self.updates(1);
        self.link.bytes()
    }
}

/// A server with one container, and clients that join and leave.
struct Opening<S: Store + Default> {
    server: Server,
    board: ObjectRef<Board<S>>,
    now: Duration,
}

impl<S: Store + Default> Opening<S> {
    fn new(len: u32) -> Self {
        let mut server = Server::new(at_once());
        let board = server.spawn(Board { entries: S::of(len) });
        Self { server, board, now: TICK }
    }

    /// Returns how long the server and the client worked together until a new client had everything and the
    /// server had its ack. Also returns how many bytes of state were sent.
    fn join(&mut self) -> (Duration, u64) {
        let start = Instant::now();
        let Self { server, now, .. } = self;
        let id = server.connect(*now);
        let mut client = Client::new(ClientConfig::default(), Session::for_tests(7));
        client.register::<Board<S>>();
        let mut bytes = 0;
        for tick in 0.. {
            assert!(tick < 100, "there is no end of it");
            *now += TICK;
            client.tick(*now);
            while let Some(packet) = client.poll_transmit() {
                server.receive(id, *now, packet);
            }
            if tick > 1
                && server.connection_info(id).stats().is_some_and(|stats| stats.packets_in_flight == 0)
            {
                break;
            }
            server.tick(*now);
            while let Some(packet) = server.poll_transmit(id) {
                bytes += packet.len() as u64;
                client.receive(*now, packet).expect("a packet of the server");
            }
        }
        let elapsed = start.elapsed();
        let here = client.get(self.board).expect("the client has it");
        assert!(here.entries == self.server[self.board].entries, "the client has what the server has");
        self.leave(id);
        (elapsed, bytes)
    }

    /// Closes the connection of a client, and removes the client from the server.
    fn leave(&mut self, id: ConnectionId) {
        self.server.connection(id).disconnect();
        self.now += ServerConfig::default().timeout * 2;
        self.server.tick(self.now);
        while self.server.poll_event().is_some() {}
    }

    fn joins(&mut self, count: u64) -> Duration {
        (0..count).map(|_| self.join().0).sum()
    }
}

fn bench<S: Store + Default>(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group(format!("maps/{}", S::NAME));
    group.sample_size(20).measurement_time(Duration::from_secs(1)).warm_up_time(Duration::from_millis(300));
    for len in LENGTHS {
        let mut changing = Changing::<S>::new(len);
        group.throughput(Throughput::Bytes(changing.bytes()));
        group.bench_function(BenchmarkId::new("change", len), |bencher| {
            bencher.iter_custom(|count| changing.updates(count));
        });
    }
    let mut opening = Opening::<S>::new(10_000);
    group.throughput(Throughput::Bytes(opening.join().1));
    group.bench_function(BenchmarkId::new("opening", 10_000), |bencher| {
        bencher.iter_custom(|count| opening.joins(count));
    });
    group.finish();
}

fn print_ratios() {
    for len in LENGTHS {
        let (mut array, mut recorded) =
            (Changing::<FastArray<Item>>::new(len), Changing::<ReplicatedMap<u32, Item>>::new(len));
        let (mut hash, mut tree) =
            (Changing::<HashMap<u32, Item>>::new(len), Changing::<BTreeMap<u32, Item>>::new(len));
        let bytes = [array.bytes(), hash.bytes(), tree.bytes(), recorded.bytes()].map(Some);
        ratios::report(
            &format!("one change of {len}"),
            &mut [
                Side::new("ReplicatedMap", bytes[3], &mut |count| recorded.updates(count)),
                Side::new("HashMap", bytes[1], &mut |count| hash.updates(count)),
                Side::new("BTreeMap", bytes[2], &mut |count| tree.updates(count)),
                Side::new("FastArray", bytes[0], &mut |count| array.updates(count)),
            ],
        );
    }
    let (mut array, mut recorded) =
        (Opening::<FastArray<Item>>::new(10_000), Opening::<ReplicatedMap<u32, Item>>::new(10_000));
    let (mut hash, mut tree) =
        (Opening::<HashMap<u32, Item>>::new(10_000), Opening::<BTreeMap<u32, Item>>::new(10_000));
    let bytes = [array.join().1, hash.join().1, tree.join().1, recorded.join().1].map(Some);
    ratios::report(
        "opening of 10000",
        &mut [
            Side::new("ReplicatedMap", bytes[3], &mut |count| recorded.joins(count)),
            Side::new("HashMap", bytes[1], &mut |count| hash.joins(count)),
            Side::new("BTreeMap", bytes[2], &mut |count| tree.joins(count)),
            Side::new("FastArray", bytes[0], &mut |count| array.joins(count)),
        ],
    );
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    bench::<HashMap<u32, Item>>(&mut criterion);
    bench::<BTreeMap<u32, Item>>(&mut criterion);
    bench::<ReplicatedMap<u32, Item>>(&mut criterion);
    bench::<FastArray<Item>>(&mut criterion);
    criterion.final_summary();
    if ratios::are_wanted() {
        print_ratios();
    }
}
