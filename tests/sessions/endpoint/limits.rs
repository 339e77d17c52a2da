//! The limits of an endpoint: how many connections there are, and how long an unfinished handshake lasts.
//!
//! *Invariant:* an unfinished connection never ends a connection that is in use.

use std::time::Duration;

use repl::prelude::*;
use repl::sim::LinkConditions;
use repl::{DisconnectReason, Endpoint, EndpointConfig, ServerEvent};

use super::world::{Ship, TICK, World};

#[test]
fn a_client_that_finds_the_server_full_learns_it_and_comes_in_when_another_has_gone() {
    for seed in 0..10 {
        let config = EndpointConfig { max_connections: 3, ..EndpointConfig::default() };
        let link = LinkConditions::wifi().with_loss(0.2);
        let mut world = World::with(seed, link, ServerConfig::default(), config);
        (1..=3).for_each(|guest| _ = world.enter(guest, 70 + u64::from(guest)));
        world.run_until(|world| (0..3).all(|guest| world.sees(guest)));
        world.enter(4, 80);
        world.run_until(|world| world.guests[3].end.is_some());
        assert_eq!(world.guests[3].end, Some(DisconnectReason::Full));
        assert_eq!((world.connected().len(), world.disconnected()), (3, vec![]), "nothing was kept");
        // A client that was started again replaces its own old connection.
        world.enter(1, 81);
        world.run_until(|world| world.sees(4) && world.guests[0].end.is_some());
        assert_eq!(world.server.connections().count(), 3);
        world.guests[1].client.disconnect();
        world.run_until(|world| world.server.connections().count() == 2);
        world.enter(5, 82);
        world.run_until(|world| world.sees(5));
        assert!(world.is_current(2) && world.is_current(4));
    }
}

/// Plays a client that gets a cookie, opens a connection, and says nothing more.
fn half_open(server: &mut Server, endpoint: &mut Endpoint<u64>, now: Duration, address: u64) {
    let mut client = Client::new(ClientConfig::default(), Session::for_tests(address + 1_000));
    client.register::<Ship>();
    client.tick(now);
    let hello = client.poll_transmit().expect("a hello").to_vec();
    endpoint.receive(server, now, address, &hello);
    while let Some((to, retry)) = endpoint.poll_transmit(server) {
        if to == address {
            client.receive(now, retry).expect("it is for this client");
        }
    }
    if let Some(hello) = client.poll_transmit() {
        endpoint.receive(server, now, address, hello);
    }
    while endpoint.poll_transmit(server).is_some() {}
}

fn ends(server: &mut Server) -> Vec<DisconnectReason> {
    let ended = |event| match event {
        ServerEvent::Disconnected(_, reason) => Some(reason),
        _ => None,
    };
    std::iter::from_fn(|| server.poll_event()).filter_map(ended).collect()
}

#[test]
fn r26_half_open_connections_are_evicted_after_a_timeout() {
    let mut server = Server::new(ServerConfig::default());
    server.spawn(Ship { hull: 1 });
    let mut endpoint = Endpoint::new(EndpointConfig::default(), 5);
    let start = Duration::from_secs(50);
    (0..100).for_each(|address| half_open(&mut server, &mut endpoint, start, address));
    assert_eq!(server.connections().count(), 100);
    server.tick(start + Duration::from_millis(9_990));
    assert_eq!(ends(&mut server), []);
    server.tick(start + Duration::from_secs(10));
    assert_eq!(ends(&mut server), vec![DisconnectReason::Timeout; 100]);
    assert_eq!(server.connections().count(), 0);
}

#[test]
fn r26_above_the_limit_any_half_open_connection_is_evicted_and_no_other() {
    let config = EndpointConfig { max_half_open: 10, ..EndpointConfig::default() };
    let mut server = Server::new(ServerConfig::default());
    server.spawn(Ship { hull: 1 });
    let mut endpoint = Endpoint::new(config, 5);
    let mut honest = Client::new(ClientConfig::default(), Session::for_tests(1));
    honest.register::<Ship>();
    let mut tick = |server: &mut Server, endpoint: &mut Endpoint<u64>, now| {
        honest.tick(now);
        while let Some(packet) = honest.poll_transmit() {
            endpoint.receive(server, now, u64::MAX, packet);
        }
        server.tick(now);
        while let Some((to, packet)) = endpoint.poll_transmit(server) {
            if to == u64::MAX {
                honest.receive(now, packet).expect("an honest packet");
            }
        }
        honest.is_connected()
    };
    (0..5).for_each(|number| _ = tick(&mut server, &mut endpoint, TICK * number));
    let mut oldest_stays = 0;
    for address in 0..1_000 {
        let now = TICK * 5 + Duration::from_millis(address);
        half_open(&mut server, &mut endpoint, now, address);
        let open: Vec<_> = server.connections().filter_map(|id| endpoint.address(id)).collect();
        assert!(open.len() <= 11, "{} connections", open.len());
        assert!(open.contains(&u64::MAX) && open.contains(&address));
        oldest_stays += usize::from(open.iter().any(|&other| other != u64::MAX && other + 10 <= address));
    }
    assert!((500..1_000).contains(&oldest_stays), "a flood cannot choose who goes: {oldest_stays}");
    let ended = ends(&mut server);
    assert_eq!((ended.len(), ended.iter().all(|end| *end == DisconnectReason::Full)), (990, true));
    assert!(tick(&mut server, &mut endpoint, TICK * 70));
    let debug = format!("{endpoint:?}");
    assert_eq!(debug.matches("KnownClient").count(), 11, "10 half open, one connected");
}

#[test]
#[should_panic(expected = "`max_half_open` is at least 1")]
fn a_limit_of_zero_is_refused() {
    drop(Endpoint::<u8>::new(EndpointConfig { max_half_open: 0, ..EndpointConfig::default() }, 0));
}
