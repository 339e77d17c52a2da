//! Comparing 10,000 objects with their shadows (copies with the values of the last comparison), compared with
//! `memcmp`. `values` is a `memcmp` of only the replicated values in packed form, which is the least possible
//! work. `memory` is a `memcmp` of all memory of the objects.
//!
//! In `resting`, half of the values are quantised. Half of these have left their last sent step by less than
//! the margin, so they count as unchanged although their bytes differ from those of the shadow.
//!
//! In `dirty`, the 100 objects that may have changed are known. The comparison of these objects is compared
//! with a hand-written function that looks at each field. Both sides prefetch the objects.
//!
//! *Invariant:* each candidate finds exactly as many objects that differ as were changed.

#[path = "support/player.rs"]
mod player;
#[path = "support/ratios.rs"]
mod ratios;

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput};
use repl::__private::preload_all;
use repl::Replicated;
use repl::tools::{Changelist, Class, Scratch, Shadow};

use player::Player;
use ratios::{Side, timed};

const OBJECTS: usize = 10_000;
/// The distance between two changed objects, where one in a hundred objects changes.
const STRIDE: usize = 100;
/// How many objects before its comparison an object is prefetched.
const PRELOAD_LEAD: usize = 8;

/// An object of plain fields only.
#[derive(Clone, Debug, Default, PartialEq, Replicated)]
#[replicated(all)]
struct Plain {
    id: u32,
    owner: u32,
    target: u32,
    yaw: f32,
    position: [f32; 3],
    velocity: [f32; 3],
    health: u16,
    max_health: u16,
    ammo: u16,
    armour: u8,
    team: u8,
    state: u8,
    alive: bool,
    score: i32,
}

/// Plain fields, and fields that never leave the server.
#[derive(Clone, Debug, Default, PartialEq, Replicated)]
struct Mixed {
    #[replicated]
    id: u32,
    path: [u32; 6],
    #[replicated]
    owner: u32,
    seed: u64,
    #[replicated]
    position: [f32; 3],
    cooldown: f32,
    #[replicated]
    velocity: [f32; 3],
    cell: u16,
    #[replicated]
    health: u16,
    visited: bool,
    #[replicated]
    team: u8,
    #[replicated]
    score: i32,
}

/// The same fields as in [`Plain`], but the floats are quantised.
#[derive(Clone, Debug, Default, PartialEq, Replicated)]
#[replicated(all)]
struct Quantised {
    id: u32,
    owner: u32,
    target: u32,
    #[replicated(quantize(step = 0.01, range = -4.0..=4.0))]
    yaw: f32,
    #[replicated(quantize(step = 0.01, range = -16384.0..=16384.0))]
    position: [f32; 3],
    #[replicated(quantize(step = 0.01, range = -16384.0..=16384.0))]
    velocity: [f32; 3],
    health: u16,
    max_health: u16,
    ammo: u16,
    armour: u8,
    team: u8,
    state: u8,
    alive: bool,
    score: i32,
}

/// The functions of an object that the benchmark needs.
trait Subject: Replicated + Clone + PartialEq {
    /// How many bytes the compared values of an object have.
    const VALUE_BYTES: usize;
    fn nth(index: u32) -> Self;
    fn set_health(&mut self, health: u16);
}

impl Subject for Plain {
    const VALUE_BYTES: usize = 54;

    fn nth(index: u32) -> Self {
        let Player { id, owner, target, yaw, position, velocity, health, max_health, ammo, armour, .. } =
            Player::nth(index);
        Self {
            id,
            owner,
            target,
            yaw,
            position,
            velocity,
            health,
            max_health,
            ammo,
            armour,
            team: 1,
            state: 2,
            alive: true,
            score: -3,
        }
    }

    fn set_health(&mut self, health: u16) {
        self.health = health;
    }
}

impl Subject for Quantised {
    const VALUE_BYTES: usize = Plain::VALUE_BYTES;

    fn nth(index: u32) -> Self {
        let plain = Plain::nth(index);
        let Plain { id, owner, target, health, max_health, ammo, armour, team, state, alive, score, .. } =
            plain;
        let step = |number: f32| (number * 100.0).round() / 100.0;
        let yaw = step(plain.yaw.clamp(-3.0, 3.0));
        let (position, velocity) = (plain.position.map(step), plain.velocity.map(step));
        Self {
            id,
            owner,
            target,
            yaw,
            position,
            velocity,
            health,
            max_health,
            ammo,
            armour,
            team,
            state,
            alive,
            score,
        }
    }

