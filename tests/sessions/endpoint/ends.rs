//! Connections that end: each end has a reason on both sides, in spite of losses.
//!
//! *Invariant:* the side that ends the connection sends one packet for this. All later disconnect packets
//! answer packets of the other side.

use std::time::Duration;

use repl::prelude::*;
use repl::sim::{LinkConditions, PeerId};
use repl::{BitReader, BitWriter, DisconnectReason, EndpointConfig};

use super::world::{SERVER, Ship, World, hello};
use crate::forge::seal;

fn lossy() -> LinkConditions {
    LinkConditions::wifi().with_loss(0.3)
}

/// Returns a world with a client that is connected over a lossy link.
fn joined(seed: u64) -> World {
    let mut world = World::new(seed, lossy());
    world.enter(1, 70);
    world.run_until(|world| world.sees(0));
    world
}

#[test]
fn a_reason_of_the_server_arrives_under_loss() {
    let mut longest = Duration::ZERO;
    for seed in 0..40 {
        let mut world = joined(seed);
        let id = world.connected()[0];
        world.server.connection(id).disconnect_with("the match is over");
        longest = longest.max(world.run_until(|world| world.guests[0].end.is_some()));
        let reason = DisconnectReason::ClosedWith("the match is over".to_owned());
        assert_eq!(world.guests[0].end, Some(reason.clone()), "with the seed {seed}");
        assert_eq!(world.disconnected(), [(id, reason)]);
    }
    assert!(longest < Duration::from_secs(3), "{longest:?}");
}

#[test]
fn a_reason_of_the_client_arrives_under_loss() {
    let mut longest = Duration::ZERO;
    for seed in 0..40 {
        let mut world = joined(seed);
        world.guests[0].client.disconnect_with("good night");
        longest = longest.max(world.run_until(|world| !world.disconnected().is_empty()));
        let reason = DisconnectReason::ClosedWith("good night".to_owned());
        assert_eq!(world.disconnected(), [(world.connected()[0], reason.clone())], "with the seed {seed}");
        world.run(Duration::from_millis(100));
        assert_eq!(world.guests[0].end, Some(reason));
    }
    assert!(longest < Duration::from_secs(3), "{longest:?}");
}

#[test]
fn a_disconnect_without_a_reason_is_closed_on_both_sides() {
    for by_server in [false, true] {
        let mut world = joined(5);
        let id = world.connected()[0];
        if by_server {
            world.server.connection(id).disconnect();
        } else {
            world.guests[0].client.disconnect();
        }
        world.run(Duration::from_secs(4));
        assert_eq!(world.guests[0].end, Some(DisconnectReason::Closed));
        assert_eq!(world.disconnected(), [(id, DisconnectReason::Closed)]);
    }
}

#[test]
fn a_long_reason_is_cut_to_255_bytes_between_characters() {
    let mut world = joined(1);
    let id = world.connected()[0];
    world.server.connection(id).disconnect_with(&"ö".repeat(300));
    let expected = DisconnectReason::ClosedWith("ö".repeat(127));
    world.run_until(|world| world.guests[0].end.is_some());
    assert_eq!(world.guests[0].end, Some(expected.clone()));
    assert_eq!(world.disconnected(), [(id, expected)]);
}

#[test]
fn an_ended_connection_does_not_chatter() {
    let mut world = World::new(1, LinkConditions::perfect());
    world.enter(1, 70);
    world.run_until(|world| world.sees(0));
    let id = world.connected()[0];
    world.server.connection(id).disconnect();
    world.guests[0].client.disconnect();
    let before = world.network.total().sent;
    world.run(Duration::from_secs(15));
    let sent = world.network.total().sent - before;
    assert!(sent <= 6, "{sent} packets");
}

