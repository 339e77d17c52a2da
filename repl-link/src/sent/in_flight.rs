//! The record of each packet that was sent, which is stored until it is known whether the packet has arrived
//! (R4, R6).
//!
//! *Invariant:* a packet is acked or declared lost only one time. The record of a packet is stored until all
//! older packets are acked or declared lost, because the content of a lost packet is compared with all
//! packets sent after it.

use std::collections::VecDeque;
use std::time::Duration;

use repl_core::__private::{preload, preload_all};

use super::payload::Record;
use crate::frame::message::SentMessage;
use crate::frame::sequence::Sequence;
use crate::spare::{Holds, Spare, shrink_sparse};

/// Whether a packet has arrived at the peer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Delivery {
    /// The packet may still arrive.
    #[default]
    Unknown,
    /// The packet was acknowledged.
    Arrived,
    /// The packet counts as lost.
    Lost,
}

/// The record of one packet.
#[derive(Debug, Default)]
pub struct SentPacket<R> {
    delivery: Delivery,
    /// Whether the ack of the packet must be reported: the body waits for it, or the packet contains a
    /// message.
    is_awaited: bool,
    pub(crate) sent_at: Duration,
    pub(crate) bytes: usize,
    /// The approximate number of bytes of memory that this record took when the packet was sent.
    held_bytes: usize,
    /// The messages in the packet.
    pub messages: Vec<SentMessage>,
    /// The record of the body.
    pub body: R,
}

/// The records are boxed, because they are moved several times, and moving a pointer is cheap.
impl<R: Record> Holds for Box<SentPacket<R>> {
    fn held_bytes(&self) -> usize {
        size_of::<SentPacket<R>>() + self.message_bytes() + self.body.buffer_bytes()
    }
}

impl<R: Record> SentPacket<R> {
    /// Returns whether the other side must ack the packet.
    pub fn elicits_ack(&self) -> bool {
        !self.body.is_empty() || !self.messages.is_empty()
    }

    fn message_bytes(&self) -> usize {
        self.messages.capacity() * size_of::<SentMessage>()
    }

    fn recycle(&mut self) {
        self.delivery = Delivery::Unknown;
        self.bytes = 0;
        self.held_bytes = 0;
        self.messages.clear();
        self.body.clear();
    }
}

/// The records of the packets of a connection. The first record is for the oldest packet that is neither
/// acked nor declared lost.
#[derive(Debug)]
pub struct InFlight<R> {
    records: VecDeque<Box<SentPacket<R>>>,
    first: u64,
    unresolved: usize,
    bytes: usize,
    /// The approximate number of bytes of memory that all records take.
    held_bytes: usize,
    spare: Spare<Box<SentPacket<R>>>,
}

impl<R: Record> Default for InFlight<R> {
    fn default() -> Self {
        Self {
            records: VecDeque::new(),
            first: 0,
            unresolved: 0,
            bytes: 0,
            held_bytes: 0,
            spare: Spare::default(),
        }
    }
}

impl<R: Record> InFlight<R> {
    /// Returns an empty list. The next packet has the number `first`.
    pub fn new(first: Sequence) -> Self {
        Self { first: first.number(), ..Self::default() }
    }

    /// Returns the number of packets that the peer must ack and that are neither acked nor declared lost.
    pub fn unresolved(&self) -> usize {
        self.unresolved
    }

    /// Returns the total number of bytes of all packets that have a record.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns about how many bytes of memory the records and the spare buffers occupy. Costs O(1).
    pub fn held_bytes(&self) -> usize {
        self.held_bytes + self.spare.held_bytes()
    }

    /// Frees the spare records, which are stored for reuse.
    pub fn free_spare(&mut self) {
        self.spare.clear();
    }

    /// Returns the number of records. There is a record for the oldest packet that is neither acked nor
    /// declared lost, and for each later packet.
    pub fn packets(&self) -> usize {
        self.records.len()
    }

    /// Returns the number of the oldest packet that is neither acked nor declared lost. If there is no such
    /// packet, returns the number of the next packet.
    pub fn floor(&self) -> Sequence {
        Sequence::new(self.first)
    }

    /// Returns an empty record that reuses the buffers of an old record.
    pub fn blank(&mut self) -> Box<SentPacket<R>> {
        self.spare.take()
    }

    /// Loads into the processor cache the lists of records that the next packet changes.
    pub fn preload_lists(&self) {
        self.spare.next().into_iter().for_each(preload);
        self.records.back().into_iter().for_each(preload);
    }

    /// Loads into the processor cache the record that the next packet reuses. Call it some time after
    /// [`preload_lists`](Self::preload_lists), because it reads the lists.
    pub fn preload_next(&self) {
        self.spare.next().into_iter().for_each(|record| preload_all(&**record));
    }

    /// Loads into the processor cache the lists of records that the next ack changes.
    pub fn preload_ends(&self) {
        self.records.front().into_iter().for_each(preload);
        self.spare.next().into_iter().for_each(preload);
    }

    /// Loads into the processor cache the record of the oldest packet in flight, because the next ack
    /// probably reads it. Call it some time after [`preload_ends`](Self::preload_ends).
    pub fn preload_oldest(&self) {
        self.records.front().into_iter().for_each(|record| preload_all(&**record));
    }

