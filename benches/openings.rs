//! Openings (the updates that create objects): the cost of sending a long map or array to clients that join.
//!
//! *Invariant:* only the server's work is measured, from the tick that accepts the clients until each has
//! everything. Each run checks the result.

#[path = "support/config.rs"]
mod config;
#[path = "support/ratios.rs"]
mod ratios;

use std::collections::{BTreeMap, HashMap};
use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput};
use repl::prelude::*;

use config::at_once;
use ratios::{Side, timed};

const LENGTHS: [u32; 3] = [1_000, 10_000, 50_000];
const TICK: Duration = Duration::from_millis(16);
/// The greatest number of ticks until everything has arrived.
const MAX_TICKS: usize = 20;

#[derive(Clone, Debug, Default, PartialEq, FastArrayItem)]
struct Item {
    kind: u32,
    count: u16,
}

/// The container that a client receives.
trait Long: Replicated {
    fn of(len: u32) -> Self;
    fn len(&self) -> usize;
}

macro_rules! long {
    ($name:ident, $type:ty, |$number:ident| $entry:expr) => {
        #[derive(Default, Replicated)]
        struct $name {
            #[replicated]
            items: $type,
        }

        impl Long for $name {
            fn of(len: u32) -> Self {
                Self { items: (0..len).map(|$number| $entry).collect() }
            }
            fn len(&self) -> usize {
                self.items.len()
            }
        }
    };
}

long!(Hashed, HashMap<u32, u32>, |number| (number, number));
long!(Sorted, BTreeMap<u32, Item>, |number| (number, Item { kind: number, count: 1 }));
long!(Listed, FastArray<Item>, |number| Item { kind: number, count: 1 });

/// A server with one long object.
struct Host<T> {
    server: Server,
    object: ObjectRef<T>,
    now: Duration,
    len: usize,
}

impl<T: Long> Host<T> {
    fn new(len: u32) -> Self {
        let mut server = Server::new(at_once());
        let object = server.spawn(T::of(len));
        server.tick(Duration::ZERO);
        Self { server, object, now: TICK, len: len as usize }
    }

    /// Returns the server's time for accepting `clients` clients and sending them everything. The time in
    /// which the clients leave is not measured.
    fn open(&mut self, clients: usize) -> Duration {
        let mut guests: Vec<(Client, ConnectionId)> = (0..clients).map(|_| self.enter()).collect();
        let mut elapsed = Duration::ZERO;
        for _ in 0..MAX_TICKS {
            elapsed += self.step(&mut guests);
            if guests
                .iter()
                .all(|(client, _)| client.get(self.object).is_some_and(|held| held.len() == self.len))
            {
                self.leave(&guests);
                return elapsed;
            }
        }
        panic!("not all of {} items arrived", self.len);
    }

    fn enter(&mut self) -> (Client, ConnectionId) {
        let mut client = Client::new(ClientConfig::default(), Session::for_tests(1));
        client.register::<T>();
        (client, self.server.connect(self.now))
    }

    fn step(&mut self, guests: &mut [(Client, ConnectionId)]) -> Duration {
        self.now += TICK;
        let Self { server, now, .. } = self;
        let mut elapsed = Duration::ZERO;
        for (client, connection) in guests.iter_mut() {
            client.tick(*now);
            while let Some(answer) = client.poll_transmit() {
                elapsed += timed(1, || server.receive(*connection, *now, answer));
            }
        }
        elapsed += timed(1, || server.tick(*now));
        for (client, connection) in guests {
            while let Some(packet) = server.poll_transmit(*connection) {
                client.receive(*now, black_box(packet)).expect("a packet of the server");
            }
        }
        elapsed
    }

    fn leave(&mut self, guests: &[(Client, ConnectionId)]) {
        guests.iter().for_each(|(_, connection)| self.server.connection(*connection).disconnect());
        self.now += ServerConfig::default().timeout * 2;
        self.server.tick(self.now);
        while self.server.poll_event().is_some() {}
    }

    /// Returns the time of `count` joins of `clients` clients, divided down to one client and 1,000 items.
    fn opens(&mut self, clients: usize, count: u64) -> Duration {
        let elapsed: Duration = (0..count).map(|_| self.open(clients)).sum();
        elapsed * 1_000 / (self.len * clients) as u32
    }
}

fn openings<T: Long>(criterion: &mut Criterion, name: &str) {
    let mut group = criterion.benchmark_group(format!("openings/{name}"));
    group.sample_size(10).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
    for len in LENGTHS {
        let mut host = Host::<T>::new(len);
        group.throughput(Throughput::Elements(len.into()));
        group.bench_function(BenchmarkId::from_parameter(len), |bencher| {
            bencher.iter_custom(|count| (0..count).map(|_| host.open(1)).sum());
        });
    }
    group.finish();
}

fn print_ratios<T: Long>(name: &str) {
    let (mut short, mut long) = (Host::<T>::new(1_000), Host::<T>::new(50_000));
    ratios::report(
        &format!("{name}, for 1,000 items"),
        &mut [
            Side::new("of 50,000", None, &mut |count| long.opens(1, count)),
            Side::new("of 1,000", None, &mut |count| short.opens(1, count)),
        ],
    );
    let (mut alone, mut crowd) = (Host::<T>::new(10_000), Host::<T>::new(10_000));
    ratios::report(
        &format!("{name}, of 10,000, to each"),
        &mut [
            Side::new("of 8 clients", None, &mut |count| crowd.opens(8, count)),
            Side::new("of 1", None, &mut |count| alone.opens(1, count)),
        ],
    );
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    openings::<Hashed>(&mut criterion, "hash_map");
    openings::<Sorted>(&mut criterion, "btree_map");
    openings::<Listed>(&mut criterion, "fast_array");
    criterion.final_summary();
    if ratios::are_wanted() {
        print_ratios::<Hashed>("HashMap");
        print_ratios::<Sorted>("BTreeMap");
        print_ratios::<Listed>("FastArray");
    }
}
