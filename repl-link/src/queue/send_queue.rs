//! The queue of packets to one address. The queue limits the bytes to an address until the client has shown
//! that it receives packets at this address.
//!
//! *Invariant:* packets leave the queue in the order in which they were added. The queue never sends more
//! bytes than the allowance of the address (R26).

use crate::queue::packet_pages::PacketPages;
use crate::rate::allowance::Allowance;

/// Until the client has shown that it receives packets at its address, packets of state may not use the last
/// `WELCOMES_BYTES` bytes of the allowance. The reserved bytes are enough for many welcome packets, so that
/// one of them arrives even if nine of ten packets are lost.
const WELCOMES_BYTES: usize = 1_024;

/// The packets that wait to be sent to one address.
#[derive(Debug, Default)]
pub struct SendQueue {
    pub(crate) waiting: PacketPages,
    /// The number of bytes that may still be sent to the address.
    pub(crate) allowance: Allowance,
    /// The total number of bytes of all packets that were queued so far.
    pub bytes_sent: u64,
    /// The number of packets queued so far.
    pub packets_sent: u64,
}

impl SendQueue {
    /// Appends a packet to the queue.
    pub fn push(&mut self, packet: &[u8]) {
        self.push_with(packet.len(), |bytes| bytes.extend_from_slice(packet));
    }

    /// Appends a packet of `length` bytes to the queue. The function `write` appends these bytes to a buffer.
    pub fn push_with(&mut self, length: usize, write: impl FnOnce(&mut Vec<u8>)) {
        self.waiting.push(length, write);
        self.bytes_sent += length as u64;
        self.packets_sent += 1;
    }

    /// Removes the first packet of the queue, if it may be sent now, and returns it.
    pub fn pop(&mut self) -> Option<&[u8]> {
        let length = self.waiting.first_length()?;
        if !self.allowance.spend(length) {
            return None;
        }
        self.waiting.pop()
    }

    /// Returns whether `bytes` more bytes of state may be queued, so that the allowance still has enough room
    /// for more welcome packets.
    pub fn takes_state(&self, bytes: usize) -> bool {
        self.allowance.left().is_none_or(|left| left >= self.waiting.bytes() + bytes + WELCOMES_BYTES)
    }

    /// Returns whether the first packet of the queue has to wait, because the allowance of the address is too
    /// small for it.
    pub fn is_held_back(&self) -> bool {
        let is_over = |left| self.waiting.first_length().is_some_and(|length| length > left);
        self.allowance.left().is_some_and(is_over)
    }

    /// Returns whether a packet is queued and may be sent.
    pub fn is_ready(&self) -> bool {
        !self.is_empty() && !self.is_held_back()
    }

    /// Returns whether no packet is queued.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r26_a_packet_over_the_allowance_stays_in_the_queue() {
        let mut queue = SendQueue { allowance: Allowance::nothing(), ..SendQueue::default() };
        queue.push(&[7; 30]);
        queue.push(&[8; 10]);
        queue.allowance.earn(9);
        assert!(queue.is_held_back() && !queue.is_ready());
        assert_eq!(queue.pop(), None);
        queue.allowance.earn(2);
        assert_eq!(queue.pop(), Some([7; 30].as_slice()));
        assert_eq!(queue.pop(), None, "three bytes are left");
        queue.allowance.lift();
        assert_eq!(queue.pop(), Some([8; 10].as_slice()));
    }
}
