//! Where each kind of call runs (S213, S214, S218, S221, S224).

use repl::prelude::*;
use repl::{CallError, DisconnectReason};

use super::{Hero, Shot, ran_on, ran_on_server, room};

#[test]
fn s213_calls_of_the_server_run_where_their_kind_says() {
    let (mut room, heroes) = room(2);
    let hero = heroes[0];
    room.server.call(hero).fire(90).unwrap();
    room.server.call(hero).hit(3).unwrap();
    room.server.call(hero).announce(7).unwrap();
    room.server.call(hero).explode(8).unwrap();
    room.settle();
    assert_eq!(ran_on_server(&room, hero), ["fire 90", "announce 7", "explode 8"]);
    assert_eq!(ran_on(&room, 0, hero), ["hit 3", "announce 7", "explode 8"]);
    assert_eq!(ran_on(&room, 1, hero), ["announce 7", "explode 8"]);
    let unowned = room.server.spawn(Hero::default());
    assert_eq!(room.server.call(unowned).hit(1), Err(CallError::NoOwner));
}

#[test]
fn s213_calls_of_a_client_run_on_the_server_or_on_itself() {
    let (mut room, heroes) = room(2);
    let (own, other) = (heroes[0], heroes[1]);
    let client = &mut room.guests[0].client;
    client.call(own).fire(45).unwrap();
    client.call(own).wave(2).unwrap();
    client.call(own).hit(5).unwrap();
    client.call(other).announce(6).unwrap();
    assert_eq!(client.call(other).fire(45), Err(CallError::NotOwner));
    assert_eq!(client.call(ObjectRef::<Hero>::NULL).fire(1), Err(CallError::Gone));
    room.settle();
    assert_eq!(ran_on_server(&room, own), ["fire 45", "wave 2"]);
    assert_eq!(ran_on(&room, 0, own), ["hit 5"]);
    assert_eq!(ran_on(&room, 0, other), ["announce 6"]);
    assert_eq!(ran_on(&room, 1, other), [""; 0]);
    assert_eq!(ran_on_server(&room, other), [""; 0]);
}

#[test]
fn a_call_reaches_the_world_around_its_object() {
    let (mut room, heroes) = room(1);
    room.guests[0].client.call(heroes[0]).fire(77).unwrap();
    room.settle();
    let shots: Vec<_> = room.client().objects::<Shot>().map(|(_, shot)| (shot.direction, shot.by)).collect();
    assert_eq!(shots, [(77, heroes[0])]);
}

#[test]
fn s214_a_call_that_arrives_after_its_owner_changed_is_ignored_and_counted() {
    let (mut room, heroes) = room(2);
    let (id, hero) = (room.guests[0].id, heroes[0]);
    room.guests[0].client.call(hero).fire(1).unwrap();
    let packets = room.replies(0);
    room.server.object(hero).set_owner(None);
    room.hear(0, &packets);
    room.settle();
    assert_eq!(ran_on_server(&room, hero), [""; 0]);
    assert_eq!(room.server.connection_info(id).stats().map(|stats| stats.ignored_calls), Some(1));
    // The client learns that it is not the owner any more.
    assert_eq!(room.guests[0].client.call(hero).fire(1), Err(CallError::NotOwner));
    assert_eq!(room.closed(0), None);
}

#[test]
fn s214_a_call_on_an_object_that_is_gone_is_ignored_and_counted() {
    let (mut room, heroes) = room(1);
    let id = room.guests[0].id;
    room.guests[0].client.call(heroes[0]).fire(1).unwrap();
    room.server.despawn(heroes[0]);
    room.settle();
    assert_eq!(room.server.connection_info(id).stats().map(|stats| stats.ignored_calls), Some(1));
    assert_eq!(room.closed(0), None);
}

#[test]
fn s214_an_owner_may_call_while_its_object_is_hidden_from_it() {
    let (mut room, heroes) = room(1);
    let id = room.guests[0].id;
    room.guests[0].client.call(heroes[0]).fire(1).unwrap();
    let packets = room.replies(0);
    room.server.object(heroes[0]).set_visible(id, false);
    room.hear(0, &packets);
    room.settle();
    assert_eq!(ran_on_server(&room, heroes[0]), ["fire 1"]);
    assert_eq!(room.server.connection_info(id).stats().map(|stats| stats.ignored_calls), Some(0));
}

