//! Acks: a receiver records which packets have arrived, and sends this record to the sender (R7).
//!
//! *Invariant:* each range that is read from the wire contains only packets that were sent, lies below the
//! previous range, and lies within the window. Because of this, a peer can make this side visit at most
//! [`WINDOW`] packets.
//!
//! On the wire, each range of acked packets consists of a bit that is 1, the end of the range, and its length
//! minus one in an Exp-Golomb code of order 2. The newest range comes first. The end of the newest range is
//! the low 16 bits of its newest packet. The end of every other range is the number of missing packets
//! between this range and the previous range, minus one, in an Exp-Golomb code of order 0. A zero bit ends
//! the list of ranges. An empty list has one bit, and a list of one range with up to four packets has 21
//! bits.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use crate::frame::sequence::{Sequence, WINDOW};
use repl_core::{BitReader, BitWriter, ReadError};

/// The order of the Exp-Golomb code for the gaps between ranges of acked packets. It is 0, because most
/// losses are single packets.
const GAP_ORDER: u32 = 0;
/// The order of the Exp-Golomb code for the lengths of ranges of acked packets. Without losses there is one
/// range. It contains the packets of the last round trip, because the sender does not know yet that these
/// packets have arrived. At 60 packets a second, a round trip of 100 ms corresponds to 6 packets. Order 2
/// writes a length of up to 4 packets in 3 bits, and a length of up to 12 packets in 5 bits. So the length
/// takes few bits without losses, and also if losses make the ranges shorter.
const LENGTH_ORDER: u32 = 2;

const WORDS: usize = WINDOW as usize / 64;
const _: () = assert!(WORDS * 64 == WINDOW as usize, "the window is whole words");

/// A range of consecutive packets that have all arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckRange {
    /// The oldest packet of the range.
    pub first: Sequence,
    /// The newest packet of the range, at least `first`.
    pub last: Sequence,
}

/// Whether a packet that has just arrived is new, repeated or too old.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// The packet has not arrived before.
    New,
    /// The packet has already arrived before. A repeated packet is not applied, but is acked again.
    Duplicate,
    /// The packet is older than the window, or the sender has already declared it lost. Such a packet is not
    /// applied, and an ack for it would have no effect.
    TooOld,
}

/// The record of the packets that have arrived. The record occupies 144 bytes of memory, whatever the peer
/// sends.
#[derive(Clone, Debug, Default)]
pub(crate) struct Received {
    /// One bit for each of the [`WINDOW`] packets before `end`. The position of a packet's bit is the
    /// packet's number modulo the window.
    arrived: [u64; WORDS],
    /// The number after the number of the newest packet that has arrived.
    end: Sequence,
    /// The oldest packet for which the sender does not know yet whether it has arrived.
    floor: Sequence,
}

impl Received {
    /// Returns whether the packet is new, repeated or too old. Does not change the record. Costs O(1).
    pub(crate) fn check(&self, sequence: Sequence) -> Arrival {
        if sequence < self.oldest() {
            Arrival::TooOld
        } else if sequence < self.end && self.bit(sequence) {
            Arrival::Duplicate
        } else {
            Arrival::New
        }
    }

    /// Records that the packet has arrived. If a packet must not be acked, for example a stale packet (R1),
    /// the caller calls only [`check`](Self::check). Costs O(1).
    pub(crate) fn insert(&mut self, sequence: Sequence) -> Arrival {
        let arrival = self.check(sequence);
        if arrival == Arrival::New {
            if sequence >= self.end {
                self.clear_up_to(sequence);
                self.end = sequence.next();
            }
            let (word, mask) = place(sequence);
            if let Some(word) = self.arrived.get_mut(word) {
                *word |= mask;
            }
        }
        arrival
    }

