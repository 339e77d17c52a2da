//! How many bits an update of a fast array takes, and that an update does not repeat data. The same encoded
//! bytes are sent to all clients, except to those that lack changes.
//!
//! *Invariant:* the size of an update is measured on the client, in bits of the property.

use repl::prelude::*;

use super::classes::{Bag, Call, Item, Step, calls};
use super::statements::assert_same;
use super::told::{item, make_steady, room_of, room_with};
use crate::support::{Packets, Room, TICK};

/// An upper bound on the bits of one property of an item plus the id of the item. A whole wide item takes
/// much more.
const DELTA_BITS: u64 = 64;

/// The number of bits in the name of a wide item.
const NAME_BITS: u64 = 8 * 500;

/// Returns an item that takes many bits when it is sent whole.
fn wide(kind: u32) -> Item {
    Item { name: "wide ".repeat(100), marks: vec![7; 300], ..item(kind) }
}

/// Makes a change. Returns how many bits of the property `items` all guests together receive until nothing
/// remains to be sent.
fn cost(room: &mut Room, bag: ObjectRef<Bag>, change: impl FnOnce(&mut FastArray<Item>)) -> u64 {
    let bits = |room: &Room| -> u64 {
        (0..room.guests.len()).map(|guest| room.received::<Bag>(guest, "items").1).sum()
    };
    let before = bits(room);
    change(&mut room.server[bag].items);
    room.settle();
    assert_same(room, 0, bag);
    bits(room) - before
}

/// Makes a change, and returns the packets of its tick. No time passes, so no packet is declared lost.
fn sent(room: &mut Room, bag: ObjectRef<Bag>, change: impl FnOnce(&mut FastArray<Item>)) -> Packets {
    change(&mut room.server[bag].items);
    let packets = room.tick_one();
    room.now -= TICK;
    packets
}

/// Delivers packets to the first guest. Returns how many bits of the property `items` they contain.
fn taken(room: &mut Room, packets: &[Vec<u8>]) -> u64 {
    let before = room.received::<Bag>(0, "items").1;
    room.deliver(0, packets);
    room.received::<Bag>(0, "items").1 - before
}

/// Returns the kinds of the items that were added, changed and removed on a client.
fn told_kinds() -> [Vec<u32>; 3] {
    let mut told: [Vec<u32>; 3] = Default::default();
    for call in calls() {
        match call {
            Call::Item(Step::Add(item)) => told[0].push(item.kind),
            Call::Item(Step::Change(item, _)) => told[1].push(item.kind),
            Call::Item(Step::Remove(item)) => told[2].push(item.kind),
            _ => {}
        }
    }
    told
}

#[test]
fn s144_an_item_added_beside_a_change_is_reported_immediately_and_once() {
    let (mut room, bag) = Room::measuring(|| room_with(0..10));
    let packets = sent(&mut room, bag, |items| {
        items[3].kind = 30;
        items.push(Item { name: "new ".repeat(50), ..item(40) });
    });
    assert_eq!(packets.len(), 1);
    room.deliver(0, &packets);
    assert_same(&room, 0, bag);
    assert_eq!(told_kinds(), [vec![40], vec![30], vec![]]);
    // The server treats sent data as known to the client. So it sends nothing more, with or without an ack.
    assert_eq!(room.tick_one(), Packets::new());
    room.acknowledge();
    assert_eq!(room.tick_one(), Packets::new());
    let bits = cost(&mut room, bag, |items| items[10].kind = 41);
    assert!(bits <= DELTA_BITS, "{bits} bits for one property of the item that came");
}

#[test]
fn s151_a_removal_takes_few_bits_and_fewer_beside_others() {
    // In Unreal the header takes 128 bits, and each removal 32 more.
    let removals: [(&[usize], u64); 5] =
        [(&[4], 13), (&[4, 5], 19), (&[4, 5, 6], 21), (&[9, 39, 89], 33), (&[], 0)];
    for (at, bits) in removals {
        let (mut room, bag) = Room::measuring(|| room_with(0..100));
        let found = cost(&mut room, bag, |items| at.iter().rev().for_each(|&at| drop(items.remove(at))));
        assert_eq!(found, bits, "removal of {at:?}");
    }
    // On a steady link, a packet takes 68 bits plus the bits of the removals: 13 for one removal, 19 for two.
    for at in [&[4][..], &[4, 5]] {
        let (mut room, bag) = Room::measuring(|| room_with(0..100));
        make_steady(&mut room, bag);
        let packets = sent(&mut room, bag, |items| at.iter().rev().for_each(|&at| drop(items.remove(at))));
        assert_eq!(packets.iter().map(Vec::len).collect::<Vec<_>>(), [11], "removal of {at:?}");
    }
}

