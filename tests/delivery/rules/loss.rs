//! R2 to R5 and R10: the changes that are sent again after a loss, and their values. Also the statements on
//! histories and resends.
//!
//! *Invariant:* a packet that a test does not deliver is lost for good.

use std::time::Duration;

use repl::prelude::*;

use super::{Thing, copy, one_thing, thing, things, two_things};
use crate::support::{Room, TICK, property};

#[test]
fn r02_an_opening_is_sent_whole_until_one_is_acked() {
    let (mut room, _) = one_thing();
    let born = room.server.spawn(Thing { a: 1, name: "Ada".into(), ..Thing::default() });
    room.tick_one();
    room.server[born].b = 2;
    let second = room.tick_one();
    room.deliver(0, &second);
    let expected = Thing { a: 1, b: 2, name: "Ada".into(), ..Thing::default() };
    assert_eq!(copy(&room, born), expected, "the second packet needs no first");
}

#[test]
fn r02_a_large_opening_is_sent_once_and_then_held_until_acked() {
    let (mut room, _) = Room::measuring(one_thing);
    let born = room.server.spawn(Thing { name: "x".repeat(600), ..Thing::default() });
    let opening = room.tick_one();
    room.server[born].b = 2;
    assert!(room.tick_one().is_empty(), "what changes meanwhile waits");
    room.deliver(0, &opening);
    assert_eq!(copy(&room, born).b, 0);
    room.settle();
    assert_eq!((copy(&room, born).b, room.updates::<Thing>(0, "name")), (2, 1));
}

#[test]
fn r02_a_new_array_tail_goes_again_with_each_change_of_its_array_until_acked() {
    let (mut room, one) = Room::measuring(one_thing);
    room.server[one].list = vec![1];
    room.settle();
    room.server[one].list.push(2);
    room.tick_one();
    room.server[one].list[0] = 9;
    let second = room.tick_one();
    room.deliver(0, &second);
    assert_eq!(copy(&room, one).list, [9, 2], "the second packet needs no first");
    room.settle();
    let (_, bits) = room.received::<Thing>(0, "list");
    room.server[one].list[0] = 8;
    room.settle();
    let (_, after) = room.received::<Thing>(0, "list");
    assert!(after - bits < 32, "once acked the tail goes no more: {} bits", after - bits);
}

#[test]
fn r04_changes_in_the_same_array_of_two_objects_are_sent_again_each_with_its_own_elements() {
    let (mut room, one, other) = two_things();
    for object in [one, other] {
        room.server[object].list = vec![0; 6];
    }
    room.settle();
    for tick in 1..=4_u16 {
        if tick.is_multiple_of(2) {
            // This changes only the number of elements.
            room.server[one].list.pop();
        } else {
            room.server[one].list[0] = tick;
        }
        room.server[other].list[5] = tick;
        room.lose_until_noticed(0);
        room.settle();
        let lists = [one, other].map(|object| copy(&room, object).list);
        assert_eq!(lists, [one, other].map(|object| room.server[object].list.clone()), "tick {tick}");
    }
}

#[test]
fn r02_the_value_of_an_option_is_new_with_it() {
    let (mut room, one) = one_thing();
    room.server[one].maybe = Some(5);
    room.tick_one();
    room.server[one].maybe = Some(6);
    let second = room.tick_one();
    room.deliver(0, &second);
    assert_eq!(copy(&room, one).maybe, Some(6));
}

#[derive(Replicated, Debug, Default, Clone, PartialEq)]
#[replicated(all)]
struct Seat {
    row: u8,
    place: u8,
}

#[derive(Replicated, Default)]
#[replicated(all)]
struct Hall {
    seats: Vec<Seat>,
}

#[test]
fn r02_an_ack_of_a_removed_element_does_not_count_for_the_next_at_its_index() {
    let seat = |row, place| Seat { row, place };
    let register = |client: &mut Client| _ = client.register::<Hall>();
    let (mut room, hall) = Room::furnished(ServerConfig::default(), register, 1, |server| {
        server.spawn(Hall { seats: vec![seat(1, 1)] })
    });
    room.server[hall].seats.push(seat(2, 2));
    let first = room.tick_one();
    room.server[hall].seats.pop();
    let second = room.tick_one();
    room.deliver(0, &first);
    room.deliver(0, &second);
    let acks = room.replies(0);
    room.server[hall].seats.push(seat(3, 3));
    assert_eq!(room.tick_one().len(), 1, "the new element, which is lost");
    room.hear(0, &acks);
    room.server[hall].seats[1].row = 4;
    let edit = room.tick_one();
    room.deliver(0, &edit);
    assert_eq!(room.client()[hall].seats, [seat(1, 1), seat(4, 3)]);
}