    fn set_health(&mut self, health: u16) {
        self.health = health;
    }
}

impl Subject for Mixed {
    const VALUE_BYTES: usize = 39;

    fn nth(index: u32) -> Self {
        let Player { id, owner, position, velocity, health, team, score, .. } = Player::nth(index);
        let unreplicated = Self { seed: id.into(), cooldown: 0.5, cell: 7, visited: true, ..Self::default() };
        Self { id, owner, position, velocity, health, team, score, ..unreplicated }
    }

    fn set_health(&mut self, health: u16) {
        self.health = health;
    }
}

impl Subject for Player {
    /// The count includes the twelve characters of the name.
    const VALUE_BYTES: usize = 61 + 12;

    fn nth(index: u32) -> Self {
        Self::nth(index)
    }

    fn set_health(&mut self, health: u16) {
        self.health = health;
    }
}

/// A column of objects and of their shadows.
struct Column<T> {
    class: Class<T>,
    live: Vec<T>,
    shadow: Vec<T>,
    /// The seen bytes of all objects: the bytes of their quantised values at the last comparison.
    seen: Vec<u8>,
    rows: Vec<usize>,
    changes: Changelist,
    scratch: Scratch,
}

impl<T: Subject> Column<T> {
    fn new() -> Self {
        let class = Class::new();
        let live: Vec<T> = (0..OBJECTS as u32).map(T::nth).collect();
        let shadow: Vec<T> = live.iter().map(|object| class.shadow_of(object)).collect();
        let mut seen = Vec::new();
        shadow.iter().for_each(|shadow| class.push_seen(shadow, &mut seen));
        Self {
            class,
            live,
            shadow,
            seen,
            rows: Vec::new(),
            changes: Changelist::new(),
            scratch: Scratch::default(),
        }
    }

    /// Returns how many objects differ.
    fn scan(&self) -> usize {
        let mut found = 0;
        self.class.scan(&self.live, &self.shadow, &self.seen, |_| found += 1);
        found
    }

    /// Finds and lists the differences, and updates the shadows. Returns how many objects differed.
    fn settle(&mut self) -> usize {
        let mut refusals = Vec::new();
        self.rows.clear();
        self.class.scan(&self.live, &self.shadow, &self.seen, |row| self.rows.push(row));
        let bytes = self.class.seen_bytes();
        for &row in &self.rows {
            self.changes.clear();
            let seen = &mut self.seen[row * bytes..][..bytes];
            let (live, shadow) =
                (&self.live[row], Shadow { values: &mut self.shadow[row], seen, is_new: false });
            let scope = self.class.conditions().ordinary();
            self.class.compare_seen(live, shadow, scope, &mut self.changes, &mut refusals, &mut self.scratch);
            black_box(&self.changes);
        }
        self.rows.len()
    }

    fn change_some(&mut self, health: u16) {
        self.live.iter_mut().step_by(STRIDE).for_each(|object| object.set_health(health));
    }
}

impl Column<Quantised> {
    /// Returns a column of objects at rest. Half of their quantised values have left their last sent step,
    /// but by less than the margin.
    fn resting() -> Self {
        let mut column = Self::new();
        for object in &mut column.live {
            object.yaw += 0.006;
            object.position[0] -= 0.006;
            object.position[2] += 0.006;
            object.velocity[1] -= 0.006;
        }
        assert_eq!((column.scan(), column.settle()), (OBJECTS, OBJECTS), "each object has moved");
        assert!(
            column.changes.is_empty() && column.live[0] != column.shadow[0],
            "clients keep the old steps"
        );
        assert_eq!(column.scan(), 0, "the objects are at rest");
        column
    }
}

/// A column of plain bytes and its copy.
struct Bytes {
    row_bytes: usize,
    live: Vec<u8>,
    shadow: Vec<u8>,
}

impl Bytes {
    fn rows_of(row_bytes: usize) -> Self {
        let live: Vec<u8> = (0..OBJECTS * row_bytes).map(|at| at as u8).collect();
        Self { row_bytes, shadow: live.clone(), live }
    }

    fn same(&self) -> bool {
        black_box(&self.live[..]) == black_box(&self.shadow[..])
    }

    /// Finds the rows that differ and copies them. Returns how many rows differed.
    fn settle(&mut self) -> usize {
        let rows = self.live.chunks_exact(self.row_bytes).zip(self.shadow.chunks_exact_mut(self.row_bytes));
        let mut found = 0;
        for (live, shadow) in rows {
            if live != &*shadow {
                shadow.copy_from_slice(live);
                found += 1;
            }
        }
        found
    }

