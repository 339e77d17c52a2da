//! Clients that change their addresses, and sessions that meet at one address (R25).
//!
//! *Invariant:* a client keeps the objects that it has, and receives everything that must arrive.

use std::time::Duration;

use repl::prelude::*;
use repl::sim::{LinkConditions, PeerId};
use repl::{DisconnectReason, EndpointConfig, Login, ServerEvent};

use super::world::{SERVER, Ship, TICK, World};

const LINKS: [LinkConditions; 3] =
    [LinkConditions::wifi(), LinkConditions::mobile(), LinkConditions::mobile().with_loss(0.3)];

#[test]
fn r25_a_client_whose_address_changes_goes_on_at_the_new_one_and_misses_nothing() {
    for (seed, link) in (0..30).zip(LINKS.iter().cycle()) {
        let mut world = World::new(seed, *link);
        world.enter(1, 70);
        world.enter(2, 71);
        world.run_until(|world| world.sees(0) && world.sees(1));
        let ids = world.connected();
        for address in 10..13 {
            world.rebind(0, address);
            // A ship is spawned and removed while the server does not know where the client is.
            let spawned = world.server.spawn(Ship { hull: 5 });
            world.run(TICK * 20);
            let late = world.server.spawn(Ship { hull: 6 });
            world.server.despawn(spawned);
            let time =
                world.run_until(|world| world.guests[0].client.get(late).is_some() && world.is_current(0));
            assert!(time < Duration::from_secs(6), "{time:?} with the seed {seed}");
            world.run_until(|world| !world.guests[0].client.contains(spawned));
            assert!(world.server.connections().any(|id| world.endpoint.address(id) == Some(PeerId(address))));
        }
        assert_eq!(world.connected(), ids, "no connection is new");
        assert_eq!(world.disconnected(), []);
        assert!(world.is_current(1));
    }
}

#[test]
fn r25_a_client_is_followed_within_a_second_and_two_round_trips() {
    let latency = Duration::from_millis(50);
    let mut world = World::new(1, LinkConditions { latency, ..LinkConditions::perfect() });
    world.enter(1, 70);
    world.run_until(|world| world.sees(0));
    world.run(Duration::from_secs(3));
    world.rebind(0, 9);
    let hull = world.server[world.ship].hull;
    let time = world.run_until(|world| world.guests[0].client[world.ship].hull > hull);
    let most = Duration::from_secs(1) + latency * 5 + TICK * 5;
    assert!(time > Duration::from_secs(1) && time < most, "{time:?}");
}

#[test]
fn r25_clients_whose_addresses_are_exchanged_keep_their_sessions() {
    for seed in 0..10 {
        let mut world = World::new(seed, LinkConditions::wifi());
        world.enter(1, 70);
        world.enter(2, 71);
        world.run_until(|world| world.sees(0) && world.sees(1));
        let ids = world.connected();
        world.rebind(0, 2);
        world.rebind(1, 1);
        world.run(Duration::from_secs(3));
        assert!(world.is_current(0) && world.is_current(1), "with the seed {seed}");
        assert_eq!((world.connected(), world.disconnected()), (ids, vec![]));
    }
}

#[test]
fn r25_a_client_that_starts_again_replaces_its_old_session_and_both_ends_learn_it() {
    for (seed, link) in (0..30).zip(LINKS.iter().cycle()) {
        let mut world = World::new(seed, *link);
        world.enter(1, 70);
        world.run_until(|world| world.sees(0));
        world.enter(1, 71);
        world.run_until(|world| world.sees(1) && world.guests[0].end.is_some());
        assert_eq!(world.guests[0].end, Some(DisconnectReason::Replaced));
        let [old, new] = world.connected()[..] else { panic!("two connections") };
        assert_eq!(world.disconnected(), [(old, DisconnectReason::Replaced)]);
        world.run(Duration::from_secs(3));
        assert!(world.is_current(1), "with the seed {seed}");
        assert_eq!(world.server.connections().collect::<Vec<_>>(), [new]);
        assert_eq!(world.guests[1].end, None);
    }
}

#[test]
fn r25_two_clients_behind_one_nat_do_not_mix() {
    let mut world = World::new(1, LinkConditions::wifi());
    world.enter(1, 70);
    world.enter(2, 71);
    world.run_until(|world| world.sees(0) && world.sees(1));
    let mut ids = world.server.connections();
    let one = ids.find(|&id| world.endpoint.address(id) == Some(PeerId(1))).expect("the first");
    drop(ids);
    world.server.connection(one).disconnect();
    world.run(Duration::from_secs(1));
    assert_eq!(world.guests[0].end, Some(DisconnectReason::Closed));
    assert!(world.is_current(1) && world.guests[1].end.is_none());
}

