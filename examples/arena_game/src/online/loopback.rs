//! QUIC between UDP sockets. The server and the clients that `connect` adds are in this process.
//!
//! If the time is simulated, the match runs as fast as it can. Datagrams between sockets of one machine
//! arrive by the next tick. So a run takes seconds, and its result does not depend on the speed of the
//! machine.
//!
//! *Invariant:* each client has its own socket. The port of this socket identifies the client on the server.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use repl::prelude::*;
use repl::quic::{Identity, QuicClient, QuicConfig, QuicServer, Trust};

use super::ear::Ear;
use crate::guest::Guest;
use crate::transport::{Carried, Show, Transport};

/// The socket of a server, and the sockets of its clients in this process.
pub struct Loopback {
    server: QuicServer,
    trust: Trust,
    clients: BTreeMap<u32, QuicClient>,
    /// The number of each client in this process, by the port of its socket.
    numbers: BTreeMap<u16, u32>,
}

impl Loopback {
    /// Opens a port for clients of any process. The system chooses the port if it is 0.
    pub fn listen(address: SocketAddr, identity: &Identity, config: QuicConfig) -> io::Result<Self> {
        Ok(Self {
            server: QuicServer::bind(address, identity, config)?,
            trust: Trust::pinned([identity.hash()]),
            clients: BTreeMap::new(),
            numbers: BTreeMap::new(),
        })
    }

    /// Returns the address on which the server listens.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.server.local_address()
    }
}

impl Transport for Loopback {
    fn connect(&mut self, _: &mut Server, number: u32, _: Duration) -> io::Result<Option<ConnectionId>> {
        let client = QuicClient::new(self.address()?, &self.trust)?;
        self.numbers.insert(client.local_address()?.port(), number);
        self.clients.insert(number, client);
        Ok(None)
    }

    fn number_of(&self, connection: ConnectionId) -> Option<u32> {
        let address = self.server.address(connection).filter(|address| address.ip().is_loopback())?;
        self.numbers.get(&address.port()).copied()
    }

    fn deliver(&mut self, server: &mut Server, guests: &mut [Guest], now: Duration) -> io::Result<()> {
        self.server.receive(server, now)?;
        for guest in guests {
            if let Some(quic) = self.clients.get_mut(&guest.number) {
                quic.receive(&mut guest.client, now)?;
            }
        }
        Ok(())
    }

    fn send(&mut self, server: &mut Server, now: Duration, show: Show<'_>) -> io::Result<()> {
        self.server.transmit(&mut Ear { server, show }, now)
    }

    fn send_of(&mut self, guest: &mut Guest, now: Duration) -> io::Result<()> {
        match self.clients.get_mut(&guest.number) {
            Some(quic) => quic.transmit(&mut guest.client, now),
            None => Ok(()),
        }
    }

    fn carried(&self, guest: &Guest) -> Carried {
        let stats = guest.client.connection_info().stats();
        Carried {
            packets: stats.packets_received,
            bytes: stats.bytes_received,
            lost: stats.packets_lost,
            late: 0,
        }
    }

    fn lost(&self, server: &Server) -> u64 {
        let stats = server.connections().filter_map(|id| server.connection_info(id).stats());
        stats.map(|stats| stats.packets_lost).sum()
    }
}
