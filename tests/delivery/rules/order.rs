//! R1: the stamps that say which tick of an object is newer, and which changes late packets may still make.
//!
//! *Invariant:* no test of this file loses a packet. The tests change only the order of packets.

use repl::prelude::*;

use super::{Thing, copy, one_thing, thing, things, two_things};
use crate::support::Room;

#[test]
fn r01_a_stale_packet_is_neither_applied_nor_acked() {
    let (mut room, one) = Room::measuring(one_thing);
    room.server[one].a = 1;
    let late = room.tick_one();
    room.server[one].a = 2;
    let early = room.tick_one();
    room.deliver(0, &early);
    room.deliver(0, &late);
    assert_eq!(copy(&room, one).a, 2, "nothing goes backwards");
    room.acknowledge();
    assert_eq!(room.in_flight(0), 1, "the stale packet was not acked");
    room.settle();
    assert_eq!((copy(&room, one).a, room.updates::<Thing>(0, "a")), (2, 1), "nor is it sent again");
}

#[test]
fn r01_a_late_packet_about_other_objects_is_applied_and_acked() {
    let (mut room, one, other) = two_things();
    room.server[one].a = 1;
    let late = room.tick_one();
    room.server[other].a = 2;
    let early = room.tick_one();
    room.deliver(0, &early);
    room.deliver(0, &late);
    assert_eq!((copy(&room, one).a, copy(&room, other).a), (1, 2));
    room.acknowledge();
    assert_eq!(room.in_flight(0), 0);
}

#[test]
fn r01_one_stale_object_makes_the_whole_packet_stale() {
    let (mut room, one, other) = Room::measuring(two_things);
    room.server[one].a = 1;
    room.server[other].a = 1;
    let late = room.tick_one();
    assert_eq!(late.len(), 1, "both are in one packet");
    room.server[one].a = 2;
    let early = room.tick_one();
    room.deliver(0, &early);
    room.deliver(0, &late);
    assert_eq!((copy(&room, one).a, copy(&room, other).a), (2, 0), "what is fresh in it comes again");
    room.settle();
    assert_eq!((copy(&room, one).a, copy(&room, other).a), (2, 1));
    assert_eq!(room.updates::<Thing>(0, "a"), 2, "each value came once");
}

#[test]
fn r01_the_parts_of_one_pass_commute() {
    let config = ServerConfig { mtu_bytes: 128, ..ServerConfig::default() };
    let spawn_all = |server: &mut Server| (0..200).map(|_| server.spawn(thing(0))).collect::<Vec<_>>();
    let (mut room, all) = Room::furnished(config, things, 1, spawn_all);
    for (&object, a) in all.iter().zip(1..) {
        room.server[object].a = a * 1_000_003;
    }
    let mut packets = room.tick_one();
    assert!(packets.len() > 3, "one pass of several packets");
    packets.reverse();
    room.deliver(0, &packets);
    for (&object, a) in all.iter().zip(1..) {
        assert_eq!(copy(&room, object).a, a * 1_000_003);
    }
    room.acknowledge();
    assert_eq!(room.in_flight(0), 0, "all of them were acked");
}

#[test]
fn r01_a_closed_slot_keeps_its_stamp() {
    let (mut room, one) = one_thing();
    room.server[one].a = 1;
    let late = room.tick_one();
    room.server.despawn(one);
    let early = room.tick_one();
    room.deliver(0, &early);
    assert!(!room.client().contains(one));
    room.deliver(0, &late);
    assert!(!room.client().contains(one), "an update that comes late makes no object");
}

#[test]
fn r01_an_opening_that_comes_after_its_close_opens_nothing() {
    let (mut room, _) = one_thing();
    let brief = room.server.spawn(thing(7));
    let late = room.tick_one();
    room.server.despawn(brief);
    let early = room.tick_one();
    room.deliver(0, &early);
    room.deliver(0, &late);
    assert!(!room.client().contains(brief));
    room.settle();
    assert!(!room.client().contains(brief));
    assert_eq!(room.client().objects::<Thing>().count(), 1);
}

#[test]
fn r01_packets_in_any_order_show_the_last_value_and_never_go_backwards() {
    for order in [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2], [2, 0, 3, 1], [0, 3, 1, 2]] {
        let (mut room, one) = one_thing();
        let mut ticks = Vec::new();
        for value in 1..=4 {
            room.server[one].a = value;
            room.server[one].b = value;
            ticks.push(room.tick_one());
        }
        let mut shown = 0;
        for at in order {
            room.deliver(0, &ticks[at]);
            let Thing { a, b, .. } = copy(&room, one);
            assert!(a >= shown && a == b, "order {order:?}");
            shown = a;
        }
        assert_eq!(shown, 4);
        room.settle();
        assert_eq!(copy(&room, one), *room.server.get(one).unwrap());
    }
}
