//! Merging 64 changelists (lists of changed handles), which is the most that an object's history stores,
//! compared with merging masks and sorted lists of handles.
//!
//! *Invariant:* every candidate ends with the same handles.

#[path = "support/ratios.rs"]
mod ratios;

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput};
use repl::tools::{Changelist, Class, History, Scratch};
use repl::{Refusal, Replicated};

use ratios::{Side, timed};

const LISTS: u32 = 64;
const CONNECTIONS: usize = 32;
const MEMBERS: u32 = 1_000;
const MEMBER_HANDLES: u32 = 4;
/// The number of handles in one list, the number of an object's fields, and of an array's elements.
const CHANGES: u32 = 8;
const FIELDS: u32 = 30;

#[derive(Clone, Debug, Default, Replicated)]
#[replicated(all)]
struct Member {
    kind: u16,
    health: u16,
    place: u32,
    armed: bool,
}

/// An object with one property, which is an array.
#[derive(Clone, Debug, Default, Replicated)]
#[replicated(all)]
struct Squad {
    members: Vec<Member>,
}

/// Returns the handles in list number `list`, ascending. Some handles are in every list, others differ from
/// list to list.
fn changed(list: u32, below: u32) -> Vec<u32> {
    let mut handles: Vec<u32> = (0..CHANGES)
        .map(|at| (at * 97 + (at % 2) * list.wrapping_mul(0x9e37_79b1) / 1_024) % below)
        .collect();
    handles.sort_unstable();
    handles.dedup();
    handles
}

/// 64 lists of fields: as changelists, as masks and as sorted handles.
struct Fields {
    lists: Vec<Changelist>,
    masks: Vec<u32>,
    sorted: Vec<Vec<u32>>,
}

impl Fields {
    fn new() -> Self {
        let sorted: Vec<Vec<u32>> =
            (0..LISTS).map(|list| changed(list, FIELDS).iter().map(|at| at + 1).collect()).collect();
        let lists = sorted.iter().map(|handles| {
            let mut list = Changelist::new();
            handles.iter().for_each(|handle| list.insert(*handle));
            list
        });
        let masks = sorted.iter().map(|handles| handles.iter().fold(0, |mask, handle| mask | 1 << handle));
        Self { lists: lists.collect(), masks: masks.collect(), sorted }
    }

    fn merge_masks(&self) -> u32 {
        black_box(&self.masks).iter().fold(0, |union, mask| union | mask)
    }
}

/// 64 lists of elements of one array: as changelists and as sorted element handles, counted from zero.
struct Elements {
    class: Class<Squad>,
    squad: Squad,
    lists: Vec<Changelist>,
    sorted: Vec<Vec<u32>>,
}

impl Elements {
    fn new() -> Self {
        let class = Class::<Squad>::new();
        let mut squad = Squad { members: vec![Member::default(); MEMBERS as usize] };
        let mut shadow = class.shadow_of(&squad);
        let sorted: Vec<Vec<u32>> = (0..LISTS).map(|list| changed(list, MEMBERS * MEMBER_HANDLES)).collect();
        let mut lists = Vec::new();
        for handles in &sorted {
            handles.iter().for_each(|handle| change(&mut squad, *handle));
            let mut list = Changelist::new();
            let mut refusals: Vec<Refusal> = Vec::new();
            let scope = class.conditions().ordinary();
            class.compare(&squad, &mut shadow, scope, &mut list, &mut refusals, &mut Scratch::default());
            lists.push(list);
        }
        Self { class, squad, lists, sorted }
    }

    /// Returns the element handles of a list.
    fn handles_of(&self, list: &Changelist) -> Vec<u32> {
        let flat = self.class.flat(&self.squad, list);
        let count = flat[1] as usize;
        flat[2..2 + count].iter().map(|handle| handle - 1).collect()
    }
}

fn change(squad: &mut Squad, element_handle: u32) {
    let member = &mut squad.members[(element_handle / MEMBER_HANDLES) as usize];
    match element_handle % MEMBER_HANDLES {
        0 => member.kind += 1,
        1 => member.health += 1,
        2 => member.place += 1,
        _ => member.armed = !member.armed,
    }
}

fn merge_lists(lists: &[Changelist], into: &mut Changelist) {
    into.clear();
    for list in black_box(lists) {
        into.merge(list);
    }
}

/// Merges one list after another into one union, as a history of sorted lists would be merged.
fn merge_sorted(lists: &[Vec<u32>]) -> Vec<u32> {
    let mut union: Vec<u32> = Vec::new();
    for list in black_box(lists) {
        let mut next = Vec::with_capacity(union.len() + list.len());
        let (mut ours, mut theirs) = (union.as_slice(), list.as_slice());
        while let (Some(a), Some(b)) = (ours.first(), theirs.first()) {
            next.push(*a.min(b));
            let (skip_ours, skip_theirs) = (usize::from(a <= b), usize::from(b <= a));
            (ours, theirs) = (&ours[skip_ours..], &theirs[skip_theirs..]);
        }
        next.extend_from_slice(ours);
        next.extend_from_slice(theirs);
        union = next;
    }
    union
}

/// Puts all handles in one list and then sorts this list, which is the fastest way to merge sorted lists.
fn sort_once(lists: &[Vec<u32>], union: &mut Vec<u32>) {
    union.clear();
    black_box(lists).iter().for_each(|list| union.extend_from_slice(list));
    union.sort_unstable();
    union.dedup();
}

