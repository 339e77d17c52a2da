//! The packet that an outbox is filling: its bits, which are sealed when it is complete.
//!
//! *Invariant:* between two packets, no bits of a draft are part of a later packet. So the connections of a
//! server can share one.

use repl_core::BitWriter;

use crate::transport::acks::Received;
use crate::transport::message::MessageWriter;
use crate::transport::segment::SegmentWriter;

/// The packet that is being filled, and memory for the next one.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub(super) writer: BitWriter,
    pub(super) segment: SegmentWriter,
    pub(super) messages: MessageWriter,
    /// The received packets that each packet of this tick acks. Empty if no acks are due.
    pub(super) received: Received,
}

impl Draft {
    /// Ends the current segment, if there is one.
    pub(super) fn end_segment(&mut self) {
        self.segment.end(&mut self.writer);
    }
}
