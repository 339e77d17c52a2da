//! Properties that are sent as differences: what it costs to compare an unchanged value, to make a
//! difference, and to send it to many clients. The same values without `delta`, and whole values, are
//! the baselines.
//!
//! *Invariant:* each difference that is measured makes the new value of the old one.

#[path = "support/config.rs"]
mod config;
#[path = "support/ratios.rs"]
mod ratios;

use std::fmt::Debug;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion};
use repl::__private::{Delta, ListDelta, TextDelta};
use repl::NoObjects;
use repl::prelude::*;
use repl::sim::Rng;
use repl::tools::{Changelist, Class, Scratch};

use config::at_once;
use ratios::{Side, timed};

const LENGTHS: [usize; 2] = [100, 100_000];
const CONNECTIONS: [usize; 2] = [1, 32];
/// The length of the text that is sent to clients.
const TEXT: usize = 10_000;
const TICK: Duration = Duration::from_millis(16);
/// A timeout that is longer than any measurement.
const FOREVER: Duration = Duration::from_secs(1 << 32);

type Text = TextDelta<200_000>;
type List = ListDelta<200_000>;

#[derive(Default, Replicated)]
struct PlainPage {
    #[replicated(max_len = 200_000)]
    value: String,
}

#[derive(Default, Replicated)]
struct PlainNumbers {
    #[replicated(max_len = 200_000)]
    value: Vec<u32>,
}

#[derive(Default, Replicated)]
struct Page {
    #[replicated(delta, max_len = 200_000)]
    value: String,
}

#[derive(Default, Replicated)]
struct Numbers {
    #[replicated(delta, max_len = 200_000)]
    value: Vec<u32>,
}

/// A text or a list.
trait Sequence: repl::Property + NetSerialize + Clone + Debug + Default + PartialEq + Send + Sync {
    const NAME: &'static str;
    type Form: Delta<Self, State = Self>;
    /// An object with the value as a property with `delta`.
    type WithDelta: Replicated;
    /// An object with the value as a property without `delta`.
    type Plain: Replicated;

    fn random(len: usize, rng: &mut Rng) -> Self;
    fn with_delta(value: Self) -> Self::WithDelta;
    fn plain(value: Self) -> Self::Plain;
    fn insert_in_the_middle(&mut self, rng: &mut Rng);
    fn replace_a_tenth(&mut self, rng: &mut Rng);
    fn shuffle(&mut self, rng: &mut Rng);
}

/// Replaces a tenth of the units at random places.
fn replace_a_tenth<T>(units: &mut [T], rng: &mut Rng, unit: fn(&mut Rng) -> T) {
    for _ in 0..units.len() / 10 {
        let at = rng.below(units.len() as u64) as usize;
        units[at] = unit(rng);
    }
}

fn letter(rng: &mut Rng) -> u8 {
    b'a' + rng.below(26) as u8
}

fn number(rng: &mut Rng) -> u32 {
    rng.next_u64() as u32
}

impl Sequence for String {
    const NAME: &'static str = "text";
    type Form = Text;
    type WithDelta = Page;
    type Plain = PlainPage;

    fn random(len: usize, rng: &mut Rng) -> Self {
        (0..len).map(|_| char::from(letter(rng))).collect()
    }

    fn with_delta(value: Self) -> Page {
        Page { value }
    }

    fn plain(value: Self) -> PlainPage {
        PlainPage { value }
    }

    fn insert_in_the_middle(&mut self, rng: &mut Rng) {
        self.insert(self.len() / 2, char::from(letter(rng)));
    }

    fn replace_a_tenth(&mut self, rng: &mut Rng) {
        let mut bytes = std::mem::take(self).into_bytes();
        replace_a_tenth(&mut bytes, rng, letter);
        *self = Self::from_utf8(bytes).expect("letters");
    }

    fn shuffle(&mut self, rng: &mut Rng) {
        let mut bytes = std::mem::take(self).into_bytes();
        rng.shuffle(&mut bytes);
        *self = Self::from_utf8(bytes).expect("letters");
    }
}

impl Sequence for Vec<u32> {
    const NAME: &'static str = "list";
    type Form = List;
    type WithDelta = Numbers;
    type Plain = PlainNumbers;

    fn random(len: usize, rng: &mut Rng) -> Self {
        (0..len).map(|_| number(rng)).collect()
    }

    fn with_delta(value: Self) -> Numbers {
        Numbers { value }
    }