fn history_of(lists: &[Changelist]) -> History {
    let mut history = History::default();
    for list in lists {
        assert!(history.push(list, true).is_none(), "64 lists are kept");
    }
    history
}

/// Does the work of a tick with 32 connections. Each connection has already merged all lists of the history
/// except the last one.
fn gather_all(history: &mut History, newest: &Changelist, into: &mut Changelist) {
    drop(history.push(newest, true));
    for _ in 0..CONNECTIONS {
        into.clear();
        history.gather(history.start(), into);
        black_box(&*into);
    }
}

fn gather_apart(lists: &[Changelist], into: &mut Changelist) {
    for _ in 0..CONNECTIONS {
        merge_lists(lists, into);
        black_box(&*into);
    }
}

fn check() {
    let (fields, elements) = (Fields::new(), Elements::new());
    let mut merged = Changelist::new();
    merge_lists(&fields.lists, &mut merged);
    let handles: Vec<u32> = merged.handles().iter().collect();
    assert_eq!(handles, merge_sorted(&fields.sorted), "handles of fields");
    assert_eq!(fields.merge_masks(), handles.iter().fold(0, |mask, handle| mask | 1 << handle));
    merge_lists(&elements.lists, &mut merged);
    assert_eq!(elements.handles_of(&merged), merge_sorted(&elements.sorted), "handles of elements");
    let mut sorted = Vec::new();
    sort_once(&elements.sorted, &mut sorted);
    assert_eq!(sorted, merge_sorted(&elements.sorted));
    let mut gathered = Changelist::new();
    history_of(&elements.lists).gather(0, &mut gathered);
    assert_eq!(gathered, merged, "a history gathers what merging gives");
}

fn bench(criterion: &mut Criterion) {
    let (fields, elements) = (Fields::new(), Elements::new());
    let (mut merged, mut sorted) = (Changelist::new(), Vec::new());

    let mut group = criterion.benchmark_group("changelist/merge_64_of_fields");
    configure(&mut group, LISTS.into());
    group.bench_function("repl", |bencher| bencher.iter(|| merge_lists(&fields.lists, &mut merged)));
    group.bench_function("masks", |bencher| bencher.iter(|| fields.merge_masks()));
    group.bench_function("sorted", |bencher| bencher.iter(|| merge_sorted(&fields.sorted)));
    group.finish();

    let mut group = criterion.benchmark_group("changelist/merge_64_of_elements");
    configure(&mut group, LISTS.into());
    group.bench_function("repl", |bencher| bencher.iter(|| merge_lists(&elements.lists, &mut merged)));
    group.bench_function("sorted", |bencher| bencher.iter(|| merge_sorted(&elements.sorted)));
    group.bench_function("sort_once", |bencher| bencher.iter(|| sort_once(&elements.sorted, &mut sorted)));
    group.finish();

    let mut group = criterion.benchmark_group("changelist/gather_for_32_connections");
    configure(&mut group, CONNECTIONS as u64);
    let mut history = history_of(&elements.lists);
    let newest = &elements.lists[0];
    group.bench_function("history", |bencher| {
        bencher.iter(|| gather_all(&mut history, newest, &mut merged));
    });
    group.bench_function("apart", |bencher| bencher.iter(|| gather_apart(&elements.lists, &mut merged)));
    group.finish();
}

fn configure(group: &mut criterion::BenchmarkGroup<'_, criterion::measurement::WallTime>, elements: u64) {
    group.sample_size(30).measurement_time(Duration::from_secs(2)).warm_up_time(Duration::from_millis(500));
    group.throughput(Throughput::Elements(elements));
}

fn print_ratios() {
    let (fields, elements) = (Fields::new(), Elements::new());
    let (mut merged, mut sorted) = (Changelist::new(), Vec::new());
    ratios::report(
        "merge_64_of_fields",
        &mut [
            Side::new("repl", None, &mut |count| timed(count, || merge_lists(&fields.lists, &mut merged))),
            Side::new("masks", None, &mut |count| timed(count, || fields.merge_masks())),
            Side::new("sorted", None, &mut |count| timed(count, || merge_sorted(&fields.sorted))),
        ],
    );
    ratios::report(
        "merge_64_of_elements",
        &mut [
            Side::new("repl", None, &mut |count| timed(count, || merge_lists(&elements.lists, &mut merged))),
            Side::new("sorted", None, &mut |count| timed(count, || merge_sorted(&elements.sorted))),
            Side::new("sort_once", None, &mut |count| {
                timed(count, || sort_once(&elements.sorted, &mut sorted))
            }),
        ],
    );
    let mut history = history_of(&elements.lists);
    let (mut gathered, newest) = (Changelist::new(), &elements.lists[0]);
    ratios::report(
        "gather_for_32_connections",
        &mut [
            Side::new("history", None, &mut |count| {
                timed(count, || gather_all(&mut history, newest, &mut gathered))
            }),
            Side::new("apart", None, &mut |count| {
                timed(count, || gather_apart(&elements.lists, &mut merged))
            }),
        ],
    );
}

fn main() {
    check();
    let mut criterion = Criterion::default().configure_from_args();
    bench(&mut criterion);
    criterion.final_summary();
    if ratios::are_wanted() {
        print_ratios();
    }
}