/// Returns the first hello of a client that contains a cookie. The hello is not delivered.
fn hello_with_cookie(world: &mut World, guest: usize) -> Vec<u8> {
    let (now, from) = (world.now, world.guests[guest].address);
    let client = &mut world.guests[guest].client;
    client.tick(now);
    let hello = client.poll_transmit().expect("a hello").to_vec();
    world.endpoint.receive(&mut world.server, now, from, &hello);
    let (to, retry) = world.endpoint.poll_transmit(&mut world.server).expect("a retry");
    assert_eq!(to, from);
    client.receive(now, retry).expect("it is for this client");
    client.poll_transmit().expect("a hello with a cookie").to_vec()
}

#[test]
fn r25_a_late_hello_of_a_session_that_never_began_ends_no_other() {
    let mut world = World::new(1, LinkConditions::perfect());
    world.enter(1, 70);
    let late = hello_with_cookie(&mut world, 0);
    // The client is started again, and only then the hello of the old session arrives.
    world.guests.clear();
    world.enter(1, 71);
    world.run_until(|world| world.sees(0));
    let connected = world.connected();
    world.endpoint.receive(&mut world.server, world.now, PeerId(1), &late);
    world.run(Duration::from_secs(12));
    assert!(world.is_current(0) && world.guests[0].end.is_none());
    assert_eq!(world.connected(), connected, "the late session has not begun");
    assert_eq!(world.server.connections().collect::<Vec<_>>(), connected);
}

#[test]
fn r25_an_old_hello_of_a_session_does_not_move_it() {
    let mut world = World::new(1, LinkConditions::perfect());
    world.enter(1, 70);
    let old = hello_with_cookie(&mut world, 0);
    world.endpoint.receive(&mut world.server, world.now, PeerId(1), &old);
    world.run_until(|world| world.sees(0));
    world.rebind(0, 2);
    world.run(Duration::from_secs(2));
    let id = world.connected()[0];
    assert_eq!(world.endpoint.address(id), Some(PeerId(2)));
    world.endpoint.receive(&mut world.server, world.now, PeerId(1), &old);
    assert_eq!(world.endpoint.address(id), Some(PeerId(2)));
    // The answer contains another cookie. A client that is connected ignores it.
    let (to, answer) = world.endpoint.poll_transmit(&mut world.server).expect("an answer");
    assert_eq!((to, answer.len()), (PeerId(1), 13));
    let client = &mut world.guests[0].client;
    assert_eq!(client.receive(world.now, answer), Ok(()));
    assert!(client.is_connected() && client.poll_event().is_none());
}

#[test]
fn r25_a_late_hello_of_a_client_that_has_moved_does_not_move_its_session_back() {
    let mut world = World::new(1, LinkConditions::perfect());
    world.enter(1, 70);
    world.run_until(|world| world.sees(0));
    // The client hears nothing for more than a second, so it repeats its hello with its cookie and token.
    world.now += Duration::from_millis(1_100);
    let client = &mut world.guests[0].client;
    client.tick(world.now);
    let mut packets = std::iter::from_fn(|| client.poll_transmit().map(<[u8]>::to_vec));
    let late = packets.find(|packet| packet.len() == 1_200).expect("a hello");
    world.rebind(0, 2);
    world.run(Duration::from_secs(2));
    let id = world.connected()[0];
    assert_eq!(world.endpoint.address(id), Some(PeerId(2)));
    for _ in 0..3 {
        world.endpoint.receive(&mut world.server, world.now, PeerId(1), &late);
        assert_eq!(world.endpoint.address(id), Some(PeerId(2)));
    }
    world.run(Duration::from_millis(500));
    assert!(world.is_current(0));
    // A client that is back at its old address is followed there.
    world.rebind(0, 1);
    world.run(Duration::from_secs(2));
    assert_eq!(world.endpoint.address(id), Some(PeerId(1)));
    assert!(world.is_current(0));
}

#[test]
fn r25_who_knows_a_session_but_not_its_token_cannot_take_it_away() {
    let mut world = World::new(1, LinkConditions::perfect());
    world.enter(1, 70);
    world.run_until(|world| world.sees(0));
    let id = world.connected()[0];
    // A thief uses the same session number at another address.
    world.enter(2, 70);
    world.run(Duration::from_secs(3));
    assert_eq!(world.endpoint.address(id), Some(PeerId(1)));
    assert!(world.is_current(0) && !world.guests[1].client.is_connected());
    assert_eq!(world.guests[1].end, Some(DisconnectReason::Taken));
}

/// Returns a world with an application that has not decided about the login of its client yet.
fn undecided(seed: u64) -> (World, ConnectionId) {
    let server = ServerConfig { login: Login::Ask, ..ServerConfig::default() };
    let mut world = World::with(seed, LinkConditions::wifi(), server, EndpointConfig::default());
    world.enter_with(1, 70, ClientConfig { login: b"Ada".to_vec(), ..ClientConfig::default() });
    world.run_until(|world| !logins(world).is_empty());
    let id = logins(&world)[0];
    (world, id)
}

