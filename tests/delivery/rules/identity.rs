//! R17 and R18: how objects are removed, and when their slots are used again. Also S198.
//!
//! *Invariant:* a reference that a test stores refers to the same object for ever, or to no object.

use std::time::Duration;

use repl::prelude::*;
use repl::{CloseReason, Guid};

use super::{Thing, copy, one_thing, thing, things, two_things};
use crate::support::{Room, SIGN_OF_LIFE_BYTES, TICK};

fn guid(object: ObjectRef<Thing>) -> Guid {
    object.guid().expect("a reference to an object")
}

#[test]
fn r17_a_close_is_sent_again_until_it_is_acked() {
    let (mut room, one) = one_thing();
    room.server.despawn(one);
    for _ in 0..20 {
        room.tick_one();
    }
    assert!(room.client().contains(one), "every close so far was lost");
    room.settle();
    assert!(!room.client().contains(one));
}

#[test]
fn r17_an_object_whose_opening_is_only_in_flight_is_closed_too() {
    let (mut room, _) = one_thing();
    let brief = room.server.spawn(thing(1));
    let opening = room.tick_one();
    room.server.despawn(brief);
    room.deliver(0, &opening);
    assert!(room.client().contains(brief));
    room.settle();
    assert!(!room.client().contains(brief));
}

#[test]
fn r17_an_object_that_was_never_sent_needs_no_close() {
    let (mut room, _) = one_thing();
    let brief = room.server.spawn(thing(1));
    room.server.despawn(brief);
    assert!(room.tick_one().iter().all(|packet| packet.len() <= SIGN_OF_LIFE_BYTES));
}

#[test]
fn r17_a_slot_is_used_again_when_every_connection_has_acked_its_close() {
    let (mut room, one) =
        Room::furnished(ServerConfig::default(), things, 2, |server| server.spawn(thing(0)));
    room.server.despawn(one);
    let packets = room.tick();
    room.deliver(0, &packets[0]);
    room.acknowledge();
    let second = room.server.spawn(thing(2));
    assert_ne!(guid(second).slot(), guid(one).slot(), "one client still has the old object");
    room.settle();
    let third = room.server.spawn(thing(3));
    assert_eq!(guid(third).slot(), guid(one).slot());
    assert!(guid(third).generation() > guid(one).generation());
    room.settle();
    for guest in &room.guests {
        assert_eq!(guest.client.get(third).map(|object| object.a), Some(3));
        assert!(!guest.client.contains(one));
    }
}

#[test]
fn r17_what_an_object_lost_is_not_sent_of_the_next_one_in_its_slot() {
    let (mut room, one) = Room::measuring(one_thing);
    room.server[one].name = "lost".into();
    assert_eq!(room.tick_one().len(), 1);
    room.server.despawn(one);
    let closing = room.tick_one();
    room.deliver(0, &closing);
    // So little time passes that the first packet is not declared lost.
    room.now -= TICK * 2;
    room.acknowledge();
    let next = room.server.spawn(thing(2));
    assert_eq!(guid(next).slot(), guid(one).slot());
    let opening = room.tick_one();
    room.deliver(0, &opening);
    room.now -= TICK;
    room.acknowledge();
    assert_eq!(room.in_flight(0), 1, "the update is still in flight");
    let updates = room.updates::<Thing>(0, "name");
    room.settle();
    assert_eq!(room.updates::<Thing>(0, "name"), updates);
}

#[test]
fn r17_a_late_ack_of_an_object_does_not_count_for_the_next_one_in_its_slot() {
    for counts_as_lost in [false, true] {
        let (mut room, _) = one_thing();
        let first = room.server.spawn(thing(1));
        let late = room.tick_one();
        room.server.despawn(first);
        let closing = room.tick_one();
        room.deliver(0, &closing);
        room.now -= if counts_as_lost { TICK } else { TICK * 2 };
        room.acknowledge();
        let next = room.server.spawn(thing(2));
        assert_eq!(guid(next).slot(), guid(first).slot());
        let lost = room.tick_one();
        assert!(!lost.is_empty());
        room.deliver(0, &late);
        room.now -= if counts_as_lost { Duration::ZERO } else { TICK };
        room.acknowledge();
        room.settle();
        assert_eq!(room.client().get(next).map(|object| object.a), Some(2), "{counts_as_lost}");
        assert!(!room.client().contains(first));
    }
}

