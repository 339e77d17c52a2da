//! Enums that are replicated by field: what it costs to compare 1,000 objects with an enum with their
//! shadows. The baselines are a struct with the fields of the active variant, and the same enum sent whole.
//!
//! *Invariant:* each side finds exactly the objects whose value was changed.

#[path = "support/ratios.rs"]
mod ratios;

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion};
use repl::prelude::*;
use repl::tools::{Changelist, Class, Scratch};

use ratios::{Side, timed};

const OBJECTS: usize = 1_000;
/// The distance between two changed objects, where one in a hundred objects changes.
const STRIDE: usize = 100;

/// What a unit does, by field.
#[derive(Clone, Default, Replicated)]
enum Order {
    #[default]
    Idle,
    Move {
        #[replicated]
        to: [f32; 3],
        #[replicated]
        speed: u16,
        #[replicated]
        target: u32,
    },
}

/// The same, sent whole.
#[derive(Clone, Default, NetSerialize)]
enum WholeOrder {
    #[default]
    Idle,
    Move {
        to: [f32; 3],
        speed: u16,
        target: u32,
    },
}

#[derive(Default, Replicated)]
struct ByField {
    #[replicated]
    order: Order,
}

#[derive(Default, Replicated)]
struct Whole {
    #[replicated]
    order: WholeOrder,
}

/// The fields of the variant without an enum.
#[derive(Default, Replicated)]
#[replicated(all)]
struct Plain {
    to: [f32; 3],
    speed: u16,
    target: u32,
}

/// An object that moves at a speed.
trait Moving: Replicated {
    const NAME: &'static str;
    fn moving(speed: u16) -> Self;
}

impl Moving for ByField {
    const NAME: &'static str = "by_field";

    fn moving(speed: u16) -> Self {
        Self { order: Order::Move { to: [1.0, 2.0, 3.0], speed, target: 7 } }
    }
}

impl Moving for Whole {
    const NAME: &'static str = "whole";

    fn moving(speed: u16) -> Self {
        Self { order: WholeOrder::Move { to: [1.0, 2.0, 3.0], speed, target: 7 } }
    }
}

impl Moving for Plain {
    const NAME: &'static str = "struct";

    fn moving(speed: u16) -> Self {
        Self { to: [1.0, 2.0, 3.0], speed, target: 7 }
    }
}

struct Units<T: Replicated> {
    class: Class<T>,
    live: Vec<T>,
    shadows: Vec<T>,
    changes: Changelist,
    scratch: Scratch,
    speed: u16,
}

impl<T: Moving> Units<T> {
    fn new() -> Self {
        let class = Class::new();
        let live: Vec<T> = (0..OBJECTS).map(|_| T::moving(0)).collect();
        let shadows = live.iter().map(|unit| class.shadow_of(unit)).collect();
        let (changes, scratch) = (Changelist::new(), Scratch::default());
        let mut units = Self { class, live, shadows, changes, scratch, speed: 0 };
        assert_eq!(units.compare(), 0, "nothing has changed");
        assert_eq!(units.change_and_compare(), OBJECTS.div_ceil(STRIDE), "each change is found");
        units
    }

    /// Compares all objects, and returns how many differ.
    fn compare(&mut self) -> usize {
        let Self { class, live, shadows, changes, scratch, .. } = self;
        let scope = class.conditions().ordinary();
        let mut differing = 0;
        for (live, shadow) in live.iter().zip(shadows) {
            changes.clear();
            class.compare(live, shadow, scope, changes, &mut Vec::new(), scratch);
            differing += usize::from(!changes.is_empty());
        }
        differing
    }

    /// Changes a field of one object in a hundred, and compares all.
    fn change_and_compare(&mut self) -> usize {
        self.speed = self.speed.wrapping_add(1);
        for unit in self.live.iter_mut().step_by(STRIDE) {
            *unit = T::moving(self.speed);
        }
        self.compare()
    }
}

/// How all objects of a side are compared.
#[derive(Clone, Copy)]
enum Work {
    Unchanged,
    Changed,
}

impl Work {
    const ALL: [(&'static str, Self); 2] =
        [("unchanged", Self::Unchanged), ("one in a hundred", Self::Changed)];

    fn run<T: Moving>(self, units: &mut Units<T>) -> usize {
        match self {
            Self::Unchanged => units.compare(),
            Self::Changed => units.change_and_compare(),
        }
    }
}

fn bench<T: Moving>(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("enums");
    group.sample_size(20).measurement_time(Duration::from_secs(1)).warm_up_time(Duration::from_millis(300));
    for (name, work) in Work::ALL {
        let mut units = Units::<T>::new();
        group.bench_function(BenchmarkId::new(T::NAME, name), |bencher| {
            bencher.iter(|| black_box(work.run(&mut units)));
        });
    }
    group.finish();
}

fn print_ratios() {
    let (mut by_field, mut whole, mut plain) = (Units::<ByField>::new(), Units::new(), Units::new());
    for (name, work) in Work::ALL {
        ratios::report(
            &format!("enums, {name}"),
            &mut [
                Side::new(ByField::NAME, None, &mut |count| timed(count, || work.run(&mut by_field))),
                Side::new(Plain::NAME, None, &mut |count| timed(count, || work.run::<Plain>(&mut plain))),
                Side::new(Whole::NAME, None, &mut |count| timed(count, || work.run::<Whole>(&mut whole))),
            ],
        );
    }
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    bench::<ByField>(&mut criterion);
    bench::<Plain>(&mut criterion);
    bench::<Whole>(&mut criterion);
    criterion.final_summary();
    if ratios::are_wanted() {
        print_ratios();
    }
}
