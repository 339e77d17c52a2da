//! A client, its pilot (the code that plays in place of a human), and what the program knows about its
//! connection.
//!
//! *Invariant:* the pilot acts between the events of its client and the packets that the client sends.

use std::time::Duration;

use repl::prelude::*;
use repl::sim::{LinkId, Network, PeerId};

use crate::pilot::Pilot;
use crate::{calls, model};

pub(crate) const SERVER: PeerId = PeerId(0);

/// A client with its pilot, and the server's end of its connection.
pub(crate) struct Guest {
    pub(crate) client: Client,
    pub(crate) pilot: Pilot,
    pub(crate) connection: ConnectionId,
    pub(crate) down: LinkId,
    pub(crate) spawned: u64,
    pub(crate) despawned: u64,
    /// Why the connection ended, if it did.
    pub(crate) ended: Option<String>,
    /// Whether the server ended the connection because it rejected a call.
    pub(crate) is_rejected: bool,
    pub(crate) peer: PeerId,
}

impl Guest {
    /// Returns a client that says hello in the next tick. Clients are counted from 1.
    pub(crate) fn new(number: u32, pilot: Pilot, connection: ConnectionId, down: LinkId) -> Self {
        let config = ClientConfig { measure: true, ..ClientConfig::default() };
        let mut client = Client::new(config, Session::for_tests(number.into()));
        model::register(&mut client);
        calls::register(&mut client);
        Self {
            client,
            pilot,
            connection,
            down,
            spawned: 0,
            despawned: 0,
            ended: None,
            is_rejected: false,
            peer: PeerId(number),
        }
    }

    /// Runs a tick of the client: handles its events, lets its pilot act and sends its packets.
    pub(crate) fn tick(&mut self, network: &mut Network, now: Duration) {
        while let Some(event) = self.client.poll_event() {
            match event {
                ClientEvent::Spawned(_) => self.spawned += 1,
                ClientEvent::Despawned(..) => self.despawned += 1,
                ClientEvent::Disconnected(reason) => drop(self.ended.get_or_insert(reason.to_string())),
                _ => {}
            }
        }
        self.pilot.act(&mut self.client, now);
        self.client.tick(now);
        while let Some(packet) = self.client.poll_transmit() {
            network.send(now, self.peer, SERVER, packet);
        }
    }
}
