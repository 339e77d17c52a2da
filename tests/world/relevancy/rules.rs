//! Tests each rule of relevancy separately.

use repl::prelude::*;
use repl::{Area, CloseReason, Group, Relevancy};

use super::{Banner, Bird, Creature, RADIUS, SIDE, creature, in_plane, register, room};
use crate::support::{Room, leaks};

/// Whether the client of a guest has an object.
pub(super) fn has<T: Replicated>(room: &Room, guest: usize, object: ObjectRef<T>) -> bool {
    room.guests[guest].client.contains(object)
}

#[test]
fn s188_nobody_sees_what_is_switched_off_and_no_byte_of_it_is_sent() {
    const SECRET: u32 = 0xdead_b1e5;
    let mut room = room(2);
    let owner = room.guests[0].id;
    let [banner, flag] = [1, 2].map(|colour| room.server.spawn(Banner { colour }));
    room.server.object(banner).set_owner(Some(owner));
    room.server.object(flag).set_owner(Some(owner));
    room.server.object(flag).set_relevancy(Relevancy::AttachedTo(banner.erase()));
    room.settle();
    assert!((0..2).all(|guest| has(&room, guest, banner) && has(&room, guest, flag)));
    room.server.object(banner).set_relevancy(Relevancy::Nobody);
    room.settle();
    assert!((0..2).all(|guest| !has(&room, guest, banner) && !has(&room, guest, flag)));
    let late = room.enter();
    for _ in 0..50 {
        room.server[banner].colour = room.server[banner].colour.wrapping_add(1) | SECRET;
        room.server[flag].colour = SECRET;
        for (guest, packets) in room.tick().into_iter().enumerate() {
            assert!(!packets.iter().any(|packet| leaks(packet, &SECRET.to_le_bytes())));
            room.deliver(guest, &packets);
        }
        room.acknowledge();
    }
    assert!(
        !room.server.object_info(banner).is_relevant_to(late)
            && !room.server.object_info(banner).is_relevant_to(owner)
    );
    room.server[banner].colour = SECRET;
    room.server.object(banner).set_relevancy(Relevancy::Always);
    room.settle();
    for guest in 0..3 {
        let client = &room.guests[guest].client;
        let colours = (client.get(banner).map(|b| b.colour), client.get(flag).map(|b| b.colour));
        assert_eq!(colours, (Some(SECRET), Some(SECRET)), "the same guids are valid again");
    }
}

#[test]
fn s210_what_is_far_away_is_torn_off_with_its_last_state() {
    let mut room = Room::new(ServerConfig::default(), register);
    room.server.class().locate(Area::within(RADIUS).flat().slower_beyond(20.0, 50), in_plane);
    room.server.register::<Bird>().register::<Banner>();
    let id = room.enter();
    room.server.connection(id).set_viewpoints(&[[0.0; 3]]);
    let far = room.server.spawn(creature(80.0, 0.0));
    room.settle();
    for health in 50..53 {
        room.server[far].health = health;
        room.step();
    }
    room.server[far].health = 60;
    room.server.object(far).tear_off();
    (0..10).for_each(|_| _ = room.step());
    let client = &room.guests[0].client;
    assert!(client.object_info(far).is_torn_off());
    assert_eq!(client[far].health, 60);
}

#[test]
fn s188_r24_objects_with_positions_are_seen_near_a_viewpoint() {
    let mut room = room(2);
    let id = room.guests[0].id;
    let (near, far) = (room.server.spawn(creature(50.0, 0.0)), room.server.spawn(creature(500.0, 0.0)));
    room.settle();
    assert!(!has(&room, 0, near), "a connection without viewpoints sees no positions");
    room.server.connection(id).set_viewpoints(&[[0.0, 0.0, 0.0]]);
    room.settle();
    assert!(has(&room, 0, near) && !has(&room, 0, far));
    assert_eq!(room.server.object_info(far).why_not_sent_to(id), Some(NotSent::OutOfSight));
    let carried = room.server.spawn(creature(0.0, 0.0));
    room.server.object(carried).set_relevancy(Relevancy::attached_to(far));
    assert_eq!(
        room.server.object_info(carried).why_not_sent_to(id),
        Some(NotSent::OutOfSight),
        "as its carrier"
    );
    room.server.despawn(carried);
    room.server.connection(id).set_viewpoints(&[[500.0, 0.0, 0.0], [0.0; 3]]);
    room.settle();
    assert!(has(&room, 0, near) && has(&room, 0, far), "each of several viewpoints sees");
    room.server.connection(id).set_viewpoints(&[]);
    room.settle();
    assert!(!has(&room, 0, near) && !has(&room, 0, far));
    assert_eq!(room.guests[1].client.objects::<Creature>().count(), 0);
}

