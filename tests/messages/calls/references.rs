//! References in calls: they are null if the object is missing, or the call waits for the object (S223).

use std::time::Duration;

use repl::prelude::*;

use super::{Hero, Shot, ran_on, register, room, spawn_for_first};
use crate::support::Room;

#[test]
fn s223_a_reference_whose_object_is_not_there_is_null() {
    let (mut room, heroes) = room(1);
    let (id, hero) = (room.guests[0].id, heroes[0]);
    let hidden = room.server.spawn(Hero::default());
    room.server.object(hidden).set_visible(id, false);
    room.server.call(hero).look(hidden).unwrap();
    room.server.call(hero).look(hero).unwrap();
    room.settle();
    assert_eq!(ran_on(&room, 0, hero), ["look nowhere", "look there"]);
}

#[test]
fn s223_a_call_that_waits_for_its_reference_holds_later_calls_of_its_object() {
    let (mut room, heroes) = room(1);
    let (id, hero) = (room.guests[0].id, heroes[0]);
    let leader = room.server.spawn(Hero::default());
    room.server.object(leader).set_visible(id, false);
    room.server.call(hero).follow(leader).unwrap();
    room.server.call(hero).hit(2).unwrap();
    room.server.call(hero).blink(1).unwrap();
    for _ in 0..20 {
        room.step();
    }
    assert_eq!(ran_on(&room, 0, hero), ["blink 1"], "unreliable calls do not wait");
    room.server.object(leader).set_visible(id, true);
    room.settle();
    assert_eq!(ran_on(&room, 0, hero), ["blink 1", "follow leader", "hit 2"]);
}

#[test]
fn s223_a_call_does_not_wait_forever() {
    let (mut room, heroes) = room(1);
    let hero = heroes[0];
    let gone = room.server.spawn(Hero::default());
    room.server.despawn(gone);
    room.server.call(hero).follow(gone).unwrap();
    room.server.call(hero).hit(1).unwrap();
    let start = room.now;
    while room.now - start < Duration::from_millis(4_900) {
        room.step();
        assert_eq!(ran_on(&room, 0, hero), [""; 0]);
    }
    while room.now - start < Duration::from_millis(5_300) {
        room.step();
    }
    assert_eq!(ran_on(&room, 0, hero), ["follow nobody", "hit 1"]);
}

/// Returns a room in which a call on the first hero waits for a hidden object, and a later call on the hero
/// waits behind the first call. If `is_known` is true, the client has seen the object before.
fn waiting_room(is_known: bool) -> (Room, ObjectRef<Hero>, ObjectRef<Hero>) {
    let (mut room, heroes) = room(1);
    let leader = room.server.spawn(Hero::default());
    if is_known {
        room.settle();
    }
    room.server.object(leader).set_visible(room.guests[0].id, false);
    room.settle();
    room.server.call(heroes[0]).follow(leader).unwrap();
    room.server.call(heroes[0]).hit(2).unwrap();
    for _ in 0..20 {
        room.step();
    }
    assert_eq!(ran_on(&room, 0, heroes[0]), [""; 0]);
    (room, heroes[0], leader)
}

#[test]
fn s223_a_call_does_not_wait_for_an_object_that_its_client_knows_to_be_destroyed() {
    let (mut room, heroes) = room(1);
    let leader = room.server.spawn(Hero::default());
    room.settle();
    room.server.despawn(leader);
    room.settle();
    room.server.call(heroes[0]).follow(leader).unwrap();
    room.server.call(heroes[0]).hit(2).unwrap();
    (0..3).for_each(|_| _ = room.step());
    assert_eq!(ran_on(&room, 0, heroes[0]), ["follow nobody", "hit 2"]);
}

#[test]
fn s223_a_call_does_not_wait_for_an_object_that_was_torn_off_and_removed() {
    let (mut room, heroes) = room(1);
    let leader = room.server.spawn(Hero::default());
    room.settle();
    room.server.object(leader).tear_off();
    room.settle();
    room.server.call(heroes[0]).follow(leader).unwrap();
    (0..3).for_each(|_| _ = room.step());
    assert_eq!(ran_on(&room, 0, heroes[0]), ["follow leader"], "it is there as long as the client keeps it");
    assert!(room.guests[0].client.object(leader).remove_torn_off());
    room.server.call(heroes[0]).follow(leader).unwrap();
    (0..3).for_each(|_| _ = room.step());
    assert_eq!(ran_on(&room, 0, heroes[0]), ["follow leader", "follow nobody"]);
}

