//! One client of a server: its handshake, and its connection.
//!
//! *Invariant:* the connection sends state if and only if the handshake is in the connected state.

use std::time::Duration;

use repl_core::__private::preload_all;

use crate::link::Link;
use crate::packet_size::probing::PathFinding;
use crate::sent::payload::Payload;
use crate::session::server_handshake::ServerHandshake;

/// The data that a server stores about one connection, including its link.
pub trait HasLink {
    /// The type of the data that packets carry in addition to acks and messages.
    type Payload: Payload;

    /// Returns the link of the connection.
    fn link(&self) -> &Link<Self::Payload>;

    /// Returns the link of the connection for changes.
    fn link_mut(&mut self) -> &mut Link<Self::Payload>;
}

/// For a server that stores only the link of each connection.
impl<P: Payload> HasLink for Link<P> {
    type Payload = P;

    fn link(&self) -> &Self {
        self
    }

    fn link_mut(&mut self) -> &mut Self {
        self
    }
}

/// One client of a server, with its handshake and the data of its connection.
pub struct Peer<C> {
    /// The session of the client.
    pub handshake: ServerHandshake,
    /// The connection with the client.
    pub connection: C,
    /// Whether the session has begun.
    pub(super) has_begun: bool,
}

impl<C: HasLink> Peer<C> {
    /// If large packets were lost, probes whether the path carries packets of the greatest size. Returns the
    /// result. Called in each tick.
    #[inline]
    pub fn probe(&mut self, now: Duration) -> Option<PathFinding> {
        let key = self.handshake.is_connected().then(|| self.handshake.closing_key())?;
        self.connection.link_mut().probe(key, now)
    }

    /// Loads into the processor cache the memory that is read and written when a packet with acks is read.
    /// Packets arrive at any time, so most of this memory is not in the cache.
    #[inline]
    pub(super) fn preload_packet(&self) {
        preload_all(&self.handshake);
        self.connection.link().preload_packet();
    }
}
