//! The events of a host that asks for them.

use repl::HostOptions;
use repl::prelude::*;

use super::{Hero, host, room, spawn};
use crate::support::Room;

const EVENTS: HostOptions = HostOptions { events: true, notifies: false };

fn events(room: &mut Room) -> Vec<ClientEvent> {
    std::iter::from_fn(|| host(room).poll_event()).collect()
}

#[test]
fn a_host_is_told_first_what_is_there_then_what_comes_and_goes() {
    let (mut room, id, heroes) = room(EVENTS, 1);
    let spawned = |hero: &ObjectRef<Hero>| ClientEvent::Spawned(hero.erase());
    let mut expected = vec![ClientEvent::Connected];
    expected.extend(heroes.iter().map(spawned));
    expected.push(ClientEvent::Synchronized);
    assert_eq!(events(&mut room), expected);
    let late = spawn(&mut room.server, id);
    assert_eq!(events(&mut room), [], "it comes with the tick");
    room.step();
    room.server.despawn(late);
    room.step();
    let despawned = ClientEvent::Despawned(late.erase(), CloseReason::Destroyed);
    assert_eq!(events(&mut room), [spawned(&late), despawned]);
    room.settle();
    assert_eq!(events(&mut room), []);
}

#[test]
fn what_comes_and_goes_between_two_ticks_is_not_reported() {
    let (mut room, id, _) = room(EVENTS, 1);
    events(&mut room);
    let short = spawn(&mut room.server, id);
    room.server.despawn(short);
    room.settle();
    assert_eq!(events(&mut room), []);
}

#[test]
fn a_host_is_told_when_it_gets_or_loses_an_object() {
    let (mut room, id, heroes) = room(EVENTS, 1);
    let guest = room.guests[0].id;
    events(&mut room);
    room.server.object(heroes[1]).set_owner(Some(id));
    room.server.object(heroes[0]).set_owner(Some(guest));
    room.settle();
    let changed = |hero: ObjectRef<Hero>| ClientEvent::RoleChanged(hero.erase());
    assert_eq!(events(&mut room), [changed(heroes[0]), changed(heroes[1])]);
    // What is as before at the next tick has not changed, and neither have the objects of others.
    room.server.object(heroes[1]).set_owner(None).set_owner(Some(id));
    room.server.object(heroes[0]).set_owner(None);
    room.settle();
    assert_eq!(events(&mut room), []);
}

#[test]
fn a_host_is_told_of_a_tear_off_and_the_object_goes_with_that_of_the_server() {
    let (mut room, _, heroes) = room(EVENTS, 1);
    events(&mut room);
    room.server.object(heroes[0]).tear_off();
    room.settle();
    assert_eq!(events(&mut room), [ClientEvent::TornOff(heroes[0].erase())]);
    room.server.despawn(heroes[0]);
    room.settle();
    assert_eq!(events(&mut room), [ClientEvent::Despawned(heroes[0].erase(), CloseReason::Destroyed)]);
    assert!(room.client().contains(heroes[0]) && !room.server.contains(heroes[0]));
}

#[test]
fn a_static_object_comes_as_any_other() {
    let (mut room, _, _) = room(EVENTS, 0);
    events(&mut room);
    let door = room.server.statics().spawn("door", Hero::default());
    room.step();
    assert_eq!(events(&mut room), [ClientEvent::Spawned(door.erase())]);
}

#[test]
fn a_host_gets_no_events_unless_it_asks() {
    let (mut room, id, _) = room(HostOptions::default(), 1);
    spawn(&mut room.server, id);
    room.settle();
    assert_eq!(events(&mut room), []);
}

#[test]
fn events_that_nobody_polls_are_about_the_objects_that_exist() {
    let (mut room, id, heroes) = room(EVENTS, 0);
    for _ in 0..5_000 {
        let short = spawn(&mut room.server, id);
        room.server.tick(room.now);
        room.server.despawn(short);
    }
    let last = spawn(&mut room.server, id);
    room.server.tick(room.now);
    let got = events(&mut room);
    assert!(got.len() < 2_100, "{}", got.len());
    assert_eq!(got[..2], [ClientEvent::Connected, ClientEvent::Spawned(heroes[0].erase())]);
    assert_eq!(got.last(), Some(&ClientEvent::Spawned(last.erase())));
}
