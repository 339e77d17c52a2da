//! Two comparisons: serialising once for all connections against once for each, and each kind of property
//! against a hand-written bit writer.
//!
//! *Invariant:* shared and unshared output are the same bits. Every value is decoded, and the decoded value
//! encodes to the same bits.

#[allow(dead_code, reason = "each bench uses a part")]
#[path = "support/bits.rs"]
mod bits;
#[path = "support/player.rs"]
mod player;
#[path = "support/ratios.rs"]
mod ratios;
#[path = "support/samples.rs"]
mod samples;

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkGroup, Criterion, Throughput, measurement::WallTime};
use repl::tools::{Changelist, Checked, Class, HandleSet, Scratch};
use repl::{BitReader, BitWriter, NoObjects, ReferenceMap, Refusal};

use player::Player;
use ratios::{Side, timed};
use samples::Sample;

const CONNECTIONS: usize = 32;
const PLAYERS: u32 = 1_000;
/// The number of values of a property in one packet.
const VALUES: u32 = 64;

/// Players that moved, and a packet writer for each connection.
struct Crowd {
    class: Class<Player>,
    shadows: Vec<Player>,
    moved: Changelist,
    once: BitWriter,
    outputs: Vec<BitWriter>,
}

impl Crowd {
    fn new() -> Self {
        let class = Class::<Player>::new();
        let shadows: Vec<Player> = (0..PLAYERS).map(Player::nth).collect();
        let mut live = shadows[0].clone();
        (live.position, live.yaw) = ([7.0; 3], 7.0);
        let mut moved = Changelist::new();
        let mut refusals: Vec<Refusal> = Vec::new();
        let scope = class.conditions().ordinary();
        class.compare(
            &live,
            &mut shadows[0].clone(),
            scope,
            &mut moved,
            &mut refusals,
            &mut Scratch::default(),
        );
        let outputs = vec![BitWriter::new(); CONNECTIONS];
        Self { class, shadows, moved, once: BitWriter::new(), outputs }
    }

    /// Writes each player's values once for every connection.
    fn unshared(&mut self) {
        for output in &mut self.outputs {
            output.clear();
            for shadow in &self.shadows {
                self.class.write_values(shadow, &self.moved, output).expect("every value has a form");
            }
        }
    }

    /// Writes each player's values once and copies all bits in one operation to every connection.
    fn shared(&mut self) {
        self.once.clear();
        for shadow in &self.shadows {
            self.class.write_values(shadow, &self.moved, &mut self.once).expect("every value has a form");
        }
        let bits = self.once.as_slice();
        for output in &mut self.outputs {
            output.clear();
            output.append(bits);
        }
    }

    /// Writes each player's values once, and copies the bits of each player separately to every connection.
    fn shared_by_object(&mut self) {
        self.outputs.iter_mut().for_each(BitWriter::clear);
        for shadow in &self.shadows {
            self.once.clear();
            self.class.write_values(shadow, &self.moved, &mut self.once).expect("every value has a form");
            let bits = self.once.as_slice();
            self.outputs.iter_mut().for_each(|output| output.append(bits));
        }
    }

    fn bytes(&mut self) -> Vec<Vec<u8>> {
        self.outputs.iter_mut().map(|output| output.finish().to_vec()).collect()
    }
}

/// Values of one kind of property, and a buffer for their bits.
struct Batch<S> {
    class: Class<S>,
    values: Vec<S>,
    list: Changelist,
    handles: HandleSet,
    writer: BitWriter,
    by_hand: bits::BitWriter,
}

impl<S: Sample> Batch<S> {
    fn new() -> Self {
        let class = Class::<S>::new();
        let handles = HandleSet::up_to(class.program().handles());
        let mut list = Changelist::new();
        class.insert_whole(&handles, &mut list);
        let values = (0..VALUES).map(S::nth).collect();
        let mut batch =
            Self { class, values, list, handles, writer: BitWriter::new(), by_hand: bits::BitWriter::new() };
        batch.encode();
        batch.encode_by_hand();
        batch
    }

    fn encode(&mut self) {
        self.writer.clear();
        for value in black_box(&self.values) {
            self.class.write_values(value, &self.list, &mut self.writer).expect("every value has a form");
        }
        black_box(self.writer.finish());
    }

    fn encode_by_hand(&mut self) {
        self.by_hand.clear();
        for value in black_box(&self.values) {
            value.write_by_hand(&mut self.by_hand);
        }
        black_box(self.by_hand.finish());
    }

    /// Validates each value and then applies it, as a client does.
    fn decode(&mut self, into: &mut S) -> usize {
        let (mut first, mut second) = (BitReader::new(self.writer.finish()), None);
        let mut references = ReferenceMap::new(&NoObjects);
        let (class, mut checked) = (&self.class, Checked::new());
        for _ in 0..VALUES {
            let mut again = second.unwrap_or(first.clone());
            let target = Some(&*into);
            class
                .validate(target, &self.handles, &mut first, &mut references, &mut checked)
                .expect("our own bits");
            class.apply(into, &self.handles, checked.take(&mut again), &mut references, &mut ());
            black_box(&*into);
            second = Some(again);
        }
        first.position()
    }

