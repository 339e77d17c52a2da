//! A client as its transport sees it.
//!
//! *Invariant:* a transport changes a client only through these functions.

use std::time::Duration;

use super::ClientSession;
use crate::sent::payload::Payload;
use crate::session::disconnect::DisconnectReason;

/// A client whose packets a transport carries that has connections of its own. The other side is a
/// [`Host`](crate::Host).
pub trait Guest {
    /// Returns the sessions of the client, which [`ClientSession`] has.
    fn visit(&self) -> &impl Visit;

    /// Returns the sessions of the client to change them.
    fn visit_mut(&mut self) -> &mut impl Visit;

    /// Handles a packet of the server. What it changes or ends is told by the client's own events.
    fn receive(&mut self, now: Duration, bytes: &[u8]);

    /// Ends the session, because the transport knows that it cannot go on. The server is told nothing. The
    /// client begins another session as after an end with this reason.
    fn lose_session(&mut self, reason: DisconnectReason);
}

/// The sessions of a client, one after another, whatever their packets carry.
pub trait Visit {
    /// Returns the number of the session that the client has, or wants to begin. Each session of a client has
    /// another number.
    fn number(&self) -> u64;

    /// Returns whether the session has ended, and no other will begin.
    fn is_over(&self) -> bool;

    /// Says that the transport seals the packets: it encrypts and authenticates them, and has a connection
    /// for each session. From now on they have the [form](crate::parts::to_sealed) for it.
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
