//! Packets that are ready to go to one address, and how many bytes may go there.
//!
//! *Invariant:* packets leave in the order in which they were queued, and no byte leaves that the address is
//! not worth (R26).

use std::collections::VecDeque;

use super::allowance::Allowance;
use super::spare::{Spare, give_back_room};

/// What state leaves of the bytes that may go to an address before it is known to be the client's: enough for
/// the welcome to come through where nine packets of ten are lost.
const WELCOMES_BYTES: usize = 1_024;

/// Packets on their way to one address.
#[derive(Debug, Default)]
pub(crate) struct SendQueue {
    ready: VecDeque<Vec<u8>>,
    /// The memory that they take.
    ready_bytes: usize,
    spare: Spare<Vec<u8>>,
    /// What the other side's address is worth.
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

    /// The next packet to go: lent in `current`, whose memory is used again.
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

    /// Whether so many bytes of state more may go, and leave room for more welcomes.
    pub(crate) fn takes_state(&self, bytes: usize) -> bool {
        let Some(left) = self.allowance.left() else { return true };
        let made: usize = self.ready.iter().map(Vec::len).sum();
        left >= made + bytes + WELCOMES_BYTES
    }

    /// Whether packets are queued that may not go yet.
    pub(crate) fn is_held_back(&self) -> bool {
        self.allowance.left().is_some_and(|left| self.ready.front().is_some_and(|front| front.len() > left))
    }

    /// Whether no packet is queued.
    pub(crate) fn is_empty(&self) -> bool {
        self.ready.is_empty()
    }

    /// Memory for a packet.
    pub(crate) fn blank(&mut self) -> Vec<u8> {
        self.spare.take()
    }

    /// Takes back the memory of a packet that is not queued.
    pub(crate) fn discard(&mut self, bytes: Vec<u8>) {
        self.spare.put(bytes);
    }

    /// About how many bytes of memory packets and buffers for others hold. O(1).
    pub(crate) fn held_bytes(&self) -> usize {
        self.ready_bytes + self.spare.held_bytes()
    }

    /// Gives back memory that was kept to be used again.
    pub(crate) fn give_back_spare(&mut self) {
        self.spare.clear();
    }

    /// Gives back memory that was not needed of late.
    pub(crate) fn end_round(&mut self) {
        self.spare.end_round();
        give_back_room(&mut self.ready);
    }
}