#[test]
fn s154_s155_however_an_array_began_changes_go_by_property_and_element() {
    type Begin = (&'static str, bool, fn(&mut FastArray<Item>));
    let begins: [Begin; 3] = [
        ("in the opening", true, |_| {}),
        ("by one update", false, |items| items.extend((0..5).map(wide))),
        ("as another array", true, |items| *items = (5..10).map(wide).collect()),
    ];
    for (how, is_there, begin) in begins {
        let (mut room, bag) =
            Room::measuring(|| room_of(if is_there { (0..5).map(wide).collect() } else { FastArray::new() }));
        cost(&mut room, bag, begin);
        let whole = room.received::<Bag>(0, "items").1;
        assert!(whole > 5 * NAME_BITS, "{how}: {whole} bits");
        // The first client has received an update before. The second client begins with whole items.
        for guests in 1..=2 {
            let property = cost(&mut room, bag, |items| items[2].kind += 90);
            let element = cost(&mut room, bag, |items| items[3].marks[150] += 1);
            let bits = property.max(element);
            assert!(0 < property && 0 < element && bits <= guests * DELTA_BITS, "{how}: {bits} bits");
            if guests == 1 {
                room.enter();
                room.settle();
            }
        }
    }
}

#[test]
fn s161_changes_in_lost_ticks_are_merged_by_property() {
    for lost in [1, 3, 70, 130] {
        let (mut room, bag) = Room::measuring(|| room_of((0..5).map(wide).collect()));
        calls();
        sent(&mut room, bag, |items| items[2].kind = 77);
        for at in 1..lost {
            sent(&mut room, bag, |items| items[2].marks[at] = 1);
        }
        let bits = cost(&mut room, bag, |items| items[2].target = bag);
        let most = 2 * DELTA_BITS + 10 * lost as u64;
        assert!(bits <= most, "{bits} bits after {lost} lost ticks");
        let names = calls().into_iter().filter_map(|call| match call {
            Call::Item(Step::Change(_, names)) => Some(names),
            _ => None,
        });
        let mut names: Vec<_> = names.flatten().collect();
        names.sort_unstable();
        let marks = (lost > 1).then_some("marks");
        assert_eq!(names, ["kind"].into_iter().chain(marks).chain(["target"]).collect::<Vec<_>>());
    }
}

#[test]
fn s161_changes_of_removed_elements_are_not_sent() {
    let (mut room, bag) = Room::measuring(|| room_of((0..5).map(wide).collect()));
    sent(&mut room, bag, |items| items[2].marks.fill(9));
    let bits = cost(&mut room, bag, |items| items[2].marks.truncate(3));
    assert!(bits <= DELTA_BITS + 3 * 8, "{bits} bits for three elements that are left of 300");
    sent(&mut room, bag, |items| items[2].marks.fill(10));
    let bits = cost(&mut room, bag, |items| items[2].marks.clear());
    assert!(bits <= DELTA_BITS, "{bits} bits for an inner array that is empty");
}

#[test]
fn s168_data_in_flight_is_in_the_base_of_the_next_delta() {
    let (mut room, bag) = Room::measuring(|| room_with(0..10));
    // The server receives no ack until the end.
    let under_way = [
        sent(&mut room, bag, |items| items[1] = Item { name: "one ".repeat(100), ..item(1) }),
        sent(&mut room, bag, |items| _ = items.push(Item { name: "new ".repeat(100), ..item(10) })),
        sent(&mut room, bag, |items| drop(items.remove(4))),
        sent(&mut room, bag, |items| items[2].kind = 20),
    ];
    let [changed, born, removed, last] = under_way.map(|packets| taken(&mut room, &packets));
    assert!(changed > 3_200 && born > 3_200, "{changed} and {born} bits");
    assert!(removed <= 16 && last <= DELTA_BITS, "{removed} and {last} bits");
    assert_same(&room, 0, bag);
    assert_eq!(told_kinds(), [vec![10], vec![1, 20], vec![4]]);
}

#[test]
fn s169_acked_changes_are_not_sent_again_if_an_earlier_packet_is_lost() {
    let (mut room, bag) = Room::measuring(|| room_with(0..10));
    let long = |word: &str| word.repeat(100);
    let name_bits = 2 * 8 * long("lost ").len() as u64;
    let lost = sent(&mut room, bag, |items| _ = items.push(Item { name: long("lost "), ..item(10) }));
    let arrives = [
        sent(&mut room, bag, |items| items[1].name = long("here ")),
        sent(&mut room, bag, |items| drop(items.remove(4))),
    ];
    let lost_too = sent(&mut room, bag, |items| items[2].name = long("gone "));
    drop((lost, lost_too));
    arrives.iter().for_each(|packets| room.deliver(0, packets));
    room.acknowledge();
    assert_eq!(told_kinds(), [vec![], vec![1], vec![4]]);
    let bits = cost(&mut room, bag, |_| {});
    assert!((name_bits..name_bits + 4 * DELTA_BITS).contains(&bits), "{bits} bits for what was lost");
    assert_eq!(told_kinds(), [vec![10], vec![2], vec![]]);
}