#[test]
fn s221_a_call_that_its_validator_rejects_does_not_run_and_ends_the_connection() {
    let (mut room, heroes) = room(2);
    room.guests[0].client.call(heroes[0]).fire(360).unwrap();
    room.guests[0].client.call(heroes[0]).wave(1).unwrap();
    room.guests[1].client.call(heroes[1]).fire(359).unwrap();
    for _ in 0..3 {
        room.step();
    }
    let rejected = DisconnectReason::Rejected("fire".to_owned());
    assert_eq!(room.closed(0), Some(rejected.clone()));
    assert_eq!(ran_on_server(&room, heroes[0]), [""; 0], "not even what came after it");
    assert_eq!(ran_on_server(&room, heroes[1]), ["fire 359"]);
    let end = std::iter::from_fn(|| room.guests[0].client.poll_event()).last();
    assert_eq!(end, Some(ClientEvent::Disconnected(rejected)), "the client learns which call it was");
    assert!(room.guests[1].client.is_connected());
}

#[test]
fn w18_a_call_runs_in_the_next_tick_of_the_client_after_all_packets_that_have_arrived() {
    let (mut room, heroes) = room(1);
    room.server.call(heroes[0]).hit(5).unwrap();
    let with_call = room.tick_one();
    room.server[heroes[0]].health = 7;
    let with_value = room.tick_one();
    room.deliver(0, &with_call);
    room.deliver(0, &with_value);
    assert_eq!((room.client()[heroes[0]].health, ran_on(&room, 0, heroes[0])), (7, &[][..]));
    room.replies(0);
    assert_eq!(ran_on(&room, 0, heroes[0]), ["hit 5"]);
}

#[test]
fn s221_the_server_itself_is_not_validated() {
    let (mut room, heroes) = room(1);
    room.server.call(heroes[0]).fire(400).unwrap();
    room.settle();
    assert_eq!(ran_on_server(&room, heroes[0]), ["fire 400"]);
}

#[test]
fn s218_a_multicast_goes_only_to_clients_that_have_the_object() {
    let (mut room, heroes) = room(3);
    let (id, hero) = (room.guests[2].id, heroes[0]);
    room.server.object(hero).set_visible(id, false);
    room.settle();
    room.server.call(hero).announce(1).unwrap();
    room.server.call(hero).explode(2).unwrap();
    room.settle();
    assert_eq!(ran_on(&room, 1, hero), ["announce 1", "explode 2"]);
    assert!(room.guests[2].client.get(hero).is_none());
    // The client does not receive the call later either.
    room.server.object(hero).set_visible(id, true);
    room.settle();
    assert_eq!(ran_on(&room, 2, hero), [""; 0]);
}

#[test]
fn s224_a_client_that_joins_later_does_not_get_earlier_calls() {
    let (mut room, heroes) = room(1);
    room.server.call(heroes[0]).announce(1).unwrap();
    room.settle();
    room.enter();
    room.settle();
    room.server.call(heroes[0]).announce(2).unwrap();
    room.settle();
    assert_eq!(ran_on(&room, 0, heroes[0]), ["announce 1", "announce 2"]);
    assert_eq!(ran_on(&room, 1, heroes[0]), ["announce 2"]);
}

#[test]
fn both_sides_must_have_the_same_calls() {
    let mut room = super::Room::new(ServerConfig::default(), |client| {
        client.register::<Shot>().register::<Hero>();
    });
    room.server.register::<Shot>().register_calls::<Hero>();
    room.enter();
    for _ in 0..20 {
        room.step();
    }
    let Some(DisconnectReason::Layouts(mismatch)) = room.closed(0) else { panic!("a refusal") };
    assert!(mismatch.to_string().contains("the client has no calls of `Hero`"), "{mismatch}");
}

#[test]
#[should_panic(
    expected = "the calls of `Hero` are not registered: call `register_calls::<Hero>` on both sides"
)]
fn a_call_of_a_class_without_registered_calls_says_what_to_register() {
    let mut server = Server::new(ServerConfig::default());
    let hero = server.spawn(Hero::default());
    server.call(hero).fire(90).ok();
}

#[test]
#[should_panic(
    expected = "the calls of `Hero` are not registered: call `register_calls::<Hero>` on both sides"
)]
fn a_poll_for_calls_that_are_not_registered_says_what_to_register() {
    Client::new(ClientConfig::default(), Session::for_tests(1)).poll_call::<Hero>();
}

#[test]
fn s210_calls_for_clients_on_an_object_that_was_torn_off_are_refused() {
    let (mut room, heroes) = room(1);
    assert_eq!(room.server.call(heroes[0]).hit(1), Ok(()));
    room.server.object(heroes[0]).tear_off();
    assert_eq!(room.server.call(heroes[0]).hit(2), Err(CallError::Gone));
    assert_eq!(room.server.call(heroes[0]).blink(3), Err(CallError::Gone));
    assert_eq!(room.server.call(heroes[0]).jump(4), Ok(()), "the object lives on at the server");
    room.settle();
    assert_eq!(ran_on(&room, 0, heroes[0]), ["hit 1"]);
}
