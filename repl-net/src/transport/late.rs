//! A record of what packets carried that were given up, so that a late ack still counts: openings, closes and
//! parts of blobs (R4).
//!
//! *Invariant:* entries ascend by packet, since packets are given up in ascending order. There are at most
//! [`MAX_LATE`].

use std::collections::VecDeque;

use repl_core::Changelist;

use super::acks::AckRange;
use super::in_flight::{Content, Contents, Sent};
use super::sequence::Sequence;
use super::spare::shrink_sparse;

/// The most entries kept. An entry is an object, or a word of 64 slots.
const MAX_LATE: usize = 512;

/// One thing that a packet given up carried.
#[derive(Debug)]
pub(crate) enum Late {
    /// Sent to this connection alone: a whole object, its owner and role, or a part of a blob.
    Sent(Sent),
    /// Pending spawns that it opened, in a word of slots.
    Opened(usize, u64),
    /// Objects that it closed, in a word of slots.
    Closed(usize, u64),
}

impl Late {
    fn heap_bytes(&self) -> usize {
        match self {
            Self::Sent(sent) => sent.content.list().map_or(0, Changelist::heap_bytes),
            Self::Opened(..) | Self::Closed(..) => 0,
        }
    }
}

/// The entries that late acks may resolve.
#[derive(Debug, Default)]
pub(crate) struct LateAcks {
    waiting: VecDeque<(Sequence, Late)>,
    /// Bytes that the lists of the entries hold on the heap.
    heap_bytes: usize,
}

impl LateAcks {
    /// Records what the packet `sequence` carried, which was given up. Updates are left out: they are sent
    /// again anyway.
    pub(crate) fn add(&mut self, sequence: Sequence, contents: &Contents) {
        let is_newest = self.waiting.back().is_none_or(|(last, _)| *last <= sequence);
        debug_assert!(is_newest, "packets are given up in ascending order");
        let sent = contents.sent.iter().filter(|sent| !matches!(sent.content, Content::Update(_)));
        let sent = sent.map(|sent| Late::Sent(sent.clone()));
        let opened = contents.opened.iter().map(|(word, mask)| Late::Opened(*word, *mask));
        let closed = contents.closed.iter().map(|(word, mask)| Late::Closed(*word, *mask));
        for late in sent.chain(opened).chain(closed) {
            self.heap_bytes += late.heap_bytes();
            self.waiting.push_back((sequence, late));
            if self.waiting.len() > MAX_LATE
                && let Some((_, oldest)) = self.waiting.pop_front()
            {
                self.heap_bytes -= oldest.heap_bytes();
            }
        }
    }

    /// Removes and returns what the packets of a range carried.
    pub(crate) fn take(&mut self, range: AckRange) -> Vec<(Sequence, Late)> {
        if self.waiting.is_empty() {
            return Vec::new();
        }
        let start = self.waiting.partition_point(|(sequence, _)| *sequence < range.first);
        let end = self.waiting.partition_point(|(sequence, _)| *sequence <= range.last);
        let taken: Vec<(Sequence, Late)> = self.waiting.drain(start..end).collect();
        self.heap_bytes -= taken.iter().map(|(_, late)| late.heap_bytes()).sum::<usize>();
        taken
    }

    /// Forgets all entries.
    pub(crate) fn clear(&mut self) {
        self.waiting.clear();
        self.heap_bytes = 0;
    }

    /// About how many bytes of memory this holds. O(1).
    pub(crate) fn held_bytes(&self) -> usize {
        self.waiting.capacity() * size_of::<(Sequence, Late)>() + self.heap_bytes
    }

    /// Frees memory that was not needed recently.
    pub(crate) fn end_round(&mut self) {
        shrink_sparse(&mut self.waiting);
    }
}
