//! Values that a connection may not see for a while: what is sent during this time and after it (S39 to S45).
//! Also switches that are refused.
//!
//! *Invariant:* nothing is lost unless the test drops it.

use std::collections::BTreeSet;

use repl::prelude::*;
use repl::{Condition, ConnectionId};

use super::{Every, room, seen};
use crate::support::{Room, SIGN_OF_LIFE_BYTES, property, size};

#[test]
fn s40_initial_only_is_compared_at_every_open() {
    let (mut room, object) = room(1);
    room.server[object].initial_only = 5;
    room.settle();
    assert_eq!(seen(&room, 0, object).initial_only, 0);
    room.enter();
    room.settle();
    assert_eq!((seen(&room, 0, object).initial_only, seen(&room, 1, object).initial_only), (0, 5));
}

#[test]
fn s40_an_object_that_goes_before_its_opening_is_compared_no_more() {
    let (mut room, first) = room(1);
    let object = room.server.spawn(Every::default());
    room.settle();
    room.server.despawn(first);
    room.settle();
    for value in 1..4 {
        let brief = room.server.spawn(Every { initial_only: value, ..Every::default() });
        assert_eq!(brief.guid().map(|guid| guid.slot()), first.guid().map(|guid| guid.slot()));
        room.server.despawn(brief);
        room.server[object].none = value;
        room.settle();
        assert_eq!(seen(&room, 0, object).none, value);
    }
}

#[test]
fn s43_who_is_open_already_gets_nothing_of_initial_only() {
    let (mut room, object) = room(1);
    for value in 5..8 {
        room.server[object].initial_only = value;
        room.enter();
        room.settle();
    }
    let shown: Vec<u8> = (0..4).map(|guest| seen(&room, guest, object).initial_only).collect();
    assert_eq!(shown, [0, 5, 6, 7]);
    // The client does not get the value even if the owner changes, or if the object is opened again.
    room.server.object(object).set_owner(Some(room.guests[0].id));
    room.settle();
    assert_eq!(seen(&room, 0, object).initial_only, 0);
}

#[test]
fn s39_a_condition_does_not_decide_what_is_compared() {
    let (mut room, object) = Room::measuring(|| room(2));
    room.server[object].owner_only = 3;
    room.settle();
    // The value changes and changes back while no client may see it. The comparisons have found both changes.
    // So the new owner receives the value once, although its copy already has it.
    room.server[object].owner_only = 0;
    room.settle();
    room.server.object(object).set_owner(Some(room.guests[1].id));
    room.settle();
    assert_eq!(seen(&room, 1, object).owner_only, 0);
    assert_eq!([0, 1].map(|guest| room.updates::<Every>(guest, "owner_only")), [0, 1]);
}

#[test]
fn s41_setting_the_same_view_again_changes_nothing() {
    let (mut room, object) = room(2);
    let owner = Some(room.guests[0].id);
    room.server.object(object).set_owner(owner);
    room.server[object].set_all(1);
    room.settle();
    room.server.object(object).set_owner(owner);
    room.server.object(object).set_remote_role(Role::SimulatedProxy);
    room.server.object(object).set_replicates_physics(false);
    room.server.object(object).set_dynamic_condition(property::<Every>("dynamic"), Condition::None);
    assert!(room.tick().iter().flatten().all(|packet| packet.len() <= SIGN_OF_LIFE_BYTES));
}

#[test]
fn s44_an_object_with_a_new_owner_and_new_values_is_once_in_a_packet() {
    let (mut room, object) = room(2);
    for round in 1..=40 {
        let owner = [None, Some(room.guests[0].id), Some(room.guests[1].id)][usize::from(round % 3)];
        room.server.object(object).set_owner(owner);
        room.server[object].set_all(round);
        room.step();
    }
    room.settle();
    assert_eq!(seen(&room, 0, object).none, 40);
}

#[test]
fn s42_a_new_owner_gets_the_current_value_once() {
    let (mut room, object) = Room::measuring(|| room(2));
    for value in 1..=5 {
        room.server[object].owner_only = value;
        room.step();
    }
    room.settle();
    assert_eq!(room.updates::<Every>(0, "owner_only"), 0);
    let owner = room.guests[0].id;
    room.server.object(object).set_owner(Some(owner));
    room.settle();
    assert_eq!((seen(&room, 0, object).owner_only, room.updates::<Every>(0, "owner_only")), (5, 1));
    assert_eq!(seen(&room, 1, object).owner_only, 0);
    room.server.object(object).set_owner(None);
    room.settle();
    room.server.object(object).set_owner(Some(owner));
    room.settle();
    assert_eq!(room.updates::<Every>(0, "owner_only"), 1, "it has that value already");
}