#[test]
fn s188_a_connection_sees_from_the_object_that_it_follows() {
    let mut room = room(2);
    let id = room.guests[0].id;
    let player = room.server.spawn(creature(300.0, 0.0));
    let stones: Vec<_> = (0..10).map(|at| room.server.spawn(creature(at as f32 * 200.0, 0.0))).collect();
    room.server.connection(id).follow(player);
    for x in [300.0, 0.0, 190.0, 1_400.0] {
        room.server[player].position = [x, 0.0];
        room.settle();
        assert!(has(&room, 0, player));
        for (at, &stone) in stones.iter().enumerate() {
            let distance = (at as f32 * 200.0 - x).abs();
            assert!(has(&room, 0, stone) || distance >= RADIUS, "{stone:?} from {x}");
            assert!(!has(&room, 0, stone) || distance < RADIUS + 2.0 * SIDE, "{stone:?} from {x}");
        }
    }
    // The last viewpoint remains when the object is gone, and when the user sets viewpoints.
    room.server.despawn(player);
    room.settle();
    assert!(has(&room, 0, stones[7]) && !has(&room, 0, stones[0]));
    let other = room.server.spawn(creature(0.0, 0.0));
    room.server.connection(id).follow(other);
    room.settle();
    assert!(!has(&room, 0, stones[7]) && has(&room, 0, stones[0]) && has(&room, 0, other));
    room.server.connection(id).set_viewpoints(&[[1_400.0, 0.0, 0.0]]);
    room.settle();
    assert!(has(&room, 0, stones[7]) && !has(&room, 0, stones[0]));
    assert_eq!(room.guests[1].client.objects::<Creature>().count(), 0, "the other connection sees nothing");
    // An object that no longer exists is not followed.
    room.server.connection(id).follow(player);
    room.settle();
    assert!(has(&room, 0, stones[7]));
}

#[test]
#[should_panic(expected = "has no positions")]
fn s188_only_objects_with_positions_are_followed() {
    let mut room = room(1);
    let id = room.guests[0].id;
    let banner = room.server.spawn(Banner { colour: 1 });
    room.server.connection(id).follow(banner);
}

#[test]
fn s188_a_plane_ignores_the_height_and_space_does_not() {
    let mut room = room(1);
    let id = room.guests[0].id;
    let creature = room.server.spawn(creature(0.0, 0.0));
    let (low, high) = (
        room.server.spawn(Bird { position: [0.0, 0.0, 1_000.0] }),
        room.server.spawn(Bird { position: [0.0, 0.0, 2_000.0] }),
    );
    room.server.connection(id).set_viewpoints(&[[0.0, 0.0, 2_000.0]]);
    room.settle();
    assert!(has(&room, 0, creature) && has(&room, 0, high) && !has(&room, 0, low));
}