fn logins(world: &World) -> Vec<ConnectionId> {
    let login = |event: &ServerEvent| match event {
        ServerEvent::Login(id, _) => Some(*id),
        _ => None,
    };
    world.events.iter().filter_map(login).collect()
}

#[test]
fn r25_who_knows_a_session_that_has_no_token_yet_cannot_take_it_away() {
    let (mut world, id) = undecided(1);
    world.enter(2, 70);
    world.run(Duration::from_secs(1));
    assert_eq!(world.endpoint.address(id), Some(PeerId(1)));
    assert_eq!(world.guests[1].end, Some(DisconnectReason::Taken));
    assert!(world.server.connection(id).accept(b"you are number 4"));
    world.run(Duration::from_secs(2));
    assert!(
        world.is_current(0) && world.guests[0].client.connection_info().login_answer() == b"you are number 4"
    );
    assert_eq!((world.connected(), logins(&world)), (vec![id], vec![id]));
}

#[test]
fn r25_a_client_whose_address_changes_while_its_login_is_decided_joins_from_the_new_one() {
    for seed in 0..10 {
        let (mut world, id) = undecided(seed);
        world.rebind(0, 2);
        world.run_until(|world| logins(world).len() == 2);
        let again = logins(&world)[1];
        assert!(again != id && world.server.connection(again).accept(b""));
        world.run_until(|world| world.sees(0));
        assert_eq!(world.endpoint.address(again), Some(PeerId(2)));
        // The session that the client has left ends by itself.
        world.run(Duration::from_secs(12));
        assert_eq!((world.is_current(0), world.server.connections().count()), (true, 1));
    }
}

#[test]
fn r25_a_client_whose_address_changes_before_its_first_packet_with_the_token_is_followed() {
    for settled in [false, true] {
        let mut world = World::new(1, LinkConditions::wifi());
        if settled {
            world.enter(1, 69);
            world.run_until(|world| world.sees(0));
            world.guests.clear();
        }
        world.enter(1, 70);
        world.run_until(|world| world.server.connections().count() == 1 + usize::from(settled));
        // From now on, packets that the client sends from its old address are lost.
        let there = world.network.link(PeerId(1), SERVER, LinkConditions::wifi());
        world.network.sever(there);
        world.run_until(|world| world.guests[0].client.is_connected());
        world.rebind(0, 2);
        world.run_until(|world| world.sees(0));
        world.run(Duration::from_secs(2));
        assert!(world.is_current(0) && world.guests[0].end.is_none(), "{settled}");
        let id = *world.connected().last().expect("it has begun");
        assert_eq!(world.endpoint.address(id), Some(PeerId(2)));
    }
}

#[test]
fn a_campaign_of_churn_and_changing_addresses_mixes_no_sessions() {
    for seed in 0..12 {
        let link = LINKS[seed as usize % 3];
        let config = EndpointConfig { max_connections: 64, ..EndpointConfig::default() };
        let mut world = World::with(seed, link, ServerConfig::default(), config);
        let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut below = |bound: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % bound
        };
        let mut address = 1;
        for session in 0..6 {
            world.enter_with(address, 500 + session, ClientConfig::default());
            address += 1;
        }
        for round in 0..25 {
            world.run(Duration::from_millis(200 + below(1_500)));
            let guest = below(6) as usize;
            match below(4) {
                // A new address.
                0 => {
                    world.rebind(guest, address);
                    address += 1;
                }
                // A restart at the same address.
                1 => {
                    let PeerId(same) = world.guests.remove(guest).address;
                    world.enter_with(same, 1_000 + round, ClientConfig::default());
                }
                // A restart elsewhere, after saying good night.
                2 => {
                    world.guests[guest].client.disconnect_with("good night");
                    world.step();
                    world.guests.remove(guest);
                    world.enter_with(address, 2_000 + round, ClientConfig::default());
                    address += 1;
                }
                // A pause.
                _ => {
                    let from = world.guests[guest].address;
                    let (there, back) = world.network.connect(SERVER, from, link);
                    let until = world.now + Duration::from_millis(below(4_000));
                    world.network.blackout(there, until);
                    world.network.blackout(back, until);
                }
            }
        }
        world.run(Duration::from_secs(20));
        for (number, guest) in world.guests.iter().enumerate() {
            assert!(world.is_current(number), "guest {number} with the seed {seed}: {:?}", guest.end);
        }
        assert_eq!(world.server.connections().count(), 6, "with the seed {seed}");
        let addresses: Vec<_> =
            world.server.connections().map(|id| world.endpoint.address(id).expect("known")).collect();
        for guest in &world.guests {
            assert!(addresses.contains(&guest.address), "with the seed {seed}");
        }
    }
}
