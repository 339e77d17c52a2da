//! A record of the content of each packet, which is kept until the sender knows whether the packet arrived
//! (R4, R6).
//!
//! *Invariant:* a packet is acked or declared lost only one time. The record of a packet is kept until all
//! older packets are acked or declared lost, because the content of a lost packet is compared with all
//! packets sent after it.

use std::collections::VecDeque;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use repl_core::__private::{preload, preload_all};
use repl_core::Changelist;

use super::copied::Copied;
use super::message::SentMessage;
use super::segment::Segment;
use super::sequence::Sequence;
use super::slot_set::{SlotSet, bit_of, slots_of, word_of};
use super::spare::{Holds, Spare, shrink_sparse};

/// What one packet contains about one object outside the shared segments.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) slot: u32,
    pub(crate) generation: NonZeroU32,
    pub(crate) content: Content,
}

/// What a packet contains about one object.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// The values of the properties in this changelist, which changed.
    Update(Changelist),
    /// The opening (the update that creates the object on the client), with the properties in this
    /// changelist.
    Open(Changelist),
    /// The owner flag and the role of the client for the object.
    Proxy,
    /// A part of a blob (an update that is too large for one packet).
    Fragment { blob: u32, index: u32 },
}

impl Content {
    /// Returns the changelist of the properties whose values were sent, or `None` if the content has no
    /// values.
    pub(crate) fn list(&self) -> Option<&Changelist> {
        match self {
            Self::Update(list) | Self::Open(list) => Some(list),
            Self::Proxy | Self::Fragment { .. } => None,
        }
    }
}

/// Whether a packet has arrived at the peer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Delivery {
    #[default]
    Unknown,
    Arrived,
    Lost,
}

/// The record of the content of one packet.
#[derive(Debug, Default)]
pub(crate) struct Record {
    pub(crate) delivery: Delivery,
    /// Whether something waits for the ack of the packet: an object, a message or new elements.
    is_awaited: bool,
    pub(crate) sent_at: Duration,
    pub(crate) bytes: usize,
    /// About how many bytes of memory the record took when the packet was sent.
    held_bytes: usize,
    pub(crate) contents: Contents,
}

/// Records are boxed, because they are moved several times.
impl Holds for Box<Record> {
    fn held_bytes(&self) -> usize {
        size_of::<Record>() + self.contents.buffer_bytes()
    }
}

/// What a packet contains.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    pub(crate) shared: Vec<Arc<Segment>>,
    /// The entries that were copied from tables.
    pub(crate) copied: Copied,
    pub(crate) sent: Vec<Sent>,
    /// The objects that the packet creates on the client and that were pending spawns, as masks of words.
    pub(crate) opened: Vec<(usize, u64)>,
    /// The objects that the packet removes from the client, as masks of words.
    pub(crate) closed: Vec<(usize, u64)>,
    pub(crate) messages: Vec<SentMessage>,
}

impl Contents {
    /// Records that the packet removes the object in `slot` from the client.
    pub(crate) fn close(&mut self, slot: u32) {
        let (word, bit) = (word_of(slot), bit_of(slot));
        match self.closed.last_mut() {
            Some((last, mask)) if *last == word => *mask |= bit,
            _ => self.closed.push((word, bit)),
        }
    }

    /// Returns about how many bytes of memory the contents take: their buffers, the changelists, and the
    /// shared segments. The memory of a shared segment is counted in each record that contains the segment.
    /// Costs O(contents).
    fn content_bytes(&self) -> usize {
        let shared = self.shared.iter().map(|segment| segment.held_bytes());
        let lists = self.sent.iter().filter_map(|sent| sent.content.list()).map(Changelist::heap_bytes);
        self.buffer_bytes() + shared.sum::<usize>() + self.copied.entry_bytes() + lists.sum::<usize>()
    }

    /// Returns about how many bytes of memory the buffers take, without the changelists and segments in them.
    /// Costs O(1).
    fn buffer_bytes(&self) -> usize {
        self.shared.capacity() * size_of::<Arc<Segment>>()
            + self.copied.buffer_bytes()
            + self.sent.capacity() * size_of::<Sent>()
            + (self.opened.capacity() + self.closed.capacity()) * size_of::<(usize, u64)>()
            + self.messages.capacity() * size_of::<SentMessage>()
    }