    fn plain(value: Self) -> PlainNumbers {
        PlainNumbers { value }
    }

    fn insert_in_the_middle(&mut self, rng: &mut Rng) {
        self.insert(self.len() / 2, number(rng));
    }

    fn replace_a_tenth(&mut self, rng: &mut Rng) {
        replace_a_tenth(self, rng, number);
    }

    fn shuffle(&mut self, rng: &mut Rng) {
        rng.shuffle(self);
    }
}

/// An object that does not change, and its shadow.
struct Unchanged<T: Replicated> {
    class: Class<T>,
    live: T,
    shadow: T,
    changes: Changelist,
    scratch: Scratch,
}

impl<T: Replicated> Unchanged<T> {
    fn new(live: T) -> Self {
        let class = Class::new();
        let shadow = class.shadow_of(&T::initial());
        let (changes, scratch) = (Changelist::new(), Scratch::default());
        let mut unchanged = Self { class, live, shadow, changes, scratch };
        assert!(!unchanged.compare(), "the first comparison finds the value");
        assert!(unchanged.compare(), "the second comparison finds no change");
        unchanged
    }

    /// Returns whether nothing has changed.
    fn compare(&mut self) -> bool {
        let Self { class, live, shadow, changes, scratch } = self;
        changes.clear();
        let scope = class.conditions().ordinary();
        class.compare(live, shadow, scope, changes, &mut Vec::new(), scratch);
        changes.is_empty()
    }
}

/// How a value is changed.
type Change<T> = fn(&mut T, &mut Rng);

/// Two values, and the difference between them.
struct Edit<T: Sequence> {
    name: &'static str,
    old: T,
    new: T,
    writer: BitWriter,
}

impl<T: Sequence> Edit<T> {
    fn all(len: usize) -> [Self; 3] {
        let changes: [(&str, Change<T>); 3] = [
            ("insert", T::insert_in_the_middle),
            ("a_tenth", T::replace_a_tenth),
            ("everything", T::shuffle),
        ];
        changes.map(|(name, change)| {
            let mut rng = Rng::new(len as u64);
            let old = T::random(len, &mut rng);
            let mut new = old.clone();
            change(&mut new, &mut rng);
            let mut edit = Self { name, old, new, writer: BitWriter::new() };
            edit.check();
            edit
        })
    }

    fn check(&mut self) {
        self.write();
        let mut reader = self.writer.as_slice().reader();
        let made = T::Form::read(&self.old, &mut reader, &mut ReferenceMap::new(&NoObjects));
        assert!(made.expect("a difference") == self.new, "{}", self.name);
    }

    /// Writes the difference. Returns how many bytes it takes.
    fn write(&mut self) -> u64 {
        self.writer.clear();
        T::Form::write(&self.old, &self.new, &mut self.writer).expect("a difference");
        self.writer.bit_len().div_ceil(8) as u64
    }

    /// Writes the whole value. Returns how many bytes it takes.
    fn write_whole(&mut self) -> u64 {
        self.writer.clear();
        T::Form::write_whole(&self.new, &mut self.writer).expect("a value");
        self.writer.bit_len().div_ceil(8) as u64
    }
}

/// A server with a text, its connections, and one client that answers for all of them, because all
/// receive the same.
struct Scene {
    server: Server,
    page: ObjectRef<Page>,
    connections: Vec<ConnectionId>,
    client: Client,
    now: Duration,
}

impl Scene {
    fn new(connections: usize) -> Self {
        let mut server = Server::new(ServerConfig { timeout: FOREVER, ..at_once() });
        let page = server.spawn(Page { value: String::random(TEXT, &mut Rng::new(1)) });
        let config = ClientConfig { timeout: FOREVER, ..ClientConfig::default() };
        let mut client = Client::new(config, Session::for_tests(1));
        client.register::<Page>();
        let connections = (0..connections).map(|_| server.connect(Duration::ZERO)).collect();
        let mut scene = Self { server, page, connections, client, now: TICK };
        (0..100).for_each(|_| _ = scene.tick());
        scene.updates(64);
        scene
    }

