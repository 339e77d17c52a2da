//! Differences while somebody types in each tick, on links with long round trips.

use std::time::Duration;

use repl::prelude::*;
use repl::sim::{LinkConditions, Network, PeerId};

use super::Page;
use crate::linked::Linked;

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

#[test]
fn s229_many_clients_with_different_round_trips_get_each_change() {
    const GUESTS: u64 = 40;
    const TICKS: usize = 60;
    let server = Server::new(ServerConfig {
        congestion_control: repl::CongestionControl::Off,
        ..ServerConfig::default()
    });
    let mut linked = Linked::new(server, 3);
    linked.server.register::<Page>();
    let page = linked.server.spawn(Page { text: super::text(3_600), ..Page::default() });
    for guest in 0..GUESTS {
        let mut client = Client::new(ClientConfig::default(), Session::for_tests(100 + guest));
        client.register::<Page>();
        // Between 9 and 18 ticks in each direction.
        let latency = Duration::from_millis(150 + 4 * guest);
        let link = LinkConditions { latency, ..LinkConditions::perfect() };
        linked.connect(client, link, link);
    }
    let mut shown = vec![(String::new(), 0); GUESTS as usize];
    for tick in 0..200 + TICKS {
        let letter = if tick % 2 == 0 { "!" } else { "?" };
        linked.server[page].text.replace_range(tick * 7..=tick * 7, letter);
        linked.tick();
        for (guest, (text, changes)) in linked.guests.iter().zip(&mut shown).filter(|_| tick >= 200) {
            let new = &guest.client[page].text;
            *changes += usize::from(new != text);
            text.clone_from(new);
        }
    }
    let least = shown.iter().map(|(_, changes)| *changes).min().expect("there are guests");
    assert!(least > TICKS * 9 / 10, "a client has seen {least} of {TICKS} changes");
}

#[test]
fn r23_after_a_thousand_lost_packets_the_value_arrives() {
    let (mut room, page) = super::page(1);
    let mut lost = 0;
    for tick in 0..1_100 {
        let text = &mut room.server[page].text;
        let at = tick * 7 % text.len();
        text.replace_range(at..=at, if tick % 2 == 0 { "!" } else { "?" });
        let packets = room.tick_one();
        lost += packets.len();
        // One packet of twenty keeps the connection alive.
        if lost.is_multiple_of(20) {
            room.deliver(0, &packets);
        }
        room.acknowledge();
    }
    room.settle();
    assert_eq!(room.client()[page].text, room.server[page].text);
}
