//! Long lists of changes: their cost grows in proportion to their length, and large items share blobs (R15).
//!
//! *Invariant:* costs are counted in bytes of allocated memory, and never timed.

use std::collections::HashMap;
use std::collections::VecDeque;

use repl::prelude::*;

use crate::allocator::measure_given;
use crate::support::Room;

/// The longer of two lists has `LONGER` times as many items as the shorter one, and may cost at most `MOST`
/// times as much.
const LONGER: u32 = 8;
const MOST: usize = 10;

#[derive(Replicated, Default)]
#[replicated(all)]
struct Cells {
    array: FastArray<u32>,
    map: HashMap<u32, u32>,
}

#[derive(Replicated, Default)]
#[replicated(all)]
struct Shelf {
    texts: FastArray<String>,
}

fn cells() -> (Room, ObjectRef<Cells>) {
    let mut room = Room::new(ServerConfig::default(), |client| {
        client.register::<Cells>();
    });
    let cells = room.server.spawn(Cells::default());
    room.enter();
    room.settle();
    (room, cells)
}

/// Returns the bytes that are allocated in the ticks in which a change of this many items reaches the client.
fn cost(items: u32, prepare: fn(&mut Cells, u32), change: fn(&mut Cells, u32)) -> usize {
    let (mut room, cells) = cells();
    prepare(&mut room.server[cells], items);
    room.settle();
    change(&mut room.server[cells], items);
    let ((), given) = measure_given(|| {
        for _ in 0..3 {
            room.tick().iter().enumerate().for_each(|(guest, packets)| room.deliver(guest, packets));
            room.acknowledge();
        }
    });
    room.settle();
    let (here, there) = (&room.server[cells], room.client().get(cells).expect("the client has it"));
    assert_eq!(here.map, there.map);
    assert_eq!(here.array.len(), there.array.len());
    assert!(here.array.ids().iter().all(|&id| here.array.by_id(id) == there.array.by_id(id)));
    given
}

/// Asserts that the cost of a change grows in proportion to the number of items.
fn assert_linear(items: u32, prepare: fn(&mut Cells, u32), change: fn(&mut Cells, u32)) {
    let (short, long) = (cost(items, prepare, change), cost(items * LONGER, prepare, change));
    assert!(long <= short * MOST, "{items} items cost {short} bytes, {LONGER} times as many {long}");
}

fn fill_array(cells: &mut Cells, items: u32) {
    cells.array = (0..items).collect();
}

fn fill_map(cells: &mut Cells, items: u32) {
    cells.map = (0..items).map(|key| (key, key)).collect();
}

#[test]
fn r15_items_that_come_cost_the_same_however_many_they_are() {
    assert_linear(4_000, |_, _| {}, fill_array);
}

#[test]
fn r15_items_that_change_cost_the_same_however_many_they_are() {
    assert_linear(4_000, fill_array, |cells, _| cells.array.iter_mut().for_each(|mut item| *item += 1));
}

#[test]
fn r15_entries_that_come_cost_the_same_however_many_they_are() {
    assert_linear(4_000, |_, _| {}, fill_map);
}

#[test]
fn r15_entries_that_change_cost_the_same_however_many_they_are() {
    assert_linear(4_000, fill_map, |cells, _| cells.map.values_mut().for_each(|value| *value += 1));
}

#[test]
fn r15_a_late_joiner_gets_maps_at_a_cost_that_grows_with_their_length() {
    let cost = |items| {
        let (mut room, cells) = cells();
        fill_map(&mut room.server[cells], items);
        room.settle();
        room.enter();
        let ((), given) = measure_given(|| room.settle());
        assert_eq!(room.guests[1].client[cells].map, room.server[cells].map);
        given
    };
    let (short, long) = (cost(4_000), cost(4_000 * LONGER));
    assert!(long <= short * MOST, "4,000 entries cost {short} bytes, {LONGER} times as many {long}");
}

/// Returns a room with a client to which few bytes are sent in a tick.
fn narrow() -> (Room, ObjectRef<Cells>) {
    let config = ServerConfig { max_bytes_per_tick: 2_000, ..ServerConfig::default() };
    let mut room = Room::new(config, |client| {
        client.register::<Cells>();
    });
    let cells = room.server.spawn(Cells::default());
    room.enter();
    room.settle();
    (room, cells)
}

