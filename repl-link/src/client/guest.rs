//! The functions of a client that a transport calls. Only a transport with connections of its own, such as
//! QUIC, needs them.
//!
//! *Invariant:* a transport changes a client only through these functions.

use std::time::Duration;

use super::ClientSession;
use crate::sent::payload::Payload;
use crate::session::disconnect::DisconnectReason;

/// A client of a transport that has connections of its own, for example QUIC. The server of such a transport
/// is a [`Host`](crate::Host).
pub trait Guest {
    /// Returns the sessions of the client, which are stored in its [`ClientSession`].
    fn visit(&self) -> &impl Visit;

    /// Returns the sessions of the client for changes.
    fn visit_mut(&mut self) -> &mut impl Visit;

    /// Handles a packet from the server. The events of the client report its effects.
    fn receive(&mut self, now: Duration, bytes: &[u8]);

    /// Ends the session, because the transport knows that it cannot go on. Sends nothing to the server. The
    /// client connects again in the same cases as after any end with this reason.
    fn lose_session(&mut self, reason: DisconnectReason);
}

/// The sessions of a client, one after another, without the type of their payload.
pub trait Visit {
    /// Returns the number of the session that the client has, or wants to begin. No two sessions of a client
    /// have the same number.
    fn number(&self) -> u64;

    /// Returns whether the session has ended, and no other will begin.
    fn is_over(&self) -> bool;

    /// Tells the client that the transport seals the packets: it encrypts and authenticates them, and has a
    /// connection for each session. From now on, packets have the [form for such a
    /// transport](crate::parts::to_sealed).
    fn seal(&mut self);

    /// Returns the next packet for the server.
    fn poll_transmit(&mut self) -> Option<&[u8]>;

    /// Sets the greatest size of the packets to the server, in bytes.
    fn set_packet_bytes(&mut self, bytes: usize);
}

impl<P: Payload> Visit for ClientSession<P> {
    fn number(&self) -> u64 {
        Self::number(self)
    }

    fn is_over(&self) -> bool {
        Self::is_over(self)
    }

    fn seal(&mut self) {
        Self::seal(self);
    }

    fn poll_transmit(&mut self) -> Option<&[u8]> {
        Self::poll_transmit(self)
    }

    fn set_packet_bytes(&mut self, bytes: usize) {
        Self::set_packet_bytes(self, bytes);
    }
}
