//! Functions of the user that decide who sees the objects of a class.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use repl::prelude::*;
use repl::{Audience, Group, NotSent, Relevancy};

use super::rules::has;
use super::{Banner, Creature, creature, register, room};
use crate::support::{Room, leaks};

const RED: Group = Group(1);
const BLUE: Group = Group(2);

/// Returns a room whose banners are seen by the groups with the numbers of their colours.
fn room_of_banners(guests: usize) -> Room {
    let mut room = Room::new(ServerConfig::default(), register);
    room.server.register::<Creature>();
    room.server.register::<super::Bird>().register::<Banner>();
    let mut banners = room.server.class::<Banner>();
    banners.set_relevancy_by(|banner, viewer| viewer.is_in_group(Group(banner.colour)));
    (0..guests).for_each(|_| _ = room.enter());
    room.settle();
    room
}

fn ids(room: &Room) -> Vec<ConnectionId> {
    room.guests.iter().map(|guest| guest.id).collect()
}

fn calls(room: &mut Room) -> u64 {
    room.server.class::<Banner>().relevancy_calls()
}

#[test]
fn s231_a_function_decides_in_the_tick_that_compares_the_object() {
    let mut room = room_of_banners(2);
    let ids = ids(&room);
    const SECRET: Group = Group(0xdead_beef);
    room.server.connection(ids[0]).join_group(RED);
    room.server.connection(ids[1]).join_group(SECRET);
    let banner = room.server.spawn(Banner { colour: 1 });
    assert_eq!(room.server.object_info(banner).relevancy(), Some(Relevancy::Computed));
    let relevant =
        |room: &Room| [0, 1].map(|at: usize| room.server.object_info(banner).is_relevant_to(ids[at]));
    assert_eq!(relevant(&room), [false, false], "no tick has called the function");
    room.step();
    assert_eq!(relevant(&room), [true, false]);
    room.settle();
    assert!(has(&room, 0, banner) && !has(&room, 1, banner));
    let reason = room.server.object_info(banner).why_not_sent_to(ids[1]);
    assert_eq!(reason, Some(NotSent::Irrelevant));
    room.server[banner].colour = SECRET.0;
    assert_eq!(relevant(&room), [true, false], "the last call decides");
    for (guest, packets) in room.tick().into_iter().enumerate() {
        let is_told = packets.iter().any(|packet| leaks(packet, &SECRET.0.to_le_bytes()));
        assert_eq!(is_told, guest == 1, "only the second guest is told the new colour");
        room.deliver(guest, &packets);
    }
    room.acknowledge();
    assert_eq!(relevant(&room), [false, true]);
    room.settle();
    assert!(!has(&room, 0, banner) && has(&room, 1, banner));
    room.server.connection(ids[1]).leave_group(SECRET);
    room.server.connection(ids[0]).join_group(SECRET);
    room.settle();
    assert!(has(&room, 0, banner) && !has(&room, 1, banner));
    let late = room.enter();
    room.server.connection(late).join_group(SECRET);
    room.settle();
    assert!(has(&room, 2, banner));
}

#[test]
fn s231_a_function_is_called_only_for_objects_and_connections_that_have_changed() {
    let mut room = room_of_banners(3);
    let ids = ids(&room);
    let banners: Vec<_> = (0..10).map(|at| room.server.spawn(Banner { colour: at % 2 })).collect();
    let mut before = calls(&mut room);
    let mut new_calls = |room: &mut Room| {
        room.settle();
        let now = calls(room);
        now - std::mem::replace(&mut before, now)
    };
    assert_eq!(new_calls(&mut room), 30);
    assert_eq!(new_calls(&mut room), 0, "nothing has changed");
    room.server[banners[3]].colour = 7;
    assert_eq!(new_calls(&mut room), 3, "an object for each connection");
    _ = &mut room.server[banners[3]];
    assert_eq!(new_calls(&mut room), 0, "it was borrowed and has not changed");
    room.server.object(banners[4]).set_owner(Some(ids[0]));
    assert_eq!(new_calls(&mut room), 3, "another owner");
    room.server.connection(ids[1]).set_viewpoints(&[[0.01, 0.0, 0.0]]);
    assert_eq!(new_calls(&mut room), 10, "each object for one connection");
    room.server.connection(ids[1]).set_viewpoints(&[[0.01, 0.0, 0.0]]);
    assert_eq!(new_calls(&mut room), 0, "the same viewpoints");
    room.server.connection(ids[1]).set_view_directions(&[[1.0, 0.0, 0.0]]);
    room.server.connection(ids[2]).join_group(RED);
    assert_eq!(new_calls(&mut room), 20);
    room.server.object(banners[5]).set_relevancy(Relevancy::Always);
    room.server[banners[5]].colour = 8;
    assert_eq!(new_calls(&mut room), 0, "the function does not decide about it");
    room.enter();
    assert_eq!(new_calls(&mut room), 9, "a new connection");
    room.server.despawn(banners[0]);
    room.server.spawn(Banner { colour: 1 });
    assert_eq!(new_calls(&mut room), 4, "a new object");
}

