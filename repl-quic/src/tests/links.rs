//! Objects over links that are too slow for all changes.

use std::collections::BTreeSet;
use std::time::Duration;

use repl::prelude::*;
use repl_sim::{LinkConditions, PeerId};

use super::lan::{Air, AirWire, SERVER, Shared, address, identity, lock};
use crate::{QuicClient, QuicConfig, QuicServer, Trust};

/// The time between two ticks of the server, and between two ticks of its clients.
const TICK: Duration = Duration::from_millis(33);

/// An object that changes in each tick.
#[derive(Replicated, Default)]
#[replicated(all)]
struct Ship {
    /// The time in milliseconds at which the server has written the values.
    written_ms: u32,
    load: [u64; 2],
}

struct Sailor {
    client: Client,
    quic: QuicClient,
    /// For each received change, the time in milliseconds from the write on the server to the update on the
    /// client.
    delays_ms: Vec<u32>,
}

/// A server with ships, and clients that each see all ships.
struct Sea {
    air: Shared,
    server: Server,
    quic: QuicServer,
    sailors: Vec<Sailor>,
    ships: Vec<ObjectRef<Ship>>,
}

impl Sea {
    fn new(ships: usize, sailors: u32, conditions: LinkConditions) -> Self {
        let (air, identity) = (Air::shared(), identity());
        let quic = QuicServer::over(AirWire::of(&air, SERVER), &identity, QuicConfig::default());
        let mut server = Server::new(ServerConfig { mtu_bytes: 1_414, ..ServerConfig::default() });
        server.register::<Ship>();
        let ships = (0..ships).map(|_| server.spawn(Ship::default())).collect();
        let trust = Trust::pinned([identity.hash()]);
        let make = |number| {
            let peer = PeerId(number + 1);
            lock(&air).network.connect(SERVER, peer, conditions);
            let quic = QuicClient::over(AirWire::of(&air, peer), address(SERVER), &trust);
            let config = ClientConfig { mtu_bytes: 1_414, ..ClientConfig::default() };
            let mut client = Client::new(config, Session::for_tests(u128::from(number) as u64 + 1));
            client.register::<Ship>();
            Sailor { client, quic: quic.expect("it can be made"), delays_ms: Vec::new() }
        };
        let sailors = (0..sailors).map(make).collect();
        Self { air, server, quic: quic.expect("the identity is good"), sailors, ships }
    }

    fn tick(&mut self, is_sailing: bool) {
        lock(&self.air).advance(TICK);
        let now = lock(&self.air).now;
        if is_sailing {
            for (number, ship) in self.ships.iter().enumerate() {
                let ship = &mut self.server[*ship];
                ship.written_ms = now.as_millis() as u32;
                ship.load = [
                    u64::from(ship.written_ms).wrapping_mul(0x9e37_79b9_7f4a_7c15),
                    number as u64 ^ now.as_nanos() as u64,
                ];
            }
        }
        self.quic.receive(&mut self.server, now).expect("the wire works");
        while self.server.poll_event().is_some() {}
        self.server.tick(now);
        self.quic.transmit(&mut self.server, now).expect("the wire works");
        for Sailor { client, quic, delays_ms } in &mut self.sailors {
            quic.receive(client, now).expect("the wire works");
            let updates = std::iter::from_fn(|| client.poll_update());
            let changed: BTreeSet<_> = updates.filter_map(|update| update.cast::<Ship>()).collect();
            let written = changed.into_iter().filter_map(|ship| Some(client.get(ship)?.written_ms));
            delays_ms.extend(written.map(|written| now.as_millis() as u32 - written));
            client.tick(now);
            quic.transmit(client, now).expect("the wire works");
        }
    }

    fn run(&mut self, ticks: usize, is_sailing: bool) {
        (0..ticks).for_each(|_| self.tick(is_sailing));
    }

    /// Returns how many bytes each client has received.
    fn received(&self) -> Vec<u64> {
        self.sailors.iter().map(|sailor| sailor.client.connection_info().stats().bytes_received).collect()
    }

    fn has_converged(&self) -> bool {
        self.sailors.iter().all(|sailor| {
            self.ships.iter().all(|ship| {
                let copy = sailor.client.get(*ship);
                copy.is_some_and(|copy| copy.load == self.server[*ship].load)
            })
        })
    }

    /// Returns the 95th percentile of the delays, and clears them.
    fn take_delay(&mut self) -> u32 {
        let mut delays: Vec<_> =
            self.sailors.iter_mut().flat_map(|sailor| sailor.delays_ms.drain(..)).collect();
        delays.sort_unstable();
        delays.get(delays.len() * 95 / 100).copied().unwrap_or(u32::MAX)
    }
}

#[test]
fn half_of_a_bad_link_is_enough_for_changes_to_come_in_time() {
    let latency = Duration::from_millis(40);
    let conditions = LinkConditions {
        latency,
        jitter: Duration::from_millis(20),
        bandwidth_bytes_per_second: Some(250_000),
        queue_bytes: 25_000,
        ..LinkConditions::perfect()
    };
    let mut sea = Sea::new(190, 4, conditions.with_loss(0.02));
    sea.run(150, true);
    sea.take_delay();
    let before = lock(&sea.air).network.total().bytes_sent;
    sea.run(300, true);
    let bytes = (lock(&sea.air).network.total().bytes_sent - before) / 4 * 1_000 / (300 * 33);
    assert!((110_000..150_000).contains(&bytes), "about half of the link is wanted: {bytes} B/s");
    let delay = sea.take_delay();
    assert!(delay <= 60 + 33 + 33, "{delay} ms");
    sea.run(60, false);
    assert!(sea.has_converged());
    assert_eq!(sea.quic.counters().dropped, 0);
}

#[test]
fn a_shared_link_is_used_and_nothing_is_dropped_at_the_sender() {
    let conditions = LinkConditions {
        latency: Duration::from_millis(20),
        bandwidth_bytes_per_second: Some(2_500_000),
        queue_bytes: 150_000,
        ..LinkConditions::perfect()
    };
    let mut sea = Sea::new(1_000, 8, conditions);
    {
        let network = &mut lock(&sea.air).network;
        let down: Vec<_> =
            network.links().filter(|(_, from, _)| *from == SERVER).map(|(link, ..)| link).collect();
        down.iter().skip(1).for_each(|link| network.share_queue(down[0], *link));
    }
    sea.run(150, true);
    let before = sea.received();
    sea.run(300, true);
    let bytes: Vec<_> =
        sea.received().iter().zip(before).map(|(after, before)| (after - before) / 300).collect();
    let mean = bytes.iter().sum::<u64>() / 8;
    assert!(mean >= 7_200, "{bytes:?} bytes in a tick");
    assert!(bytes.iter().all(|bytes| bytes * 4 >= mean * 3), "{bytes:?} bytes in a tick");
    assert_eq!(sea.quic.counters().dropped, 0);
    sea.run(150, false);
    assert!(sea.has_converged());
}
