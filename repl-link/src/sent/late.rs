//! A log of data in packets that count as lost. If such a packet is acked later (a late ack), its data need
//! not be sent again (R4).
//!
//! *Invariant:* the entries are in the order of their packets, because packets are declared lost in this
//! order. The log has at most `MAX` entries.

use std::collections::VecDeque;

use crate::frame::acks::AckRange;
use crate::frame::sequence::Sequence;
use crate::spare::shrink_sparse;

/// The log of packets that count as lost and may still be acked. Each entry is a packet number and a piece of
/// data. At most `MAX` entries are stored.
#[derive(Debug)]
pub(crate) struct LateLog<T, const MAX: usize> {
    entries: VecDeque<(Sequence, T)>,
}

impl<T, const MAX: usize> Default for LateLog<T, MAX> {
    fn default() -> Self {
        Self { entries: VecDeque::new() }
    }
}

impl<T, const MAX: usize> LateLog<T, MAX> {
    /// Adds an entry for the packet `sequence`, which now counts as lost. If there are too many entries,
    /// drops the oldest entry.
    pub(crate) fn add(&mut self, sequence: Sequence, entry: T) {
        let is_newest = self.entries.back().is_none_or(|(last, _)| *last <= sequence);
        debug_assert!(is_newest, "packets are declared lost in ascending order");
        if self.entries.len() >= MAX {
            self.entries.pop_front();
        }
        self.entries.push_back((sequence, entry));
    }

    /// Removes and returns the entries of the packets in a range. Costs O(log entries) if there are no such
    /// entries.
    pub(crate) fn take(&mut self, range: AckRange) -> Vec<(Sequence, T)> {
        if self.entries.is_empty() {
            return Vec::new();
        }
        let start = self.entries.partition_point(|(sequence, _)| *sequence < range.first);
        let end = self.entries.partition_point(|(sequence, _)| *sequence <= range.last);
        self.entries.drain(start..end.max(start)).collect()
    }

    /// Removes the entries of the packets before `end`.
    pub(crate) fn forget_before(&mut self, end: Sequence) {
        let count = self.entries.partition_point(|(sequence, _)| *sequence < end);
        self.entries.drain(..count);
    }

    pub(crate) fn clear(&mut self) {
        self.entries.clear();
    }

    /// Returns about how many bytes of memory the entries occupy. Costs O(1).
    pub(crate) fn held_bytes(&self) -> usize {
        self.entries.capacity().saturating_mul(size_of::<(Sequence, T)>())
    }

    /// Frees memory that was not needed recently.
    pub(crate) fn end_round(&mut self) {
        shrink_sparse(&mut self.entries);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: usize = 16;

    fn numbers(log: &mut LateLog<u64, MAX>, first: u64, last: u64) -> Vec<u64> {
        let taken = log.take(AckRange { first: Sequence::new(first), last: Sequence::new(last) });
        taken.into_iter().map(|(_, number)| number).collect()
    }

    #[test]
    fn r04_an_ack_takes_the_entries_of_its_packets_and_no_others() {
        let mut log = LateLog::default();
        (0..10).for_each(|number| log.add(Sequence::new(number), number));
        assert_eq!(numbers(&mut log, 3, 5), [3, 4, 5]);
        assert_eq!(numbers(&mut log, 5, 6), [6]);
        assert_eq!(numbers(&mut log, 0, 100), [0, 1, 2, 7, 8, 9]);
        assert_eq!(numbers(&mut log, 0, 100), []);
        (10..14).for_each(|number| log.add(Sequence::new(number), number));
        log.forget_before(Sequence::new(12));
        assert_eq!(numbers(&mut log, 0, 100), [12, 13]);
    }

    #[test]
    fn r04_of_too_many_entries_the_oldest_are_dropped() {
        let mut log = LateLog::default();
        let end = 3 * MAX as u64;
        (0..end).for_each(|number| log.add(Sequence::new(number), number));
        let left: Vec<u64> = (end - MAX as u64..end).collect();
        assert_eq!(numbers(&mut log, 0, end), left);
    }
}
