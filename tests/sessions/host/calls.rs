//! The calls of the host, and the calls to it (S213, S214, S221, S223).

use repl::prelude::*;
use repl::{CallError, DisconnectReason, HostOptions};

use super::{Hero, HeroCall, host, ran, ran_on, register, room, server_events, spawn};
use crate::support::TICK;

#[test]
fn s213_calls_of_the_host_run_on_the_server_in_the_next_tick() {
    let (mut room, id, heroes) = room(HostOptions::default(), 1);
    let own = heroes[0];
    host(&mut room).call(own).fire(90).unwrap();
    host(&mut room).call(own).wave(2).unwrap();
    host(&mut room).call(own).fire(91).unwrap();
    assert_eq!(ran(&room, own), [""; 0], "a call does not run in the middle of what its caller does");
    room.server.tick(room.now);
    let by = id.index();
    assert_eq!(
        ran(&room, own),
        [format!("fire 90 by {by}"), format!("fire 91 by {by}"), "wave 2".to_owned()]
    );
}

#[test]
fn s213_only_the_owner_may_call_and_the_host_is_told_why_not() {
    let (mut room, id, heroes) = room(HostOptions::default(), 1);
    let (own, other) = (heroes[0], heroes[1]);
    assert_eq!(host(&mut room).call(other).fire(1), Err(CallError::NotOwner));
    let gone = spawn(&mut room.server, id);
    room.server.despawn(gone);
    assert_eq!(host(&mut room).call(gone).fire(1), Err(CallError::Gone));
    assert!(matches!(host(&mut room).call(own).buy(10), Err(CallError::Refused(_))));
    room.server.object(own).set_owner(None);
    assert_eq!(host(&mut room).call(own).fire(1), Err(CallError::NotOwner));
    room.settle();
    assert!(heroes.iter().all(|&hero| ran(&room, hero).is_empty()));
}

#[test]
fn s214_a_call_whose_owner_changed_before_it_ran_is_ignored_and_counted() {
    let (mut room, id, heroes) = room(HostOptions::default(), 1);
    host(&mut room).call(heroes[0]).fire(1).unwrap();
    room.server.object(heroes[0]).set_owner(Some(room.guests[0].id));
    room.settle();
    assert_eq!(ran(&room, heroes[0]), [""; 0]);
    let stats = room.server.connection_info(id).stats().expect("the host is connected");
    assert_eq!(stats.ignored_calls, 1);
}

#[test]
fn s221_a_call_that_a_validator_rejects_ends_the_connection_of_the_host() {
    let (mut room, id, heroes) = room(HostOptions::default(), 1);
    server_events(&mut room);
    host(&mut room).call(heroes[0]).fire(360).unwrap();
    host(&mut room).call(heroes[0]).wave(1).unwrap();
    room.settle();
    assert_eq!(ran(&room, heroes[0]), [""; 0]);
    assert!(room.server.host().is_none());
    let ended = ServerEvent::Disconnected(id, DisconnectReason::Rejected("fire".to_owned()));
    assert_eq!(server_events(&mut room), [ended]);
}

#[test]
fn a_host_makes_no_more_calls_in_a_second_than_a_client() {
    let (mut room, _, heroes) = room(HostOptions::default(), 1);
    let mut made = [0, 0];
    for _ in 0..100 {
        made[0] += u32::from(host(&mut room).call(heroes[0]).fire(1).is_ok());
        made[1] += u32::from(room.guests[0].client.call(heroes[1]).fire(1).is_ok());
    }
    assert_eq!(made, [20, 20]);
    assert_eq!(host(&mut room).call(heroes[0]).fire(1), Err(CallError::TooFast { per_second: 20 }));
    room.wait(TICK * 64);
    room.settle();
    assert_eq!(host(&mut room).call(heroes[0]).fire(1), Ok(()));
}

#[test]
fn calls_of_the_host_without_a_body_are_polled_with_it_as_their_caller() {
    let (mut room, id, heroes) = room(HostOptions::default(), 1);
    host(&mut room).call(heroes[0]).buy(3).unwrap();
    let received = room.server.poll_call::<Hero>().expect("the call");
    assert_eq!((received.object, received.caller), (heroes[0], Some(id)));
    assert!(matches!(received.call, HeroCall::Buy { count: 3 }));
}

#[test]
fn s213_a_client_call_on_an_object_of_the_host_runs_on_the_object_of_the_server() {
    let (mut room, _, heroes) = room(HostOptions::default(), 1);
    room.server.call(heroes[0]).hit(7).unwrap();
    room.server.call(heroes[1]).hit(8).unwrap();
    assert_eq!(ran(&room, heroes[0]), [""; 0], "it waits for the next tick");
    room.settle();
    assert_eq!((ran(&room, heroes[0]), ran(&room, heroes[1])), (&["hit 7".to_owned()][..], &[][..]));
    assert_eq!(ran_on(&room, 0, heroes[0]), [""; 0]);
    assert_eq!(ran_on(&room, 0, heroes[1]), ["hit 8"]);
}

