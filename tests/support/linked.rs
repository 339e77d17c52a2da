//! A server and its clients, with links of the simulator between them.
//!
//! *Invariant:* all packets go through the simulator. Time passes only in [`Linked::deliver`].
#![allow(dead_code, reason = "each test file uses a part")]

use repl::Transmit;
use repl::prelude::*;
use repl::sim::{Clock, LinkConditions, LinkId, LinkStats, Network, PeerId};

pub(crate) const HZ: u32 = 60;
const SERVER: PeerId = PeerId(0);

/// A client with its connection on the server and its links.
pub(crate) struct Guest {
    pub(crate) client: Client,
    pub(crate) id: ConnectionId,
    peer: PeerId,
    /// The link to the client, and the link back to the server.
    pub(crate) down: LinkId,
    pub(crate) up: LinkId,
}

pub(crate) struct Linked {
    pub(crate) server: Server,
    pub(crate) guests: Vec<Guest>,
    pub(crate) network: Network,
    pub(crate) clock: Clock,
}

impl Linked {
    pub(crate) fn new(server: Server, seed: u64) -> Self {
        Self { server, guests: Vec::new(), network: Network::new(seed), clock: Clock::at_hz(HZ) }
    }

    /// Connects a client over two links, and returns its index.
    pub(crate) fn connect(&mut self, client: Client, down: LinkConditions, up: LinkConditions) -> usize {
        let index = self.guests.len();
        let peer = PeerId(1 + index as u32);
        let id = self.server.connect(self.clock.now());
        let (down, up) = (self.network.link(SERVER, peer, down), self.network.link(peer, SERVER, up));
        self.guests.push(Guest { client, id, peer, down, up });
        index
    }

    /// Delivers what has arrived, and ticks the server and then the clients.
    pub(crate) fn tick(&mut self) {
        self.deliver();
        self.send();
    }

    /// Begins a tick: delivers what has arrived.
    pub(crate) fn deliver(&mut self) {
        let now = self.clock.tick();
        while let Some(delivery) = self.network.deliver(now) {
            if let Some(guest) = self.guests.iter_mut().find(|guest| guest.peer == delivery.to) {
                guest.client.receive(now, delivery.bytes).expect("a packet of the server");
            } else if let Some(guest) = self.guests.iter().find(|guest| guest.peer == delivery.from) {
                self.server.receive(guest.id, now, delivery.bytes);
            }
        }
    }

    /// Ends a tick: ticks the server and then the clients, and sends their packets.
    pub(crate) fn send(&mut self) {
        let now = self.clock.now();
        self.server.tick(now);
        while let Some(Transmit { connection, bytes }) = self.server.poll_any_transmit() {
            if let Some(guest) = self.guests.iter().find(|guest| guest.id == connection) {
                self.network.send(now, SERVER, guest.peer, bytes);
            }
        }
        for guest in &mut self.guests {
            guest.client.tick(now);
            while let Some(packet) = guest.client.poll_transmit() {
                self.network.send(now, guest.peer, SERVER, packet);
            }
        }
    }

    /// Returns the statistics of the link to a client.
    pub(crate) fn down(&self, guest: usize) -> LinkStats {
        self.network.stats(self.guests[guest].down)
    }

    /// Returns the statistics of the link from a client.
    pub(crate) fn up(&self, guest: usize) -> LinkStats {
        self.network.stats(self.guests[guest].up)
    }

    /// Returns the round trip that the server measures to a client, in milliseconds.
    pub(crate) fn round_trip_ms(&self, guest: usize) -> f64 {
        self.server
            .connection_info(self.guests[guest].id)
            .stats()
            .expect("a connection")
            .round_trip
            .as_secs_f64()
            * 1_000.0
    }
}
