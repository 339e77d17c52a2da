//! The transports that carry packets between the server and its clients.
//!
//! *Invariant:* [`Transport::send`] passes every packet of the server to the callback `show`, and then sends
//! the same bytes.

use std::io;
use std::time::Duration;

use repl::prelude::*;

use crate::guest::Guest;

/// Counters of the packets that were carried to one client.
#[derive(Clone, Copy, Debug, Default)]
pub struct Carried {
    pub packets: u64,
    pub bytes: u64,
    pub lost: u64,
    /// How many packets arrived after a newer packet.
    pub late: u64,
}

/// Carries packets between the server and its clients.
pub trait Transport {
    /// Adds a client. The first client has the number 1. Returns the server's id for the connection, if the
    /// server already has one.
    fn connect(
        &mut self,
        server: &mut Server,
        number: u32,
        now: Duration,
    ) -> io::Result<Option<ConnectionId>>;

    /// Returns the number of the client with this new connection, if the client plays in this process.
    fn number_of(&self, connection: ConnectionId) -> Option<u32>;

    /// Delivers the packets that have arrived at the server and at the clients.
    fn deliver(&mut self, server: &mut Server, guests: &mut [Guest], now: Duration) -> io::Result<()>;

    /// Sends the packets of the server's tick. Before it sends a packet, it passes the packet to `show`.
    fn send(&mut self, server: &mut Server, now: Duration, show: Show<'_>) -> io::Result<()>;

    /// Sends the packets of a client's tick.
    fn send_of(&mut self, guest: &mut Guest, now: Duration) -> io::Result<()>;

    /// Returns the counters of a client of this process.
    fn carried(&self, guest: &Guest) -> Carried;

    /// Returns the number of lost packets: in both directions together, or only those of the server if the
    /// transport does not know the others.
    fn lost(&self, server: &Server) -> u64;
}

/// The callback that gets each packet of the server with its connection.
pub type Show<'a> = &'a mut dyn FnMut(ConnectionId, &[u8]);