#[test]
fn s223_a_call_waits_for_an_object_that_may_come_again() {
    for is_known in [false, true] {
        let (mut room, hero, leader) = waiting_room(is_known);
        let start = room.now;
        while room.now - start < Duration::from_secs(4) {
            room.step();
        }
        assert_eq!(ran_on(&room, 0, hero), [""; 0], "known before: {is_known}");
        room.server.object(leader).set_visible(room.guests[0].id, true);
        room.settle();
        assert_eq!(ran_on(&room, 0, hero), ["follow leader", "hit 2"]);
    }
}

#[test]
fn s223_a_call_waits_no_longer_when_a_newer_object_is_in_the_slot_of_the_awaited_one() {
    for is_known in [false, true] {
        let (mut room, hero, leader) = waiting_room(is_known);
        room.server.despawn(leader);
        for _ in 0..20 {
            room.step();
        }
        assert_eq!(ran_on(&room, 0, hero), [""; 0], "the client cannot know that it was despawned");
        let slot = leader.guid().map(|guid| guid.slot());
        while room.server.spawn(Hero::default()).guid().map(|guid| guid.slot()) != slot {}
        room.settle();
        assert_eq!(ran_on(&room, 0, hero), ["follow nobody", "hit 2"], "known before: {is_known}");
    }
}

#[test]
fn s223_a_call_waits_no_longer_when_the_session_ends() {
    let (mut room, hero, _) = waiting_room(true);
    let client = &mut room.guests[0].client;
    client.disconnect();
    client.tick(room.now);
    assert_eq!(ran_on(&room, 0, hero), ["follow nobody", "hit 2"]);
}

#[test]
fn s223_how_long_a_call_waits_is_configured() {
    for millis in [0, 1_000, 20_000] {
        let longest = Duration::from_millis(millis);
        let (mut room, heroes) =
            room_with_clients(ClientConfig { max_call_wait: longest, ..Default::default() });
        let hidden = room.server.spawn(Hero::default());
        room.server.object(hidden).set_visible(room.guests[0].id, false);
        room.server.call(heroes[0]).follow(hidden).unwrap();
        let start = room.now;
        while room.now + Duration::from_millis(100) < start + longest {
            room.step();
            assert_eq!(ran_on(&room, 0, heroes[0]), [""; 0], "{longest:?}");
        }
        while room.now < start + longest + Duration::from_millis(100) {
            room.step();
        }
        assert_eq!(ran_on(&room, 0, heroes[0]), ["follow nobody"], "{longest:?}");
    }
    assert_eq!(ClientConfig::default().max_call_wait, Duration::from_secs(5));
}

/// Returns a room with one client, which owns a hero.
fn room_with_clients(config: ClientConfig) -> (Room, [ObjectRef<Hero>; 1]) {
    let mut room = Room::new(ServerConfig::default(), register);
    room.server.register::<Shot>().register_calls::<Hero>();
    let hero = room.server.spawn(Hero::default());
    let id = room.enter();
    let mut client = Client::new(config, Session::for_tests(1));
    register(&mut client);
    room.guests[0].client = client;
    room.server.object(hero).set_owner(Some(id));
    room.settle();
    (room, [hero])
}

#[test]
fn s217_r22_a_call_for_a_new_object_runs_after_the_object_came() {
    let (mut room, heroes) = room(1);
    let hero = spawn_for_first(&mut room);
    room.server.call(hero).hit(1).unwrap();
    room.server.call(heroes[0]).hit(2).unwrap();
    // The packet with the object is lost.
    drop(room.tick());
    for _ in 0..3 {
        room.step();
        assert!(room.guests[0].client.get(hero).is_none_or(|hero| hero.ran.is_empty()));
    }
    room.settle();
    assert_eq!(ran_on(&room, 0, hero), ["hit 1"]);
    assert_eq!(ran_on(&room, 0, heroes[0]), ["hit 2"], "calls of other objects do not wait");
    // The packet with the object is lost. The call is made afterwards, so it is in a later packet.
    let hero = spawn_for_first(&mut room);
    drop(room.tick());
    room.server.call(hero).hit(3).unwrap();
    room.settle();
    assert_eq!(ran_on(&room, 0, hero), ["hit 3"]);
}

#[test]
fn r22_a_call_for_an_object_that_the_client_never_gets_is_dropped() {
    let (mut room, heroes) = room(1);
    let id = room.guests[0].id;
    let hero = spawn_for_first(&mut room);
    room.server.call(hero).hit(1).unwrap();
    room.server.despawn(hero);
    room.server.call(heroes[0]).hit(2).unwrap();
    room.settle();
    assert_eq!(ran_on(&room, 0, heroes[0]), ["hit 2"]);
    assert_eq!(room.server.connection_info(id).stats().map(|stats| stats.packets_in_flight), Some(0));
}
