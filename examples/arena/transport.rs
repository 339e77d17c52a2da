//! What carries the packets between the server and its clients.
//!
//! *Invariant:* every packet of the server is shown before it is on its way, as the server has made it.

use std::io;
use std::time::Duration;

use repl::prelude::*;

use crate::guest::Guest;

/// What was carried to one client.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Carried {
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
    pub(crate) lost: u64,
    /// How many packets came after a newer one.
    pub(crate) late: u64,
}

/// What carries the packets between the server and its clients.
pub(crate) trait Transport {
    /// Adds a client. Clients are counted from 1. Returns the server's end of its connection, if it has one
    /// already.
    fn connect(
        &mut self,
        server: &mut Server,
        number: u32,
        now: Duration,
    ) -> io::Result<Option<ConnectionId>>;

    /// Returns the number of the client whose connection has begun, if it plays in this process.
    fn number_of(&self, connection: ConnectionId) -> Option<u32>;

    /// Delivers what has arrived at the server and at the clients.
    fn deliver(&mut self, server: &mut Server, guests: &mut [Guest], now: Duration) -> io::Result<()>;

    /// Sends the packets of the server's tick. `show` gets each of them first.
    fn send(&mut self, server: &mut Server, now: Duration, show: Show<'_>) -> io::Result<()>;

    /// Sends the packets of a client's tick.
    fn send_of(&mut self, guest: &mut Guest, now: Duration) -> io::Result<()>;

    /// Returns what was carried to a client of this process.
    fn carried(&self, guest: &Guest) -> Carried;

    /// Returns how many packets were lost, in both directions as far as this is known.
    fn lost(&self, server: &Server) -> u64;
}

/// Who is shown the packets of the server, each with its connection.
pub(crate) type Show<'a> = &'a mut dyn FnMut(ConnectionId, &[u8]);
