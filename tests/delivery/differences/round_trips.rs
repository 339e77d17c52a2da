//! Differences while somebody types in each tick, on links with long round trips.

use std::time::Duration;

use repl::prelude::*;
use repl::sim::{LinkConditions, Network, PeerId};

use super::Page;

const TICK: Duration = Duration::from_millis(33);

/// Returns how many bytes the server sends in a tick in the mean, while somebody types a letter in each
/// tick, after three round trips.
fn bytes_of_typing(round_trip: Duration) -> u64 {
    let patience = round_trip * 4 + Duration::from_secs(10);
    let mut server = Server::new(ServerConfig {
        congestion_control: repl::CongestionControl::Off,
        timeout: patience,
        ..ServerConfig::default()
    });
    server.register::<Page>();
    let page = server.spawn(Page { text: super::text(3_600), ..Page::default() });
    let mut network = Network::new(3);
    let link = LinkConditions { latency: round_trip / 2, ..LinkConditions::perfect() };
    network.connect(PeerId(0), PeerId(1), link);
    let config = ClientConfig { timeout: patience, ..ClientConfig::default() };
    let mut client = Client::new(config, Session::for_tests(5));
    client.register::<Page>();
    let (mut now, id) = (Duration::ZERO, server.connect(Duration::ZERO));
    let (mut ticks, mut start) = (0, None);
    let end = round_trip * 12 + Duration::from_secs(3);
    let from = round_trip * 6 + Duration::from_secs(1);
    while now < end {
        now += TICK;
        ticks += 1;
        if client.get(page).is_some() {
            let (at, letter) = (ticks % 3_600, char::from(b'A' + (ticks / 3_600 % 26) as u8));
            server[page].text.replace_range(at..=at, &letter.to_string());
        }
        server.tick(now);
        client.tick(now);
        while let Some(packet) = server.poll_transmit(id) {
            network.send(now, PeerId(0), PeerId(1), packet);
        }
        while let Some(packet) = client.poll_transmit() {
            network.send(now, PeerId(1), PeerId(0), packet);
        }
        while let Some(delivery) = network.deliver(now) {
            let bytes = delivery.bytes.to_vec();
            match delivery.to {
                PeerId(0) => server.receive(id, now, &bytes),
                _ => client.receive(now, &bytes).expect("the packet is good"),
            }
        }
        if now >= from && start.is_none() {
            start = Some((ticks, network.total().bytes_sent));
        }
    }
    let (first, before) = start.expect("it has begun");
    (network.total().bytes_sent - before) / (ticks - first) as u64
}

#[test]
fn r23_differences_go_on_at_any_round_trip() {
    for (millis, most) in [(300, 60), (3_000, 250), (30_000, 2_000)] {
        let bytes = bytes_of_typing(Duration::from_millis(millis));
        assert!(bytes <= most, "{millis} ms: {bytes} bytes a tick");
    }
}
