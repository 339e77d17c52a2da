//! The simulated network: it delays, loses and reorders packets.
//!
//! *Invariant:* the seed and the packets decide which packets arrive, and when.

use std::io;
use std::time::Duration;

use repl::prelude::*;
use repl::sim::{LinkConditions, LinkId, Network, PeerId};

use crate::args::Args;
use arena_game::guest::Guest;
use arena_game::transport::{Carried, Show, Transport};

const SERVER: PeerId = PeerId(0);

/// A simulated network, with a link for each client.
pub(crate) struct Simulated {
    network: Network,
    conditions: LinkConditions,
    /// For each client, in the order of their numbers, its connection and the link to it.
    links: Vec<(ConnectionId, LinkId)>,
}

impl Simulated {
    pub(crate) fn new(args: &Args) -> Self {
        let [latency, jitter] = [args.latency_ms, args.jitter_ms].map(Duration::from_millis);
        let conditions = LinkConditions { latency, jitter, ..LinkConditions::perfect() };
        let conditions = conditions.with_loss(args.loss);
        Self { network: Network::new(args.seed), conditions, links: Vec::new() }
    }
}

impl Transport for Simulated {
    fn connect(
        &mut self,
        server: &mut Server,
        number: u32,
        now: Duration,
    ) -> io::Result<Option<ConnectionId>> {
        let (down, _) = self.network.connect(SERVER, PeerId(number), self.conditions);
        let connection = server.connect(now);
        self.links.push((connection, down));
        Ok(Some(connection))
    }

    fn number_of(&self, connection: ConnectionId) -> Option<u32> {
        self.links.iter().zip(1..).find(|((of, _), _)| *of == connection).map(|(_, number)| number)
    }

    fn deliver(&mut self, server: &mut Server, guests: &mut [Guest], now: Duration) -> io::Result<()> {
        while let Some(delivery) = self.network.deliver(now) {
            let is_up = delivery.to == SERVER;
            let peer = if is_up { delivery.from } else { delivery.to };
            let Some(index) = peer.0.checked_sub(1).map(|index| index as usize) else { continue };
            if is_up {
                server.receive(self.links[index].0, now, delivery.bytes);
            } else if let Err(error) = guests[index].client.receive(now, delivery.bytes) {
                guests[index].ended.get_or_insert(error.to_string());
            }
        }
        Ok(())
    }

    fn send(&mut self, server: &mut Server, now: Duration, show: Show<'_>) -> io::Result<()> {
        for (&(connection, _), number) in self.links.iter().zip(1..) {
            while let Some(packet) = server.poll_transmit(connection) {
                show(connection, packet);
                self.network.send(now, SERVER, PeerId(number), packet);
            }
        }
        Ok(())
    }

    fn send_of(&mut self, guest: &mut Guest, now: Duration) -> io::Result<()> {
        while let Some(packet) = guest.client.poll_transmit() {
            self.network.send(now, PeerId(guest.number), SERVER, packet);
        }
        Ok(())
    }

    fn carried(&self, guest: &Guest) -> Carried {
        let stats = self.network.stats(self.links[guest.number as usize - 1].1);
        Carried {
            packets: stats.delivered,
            bytes: stats.bytes_delivered,
            lost: stats.lost,
            late: stats.reordered,
        }
    }

    fn lost(&self, _: &Server) -> u64 {
        self.network.total().lost
    }
}
