//! The functions of a server that its endpoints call.
//!
//! *Invariant:* an endpoint changes the data of a server's clients only through these functions.

use std::time::Duration;

use super::peer::HasLink;
use super::{Maker, ServerSessions};
use crate::rate::rate_control::RateControl;
use crate::session::connection_id::ConnectionId;
use crate::session::disconnect::DisconnectReason;
use crate::session::server_handshake::ServerHandshake;

/// A server that can be used with an [`Endpoint`](crate::endpoint::Endpoint), which finds its clients by
/// their addresses.
pub trait Host {
    /// Returns the clients of the server, which are stored in its [`ServerSessions`].
    fn roster(&self) -> &impl Roster;

    /// Returns the clients for changes.
    fn roster_mut(&mut self) -> &mut impl Roster;

    /// Adds a connection.
    fn connect(&mut self, now: Duration, maker: Maker) -> ConnectionId;

    /// Handles a packet of a client.
    fn receive(&mut self, connection: ConnectionId, now: Duration, bytes: &[u8]);

    /// Ends a connection, if it has not ended.
    fn close(&mut self, connection: ConnectionId, reason: DisconnectReason);
}

/// The clients of a server, without the type of the data that the server stores about them.
pub trait Roster {
    /// Returns the timeout: the server closes a connection from which nothing has arrived for this time.
    fn timeout(&self) -> Duration;

    /// Returns the number of connections that have places. These are all connections that have not ended,
    /// except connections that must still wait until their clients have shown that they received the welcome,
    /// the packet by which the server accepts them.
    fn open(&self) -> usize;

    /// Returns the handshake of a connection that was not removed.
    fn handshake(&self, id: ConnectionId) -> Option<&ServerHandshake>;

    /// Returns the packet that tells the client of an ended connection why the connection ended. The packet
    /// is the answer to a hello (the first packet of a handshake) that contains `token`.
    fn closing(&self, id: ConnectionId, token: u64) -> Option<Vec<u8>>;

    /// Removes an ended connection before the server would remove it by itself. Returns the packets that tell
    /// its client the reason. Costs O(ended connections).
    fn forget(&mut self, id: ConnectionId) -> Vec<Vec<u8>>;

    /// Returns the connections that have ended since the last call. `is_own` selects the connections of the
    /// endpoint that calls.
    fn take_ended(&mut self, is_own: impl Fn(ConnectionId) -> bool) -> Vec<ConnectionId>;

    /// Returns the connections that were removed since the last call. `is_own` selects the connections of the
    /// endpoint that calls. The connections of other endpoints are stored until these endpoints call this
    /// method.
    fn take_removed(&mut self, is_own: impl Fn(ConnectionId) -> bool) -> Vec<ConnectionId>;

    /// Records that a client has a new address. The measurements of the link and its path are dropped,
    /// because they belong to the old address.
    fn moved(&mut self, id: ConnectionId);

    /// Sets the greatest size of the packets to a client, in bytes. It is called when the transport has found
    /// out this size.
    fn set_packet_bytes(&mut self, id: ConnectionId, bytes: usize);

    /// Returns the connection of the next packet to send, among the connections that `is_meant` selects.
    fn next_transmitting(&mut self, is_meant: impl Fn(ConnectionId) -> bool) -> Option<ConnectionId>;

    /// Returns the next packet for a client.
    fn poll_transmit(&mut self, id: ConnectionId) -> Option<&[u8]>;
}

impl<C: HasLink> Roster for ServerSessions<C> {
    fn timeout(&self) -> Duration {
        Self::timeout(self)
    }

    fn open(&self) -> usize {
        self.open
    }

    fn handshake(&self, id: ConnectionId) -> Option<&ServerHandshake> {
        Self::handshake(self, id)
    }

    fn closing(&self, id: ConnectionId, token: u64) -> Option<Vec<u8>> {
        self.handshake(id)?.closing(token, self.settings.terms.capacity.mtu_bytes)
    }

    fn forget(&mut self, id: ConnectionId) -> Vec<Vec<u8>> {
        let mtu_bytes = self.settings.terms.capacity.mtu_bytes;
        let farewells = self.handshake(id).map(|handshake| handshake.farewells(mtu_bytes));
        let farewells = farewells.into_iter().flatten().collect();
        if let Some(at) = self.ended.iter().position(|(_, ended)| *ended == id) {
            self.ended.remove(at);
            self.peers.remove(id);
            self.ended_of_endpoints.retain(|other| *other != id);
        }
        farewells
    }

    fn take_ended(&mut self, is_own: impl Fn(ConnectionId) -> bool) -> Vec<ConnectionId> {
        self.ended_of_endpoints.extract_if(.., |id| is_own(*id)).collect()
    }

    fn take_removed(&mut self, is_own: impl Fn(ConnectionId) -> bool) -> Vec<ConnectionId> {
        self.removed.extract_if(.., |id| is_own(*id)).collect()
    }

    fn moved(&mut self, id: ConnectionId) {
        let Some(peer) = self.peers.get_mut(id) else { return };
        let link = peer.connection.link_mut();
        link.outbox.congestion.iter_mut().for_each(|congestion| congestion.reset());
        link.forget_path();
    }

    fn set_packet_bytes(&mut self, id: ConnectionId, bytes: usize) {
        Self::set_packet_bytes(self, id, bytes);
    }

    fn next_transmitting(&mut self, is_meant: impl Fn(ConnectionId) -> bool) -> Option<ConnectionId> {
        Self::next_transmitting(self, is_meant)
    }

    fn poll_transmit(&mut self, id: ConnectionId) -> Option<&[u8]> {
        Self::poll_transmit(self, id)
    }
}