#[test]
fn what_a_client_call_writes_on_the_host_reaches_all_clients() {
    let (mut room, _, heroes) = room(HostOptions::default(), 2);
    room.server.call(heroes[0]).heal(5).unwrap();
    room.server.call(heroes[1]).heal(5).unwrap();
    room.settle();
    let health = |hero: ObjectRef<Hero>| {
        let guests = room.guests.iter().map(|guest| guest.client[hero].health);
        [room.server[hero].health].into_iter().chain(guests).collect::<Vec<_>>()
    };
    assert_eq!(health(heroes[0]), [105, 105, 105]);
    assert_eq!(health(heroes[1]), [100, 105, 100], "on a client, only its copy changes");
}

#[test]
fn a_client_call_that_uses_its_client_waits_until_the_host_polls_it() {
    let (mut room, _, heroes) = room(HostOptions::default(), 0);
    room.server.call(heroes[0]).shake(5).unwrap();
    room.server.call(heroes[0]).open_menu(6).unwrap();
    room.settle();
    assert!(room.server.poll_call::<Hero>().is_none(), "it is no call for the server");
    let mut polled = Vec::new();
    while let Some(received) = host(&mut room).poll_call::<Hero>() {
        polled.extend(host(&mut room).run_call(received).map(|left| format!("{:?}", left.call)));
    }
    assert_eq!(polled, ["OpenMenu { page: 6 }", "Shake { strength: 5 }"]);
    assert_eq!(ran(&room, heroes[0]), [""; 0]);
}

#[test]
fn a_client_call_that_the_host_polled_runs_when_the_host_says_so() {
    let (mut room, _, heroes) = room(HostOptions::default(), 0);
    room.server.call(heroes[0]).hit(4).unwrap();
    let received = host(&mut room).poll_call::<Hero>().expect("the call");
    room.settle();
    assert_eq!(ran(&room, heroes[0]), [""; 0]);
    assert!(host(&mut room).run_call(received).is_none());
    assert_eq!(ran(&room, heroes[0]), ["hit 4"]);
}

#[test]
fn a_call_to_the_host_is_dropped_with_its_object() {
    let (mut room, _, heroes) = room(HostOptions::default(), 0);
    room.server.call(heroes[0]).open_menu(4).unwrap();
    room.server.despawn(heroes[0]);
    assert!(host(&mut room).poll_call::<Hero>().is_none());
}

#[test]
fn s213_a_multicast_runs_once_for_the_server_and_the_host() {
    let (mut room, _, heroes) = room(HostOptions::default(), 1);
    room.server.call(heroes[0]).announce(3).unwrap();
    room.settle();
    assert_eq!(ran(&room, heroes[0]), ["announce 3"]);
    assert_eq!(ran_on(&room, 0, heroes[0]), ["announce 3"]);
    assert!(host(&mut room).poll_call::<Hero>().is_none());
}

#[test]
fn s213_a_multicast_without_a_body_is_polled_by_the_server_and_by_the_host() {
    let (mut room, _, heroes) = room(HostOptions::default(), 0);
    room.server.call(heroes[0]).explode(9).unwrap();
    assert!(matches!(
        room.server.poll_call::<Hero>().map(|got| got.call),
        Some(HeroCall::Explode { strength: 9 })
    ));
    assert!(matches!(
        host(&mut room).poll_call::<Hero>().map(|got| got.call),
        Some(HeroCall::Explode { strength: 9 })
    ));
    assert!(room.server.poll_call::<Hero>().is_none() && host(&mut room).poll_call::<Hero>().is_none());
}

#[test]
fn s213_a_multicast_or_client_call_of_the_host_runs_for_it_alone() {
    let (mut room, _, heroes) = room(HostOptions::default(), 1);
    host(&mut room).call(heroes[1]).announce(3).unwrap();
    host(&mut room).call(heroes[1]).hit(4).unwrap();
    room.settle();
    assert_eq!(ran(&room, heroes[1]), ["announce 3", "hit 4"]);
    assert_eq!(ran_on(&room, 0, heroes[1]), [""; 0]);
}

#[test]
fn s223_a_call_that_waits_for_objects_does_not_wait_on_the_host() {
    let (mut room, _, heroes) = room(HostOptions::default(), 1);
    let gone = room.server.spawn(Hero::default());
    room.server.despawn(gone);
    room.server.call(heroes[0]).look(heroes[1]).unwrap();
    room.server.call(heroes[0]).look(gone).unwrap();
    room.server.call(heroes[0]).hit(1).unwrap();
    room.server.tick(room.now);
    assert_eq!(ran(&room, heroes[0]), ["look there", "look nowhere", "hit 1"]);
}

