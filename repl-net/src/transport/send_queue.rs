//! The queue of packets to one address. The queue limits the bytes to an address until the client has shown
//! that the address is its own.
//!
//! *Invariant:* packets leave the queue in the order in which they were added. The queue never sends more
//! bytes than the allowance of the address (R26).

use std::collections::VecDeque;

use super::allowance::Allowance;
use super::spare::{Spare, shrink_sparse};

/// How many bytes of the allowance packets of state leave unused until the client has shown that the address
/// is its own. These bytes are enough for the welcome to arrive if nine of ten packets are lost.
const WELCOMES_BYTES: usize = 1_024;

/// The packets that wait to be sent to one address.
#[derive(Debug, Default)]
pub(crate) struct SendQueue {
    ready: VecDeque<Vec<u8>>,
    /// The capacity of the buffers of all waiting packets, in bytes.
    ready_bytes: usize,
    spare: Spare<Vec<u8>>,
    /// How many bytes may be sent to the address.
    pub(crate) allowance: Allowance,
    /// The number of bytes of all packets queued so far.
    pub(crate) bytes_sent: u64,
    /// The number of packets queued so far.
    pub(crate) packets_sent: u64,
}

impl SendQueue {
    /// Queues a packet.
    pub(crate) fn push(&mut self, bytes: Vec<u8>) {
        self.bytes_sent += bytes.len() as u64;
        self.packets_sent += 1;
        self.ready_bytes += bytes.capacity();
        self.ready.push_back(bytes);
    }

    /// Moves the next packet that may be sent into `current`, and keeps the old buffer of `current` for
    /// reuse. Returns `false` if there is no such packet.
    pub(crate) fn pop(&mut self, current: &mut Vec<u8>) -> bool {
        if !self.ready.front().is_some_and(|front| self.allowance.spend(front.len())) {
            return false;
        }
        let Some(bytes) = self.ready.pop_front() else { return false };
        self.ready_bytes -= bytes.capacity();
        let old = std::mem::replace(current, bytes);
        // Only packets of state use memory again, and no such packet is made before the address is proved.
        if old.capacity() > 0 && self.allowance.left().is_none() {
            self.spare.put(old);
        }
        true
    }

    /// Returns whether `bytes` more bytes of state may be queued, so that the allowance still has room for
    /// more welcomes.
    pub(crate) fn takes_state(&self, bytes: usize) -> bool {
        let Some(left) = self.allowance.left() else { return true };
        let made: usize = self.ready.iter().map(Vec::len).sum();
        left >= made + bytes + WELCOMES_BYTES
    }

    /// Returns whether the next packet has to wait because the allowance is too small for it.
    pub(crate) fn is_held_back(&self) -> bool {
        self.allowance.left().is_some_and(|left| self.ready.front().is_some_and(|front| front.len() > left))
    }

    /// Returns whether no packet is queued.
    pub(crate) fn is_empty(&self) -> bool {
        self.ready.is_empty()
    }

    /// Returns an empty buffer for a packet.
    pub(crate) fn blank(&mut self) -> Vec<u8> {
        self.spare.take()
    }

    /// Keeps the buffer of a packet that is not sent.
    pub(crate) fn discard(&mut self, bytes: Vec<u8>) {
        self.spare.put(bytes);
    }

    /// Returns about how many bytes of memory the packets and the spare buffers hold. O(1).
    pub(crate) fn held_bytes(&self) -> usize {
        self.ready_bytes + self.spare.held_bytes()
    }

    /// Frees the spare buffers.
    pub(crate) fn give_back_spare(&mut self) {
        self.spare.clear();
    }

    /// Frees memory that was not needed recently.
    pub(crate) fn end_round(&mut self) {
        self.spare.end_round();
        shrink_sparse(&mut self.ready);
    }
}
