//! A loop over the packets of all connections of a server.
//!
//! *Invariant:* no packet is returned twice. The packets of one connection are returned in the order in which
//! they were made.

use repl_link::ConnectionId;

use super::Server;

/// A packet to send, with the connection on which it is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmit<'a> {
    /// The connection of the client that must receive the packet.
    pub connection: ConnectionId,
    /// The bytes of the packet.
    pub bytes: &'a [u8],
}

impl Server {
    /// Returns the next packet of any connection. The caller sends the packet immediately. Returns `None` if
    /// this tick has no more packets. This function also returns the disconnect packets of closed
    /// connections, although [`connections`](Self::connections) does not list these connections any more.
    /// Therefore prefer this function to a loop over [`poll_transmit`](Self::poll_transmit). Each connection
    /// sends one packet per turn, so that clients behind the same narrow link get equal shares of this link.
    ///
    /// The packet is borrowed until the next call on the server. In each tick, the calls of
    /// `poll_any_transmit` up to the first `None` together take O(packets + connections). Each later call in
    /// this tick takes O(connections), because a connection may have a new packet.
    ///
    /// ```
    /// # use std::{collections::HashMap, net::SocketAddr, net::UdpSocket};
    /// # use repl_net::{ConnectionId, Server};
    /// # type Addresses = HashMap<ConnectionId, SocketAddr>;
    /// # fn send(server: &mut Server, socket: &UdpSocket, addresses: &Addresses) -> std::io::Result<()> {
    /// while let Some(packet) = server.poll_any_transmit() {
    ///     socket.send_to(packet.bytes, addresses[&packet.connection])?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn poll_any_transmit(&mut self) -> Option<Transmit<'_>> {
        let connection = self.sessions.next_transmitting(|_| true)?;
        self.poll_transmit(connection).map(|bytes| Transmit { connection, bytes })
    }
}
