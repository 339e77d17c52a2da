//! The packet that an outbox is filling. When it is complete, its checksum is computed.
//!
//! *Invariant:* no bits of a packet remain in the draft for a later packet. So the connections of a server
//! can share one draft.

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
