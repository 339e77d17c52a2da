//! References in calls: null, or waited for (S223).

use std::time::Duration;

use super::{Hero, ran_on, room, spawn_for_first};

#[test]
fn s223_a_reference_whose_object_is_not_there_is_null() {
    let (mut room, heroes) = room(1);
    let (id, hero) = (room.guests[0].id, heroes[0]);
    let hidden = room.server.spawn(Hero::default());
    room.server.set_visible(id, hidden, false);
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
    room.server.set_visible(id, leader, false);
    room.server.call(hero).follow(leader).unwrap();
    room.server.call(hero).hit(2).unwrap();
    room.server.call(hero).blink(1).unwrap();
    for _ in 0..20 {
        room.step();
    }
    assert_eq!(ran_on(&room, 0, hero), ["blink 1"], "unreliable calls do not wait");
    room.server.set_visible(id, leader, true);
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
    assert_eq!(room.server.stats(id).map(|stats| stats.packets_in_flight), Some(0));
}
