//! What the packets of a link carry besides acks and messages. The user of the link decides: for a
//! replication it is objects, and [`()`](Payload) if there is nothing.
//!
//! *Invariant:* a link never looks into a body. It knows only what these traits tell.

use std::fmt;

use repl_core::BitWriter;

use crate::frame::header::Extension;
use crate::rate::bbr::Bbr;
use crate::rate::rate_control::RateControl;

/// What the packets of a link carry besides acks and messages.
pub trait Payload: fmt::Debug + Default + 'static {
    /// What the sender stores about the body of a packet until the fate of the packet is known.
    type Record: Record;
    /// Writes the bodies of packets.
    type Writer: BodyWriter;
    /// What a server adds to the header of each packet.
    type Extension: Extension;
    /// Decides how fast to send. [`Bbr`], unless there is a reason for another one.
    type Rate: RateControl;
}

/// What the sender stores about the body of one packet.
pub trait Record: fmt::Debug + Default {
    /// The part of a record that still matters if the packet arrives after it counted as lost.
    type Late: fmt::Debug;

    /// Returns whether the packet has no body.
    fn is_empty(&self) -> bool;

    /// Returns whether something waits for the ack of the packet. If not,
    /// [`Arrived`](crate::parts::Acked::Arrived) is not reported for it.
    fn is_awaited(&self) -> bool;

    /// Returns about how many bytes of memory the record takes on the heap.
    fn content_bytes(&self) -> usize;

    /// Returns about how many bytes of memory the record keeps after [`clear`](Self::clear). Costs O(1).
    fn buffer_bytes(&self) -> usize;

    /// Empties the record for the next packet, and keeps its memory.
    fn clear(&mut self);

    /// Returns the parts that matter if the packet arrives late.
    fn late(&self) -> Vec<Self::Late>;
}

/// Writes the body of the packet that is being filled.
pub trait BodyWriter: fmt::Debug + Default {
    /// Completes the body. It adds at most [`SEGMENT_BITS`](crate::outbox::SEGMENT_BITS) bits.
    fn end(&mut self, writer: &mut BitWriter);
}

/// Packets without bodies.
impl Payload for () {
    type Record = ();
    type Writer = ();
    type Extension = ();
    type Rate = Bbr;
}

impl Record for () {
    type Late = ();

    fn is_empty(&self) -> bool {
        true
    }

    fn is_awaited(&self) -> bool {
        false
    }

    fn content_bytes(&self) -> usize {
        0
    }

    fn buffer_bytes(&self) -> usize {
        0
    }

    fn clear(&mut self) {}

    fn late(&self) -> Vec<()> {
        Vec::new()
    }
}

impl BodyWriter for () {
    fn end(&mut self, _: &mut BitWriter) {}
}