#[test]
fn s231_a_function_with_a_period_is_called_for_each_pair_once_in_so_many_ticks() {
    let is_open = Arc::new(AtomicBool::new(false));
    let mut room = room_of_banners(2);
    let gate = Arc::clone(&is_open);
    let mut banners = room.server.class::<Banner>();
    banners.set_relevancy_by(move |_, _| gate.load(Ordering::Relaxed)).set_relevancy_period(4);
    let banners: Vec<_> = (0..256).map(|colour| room.server.spawn(Banner { colour })).collect();
    room.settle();
    let before = calls(&mut room);
    (0..4).for_each(|_| _ = room.step());
    assert_eq!(calls(&mut room) - before, 512, "each pair once in four ticks");
    room.server[banners[0]].colour = 999;
    is_open.store(true, Ordering::Relaxed);
    let mut seen = Vec::new();
    for _ in 0..4 {
        room.step();
        let is_relevant = |banner| room.server.object_info(banner).is_relevant_to(room.guests[0].id);
        seen.push(banners.iter().filter(|&&banner| is_relevant(banner)).count());
    }
    assert_eq!(seen, [64, 128, 192, 256], "each tick calls it for a part of the objects");
    let new = room.server.spawn(Banner::default());
    room.step();
    assert!(room.server.object_info(new).is_relevant_to(room.guests[0].id), "a new object does not wait");
}

#[test]
fn s231_owners_and_settings_come_before_the_function() {
    let mut room = room_of_banners(2);
    let ids = ids(&room);
    room.server.connection(ids[1]).join_group(RED);
    let banner = room.server.spawn(Banner { colour: 1 });
    room.server.object(banner).set_owner(Some(ids[0]));
    room.settle();
    assert!(has(&room, 0, banner), "an owner sees it whatever the function returns");
    assert!(has(&room, 1, banner));
    room.server.object(banner).set_visible(ids[1], false);
    room.settle();
    assert!(!has(&room, 1, banner), "it is hidden");
    room.server.object(banner).set_visible(ids[1], true).set_relevancy(Relevancy::Nobody);
    room.settle();
    assert!(!has(&room, 0, banner) && !has(&room, 1, banner));
    room.server.object(banner).set_relevancy(Relevancy::Always).set_audience(Relevancy::Computed);
    room.settle();
    assert!(!has(&room, 0, banner), "an audience applies to the owner");
    assert!(has(&room, 1, banner));
}

#[test]
fn s231_a_class_with_an_area_and_a_function_needs_both() {
    let mut room = room(2);
    let ids = ids(&room);
    room.server.class::<Creature>().set_relevancy_by(|creature, _| creature.health > 10);
    ids.iter().zip([0.0, 1_000.0]).for_each(|(&id, x)| {
        room.server.connection(id).set_viewpoints(&[[x, 0.0, 0.0]]);
    });
    let wolf = room.server.spawn(creature(10.0, 0.0));
    room.settle();
    assert_eq!([0, 1].map(|guest| has(&room, guest, wolf)), [false, false]);
    room.server[wolf].health = 11;
    room.settle();
    assert_eq!([0, 1].map(|guest| has(&room, guest, wolf)), [true, false]);
    room.server.object(wolf).set_relevancy(Relevancy::any([Relevancy::Located, Relevancy::Computed]));
    room.settle();
    assert_eq!([0, 1].map(|guest| has(&room, guest, wolf)), [true, true]);
    room.server[wolf].health = 9;
    room.settle();
    assert_eq!([0, 1].map(|guest| has(&room, guest, wolf)), [true, false]);
}