#[test]
fn a_client_that_is_timed_out_learns_that_when_it_is_back() {
    let mut world = World::new(1, LinkConditions::perfect());
    world.enter(1, 70);
    world.run_until(|world| world.sees(0));
    // For longer than its timeout, the server does not receive the packets of the client. The client still
    // receives the packets of the server.
    let id = world.connected()[0];
    let links: Vec<_> = world.network.links().collect();
    let (up, ..) = links.into_iter().find(|(_, _, to)| *to == SERVER).expect("a link");
    world.network.sever(up);
    world.run(Duration::from_secs(11));
    assert_eq!(world.disconnected(), [(id, DisconnectReason::Timeout)]);
    assert_eq!(world.guests[0].end, Some(DisconnectReason::Timeout));
}

#[test]
fn a_server_learns_that_a_client_has_timed_out() {
    let config = ServerConfig { timeout: Duration::from_secs(60), ..ServerConfig::default() };
    let mut world = World::with(1, LinkConditions::perfect(), config, EndpointConfig::default());
    world.enter(1, 70);
    world.run_until(|world| world.sees(0));
    let id = world.connected()[0];
    let links: Vec<_> = world.network.links().collect();
    let (down, ..) = links.into_iter().find(|(_, from, _)| *from == SERVER).expect("a link");
    world.network.sever(down);
    world.run(Duration::from_secs(11));
    assert_eq!(world.guests[0].end, Some(DisconnectReason::Timeout));
    assert_eq!(world.disconnected(), [(id, DisconnectReason::Timeout)]);
}

#[test]
fn r21_differences_of_limits_and_classes_are_reported_on_both_sides() {
    #[derive(Replicated, Default)]
    #[replicated(all)]
    struct Unknown {
        depth: u8,
    }
    for seed in 0..10 {
        let mut world = World::new(seed, lossy());
        world.enter(1, 70);
        world.guests[0].client.register::<Unknown>();
        world.enter_with(2, 71, ClientConfig { max_objects: 10, ..ClientConfig::default() });
        world.run_until(|world| world.guests.iter().all(|guest| guest.end.is_some()));
        assert!(matches!(world.guests[0].end, Some(DisconnectReason::Layouts(_))));
        assert!(matches!(world.guests[1].end, Some(DisconnectReason::Limits(_))));
        let mut ends: Vec<_> = world.disconnected().into_iter().map(|(_, reason)| Some(reason)).collect();
        ends.sort_by_key(|reason| matches!(reason, Some(DisconnectReason::Limits(_))));
        assert_eq!(ends, [world.guests[0].end.clone(), world.guests[1].end.clone()]);
    }
}

#[test]
fn a_connection_that_has_ended_is_forgotten_when_no_cookie_of_its_time_is_right() {
    let mut world = World::new(1, LinkConditions::perfect());
    world.enter(1, 70);
    world.run_until(|world| world.sees(0));
    let id = world.connected()[0];
    world.server.connection(id).disconnect();
    world.run(Duration::from_secs(19));
    assert!(world.server.connection_info(id).stats().is_some() && world.endpoint.address(id).is_some());
    world.run(Duration::from_secs(2));
    assert!(world.server.connection_info(id).stats().is_none() && world.endpoint.address(id).is_none());
}

#[test]
fn a_hello_of_an_ended_session_is_answered_with_its_end_and_begins_nothing() {
    let mut world = World::new(1, LinkConditions::perfect());
    world.enter(1, 70);
    world.run_until(|world| world.sees(0));
    let id = world.connected()[0];
    world.server.connection(id).disconnect_with("enough");
    world.run(Duration::from_secs(1));
    world.guests.clear();
    let (events, now) = (world.events.len(), world.now);
    world.endpoint.receive(&mut world.server, now, PeerId(1), &hello(70));
    let mut late = Client::new(ClientConfig::default(), Session::for_tests(70));
    late.register::<Ship>();
    late.tick(now);
    while let Some((_, answer)) = world.endpoint.poll_transmit(&mut world.server) {
        late.receive(now, answer).expect("it is of this session");
    }
    let reason = DisconnectReason::ClosedWith("enough".to_owned());
    assert_eq!(late.poll_event(), Some(ClientEvent::Disconnected(reason)));
    assert_eq!(world.events.len(), events);
}

