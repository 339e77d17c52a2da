//! Sides that never poll their packets. If this is certain, debug builds panic with a hint. Otherwise the
//! reason for the end of the session says it.
//!
//! *Invariant:* after one poll at any time, no panic and no reason says that a side does not poll.

use std::time::Duration;

use repl::prelude::*;
use repl::{DisconnectReason, Endpoint, EndpointConfig};

use crate::support::TICK;

fn client(number: u64) -> Client {
    Client::new(ClientConfig::default(), Session::for_tests(number))
}

/// Returns the times of all ticks in this many seconds.
fn ticks(seconds: u64) -> impl Iterator<Item = Duration> {
    (0..seconds * 1_000 / 16).map(|tick| TICK * tick as u32)
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "`Server::poll_any_transmit` was never called: call it in every frame")]
fn a_server_whose_packets_are_never_polled_panics_with_a_hint() {
    let (mut server, mut client) = (Server::new(ServerConfig::default()), client(1));
    let id = server.connect(Duration::ZERO);
    for now in ticks(20) {
        client.tick(now);
        while let Some(packet) = client.poll_transmit() {
            server.receive(id, now, packet);
        }
        server.tick(now);
    }
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "`Endpoint::poll_transmit` was never called: call it in every frame")]
fn an_endpoint_whose_server_is_polled_in_its_place_panics_with_a_hint() {
    let (mut server, mut client) = (Server::new(ServerConfig::default()), client(1));
    let mut endpoint = Endpoint::<u16>::new(EndpointConfig::default(), 7);
    for now in ticks(20) {
        client.tick(now);
        while let Some(packet) = client.poll_transmit() {
            endpoint.receive(&mut server, now, 5_000, packet);
        }
        server.tick(now);
        while server.poll_any_transmit().is_some() {}
    }
}

#[test]
fn a_client_whose_packets_are_never_polled_says_so_when_it_times_out() {
    let mut silent = client(1);
    ticks(22).for_each(|now| silent.tick(now));
    let end = Some(ClientEvent::Disconnected(DisconnectReason::NeverPolled));
    assert_eq!(
        [silent.poll_event(), silent.poll_event()],
        [end.clone(), end],
        "it tries again, as after a timeout"
    );
    let text = DisconnectReason::NeverPolled.to_string();
    assert!(text.contains("`poll_transmit` was never called: call it in every frame"), "{text}");

    let mut unheard = client(2);
    for now in ticks(11) {
        unheard.tick(now);
        while unheard.poll_transmit().is_some() {}
    }
    assert_eq!(unheard.poll_event(), Some(ClientEvent::Disconnected(DisconnectReason::Timeout)));
}

#[test]
fn times_in_another_unit_are_told_when_a_session_times_out() {
    let (mut server, mut client) = (Server::new(ServerConfig::default()), client(1));
    let id = server.connect(Duration::ZERO);
    // The program passes milliseconds as seconds, so the time between two ticks exceeds all timeouts.
    for now in (0..2).map(|tick| Duration::from_secs(16 * tick)) {
        client.tick(now);
        server.tick(now);
        // The server receives only the first packets.
        while let Some(packet) = client.poll_transmit().filter(|_| now.is_zero()) {
            server.receive(id, now, packet);
        }
        while server.poll_any_transmit().is_some() {}
    }
    let reason = DisconnectReason::TicksTooFarApart(Duration::from_secs(16));
    assert_eq!(client.poll_event(), Some(ClientEvent::Disconnected(reason.clone())));
    assert_eq!(server.poll_event(), Some(ServerEvent::Disconnected(id, reason.clone())));
    let text = reason.to_string();
    assert!(text.contains("times that are at least 16s apart") && text.contains("another unit"), "{text}");
}

/// Returns the reasons for which a server ends sessions, if a client says hello and sends nothing after that.
fn ends(polls: bool) -> Vec<DisconnectReason> {
    let (mut server, mut client) = (Server::new(ServerConfig::default()), client(1));
    let id = server.connect(Duration::ZERO);
    client.tick(Duration::ZERO);
    while let Some(packet) = client.poll_transmit() {
        server.receive(id, Duration::ZERO, packet);
    }
    for now in ticks(11) {
        server.tick(now);
        while polls && server.poll_any_transmit().is_some() {}
    }
    let events = std::iter::from_fn(|| server.poll_event());
    let end = |event| match event {
        ServerEvent::Disconnected(_, reason) => Some(reason),
        _ => None,
    };
    events.filter_map(end).collect()
}

#[test]
fn a_server_whose_packets_are_never_polled_says_so_when_a_session_times_out() {
    assert_eq!(ends(false), [DisconnectReason::NeverPolled]);
    assert_eq!(ends(true), [DisconnectReason::Timeout]);
}