#[test]
fn s191_what_leaves_the_area_is_closed_and_what_comes_back_is_whole() {
    let mut room = room(1);
    let id = room.guests[0].id;
    room.server.connection(id).set_viewpoints(&[[0.0; 3]]);
    let object = room.server.spawn(creature(0.0, 0.0));
    room.settle();
    room.server[object].position = [300.0, 0.0];
    room.settle();
    assert!(!has(&room, 0, object));
    let updates = room.polled(0);
    assert_eq!(updates.first(), Some(&(object.erase(), UpdateKind::Spawned)));
    assert_eq!(updates.last(), Some(&(object.erase(), UpdateKind::Despawned(CloseReason::Relevancy))));
    let closes = updates.iter().filter(|(_, what)| matches!(what, UpdateKind::Despawned(_))).count();
    assert_eq!(closes, 1);
    room.server[object].health = 77;
    room.settle();
    room.server[object].position = [10.0, 10.0];
    room.settle();
    let replica = room.guests[0].client.get(object).expect("it is near again");
    assert_eq!((replica.health, replica.position), (77, [10.0, 10.0]));
}

/// The server sends nothing about an object to a connection that does not see the object: neither changes nor
/// openings.
#[test]
fn s188_no_byte_of_what_is_not_seen_is_sent() {
    let mut room = room(2);
    let ids: Vec<_> = room.guests.iter().map(|guest| guest.id).collect();
    room.server.connection(ids[0]).set_viewpoints(&[[0.0; 3]]);
    let object = room.server.spawn(creature(10.0, 10.0));
    room.settle();
    for value in 0..20_u32 {
        let canary = 0xC0DE_0000 + value;
        room.server[object].health = canary;
        let packets = room.tick();
        assert!(packets[0].iter().any(|packet| leaks(packet, &canary.to_le_bytes())), "it is seen there");
        assert!(!packets[1].iter().any(|packet| leaks(packet, &canary.to_le_bytes())));
    }
}

/// Returns how often the client gains an object while `change` moves it or the viewpoint.
fn gains(mut change: impl FnMut(&mut Room, ConnectionId, ObjectRef<Creature>, f32)) -> usize {
    let mut room = room(1);
    let id = room.guests[0].id;
    let object = room.server.spawn(creature(99.0, 12.5));
    room.server.connection(id).set_viewpoints(&[[0.0, 12.5, 0.0]]);
    let mut gained = 0;
    for step in 0..60 {
        change(&mut room, id, object, if step % 2 == 0 { -1.0 } else { 1.0 });
        room.settle();
        gained += room.polled(0).iter().filter(|(_, what)| *what == UpdateKind::Spawned).count();
    }
    gained
}

#[test]
fn s190_what_moves_back_and_forth_at_the_border_is_not_removed_again_and_again() {
    for distance in [0.01, 1.0, SIDE / 2.0] {
        let moved = gains(|room, _, object, side| {
            room.server[object].position = [100.0 + side * distance, 12.5];
        });
        assert_eq!(moved, 1, "an object that moves by {distance}");
        let looked = gains(|room, id, _, side| {
            room.server.connection(id).set_viewpoints(&[[side * distance, 12.5, 0.0]]);
        });
        assert_eq!(looked, 1, "a viewpoint that moves by {distance}");
    }
}

#[test]
fn s190_what_comes_from_farther_away_is_not_seen_before_it_is_within_the_radius() {
    let mut room = room(1);
    let id = room.guests[0].id;
    room.server.connection(id).set_viewpoints(&[[0.0, 12.5, 0.0]]);
    let object = room.server.spawn(creature(300.0, 12.5));
    let mut see = |x: f32| {
        room.server[object].position = [x, 12.5];
        room.settle();
        has(&room, 0, object)
    };
    assert_eq!(
        [200.0, 130.0, 120.0, 80.0, 120.0, 130.0].map(&mut see),
        [false, false, false, true, true, false]
    );
}

#[test]
fn s188_an_owner_sees_its_objects_wherever_they_are() {
    let mut room = room(2);
    let ids: Vec<_> = room.guests.iter().map(|guest| guest.id).collect();
    let (pawn, purse) = (room.server.spawn(creature(900.0, 0.0)), room.server.spawn(Banner { colour: 3 }));
    room.server.object(purse).set_relevancy(Relevancy::OwnerOnly);
    room.settle();
    assert!((0..2).all(|guest| !has(&room, guest, pawn) && !has(&room, guest, purse)));
    for (owner, other) in [(0, 1), (1, 0)] {
        room.server.object(pawn).set_owner(Some(ids[owner]));
        room.server.object(purse).set_owner(Some(ids[owner]));
        room.settle();
        assert!(has(&room, owner, pawn) && has(&room, owner, purse));
        assert!(!has(&room, other, pawn) && !has(&room, other, purse));
    }
    let late = room.enter();
    room.settle();
    assert!(!has(&room, 2, pawn) && !has(&room, 2, purse), "{late:?} does not own them");
}

