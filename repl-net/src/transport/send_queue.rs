//! The queue of packets to one address. The queue limits the bytes to an address until the client has shown
//! that it receives packets at this address.
//!
//! *Invariant:* packets leave the queue in the order in which they were added. The queue never sends more
//! bytes than the allowance of the address (R26).

use std::collections::VecDeque;

use repl_core::__private::{preload, preload_all};

use super::allowance::Allowance;
use super::spare::{Spare, shrink_sparse};

/// Until the client has shown that it receives packets at its address, packets of state leave this many bytes
/// of the allowance unused. The reserved bytes are enough for so many welcome packets that one arrives if
/// nine of ten packets are lost.
const WELCOMES_BYTES: usize = 1_024;

/// The packets that wait to be sent to one address.
#[derive(Debug, Default)]
pub(crate) struct SendQueue {
    ready: VecDeque<Vec<u8>>,
    /// The capacity of the buffers of all waiting packets, in bytes.
    ready_bytes: usize,
    spare: Spare<Vec<u8>>,
    /// The number of bytes that may still be sent to the address.
    pub(crate) allowance: Allowance,
    /// The number of bytes of all packets queued so far.
    pub(crate) bytes_sent: u64,
    /// The number of packets queued so far.
    pub(crate) packets_sent: u64,
}

impl SendQueue {
    /// Appends a packet to the queue.
    pub(crate) fn push(&mut self, bytes: Vec<u8>) {
        self.bytes_sent += bytes.len() as u64;
        self.packets_sent += 1;
        self.ready_bytes += bytes.capacity();
        self.ready.push_back(bytes);
    }

    /// Moves the first packet of the queue into `current`, if it may be sent now, and keeps the old buffer of
    /// `current` for reuse. Returns `false` if no packet may be sent now.
    pub(crate) fn pop(&mut self, current: &mut Vec<u8>) -> bool {
        if !self.ready.front().is_some_and(|front| self.allowance.spend(front.len())) {
            return false;
        }
        let Some(bytes) = self.ready.pop_front() else { return false };
        self.ready_bytes -= bytes.capacity();
        let old = std::mem::replace(current, bytes);
        // Only packets of state reuse buffers, and while the allowance is limited there are few such packets.
        if old.capacity() > 0 && self.allowance.left().is_none() {
            self.spare.put(old);
        }
        true
    }

    /// Returns whether `bytes` more bytes of state may be queued, while the allowance keeps enough room for
    /// more welcome packets.
    pub(crate) fn takes_state(&self, bytes: usize) -> bool {
        let Some(left) = self.allowance.left() else { return true };
        let made: usize = self.ready.iter().map(Vec::len).sum();
        left >= made + bytes + WELCOMES_BYTES
    }

    /// Returns whether the first packet of the queue has to wait, because the allowance of the address is too
    /// small for it.
    pub(crate) fn is_held_back(&self) -> bool {
        self.allowance.left().is_some_and(|left| self.ready.front().is_some_and(|front| front.len() > left))
    }

    /// Returns whether a packet is queued and may be sent.
    pub(crate) fn is_ready(&self) -> bool {
        !self.is_empty() && !self.is_held_back()
    }

    /// Returns whether no packet is queued.
    pub(crate) fn is_empty(&self) -> bool {
        self.ready.is_empty()
    }

    /// Preloads the list of buffers for new packets.
    pub(crate) fn preload_lists(&self) {
        self.spare.next().into_iter().for_each(preload);
    }

    /// Preloads the buffer of the next packet. Call it some time after
    /// [`preload_lists`](Self::preload_lists).
    pub(crate) fn preload_next(&self) {
        self.spare.next().into_iter().for_each(|buffer| preload_all(buffer.as_slice()));
    }

    /// Preloads the list of waiting packets.
    pub(crate) fn preload_ready(&self) {
        self.ready.front().into_iter().for_each(preload);
    }

    /// Preloads the packet that leaves the queue next. Call it some time after
    /// [`preload_ready`](Self::preload_ready).
    pub(crate) fn preload_first(&self) {
        self.ready.front().into_iter().for_each(|packet| preload_all(packet.as_slice()));
    }

    /// Returns an empty buffer for a new packet.
    pub(crate) fn blank(&mut self) -> Vec<u8> {
        self.spare.take()
    }

    /// Keeps the buffer of a packet that will not be sent, for reuse.
    pub(crate) fn discard(&mut self, bytes: Vec<u8>) {
        self.spare.put(bytes);
    }

    /// Returns about how many bytes of memory the packets and the spare buffers take. Costs O(1).
    pub(crate) fn held_bytes(&self) -> usize {
        self.ready_bytes + self.spare.held_bytes()
    }

    /// Frees the spare buffers, which are kept for reuse.
    pub(crate) fn free_spare(&mut self) {
        self.spare.clear();
    }

    /// Frees memory that was not needed recently.
    pub(crate) fn end_round(&mut self) {
        self.spare.end_round();
        shrink_sparse(&mut self.ready);
    }
}