    /// Returns whether something waits for the ack of a packet with these contents. Nothing waits for the ack
    /// of shared updates without new elements of collections.
    fn are_awaited(&self) -> bool {
        let is_of_objects = !self.sent.is_empty() || !self.opened.is_empty() || !self.closed.is_empty();
        is_of_objects
            || !self.messages.is_empty()
            || self.shared.iter().any(|segment| segment.has_new_elements())
            || self.copied.has_new_elements()
    }

    fn is_empty(&self) -> bool {
        let is_without_objects = self.shared.is_empty()
            && self.copied.is_empty()
            && self.sent.is_empty()
            && self.opened.is_empty()
            && self.closed.is_empty();
        is_without_objects && self.messages.is_empty()
    }

    /// Calls `visit` with each changelist of values that the packet contains for an object in `slots`.
    fn visit_lists(&self, slots: &SlotSet, mut visit: impl FnMut(u32, NonZeroU32, &Changelist)) {
        for segment in &self.shared {
            let found =
                segment.masks.iter().flat_map(|(word, mask)| slots_of(*word, mask & slots.word(*word)));
            for entry in found.filter_map(|slot| segment.entry(slot)) {
                visit(entry.slot, entry.generation, entry.list);
            }
        }
        for entry in self.copied.entries().filter(|entry| slots.contains(entry.slot)) {
            visit(entry.slot, entry.generation, entry.list);
        }
        for sent in self.sent.iter().filter(|sent| slots.contains(sent.slot)) {
            if let Some(list) = sent.content.list() {
                visit(sent.slot, sent.generation, list);
            }
        }
    }
}

impl Record {
    /// Returns whether the client must ack the packet (R8).
    pub(crate) fn elicits_ack(&self) -> bool {
        !self.contents.is_empty()
    }

    fn recycle(&mut self) {
        self.delivery = Delivery::Unknown;
        self.bytes = 0;
        self.held_bytes = 0;
        self.contents.shared.clear();
        self.contents.copied.clear();
        self.contents.sent.clear();
        self.contents.opened.clear();
        self.contents.closed.clear();
        self.contents.messages.clear();
    }
}

/// The records of the packets of a connection. The first record is for the oldest packet that is neither
/// acked nor declared lost.
#[derive(Debug, Default)]
pub(crate) struct InFlight {
    records: VecDeque<Box<Record>>,
    first: u64,
    unresolved: usize,
    bytes: usize,
    /// About how many bytes of memory all records take.
    held_bytes: usize,
    spare: Spare<Box<Record>>,
}

impl InFlight {
    pub(crate) fn new(first: Sequence) -> Self {
        Self { first: first.number(), ..Self::default() }
    }

    /// Returns the number of packets that the peer must ack and that are neither acked nor declared lost.
    pub(crate) fn unresolved(&self) -> usize {
        self.unresolved
    }

    /// Returns the number of bytes of all packets that have a record.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns about how many bytes of memory the records and the spare buffers take. Costs O(1).
    pub(crate) fn held_bytes(&self) -> usize {
        self.held_bytes + self.spare.held_bytes()
    }

    /// Frees the spare records, which are kept for reuse.
    pub(crate) fn free_spare(&mut self) {
        self.spare.clear();
    }

    /// Returns the number of records. This is the number of packets from the oldest packet on that is neither
    /// acked nor declared lost.
    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    /// Returns the number of the oldest packet that is neither acked nor declared lost, or of the next packet
    /// if there is none.
    pub(crate) fn floor(&self) -> Sequence {
        Sequence::new(self.first)
    }

    /// Returns an empty record that reuses the buffers of an old record.
    pub(crate) fn blank(&mut self) -> Box<Record> {
        self.spare.take()
    }

    /// Preloads the lists of records, which the next packet changes.
    pub(crate) fn preload_lists(&self) {
        self.spare.next().into_iter().for_each(preload);
        self.records.back().into_iter().for_each(preload);
    }