#[test]
fn s188_what_is_attached_is_seen_with_what_carries_it() {
    let mut room = room(2);
    let ids: Vec<_> = room.guests.iter().map(|guest| guest.id).collect();
    room.server.connection(ids[0]).set_viewpoints(&[[0.0; 3]]);
    let (pawn, sword) = (room.server.spawn(creature(0.0, 0.0)), room.server.spawn(Banner::default()));
    let gem = room.server.spawn(Banner::default());
    room.server.object(sword).set_relevancy(Relevancy::AttachedTo(pawn.erase()));
    room.server.object(gem).set_relevancy(Relevancy::AttachedTo(sword.erase()));
    room.settle();
    let see = |room: &Room| -> Vec<bool> { (0..2).map(|guest| has(room, guest, pawn)).collect() };
    let same = |room: &Room| {
        (0..2).all(|guest| {
            has(room, guest, sword) == has(room, guest, pawn)
                && has(room, guest, gem) == has(room, guest, pawn)
        })
    };
    assert!(see(&room) == [true, false] && same(&room));
    room.server[pawn].position = [400.0, 0.0];
    room.settle();
    assert!(see(&room) == [false, false] && same(&room));
    room.server.object(pawn).set_owner(Some(ids[1]));
    room.settle();
    assert!(see(&room) == [false, true] && same(&room), "the owner of the carrier sees what it carries");
    room.server.object(pawn).set_visible(ids[1], false);
    room.settle();
    assert!(see(&room) == [false, false] && same(&room), "what is attached is hidden with its carrier");
    room.server.object(pawn).set_visible(ids[1], true);
    room.settle();
    assert!(see(&room) == [false, true] && same(&room));
    room.server.despawn(pawn);
    room.settle();
    assert!((0..2).all(|guest| !has(&room, guest, sword) && !has(&room, guest, gem)), "nobody sees orphans");
    assert_eq!(room.server.object_info(sword).relevancy(), Some(Relevancy::OwnerOnly));
    room.server.object(sword).set_relevancy(Relevancy::Always);
    room.settle();
    assert!((0..2).all(|guest| has(&room, guest, sword) && has(&room, guest, gem)));
}

#[test]
fn s188_joining_a_group_does_not_move_the_border_of_sight() {
    let mut room = room(1);
    let id = room.guests[0].id;
    // Each move is shorter than the distance after which the cells in sight are computed again.
    let step = SIDE / 4.0 - 0.25;
    room.server.connection(id).set_viewpoints(&[[0.0; 3]]);
    room.server.connection(id).set_viewpoints(&[[step, 0.0, 0.0]]);
    room.server.connection(id).join_group(Group(1));
    room.server.connection(id).set_viewpoints(&[[-step, 0.0, 0.0]]);
    let around = |at: u16| {
        let (sin, cos) = (f32::from(at) * 0.01).sin_cos();
        creature(cos * 0.75 * RADIUS - step, sin * 0.75 * RADIUS)
    };
    let near: Vec<_> = (0..628).map(|at| room.server.spawn(around(at))).collect();
    room.settle();
    let unseen = near.iter().filter(|&&object| !has(&room, 0, object)).count();
    assert_eq!(unseen, 0, "objects at three quarters of the radius");
}

