//! Late acks: acks of packets that already count as lost. For packets that count as lost, this module records
//! which objects they create or remove and which parts of blobs they contain, so that late acks still have an
//! effect (R4).
//!
//! *Invariant:* the entries for late acks are in the order of their packets, because packets are declared
//! lost in this order. There are at most [`MAX_LATE`] entries for late acks.

use std::collections::{BTreeMap, VecDeque};

use super::acks::AckRange;
use super::in_flight::{Content, Contents, Sent};
use super::sequence::Sequence;
use super::slot_set::{bit_of, word_of};
use super::spare::shrink_sparse;

/// The greatest number of entries for late acks. An entry for late acks belongs to one object, or to a word.
const MAX_LATE: usize = 512;

/// One part of the contents of a packet that counts as lost.
#[derive(Debug)]
pub(crate) enum Late {
    /// The owner flag and role of an object, or a part of a blob.
    Sent(Sent),
    /// Objects that the packet creates on the client, as a mask. For late acks, the values of created objects
    /// are not recorded.
    Opened(usize, u64),
    /// Objects that the packet removes from the client, as a mask.
    Closed(usize, u64),
}

/// The contents of packets that count as lost and may still be acked.
#[derive(Debug, Default)]
pub(crate) struct LateAcks {
    waiting: VecDeque<(Sequence, Late)>,
}

impl LateAcks {
    /// Records the contents of the packet `sequence`, which counts as lost. Changed values of objects are not
    /// recorded, because they are sent again in any case.
    pub(crate) fn add(&mut self, sequence: Sequence, contents: &Contents) {
        let is_newest = self.waiting.back().is_none_or(|(last, _)| *last <= sequence);
        debug_assert!(is_newest, "packets are given up in ascending order");
        let mut opened: BTreeMap<usize, u64> = BTreeMap::new();
        // Runs of openings in the same word have an entry each.
        contents.opened.iter().for_each(|(word, mask)| *opened.entry(*word).or_default() |= mask);
        let mut late = Vec::new();
        for sent in &contents.sent {
            match sent.content {
                Content::Open(_) => *opened.entry(word_of(sent.slot)).or_default() |= bit_of(sent.slot),
                Content::Proxy | Content::Fragment { .. } => late.push(Late::Sent(sent.clone())),
                Content::Update(_) => {}
            }
        }
        let opened = opened.into_iter().map(|(word, mask)| Late::Opened(word, mask));
        let closed = contents.closed.iter().map(|(word, mask)| Late::Closed(*word, *mask));
        self.waiting.extend(late.into_iter().chain(opened).chain(closed).map(|late| (sequence, late)));
        self.waiting.drain(..self.waiting.len().saturating_sub(MAX_LATE));
    }

    /// Removes and returns the recorded contents of the packets in a range.
    pub(crate) fn take(&mut self, range: AckRange) -> Vec<(Sequence, Late)> {
        if self.waiting.is_empty() {
            return Vec::new();
        }
        let start = self.waiting.partition_point(|(sequence, _)| *sequence < range.first);
        let end = self.waiting.partition_point(|(sequence, _)| *sequence <= range.last);
        self.waiting.drain(start..end).collect()
    }

    /// Removes all recorded contents.
    pub(crate) fn clear(&mut self) {
        self.waiting.clear();
    }

    /// Returns about how many bytes of memory the recorded contents take. Costs O(1).
    pub(crate) fn held_bytes(&self) -> usize {
        self.waiting.capacity() * size_of::<(Sequence, Late)>()
    }

    /// Frees memory that was not needed recently.
    pub(crate) fn end_round(&mut self) {
        shrink_sparse(&mut self.waiting);
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use repl_core::Changelist;

    use super::*;

    /// Removes the entries of the packets `first` to `last`, and returns each with its packet number and its
    /// content.
    fn taken(late: &mut LateAcks, first: u64, last: u64) -> Vec<(u64, String)> {
        let range = AckRange { first: Sequence::new(first), last: Sequence::new(last) };
        let text = |entry: Late| match entry {
            Late::Sent(Sent { slot, content: Content::Proxy, .. }) => format!("proxy {slot}"),
            Late::Sent(Sent { slot, content: Content::Fragment { blob, index }, .. }) => {
                format!("part {index} of blob {blob} of {slot}")
            }
            Late::Sent(sent) => format!("{:?}", sent.content),
            Late::Opened(word, mask) => format!("opened {mask:#b} in {word}"),
            Late::Closed(word, mask) => format!("closed {mask:#b} in {word}"),
        };
        late.take(range).into_iter().map(|(sequence, entry)| (sequence.number(), text(entry))).collect()
    }

    fn closes(slot: u32) -> Contents {
        let mut contents = Contents::default();
        contents.close(slot);
        contents
    }

    #[test]
    fn r04_everything_except_updates_is_recorded_and_returned_once() {
        let sent = |slot, content| Sent { slot, generation: NonZeroU32::MIN, content };
        let contents = Contents {
            sent: vec![
                sent(3, Content::Update(Changelist::new())),
                sent(4, Content::Proxy),
                sent(65, Content::Open(Changelist::new())),
                sent(6, Content::Fragment { blob: 7, index: 8 }),
            ],
            opened: vec![(0, 0b1), (1, 0b1), (0, 0b1000)],
            closed: vec![(2, 0b101)],
            ..Contents::default()
        };
        let mut late = LateAcks::default();
        late.add(Sequence::new(5), &contents);
        let expected = [
            "proxy 4",
            "part 8 of blob 7 of 6",
            "opened 0b1001 in 0",
            "opened 0b11 in 1",
            "closed 0b101 in 2",
        ];
        assert_eq!(taken(&mut late, 5, 5), expected.map(|text| (5, text.to_owned())));
        assert_eq!(taken(&mut late, 0, 10), []);
    }

    #[test]
    fn r04_an_ack_takes_the_entries_of_its_packets_and_no_others() {
        let mut late = LateAcks::default();
        (0..10).for_each(|number| late.add(Sequence::new(number), &closes(number as u32)));
        let packets =
            |taken: Vec<(u64, String)>| taken.into_iter().map(|(number, _)| number).collect::<Vec<_>>();
        assert_eq!(packets(taken(&mut late, 3, 5)), [3, 4, 5]);
        assert_eq!(packets(taken(&mut late, 5, 6)), [6]);
        assert_eq!(packets(taken(&mut late, 0, 100)), [0, 1, 2, 7, 8, 9]);
    }

    #[test]
    fn r04_of_too_many_entries_the_oldest_are_dropped() {
        let mut late = LateAcks::default();
        let end = 3 * MAX_LATE as u64;
        (0..end).for_each(|number| late.add(Sequence::new(number), &closes(0)));
        let left = taken(&mut late, 0, end);
        assert_eq!(left.len(), MAX_LATE);
        assert_eq!((left[0].0, left[MAX_LATE - 1].0), (end - MAX_LATE as u64, end - 1));
    }
}
