//! The events and updates of a host that asks for them.

use repl::HostOptions;
use repl::prelude::*;

use super::{Hero, host, room, spawn};
use crate::support::Room;

const EVENTS: HostOptions = HostOptions { events: true, notifies: false };

fn events(room: &mut Room) -> Vec<ClientEvent> {
    std::iter::from_fn(|| host(room).poll_event()).collect()
}

/// Returns the updates that the host has not polled yet: each object with the kind of its update.
fn updates(room: &mut Room) -> Vec<(ObjectRef<()>, UpdateKind)> {
    let updates = std::iter::from_fn(|| host(room).poll_update());
    updates.map(|update| (update.object, update.what)).collect()
}

/// Returns the updates that report a new hero of the host.
fn own(hero: ObjectRef<Hero>) -> [(ObjectRef<()>, UpdateKind); 2] {
    [UpdateKind::Spawned, UpdateKind::Owner].map(|what| (hero.erase(), what))
}

const GONE: UpdateKind = UpdateKind::Despawned(CloseReason::Destroyed);

#[test]
fn a_host_is_told_first_what_is_there_then_what_comes_and_goes() {
    let (mut room, id, heroes) = room(EVENTS, 1);
    assert_eq!(events(&mut room), [ClientEvent::Connected, ClientEvent::Synchronized]);
    let [first, its_owner] = own(heroes[0]);
    assert_eq!(updates(&mut room), [first, its_owner, (heroes[1].erase(), UpdateKind::Spawned)]);
    let late = spawn(&mut room.server, id);
    assert_eq!(updates(&mut room), [], "it comes with the tick");
    room.step();
    room.server.despawn(late);
    room.step();
    assert_eq!(updates(&mut room), [&own(late)[..], &[(late.erase(), GONE)]].concat());
    room.settle();
    assert_eq!((updates(&mut room), events(&mut room)), (vec![], vec![]));
}

#[test]
fn what_comes_and_goes_between_two_ticks_is_not_reported() {
    let (mut room, id, _) = room(EVENTS, 1);
    updates(&mut room);
    let short = spawn(&mut room.server, id);
    room.server.despawn(short);
    room.settle();
    assert_eq!(updates(&mut room), []);
}

#[test]
fn a_host_is_told_when_it_gets_or_loses_an_object() {
    let (mut room, id, heroes) = room(EVENTS, 1);
    let guest = room.guests[0].id;
    updates(&mut room);
    room.server.object(heroes[1]).set_owner(Some(id));
    room.server.object(heroes[0]).set_owner(Some(guest));
    room.settle();
    let changed = |hero: ObjectRef<Hero>| (hero.erase(), UpdateKind::Owner);
    assert_eq!(updates(&mut room), [changed(heroes[0]), changed(heroes[1])]);
    // If an owner is the same at the next tick as before, no update is reported. Objects of other players
    // cause no update either.
    room.server.object(heroes[1]).set_owner(None).set_owner(Some(id));
    room.server.object(heroes[0]).set_owner(None);
    room.settle();
    assert_eq!(updates(&mut room), []);
}

#[test]
fn a_host_is_told_of_a_tear_off_and_the_object_goes_with_that_of_the_server() {
    let (mut room, _, heroes) = room(EVENTS, 1);
    updates(&mut room);
    room.server.object(heroes[0]).tear_off();
    room.settle();
    assert_eq!(updates(&mut room), [(heroes[0].erase(), UpdateKind::TornOff)]);
    room.server.despawn(heroes[0]);
    room.settle();
    assert_eq!(updates(&mut room), [(heroes[0].erase(), GONE)]);
    assert!(room.client().contains(heroes[0]) && !room.server.contains(heroes[0]));
}

#[test]
fn a_static_object_comes_as_any_other() {
    let (mut room, _, _) = room(EVENTS, 0);
    updates(&mut room);
    let door = room.server.statics().spawn("door", Hero::default());
    room.step();
    assert_eq!(updates(&mut room), [(door.erase(), UpdateKind::Spawned)]);
}

#[test]
fn a_host_gets_no_events_unless_it_asks() {
    let (mut room, id, _) = room(HostOptions::default(), 1);
    spawn(&mut room.server, id);
    room.settle();
    assert_eq!((events(&mut room), updates(&mut room)), (vec![], vec![]));
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
    assert_eq!(events(&mut room), [ClientEvent::Connected, ClientEvent::Synchronized]);
    let got = updates(&mut room);
    assert!(got.len() < 2_100, "{}", got.len());
    assert_eq!(got[..2], own(heroes[0]));
    assert_eq!(got[got.len() - 2..], own(last));
}
