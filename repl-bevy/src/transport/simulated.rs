//! The simulated network, which several apps of one process share.

use repl::prelude::*;
use repl::sim::{LinkConditions, Network, PeerId};
use repl::{Endpoint, EndpointConfig};
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::{ClientTransport, ServerTransport};

const SERVER: PeerId = PeerId(0);

/// A simulated network between the apps of one process, for tests. A seed decides which packets are delayed
/// and lost, so each run with the same seed has the same result.
#[derive(Clone, Debug)]
pub struct SimulatedNetwork(Arc<Mutex<Mail>>);

#[derive(Debug)]
struct Mail {
    network: Network,
    arrived: BTreeMap<PeerId, VecDeque<(PeerId, Vec<u8>)>>,
    conditions: LinkConditions,
    peers: u32,
    servers: u128,
    /// The server's connections, each by the peer of its client in the simulated network.
    connections: BTreeMap<PeerId, ConnectionId>,
}

impl SimulatedNetwork {
    /// Returns a network in which all links have these conditions.
    #[must_use]
    pub fn new(seed: u64, conditions: LinkConditions) -> Self {
        Self(Arc::new(Mutex::new(Mail {
            network: Network::new(seed),
            arrived: BTreeMap::new(),
            conditions,
            peers: 0,
            servers: 0,
            connections: BTreeMap::new(),
        })))
    }

    /// Returns the transport of the server. The network has one server at a time: a new server replaces a
    /// server that has ended.
    #[must_use]
    pub fn server(&self) -> impl ServerTransport {
        let mut mail = self.mail();
        mail.servers += 1;
        let endpoint = Endpoint::new(EndpointConfig::default(), mail.servers);
        SimulatedServer { mail: self.clone(), endpoint }
    }

    /// Adds a client to the network, and returns its transport.
    #[must_use]
    pub fn client(&self) -> impl ClientTransport {
        let mut mail = self.mail();
        mail.peers += 1;
        let (here, conditions) = (PeerId(mail.peers), mail.conditions);
        mail.network.connect(SERVER, here, conditions);
        SimulatedClient { mail: self.clone(), here }
    }

    /// Returns the server's connection to the client with this number. Numbers begin at 0.
    pub(crate) fn connection(&self, client: usize) -> Option<ConnectionId> {
        let peer = PeerId(u32::try_from(client).ok()?.checked_add(1)?);
        self.mail().connections.get(&peer).copied()
    }

    fn mail(&self) -> MutexGuard<'_, Mail> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Mail {
    /// Returns the packets that have arrived at a peer.
    fn take(&mut self, peer: PeerId, now: Duration) -> VecDeque<(PeerId, Vec<u8>)> {
        while let Some(delivery) = self.network.deliver(now) {
            self.arrived.entry(delivery.to).or_default().push_back((delivery.from, delivery.bytes.to_vec()));
        }
        self.arrived.remove(&peer).unwrap_or_default()
    }
}

struct SimulatedServer {
    mail: SimulatedNetwork,
    endpoint: Endpoint<PeerId>,
}

impl ServerTransport for SimulatedServer {
    fn receive(&mut self, server: &mut Server, now: Duration) -> io::Result<()> {
        let arrived = self.mail.mail().take(SERVER, now);
        arrived.iter().for_each(|(from, bytes)| self.endpoint.receive(server, now, *from, bytes));
        Ok(())
    }

    fn transmit(&mut self, server: &mut Server, now: Duration) -> io::Result<()> {
        let mut mail = self.mail.mail();
        let connections = server.connections();
        mail.connections = connections.filter_map(|id| Some((self.endpoint.address(id)?, id))).collect();
        while let Some((to, bytes)) = self.endpoint.poll_transmit(server) {
            mail.network.send(now, SERVER, to, bytes);
        }
        Ok(())
    }
}

struct SimulatedClient {
    mail: SimulatedNetwork,
    here: PeerId,
}

impl ClientTransport for SimulatedClient {
    fn receive(&mut self, client: &mut Client, now: Duration) -> io::Result<()> {
        let arrived = self.mail.mail().take(self.here, now);
        arrived.iter().for_each(|(_, bytes)| drop(client.receive(now, bytes)));
        Ok(())
    }

    fn transmit(&mut self, client: &mut Client, now: Duration) -> io::Result<()> {
        let mut mail = self.mail.mail();
        while let Some(bytes) = client.poll_transmit() {
            mail.network.send(now, self.here, SERVER, bytes);
        }
        Ok(())
    }
}