    /// Records that the sender knows which packets before `floor` have arrived, so that these packets need no
    /// more acks. If a packet before `floor` arrives later, it is [too old](Arrival::TooOld): the sender has
    /// counted it as lost and sends its content again. A floor that is older than the last floor comes from a
    /// header that arrived late, and changes nothing.
    pub(crate) fn forget_below(&mut self, floor: Sequence) {
        self.floor = self.floor.max(floor);
    }

    /// Returns the newest packet that has arrived.
    pub(crate) fn newest(&self) -> Option<Sequence> {
        (self.end > Sequence::default()).then(|| self.end.minus(1))
    }

    /// Returns the ranges of packets that have arrived and must be acked, because the sender may not know yet
    /// that they have arrived. The newest range comes first.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = AckRange> + '_ {
        let oldest = self.oldest();
        let mut end = self.end;
        std::iter::from_fn(move || {
            let last = self.run_below(end, oldest, false);
            let first = self.run_below(last, oldest, true);
            end = first;
            (first < last).then(|| AckRange { first, last: last.minus(1) })
        })
    }

    /// Writes as many of the [`ranges`](Self::ranges) as fit into `max_bits`. The newest range of packets is
    /// written first. The bit that ends the list of ranges is always written. Returns whether all ranges were
    /// written.
    ///
    /// If a range does not fit, the sender receives no ack for its packets, and sends their content again
    /// after a timeout.
    pub(crate) fn write(&self, writer: &mut BitWriter, max_bits: usize) -> bool {
        let start = writer.bit_len();
        // One bit is reserved for the zero that ends the list of ranges.
        let mut left = max_bits.saturating_sub(1);
        let mut above: Option<Sequence> = None;
        let mut complete = true;
        for AckRange { first, last } in self.ranges() {
            let length = last.since(first);
            let gap = above.map(|above| above.since(last).saturating_sub(2));
            let bits = 1_usize
                .saturating_add(gap.map_or(16, |gap| exp_golomb_bits(gap, GAP_ORDER)))
                .saturating_add(exp_golomb_bits(length, LENGTH_ORDER));
            let Some(rest) = left.checked_sub(bits) else {
                complete = false;
                break;
            };
            left = rest;
            writer.write_flag(true);
            match gap {
                None => writer.write_bits(u64::from(last.to_wire()), 16),
                Some(gap) => writer.write_exp_golomb(gap, GAP_ORDER),
            }
            writer.write_exp_golomb(length, LENGTH_ORDER);
            above = Some(first);
        }
        writer.write_flag(false);
        debug_assert!(writer.bit_len().saturating_sub(start) <= max_bits.max(1), "acks keep to their bits");
        complete
    }

    /// Returns the oldest packet for which this side still sends acks.
    fn oldest(&self) -> Sequence {
        self.floor.max(self.end.minus(WINDOW))
    }

    fn bit(&self, sequence: Sequence) -> bool {
        let (word, mask) = place(sequence);
        self.arrived.get(word).is_some_and(|word| word & mask != 0)
    }

    /// Clears the bits for the packets from `end` to `newest`. Until then, these bits belonged to packets
    /// that are older by the size of the window.
    fn clear_up_to(&mut self, newest: Sequence) {
        let mut left = newest.since(self.end).saturating_add(1).min(WINDOW);
        let mut at = self.end;
        while left > 0 {
            let offset = at.number() % 64;
            let count = left.min(64_u64.saturating_sub(offset));
            let mask = low_bits(count) << offset;
            if let Some(word) = self.arrived.get_mut(place(at).0) {
                *word &= !mask;
            }
            at = at.plus(count);
            left = left.saturating_sub(count);
        }
    }

    /// Finds the longest run of packets directly before `end` that have all arrived (if `arrived` is set), or
    /// are all missing (otherwise). Returns the first packet of this run, but never a packet before `oldest`.
    fn run_below(&self, end: Sequence, oldest: Sequence, arrived: bool) -> Sequence {
        let mut at = end;
        while at > oldest {
            let offset = at.minus(1).number() % 64;
            let word = self.arrived.get(place(at.minus(1)).0).copied().unwrap_or(0);
            let others = if arrived { !word } else { word };
            // The bits of the packets in this word, up to the packet at `offset`. In a word, the bit of the
            // newest packet is the highest bit.
            let row = u64::from((others << 63_u64.saturating_sub(offset)).leading_zeros());
            let in_word = offset.saturating_add(1);
            at = at.minus(row.min(in_word));
            if row < in_word {
                break;
            }
        }
        at.max(oldest)
    }
}

