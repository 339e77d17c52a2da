//! One client of a server: its handshake, and its connection.
//!
//! *Invariant:* the connection sends state if and only if the handshake is in the connected state.

use std::time::Duration;

use repl_core::__private::preload_all;

use crate::link::Link;
use crate::packet_size::probing::PathFinding;
use crate::sent::payload::Payload;
use crate::session::server_handshake::ServerHandshake;

/// What a server stores about one connection, with its link.
pub trait HasLink {
    /// What the packets carry.
    type Payload: Payload;

    /// Returns the link.
    fn link(&self) -> &Link<Self::Payload>;

    /// Returns the link to change it.
    fn link_mut(&mut self) -> &mut Link<Self::Payload>;
}

/// A connection may be its link alone.
impl<P: Payload> HasLink for Link<P> {
    type Payload = P;

    fn link(&self) -> &Self {
        self
    }

    fn link_mut(&mut self) -> &mut Self {
        self
    }
}

/// One client of a server.
pub struct Peer<C> {
    /// The session of the client.
    pub handshake: ServerHandshake,
    /// The connection with the client.
    pub connection: C,
    /// Whether the session has begun.
    pub(super) has_begun: bool,
}

impl<C: HasLink> Peer<C> {
    /// Finds out whether the path carries packets of the greatest size, if there are doubts. Returns what was
    /// found out. Called in each tick.
    #[inline]
    pub fn probe(&mut self, now: Duration) -> Option<PathFinding> {
        let key = self.handshake.is_connected().then(|| self.handshake.closing_key())?;
        self.connection.link_mut().probe(key, now)
    }

    /// Preloads what a packet with acks reads and writes. Packets come at any time, so most of it is in no
    /// cache.
    #[inline]
    pub(super) fn preload_packet(&self) {
        preload_all(&self.handshake);
        self.connection.link().preload_packet();
    }
}
