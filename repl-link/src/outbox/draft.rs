//! The packet that an outbox is filling: its bits, which are sealed when it is complete.
//!
//! *Invariant:* between two packets, no bits of a draft are part of a later packet. So the connections of a
//! server can share one.

use repl_core::BitWriter;

use crate::frame::acks::Received;
use crate::frame::message::MessageWriter;
use crate::sent::payload::Payload;

/// The packet that is being filled, and memory for the next one.
#[derive(Debug, Default)]
pub struct Draft<P: Payload> {
    pub(super) writer: BitWriter,
    pub(super) body: P::Writer,
    pub(super) messages: MessageWriter,
    /// The received packets that each packet of this tick acks. Empty if no acks are due.
    pub(super) received: Received,
}