#[test]
fn r17_a_connection_that_ends_holds_no_slot() {
    let (mut room, one) =
        Room::furnished(ServerConfig::default(), things, 2, |server| server.spawn(thing(0)));
    room.server.despawn(one);
    room.server.connection(room.guests[1].id).disconnect();
    let packets = room.tick();
    room.deliver(0, &packets[0]);
    room.acknowledge();
    let next = room.server.spawn(thing(2));
    assert_eq!(guid(next).slot(), guid(one).slot());
}

#[test]
fn r18_a_guid_is_never_used_again() {
    let (mut room, _) = one_thing();
    let mut seen = std::collections::HashSet::new();
    for value in 0..200 {
        let born = room.server.spawn(thing(value));
        assert!(seen.insert(guid(born)));
        room.step();
        room.server.despawn(born);
        room.step();
        room.step();
    }
    let most = seen.iter().map(|guid| guid.slot()).max();
    assert!(most < Some(10), "slots are used again");
}

#[test]
fn r18_who_joins_later_gets_nothing_of_an_earlier_object_in_a_slot() {
    let (mut room, one) = one_thing();
    room.server[one].a = 7;
    room.settle();
    // The server keeps the encoded opening for the next client.
    room.enter();
    room.settle();
    room.server.despawn(one);
    room.settle();
    let next = room.server.spawn(thing(0));
    assert_eq!(guid(next).slot(), guid(one).slot());
    room.enter();
    room.settle();
    for guest in &room.guests {
        assert_eq!(guest.client.get(next), Some(&thing(0)));
    }
}

#[test]
fn s198_an_old_reference_does_not_name_the_next_object_of_its_slot() {
    let (mut room, one) = one_thing();
    room.server.despawn(one);
    room.settle();
    let next = room.server.spawn(thing(5));
    assert_eq!(guid(next).slot(), guid(one).slot());
    room.settle();
    assert!(room.server.get(one).is_none() && room.client().get(one).is_none());
    assert!(!room.server.contains(one) && !room.client().contains(one));
    assert_eq!(copy(&room, next).a, 5);
}

#[test]
fn s198_server_and_client_name_an_object_alike() {
    let (mut room, one) = one_thing();
    room.server[one].a = 4;
    room.settle();
    let known: Vec<_> =
        room.client().objects::<Thing>().map(|(reference, object)| (reference, object.a)).collect();
    assert_eq!(known, [(one, 4)]);
}

#[test]
fn r18_a_hidden_object_is_shown_again_under_its_own_guid() {
    let (mut room, one) = one_thing();
    let id = room.guests[0].id;
    room.server.object(one).set_visible(id, false);
    room.settle();
    assert!(!room.client().contains(one));
    room.server[one].a = 9;
    room.server.object(one).set_visible(id, true);
    room.settle();
    assert_eq!(copy(&room, one).a, 9);
    let out_of_sight = UpdateKind::Despawned(CloseReason::Relevancy);
    let told = [UpdateKind::Spawned, out_of_sight, UpdateKind::Spawned];
    assert_eq!(room.polled(0), told.map(|what| (one.erase(), what)));
}

#[test]
fn r18_destroyed_outweighs_out_of_sight() {
    let (mut room, one) = one_thing();
    let id = room.guests[0].id;
    room.server.object(one).set_visible(id, false);
    room.tick_one();
    room.server.despawn(one);
    room.settle();
    assert!(!room.client().contains(one));
    let destroyed = UpdateKind::Despawned(CloseReason::Destroyed);
    assert_eq!(room.polled(0).last(), Some(&(one.erase(), destroyed)));
}