#[test]
fn r15_items_and_entries_that_wait_cost_nothing_before_their_turn() {
    let cost = |prepare: fn(&mut Cells, u32), items: u32| {
        let (mut room, cells) = narrow();
        prepare(&mut room.server[cells], items);
        let step = |room: &mut Room| {
            let packets = room.tick_one();
            room.deliver(0, &packets);
            room.acknowledge();
        };
        (0..4).for_each(|_| step(&mut room));
        let ((), given) = measure_given(|| {
            for tick in 0..8 {
                let cells = &mut room.server[cells];
                cells.map.values_mut().take(1).for_each(|value| *value += tick);
                cells.array.iter_mut().take(1).for_each(|mut item| *item += tick);
                step(&mut room);
            }
        });
        given
    };
    for prepare in [fill_array, fill_map] {
        let (short, long) = (cost(prepare, 4_000), cost(prepare, 4_000 * LONGER));
        assert!(
            long <= short * 2,
            "where 4,000 wait it costs {short} bytes, where {LONGER} times as many {long}"
        );
    }
}

#[test]
fn w08_waiting_changes_arrive_with_their_last_value() {
    let (mut room, id) = narrow();
    fill_array(&mut room.server[id], 3_000);
    fill_map(&mut room.server[id], 3_000);
    for tick in 0..90_u32 {
        for turn in 0..24 {
            let (cells, key) = (&mut room.server[id], (tick * 37 + turn * 263) % 3_000);
            let at = key as usize % cells.array.len();
            match (tick + turn) % 4 {
                0 => _ = (cells.map.remove(&key), cells.array.swap_remove(at)),
                1 => _ = (cells.map.insert(key, tick), cells.array.push(tick)),
                _ => _ = (cells.map.get_mut(&key).map(|value| *value += 1), cells.array[at] += 1),
            }
        }
        let packets = room.tick_one();
        if tick % 3 > 0 {
            room.deliver(0, &packets);
        }
        room.acknowledge();
    }
    room.settle();
    let (here, there) = (&room.server[id], &room.client()[id]);
    assert_eq!(here.map, there.map);
    assert_eq!(here.array.len(), there.array.len());
    assert!(here.array.ids().iter().all(|&id| here.array.by_id(id) == there.array.by_id(id)));
}

#[test]
fn r04_a_removal_that_was_lost_does_not_undo_the_entrys_coming_back_that_waits() {
    let (mut room, id) = narrow();
    let keys = [0, 1, 1_000, 2_999, 5_000, 70_000, 1 << 24, u32::MAX];
    room.server[id].map.extend(keys.map(|key| (key, 1)));
    room.settle();
    // The packets of the client arrive some ticks late, so a lot of data waits by the time the server notices
    // the loss.
    let mut replies = VecDeque::from(vec![Vec::new(); 4]);
    for tick in 0..100 {
        match tick {
            0..40 => _ = room.server[id].map.insert(0, tick),
            40 => keys.iter().for_each(|key| _ = room.server[id].map.remove(key)),
            41 => room.server[id].map.extend((0..3_000).chain(keys).map(|key| (key, tick))),
            _ => {}
        }
        let packets = room.tick_one();
        if tick != 40 {
            room.deliver(0, &packets);
        }
        replies.push_back(room.replies(0));
        room.hear(0, &replies.pop_front().unwrap_or_default());
    }
    room.settle();
    let (here, there) = (&room.server[id].map, &room.client()[id].map);
    let lacking: Vec<_> = here.keys().filter(|key| here.get(key) != there.get(key)).collect();
    assert_eq!((lacking, there.len()), (Vec::new(), here.len()));
}

