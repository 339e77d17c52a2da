//! One change of an ordered array, from the server's call to the client's array, in arrays of 100 to 100,000
//! items.
//!
//! The measured work is: make the change, compare, list, encode, read and apply. Positions are chosen at
//! random. Between the measured changes, other changes restore the length. These are not measured.
//!
//! *Invariant:* after each run the client's array equals the server's.

#[path = "support/ratios.rs"]
mod ratios;

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion};
use repl::tools::{Changelist, Checked, Class, HandleSet, Scratch};
use repl::{BitReader, BitWriter, NoObjects, OrderedFastArray, ReferenceMap, Replicated};

use ratios::Side;

const SIZES: [usize; 4] = [100, 1_000, 10_000, 100_000];

#[derive(Default, Replicated)]
struct Scroll {
    #[replicated]
    lines: OrderedFastArray<u32>,
}

/// The measured change.
#[derive(Clone, Copy, PartialEq)]
enum Change {
    Insert,
    Remove,
    Move,
    Write,
    Push,
}

const CHANGES: [(&str, Change); 5] = [
    ("insert", Change::Insert),
    ("remove", Change::Remove),
    ("move", Change::Move),
    ("write", Change::Write),
    ("push", Change::Push),
];

/// A server's object with its shadow, and a client's object.
struct Pair {
    class: Class<Scroll>,
    live: Scroll,
    shadow: Scroll,
    client: Scroll,
    changes: Changelist,
    scratch: Scratch,
    writer: BitWriter,
    random: u64,
}

impl Pair {
    fn new(items: usize) -> Self {
        let class = Class::new();
        let live = Scroll { lines: (0..items as u32).collect() };
        let (shadow, mut client) = (class.shadow_of(&Scroll::default()), Scroll::default());
        class.make_replica(&mut client);
        let mut pair = Self {
            class,
            live,
            shadow,
            client,
            changes: Changelist::new(),
            scratch: Scratch::default(),
            writer: BitWriter::new(),
            random: 0x9e37_79b9_7f4a_7c15,
        };
        pair.update();
        // These changes leave the array in the state of an array that has been in use for a while.
        for _ in 0..200 {
            pair.change(Change::Insert);
            pair.change(Change::Remove);
            pair.change(Change::Move);
        }
        pair
    }

    fn below(&mut self, bound: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 16) as usize % bound
    }

    /// Makes one change and its update. Returns the size of the update in bits.
    fn change(&mut self, change: Change) -> usize {
        let len = self.live.lines.len();
        let (at, to) = (self.below(len), self.below(len));
        let lines = &mut self.live.lines;
        match change {
            Change::Insert => {
                black_box(lines.insert(at, 7));
            }
            Change::Push => {
                black_box(lines.push(7));
            }
            Change::Remove => {
                black_box(lines.remove(at));
            }
            Change::Move => lines.move_item(at, to),
            Change::Write => lines[at] = lines[at].wrapping_add(1),
        }
        self.update()
    }

    /// Sends the changes to the client.
    fn update(&mut self) -> usize {
        let Self { class, live, shadow, client, changes, scratch, writer, .. } = self;
        changes.clear();
        writer.clear();
        let mut refusals = Vec::new();
        class.compare(live, shadow, class.conditions().ordinary(), changes, &mut refusals, scratch);
        class.write_values(shadow, changes, writer).expect("written");
        let handles: &HandleSet = changes.handles();
        let bits = writer.bit_len();
        let mut reader = BitReader::new(writer.finish());
        let mut references = ReferenceMap::new(&NoObjects);
        let (checked, ahead) = (&mut Checked::new(), &mut reader.clone());
        class.validate(Some(client), handles, ahead, &mut references, checked).expect("our own bits");
        class.apply(client, handles, checked.take(&mut reader), &mut references, &mut ());
        class.conclude(client, true);
        bits
    }

    /// Makes `count` measured changes. Returns how long they took together, without the changes that restore
    /// the length.
    fn run(&mut self, change: Change, count: u64) -> Duration {
        let mut elapsed = Duration::ZERO;
        for _ in 0..count {
            if change == Change::Remove {
                self.change(Change::Insert);
            }
            let start = Instant::now();
            black_box(self.change(change));
            elapsed += start.elapsed();
            if matches!(change, Change::Insert | Change::Push) {
                self.change(Change::Remove);
            }
        }
        elapsed
    }

    fn check(&self) {
        assert!(self.client.lines == self.live.lines, "the client has the server's array");
    }
}

fn bench(criterion: &mut Criterion) {
    for (name, change) in CHANGES {
        let mut group = criterion.benchmark_group(format!("ordered/{name}"));
        group.sample_size(20);
        group.measurement_time(Duration::from_secs(1)).warm_up_time(Duration::from_millis(300));
        for items in SIZES {
            let mut pair = Pair::new(items);
            group.bench_function(BenchmarkId::from_parameter(items), |bencher| {
                bencher.iter_custom(|count| pair.run(change, count));
            });
            pair.check();
        }
        group.finish();
    }
}

fn print_ratios() {
    for (name, change) in CHANGES {
        let mut pairs = SIZES.map(Pair::new);
        let bytes = pairs.each_mut().map(|pair| {
            let bits: usize = (0..100)
                .map(|_| {
                    let bits = pair.change(change);
                    match change {
                        Change::Insert | Change::Push => {
                            pair.change(Change::Remove);
                        }
                        Change::Remove => {
                            pair.change(Change::Insert);
                        }
                        Change::Move | Change::Write => {}
                    }
                    bits
                })
                .sum();
            (bits as u64).div_ceil(800)
        });
        let [few, some, many, most] = &mut pairs;
        ratios::report(
            &format!("ordered_{name}"),
            &mut [
                Side::new("100000", Some(bytes[3]), &mut |count| most.run(change, count)),
                Side::new("10000", Some(bytes[2]), &mut |count| many.run(change, count)),
                Side::new("1000", Some(bytes[1]), &mut |count| some.run(change, count)),
                Side::new("100", Some(bytes[0]), &mut |count| few.run(change, count)),
            ],
        );
        pairs.iter().for_each(Pair::check);
    }
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    bench(&mut criterion);
    criterion.final_summary();
    if ratios::are_wanted() {
        print_ratios();
    }
}