    /// Preloads the record that the next packet reuses. Call it some time after
    /// [`preload_lists`](Self::preload_lists).
    pub(crate) fn preload_next(&self) {
        self.spare.next().into_iter().for_each(|record| preload_all(&**record));
    }

    /// Preloads the lists of records, which the next ack changes.
    pub(crate) fn preload_ends(&self) {
        self.records.front().into_iter().for_each(preload);
        self.spare.next().into_iter().for_each(preload);
    }

    /// Preloads the record of the oldest packet in flight, which the next ack probably reads. Call it some
    /// time after [`preload_ends`](Self::preload_ends).
    pub(crate) fn preload_oldest(&self) {
        self.records.front().into_iter().for_each(|record| preload_all(&**record));
    }

    /// Appends the record of the next packet.
    pub(crate) fn push(&mut self, mut record: Box<Record>) {
        self.bytes += record.bytes;
        record.held_bytes = size_of::<Record>() + record.contents.content_bytes();
        record.is_awaited = record.contents.are_awaited();
        self.held_bytes += record.held_bytes;
        if record.elicits_ack() {
            self.unresolved += 1;
            self.records.push_back(record);
        } else {
            record.delivery = Delivery::Arrived;
            self.records.push_back(record);
            self.trim();
        }
    }

    fn at(&self, sequence: Sequence) -> Option<usize> {
        usize::try_from(sequence.number().checked_sub(self.first)?).ok().filter(|&at| at < self.records.len())
    }

    /// Returns whether something waits for the ack of a packet: an object, a message or new elements.
    pub(crate) fn is_awaited(&self, sequence: Sequence) -> bool {
        self.at(sequence).and_then(|at| self.records.get(at)).is_some_and(|record| record.is_awaited)
    }

    /// Takes the contents out of the record of a packet, so that the caller can process them.
    /// [`put_contents`](Self::put_contents) must put the contents back afterwards, because the contents of
    /// earlier packets are compared with them if the earlier packets are lost later.
    pub(crate) fn take_contents(&mut self, sequence: Sequence) -> Option<Contents> {
        let at = self.at(sequence)?;
        Some(std::mem::take(&mut self.records.get_mut(at)?.contents))
    }

    pub(crate) fn put_contents(&mut self, sequence: Sequence, contents: Contents) {
        if let Some(record) = self.at(sequence).and_then(|at| self.records.get_mut(at)) {
            record.contents = contents;
        }
    }

    /// Returns the packets that may still arrive, in ascending order, each with the time when it was sent.
    pub(crate) fn unknown(&self) -> impl Iterator<Item = (Sequence, Duration)> {
        let unknown =
            self.records.iter().zip(self.first..).filter(|(record, _)| record.delivery == Delivery::Unknown);
        unknown.map(|(record, number)| (Sequence::new(number), record.sent_at))
    }

    /// Returns the packets that may still arrive and were sent by the time `end`, with their contents, in
    /// ascending order.
    pub(crate) fn sent_by(&self, end: Duration) -> impl Iterator<Item = (Sequence, &Contents)> {
        let sent = self.records.iter().zip(self.first..).take_while(move |(record, _)| record.sent_at <= end);
        let unknown = sent.filter(|(record, _)| record.delivery == Delivery::Unknown);
        unknown.map(|(record, number)| (Sequence::new(number), &record.contents))
    }

    /// Returns when a packet was sent, if there is a record of it.
    pub(crate) fn sent_at(&self, sequence: Sequence) -> Option<Duration> {
        Some(self.records.get(self.at(sequence)?)?.sent_at)
    }

    /// Records that a packet was acked or declared lost. Returns the size of the packet in bytes, or `None`
    /// if the packet was already acked or declared lost.
    pub(crate) fn resolve(&mut self, sequence: Sequence, delivery: Delivery) -> Option<usize> {
        let at = self.at(sequence)?;
        let record = self.records.get_mut(at)?;
        if record.delivery != Delivery::Unknown {
            return None;
        }
        record.delivery = delivery;
        self.unresolved = self.unresolved.saturating_sub(1);
        Some(record.bytes)
    }

