//! Transports: they send and receive the packets of a server and of its clients.

#[cfg(feature = "quic")]
mod quic;
pub(crate) mod simulated;

use repl::prelude::*;
use std::io;
use std::time::Duration;

/// Sends and receives the packets of a server. Implement this trait for a network of your own.
pub trait ServerTransport: Send + Sync + 'static {
    /// Passes all packets that have arrived to the server.
    ///
    /// # Errors
    /// Returns an error if the network cannot receive.
    fn receive(&mut self, server: &mut Server, now: Duration) -> io::Result<()>;

    /// Sends all packets that the server has made in a tick.
    ///
    /// # Errors
    /// Returns an error if the network cannot send.
    fn transmit(&mut self, server: &mut Server, now: Duration) -> io::Result<()>;
}

/// Sends and receives the packets of a client. Implement this trait for a network of your own.
pub trait ClientTransport: Send + Sync + 'static {
    /// Passes all packets that have arrived to the client.
    ///
    /// # Errors
    /// Returns an error if the network cannot receive.
    fn receive(&mut self, client: &mut Client, now: Duration) -> io::Result<()>;

    /// Sends all packets that the client has made in a tick.
    ///
    /// # Errors
    /// Returns an error if the network cannot send.
    fn transmit(&mut self, client: &mut Client, now: Duration) -> io::Result<()>;
}