#[derive(Replicated, Default)]
#[replicated(all)]
struct Pushed {
    polled: u32,
    #[replicated(push)]
    pushed: u32,
}

fn pushed(client: &mut Client) {
    client.register::<Pushed>();
}

#[test]
fn r03_a_resend_has_the_values_that_were_compared_not_the_live_ones() {
    let spawn = |server: &mut Server| server.spawn(Pushed::default());
    let (mut room, one) = Room::furnished(ServerConfig::default(), pushed, 1, spawn);
    room.server[one].pushed = 1;
    room.server.object(one).mark_dirty(property::<Pushed>("pushed"));
    room.tick_one();
    // The value is not marked as dirty, so it has not been compared yet.
    room.server[one].pushed = 2;
    room.settle();
    let value = |room: &Room| room.client().get(one).map(|object| object.pushed);
    assert_eq!(value(&room), Some(1), "the lost value was sent again, as compared");
    room.server.object(one).mark_dirty(property::<Pushed>("pushed"));
    room.settle();
    assert_eq!(value(&room), Some(2));
}

#[test]
fn s68_an_open_compares_push_properties_that_nobody_marked() {
    let spawn = |server: &mut Server| server.spawn(Pushed::default());
    let (mut room, one) = Room::furnished(ServerConfig::default(), pushed, 1, spawn);
    room.server[one].pushed = 3;
    room.settle();
    let value = |room: &Room, guest: usize| room.guests[guest].client.get(one).map(|object| object.pushed);
    assert_eq!(value(&room, 0), Some(0));
    room.enter();
    room.settle();
    assert_eq!((value(&room, 0), value(&room, 1)), (Some(3), Some(3)));
}

#[test]
fn r04_a_resend_carries_only_what_was_lost_and_not_sent_since() {
    let (mut room, one) = Room::measuring(one_thing);
    room.server[one].a = 1;
    room.server[one].b = 1;
    room.tick_one();
    room.server[one].a = 2;
    room.settle();
    assert_eq!((copy(&room, one).a, copy(&room, one).b), (2, 1));
    assert_eq!(room.updates::<Thing>(0, "a"), 1, "it came with the second packet and never again");
    assert_eq!(room.updates::<Thing>(0, "b"), 1);
}

#[test]
fn r04_earlier_packets_are_not_subtracted_from_lost_changes() {
    let (mut room, one, other) = two_things();
    let tick = |room: &mut Room| {
        let packets = room.tick_one();
        // All ticks together take less time than it takes to declare a packet lost.
        room.now -= TICK - Duration::from_micros(5);
        packets
    };
    // Two packets are lost together: one from before the old value of `a`, and the one with its new value.
    room.server[other].b = 1;
    tick(&mut room);
    room.server[one].a = 1;
    let old = tick(&mut room);
    room.deliver(0, &old);
    room.server[one].a = 2;
    tick(&mut room);
    room.server[other].name = "later".into();
    let later = tick(&mut room);
    room.deliver(0, &later);
    room.wait(Duration::from_secs(1));
    room.settle();
    assert_eq!((copy(&room, one).a, copy(&room, other).b), (2, 1));
}

#[test]
fn r04_lost_elements_of_an_array_are_set_off_against_later_ones() {
    let (mut room, one) = Room::measuring(one_thing);
    room.server[one].list = vec![0; 100];
    room.settle();
    let (_, before) = room.received::<Thing>(0, "list");
    (0..50).for_each(|at| room.server[one].list[at] = 7);
    room.tick_one();
    (1..50).for_each(|at| room.server[one].list[at] = 8);
    let second = room.tick_one();
    room.deliver(0, &second);
    let (_, whole) = room.received::<Thing>(0, "list");
    room.settle();
    let (_, after) = room.received::<Thing>(0, "list");
    assert_eq!(copy(&room, one).list, room.server[one].list);
    assert!(after - whole < (whole - before) / 10, "one element came again: {} bits", after - whole);
}

#[test]
fn r04_a_late_ack_of_a_packet_held_for_lost_changes_nothing() {
    let (mut room, one) = one_thing();
    room.server[one].a = 1;
    let packets = room.tick_one();
    room.deliver(0, &packets);
    let ack = room.replies(0);
    for _ in 0..60 {
        room.tick_one();
    }
    let lost = room.server.connection_info(room.guests[0].id).stats().unwrap().packets_lost;
    assert!(lost >= 1);
    room.hear(0, &ack);
    room.settle();
    assert_eq!(copy(&room, one).a, 1);
    assert_eq!(room.closed(0), None);
}