#[test]
fn s231_what_is_attached_follows_the_function_of_its_carrier() {
    let mut room = room_of_banners(1);
    let id = room.guests[0].id;
    let banner = room.server.spawn(Banner { colour: 1 });
    let carried = room.server.spawn(creature(0.0, 0.0));
    room.server.object(carried).set_relevancy(Relevancy::attached_to(banner));
    let part = room.server.object(banner).spawn_subobject(creature(1.0, 0.0)).expect("the banner exists");
    room.settle();
    assert!(!has(&room, 0, carried) && !has(&room, 0, part));
    room.server.connection(id).join_group(RED);
    room.settle();
    assert!(has(&room, 0, carried) && has(&room, 0, part));
    room.server[banner].colour = 5;
    room.settle();
    assert!(!has(&room, 0, carried) && !has(&room, 0, part));
}

#[test]
fn s231_a_new_object_does_not_have_the_verdicts_of_the_last_one_in_its_slot() {
    let mut room = room_of_banners(1);
    room.server.connection(room.guests[0].id).join_group(RED);
    let banner = room.server.spawn(Banner { colour: 1 });
    room.settle();
    // The function no longer decides, but has decided before.
    room.server.object(banner).set_relevancy(Relevancy::Always);
    room.settle();
    room.server.despawn(banner);
    room.settle();
    let next = room.server.spawn(Banner { colour: 2 });
    assert_eq!(next.guid().map(|guid| guid.slot()), banner.guid().map(|guid| guid.slot()));
    assert!(!room.server.object_info(next).is_relevant_to(room.guests[0].id));
    room.settle();
    assert!(!has(&room, 0, next));
}

#[test]
fn s232_the_verdicts_of_a_connection_count_as_its_memory() {
    let mut room = room_of_banners(1);
    let id = room.guests[0].id;
    (0..6_400).for_each(|_| _ = room.server.spawn(Banner { colour: 1 }));
    (0..6_400).for_each(|_| _ = room.server.spawn(Banner { colour: 2 }));
    let memory = |room: &mut Room| {
        room.settle();
        (0..600).for_each(|_| _ = room.step());
        room.server.connection_info(id).stats().expect("it is connected").memory_bytes
    };
    let without = memory(&mut room);
    room.server.connection(id).join_group(RED);
    let with = memory(&mut room);
    assert!((without + 800..without + 4_000).contains(&with), "a bit for each object: {without}, {with}");
}

#[test]
fn s230_an_object_can_be_for_several_groups() {
    let mut room = room(3);
    let ids = ids(&room);
    room.server.connection(ids[0]).join_group(RED);
    room.server.connection(ids[1]).join_group(BLUE);
    let [either, both, others] = [1, 2, 3].map(|colour| room.server.spawn(Banner { colour }));
    room.server.object(either).set_relevancy(Relevancy::any([RED, BLUE]));
    room.server.object(both).set_relevancy(Relevancy::all([RED, BLUE]));
    room.server.object(others).set_audience(Relevancy::not(Relevancy::any([RED, BLUE])));
    room.settle();
    let seen = |room: &Room, banner| [0, 1, 2].map(|guest| has(room, guest, banner));
    assert_eq!(seen(&room, either), [true, true, false]);
    assert_eq!(seen(&room, both), [false, false, false]);
    assert_eq!(seen(&room, others), [false, false, true]);
    room.server.connection(ids[0]).join_group(BLUE);
    room.settle();
    assert_eq!(seen(&room, both), [true, false, false]);
    room.server.connection(ids[0]).leave_group(RED).leave_group(BLUE);
    room.settle();
    assert_eq!(seen(&room, either), [false, true, false]);
    assert_eq!(seen(&room, others), [true, false, true]);
}

#[test]
fn s230_near_and_in_my_room() {
    let mut room = room(2);
    let ids = ids(&room);
    ids.iter().for_each(|&id| _ = room.server.connection(id).set_viewpoints(&[[0.0; 3]]));
    room.server.connection(ids[0]).join_group(RED);
    let [near, far] = [10.0, 500.0].map(|x| room.server.spawn(creature(x, 0.0)));
    for object in [near, far] {
        room.server.object(object).set_relevancy(Relevancy::all([Relevancy::Located, RED.into()]));
    }
    room.settle();
    let seen = |room: &Room, object| [0, 1].map(|guest| has(room, guest, object));
    assert_eq!((seen(&room, near), seen(&room, far)), ([true, false], [false, false]));
    room.server[far].position = [20.0, 0.0];
    room.server.connection(ids[1]).join_group(RED);
    room.settle();
    assert_eq!((seen(&room, near), seen(&room, far)), ([true, true], [true, true]));
}

