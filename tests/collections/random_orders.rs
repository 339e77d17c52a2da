//! Hash maps and hash sets have another order in each run. This order does not affect any packet, event or
//! callback.
//!
//! *Invariant:* two rooms with the same seed make the same calls.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use repl::prelude::*;
use repl::sim::{Rng, seeds};
use repl::{ItemCallbacks, ReplicatedMap, WriteError};

use crate::support::Room;

thread_local! {
    /// The callbacks that ran, as text.
    static CALLED: RefCell<String> = const { RefCell::new(String::new()) };
}

#[derive(Clone, Debug, Default, PartialEq, Replicated)]
struct Atlas {
    #[replicated]
    towns: HashMap<u32, Town>,
    #[replicated(notify = on_roads)]
    roads: HashMap<String, HashMap<u8, u16>>,
    #[replicated]
    lakes: HashSet<u64>,
    #[replicated]
    hills: ReplicatedMap<i16, Town>,
    #[replicated]
    owners: HashMap<ObjectRef<Self>, u8>,
    #[replicated]
    plans: FastArray<Plan>,
}

impl Atlas {
    fn on_roads(&mut self, old: &HashMap<String, HashMap<u8, u16>>) {
        CALLED.with_borrow_mut(|called| writeln!(called, "{} roads", old.len()).expect("memory"));
    }
}

#[derive(Clone, Debug, Default, PartialEq, FastArrayItem)]
struct Town {
    #[replicated(range = 0..=99)]
    size: u8,
    gates: HashMap<u16, bool>,
    #[replicated(max_len = 8)]
    name: String,
}

#[derive(Clone, Debug, Default, PartialEq, FastArrayItem)]
#[replicated(callbacks)]
struct Plan {
    rooms: HashSet<u16>,
    costs: HashMap<u8, u32>,
}

impl ItemCallbacks for Plan {
    fn post_replicated_add(&mut self) {
        CALLED.with_borrow_mut(|called| writeln!(called, "added {}", self.rooms.len()).expect("memory"));
    }
}

fn town(rng: &mut Rng) -> Town {
    Town {
        // Some sizes and names cannot be sent.
        size: rng.below(104) as u8,
        gates: (0..rng.below(5)).map(|_| (rng.below(300) as u16, rng.chance(0.5))).collect(),
        name: "n".repeat(rng.below(10) as usize),
    }
}

/// Changes an atlas. The changes do not depend on the order of the maps.
fn change(atlas: &mut Atlas, others: &[ObjectRef<Atlas>], rng: &mut Rng) {
    let (many, limit) = (rng.below(3) == 0, rng.below(900));
    let count = if many { 200 } else { 3 };
    match rng.below(12) {
        0 | 1 => (0..count).for_each(|_| _ = atlas.towns.insert(rng.below(900) as u32, town(rng))),
        2 => atlas.towns.retain(|key, _| u64::from(*key) > limit || key % 2 == 0),
        3 => atlas.towns.values_mut().for_each(|town| town.size = (town.size + 1) % 100),
        4 => (0..count).for_each(|_| _ = atlas.lakes.insert(rng.below(5_000))),
        5 => atlas.lakes.retain(|lake| lake % 7 != limit % 7),
        6 => {
            let road = atlas.roads.entry(format!("road {}", rng.below(60))).or_default();
            (0..count).for_each(|_| _ = road.insert(rng.below(200) as u8, 1));
        }
        7 => atlas.roads.retain(|name, _| name.len() as u64 != 6 + limit % 2),
        8 => (0..count).for_each(|_| _ = atlas.hills.insert(rng.below(500) as i16, town(rng))),
        9 => (0..count as i16).for_each(|hill| _ = atlas.hills.remove(&(hill * 2))),
        10 => _ = atlas.owners.insert(rng.pick(others).copied().unwrap_or_default(), limit as u8),
        _ if atlas.plans.len() > 5 => atlas.plans.clear(),
        _ => {
            let rooms = (0..rng.below(50)).map(|_| rng.below(900) as u16).collect();
            let costs = (0..count).map(|_| (rng.below(250) as u8, 1)).collect();
            _ = atlas.plans.push(Plan { rooms, costs });
        }
    }
}