#[test]
fn r05_a_repeated_update_changes_nothing() {
    let (mut room, one) = Room::measuring(one_thing);
    room.server[one].list = vec![1, 2, 3];
    room.server[one].maybe = Some(1);
    let first = room.tick_one();
    room.deliver(0, &first);
    // The acks are lost, so everything is sent again.
    for _ in 0..30 {
        let again = room.tick_one();
        room.deliver(0, &again);
    }
    assert!(room.updates::<Thing>(0, "list") > 1, "it was sent again");
    assert_eq!(copy(&room, one), room.server[one]);
    room.server[one].list.truncate(1);
    room.server[one].maybe = None;
    room.settle();
    assert_eq!(copy(&room, one), room.server[one]);
}

/// Makes more different changes than a history can store, while nothing may be sent to the client.
fn overflow(ticks: u32) -> (Room, ObjectRef<Thing>) {
    let config = ServerConfig { max_packets_in_flight: 1, ..ServerConfig::default() };
    let (mut room, one) = Room::furnished(config, things, 1, |server| server.spawn(thing(0)));
    room.server[one].name = "first".into();
    let held = room.tick_one();
    for at in 0..ticks {
        match at {
            0 => room.server[one].b = 77,
            1 => room.server[one].list = vec![4, 5, 6],
            _ => room.server[one].a = at,
        }
        room.now -= TICK - Duration::from_micros(20);
        assert!(room.tick_one().is_empty(), "the one packet in flight is not resolved");
    }
    room.deliver(0, &held);
    (room, one)
}

#[test]
fn r10_lists_dropped_from_a_full_history_are_kept_for_each_connection_behind() {
    for ticks in [63, 64, 65, 66, 130, 500] {
        let (mut room, one) = Room::measuring(|| overflow(ticks));
        room.settle();
        assert_eq!(copy(&room, one), room.server[one], "after {ticks} lists");
        assert_eq!(room.updates::<Thing>(0, "a"), 1, "merged, not replayed");
    }
}

#[test]
fn s66_no_change_is_forgotten_when_the_ring_overflows() {
    let (mut room, one) = overflow(200);
    room.settle();
    let Thing { b, list, .. } = copy(&room, one);
    assert_eq!((b, list.as_slice()), (77, [4, 5, 6].as_slice()), "the oldest lists had them");
}

#[test]
fn s69_values_equal_to_the_archetype_are_never_sent() {
    let (mut room, one) = Room::measuring(one_thing);
    assert_eq!(room.updates::<Thing>(0, "a") + room.updates::<Thing>(0, "name"), 0);
    room.server[one].a = 5;
    room.settle();
    room.server[one].a = 0;
    room.settle();
    room.enter();
    room.settle();
    assert_eq!(
        room.updates::<Thing>(1, "a"),
        1,
        "changed once, so a late joiner is told, back at the default or not"
    );
    assert_eq!(room.updates::<Thing>(1, "b"), 0, "never changed");
    assert_eq!(room.guests[1].client.get(one), room.server.get(one));
}

#[test]
fn s69_an_object_from_an_archetype_is_compared_with_that() {
    let make = || Thing { a: 100, name: "prefab".into(), ..Thing::default() };
    let mut room = Room::measuring(|| {
        Room::new(ServerConfig::default(), |client| {
            client.register_archetype(|| Thing { a: 100, name: "prefab".into(), ..Thing::default() });
        })
    });
    let archetype = room.server.register_archetype(make);
    let one = room.server.spawn_from(archetype, Thing { b: 3, ..make() });
    room.enter();
    room.settle();
    assert_eq!(copy(&room, one), Thing { b: 3, ..make() });
    assert_eq!((room.updates::<Thing>(0, "a"), room.updates::<Thing>(0, "b")), (0, 1));
}

#[test]
fn s75_a_new_connection_starts_from_everything_ever_changed() {
    let (mut room, one, other) = Room::measuring(two_things);
    for value in 1..=100 {
        room.server[one].a = value;
        room.server[one].list.push(value as u16);
        room.step();
    }
    room.enter();
    room.settle();
    assert_eq!(room.guests[1].client.get(one), room.server.get(one));
    assert_eq!(room.guests[1].client.get(other), room.server.get(other));
    assert_eq!(room.updates::<Thing>(1, "a"), 1);
}

#[test]
fn s76_missed_changes_are_merged_into_one_update() {
    let (mut room, one) = overflow(20);
    room.acknowledge();
    let packets = room.tick_one();
    assert_eq!(packets.len(), 1);
    room.deliver(0, &packets);
    assert_eq!(copy(&room, one), room.server[one]);
}

#[test]
fn s78_an_ack_releases_every_record_up_to_it() {
    let (mut room, one) = one_thing();
    let mut packets = Vec::new();
    for value in 1..=10 {
        room.server[one].a = value;
        packets.extend(room.tick_one());
        room.now -= TICK - Duration::from_micros(5);
    }
    assert_eq!(room.in_flight(0), 10);
    room.deliver(0, &packets);
    room.acknowledge();
    assert_eq!(room.in_flight(0), 0);
}