    /// Drops the records before the oldest packet that is neither acked nor declared lost.
    pub(crate) fn trim(&mut self) {
        while self.records.front().is_some_and(|record| record.delivery != Delivery::Unknown) {
            let Some(mut record) = self.records.pop_front() else { break };
            self.first += 1;
            self.bytes -= record.bytes;
            self.held_bytes -= record.held_bytes;
            record.recycle();
            self.spare.put(record);
        }
    }

    /// Frees memory that was not needed recently.
    pub(crate) fn end_round(&mut self) {
        self.spare.end_round();
        shrink_sparse(&mut self.records);
    }

    /// Subtracts from the lost changelists of each object the changelists of all later packets that are not
    /// known to be lost (R4).
    ///
    /// Visits each packet once for all objects, so the cost is O(lost changelists + packets in flight +
    /// objects that later packets sent alone or from tables).
    pub(crate) fn subtract_later(&self, lost: &mut [LostObject]) {
        debug_assert!(lost.is_sorted_by(|one, other| one.slot < other.slot), "each object once");
        let mut slots = SlotSet::default();
        lost.iter().for_each(|lost| slots.insert(lost.slot));
        let earliest = lost.iter().filter_map(|lost| lost.lists.front().map(|(sequence, _)| *sequence)).min();
        let start = earliest.and_then(|sequence| self.at(sequence)).unwrap_or(self.records.len());
        for (record, number) in self.records.range(start..).zip(self.first + start as u64..) {
            if record.delivery == Delivery::Lost {
                continue;
            }
            record.contents.visit_lists(&slots, |slot, generation, later| {
                if let Ok(at) = lost.binary_search_by_key(&slot, |lost| lost.slot)
                    && let Some(lost) = lost.get_mut(at)
                    && lost.generation == generation
                {
                    lost.subtract(Sequence::new(number), later);
                }
            });
        }
    }
}

/// The changes of one object in packets that were declared lost together.
#[derive(Debug)]
pub(crate) struct LostObject {
    pub(crate) slot: u32,
    pub(crate) generation: NonZeroU32,
    /// The lost changelists, each with its packet, in ascending order of the packets.
    pub(crate) lists: VecDeque<(Sequence, Changelist)>,
    /// The changes that remain of the changelists that were compared with later packets. Changelists with
    /// common properties are merged.
    left: Vec<Changelist>,
}

impl LostObject {
    pub(crate) fn new(slot: u32, generation: NonZeroU32) -> Self {
        Self { slot, generation, lists: VecDeque::new(), left: Vec::new() }
    }

    /// Moves the changelists of lost packets before the packet `end` to `left`.
    fn advance(&mut self, end: Sequence) {
        while self.lists.front().is_some_and(|(sequence, _)| *sequence < end) {
            let Some((_, list)) = self.lists.pop_front() else { break };
            // The parts of one long changelist stay separate, because most later changelists have changes in
            // common with only a few parts.
            match self.left.iter_mut().rfind(|earlier| earlier.may_meet(&list)) {
                Some(earlier) => earlier.merge(&list),
                None => self.left.push(list),
            }
        }
    }

    /// Subtracts the changelist `later` of the packet `sequence` from the changelists of lost packets before
    /// this packet.
    fn subtract(&mut self, sequence: Sequence, later: &Changelist) {
        self.advance(sequence);
        self.left.iter_mut().for_each(|list| list.subtract(later));
        self.left.retain(|list| !list.is_empty());
    }

