//! Fast arrays: the cost of one change in arrays of different lengths, for one connection and for many.
//!
//! *Invariant:* after each measured change the client's copy equals the live array. The call that makes the
//! change is measured separately.

#[path = "support/config.rs"]
mod config;
#[path = "support/link.rs"]
mod link;
#[path = "support/ratios.rs"]
mod ratios;

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput};
use repl::prelude::*;

use config::at_once;
use link::Link;
use ratios::{Side, timed};

const LENGTHS: [usize; 4] = [100, 1_000, 10_000, 100_000];
const CROWDS: [usize; 4] = [1, 8, 32, 128];
/// The timeout is longer than any measurement, so no keep-alive packet is sent.
const FOREVER: Duration = Duration::from_secs(1 << 32);
const TICK: Duration = Duration::from_millis(16);

#[derive(Clone, Debug, Default, PartialEq, FastArrayItem)]
struct Item {
    kind: u16,
    count: u16,
    wear: u8,
    #[replicated(skip)]
    price: u32,
}

#[derive(Default, Replicated)]
struct Bag {
    #[replicated]
    items: FastArray<Item>,
}

/// A measured change of an array. A second change, which is not measured, undoes it.
#[derive(Clone, Copy, PartialEq)]
enum Change {
    Edit,
    Push,
    SwapRemove,
    Insert,
    Remove,
}

impl Change {
    const ALL: [Self; 5] = [Self::Edit, Self::Push, Self::SwapRemove, Self::Insert, Self::Remove];

    fn name(self) -> &'static str {
        match self {
            Self::Edit => "edit",
            Self::Push => "push",
            Self::SwapRemove => "swap_remove",
            Self::Insert => "insert",
            Self::Remove => "remove",
        }
    }

    fn apply(self, items: &mut FastArray<Item>, at: usize) {
        match self {
            Self::Edit => items[at].count ^= 1,
            Self::Push => _ = items.push(Item::default()),
            Self::SwapRemove => drop(items.swap_remove(at)),
            Self::Insert => _ = items.insert(at, Item::default()),
            Self::Remove => drop(items.remove(at)),
        }
    }

    fn apply_to_vec(self, items: &mut Vec<Item>, at: usize) {
        match self {
            Self::Edit => items[at].count ^= 1,
            Self::Push => items.push(Item::default()),
            Self::SwapRemove => drop(items.swap_remove(at)),
            Self::Insert => items.insert(at, Item::default()),
            Self::Remove => drop(items.remove(at)),
        }
    }

    /// Returns the change that restores the length, if this change alters it.
    fn undo(self) -> Option<Self> {
        match self {
            Self::Edit => None,
            Self::Push | Self::Insert => Some(Self::SwapRemove),
            Self::SwapRemove | Self::Remove => Some(Self::Push),
        }
    }
}

/// Positions that look random and are the same in every run.
struct Places(u64);

impl Places {
    fn below(&mut self, len: usize) -> usize {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        ((self.0 >> 33) as usize) % len
    }
}

/// A live array and its copy on the client, and the position of the next change.
struct Pair {
    link: Link<Bag>,
    /// If set, an array that is moved in memory before each update is built. So the caches are in the same
    /// state as after a move of the measured array.
    moved: Option<Vec<Item>>,
    places: Places,
}

impl Pair {
    fn new(len: usize) -> Self {
        let items = (0..len).map(|at| Item { kind: at as u16, ..Item::default() }).collect();
        Self { link: Link::new(Bag { items }), moved: None, places: Places(len as u64) }
    }

    /// Returns the time of building and applying the updates of `count` changes, one after another.
    fn deltas(&mut self, change: Change, count: u64) -> Duration {
        let mut elapsed = Duration::ZERO;
        let Self { link, moved, places } = self;
        for _ in 0..count {
            let at = places.below(link.live.items.len());
            change.apply(&mut link.live.items, at);
            if let Some(moved) = moved {
                let at = places.below(moved.len());
                change.apply_to_vec(moved, at);
                change.undo().into_iter().for_each(|undo| undo.apply_to_vec(moved, at));
            }
            let start = Instant::now();
            link.build();
            link.apply();
            elapsed += start.elapsed();
            if let Some(undo) = change.undo() {
                let at = places.below(link.live.items.len());
                undo.apply(&mut link.live.items, at);
                link.build();
                link.apply();
            }
        }
        elapsed
    }