    /// Runs a tick with the answers of the clients. Returns the time of the server, and the bytes of the
    /// packets to the first connection.
    fn tick(&mut self) -> (Duration, u64) {
        let Self { server, connections, client, now, .. } = self;
        *now += TICK;
        let start = Instant::now();
        server.tick(*now);
        let mut packets: Vec<Vec<u8>> = Vec::new();
        for (at, connection) in connections.iter().enumerate() {
            while let Some(packet) = server.poll_transmit(*connection) {
                if at == 0 {
                    packets.push(packet.to_vec());
                }
            }
        }
        let mut time = start.elapsed();
        packets.iter().for_each(|packet| client.receive(*now, packet).expect("a packet of the server"));
        client.tick(*now);
        while let Some(answer) = client.poll_transmit() {
            let start = Instant::now();
            connections.iter().for_each(|connection| server.receive(*connection, *now, answer));
            time += start.elapsed();
        }
        (time, packets.iter().map(|packet| packet.len() as u64).sum())
    }

    /// Runs `count` ticks, with a letter typed in each. Returns the time of the server.
    fn updates(&mut self, count: u64) -> Duration {
        let time = (0..count).map(|_| self.update().0).sum();
        assert_eq!(self.client[self.page].value, self.server[self.page].value);
        time
    }

    fn update(&mut self) -> (Duration, u64) {
        let text = &mut self.server[self.page].value;
        let at = self.now.as_millis() as usize % TEXT;
        let letter = if text.as_bytes()[at] == b'x' { "y" } else { "x" };
        text.replace_range(at..=at, letter);
        self.tick()
    }
}

fn bench<T: Sequence>(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group(format!("differences/{}", T::NAME));
    group.sample_size(10).measurement_time(Duration::from_secs(1)).warm_up_time(Duration::from_millis(300));
    for len in LENGTHS {
        let value = T::random(len, &mut Rng::new(1));
        let mut plain = Unchanged::new(T::plain(value.clone()));
        let mut with_delta = Unchanged::new(T::with_delta(value));
        group.bench_function(BenchmarkId::new("unchanged", len), |bencher| {
            bencher.iter(|| with_delta.compare());
        });
        group.bench_function(BenchmarkId::new("unchanged_without_delta", len), |bencher| {
            bencher.iter(|| plain.compare());
        });
        for mut edit in Edit::<T>::all(len) {
            group.bench_function(BenchmarkId::new(edit.name, len), |bencher| bencher.iter(|| edit.write()));
        }
    }
    group.finish();
}

fn bench_ticks(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("differences/tick");
    group.sample_size(20).measurement_time(Duration::from_secs(1)).warm_up_time(Duration::from_millis(300));
    for connections in CONNECTIONS {
        let mut scene = Scene::new(connections);
        group.bench_function(BenchmarkId::new("server", connections), |bencher| {
            bencher.iter_custom(|count| scene.updates(count));
        });
    }
    group.finish();
}

fn print_ratios<T: Sequence>() {
    for len in LENGTHS {
        let value = T::random(len, &mut Rng::new(1));
        let mut plain = Unchanged::new(T::plain(value.clone()));
        let mut with_delta = Unchanged::new(T::with_delta(value));
        ratios::report(
            &format!("{} of {len} unchanged", T::NAME),
            &mut [
                Side::new("delta", None, &mut |count| timed(count, || with_delta.compare())),
                Side::new("without", None, &mut |count| timed(count, || plain.compare())),
            ],
        );
        for (mut edit, mut whole) in Edit::<T>::all(len).into_iter().zip(Edit::<T>::all(len)) {
            let bytes = [edit.write(), whole.write_whole()].map(Some);
            ratios::report(
                &format!("{} of {len}: {}", T::NAME, edit.name),
                &mut [
                    Side::new("difference", bytes[0], &mut |count| timed(count, || edit.write())),
                    Side::new("whole", bytes[1], &mut |count| timed(count, || whole.write_whole())),
                ],
            );
        }
    }
}

fn print_ratio_of_ticks() {
    let (mut one, mut many) = (Scene::new(1), Scene::new(32));
    let bytes = [many.update().1, one.update().1].map(Some);
    ratios::report(
        &format!("a letter of {TEXT}, server"),
        &mut [
            Side::new("32 clients", bytes[0], &mut |count| many.updates(count)),
            Side::new("1 client", bytes[1], &mut |count| one.updates(count)),
        ],
    );
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    bench::<String>(&mut criterion);
    bench::<Vec<u32>>(&mut criterion);
    bench_ticks(&mut criterion);
    criterion.final_summary();
    if ratios::are_wanted() {
        print_ratios::<String>();
        print_ratios::<Vec<u32>>();
        print_ratio_of_ticks();
    }
}