#[test]
fn s42_a_loss_while_inactive_is_made_good_when_active_again() {
    let (mut room, object) = room(1);
    let owner = room.guests[0].id;
    room.server.object(object).set_owner(Some(owner));
    room.settle();
    room.server[object].owner_only = 7;
    room.tick_one();
    room.server.object(object).set_owner(None);
    room.settle();
    assert_eq!(seen(&room, 0, object).owner_only, 0, "the lost value is not sent to whom may not see it");
    room.server.object(object).set_owner(Some(owner));
    room.settle();
    assert_eq!(seen(&room, 0, object).owner_only, 7);
}

#[test]
fn r18_settings_for_an_object_do_not_make_the_opening_of_the_next_one_in_its_slot_costly() {
    let settings: [fn(&mut Server, ConnectionId, ObjectRef<Every>); 2] = [
        |server, id, object| _ = server.object(object).set_owner(Some(id)),
        |server, id, object| {
            server.object(object).set_custom_active_for(id, property::<Every>("custom"), false);
        },
    ];
    for set in settings {
        let (mut room, _) = room(0);
        let (first, _) = (room.enter(), room.enter());
        let spawn =
            |room: &mut Room| -> Vec<_> { (0..50).map(|_| room.server.spawn(Every::default())).collect() };
        let slots = |objects: &[ObjectRef<Every>]| -> BTreeSet<u32> {
            objects.iter().filter_map(|object| Some(object.guid()?.slot())).collect()
        };
        let old = spawn(&mut room);
        old.iter().for_each(|&object| set(&mut room.server, first, object));
        old.iter().for_each(|&object| room.server.despawn(object));
        let new = spawn(&mut room);
        assert_eq!(slots(&new), slots(&old));
        let all_are_sent = (0..10).any(|_| {
            room.acknowledge();
            let packets = room.tick();
            // The packets that contain all objects are lost. The packets of the handshake are shorter, and
            // arrive.
            let are_long = packets.iter().all(|packets| size(packets) > 30);
            if !are_long {
                packets.iter().enumerate().for_each(|(guest, packets)| room.deliver(guest, packets));
            }
            are_long
        });
        assert!(all_are_sent);
        // Openings that are shared with other clients take less memory until they are acknowledged.
        let memory_bytes =
            |guest: usize| room.server.connection_info(room.guests[guest].id).stats().unwrap().memory_bytes;
        assert_eq!(memory_bytes(0), memory_bytes(1));
    }
}

#[test]
fn s86_objects_in_a_view_of_their_own_that_change_in_every_tick_starve_no_others() {
    let register = |client: &mut Client| {
        client.register::<Every>();
    };
    let config = ServerConfig { mtu_bytes: 200, max_bytes_per_tick: 200, ..ServerConfig::default() };
    let (mut room, objects) =
        Room::furnished(config, register, 1, |server| [0; 400].map(|_| server.spawn(Every::default())));
    let owner = room.guests[0].id;
    objects.iter().for_each(|&object| _ = room.server.object(object).set_owner(Some(owner)));
    room.settle();
    for value in 1..=200 {
        objects.iter().for_each(|&object| room.server[object].owner_only = value);
        room.step();
    }
    let oldest = objects.iter().map(|&object| seen(&room, 0, object).owner_only).min();
    assert!(oldest > Some(150), "the oldest value is that of tick {oldest:?}");
}

#[test]
fn s44_if_filtering_leaves_nothing_nothing_is_written() {
    let (mut room, object) = room(2);
    room.server.object(object).set_owner(Some(room.guests[0].id));
    room.settle();
    room.server[object].owner_only = 1;
    let packets = room.tick();
    assert_eq!((packets[0].len(), packets[1].len()), (1, 0));
}