    /// Returns how many bytes the update of one such change takes, rounded up.
    fn bytes(&mut self, change: Change) -> u64 {
        let link = &mut self.link;
        let at = link.live.items.len() * 2 / 3;
        change.apply(&mut link.live.items, at);
        link.build();
        link.apply();
        link.bytes()
    }

    fn check(&self) {
        let sorted = |bag: &Bag| {
            let ids = bag.items.ids().iter().copied();
            let mut items: Vec<_> = ids.zip(bag.items.iter().map(|item| (item.kind, item.count))).collect();
            items.sort_unstable();
            items
        };
        assert_eq!(sorted(&self.link.live), sorted(&self.link.replica));
    }
}

/// Returns the time of `count` calls that change a fast array, or a `Vec` if `is_fast` is false.
fn changes(len: usize, change: Change, count: u64, is_fast: bool) -> Duration {
    let items = || (0..len).map(|at| Item { kind: at as u16, ..Item::default() });
    let (mut fast, mut vec, mut places) =
        (items().collect::<FastArray<_>>(), items().collect::<Vec<_>>(), Places(7));
    // Without spare capacity, the first new item would move all others in memory. In a measurement of few
    // changes, this move would be most of the time.
    fast.reserve(1);
    vec.reserve(1);
    timed(count, || {
        let at = places.below(len - 1);
        if is_fast {
            change.apply(&mut fast, at)
        } else {
            change.apply_to_vec(&mut vec, at)
        }
        if let Some(undo) = change.undo() {
            if is_fast { undo.apply(&mut fast, at) } else { undo.apply_to_vec(&mut vec, at) }
        }
    })
}

/// A server with one array, and connections that have it. One client answers for all connections.
struct Crowd {
    server: Server,
    bag: ObjectRef<Bag>,
    connections: Vec<ConnectionId>,
    client: Client,
    now: Duration,
    places: Places,
}

impl Crowd {
    fn new(len: usize, connections: usize) -> Self {
        let mut server = Server::new(ServerConfig { timeout: FOREVER, ..at_once() });
        let items = (0..len).map(|at| Item { kind: at as u16, ..Item::default() }).collect();
        let bag = server.spawn(Bag { items });
        let connections = (0..connections).map(|_| server.connect(Duration::ZERO)).collect();
        let mut client =
            Client::new(ClientConfig { timeout: FOREVER, ..ClientConfig::default() }, Session::for_tests(7));
        client.register::<Bag>();
        let mut crowd = Self { server, bag, connections, client, now: TICK, places: Places(3) };
        for _ in 0..200 {
            crowd.tick();
        }
        crowd.check();
        crowd
    }

    /// Runs one tick and delivers the client's answers. Returns the time of the server, and the bytes for one
    /// client.
    fn tick(&mut self) -> (Duration, u64) {
        let Self { server, connections, client, now, .. } = self;
        *now += TICK;
        let (mut packets, start) = (Vec::new(), Instant::now());
        server.tick(*now);
        for (at, connection) in connections.iter().enumerate() {
            while let Some(packet) = server.poll_transmit(*connection) {
                if at == 0 {
                    packets.push(black_box(packet).to_vec());
                }
            }
        }
        let sending = start.elapsed();
        packets.iter().for_each(|packet| client.receive(*now, packet).expect("a packet of the server"));
        client.tick(*now);
        let start = Instant::now();
        while let Some(answer) = client.poll_transmit() {
            connections.iter().for_each(|connection| server.receive(*connection, *now, answer));
        }
        (sending + start.elapsed(), packets.iter().map(|packet| packet.len() as u64).sum())
    }

    /// Returns the time of `count` ticks with `edits` changes each.
    fn ticks(&mut self, edits: usize, count: u64) -> Duration {
        let mut elapsed = Duration::ZERO;
        for _ in 0..count {
            let items = &mut self.server[self.bag].items;
            let stride = items.len() / edits;
            let first = self.places.below(stride);
            (0..edits).for_each(|at| items[first + at * stride].count ^= 1);
            elapsed += self.tick().0;
        }
        elapsed
    }