#[test]
fn s230_a_last_state_is_kept_for_a_client_that_still_is_in_one_of_the_groups() {
    for (relevancy, is_kept) in [(Relevancy::any([RED, BLUE]), true), (Relevancy::all([RED, BLUE]), false)] {
        for is_audience in [false, true] {
            let mut room = room(1);
            let id = room.guests[0].id;
            room.server.connection(id).join_group(RED).join_group(BLUE);
            let banner = room.server.spawn(Banner { colour: 1 });
            if is_audience {
                room.server.object(banner).set_audience(relevancy.clone());
            } else {
                room.server.object(banner).set_relevancy(relevancy.clone());
            }
            room.settle();
            room.server[banner].colour = 0xdead_beef;
            room.server.despawn(banner);
            room.server.connection(id).leave_group(RED);
            let packets: Vec<Vec<u8>> = (0..20).flat_map(|_| room.tick()).flatten().collect();
            let is_told = packets.iter().any(|packet| leaks(packet, &0xdead_beef_u32.to_le_bytes()));
            assert_eq!(is_told, is_kept, "{relevancy:?}");
        }
    }
}

#[test]
#[should_panic(expected = "call `set_relevancy_by` of `class::<Banner>()` before")]
fn a_class_without_a_function_has_no_verdicts() {
    let mut room = room(1);
    let banner = room.server.spawn(Banner::default());
    room.server.object(banner).set_relevancy(Relevancy::any([Relevancy::Computed, RED.into()]));
}

#[test]
#[should_panic(expected = "has no positions")]
fn a_combination_with_a_position_needs_an_area() {
    let mut room = room(1);
    let banner = room.server.spawn(Banner::default());
    room.server.object(banner).set_relevancy(Relevancy::any([Relevancy::Located, RED.into()]));
}

#[test]
#[should_panic(expected = "`AttachedTo` cannot be a part of a combination")]
fn a_combination_has_no_carriers() {
    let mut room = room(1);
    let [banner, carrier] = [1, 2].map(|colour| room.server.spawn(Banner { colour }));
    room.server.object(banner).set_relevancy(Relevancy::any([Relevancy::attached_to(carrier), RED.into()]));
}

#[test]
#[should_panic(expected = "positions and attachments cannot be in an audience")]
fn an_audience_has_no_positions() {
    let mut room = room(1);
    let wolf = room.server.spawn(creature(0.0, 0.0));
    room.server.object(wolf).set_audience(Relevancy::all([Relevancy::Located, Audience::Owner.into()]));
}

#[test]
fn s231_a_function_may_look_objects_up_elsewhere_and_is_asked_again_about_them() {
    use std::collections::HashSet;
    use std::sync::Mutex;
    let mut room = Room::new(ServerConfig::default(), register);
    room.server.register::<Creature>();
    room.server.register::<super::Bird>().register::<Banner>();
    let shown = Arc::new(Mutex::new(HashSet::new()));
    let read = Arc::clone(&shown);
    let is_shown = move |_: &Banner, viewer: &repl::Viewer<'_>| read.lock().unwrap().contains(&viewer.object);
    room.server.class::<Banner>().set_relevancy_by(is_shown);
    room.enter();
    let banners = [1, 2].map(|colour| room.server.spawn(Banner { colour }));
    shown.lock().unwrap().insert(banners[1].erase());
    room.settle();
    assert_eq!(banners.map(|banner| has(&room, 0, banner)), [false, true]);
    shown.lock().unwrap().extend(banners.map(ObjectRef::erase));
    room.settle();
    assert_eq!(banners.map(|banner| has(&room, 0, banner)), [false, true], "nobody has asked again");
    let before = calls(&mut room);
    room.server.object(banners[0]).decide_again();
    room.settle();
    assert_eq!(calls(&mut room), before + 1);
    assert_eq!(banners.map(|banner| has(&room, 0, banner)), [true, true]);
    // An object without the function is not asked about.
    room.server.object(banners[0]).set_relevancy(Relevancy::Always).decide_again();
    room.settle();
    assert_eq!(calls(&mut room), before + 1);
    room.server.despawn(banners[0]);
    room.server.object(banners[0]).decide_again();
    room.settle();
    // Another object in the same slot has another reference.
    let others: Vec<_> = (0..4).map(|colour| room.server.spawn(Banner { colour })).collect();
    room.settle();
    assert!(others.iter().all(|&other| !has(&room, 0, other)));
}