    fn decode_by_hand(&mut self) {
        let mut reader = bits::BitReader::new(self.by_hand.finish());
        for _ in 0..VALUES {
            black_box(S::read_by_hand(&mut reader));
        }
    }

    fn check(&mut self) {
        let mut into = S::nth(0);
        let bits = self.writer.bit_len();
        assert_eq!(self.decode(&mut into), bits, "{}: all bits are read", S::NAME);
        let (mut one, mut other) = (BitWriter::new(), BitWriter::new());
        let last = self.values.last().expect("there are values");
        self.class.write_values(&into, &self.list, &mut one).expect("a decoded value has a form");
        self.class.write_values(last, &self.list, &mut other).expect("every value has a form");
        assert_eq!(one.finish(), other.finish(), "{}: what was decoded encodes to the same bits", S::NAME);
        let mut reader = bits::BitReader::new(self.by_hand.finish());
        let read = (0..VALUES).map(|_| S::read_by_hand(&mut reader)).last().expect("there are values");
        assert!(reader.remaining() < 8, "{}: all of the hand-written bits are read", S::NAME);
        let (mut one, mut other) = (bits::BitWriter::new(), bits::BitWriter::new());
        read.write_by_hand(&mut one);
        last.write_by_hand(&mut other);
        assert_eq!(one.finish(), other.finish(), "{}: the hand-written form is read back", S::NAME);
    }
}

fn configure(group: &mut BenchmarkGroup<'_, WallTime>, elements: u64, bytes: u64) {
    group.sample_size(20).measurement_time(Duration::from_secs(1)).warm_up_time(Duration::from_millis(300));
    group.throughput(Throughput::ElementsAndBytes { elements, bytes });
}

fn check_and_bench_sharing(criterion: &mut Criterion) {
    let mut crowd = Crowd::new();
    crowd.unshared();
    let unshared = crowd.bytes();
    crowd.shared();
    assert!(crowd.bytes() == unshared, "sharing changes no bit");
    crowd.shared_by_object();
    assert!(crowd.bytes() == unshared, "sharing by object changes no bit");

    let bytes = unshared.iter().map(Vec::len).sum::<usize>() as u64;
    let mut group = criterion.benchmark_group("serialise/for_32_connections");
    configure(&mut group, u64::from(PLAYERS) * CONNECTIONS as u64, bytes);
    group.bench_function("shared", |bencher| bencher.iter(|| crowd.shared()));
    group.bench_function("shared_by_object", |bencher| bencher.iter(|| crowd.shared_by_object()));
    group.bench_function("unshared", |bencher| bencher.iter(|| crowd.unshared()));
    group.finish();
}

fn check_and_bench_property<S: Sample>(criterion: &mut Criterion) {
    let mut batch = Batch::<S>::new();
    batch.check();
    let mut into = S::nth(0);
    let bytes = batch.writer.finish().len() as u64;
    let mut group = criterion.benchmark_group(format!("serialise/encode_{}", S::NAME));
    configure(&mut group, VALUES.into(), bytes);
    group.bench_function("repl", |bencher| bencher.iter(|| batch.encode()));
    group.bench_function("hand", |bencher| bencher.iter(|| batch.encode_by_hand()));
    group.finish();
    let mut group = criterion.benchmark_group(format!("serialise/decode_{}", S::NAME));
    configure(&mut group, VALUES.into(), bytes);
    group.bench_function("repl", |bencher| bencher.iter(|| batch.decode(&mut into)));
    group.bench_function("hand", |bencher| bencher.iter(|| batch.decode_by_hand()));
    group.finish();
}

fn print_sharing() {
    let (mut shared, mut by_object, mut unshared) = (Crowd::new(), Crowd::new(), Crowd::new());
    ratios::report(
        "for_32_connections",
        &mut [
            Side::new("shared", None, &mut |count| timed(count, || shared.shared())),
            Side::new("shared_by_object", None, &mut |count| timed(count, || by_object.shared_by_object())),
            Side::new("unshared", None, &mut |count| timed(count, || unshared.unshared())),
        ],
    );
}

fn print_property<S: Sample>(_: &mut ()) {
    let (mut ours, mut hand) = (Batch::<S>::new(), Batch::<S>::new());
    let (bytes, hand_bytes) = (ours.writer.finish().len() as u64, hand.by_hand.finish().len() as u64);
    let mut into = S::nth(0);
    ratios::report(
        &format!("encode_{} x{VALUES}", S::NAME),
        &mut [
            Side::new("repl", Some(bytes), &mut |count| timed(count, || ours.encode())),
            Side::new("hand", Some(hand_bytes), &mut |count| timed(count, || hand.encode_by_hand())),
        ],
    );
    ratios::report(
        &format!("decode_{} x{VALUES}", S::NAME),
        &mut [
            Side::new("repl", Some(bytes), &mut |count| timed(count, || ours.decode(&mut into))),
            Side::new("hand", Some(hand_bytes), &mut |count| timed(count, || hand.decode_by_hand())),
        ],
    );
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    check_and_bench_sharing(&mut criterion);
    samples::for_each_kind!(check_and_bench_property(&mut criterion));
    criterion.final_summary();
    if ratios::are_wanted() {
        print_sharing();
        samples::for_each_kind!(print_property(&mut ()));
    }
}
