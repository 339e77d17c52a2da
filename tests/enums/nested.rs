//! Enums nest in structs, arrays, options, items, maps and other enums, and all of these nest in enums.
//!
//! *Invariant:* after each update the replica equals the object, whatever was changed.

use std::collections::{BTreeMap, BTreeSet};

use repl::prelude::*;
use repl::sim::Rng;

use crate::pair::Pair;

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(all)]
enum Mode {
    #[default]
    Idle,
    Walk {
        speed: u16,
        to: [u8; 3],
    },
    Carry(Vec<u16>, Option<u8>),
    Count(u64),
}

/// An enum with one variant, whose number takes no bits.
#[derive(Replicated, Clone, Debug, PartialEq)]
#[replicated(all)]
enum Only {
    This { number: u8, text: String },
}

impl Default for Only {
    fn default() -> Self {
        Self::This { number: 0, text: String::new() }
    }
}

/// An enum without fields.
#[derive(Replicated, Clone, Copy, Debug, Default, PartialEq)]
enum Bare {
    #[default]
    One,
    Two,
    Three,
}

#[derive(Replicated, Clone, Debug, PartialEq)]
#[replicated(all)]
enum Either<L, R> {
    Left(L),
    Right { value: R, times: u8 },
}

impl<L: Default, R> Default for Either<L, R> {
    fn default() -> Self {
        Self::Left(L::default())
    }
}

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(all)]
enum Outer {
    #[default]
    Nothing,
    Inner {
        mode: Mode,
        level: u8,
    },
    Pair(Mode, Option<Mode>),
    Many {
        list: Vec<Mode>,
        map: BTreeMap<u8, Mode>,
        items: FastArray<Slot>,
        keys: BTreeSet<u8>,
    },
    Deep(Option<Either<Mode, String>>),
}

#[derive(FastArrayItem, Clone, Debug, Default, PartialEq)]
struct Slot {
    mode: Mode,
    count: u8,
}

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(all)]
struct Base {
    before: u8,
    mode: Mode,
    after: u32,
}

#[derive(Replicated, Debug, Default, PartialEq)]
#[replicated(all)]
struct Everything {
    mode: Mode,
    base: Base,
    fixed: [Mode; 2],
    pair: (u8, Mode),
    maybe: Option<Mode>,
    list: Vec<Mode>,
    items: FastArray<Slot>,
    ordered: OrderedFastArray<Slot>,
    map: BTreeMap<u8, Mode>,
    by_mode: BTreeMap<u8, Outer>,
    outer: Outer,
    generic: Either<u16, Outer>,
    only: Only,
    bare: Bare,
    onlys: Vec<Only>,
}

fn mode(rng: &mut Rng) -> Mode {
    let byte = |rng: &mut Rng| rng.below(5) as u8;
    match rng.below(4) {
        0 => Mode::Idle,
        1 => Mode::Walk { speed: rng.below(3) as u16, to: [byte(rng), 0, byte(rng)] },
        2 => {
            Mode::Carry((0..rng.below(4)).map(|at| at as u16).collect(), rng.chance(0.5).then_some(byte(rng)))
        }
        _ => Mode::Count(rng.below(3)),
    }
}

fn outer(rng: &mut Rng) -> Outer {
    match rng.below(5) {
        0 => Outer::Nothing,
        1 => Outer::Inner { mode: mode(rng), level: rng.below(3) as u8 },
        2 => Outer::Pair(mode(rng), rng.chance(0.5).then(|| mode(rng))),
        3 => Outer::Many {
            list: (0..rng.below(3)).map(|_| mode(rng)).collect(),
            map: (0..rng.below(3)).map(|key| (key as u8, mode(rng))).collect(),
            items: (0..rng.below(3)).map(|_| slot(rng)).collect(),
            keys: (0..rng.below(4)).map(|_| rng.below(9) as u8).collect(),
        },
        _ => Outer::Deep(rng.chance(0.7).then(|| match rng.below(2) {
            0 => Either::Left(mode(rng)),
            _ => Either::Right { value: "x".repeat(rng.below(4) as usize), times: rng.below(3) as u8 },
        })),
    }
}

fn slot(rng: &mut Rng) -> Slot {
    Slot { mode: mode(rng), count: rng.below(3) as u8 }
}

fn only(rng: &mut Rng) -> Only {
    Only::This { number: rng.below(3) as u8, text: "y".repeat(rng.below(3) as usize) }
}

/// Changes something inside a mode without making another variant active, if it can.
fn nudge(mode: &mut Mode, rng: &mut Rng) {
    match mode {
        Mode::Idle => {}
        Mode::Walk { speed, to } => (*speed, to[1]) = (speed.wrapping_add(1), rng.below(3) as u8),
        Mode::Carry(list, maybe) => {
            list.push(rng.below(9) as u16);
            *maybe = None;
        }
        Mode::Count(count) => *count += 1,
    }
}