#[test]
fn s44_changes_that_are_filtered_out_are_not_stored() {
    let register = |client: &mut Client| {
        client.register::<Every>();
    };
    let config = ServerConfig { max_packets_in_flight: 4, ..ServerConfig::default() };
    let (mut room, objects) = Room::measuring(|| {
        Room::furnished(config, register, 2, |server| [0; 3].map(|_| server.spawn(Every::default())))
    });
    // One client has the default view of the objects, the other has a view of its own.
    let second = room.guests[1].id;
    for object in objects {
        room.server.object(object).set_custom_active_for(second, property::<Every>("custom"), false);
    }
    room.settle();
    let sent = |room: &Room, guest: usize| {
        room.server.connection_info(room.guests[guest].id).stats().unwrap().packets_sent
    };
    let before = [sent(&room, 0), sent(&room, 1)];
    for round in 1..=60 {
        for object in objects {
            room.server[object].owner_only = round;
            room.server[object].never = round;
        }
        // Acks are not delivered, so packets with state would stay in flight and fill the window.
        let packets = room.tick();
        assert!(
            packets.iter().flatten().all(|packet| packet.len() <= SIGN_OF_LIFE_BYTES),
            "round {round}: more than signs of life"
        );
    }
    for (guest, before) in before.into_iter().enumerate() {
        assert_eq!(room.in_flight(guest), 0);
        assert!(sent(&room, guest) - before < 20, "signs of life alone");
    }
    room.server[objects[1]].none = 7;
    let packets = room.tick();
    // The packets that the test loses contain no value that the conditions forbid.
    assert_eq!([0, 1].map(|guest| (packets[guest].len(), room.in_flight(guest))), [(1, 1); 2]);
    room.settle();
    for guest in 0..2 {
        assert_eq!(
            (room.updates::<Every>(guest, "none"), room.updates::<Every>(guest, "owner_only")),
            (1, 0)
        );
        assert_eq!(seen(&room, guest, objects[1]).none, 7);
    }
}

#[test]
fn s45_custom_switched_off_is_not_compared_and_a_difference_goes_to_all_when_on_again() {
    let (mut room, object) = room(2);
    let custom = property::<Every>("custom");
    room.server.object(object).set_custom_active(custom, false);
    room.server[object].custom = 4;
    room.settle();
    room.enter();
    room.settle();
    assert_eq!([0, 1, 2].map(|guest| seen(&room, guest, object).custom), [0; 3]);
    room.server.object(object).set_custom_active(custom, true);
    room.settle();
    assert_eq!([0, 1, 2].map(|guest| seen(&room, guest, object).custom), [4; 3]);
    room.server.object(object).set_custom_active(custom, false);
    room.server[object].custom = 9;
    room.step();
    room.server[object].custom = 4;
    room.server.object(object).set_custom_active(custom, true);
    assert!(
        room.tick().iter().flatten().all(|packet| packet.len() <= SIGN_OF_LIFE_BYTES),
        "no difference, nothing sent"
    );
}

#[test]
fn s45_custom_can_be_switched_for_one_connection() {
    let (mut room, object) = Room::measuring(|| room(2));
    let (custom, first) = (property::<Every>("custom"), room.guests[0].id);
    room.server.object(object).set_custom_active_for(first, custom, false);
    room.server[object].custom = 4;
    room.settle();
    assert_eq!([0, 1].map(|guest| seen(&room, guest, object).custom), [0, 4]);
    room.server.object(object).set_custom_active_for(first, custom, true);
    room.settle();
    assert_eq!((seen(&room, 0, object).custom, room.updates::<Every>(0, "custom")), (4, 1));
    room.server.object(object).set_custom_active_for(first, custom, false);
    room.settle();
    room.server.object(object).set_custom_active_for(first, custom, true);
    room.settle();
    assert_eq!(room.updates::<Every>(0, "custom"), 1, "it lacked nothing");
}

#[test]
#[should_panic(
    expected = "`Every.owner_only` has the condition `OwnerOnly`: declare it with `condition = Custom` to set it at run time"
)]
fn a_custom_switch_of_another_condition_is_refused() {
    let (mut room, object) = room(0);
    room.server.object(object).set_custom_active(property::<Every>("owner_only"), false);
}

#[test]
#[should_panic(
    expected = "`Every.none` has the condition `None`: declare it with `condition = Custom` to set it at run time"
)]
fn a_custom_switch_for_one_connection_is_refused_too() {
    let (mut room, object) = room(1);
    let id = room.guests[0].id;
    room.server.object(object).set_custom_active_for(id, property::<Every>("none"), false);
}

#[test]
#[should_panic(
    expected = "`Every.custom` has the condition `Custom`: declare it with `condition = Dynamic` to set it at run time"
)]
fn a_dynamic_condition_of_another_property_is_refused() {
    let (mut room, object) = room(0);
    room.server.object(object).set_dynamic_condition(property::<Every>("custom"), Condition::OwnerOnly);
}