    fn change_some(&mut self, value: u8) {
        self.live.iter_mut().step_by(STRIDE * self.row_bytes).for_each(|byte| *byte = value);
    }
}

/// Players. Different players change in each tick, and the list of changed players is known.
struct Dirty {
    column: Column<Player>,
    rows: Vec<usize>,
    step: usize,
}

impl Dirty {
    fn new() -> Self {
        Self { column: Column::new(), rows: Vec::new(), step: 0 }
    }

    /// Changes one field of one player in each group of [`STRIDE`].
    fn change(&mut self) {
        self.step += 1;
        let row = |group: usize| group * STRIDE + (group + self.step).wrapping_mul(0x9e37_79b1) % STRIDE;
        self.rows.clear();
        self.rows.extend((0..OBJECTS / STRIDE).map(row));
        for &row in &self.rows {
            self.column.live[row].set_health(self.step as u16);
        }
    }

    /// Changes players, compares them, and updates their shadows. Returns how many differed.
    fn settle(&mut self) -> usize {
        self.change();
        let mut refusals = Vec::new();
        let Column { class, live, shadow, changes, scratch, .. } = &mut self.column;
        let mut found = 0;
        for (at, &row) in self.rows.iter().enumerate() {
            preload_ahead(&self.rows, at, live, shadow);
            changes.clear();
            class.compare_ordinary(&live[row], &mut shadow[row], &mut [], changes, &mut refusals, scratch);
            found += usize::from(!black_box(&*changes).is_empty());
        }
        found
    }

    /// Does the same as `settle` with a hand-written comparison.
    fn settle_by_hand(&mut self) -> usize {
        self.change();
        let Column { live, shadow, .. } = &mut self.column;
        let mut found = 0;
        for (at, &row) in self.rows.iter().enumerate() {
            preload_ahead(&self.rows, at, live, shadow);
            found += usize::from(black_box(compare_by_hand(&live[row], &mut shadow[row])) != 0);
        }
        found
    }
}

/// Prefetches the row that is compared [`PRELOAD_LEAD`] rows after the row at index `at` of the list.
#[inline]
fn preload_ahead(rows: &[usize], at: usize, live: &[Player], shadow: &[Player]) {
    if let Some(&row) = rows.get(at + PRELOAD_LEAD) {
        preload_all(&live[row]);
        preload_all(&shadow[row]);
    }
}

/// Copies the fields that differ to the shadow. Returns a mask of these fields.
#[inline]
fn compare_by_hand(live: &Player, shadow: &mut Player) -> u32 {
    let mut changed = 0;
    macro_rules! compare {
        ($($bit:literal $field:ident)*) => {
            $(if live.$field != shadow.$field {
                shadow.$field.clone_from(&live.$field);
                changed |= 1 << $bit;
            })*
        };
    }
    compare!(
        0 id 1 owner 2 target 3 yaw 4 position 5 velocity 6 health 7 max_health 8 ammo 9 armour 10 team 11 state
        12 alive 13 crouching 14 sprinting 15 aiming 16 reloading 17 swimming 18 burning 19 invisible 20 score
        21 name
    );
    changed
}

fn check<T: Subject>() {
    let mut column = Column::<T>::new();
    let mut bytes = Bytes::rows_of(T::VALUE_BYTES);
    assert_eq!((column.scan(), bytes.settle()), (0, 0), "nothing has changed yet");
    column.change_some(7);
    bytes.change_some(255);
    assert_eq!(column.scan(), OBJECTS / STRIDE, "each changed object is found");
    assert_eq!((column.settle(), bytes.settle()), (OBJECTS / STRIDE, OBJECTS / STRIDE));
    assert_eq!((column.scan(), bytes.same()), (0, true), "shadows are up to date");
}

fn check_dirty() {
    let (mut one, mut other) = (Dirty::new(), Dirty::new());
    for _ in 0..3 {
        assert_eq!((one.settle(), other.settle_by_hand()), (OBJECTS / STRIDE, OBJECTS / STRIDE));
        assert!(one.column.shadow == one.column.live && other.column.shadow == other.column.live);
    }
}

fn bench_dirty(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("compare/dirty");
    group.sample_size(30).measurement_time(Duration::from_secs(2)).warm_up_time(Duration::from_millis(500));
    group.throughput(Throughput::Elements((OBJECTS / STRIDE) as u64));
    let (mut repl, mut hand) = (Dirty::new(), Dirty::new());
    group.bench_function("repl", |bencher| bencher.iter(|| repl.settle()));
    group.bench_function("hand", |bencher| bencher.iter(|| hand.settle_by_hand()));
    group.finish();
}