fn change(it: &mut Everything, rng: &mut Rng) {
    let at = rng.below(3) as usize;
    match rng.below(22) {
        0 => it.mode = mode(rng),
        1 => nudge(&mut it.mode, rng),
        2 => it.base.mode = mode(rng),
        3 => nudge(&mut it.base.mode, rng),
        4 => it.fixed[at % 2] = mode(rng),
        5 => nudge(&mut it.pair.1, rng),
        6 => it.maybe = rng.chance(0.7).then(|| mode(rng)),
        7 => it.maybe.iter_mut().for_each(|mode| nudge(mode, rng)),
        8 => it.list.push(mode(rng)),
        9 => drop(it.list.pop()),
        10 => it.list.iter_mut().for_each(|mode| nudge(mode, rng)),
        11 => drop(it.items.push(slot(rng))),
        12 => it.items.get_mut(at).into_iter().for_each(|mut slot| nudge(&mut slot.mode, rng)),
        13 => it.items.get_mut(at).into_iter().for_each(|mut slot| slot.mode = mode(rng)),
        14 => drop(it.ordered.insert(0, slot(rng))),
        15 => it
            .map
            .entry(at as u8)
            .and_modify(|mode| nudge(mode, rng))
            .or_insert(Mode::Count(1))
            .clone_from(&mode(rng)),
        16 => drop(it.by_mode.insert(at as u8, outer(rng))),
        17 => it.outer = outer(rng),
        18 => match &mut it.outer {
            Outer::Inner { mode, .. } | Outer::Pair(mode, _) => nudge(mode, rng),
            Outer::Many { list, map, items, .. } => {
                list.iter_mut().for_each(|mode| nudge(mode, rng));
                map.values_mut().for_each(|mode| nudge(mode, rng));
                items.iter_mut().for_each(|mut slot| nudge(&mut slot.mode, rng));
            }
            Outer::Deep(Some(Either::Right { times, .. })) => *times += 1,
            Outer::Nothing | Outer::Deep(_) => {}
        },
        19 => {
            it.generic = match rng.below(2) {
                0 => Either::Left(rng.below(4) as u16),
                _ => Either::Right { value: outer(rng), times: rng.below(3) as u8 },
            }
        }
        20 => it.only = only(rng),
        _ => {
            it.bare = [Bare::One, Bare::Two, Bare::Three][at];
            it.onlys.push(only(rng));
            it.onlys.truncate(3);
        }
    }
}

/// Ends the update of the replica, and compares it with the object.
fn assert_same(pair: &mut Pair<Everything>) {
    pair.class.conclude(&mut pair.replica, false);
    let sorted = |items: &FastArray<Slot>| {
        let mut items: Vec<_> = items.iter().map(|slot| format!("{slot:?}")).collect();
        items.sort();
        items
    };
    assert_eq!(sorted(&pair.replica.items), sorted(&pair.live.items));
    let text = |it: &Everything| {
        let Everything { mode, base, fixed, pair, maybe, list, map, only, bare, onlys, .. } = it;
        format!("{:?}", (mode, base, fixed, pair, maybe, list, map, only, bare, onlys))
    };
    assert_eq!(text(&pair.replica), text(&pair.live));
    let text = |it: &Everything| format!("{:?}", (&it.outer, &it.generic, &it.by_mode, &it.ordered));
    assert_eq!(text(&pair.replica), text(&pair.live));
}

#[test]
fn r28_enums_nest_in_everything_and_everything_in_enums() {
    for seed in 0..40 {
        let (mut pair, mut rng) = (Pair::<Everything>::new(), Rng::new(seed));
        for _ in 0..60 {
            pair.update(|it| (0..=rng.below(3)).for_each(|_| change(it, &mut rng)));
            assert_same(&mut pair);
        }
        assert!(pair.refusals.is_empty(), "{:?}", pair.refusals);
    }
}

#[test]
fn r28_merged_changes_send_the_same_as_single_ones() {
    for seed in 100..140 {
        let (mut pair, mut rng) = (Pair::<Everything>::new(), Rng::new(seed));
        for _ in 0..20 {
            let mut all = repl::tools::Changelist::new();
            for _ in 0..rng.below(6) {
                all.merge(&pair.edit(|it| change(it, &mut rng)));
            }
            pair.class.prune(&pair.shadow, &mut all);
            let bits = pair.encode(&all);
            if !all.is_empty() {
                pair.receive(&bits).unwrap();
            }
            assert_same(&mut pair);
        }
    }
}

#[test]
fn r28_a_field_of_an_enum_deep_inside_is_sent_alone() {
    let long = Mode::Carry(vec![9; 200], Some(1));
    let set = |it: &mut Everything, count: u8| {
        let value = || Outer::Pair(long.clone(), Some(Mode::Walk { speed: count.into(), to: [0; 3] }));
        it.outer = value();
        it.generic = Either::Right { value: value(), times: 0 };
        it.maybe = Some(Mode::Walk { speed: count.into(), to: [0; 3] });
        it.map = BTreeMap::from([(3, Mode::Walk { speed: count.into(), to: [0; 3] }), (4, long.clone())]);
        it.list = vec![long.clone(), Mode::Count(count.into())];
    };
    let mut pair = Pair::<Everything>::new();
    pair.update(|it| set(it, 1));
    let bits = pair.update(|it| set(it, 2));
    assert_same(&mut pair);
    assert!(bits < 400, "{bits} bits, although five numbers have changed");
}

#[test]
fn r28_an_enum_as_the_value_of_a_map_or_the_element_of_a_list_has_one_handle() {
    let table = Everything::LAYOUT.to_string();
    assert!(table.contains("map{}.Walk.speed"), "{table}");
    assert!(table.contains("list[].Count.0"), "{table}");
    assert!(table.contains("items{}.mode.Walk.to[2]"), "{table}");
    assert!(table.contains("outer.Pair.1?.Walk.speed"), "{table}");
}
