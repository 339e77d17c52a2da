//! A server with one object, a client, and the simulated network between them.
//!
//! *Invariant:* the client learns everything over the network.

use std::time::Duration;

use repl::prelude::*;
use repl::sim::{Clock, LinkConditions, Network, PeerId};

const SERVER: PeerId = PeerId(0);
const CLIENT: PeerId = PeerId(1);
const TICKS_PER_SECOND: u32 = 60;

/// The server, client and network of one bag.
pub(crate) struct Link<T: Replicated> {
    server: Server,
    client: Client,
    object: ObjectRef<T>,
    connection: ConnectionId,
    network: Network,
    clock: Clock,
    /// The reason for which the connection ended, if it has ended.
    ended: Option<String>,
}

impl<T: Replicated> Link<T> {
    /// Returns a server with this object, and a client that has not said hello yet. The network loses
    /// nothing.
    pub(crate) fn new(object: T, seed: u64) -> Self {
        let mut server = Server::new(ServerConfig::default());
        let object = server.spawn(object);
        let clock = Clock::at_hz(TICKS_PER_SECOND);
        let connection = server.connect(clock.now());
        let config = ClientConfig { measure: true, ..ClientConfig::default() };
        let mut client = Client::new(config, Session::for_tests(1));
        client.register::<T>();
        let mut network = Network::new(seed);
        network.connect(SERVER, CLIENT, LinkConditions::perfect());
        Self { server, client, object, connection, network, clock, ended: None }
    }

    /// Makes the network delay packets, and lose them with this probability.
    pub(crate) fn spoil(&mut self, loss: f64) {
        let (latency, jitter) = (Duration::from_millis(40), Duration::from_millis(20));
        let conditions = LinkConditions { latency, jitter, ..LinkConditions::perfect() }.with_loss(loss);
        let links: Vec<_> = self.network.links().map(|(link, ..)| link).collect();
        links.into_iter().for_each(|link| self.network.set_conditions(link, conditions));
    }

    pub(crate) fn live(&self) -> &T {
        &self.server[self.object]
    }

    /// Returns the server's object, for writing.
    pub(crate) fn live_mut(&mut self) -> &mut T {
        &mut self.server[self.object]
    }

    /// Returns the client's object, if the client has it.
    pub(crate) fn replica(&self) -> Option<&T> {
        self.client.get(self.object)
    }

    /// Runs one tick of the server and of the client.
    pub(crate) fn tick(&mut self) {
        let now = self.clock.tick();
        while let Some(delivery) = self.network.deliver(now) {
            if delivery.to == SERVER {
                self.server.receive(self.connection, now, delivery.bytes);
            } else if let Err(error) = self.client.receive(now, delivery.bytes) {
                self.ended.get_or_insert(error.to_string());
            }
        }
        self.server.tick(now);
        while let Some(packet) = self.server.poll_transmit(self.connection) {
            self.network.send(now, SERVER, CLIENT, packet);
        }
        while let Some(event) = self.client.poll_event() {
            if let ClientEvent::Disconnected(reason) = event {
                self.ended.get_or_insert(reason.to_string());
            }
        }
        self.client.tick(now);
        while let Some(packet) = self.client.poll_transmit() {
            self.network.send(now, CLIENT, SERVER, packet);
        }
    }

    /// Returns whether packets with state are not acknowledged yet.
    pub(crate) fn is_busy(&self) -> bool {
        self.stats().packets_in_flight > 0
    }

    pub(crate) fn stats(&self) -> ConnectionStats {
        self.server.connection_info(self.connection).stats().unwrap_or_default()
    }

    /// Returns how many packets the network has lost.
    pub(crate) fn lost(&self) -> u64 {
        self.network.total().lost
    }

    pub(crate) fn ended(&self) -> Option<&str> {
        self.ended.as_deref()
    }

    /// Returns the bits of state that the client has received: slots, handles and values.
    pub(crate) fn bits(&self) -> u64 {
        let values = |class: &repl::tools::ClassTraffic| {
            class.properties.iter().map(|property| property.bits).sum::<u64>()
        };
        self.client.connection_info().traffic().iter().map(|class| class.head_bits + values(class)).sum()
    }
}