    /// Returns one changelist with all changes that remain of the lost changelists.
    pub(crate) fn into_list(mut self) -> Changelist {
        self.left.extend(self.lists.into_iter().map(|(_, list)| list));
        Changelist::merged(self.left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: NonZeroU32 = NonZeroU32::MIN;
    const SECOND: NonZeroU32 = FIRST.saturating_add(1);

    fn list(handles: &[u32]) -> Changelist {
        let mut list = Changelist::new();
        handles.iter().for_each(|&handle| list.insert(handle));
        list
    }

    /// Returns the record of a packet of 100 bytes that contains the handles `handles` of the object in slot
    /// 7.
    fn record(generation: NonZeroU32, handles: &[u32]) -> Box<Record> {
        let sent = Sent { slot: 7, generation, content: Content::Update(list(handles)) };
        let contents = Contents { sent: vec![sent], ..Contents::default() };
        Box::new(Record { bytes: 100, contents, ..Record::default() })
    }

    /// Returns the records of the packets 0, 1 and so on. Each packet contains the given handles.
    fn in_flight(packets: &[(NonZeroU32, &[u32])]) -> InFlight {
        let mut in_flight = InFlight::new(Sequence::new(0));
        packets.iter().for_each(|(generation, handles)| in_flight.push(record(*generation, handles)));
        in_flight
    }

    /// Returns the handles of the first object in slot 7 that are sent again when the packets `lost` are
    /// declared lost together.
    fn sent_again(in_flight: &mut InFlight, lost: &[(u64, &[u32])]) -> Changelist {
        let mut object = LostObject::new(7, FIRST);
        for (number, handles) in lost {
            let sequence = Sequence::new(*number);
            assert!(in_flight.resolve(sequence, Delivery::Lost).is_some());
            object.lists.push_back((sequence, list(handles)));
        }
        let mut objects = [object];
        in_flight.subtract_later(&mut objects);
        let [object] = objects;
        object.into_list()
    }

    #[test]
    fn r06_bytes_count_until_a_packet_and_all_before_it_are_resolved() {
        let mut in_flight = in_flight(&[(FIRST, &[1]), (FIRST, &[2]), (FIRST, &[3])]);
        assert_eq!((in_flight.bytes(), in_flight.unresolved(), in_flight.len()), (300, 3, 3));
        assert_eq!(in_flight.resolve(Sequence::new(1), Delivery::Arrived), Some(100));
        in_flight.trim();
        assert_eq!((in_flight.bytes(), in_flight.unresolved(), in_flight.len()), (300, 2, 3));
        in_flight.resolve(Sequence::new(0), Delivery::Lost);
        in_flight.trim();
        assert_eq!((in_flight.bytes(), in_flight.unresolved(), in_flight.len()), (100, 1, 1));
        in_flight.resolve(Sequence::new(2), Delivery::Arrived);
        in_flight.trim();
        assert_eq!((in_flight.bytes(), in_flight.unresolved(), in_flight.len()), (0, 0, 0));
    }

    #[test]
    fn r04_lost_changes_are_sent_again_unless_later_packets_carry_them() {
        let mut in_flight = in_flight(&[(FIRST, &[1, 2]), (FIRST, &[2, 3])]);
        assert_eq!(sent_again(&mut in_flight, &[(0, &[1, 2])]), list(&[1]));
    }

    #[test]
    fn r04_a_later_packet_that_is_lost_too_sets_nothing_off() {
        let mut in_flight = in_flight(&[(FIRST, &[1, 2]), (FIRST, &[2, 3]), (FIRST, &[1])]);
        in_flight.resolve(Sequence::new(1), Delivery::Lost);
        assert_eq!(sent_again(&mut in_flight, &[(0, &[1, 2])]), list(&[2]));
    }

    #[test]
    fn r04_an_earlier_packet_sets_nothing_off() {
        let mut in_flight = in_flight(&[(FIRST, &[3]), (FIRST, &[1, 2]), (FIRST, &[1, 2])]);
        in_flight.resolve(Sequence::new(1), Delivery::Arrived);
        assert_eq!(sent_again(&mut in_flight, &[(0, &[3]), (2, &[1, 2])]), list(&[1, 2, 3]));
    }

    #[test]
    fn r18_a_packet_of_another_object_in_the_slot_sets_nothing_off() {
        let mut in_flight = in_flight(&[(FIRST, &[1, 2]), (SECOND, &[1, 2])]);
        assert_eq!(sent_again(&mut in_flight, &[(0, &[1, 2])]), list(&[1, 2]));
    }
}
