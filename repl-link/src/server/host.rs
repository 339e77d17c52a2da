//! A server as its endpoints see it.
//!
//! *Invariant:* an endpoint changes what a server stores about its clients only through these functions.

use std::time::Duration;

use super::peer::HasLink;
use super::{Maker, ServerSessions};
use crate::session::connection_id::ConnectionId;
use crate::session::disconnect::DisconnectReason;

/// A server whose clients an [`Endpoint`](crate::endpoint::Endpoint) finds by their addresses.
pub trait Host {
    /// What the server stores about one connection.
    type Connection: HasLink;

    /// Returns the sessions of the clients.
    fn sessions(&self) -> &ServerSessions<Self::Connection>;

    /// Returns the sessions of the clients to change them.
    fn sessions_mut(&mut self) -> &mut ServerSessions<Self::Connection>;

    /// Adds a connection.
    fn connect(&mut self, now: Duration, maker: Maker) -> ConnectionId;

    /// Handles a packet of a client.
    fn receive(&mut self, connection: ConnectionId, now: Duration, bytes: &[u8]);

    /// Ends a connection, if it has not ended.
    fn close(&mut self, connection: ConnectionId, reason: DisconnectReason);
}
