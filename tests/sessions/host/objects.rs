//! How the host sees objects, and how clients see the objects of the host (S204, S205).

use repl::prelude::*;
use repl::{HostOptions, NotSent};

use super::{Hero, host, room};

#[test]
fn s205_the_host_has_authority_over_all_objects() {
    let (mut room, id, heroes) = room(HostOptions::default(), 1);
    for &hero in &heroes {
        assert_eq!(host(&mut room).role(hero), Some(Role::Authority));
    }
    assert!(host(&mut room).is_owner(heroes[0]) && !host(&mut room).is_owner(heroes[1]));
    assert_eq!(host(&mut room).role(ObjectRef::<Hero>::NULL), None);
    assert!(!host(&mut room).is_owner(ObjectRef::<Hero>::NULL));
    let owned: Vec<_> =
        room.server.connection_info(id).owned_objects::<Hero>().map(|(hero, _)| hero).collect();
    assert_eq!(owned, [heroes[0]]);
}

#[test]
fn s204_clients_see_an_object_of_the_host_as_one_of_another_client() {
    let (mut room, _, heroes) = room(HostOptions::default(), 2);
    for &hero in &heroes {
        let object = &mut room.server[hero];
        (object.ammo, object.aim, object.pose) = (1, 2, 3);
    }
    room.settle();
    let seen = |guest: usize, hero: ObjectRef<Hero>| {
        let client = &room.guests[guest].client;
        let (info, object) = (client.object_info(hero), &client[hero]);
        (info.is_owner(), info.role(), object.ammo, object.aim, object.pose)
    };
    // The first guest sees the hero of the host in the same way as the hero of the second guest.
    assert_eq!(seen(0, heroes[0]), (false, Some(Role::SimulatedProxy), 0, 2, 3));
    assert_eq!(seen(0, heroes[0]), seen(0, heroes[2]));
    assert_eq!(seen(1, heroes[0]), seen(1, heroes[1]));
    assert_eq!(seen(0, heroes[1]), (true, Some(Role::AutonomousProxy), 1, 0, 0));
}

#[test]
fn s204_an_object_that_the_host_gives_away_is_as_one_of_its_new_owner() {
    let (mut room, id, heroes) = room(HostOptions::default(), 1);
    let guest = room.guests[0].id;
    room.server[heroes[0]].ammo = 5;
    room.server.object(heroes[0]).set_owner(Some(guest));
    room.settle();
    assert!(room.client().object_info(heroes[0]).is_owner() && room.client()[heroes[0]].ammo == 5);
    room.server[heroes[0]].ammo = 6;
    room.server.object(heroes[0]).set_owner(Some(id));
    room.settle();
    assert!(!room.client().object_info(heroes[0]).is_owner() && room.client()[heroes[0]].ammo == 5);
}

#[test]
fn s204_what_an_object_of_the_host_owns_is_owned_by_the_host() {
    let (mut room, id, heroes) = room(HostOptions::default(), 1);
    let sword = room.server.spawn(Hero::default());
    room.server.object(sword).set_owner_object(heroes[0]);
    assert_eq!(room.server.object_info(sword).owner(), Some(id));
    host(&mut room).call(sword).wave(3).unwrap();
    room.settle();
    assert_eq!(super::ran(&room, sword), ["wave 3"]);
}

#[test]
fn the_host_sees_every_object_whatever_is_set_for_it() {
    let (mut room, id, heroes) = room(HostOptions::default(), 1);
    room.server.object(heroes[1]).set_visible(id, false).set_relevancy(Relevancy::OwnerOnly);
    room.server.connection(id).pause().set_budget(1).set_viewpoints(&[[1.0; 3]]).resume();
    room.settle();
    let info = room.server.object_info(heroes[1]);
    assert!(info.is_relevant_to(id) && !info.is_asleep_for(id));
    assert_eq!(info.why_not_sent_to(id), Some(NotSent::Host));
    assert!(!room.server.connection_info(id).is_paused());
    let gone = ObjectRef::<Hero>::NULL;
    assert!(!room.server.object_info(gone).is_relevant_to(id));
}

#[test]
fn only_the_owner_among_clients_sees_an_object_that_only_its_owner_may_see() {
    let (mut room, _, heroes) = room(HostOptions::default(), 1);
    room.server.object(heroes[0]).set_relevancy(Relevancy::OwnerOnly);
    room.settle();
    assert!(!room.client().contains(heroes[0]), "the host owns it, and not the guest");
}

#[test]
fn a_host_has_the_values_of_all_properties() {
    let (mut room, _, heroes) = room(HostOptions::default(), 1);
    for &hero in &heroes {
        let object = &mut room.server[hero];
        (object.ammo, object.aim, object.pose) = (1, 2, 3);
    }
    let host = host(&mut room);
    let seen = heroes.iter().filter_map(|&hero| host.get(hero)).map(|hero| (hero.ammo, hero.aim, hero.pose));
    assert_eq!(seen.collect::<Vec<_>>(), [(1, 2, 3); 2], "at once, and also of the hero of the guest");
    assert_eq!(host.objects::<Hero>().count(), 2);
}