#[test]
fn a_host_that_does_not_poll_its_calls_ends_as_a_client_would() {
    let (mut room, id, heroes) = room(HostOptions::default(), 0);
    server_events(&mut room);
    for page in 0..4_097_u16 {
        assert!(room.server.host().is_some(), "after {page} calls");
        room.server.call(heroes[0]).open_menu(page as u8).unwrap();
    }
    let reason = DisconnectReason::Unread("calls of Hero".to_owned());
    assert_eq!(server_events(&mut room), [ServerEvent::Disconnected(id, reason)]);
    assert_eq!(room.server.call(heroes[0]).open_menu(1), Err(CallError::NotConnected));
}

#[test]
#[should_panic(expected = "the calls of `Hero` are not registered")]
fn calls_of_a_host_must_be_registered() {
    let mut server = Server::new(ServerConfig::default());
    let hero = server.spawn(Hero::default());
    server.connect_host(HostOptions::default());
    server.host().expect("a host").call(hero).wave(1).ok();
}

#[test]
fn the_time_of_the_calls_of_a_host_is_limited_like_that_of_a_client() {
    thread_local!(static CLOCK: std::cell::Cell<u64> = const { std::cell::Cell::new(0) });
    fn clock() -> std::time::Duration {
        CLOCK.set(CLOCK.get() + 1);
        std::time::Duration::from_millis(CLOCK.get() * 40)
    }
    let config = ServerConfig {
        call_clock: Some(clock),
        call_time_per_second: std::time::Duration::from_millis(100),
        ..ServerConfig::default()
    };
    let mut server = Server::new(config);
    register(&mut server);
    let id = server.connect_host(HostOptions::default());
    let hero = spawn(&mut server, id);
    for _ in 0..10 {
        server.host().expect("a host").call(hero).fire(1).unwrap();
    }
    server.tick(TICK);
    let fired = server[hero].ran.iter().filter(|what| what.starts_with("fire")).count();
    assert_eq!(fired, 3, "three calls of 40 ms use up 100 ms");
}

#[test]
fn calls_on_objects_outside_of_the_server_are_polled_by_the_host() {
    #[derive(Replicated, Default)]
    struct Ship {
        #[replicated]
        sails: u8,
    }
    #[rpcs]
    impl Ship {
        #[rpc(server, reliable)]
        fn turn(&mut self) {
            self.sails += 1;
        }
        #[rpc(client, reliable)]
        fn shake(&mut self) {
            self.sails += 1;
        }
    }
    let mut server = Server::new(ServerConfig::default());
    server.register_external::<Ship>().register_calls::<Ship>();
    let id = server.connect_host(HostOptions { events: true, notifies: true });
    let ship = server.external().spawn(&Ship::default());
    server.object(ship).set_owner(Some(id));
    server.call(ship).shake().unwrap();
    server.host().expect("a host").call(ship).turn().unwrap();
    server.external().compare(ship, &Ship { sails: 1 }).unwrap();
    server.tick(TICK);
    let mut host = server.host().expect("a host");
    let events: Vec<_> = std::iter::from_fn(|| host.poll_event()).collect();
    assert_eq!(events, [ClientEvent::Connected, ClientEvent::Synchronized]);
    let updates = std::iter::from_fn(|| host.poll_update()).map(|update| (update.object, update.what));
    let expected = [UpdateKind::Spawned, UpdateKind::Owner].map(|what| (ship.erase(), what));
    assert_eq!(updates.collect::<Vec<_>>(), expected);
    assert!(host.get(ship).is_none(), "the server has no such object");
    let received = host.poll_call::<Ship>().expect("the call");
    assert!(matches!(host.run_call(received).map(|left| left.call), Some(ShipCall::Shake)));
    assert!(matches!(server.poll_call::<Ship>().map(|left| left.call), Some(ShipCall::Turn)));
}

#[test]
fn s213_a_call_for_the_owner_does_not_run_for_a_host_that_is_the_owner_no_more() {
    let (mut room, id, heroes) = room(HostOptions::default(), 1);
    let own = heroes[0];
    room.server.call(own).hit(1).unwrap();
    room.server.object(own).set_owner(Some(room.guests[0].id));
    room.server.tick(room.now);
    assert_eq!(ran(&room, own), [""; 0]);
    room.server.object(own).set_owner(Some(id));
    room.server.call(own).hit(2).unwrap();
    room.server.tick(room.now);
    assert_eq!(ran(&room, own).len(), 1);
}

#[test]
fn the_own_calls_of_a_host_have_no_limit_as_those_of_a_client_have_none() {
    let (mut room, _, heroes) = room(HostOptions::default(), 1);
    for number in 0..5_000_u16 {
        host(&mut room).call(heroes[0]).hit(number).unwrap();
    }
    room.server.tick(room.now);
    assert_eq!(ran(&room, heroes[0]).len(), 5_000);
    assert!(room.server.host().is_some());
}
