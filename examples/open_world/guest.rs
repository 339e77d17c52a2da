//! A client, and the data that the program stores about its connection.

use std::collections::HashMap;
use std::time::Duration;

use repl::prelude::*;
use repl::sim::{Network, PeerId};

use crate::model;

pub(crate) const SERVER: PeerId = PeerId(0);

/// A client, and the server's id for its connection.
pub(crate) struct Guest {
    pub(crate) client: Client,
    pub(crate) connection: ConnectionId,
    pub(crate) peer: PeerId,
    /// The tick in which the client had received all objects that it could see when it joined.
    pub(crate) synchronized: Option<u32>,
    /// The reason for which the connection ended, if it has ended.
    pub(crate) ended: Option<String>,
    /// For each object that the client should have but lacks, the tick since which it should have it.
    pub(crate) missing: HashMap<ObjectRef<()>, u32>,
    /// The bytes that the server sent in this second.
    pub(crate) bytes: u64,
}

impl Guest {
    /// Returns a client that says hello in the next tick. Clients are counted from zero.
    pub(crate) fn new(number: usize, connection: ConnectionId, max_objects: usize, measure: bool) -> Self {
        let config = ClientConfig { measure, max_objects, ..ClientConfig::default() };
        let mut client = Client::new(config, Session::for_tests(number as u64 + 1));
        model::register(&mut client);
        Self {
            client,
            connection,
            peer: PeerId(number as u32 + 1),
            synchronized: None,
            ended: None,
            missing: HashMap::new(),
            bytes: 0,
        }
    }

    /// Runs a tick of the client: handles its events and sends its packets.
    pub(crate) fn tick(&mut self, network: &mut Network, now: Duration, tick: u32) {
        while let Some(event) = self.client.poll_event() {
            match event {
                ClientEvent::Synchronized => self.synchronized = Some(tick),
                ClientEvent::Disconnected(reason) => drop(self.ended.get_or_insert(reason.to_string())),
                _ => {}
            }
        }
        self.client.tick(now);
        while let Some(packet) = self.client.poll_transmit() {
            network.send(now, self.peer, SERVER, packet);
        }
    }
}