#[test]
fn a_closing_that_is_lost_comes_again_with_the_next_packet_of_the_other_side() {
    for by_server in [false, true] {
        let mut world = World::new(1, LinkConditions::perfect());
        world.enter(1, 70);
        world.run_until(|world| world.sees(0));
        world.run(Duration::from_secs(1));
        let links: Vec<_> = world.network.links().collect();
        let from = if by_server { SERVER } else { world.guests[0].address };
        let (link, ..) = links.into_iter().find(|(_, sender, _)| *sender == from).expect("a link");
        world.network.lose_next(link, 1);
        if by_server {
            world.server.connection(world.connected()[0]).disconnect();
        } else {
            world.guests[0].client.disconnect();
        }
        let has_ended = |world: &World| world.guests[0].end.is_some() && !world.disconnected().is_empty();
        let time = world.run_until(has_ended);
        assert!(time < Duration::from_millis(350), "{time:?}");
    }
}

/// Returns a hello without padding, with a cookie if there is one.
fn short_hello(session: u64, cookie: Option<u64>) -> Vec<u8> {
    let mut writer = BitWriter::new();
    writer.write_flag(true);
    writer.write_bits(0, 3);
    [session, 1].into_iter().for_each(|number| writer.write_bits(number, 64));
    [(1_200, 16), (65_536, 32), (262_144, 32), (10_000, 32)]
        .into_iter()
        .for_each(|(limit, bits)| writer.write_bits(limit, bits));
    writer.write_flag(cookie.is_some());
    if let Some(cookie) = cookie {
        [cookie, 0].into_iter().for_each(|number| writer.write_bits(number, 64));
        writer.write_bits(0, 10);
    }
    seal(&writer.into_bytes(), session)
}

#[test]
fn r26_a_long_reason_is_no_answer_to_a_short_hello_from_elsewhere() {
    let mut world = World::new(1, LinkConditions::perfect());
    world.enter(1, 70);
    world.run_until(|world| world.sees(0));
    let id = world.connected()[0];
    world.server.connection(id).disconnect_with(&"long ".repeat(50));
    world.run(Duration::from_secs(1));
    let (now, elsewhere) = (world.now, PeerId(9));
    world.endpoint.receive(&mut world.server, now, elsewhere, &short_hello(70, None));
    let (_, retry) = world.endpoint.poll_transmit(&mut world.server).expect("a retry");
    let mut bits = BitReader::new(&retry[4..]);
    assert_eq!(bits.read_bits(5), Ok(0b1_1111), "a control packet with a cookie");
    let cookie = bits.read_bits(64).expect("the cookie");
    world.endpoint.receive(&mut world.server, now, elsewhere, &short_hello(70, Some(cookie)));
    assert_eq!(world.endpoint.poll_transmit(&mut world.server), None);
}

#[test]
fn r25_a_client_of_an_ended_session_takes_no_address_from_another() {
    let mut world = World::new(1, LinkConditions::perfect());
    world.enter(1, 70);
    world.enter(2, 71);
    world.run_until(|world| world.sees(0) && world.sees(1));
    let ids: Vec<_> = world.server.connections().collect();
    let id_at = |address| ids.iter().find(|&&id| world.endpoint.address(id) == Some(PeerId(address)));
    let (one, two) = (*id_at(1).expect("the first"), *id_at(2).expect("the second"));
    // The first client is at the address of the second when its connection is closed.
    world.rebind(0, 2);
    world.server.connection(one).disconnect_with("enough");
    while world.guests[0].end.is_none() {
        world.step();
        assert_eq!(world.endpoint.address(two), Some(PeerId(2)));
    }
    assert_eq!(world.guests[0].end, Some(DisconnectReason::ClosedWith("enough".to_owned())));
}
