//! The codes with which one side closes a connection. They are the same for QUIC and for WebTransport.
//!
//! *Invariant:* a code never changes its meaning, because the sides may have different versions.

/// The code with which a connection is closed if its session has ended or cannot begin.
pub(crate) const OVER: u32 = 0;
/// The code with which a connection is closed if the server is full.
pub(crate) const FULL: u32 = 1;
/// The code with which a connection is closed if the other side took too long to begin or to acknowledge
/// packets.
pub(crate) const LATE: u32 = 2;
/// The code with which the server closes a WebTransport session that it does not accept, for example because
/// the page is not allowed to connect. The text says why.
pub(crate) const REFUSED: u32 = 3;