fn print_dirty_ratio() {
    let (mut repl, mut hand) = (Dirty::new(), Dirty::new());
    ratios::report(
        "dirty",
        &mut [
            Side::new("repl", None, &mut |count| timed(count, || repl.settle())),
            Side::new("hand", None, &mut |count| timed(count, || hand.settle_by_hand())),
        ],
    );
}

fn bench<T: Subject>(criterion: &mut Criterion, name: &str, make: fn() -> Column<T>) {
    let mut group = criterion.benchmark_group(format!("compare/{name}_unchanged"));
    group.sample_size(30).measurement_time(Duration::from_secs(2)).warm_up_time(Duration::from_millis(500));
    let bytes = (OBJECTS * T::VALUE_BYTES) as u64;
    group.throughput(Throughput::ElementsAndBytes { elements: OBJECTS as u64, bytes });
    let (mut column, mut rows) = (make(), Bytes::rows_of(T::VALUE_BYTES));
    group.bench_function("repl", |bencher| bencher.iter(|| column.scan()));
    let memory = Bytes::rows_of(size_of::<T>());
    let copies = column.live.clone();
    group.bench_function("memcmp_values", |bencher| bencher.iter(|| rows.same()));
    group.bench_function("memcmp_memory", |bencher| bencher.iter(|| memory.same()));
    group.bench_function("partial_eq", |bencher| bencher.iter(|| black_box(&column.live) == &copies));
    group.finish();

    let mut group = criterion.benchmark_group(format!("compare/{name}_1_percent"));
    group.sample_size(30).measurement_time(Duration::from_secs(2)).warm_up_time(Duration::from_millis(500));
    group.throughput(Throughput::ElementsAndBytes { elements: OBJECTS as u64, bytes });
    let mut step = 0;
    group.bench_function("repl", |bencher| bencher.iter(|| change_and_settle(&mut column, &mut step)));
    group.bench_function("memcmp_values", |bencher| bencher.iter(|| change_and_copy(&mut rows, &mut step)));
    group.finish();
}

fn change_and_settle<T: Subject>(column: &mut Column<T>, step: &mut u16) -> usize {
    *step = step.wrapping_add(1);
    column.change_some(*step);
    column.settle()
}

fn change_and_copy(rows: &mut Bytes, step: &mut u16) -> usize {
    *step = step.wrapping_add(1);
    rows.change_some(*step as u8);
    rows.settle()
}

fn print_ratios<T: Subject>(name: &str, make: fn() -> Column<T>) {
    let (mut column, mut rows) = (make(), Bytes::rows_of(T::VALUE_BYTES));
    let (memory, copies) = (Bytes::rows_of(size_of::<T>()), column.live.clone());
    ratios::report(
        &format!("{name}_unchanged"),
        &mut [
            Side::new("repl", None, &mut |count| timed(count, || column.scan())),
            Side::new("values", None, &mut |count| timed(count, || rows.same())),
            Side::new("memory", None, &mut |count| timed(count, || memory.same())),
            Side::new("==", None, &mut |count| timed(count, || black_box(&column.live) == &copies)),
        ],
    );
    let (mut step, mut other_step) = (0, 0);
    ratios::report(
        &format!("{name}_1_percent"),
        &mut [
            Side::new("repl", None, &mut |count| timed(count, || change_and_settle(&mut column, &mut step))),
            Side::new("values", None, &mut |count| {
                timed(count, || change_and_copy(&mut rows, &mut other_step))
            }),
        ],
    );
}

fn main() {
    check::<Plain>();
    check::<Mixed>();
    check::<Player>();
    check::<Quantised>();
    check_dirty();
    let mut criterion = Criterion::default().configure_from_args();
    bench::<Plain>(&mut criterion, "plain", Column::new);
    bench::<Mixed>(&mut criterion, "with_unreplicated", Column::new);
    bench::<Player>(&mut criterion, "with_string", Column::new);
    bench::<Quantised>(&mut criterion, "resting", Column::resting);
    bench_dirty(&mut criterion);
    criterion.final_summary();
    if ratios::are_wanted() {
        print_ratios::<Plain>("plain", Column::new);
        print_ratios::<Mixed>("with_unreplicated", Column::new);
        print_ratios::<Player>("with_string", Column::new);
        print_ratios::<Quantised>("resting", Column::resting);
        print_dirty_ratio();
    }
}
