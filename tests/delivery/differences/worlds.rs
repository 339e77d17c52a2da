//! Clients over lossy links, whose packets also overtake each other.

use std::time::Duration;

use repl::prelude::*;
use repl::sim::{LinkConditions, Network, PeerId, Rng};

use super::Page;

const TICK: Duration = Duration::from_millis(33);

/// Runs a world, and returns how many bytes the server has sent.
fn run(seed: u64, conditions: LinkConditions, ticks: u32) -> u64 {
    let mut rng = Rng::new(seed);
    let mut network = Network::new(seed);
    let mut server = Server::new(ServerConfig {
        congestion_control: repl::CongestionControl::Off,
        ..ServerConfig::default()
    });
    server.register::<Page>();
    let mut pages: Vec<ObjectRef<Page>> = Vec::new();
    let mut clients = Vec::new();
    let mut now = Duration::ZERO;
    for tick in 0..ticks {
        now += TICK;
        let is_editing = tick < ticks * 2 / 3;
        if is_editing && (pages.len() < 2 || rng.below(60) == 0) {
            pages.push(server.spawn(Page::default()));
        }
        if is_editing && pages.len() > 3 && rng.below(60) == 0 {
            let gone = pages.remove(rng.below(pages.len() as u64) as usize);
            server.despawn(gone);
        }
        if is_editing && clients.len() < 3 && tick % 70 == 5 {
            let peer = PeerId(clients.len() as u32 + 1);
            network.connect(PeerId(0), peer, conditions);
            let mut client =
                Client::new(ClientConfig::default(), Session::for_tests(seed * 10 + peer.0 as u64));
            client.register::<Page>();
            clients.push((peer, server.connect(now), client));
        }
        for &page in &pages {
            if is_editing && rng.below(3) > 0 {
                edit(&mut server[page], &mut rng);
            }
        }
        if !is_editing && tick + 60 < ticks {
            network
                .links()
                .map(|(link, ..)| link)
                .collect::<Vec<_>>()
                .into_iter()
                .for_each(|link| network.set_conditions(link, LinkConditions::perfect()));
        }
        server.tick(now);
        for (peer, id, client) in &mut clients {
            while let Some(packet) = server.poll_transmit(*id) {
                network.send(now, PeerId(0), *peer, packet);
            }
            client.tick(now);
            while let Some(packet) = client.poll_transmit() {
                network.send(now, *peer, PeerId(0), packet);
            }
        }
        while let Some(delivery) = network.deliver(now) {
            let (from, to, bytes) = (delivery.from, delivery.to, delivery.bytes.to_vec());
            for (peer, id, client) in &mut clients {
                if to == *peer {
                    client.receive(now, &bytes).expect("the packet is good");
                } else if from == *peer {
                    server.receive(*id, now, &bytes);
                }
            }
        }
        while let Some(event) = server.poll_event() {
            assert!(!matches!(event, ServerEvent::Disconnected(..)), "seed {seed}: {event:?}");
        }
    }
    for (_, _, client) in &clients {
        assert_eq!(client.objects::<Page>().count(), pages.len(), "seed {seed}");
        for &page in &pages {
            let (here, there) = (&server[page], client.get(page).expect("it is there"));
            assert!(here.text == there.text && here.list == there.list, "seed {seed}: {page:?}");
            assert!(here.seen == there.seen && here.number == there.number, "seed {seed}: {page:?}");
        }
    }
    network.total().bytes_sent
}

fn edit(page: &mut Page, rng: &mut Rng) {
    match rng.below(8) {
        0 => page.number += 1,
        1 => page.text = "new".repeat(rng.below(800) as usize),
        2 | 3 => {
            let at = rng.below(page.text.len() as u64 + 1) as usize;
            page.text.insert(at, char::from(b'a' + rng.below(26) as u8));
        }
        4 => drop(page.text.pop()),
        5 => {
            let at = rng.below(page.list.len() as u64 + 1) as usize;
            page.list.insert(at, rng.below(1 << 32) as u32);
        }
        6 if !page.list.is_empty() => {
            let at = rng.below(page.list.len() as u64) as usize;
            page.list.remove(at);
        }
        _ => {
            if page.seen.len() < 200 {
                page.seen.resize(page.seen.len() + 40, 0);
            }
            let at = rng.below(page.seen.len() as u64) as usize;
            page.seen[at] ^= 1 << rng.below(64);
        }
    }
}

#[test]
fn r23_clients_converge_whatever_is_lost() {
    for seed in 1..=12 {
        let conditions = LinkConditions {
            latency: Duration::from_millis([5, 60, 300, 1_000][seed as usize % 4]),
            jitter: Duration::from_millis([0, 80][seed as usize % 2]),
            ..LinkConditions::perfect()
        };
        run(seed, conditions.with_loss([0.0, 0.1, 0.3, 0.5][seed as usize / 3 % 4]), 900);
    }
}

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
            let (at, letter) = (1_800 + ticks % 40, char::from(b'a' + (ticks / 40 % 26) as u8));
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
    println!(
        "connected {} text {} now {now:?} ticks {ticks}",
        client.is_connected(),
        client.get(page).map_or(0, |page| page.text.len())
    );
    (network.total().bytes_sent - before) / (ticks - first) as u64
}

#[test]
fn r23_differences_go_on_at_any_round_trip() {
    for (millis, most) in [(300, 150), (3_000, 400), (30_000, 1_500)] {
        let bytes = bytes_of_typing(Duration::from_millis(millis));
        println!("{millis} ms: {bytes} bytes a tick");
        assert!(bytes <= most, "{millis} ms: {bytes} bytes a tick");
    }
}
