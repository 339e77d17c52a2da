//! Writes bodies and messages into the packets of an outbox.
//!
//! *Invariant:* the record of a packet lists everything that is written into this packet.

use std::time::Duration;

use repl_core::{BitSlice, BitWriter};

use super::{Draft, Outbox};
use crate::frame::cut::Cut;
use crate::frame::message::{MESSAGE_HEAD_BITS, NEXT_PART_BITS, PART_HEAD_BITS, SentMessage};
use crate::frame::sequence::Sequence;
use crate::sent::payload::Payload;

/// The body of the packet that is being filled.
pub struct Body<'a, P: Payload> {
    /// The record of the body. It is stored until the packet is acked or declared lost.
    pub record: &'a mut P::Record,
    /// The writer of the body.
    pub body: &'a mut P::Writer,
    /// The bits of the packet.
    pub writer: &'a mut BitWriter,
}

impl<P: Payload> Outbox<P> {
    /// Begins a packet if none is being filled. The caller must have [made room](Self::make_room) for the
    /// bits that it writes into the body.
    pub fn body(&mut self) -> Body<'_, P> {
        self.begin_packet();
        let Self { in_flight, draft, record, .. } = self;
        let record = record.get_or_insert_with(|| in_flight.blank());
        let Draft { writer, body, .. } = &mut **draft;
        Body { record: &mut record.body, body, writer }
    }

    /// Writes a message, or a part of it if it is cut into parts. The message belongs to one of `channels`
    /// channels. The argument `content` has the bits of the message or part. Returns the number of the packet
    /// that contains the message, and how many bits were written, or `None` if the limits of the connection
    /// do not allow another packet.
    pub fn message(
        &mut self,
        message: SentMessage,
        channels: u16,
        cut: Cut,
        content: BitSlice<'_>,
        now: Duration,
    ) -> Option<(Sequence, usize)> {
        let header_bits = match cut.parts() {
            1 => MESSAGE_HEAD_BITS,
            _ if self.draft.messages.continues(message) => NEXT_PART_BITS,
            _ => PART_HEAD_BITS,
        };
        let bits = header_bits.saturating_add(content.len());
        if !self.leaves_room(bits) || !self.make_room(bits, now) {
            return None;
        }
        self.begin_packet();
        self.record.iter_mut().for_each(|record| record.messages.push(message));
        let before = self.draft.messages.bit_len();
        self.draft.messages.write(message, channels, cut, content);
        Some((self.next, self.draft.messages.bit_len() - before))
    }
}
