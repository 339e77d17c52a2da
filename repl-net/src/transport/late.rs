//! Late acks: acks of packets that already count as lost. This module records the openings, closes and parts
//! of blobs in these packets, so that their acks still have an effect (R4).
//!
//! *Invariant:* the entries are in the order of their packets, because packets are given up in this order.
//! There are at most [`MAX_LATE`] entries.

use std::collections::{BTreeMap, VecDeque};

use super::acks::AckRange;
use super::in_flight::{Content, Contents, Sent};
use super::sequence::Sequence;
use super::slot_set::{bit_of, word_of};
use super::spare::shrink_sparse;

/// The greatest number of entries. An entry is about one object, or about a word of 64 slots.
const MAX_LATE: usize = 512;

/// One entry: a part of the contents of a packet that counts as lost.
#[derive(Debug)]
pub(crate) enum Late {
    /// The owner and role of an object, or a part of a blob.
    Sent(Sent),
    /// Objects that the packet opened, as a mask over a word of slots. The values are not recorded.
    Opened(usize, u64),
    /// Objects that the packet closed, as a mask over a word of slots.
    Closed(usize, u64),
}

/// The packets that count as lost and may still be acked.
#[derive(Debug, Default)]
pub(crate) struct LateAcks {
    waiting: VecDeque<(Sequence, Late)>,
}

impl LateAcks {
    /// Records the contents of the packet `sequence`, which counts as lost. Updates are not recorded, because
    /// they are sent again in any case.
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

    /// Removes and returns the entries of the packets in a range.
    pub(crate) fn take(&mut self, range: AckRange) -> Vec<(Sequence, Late)> {
        if self.waiting.is_empty() {
            return Vec::new();
        }
        let start = self.waiting.partition_point(|(sequence, _)| *sequence < range.first);
        let end = self.waiting.partition_point(|(sequence, _)| *sequence <= range.last);
        self.waiting.drain(start..end).collect()
    }

    /// Removes all entries.
    pub(crate) fn clear(&mut self) {
        self.waiting.clear();
    }

    /// Returns about how many bytes of memory the entries take. O(1).
    pub(crate) fn held_bytes(&self) -> usize {
        self.waiting.capacity() * size_of::<(Sequence, Late)>()
    }

    /// Frees memory that was not needed recently.
    pub(crate) fn end_round(&mut self) {
        shrink_sparse(&mut self.waiting);
    }
}
