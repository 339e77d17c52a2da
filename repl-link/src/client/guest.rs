//! A client as its transport sees it.
//!
//! *Invariant:* a transport changes a client only through these functions.

use std::time::Duration;

use crate::session::disconnect::DisconnectReason;

/// A client whose packets a transport carries that has connections of its own. The other side is a
/// [`Host`](crate::Host).
pub trait Guest {
    /// Returns the number of the session that the client has, or wants to begin, once it was ticked. Each
    /// session of a client has another number.
    fn session_number(&self) -> u64;

    /// Returns whether the session has ended, and no other will begin.
    fn is_over(&self) -> bool;

    /// Tells the client that its packets are sealed by this transport, which encrypts and authenticates them
    /// and has a connection for each session. From now on they have the
    /// [form](crate::parts::to_sealed) for it.
    fn seal(&mut self);

    /// Handles a packet of the server. What it changes or ends is told by the client's own events.
    fn receive(&mut self, now: Duration, bytes: &[u8]);

    /// Returns the next packet for the server.
    fn poll_transmit(&mut self) -> Option<&[u8]>;

    /// Sets the greatest size of the packets to the server, in bytes.
    fn set_packet_bytes(&mut self, bytes: usize);

    /// Ends the session, because the transport knows that it cannot go on. The server is told nothing. The
    /// client begins another session as after an end with this reason.
    fn lose_session(&mut self, reason: DisconnectReason);
}