#[test]
fn w08_changes_behind_endless_changes_still_arrive() {
    let (mut room, id) = narrow();
    fill_array(&mut room.server[id], 3_000);
    fill_map(&mut room.server[id], 3_000);
    room.settle();
    let cells = &mut room.server[id];
    let came = cells.array.push(7);
    cells.map.insert(3_000, 7);
    let gone: Vec<_> = cells.map.keys().copied().filter(|key| key % 4 == 0 && *key < 3_000).collect();
    gone.iter().for_each(|key| _ = cells.map.remove(key));
    for tick in 0..60 {
        let cells = &mut room.server[id];
        cells.array.iter_mut().take(2_999).for_each(|mut item| *item += 1);
        cells.map.iter_mut().filter(|(key, _)| **key < 3_000).for_each(|(_, value)| *value += tick);
        room.step();
    }
    let held = &room.client()[id];
    assert_eq!(held.array.by_id(came), Some(&7));
    assert_eq!((held.map.get(&3_000), held.map.len()), (Some(&7), 2_251));
}

fn shelf(texts: usize) -> (Room, ObjectRef<Shelf>) {
    let mut room = Room::new(ServerConfig::default(), |client| {
        client.register::<Shelf>();
    });
    let shelf = room.server.spawn(Shelf::default());
    room.server[shelf].texts.extend((0..texts).map(|_| String::new()));
    room.enter();
    room.settle();
    (room, shelf)
}

/// Returns a text of two kilobytes.
fn text(number: usize) -> String {
    format!("{number:02000}")
}

fn assert_same(room: &Room, shelf: ObjectRef<Shelf>) {
    let (here, there) = (&room.server[shelf].texts, &room.client()[shelf].texts);
    assert_eq!(here.len(), there.len());
    assert!(here.ids().iter().all(|&id| here.by_id(id) == there.by_id(id)));
}

#[test]
fn r15_large_items_share_blobs_and_come_in_order() {
    let (mut room, shelf) = shelf(0);
    room.server[shelf].texts.extend((0..200).map(text));
    let mut ticks = 0;
    while room.client()[shelf].texts.len() < 200 {
        room.step();
        ticks += 1;
        let mut ids = room.client()[shelf].texts.ids().to_vec();
        ids.sort_unstable();
        assert_eq!(ids, room.server[shelf].texts.ids()[..ids.len()], "tick {ticks}");
    }
    assert!(ticks <= 20, "{ticks} ticks");
    assert_same(&room, shelf);
}

#[test]
fn w08_of_large_items_the_oldest_changes_go_first() {
    let (mut room, shelf) = shelf(100);
    let write = |room: &mut Room, items: std::ops::Range<usize>| {
        items.for_each(|at| room.server[shelf].texts[at] = text(at));
        room.step();
    };
    write(&mut room, 50..100);
    write(&mut room, 0..50);
    for _ in 0..10 {
        let texts = &room.client()[shelf].texts;
        let ids = room.server[shelf].texts.ids();
        let there = |at: usize| texts.by_id(ids[at]).is_some_and(|text| !text.is_empty());
        assert!((50..100).all(there) || !(0..50).any(there), "a newer change overtook an older one");
        room.step();
    }
    assert_same(&room, shelf);
}

#[test]
fn r15_large_items_arrive_over_a_link_that_loses_packets() {
    let (mut room, shelf) = shelf(40);
    let mut sent = 0;
    for tick in 0..120 {
        let texts = &mut room.server[shelf].texts;
        if tick < 40 {
            texts[tick] = text(tick);
            texts[39 - tick] = text(100 + tick);
            texts.push(text(200 + tick));
            texts.swap_remove(tick / 2);
        }
        for packet in room.tick_one() {
            sent += 1;
            if sent % 4 != 0 {
                room.deliver(0, &[packet]);
            }
        }
        room.acknowledge();
    }
    room.settle();
    assert_same(&room, shelf);
}

#[test]
fn r15_a_blob_of_several_items_stays_below_its_share_of_what_an_object_may_take() {
    let most = 64 << 10;
    let config = ServerConfig { max_object_bytes: most, ..ServerConfig::default() };
    let mut room = Room::new(config, |client| {
        client.register::<Shelf>();
    });
    let shelf = room.server.spawn(Shelf::default());
    room.enter();
    room.settle();
    room.server[shelf].texts.extend((0..40).map(text));
    while room.client()[shelf].texts.len() < 40 {
        let before = room.client()[shelf].texts.len();
        room.step();
        assert!(room.client()[shelf].texts.len() <= before + 4, "four of these take an eighth");
    }
    assert_same(&room, shelf);
}