    /// Appends the record of the next packet. Returns whether the other side must ack the packet.
    pub fn push(&mut self, mut record: Box<SentPacket<R>>) -> bool {
        self.bytes += record.bytes;
        record.held_bytes = size_of::<SentPacket<R>>() + record.message_bytes() + record.body.content_bytes();
        record.is_awaited = !record.messages.is_empty() || record.body.is_awaited();
        self.held_bytes += record.held_bytes;
        let elicits_ack = record.elicits_ack();
        if elicits_ack {
            self.unresolved += 1;
            self.records.push_back(record);
        } else {
            record.delivery = Delivery::Arrived;
            self.records.push_back(record);
            self.trim();
        }
        elicits_ack
    }

    fn at(&self, sequence: Sequence) -> Option<usize> {
        usize::try_from(sequence.number().checked_sub(self.first)?).ok().filter(|&at| at < self.records.len())
    }

    /// Returns the record of a packet, if its body or a message waits for the ack.
    pub fn awaited(&self, sequence: Sequence) -> Option<&SentPacket<R>> {
        self.get(sequence).filter(|record| record.is_awaited)
    }

    /// Returns the record of a packet. Returns `None` if the packet has no record.
    pub fn get(&self, sequence: Sequence) -> Option<&SentPacket<R>> {
        self.records.get(self.at(sequence)?).map(|record| &**record)
    }

    /// Returns the record of a packet for changes. Returns `None` if the packet has no record.
    pub fn get_mut(&mut self, sequence: Sequence) -> Option<&mut SentPacket<R>> {
        let at = self.at(sequence)?;
        self.records.get_mut(at).map(|record| &mut **record)
    }

    /// Returns the bodies of the packets from `first` on that are not known to be lost, in ascending order.
    pub fn not_lost_since(&self, first: Sequence) -> impl Iterator<Item = (Sequence, &R)> {
        let start = self.at(first).unwrap_or(self.records.len());
        let records = self.records.range(start..).zip(self.first + start as u64..);
        let others = records.filter(|(record, _)| record.delivery != Delivery::Lost);
        others.map(|(record, number)| (Sequence::new(number), &record.body))
    }

    /// Returns the packets that may still arrive, in ascending order, each with the time when it was sent.
    pub fn unknown(&self) -> impl Iterator<Item = (Sequence, Duration)> {
        let unknown =
            self.records.iter().zip(self.first..).filter(|(record, _)| record.delivery == Delivery::Unknown);
        unknown.map(|(record, number)| (Sequence::new(number), record.sent_at))
    }

    /// Returns the packets that may still arrive and were sent by the time `end`, in ascending order.
    pub fn sent_by(&self, end: Duration) -> impl Iterator<Item = (Sequence, &SentPacket<R>)> {
        let sent = self.records.iter().zip(self.first..).take_while(move |(record, _)| record.sent_at <= end);
        let unknown = sent.filter(|(record, _)| record.delivery == Delivery::Unknown);
        unknown.map(|(record, number)| (Sequence::new(number), &**record))
    }

    /// Records that a packet was acked or declared lost. Returns the size of the packet in bytes, or `None`
    /// if the packet was already acked or declared lost.
    pub fn resolve(&mut self, sequence: Sequence, delivery: Delivery) -> Option<usize> {
        let at = self.at(sequence)?;
        let record = self.records.get_mut(at)?;
        if record.delivery != Delivery::Unknown {
            return None;
        }
        record.delivery = delivery;
        self.unresolved = self.unresolved.saturating_sub(1);
        Some(record.bytes)
    }

    /// Removes the messages for which `is_outdated` returns true from the records. Acks and losses of packets
    /// then no longer affect these messages.
    pub fn forget_messages(&mut self, is_outdated: impl Fn(&SentMessage) -> bool) {
        for record in &mut self.records {
            record.messages.retain(|message| !is_outdated(message));
        }
    }

    /// Drops the records before the oldest packet that is neither acked nor declared lost.
    pub fn trim(&mut self) {
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
    pub fn end_round(&mut self) {
        self.spare.end_round();
        shrink_sparse(&mut self.records);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the record of a packet of 100 bytes with a message.
    fn record() -> Box<SentPacket<()>> {
        let messages = vec![SentMessage { channel: 0, number: 0, part: 0 }];
        Box::new(SentPacket { bytes: 100, messages, ..SentPacket::default() })
    }

    #[test]
    fn r06_bytes_count_until_a_packet_and_all_before_it_are_resolved() {
        let mut in_flight = InFlight::new(Sequence::new(0));
        (0..3).for_each(|_| _ = in_flight.push(record()));
        assert_eq!((in_flight.bytes(), in_flight.unresolved(), in_flight.packets()), (300, 3, 3));
        assert_eq!(in_flight.resolve(Sequence::new(1), Delivery::Arrived), Some(100));
        in_flight.trim();
        assert_eq!((in_flight.bytes(), in_flight.unresolved(), in_flight.packets()), (300, 2, 3));
        in_flight.resolve(Sequence::new(0), Delivery::Lost);
        in_flight.trim();
        assert_eq!((in_flight.bytes(), in_flight.unresolved(), in_flight.packets()), (100, 1, 1));
        in_flight.resolve(Sequence::new(2), Delivery::Arrived);
        in_flight.trim();
        assert_eq!((in_flight.bytes(), in_flight.unresolved(), in_flight.packets()), (0, 0, 0));
    }
}