/// Everything that can be observed of a room in a tick.
#[derive(PartialEq)]
struct Shown {
    packets: Vec<Vec<u8>>,
    /// The events and callbacks as text.
    told: String,
}

/// Returns everything that can be observed of a room, tick by tick.
fn record(seed: u64) -> Vec<Shown> {
    let mut rng = Rng::new(seed);
    let config = ServerConfig {
        mtu_bytes: if seed.is_multiple_of(2) { 300 } else { 1_200 },
        max_bytes_per_tick: if seed.is_multiple_of(3) { 900 } else { usize::MAX },
        max_object_bytes: if seed.is_multiple_of(4) { 150 } else { 10_000 },
        ..ServerConfig::default()
    };
    let mut room = Room::new(config, |client| {
        client.register::<Atlas>();
    });
    let mut all: Vec<_> = (0..4).map(|_| room.server.spawn(Atlas::default())).collect();
    room.enter();
    room.enter();
    let mut ticks = Vec::new();
    for _ in 0..60 {
        for &one in &all {
            change(&mut room.server[one], &all, &mut rng);
        }
        if rng.chance(0.05) {
            room.server.despawn(all.remove(0));
            all.push(room.server.spawn(Atlas::default()));
        }
        let mut shown = Shown { packets: Vec::new(), told: String::new() };
        let packets = room.tick();
        for (guest, packets) in packets.iter().enumerate() {
            shown.packets.extend_from_slice(packets);
            let arriving: Vec<_> = packets.iter().filter(|_| !rng.chance(0.2)).cloned().collect();
            room.deliver(guest, &arriving);
            while let Some(event) = room.guests[guest].client.poll_event() {
                writeln!(shown.told, "{event:?}").expect("memory");
            }
            while let Some(update) = room.guests[guest].client.poll_update() {
                writeln!(shown.told, "{update:?}").expect("memory");
            }
            let replies = room.replies(guest);
            room.hear(guest, &replies);
            shown.packets.extend(replies);
        }
        // Another test checks the events of refused values.
        while let Some(event) = room.server.poll_event() {
            if !matches!(event, ServerEvent::ValueRefused { .. }) {
                writeln!(shown.told, "{event:?}").expect("memory");
            }
        }
        shown.told += &CALLED.take();
        ticks.push(shown);
    }
    ticks
}

#[test]
fn nothing_that_is_sent_or_called_depends_on_the_order_of_hash_maps() {
    for seed in seeds(0..12) {
        let (one, other) = (record(seed), record(seed));
        for (tick, (one, other)) in one.iter().zip(&other).enumerate() {
            assert!(one == other, "seed {seed}, tick {tick}:\n{}", first_difference(one, other));
        }
    }
}

/// Returns the first lines or packets that differ.
fn first_difference(one: &Shown, other: &Shown) -> String {
    let packets =
        |shown: &Shown| -> Vec<_> { shown.packets.iter().map(|packet| format!("{packet:02x?}")).collect() };
    let lines = |shown: &Shown| [shown.told.lines().map(str::to_owned).collect(), packets(shown)].concat();
    let (one, other): (Vec<String>, Vec<String>) = (lines(one), lines(other));
    let mut lines = one.iter().zip(&other);
    let shorten = |line: &str| line.chars().take(300).collect::<String>();
    lines.find(|(one, other)| one != other).map_or_else(
        || "one of them has more lines".to_owned(),
        |(one, other)| {
            let at = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count().saturating_sub(40);
            let tail = |line: &str| shorten(line.get(at..).unwrap_or_default());
            format!("{}\n{}", tail(one), tail(other))
        },
    )
}

/// Returns the refused properties of a tick with their errors, if a map contains several refused values.
fn refused() -> Vec<(&'static str, WriteError)> {
    let mut room = Room::new(ServerConfig::default(), |client| {
        client.register::<Atlas>();
    });
    let town = |len| Town { name: "n".repeat(len), ..Town::default() };
    let towns = (9..40).map(|len| (len, town(len as usize))).collect();
    room.server.spawn(Atlas { towns, ..Atlas::default() });
    room.enter();
    room.settle();
    room.refused()
}

#[test]
fn the_report_of_refused_values_does_not_depend_on_the_order_of_hash_maps() {
    let first = refused();
    assert!(!first.is_empty());
    for _ in 0..16 {
        assert_eq!(refused(), first);
    }
}