#[test]
fn groups_are_seen_by_those_who_joined_them() {
    let mut room = room(2);
    let ids: Vec<_> = room.guests.iter().map(|guest| guest.id).collect();
    let (red, blue) = (Group(1), Group(2));
    let flags = [red, blue].map(|group| {
        let flag = room.server.spawn(Banner::default());
        room.server.object(flag).set_relevancy(Relevancy::Group(group));
        flag
    });
    room.server.connection(ids[0]).join_group(red);
    room.server.connection(ids[1]).join_group(blue);
    room.server.connection(ids[1]).join_group(red);
    room.settle();
    let see = |room: &Room, guest| flags.map(|flag| has(room, guest, flag));
    assert_eq!((see(&room, 0), see(&room, 1)), ([true, false], [true, true]));
    room.server.connection(ids[1]).leave_group(red);
    let packets = {
        room.server[flags[0]].colour = 0xBEEF_CAFE;
        room.tick()
    };
    assert!(
        !packets[1].iter().any(|packet| leaks(packet, &0xBEEF_CAFE_u32.to_le_bytes())),
        "not even in the same tick"
    );
    room.settle();
    assert_eq!((see(&room, 0), see(&room, 1)), ([true, false], [false, true]));
}

/// A client that joins late receives what it sees and nothing else, even if viewpoints and groups were set
/// before its session began.
#[test]
fn s188_a_late_joiner_receives_what_it_sees() {
    let mut room = room(0);
    let near: Vec<_> = (0..100).map(|at| room.server.spawn(creature(at as f32 / 2.0, 0.0))).collect();
    let far: Vec<_> = (0..100).map(|at| room.server.spawn(creature(900.0 + at as f32, 0.0))).collect();
    let flag = room.server.spawn(Banner::default());
    room.server.object(flag).set_relevancy(Relevancy::Group(Group(7)));
    let id = room.enter();
    room.server.connection(id).set_viewpoints(&[[0.0; 3]]);
    room.server.connection(id).join_group(Group(7));
    room.settle();
    assert!(near.iter().all(|&object| has(&room, 0, object)) && has(&room, 0, flag));
    assert!(far.iter().all(|&object| !has(&room, 0, object)));
    assert!(room.guests[0].client.is_synchronized());
}

/// A position that is not a number, or that is out of the range of cells, is far away from all other
/// positions, and nothing panics.
#[test]
fn positions_without_a_place_do_no_harm() {
    let mut room = room(1);
    let id = room.guests[0].id;
    let object = room.server.spawn(creature(f32::NAN, f32::INFINITY));
    for value in [f32::MAX, f32::MIN, f32::NEG_INFINITY, f32::NAN, -0.0, 1e20] {
        room.server[object].position = [value, value];
        room.server.connection(id).set_viewpoints(&[[value, value, value]]);
        room.settle();
        room.server.connection(id).set_viewpoints(&[[0.0; 3]]);
        room.settle();
        assert_eq!(has(&room, 0, object), value == 0.0, "{value}");
    }
    room.server[object].position = [0.0, SIDE];
    room.settle();
    assert!(has(&room, 0, object));
}

#[test]
fn objects_outside_of_the_server_have_positions_too() {
    let mut room = Room::new(ServerConfig::default(), register);
    room.server.register_external::<Creature>();
    room.server.class().locate(Area::within(100.0).flat(), in_plane);
    room.server.register::<Bird>().register::<Banner>();
    let id = room.enter();
    let mut live = creature(0.0, 0.0);
    let object = room.server.external().spawn(&live);
    room.server.connection(id).set_viewpoints(&[[0.0; 3]]);
    room.settle();
    assert!(has(&room, 0, object));
    live.position = [500.0, 0.0];
    room.server.external().compare(object, &live).expect("it exists");
    room.settle();
    assert!(!has(&room, 0, object));
}

#[test]
#[should_panic(expected = "an object cannot be attached to itself, nor to what is attached to it")]
fn circles_of_attached_objects_are_refused() {
    let mut room = room(0);
    let [one, other] = [0, 1].map(|colour| room.server.spawn(Banner { colour }));
    room.server.object(one).set_relevancy(Relevancy::AttachedTo(other.erase()));
    room.server.object(other).set_relevancy(Relevancy::AttachedTo(one.erase()));
}