/// Returns the index of the word in `arrived` that has the bit of a packet, and a mask with this bit set.
fn place(sequence: Sequence) -> (usize, u64) {
    let bit = sequence.number() % WINDOW;
    ((bit / 64) as usize, 1 << (bit % 64))
}

/// Returns a mask with the lowest `count` bits set. `count` is from 1 to 64.
fn low_bits(count: u64) -> u64 {
    u64::MAX >> 64_u64.saturating_sub(count).min(63)
}

/// Returns how many bits [`BitWriter::write_exp_golomb`] writes for this value.
fn exp_golomb_bits(value: u64, order: u32) -> usize {
    let quotient_bits = (value >> order).saturating_add(1).ilog2();
    quotient_bits.saturating_mul(2).saturating_add(1).saturating_add(order) as usize
}

/// An iterator over the ranges of acked packets that a peer wrote. The newest range is returned first. All
/// ranges that the iterator returns have been checked. The iterator reads the packet's bits directly and
/// allocates nothing.
#[derive(Clone, Debug)]
pub(crate) struct AckRanges<'a> {
    reader: BitReader<'a>,
    /// The number of the next packet that this side sends. A peer that acks this packet is faulty, because
    /// this packet was not sent yet.
    next: Sequence,
    /// The first packet of the range that was read last, and the oldest packet of the window. `None` before
    /// the first range is read.
    above: Option<(Sequence, Sequence)>,
    /// The first range, until the iterator has returned it.
    newest: Option<AckRange>,
    /// Whether the list contains more ranges. Most packets have only one range.
    has_more: bool,
}

impl<'a> AckRanges<'a> {
    /// Begins to read the list of ranges that [`Received::write`] writes. The argument `next` is the number
    /// of the next packet that this side sends.
    ///
    /// # Errors
    /// Returns [`ReadError::OutOfRange`] if a range contains packets that were not sent yet, packets before
    /// the first packet, or packets beyond the window. An honest peer never writes a range with such packets.
    /// Returns [`ReadError::End`] if the input ends within the list.
    pub(crate) fn read(reader: &mut BitReader<'a>, next: Sequence) -> Result<Self, ReadError> {
        let mut ranges = Self { reader: reader.clone(), next, above: None, newest: None, has_more: false };
        ranges.newest = ranges.read_range()?;
        let mut checked = ranges.clone();
        if ranges.newest.is_some() {
            while checked.read_range()?.is_some() {
                ranges.has_more = true;
            }
        }
        *reader = checked.reader;
        Ok(ranges)
    }

    fn read_range(&mut self) -> Result<Option<AckRange>, ReadError> {
        if !self.reader.read_flag()? {
            return Ok(None);
        }
        let (last, oldest) = match self.above {
            None => {
                let wire = self.reader.read_bits(16)?;
                let newest = Sequence::from_wire(wire as u16, self.next.minus(1));
                if newest >= self.next {
                    return Err(ReadError::OutOfRange);
                }
                (newest, newest.minus(WINDOW.saturating_sub(1)))
            }
            Some((above, oldest)) => {
                let gap = self.reader.read_exp_golomb(GAP_ORDER)?;
                (below(above, gap.checked_add(2), oldest)?, oldest)
            }
        };
        let length = self.reader.read_exp_golomb(LENGTH_ORDER)?;
        let first = below(last, Some(length), oldest)?;
        self.above = Some((first, oldest));
        Ok(Some(AckRange { first, last }))
    }
}

