//! The traits of the data that packets carry in addition to acks and messages. The user of a link implements
//! them. `repl-net` uses them for the state of objects. The type `()` stands for packets without such data.
//!
//! *Invariant:* a link never reads the content of a body. It uses only the functions of these traits.

use std::fmt;

use repl_core::BitWriter;

use crate::frame::header::Extension;
use crate::rate::bbr::Bbr;
use crate::rate::rate_control::RateControl;

/// The types of the data that packets carry in addition to acks and messages.
pub trait Payload: fmt::Debug + Default + 'static {
    /// The data that the sender stores about the body of a packet until the packet is acked or declared lost.
    type Record: Record;
    /// Writes the bodies of packets.
    type Writer: BodyWriter;
    /// The data that a server adds to the header of each packet.
    type Extension: Extension;
    /// Decides how fast to send. Use [`Bbr`] unless you need another rate control.
    type Rate: RateControl;
}

/// The data that the sender stores about the body of one packet.
pub trait Record: fmt::Debug + Default {
    /// The part of a record that still matters if the packet arrives after it counted as lost.
    type Late: fmt::Debug;

    /// Returns whether the record says that the packet has no body.
    fn is_empty(&self) -> bool;

    /// Returns whether the user needs to know when the packet is acked. If this is false,
    /// [`Arrived`](crate::parts::Acked::Arrived) is not reported for the packet.
    fn is_awaited(&self) -> bool;

    /// Returns about how many bytes of memory the record occupies on the heap.
    fn content_bytes(&self) -> usize;

    /// Returns about how many bytes of memory the record still owns after [`clear`](Self::clear). Costs O(1).
    fn buffer_bytes(&self) -> usize;

    /// Empties the record, so that it can be used for another packet. Does not free its memory.
    fn clear(&mut self);

    /// Returns the parts of the record that still matter if the packet arrives after it counted as lost.
    fn late(&self) -> Vec<Self::Late>;
}

/// Writes the body of the packet that is being filled.
pub trait BodyWriter: fmt::Debug + Default {
    /// Completes the body. Adds at most [`SEGMENT_BITS`](crate::outbox::SEGMENT_BITS) bits.
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