    fn check(&self) {
        let held = self.client.get(self.bag).expect("the client has it");
        assert_eq!(held.items.len(), self.server[self.bag].items.len());
    }
}

fn deltas(criterion: &mut Criterion) {
    for change in Change::ALL {
        let mut group = criterion.benchmark_group(format!("fast_array/{}", change.name()));
        group
            .sample_size(20)
            .measurement_time(Duration::from_secs(1))
            .warm_up_time(Duration::from_millis(300));
        for len in LENGTHS {
            let mut pair = Pair::new(len);
            group.throughput(Throughput::Bytes(pair.bytes(change)));
            group.bench_function(BenchmarkId::new("delta", len), |bencher| {
                bencher.iter_custom(|count| pair.deltas(change, count));
            });
            pair.check();
        }
        group.finish();
    }
}

fn crowds(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("fast_array/crowd");
    group.sample_size(20).measurement_time(Duration::from_secs(1)).warm_up_time(Duration::from_millis(300));
    for connections in CROWDS {
        let mut crowd = Crowd::new(10_000, connections);
        group.throughput(Throughput::Elements(connections as u64));
        group.bench_function(BenchmarkId::new("one_change", connections), |bencher| {
            bencher.iter_custom(|count| crowd.ticks(1, count));
        });
        crowd.check();
    }
    group.finish();
}

fn print_ratios() {
    for change in Change::ALL {
        let mut pairs: Vec<_> = LENGTHS.iter().rev().map(|&len| Pair::new(len)).collect();
        let bytes: Vec<_> = pairs.iter_mut().map(|pair| pair.bytes(change)).collect();
        let [most, more, less, least] = &mut pairs[..] else { return };
        ratios::report(
            &format!("delta of {}", change.name()),
            &mut [
                Side::new("100,000", Some(bytes[0]), &mut |count| most.deltas(change, count)),
                Side::new("100", Some(bytes[3]), &mut |count| least.deltas(change, count)),
                Side::new("1,000", Some(bytes[2]), &mut |count| less.deltas(change, count)),
                Side::new("10,000", Some(bytes[1]), &mut |count| more.deltas(change, count)),
            ],
        );
        ratios::report(
            &format!("{} itself at 100,000", change.name()),
            &mut [
                Side::new("array", None, &mut |count| changes(100_000, change, count, true)),
                Side::new("vec", None, &mut |count| changes(100_000, change, count, false)),
            ],
        );
    }
    for change in [Change::Insert, Change::Remove] {
        let (mut most, mut least) = (Pair::new(100_000), Pair::new(100));
        least.moved = Some(vec![Item::default(); 100_000]);
        ratios::report(
            &format!("delta of {} after a move", change.name()),
            &mut [
                Side::new("100,000", None, &mut |count| most.deltas(change, count)),
                Side::new("100", None, &mut |count| least.deltas(change, count)),
            ],
        );
    }
    let mut crowds: Vec<_> = CROWDS.iter().map(|&connections| Crowd::new(10_000, connections)).collect();
    let [one, eight, many, most] = &mut crowds[..] else { return };
    ratios::report(
        "one change of 10,000",
        &mut [
            Side::new("1 client", None, &mut |count| one.ticks(1, count)),
            Side::new("8", None, &mut |count| eight.ticks(1, count)),
            Side::new("32", None, &mut |count| many.ticks(1, count)),
            Side::new("128", None, &mut |count| most.ticks(1, count)),
        ],
    );
    let (mut small, mut large) = (Crowd::new(10_000, 1), Crowd::new(10_000, 32));
    ratios::report(
        "1,000 changes of 10,000",
        &mut [
            Side::new("1 client", None, &mut |count| small.ticks(1_000, count)),
            Side::new("32", None, &mut |count| large.ticks(1_000, count)),
        ],
    );
    let (mut small, mut large) = (Crowd::new(10_000, 1), Crowd::new(160_000, 1));
    ratios::report(
        "all change, for 1,000 of them",
        &mut [
            Side::new("of 160,000", None, &mut |count| large.ticks(160_000, count) / 160),
            Side::new("of 10,000", None, &mut |count| small.ticks(10_000, count) / 10),
        ],
    );
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    deltas(&mut criterion);
    crowds(&mut criterion);
    criterion.final_summary();
    if ratios::are_wanted() {
        print_ratios();
    }
}