/// Returns the packet that is `distance` packets before the packet `above`. Returns an error if the packet to
/// return is before `oldest`.
fn below(above: Sequence, distance: Option<u64>, oldest: Sequence) -> Result<Sequence, ReadError> {
    let distance = distance.filter(|&distance| distance <= above.since(oldest));
    distance.map(|distance| above.minus(distance)).ok_or(ReadError::OutOfRange)
}

impl Iterator for AckRanges<'_> {
    type Item = AckRange;

    fn next(&mut self) -> Option<AckRange> {
        if let Some(newest) = self.newest.take() {
            return Some(newest);
        }
        // The function `read` has read all ranges without an error, so no error can occur now.
        if self.has_more { self.read_range().ok().flatten() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn seq(number: u64) -> Sequence {
        Sequence::new(number)
    }

    /// Writes the acks of `received` and reads them again. `exchange` returns the packets that were acked,
    /// and how many bits the acks took.
    fn exchange(received: &Received, max_bits: usize, next: Sequence) -> (Vec<u64>, usize) {
        let mut writer = BitWriter::new();
        received.write(&mut writer, max_bits);
        let bits = writer.bit_len();
        let bytes = writer.finish().to_vec();
        let mut reader = BitReader::new(&bytes);
        let ranges = AckRanges::read(&mut reader, next).expect("own acks are read");
        assert_eq!(reader.position(), bits, "the reader stops where the writer did");
        (flatten(ranges), bits)
    }

    fn flatten(ranges: impl Iterator<Item = AckRange>) -> Vec<u64> {
        ranges.flat_map(|range| (range.first.number()..=range.last.number()).rev()).collect()
    }

    fn read(write: impl FnOnce(&mut BitWriter), next: u64) -> Result<Vec<u64>, ReadError> {
        let mut writer = BitWriter::new();
        write(&mut writer);
        let bytes = writer.finish().to_vec();
        AckRanges::read(&mut BitReader::new(&bytes), seq(next)).map(flatten)
    }

    #[test]
    fn nothing_to_ack_is_one_bit() {
        let received = Received::default();
        assert!(received.ranges().next().is_none());
        assert_eq!(received.newest(), None);
        assert_eq!(exchange(&received, usize::MAX, seq(0)), (vec![], 1));
    }

    #[test]
    fn a_short_row_takes_the_bits_the_module_promises() {
        let mut received = Received::default();
        for number in 10..14 {
            received.insert(seq(number));
        }
        assert_eq!(exchange(&received, usize::MAX, seq(14)), (vec![13, 12, 11, 10], 21));
    }

    #[test]
    fn r07_a_duplicate_is_distinguished_from_a_late_packet_and_acked_again() {
        let mut received = Received::default();
        assert_eq!(received.insert(seq(5)), Arrival::New);
        assert_eq!(received.insert(seq(3)), Arrival::New);
        assert_eq!(received.insert(seq(3)), Arrival::Duplicate);
        assert_eq!(received.insert(seq(4)), Arrival::New);
        assert_eq!(exchange(&received, usize::MAX, seq(9)).0, [5, 4, 3]);
    }

    #[test]
    fn r07_a_tick_of_560_packets_is_acked_whole() {
        let mut received = Received::default();
        for number in (100..660).filter(|number| number % 50 != 0) {
            received.insert(seq(number));
        }
        let (acked, bits) = exchange(&received, usize::MAX, seq(660));
        assert_eq!(acked.len(), 560 - 12);
        assert!(bits < 200, "{bits} bits");
    }

    #[test]
    fn r06_a_packet_behind_the_window_is_too_old() {
        let mut received = Received::default();
        received.insert(seq(2_000));
        assert_eq!(received.check(seq(2_001 - WINDOW)), Arrival::New);
        assert_eq!(received.insert(seq(2_000 - WINDOW)), Arrival::TooOld);
        assert_eq!(exchange(&received, usize::MAX, seq(2_001)).0, [2_000]);
    }

    #[test]
    fn r06_bursts_at_the_edges_of_words_and_window_leave_no_ghosts() {
        for burst in [1, 63, 64, 65, 255, 256, 257, 1_022, 1_023, 1_024, 1_025, 5_000] {
            let mut received = Received::default();
            for number in 0..1_024 {
                received.insert(seq(number));
            }
            let newest = 1_024 + burst;
            assert_eq!(received.insert(seq(newest)), Arrival::New);
            let kept = (newest + 1).saturating_sub(WINDOW)..1_024;
            let expected: Vec<u64> = std::iter::once(newest).chain(kept.rev()).collect();
            assert_eq!(exchange(&received, usize::MAX, seq(newest + 1)).0, expected, "burst of {burst}");
        }
    }

    #[test]
    fn packets_before_the_floor_are_neither_acked_nor_accepted() {
        let mut received = Received::default();
        for number in [1, 2, 5, 6] {
            received.insert(seq(number));
        }
        received.forget_below(seq(6));
        received.forget_below(seq(2));
        assert_eq!(exchange(&received, usize::MAX, seq(9)).0, [6]);
        assert_eq!(received.insert(seq(4)), Arrival::TooOld);
        received.forget_below(seq(20));
        assert!(received.ranges().next().is_none());
        assert_eq!(received.insert(seq(20)), Arrival::New);
        assert_eq!(exchange(&received, usize::MAX, seq(21)).0, [20]);
    }

    #[test]
    fn acks_cross_the_wrap_of_the_wire_form() {
        let mut received = Received::default();
        for number in 65_000..66_000 {
            received.insert(seq(number));
        }
        let (acked, _) = exchange(&received, usize::MAX, seq(66_003));
        assert_eq!(acked, (65_000..66_000).rev().collect::<Vec<_>>());
    }

    #[test]
    fn an_ack_of_a_packet_not_sent_is_refused() {
        let one = |newest: u64| {
            move |writer: &mut BitWriter| {
                writer.write_flag(true);
                writer.write_bits(newest, 16);
                writer.write_exp_golomb(0, LENGTH_ORDER);
                writer.write_flag(false);
            }
        };
        assert_eq!(read(one(41), 42), Ok(vec![41]));
        assert_eq!(read(one(42), 42), Err(ReadError::OutOfRange));
        assert_eq!(read(one(65_535), 42), Err(ReadError::OutOfRange));
        assert_eq!(read(one(0), 0), Err(ReadError::OutOfRange));
    }

    #[test]
    fn ranges_below_zero_or_behind_the_window_are_refused() {
        let two = |length: u64, gap: u64, second: u64| {
            move |writer: &mut BitWriter| {
                writer.write_flag(true);
                writer.write_bits(3_000, 16);
                writer.write_exp_golomb(length, LENGTH_ORDER);
                writer.write_flag(true);
                writer.write_exp_golomb(gap, GAP_ORDER);
                writer.write_exp_golomb(second, LENGTH_ORDER);
                writer.write_flag(false);
            }
        };
        assert_eq!(read(two(0, 0, 1_021), 3_001).map(|acked| acked.len()), Ok(1_023));
        assert_eq!(read(two(0, 0, 1_022), 3_001), Err(ReadError::OutOfRange));
        assert_eq!(read(two(0, 1_021, 0), 3_001).map(|acked| acked.len()), Ok(2));
        assert_eq!(read(two(0, 1_022, 0), 3_001), Err(ReadError::OutOfRange));
        assert_eq!(read(two(1_024, 0, 0), 3_001), Err(ReadError::OutOfRange));
        assert_eq!(read(two(0, u64::MAX - 1, 0), 3_001), Err(ReadError::OutOfRange));
        let from_the_first = |length: u64| {
            move |writer: &mut BitWriter| {
                writer.write_flag(true);
                writer.write_bits(3, 16);
                writer.write_exp_golomb(length, LENGTH_ORDER);
                writer.write_flag(false);
            }
        };
        assert_eq!(read(from_the_first(3), 4), Ok(vec![3, 2, 1, 0]));
        assert_eq!(read(from_the_first(4), 4), Err(ReadError::OutOfRange));
    }

    #[test]
    fn too_few_bits_keep_the_newest_ranges() {
        let mut received = Received::default();
        for number in (0..200).step_by(2) {
            received.insert(seq(number));
        }
        let (all, all_bits) = exchange(&received, usize::MAX, seq(200));
        for max_bits in 0..=all_bits {
            let (acked, bits) = exchange(&received, max_bits, seq(200));
            assert!(bits <= max_bits.max(1));
            assert_eq!(acked, all[..acked.len()], "at {max_bits} bits");
        }
        assert_eq!(exchange(&received, all_bits, seq(200)).0.len(), 100);
        assert_eq!(exchange(&received, all_bits - 1, seq(200)).0.len(), 99);
    }

    /// A naive model of the record of packets, which stores the number of every packet that has arrived.
    #[derive(Default)]
    struct Naive {
        arrived: BTreeSet<u64>,
        floor: u64,
    }

    impl Naive {
        fn oldest(&self) -> u64 {
            let end = self.arrived.last().map_or(0, |newest| newest + 1);
            self.floor.max(end.saturating_sub(WINDOW))
        }

        fn insert(&mut self, number: u64) -> Arrival {
            if number < self.oldest() {
                Arrival::TooOld
            } else if self.arrived.insert(number) {
                Arrival::New
            } else {
                Arrival::Duplicate
            }
        }

        fn acked(&self) -> Vec<u64> {
            self.arrived.range(self.oldest()..).rev().copied().collect()
        }
    }

    /// Generates distances from the newest packet. Most of the distances are small, and some are longer than
    /// a word of 64 packets or than the window. The generated flag says whether to move the floor (the oldest
    /// packet that is still acked).
    fn step() -> impl Strategy<Value = (bool, i64)> {
        let distance = prop_oneof![8 => -20_i64..20, 2 => -1_100_i64..200, 1 => -100_i64..3_000];
        (prop::bool::weighted(0.95), distance)
    }

    proptest! {
        #[test]
        fn r07_the_record_and_its_wire_form_equal_a_naive_set(
            start in prop_oneof![0_u64..200, 65_000_u64..66_000, Just(1_u64 << 40)],
            steps in prop::collection::vec(step(), 1..300),
        ) {
            let (mut received, mut naive) = (Received::default(), Naive::default());
            let mut newest = start;
            for (is_packet, distance) in steps {
                let number = newest.saturating_add_signed(distance);
                if is_packet {
                    let expected = naive.insert(number);
                    prop_assert_eq!(received.check(seq(number)), expected);
                    prop_assert_eq!(received.insert(seq(number)), expected);
                    newest = newest.max(number);
                } else {
                    received.forget_below(seq(number));
                    naive.floor = naive.floor.max(number);
                }
                let expected = naive.acked();
                prop_assert_eq!(received.ranges().next().is_none(), expected.is_empty());
                let next = seq(newest + 1 + expected.len() as u64 % 7);
                prop_assert_eq!(exchange(&received, usize::MAX, next).0, expected);
            }
            prop_assert_eq!(received.newest().map(Sequence::number), naive.arrived.last().copied());
        }

        #[test]
        fn any_bytes_are_ranges_in_order_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..40), next in 0_u64..70_000) {
            let mut reader = BitReader::new(&bytes);
            if let Ok(ranges) = AckRanges::read(&mut reader, seq(next)) {
                let mut above = next;
                let mut newest = None;
                for range in ranges {
                    prop_assert!(range.first <= range.last);
                    prop_assert!(range.last.number() < above);
                    above = range.first.number();
                    prop_assert!(*newest.get_or_insert(range.last.number()) - above < WINDOW);
                }
            }
        }
    }
}
