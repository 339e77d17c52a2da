//! The queue of packets that wait to be sent to one address, with the limit on bytes for unproven addresses.
//!
//! *Invariant:* packets leave in the order in which they were queued, and never more bytes than the address's
//! allowance (R26).

use std::collections::VecDeque;

use super::allowance::Allowance;
use super::spare::{Spare, give_back_room};

/// Bytes of the allowance that packets of state leave unused before the address is known to be the client's.
/// They are enough for the welcome to arrive where nine packets of ten are lost.
const WELCOMES_BYTES: usize = 1_024;

/// Packets that wait to be sent to one address.
#[derive(Debug, Default)]
pub(crate) struct SendQueue {
    ready: VecDeque<Vec<u8>>,
    /// The capacity of their buffers.
    ready_bytes: usize,
    spare: Spare<Vec<u8>>,
    /// Bytes that may be sent to the other side's address.
    pub(crate) allowance: Allowance,
    /// Bytes of packets queued so far.
    pub(crate) bytes_sent: u64,
    /// Packets queued so far.
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

    /// Moves the next packet that may be sent into `current`, and keeps the old buffer for reuse. Returns
    /// `false` if there is none.
    pub(crate) fn pop(&mut self, current: &mut Vec<u8>) -> bool {
        if !self.ready.front().is_some_and(|front| self.allowance.spend(front.len())) {
            return false;
        }
        let Some(bytes) = self.ready.pop_front() else { return false };
        self.ready_bytes -= bytes.capacity();
        let old = std::mem::replace(current, bytes);
        if old.capacity() > 0 {
            self.spare.put(old);
        }
        true
    }

    /// Whether `bytes` more bytes of state may be queued and leave room for more welcomes.
    pub(crate) fn takes_state(&self, bytes: usize) -> bool {
        let Some(left) = self.allowance.left() else { return true };
        let made: usize = self.ready.iter().map(Vec::len).sum();
        left >= made + bytes + WELCOMES_BYTES
    }

    /// Whether the next packet waits because the allowance is too small for it.
    pub(crate) fn is_held_back(&self) -> bool {
        self.allowance.left().is_some_and(|left| self.ready.front().is_some_and(|front| front.len() > left))
    }

    /// Whether no packet is queued.
    pub(crate) fn is_empty(&self) -> bool {
        self.ready.is_empty()
    }

    /// Returns an empty buffer for a packet.
    pub(crate) fn blank(&mut self) -> Vec<u8> {
        self.spare.take()
    }

    /// Keeps the buffer of a packet that is not queued.
    pub(crate) fn discard(&mut self, bytes: Vec<u8>) {
        self.spare.put(bytes);
    }

    /// About how many bytes of memory the packets and the spare buffers hold. O(1).
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
        give_back_room(&mut self.ready);
    }
}