#[test]
#[should_panic(
    expected = "`Banner` has no positions: call `set_area`, `locate` or `set_placed_area` of `class::<Banner>()` before `connect`"
)]
fn an_object_without_a_position_cannot_be_located() {
    let mut room = room(0);
    let banner = room.server.spawn(Banner::default());
    room.server.object(banner).set_relevancy(Relevancy::Located);
}

/// Areas with too many cells in sight are refused, because finding these cells would take too long.
#[test]
fn areas_with_too_many_cells_are_refused_in_every_order() {
    let refused = |make: fn() -> Area| {
        std::panic::catch_unwind(|| _ = Server::new(ServerConfig::default()).class().locate(make(), in_plane))
            .is_err()
    };
    assert!(refused(|| Area::within(100.0).keep_within(1e9)));
    assert!(refused(|| Area::within(100.0).cells_of(5.0)));
    assert!(refused(|| Area::within(100.0).cells_of(10.0).keep_within(200.0)));
    assert!(refused(|| Area::within(100.0).keep_within(200.0).cells_of(10.0)));
    assert!(refused(|| Area::within(100.0).cells_of(f32::NAN)));
    assert!(!refused(|| Area::within(100.0).cells_of(20.0).keep_within(320.0).flat()));
    assert!(!refused(|| Area::within(100.0).keep_within(1_000.0).cells_of(100.0)));
    assert!(!refused(|| Area::within(100.0).cells_of(7.0).keep_within(110.0)));
}

#[test]
#[should_panic(expected = "a band of an area begins at 500, but objects farther than 125 are not in sight")]
fn a_band_beyond_everything_in_sight_is_refused() {
    let area = Area::within(100.0).slower_beyond(50.0, 3).slower_beyond(500.0, 10);
    Server::new(ServerConfig::default()).class().locate(area, in_plane);
}

/// A connection that has ended is kept for a while, but setting its viewpoints and groups has no effect any
/// more.
#[test]
fn a_connection_that_has_ended_gets_nothing_in_sight() {
    let mut room = room(1);
    let id = room.guests[0].id;
    let near = room.server.spawn(creature(0.0, 0.0));
    let banner = room.server.spawn(Banner::default());
    room.server.object(banner).set_relevancy(Relevancy::Group(Group(1)));
    room.server.connection(id).disconnect();
    room.server.connection(id).set_viewpoints(&[[0.0; 3]]);
    room.server.connection(id).join_group(Group(1));
    assert!(
        !room.server.object_info(near).is_relevant_to(id)
            && !room.server.object_info(banner).is_relevant_to(id)
    );
}

#[test]
fn areas_may_be_as_large_as_numbers_can_be() {
    for radius in [1e38, 3e38, f32::MAX] {
        let mut room = Room::new(ServerConfig::default(), register);
        room.server.register::<Bird>().register::<Banner>().class().locate(Area::within(radius), in_plane);
        let id = room.enter();
        room.server.connection(id).set_viewpoints(&[[0.0; 3]]);
        let object = room.server.spawn(creature(160.0, -1e30));
        room.settle();
        assert!(has(&room, 0, object), "{radius}");
    }
}

#[test]
fn areas_are_as_small_as_numbers_allow_or_refused() {
    for radius in [1.2e-38, 1e-37, 1e-20] {
        let mut room = Room::new(ServerConfig::default(), register);
        room.server.register::<Bird>().register::<Banner>().class().locate(Area::within(radius), in_plane);
        let id = room.enter();
        room.server.connection(id).set_viewpoints(&[[0.0; 3]]);
        let objects = [0.0, 1.0].map(|x| room.server.spawn(creature(x, 0.0)));
        room.settle();
        assert_eq!(objects.map(|object| has(&room, 0, object)), [true, false], "{radius}");
    }
    let areas: [fn() -> Area; 4] = [
        || Area::within(1e-38),
        || Area::within(f32::from_bits(1)),
        || Area::within(1.0).cells_of(2.9e-39),
        || Area::within(1.0).cells_of(f32::from_bits(1)),
    ];
    assert!(areas.into_iter().all(|area| std::panic::catch_unwind(area).is_err()));
}