#[test]
fn s79_a_resend_reads_the_values_of_that_moment() {
    let (mut room, one) = Room::measuring(one_thing);
    room.server[one].name = "stale".into();
    room.server[one].a = 1;
    room.tick_one();
    // The name changes while nothing may be sent to the client. So the resent packet is the first to contain
    // the value.
    room.server[one].name = "fresh".into();
    room.tick_one();
    room.settle();
    assert_eq!(copy(&room, one).name, "fresh");
    assert_eq!(room.updates::<Thing>(0, "name"), 1);
}

#[test]
fn s80_after_a_loss_new_values_stand_beside_old_ones_until_the_resend() {
    let (mut room, one) = one_thing();
    room.server[one].a = 1;
    room.tick_one();
    room.server[one].b = 1;
    let second = room.tick_one();
    room.deliver(0, &second);
    assert_eq!((copy(&room, one).a, copy(&room, one).b), (0, 1));
    room.settle();
    assert_eq!((copy(&room, one).a, copy(&room, one).b), (1, 1));
}

#[test]
fn s81_a_burst_of_any_length_costs_one_resend_of_what_changed() {
    for burst in [31, 32, 33, 63, 64, 65, 256, 1_000] {
        let (mut room, one, other) = Room::measuring(two_things);
        for value in 1..=burst {
            room.server[one].a = value;
            room.now -= TICK - Duration::from_micros(50);
            room.tick_one();
        }
        room.server[other].b = 1;
        room.settle();
        assert_eq!((copy(&room, one).a, copy(&room, other).b), (burst, 1));
        assert_eq!(room.updates::<Thing>(0, "a"), 1, "burst of {burst}");
        assert_eq!(room.updates::<Thing>(0, "name"), 0, "nothing but what changed");
    }
}

#[test]
fn s77_each_loss_is_repaired_for_the_connection_that_had_it() {
    let (mut room, one) = Room::measuring(|| {
        Room::furnished(ServerConfig::default(), things, 2, |server| server.spawn(thing(0)))
    });
    room.server[one].a = 1;
    let packets = room.tick();
    room.deliver(0, &packets[0]);
    room.settle();
    assert_eq!((room.updates::<Thing>(0, "a"), room.updates::<Thing>(1, "a")), (1, 1));
    assert_eq!(room.guests[1].client.get(one), room.server.get(one));
}

#[test]
fn s82_acks_may_come_in_any_order() {
    let (mut room, one, other) = two_things();
    let mut packets = Vec::new();
    for object in [one, other, one, other] {
        room.server[object].b += 1;
        packets.extend(room.tick_one());
        room.now -= TICK - Duration::from_micros(5);
    }
    for (unresolved, at) in [(3, 3), (2, 2)] {
        room.deliver(0, &packets[at..=at]);
        room.acknowledge();
        assert_eq!(room.in_flight(0), unresolved, "only what was acked is released");
    }
    room.settle();
    assert_eq!((copy(&room, one).b, copy(&room, other).b), (2, 2));
}

#[test]
fn s84_s103_a_lost_opening_is_repaired_once() {
    let (mut room, _) = Room::measuring(one_thing);
    let born = room.server.spawn(Thing { a: 1, name: "Ada".into(), ..Thing::default() });
    room.tick_one();
    room.settle();
    assert_eq!(copy(&room, born), room.server[born]);
    assert_eq!((room.updates::<Thing>(0, "a"), room.updates::<Thing>(0, "name")), (1, 1));
}

#[test]
fn s86_changes_without_room_are_sent_later() {
    let config = ServerConfig { mtu_bytes: 200, max_bytes_per_tick: 200, ..ServerConfig::default() };
    let spawn_all = |server: &mut Server| (0..100).map(|_| server.spawn(thing(0))).collect::<Vec<_>>();
    let (mut room, all) = Room::furnished(config, things, 2, spawn_all);
    for round in 1..=5 {
        for &object in &all {
            room.server[object].a += round;
            room.server[object].list.push(round as u16);
        }
        room.step();
    }
    room.settle();
    for &object in &all {
        assert_eq!(copy(&room, object), room.server[object]);
    }
}

#[test]
fn s87_nothing_new_and_nothing_lost_sends_nothing() {
    let (mut room, one) = one_thing();
    room.server[one].a = 1;
    let packets = room.tick_one();
    room.deliver(0, &packets);
    assert!(room.tick_one().is_empty(), "in flight, and neither acked nor late");
    room.acknowledge();
    assert!(room.tick_one().is_empty());
}
