//! How one side closes a connection: the codes, which are the same for QUIC and for WebTransport, and the
//! time before it.
//!
//! *Invariant:* a code never changes its meaning, because the sides may have different versions.

use std::time::Duration;

/// How long a connection remains open after its session, so that the other side can learn why the session has
/// ended.
pub(crate) const FAREWELL: Duration = Duration::from_secs(1);

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
