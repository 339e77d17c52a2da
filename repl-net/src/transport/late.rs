//! A record of what packets carried that were given up, so that a late ack still counts: openings, closes and
//! parts of blobs (R4).
//!
//! *Invariant:* entries ascend by packet, since packets are given up in ascending order. There are at most
//! [`MAX_LATE`].

use std::collections::{BTreeMap, VecDeque};

use super::acks::AckRange;
use super::in_flight::{Content, Contents, Sent};
use super::sequence::Sequence;
use super::slot_set::{bit_of, word_of};
use super::spare::shrink_sparse;

/// The most entries kept. An entry is an object, or a word of 64 slots.
const MAX_LATE: usize = 512;

/// One thing that a packet given up carried.
#[derive(Debug)]
pub(crate) enum Late {
    /// Sent to this connection alone: the owner and role of an object, or a part of a blob.
    Sent(Sent),
    /// Objects that it opened, in a word of slots. What the openings contained is not recorded.
    Opened(usize, u64),
    /// Objects that it closed, in a word of slots.
    Closed(usize, u64),
}

/// The entries that late acks may resolve.
#[derive(Debug, Default)]
pub(crate) struct LateAcks {
    waiting: VecDeque<(Sequence, Late)>,
}

impl LateAcks {
    /// Records what the packet `sequence` carried, which was given up. Updates are left out: they are sent
    /// again anyway.
    pub(crate) fn add(&mut self, sequence: Sequence, contents: &Contents) {
        let is_newest = self.waiting.back().is_none_or(|(last, _)| *last <= sequence);
        debug_assert!(is_newest, "packets are given up in ascending order");
        let mut opened: BTreeMap<usize, u64> = contents.opened.iter().copied().collect();
        let mut sent = Vec::new();
        for item in &contents.sent {
            match item.content {
                Content::Open(_) => *opened.entry(word_of(item.slot)).or_default() |= bit_of(item.slot),
                Content::Proxy | Content::Fragment { .. } => sent.push(Late::Sent(item.clone())),
                Content::Update(_) => {}
            }
        }
        let opened = opened.into_iter().map(|(word, mask)| Late::Opened(word, mask));
        let closed = contents.closed.iter().map(|(word, mask)| Late::Closed(*word, *mask));
        self.waiting.extend(sent.into_iter().chain(opened).chain(closed).map(|late| (sequence, late)));
        self.waiting.drain(..self.waiting.len().saturating_sub(MAX_LATE));
    }

    /// Removes and returns what the packets of a range carried.
    pub(crate) fn take(&mut self, range: AckRange) -> Vec<(Sequence, Late)> {
        if self.waiting.is_empty() {
            return Vec::new();
        }
        let start = self.waiting.partition_point(|(sequence, _)| *sequence < range.first);
        let end = self.waiting.partition_point(|(sequence, _)| *sequence <= range.last);
        self.waiting.drain(start..end).collect()
    }

    /// Forgets all entries.
    pub(crate) fn clear(&mut self) {
        self.waiting.clear();
    }

    /// About how many bytes of memory this holds. O(1).
    pub(crate) fn held_bytes(&self) -> usize {
        self.waiting.capacity() * size_of::<(Sequence, Late)>()
    }

    /// Frees memory that was not needed recently.
    pub(crate) fn end_round(&mut self) {
        shrink_sparse(&mut self.waiting);
    }
}