#[test]
fn r18_an_object_hidden_and_shown_before_the_ack_of_its_close_is_opened_again() {
    let (mut room, one) = one_thing();
    let id = room.guests[0].id;
    room.server.object(one).set_visible(id, false);
    let close = room.tick_one();
    room.server.object(one).set_visible(id, true);
    room.server[one].a = 3;
    let early = room.tick_one();
    room.deliver(0, &early);
    room.deliver(0, &close);
    room.settle();
    assert_eq!(copy(&room, one).a, 3);
}

#[test]
fn r18_an_object_hidden_shown_and_hidden_before_the_ack_of_its_close_stays_closed() {
    let (mut room, one) = one_thing();
    let id = room.guests[0].id;
    for visible in [false, true, false] {
        room.server.object(one).set_visible(id, visible);
        let packets = room.tick_one();
        room.deliver(0, &packets);
    }
    room.settle();
    assert!(!room.client().contains(one));
    room.server.object(one).set_visible(id, true);
    room.settle();
    assert!(room.client().contains(one));
}

/// Opens an object, changes `other` until the opening is declared lost, and hides the object again. Returns
/// the ack of the opening, which the server has not received.
fn open_with_late_ack(room: &mut Room, one: ObjectRef<Thing>, other: ObjectRef<Thing>) -> Vec<Vec<u8>> {
    let opening = room.tick_one();
    room.deliver(0, &opening);
    let late_ack = room.replies(0);
    // The opening is declared lost. The server tells the client that it needs no ack of the opening any more.
    for b in 1..=80 {
        room.server[other].b = b;
        let packets = room.tick_one();
        room.deliver(0, &packets);
    }
    room.settle();
    room.server.object(one).set_visible(room.guests[0].id, false);
    room.settle();
    assert!(!room.client().contains(one));
    late_ack
}

/// Shows a hidden object again. Asserts that the late ack of an earlier opening does not count for the
/// present one.
fn assert_late_ack_does_not_count(room: &mut Room, one: ObjectRef<Thing>, late_ack: &[Vec<u8>]) {
    room.server.object(one).set_visible(room.guests[0].id, true);
    assert_eq!(room.tick_one().len(), 1, "the present opening, which is lost");
    room.hear(0, late_ack);
    room.server[one].a = 9;
    let packets = room.tick_one();
    room.deliver(0, &packets);
    room.settle();
    assert_eq!(copy(room, one).a, 9);
}

#[test]
fn r18_a_late_ack_of_an_earlier_opening_does_not_count_for_the_present_one() {
    let (mut room, one, other) = two_things();
    let id = room.guests[0].id;
    // The client has had the object before, so its opening is not shared with other clients.
    room.server.object(one).set_visible(id, false);
    room.settle();
    room.server.object(one).set_visible(id, true);
    let late_ack = open_with_late_ack(&mut room, one, other);
    assert_late_ack_does_not_count(&mut room, one, &late_ack);
}

#[test]
fn r18_a_late_ack_does_not_count_for_an_opening_after_the_server_has_freed_memory() {
    // Every 256 ticks, the server frees what it no longer needs.
    let step_until = |room: &mut Room, tick: u64| {
        while room.server.ticks() % 256 != tick {
            room.step();
        }
    };
    let (mut room, other) = one_thing();
    step_until(&mut room, 100);
    let one = room.server.spawn(thing(1));
    let late_ack = open_with_late_ack(&mut room, one, other);
    step_until(&mut room, 255);
    room.server[other].b = 0;
    room.tick();
    assert!(room.in_flight(0) > 0, "the server has freed memory while a packet was in flight");
    assert_late_ack_does_not_count(&mut room, one, &late_ack);
}

#[test]
fn r18_an_object_hidden_before_the_hello_does_not_hide_the_next_object_in_its_slot() {
    let mut room = Room::new(ServerConfig::default(), things);
    let old = room.server.spawn(thing(0));
    let id = room.enter();
    room.server.object(old).set_visible(id, false);
    room.server.despawn(old);
    room.tick_one();
    let next = room.server.spawn(thing(1));
    assert_eq!(guid(next).slot(), guid(old).slot());
    room.settle();
    assert_eq!(copy(&room, next), thing(1));
}
