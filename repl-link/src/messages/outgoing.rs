//! The messages that one side of a connection sends: each is stored until it is acknowledged or no longer
//! needed.
//!
//! *Invariant:* a reliable message is waiting or in flight until packets with all of it are acknowledged, so
//! it is never lost. The same holds for the mark that is sent in place of a message that was withdrawn.

use std::time::Duration;

use repl_core::BitWriter;

use crate::frame::acks::AckRange;
use crate::frame::cut::Cut;
use crate::frame::message::SentMessage;
use crate::frame::sequence::Sequence;
use crate::messages::channel::{
    ChannelConfig, MAX_BYTES, MAX_MESSAGES, MAX_UNFINISHED, SendError, held_bytes, is_bulk,
};
use crate::messages::lane::{BulkShare, ByLane, Lane};
use crate::messages::parts::cut_for;
use crate::messages::progress::Progress;
use crate::messages::recipient::{MayReceive, Recipient};
use crate::messages::sending::{SendingChannel, Stop};
use crate::messages::written::Written;
use crate::outbox::Outbox;
use crate::sent::in_flight::InFlight;
use crate::sent::late::LateLog;
use crate::sent::payload::{Payload, Record};

/// The outgoing messages of a connection.
#[derive(Debug, Default)]
pub struct Outgoing {
    channels: Vec<SendingChannel>,
    /// The messages in packets that counted as lost. `None` if all messages are acknowledged.
    declared_lost: Option<Box<LateLog<SentMessage, MAX_MESSAGES>>>,
    turns: ByLane<Turn>,
    bulk_share: BulkShare,
    /// Whether messages may be held.
    has_held: bool,
}

/// Which channel sends next in a lane.
#[derive(Clone, Copy, Debug, Default)]
struct Turn {
    /// The channel that has the next turn.
    first: u16,
    /// Whether this turn has begun already.
    resumes: bool,
}

impl Outgoing {
    /// Begins a connection with these channels. Messages of an earlier connection are dropped.
    pub fn begin(&mut self, channels: impl Iterator<Item = ChannelConfig>) {
        *self = Self { channels: channels.map(SendingChannel::new).collect(), ..Self::default() };
    }

    /// Returns about how many bytes of memory the messages take, without bulk messages. Costs O(channels).
    pub fn held_bytes(&self) -> usize {
        let stored = self.channels.iter().map(|sending| sending.stored.bytes);
        stored.fold(
            self.declared_lost.as_ref().map_or(0, |log| log.held_bytes().saturating_add(size_of_val(&**log))),
            usize::saturating_add,
        )
    }

    /// Adds a message for anyone, which is sent in the next tick. `max_bits` is the room of a packet.
    pub fn add(&mut self, channel: u16, writer: &mut BitWriter, max_bits: usize) -> Result<(), SendError> {
        self.add_for(Recipient::Anyone, channel, writer, max_bits)
    }

    /// Adds a message for a recipient, which is sent in the next tick. `max_bits` is the room of a packet.
    pub fn add_for(
        &mut self,
        recipient: Recipient,
        channel: u16,
        writer: &mut BitWriter,
        max_bits: usize,
    ) -> Result<(), SendError> {
        self.add_written(recipient, channel, &mut Written::new(writer), max_bits)
    }

    /// Adds a message for a recipient, which is sent in the next tick. Large messages share the bytes of
    /// `written` with all connections to which it is added. `max_bits` is the room of a packet.
    pub fn add_written(
        &mut self,
        recipient: Recipient,
        channel: u16,
        written: &mut Written<'_>,
        max_bits: usize,
    ) -> Result<(), SendError> {
        let sending = self.channels.get(channel as usize).ok_or(SendError::NotConnected)?;
        sending.check_size(written.bit_len())?;
        let cut = cut_for(written.bit_len(), max_bits);
        if sending.is_reliable() && !self.has_room(sending, cut) {
            return Err(SendError::Full);
        }
        if let Some(sending) = self.channels.get_mut(channel as usize) {
            sending.add(written, cut, recipient);
        }
        Ok(())
    }

    /// Returns whether a reliable channel may store one more message. A channel may store as much as all
    /// channels together leave free, so that no channel can fill the memory alone: the dynamic thresholds of
    /// Choudhury and Hahne (*Dynamic Queue Length Thresholds for Shared-Memory Packet Switches*, 1998).
    fn has_room(&self, sending: &SendingChannel, cut: Cut) -> bool {
        let reliable = self.channels.iter().filter(|sending| sending.is_reliable());
        let (bytes, large) = reliable.fold((0_usize, 0_usize), |(bytes, large), sending| {
            let stored = sending.stored;
            (bytes.saturating_add(stored.bytes), large.saturating_add(stored.large))
        });
        let (own, added) = (sending.stored, cut.bit_len.div_ceil(8));
        let has_bytes = if is_bulk(cut.bit_len) {
            own.bulk_bytes.saturating_add(added) <= sending.max_bulk_bytes()
        } else {
            own.bytes.saturating_add(held_bytes(added)) <= MAX_BYTES.saturating_sub(bytes)
        };
        sending.len() < MAX_MESSAGES
            && has_bytes
            && (cut.parts() == 1 || own.large < MAX_UNFINISHED.saturating_sub(large))
    }

    /// Checks whether a message of `bits` bits may be sent in a channel.
    pub fn check_size(&self, channel: u16, bits: usize) -> Result<(), SendError> {
        self.channels.get(channel as usize).ok_or(SendError::NotConnected)?.check_size(bits)
    }

    /// Returns how much is acknowledged of the oldest message of a channel that is larger than a packet.
    pub fn progress(&self, channel: u16) -> Option<Progress> {
        self.channels.get(channel as usize)?.progress()
    }

    /// Returns the number of the message that was added last to a reliable channel.
    pub fn newest_reliable(&self, channel: u16) -> Option<u64> {
        let sending = self.channels.get(channel as usize).filter(|sending| sending.is_reliable())?;
        sending.end().checked_sub(1)
    }

    /// Returns whether a message of a reliable channel is acknowledged, with all messages before it.
    pub fn has_arrived(&self, channel: u16, number: u64) -> bool {
        self.channels.get(channel as usize).is_none_or(|sending| number < sending.first())
    }

    /// Frees memory that few messages need. Called once in a round of ticks.
    pub fn end_round(&mut self) {
        self.channels.iter_mut().for_each(SendingChannel::shrink);
    }

    /// Begins the packets of a tick.
    pub fn begin_pass(&mut self) {
        self.channels.iter_mut().for_each(SendingChannel::begin_pass);
    }

    /// Returns whether messages wait that were not sent in this tick.
    pub fn is_waiting(&self) -> bool {
        self.waits_in(Lane::Usual) || self.waits_in(Lane::Bulk)
    }

    /// Returns whether messages wait that are not bulk and were not sent in this tick.
    pub fn is_usual_waiting(&self) -> bool {
        self.waits_in(Lane::Usual)
    }

    fn waits_in(&self, lane: Lane) -> bool {
        self.channels.iter().any(|sending| sending.is_waiting(lane))
    }

    /// Puts the waiting messages that are not bulk into packets, as far as there is room and until
    /// `budget_bits` are used up. The last message may exceed the budget. Returns how many bits the messages
    /// take.
    ///
    /// Asks `may_receive` before each message or part that is not for anyone, and withdraws a message that
    /// the other side may not receive now.
    pub fn send<P: Payload>(
        &mut self,
        outbox: &mut Outbox<P>,
        budget_bits: usize,
        may_receive: MayReceive<'_>,
        now: Duration,
    ) -> usize {
        self.send_lane(Lane::Usual, outbox, budget_bits, may_receive, now)
    }

    /// Sends what bulk messages must get of the link, before anything else of a tick is sent.
    pub fn send_bulk_share<P: Payload>(&mut self, outbox: &mut Outbox<P>, now: Duration) {
        let bits = self.send_lane(Lane::Bulk, outbox, self.bulk_share.bits(), &|_, _| true, now);
        self.bulk_share.spend(bits);
    }

    /// Sends bulk messages with the room that everything else has left in a tick. What is sent in this tick
    /// after them is only for them.
    pub fn send_bulk_rest<P: Payload>(&mut self, outbox: &mut Outbox<P>, now: Duration) {
        if !self.waits_in(Lane::Bulk) {
            self.bulk_share = BulkShare::default();
            return;
        }
        outbox.begin_rest();
        let bits = self.send_lane(Lane::Bulk, outbox, usize::MAX, &|_, _| true, now);
        self.bulk_share.spend(bits);
        self.bulk_share.earn(outbox.written_bits());
    }

    fn send_lane<P: Payload>(
        &mut self,
        lane: Lane,
        outbox: &mut Outbox<P>,
        budget_bits: usize,
        may_receive: MayReceive<'_>,
        now: Duration,
    ) -> usize {
        if budget_bits == 0 || !self.waits_in(lane) {
            return 0;
        }
        let sent_bits = self.send_in_turns(lane, outbox, budget_bits, may_receive, now);
        self.channels.iter_mut().for_each(SendingChannel::end_sending);
        sent_bits
    }

    /// Cuts the messages anew that do not fit into packets with room for `max_bits`, because packets have
    /// become smaller. Nothing that became of their earlier parts counts. Costs O(messages).
    pub fn fit<R: Record>(&mut self, max_bits: usize, in_flight: &mut InFlight<R>) {
        for (sending, channel) in self.channels.iter_mut().zip(0..) {
            let numbers = sending.fit(max_bits);
            if !numbers.is_empty() {
                in_flight.forget_messages(|message| {
                    message.channel == channel && numbers.binary_search(&message.number).is_ok()
                });
                self.declared_lost = None;
                self.has_held = true;
            }
        }
        self.release();
    }

    /// Releases messages that are held, one of each channel in turn, as far as the other side takes parts of
    /// more messages. Only messages that were cut anew are held.
    fn release(&mut self) {
        let reliable = || self.channels.iter().filter(|sending| sending.is_reliable());
        let under_way = || reliable().map(SendingChannel::under_way).fold(0, usize::saturating_add);
        let mut room = if self.has_held { MAX_UNFINISHED.saturating_sub(under_way()) } else { 0 };
        while self.has_held && room > 0 {
            self.has_held = false;
            for sending in &mut self.channels {
                if room > 0 && sending.release() {
                    (room, self.has_held) = (room.saturating_sub(1), true);
                }
            }
        }
    }

    /// The channels take turns. In each turn a channel sends as much as its weight says: deficit round robin
    /// (Shreedhar and Varghese, *Efficient Fair Queueing Using Deficit Round Robin*, 1995).
    fn send_in_turns<P: Payload>(
        &mut self,
        lane: Lane,
        outbox: &mut Outbox<P>,
        budget_bits: usize,
        may_receive: MayReceive<'_>,
        now: Duration,
    ) -> usize {
        let (count, mut sent_bits) = (self.channels.len(), 0);
        let Turn { first, mut resumes } = *self.turns.of(lane);
        while self.waits_in(lane) {
            let order = (usize::from(first)..count).chain(0..usize::from(first));
            for at in order {
                let Some(sending) = self.channels.get_mut(at).filter(|sending| sending.is_waiting(lane))
                else {
                    continue;
                };
                if !std::mem::take(&mut resumes) {
                    sending.begin_turn(lane);
                }
                let (place, budget) = ((at as u16, count as u16), (&mut sent_bits, budget_bits));
                if sending.send(lane, place, outbox, budget, may_receive, now) == Stop::NoRoom {
                    *self.turns.of(lane) = Turn { first: at as u16, resumes: true };
                    return sent_bits;
                }
            }
        }
        let next = first.saturating_add(1).checked_rem(count as u16).unwrap_or(0);
        *self.turns.of(lane) = Turn { first: if sent_bits > 0 { next } else { first }, resumes };
        sent_bits
    }

    /// Handles the ack of a packet with these messages.
    pub fn arrived(&mut self, messages: &[SentMessage]) {
        for message in messages {
            if let Some(sending) = self.channels.get_mut(message.channel as usize) {
                sending.arrived(*message);
            }
        }
        self.release();
        if self.declared_lost.is_some() && self.channels.iter().all(|sending| sending.len() == 0) {
            self.declared_lost = None;
        }
    }

    /// Handles acks of packets that counted as lost: their messages have arrived, so they are not sent again.
    pub fn arrived_late(&mut self, range: AckRange) {
        if let Some(declared_lost) = &mut self.declared_lost {
            let messages: Vec<_> =
                declared_lost.take(range).into_iter().map(|(_, message)| message).collect();
            self.arrived(&messages);
        }
    }

    /// Sends the reliable messages again that were sent by the time `sent_by` in packets that may still
    /// arrive, because the link has not answered for a long time (R9). The ack of any copy is enough.
    pub fn retry<R: Record>(&mut self, in_flight: &InFlight<R>, sent_by: Duration) {
        for (sequence, packet) in in_flight.sent_by(sent_by) {
            for message in &packet.messages {
                self.send_again(sequence, *message);
            }
        }
    }

    /// Handles the loss of the packet `sequence` with these messages: reliable messages are sent again.
    pub fn lost(&mut self, sequence: Sequence, messages: &[SentMessage]) {
        for message in messages {
            if self.send_again(sequence, *message) {
                self.declared_lost.get_or_insert_default().add(sequence, *message);
            }
        }
    }

    /// Sends a message again unless a later packet than `sequence` contains it. Returns whether it is
    /// reliable and not acknowledged.
    fn send_again(&mut self, sequence: Sequence, message: SentMessage) -> bool {
        let sending = self.channels.get_mut(message.channel as usize);
        sending.is_some_and(|sending| sending.send_again(sequence, message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::channel::{Channel, MessageOptions};
    use crate::outbox::Limits;
    use crate::sent::in_flight::Delivery;

    /// Messages that are sent by packets of a small size, without a network.
    struct Side {
        outgoing: Outgoing,
        outbox: Outbox<()>,
    }

    impl Side {
        fn new(channels: &[Channel]) -> Self {
            Self::with_packets(200, channels)
        }

        /// Returns a side with packets of so many bytes.
        fn with_packets(bytes: usize, channels: &[Channel]) -> Self {
            let limits = Limits {
                packets_in_flight: 100,
                bytes_in_flight: usize::MAX,
                bytes_per_pass: usize::MAX,
                memory_bytes: usize::MAX,
            };
            let mut outgoing = Outgoing::default();
            let options = MessageOptions { max_bytes: 4_000, ..MessageOptions::default() };
            outgoing.begin(channels.iter().map(|&channel| ChannelConfig { channel, options }));
            Self { outgoing, outbox: Outbox::new(Sequence::new(0), bytes, limits) }
        }

        fn add(&mut self, channel: u16, bytes: usize) -> Result<(), SendError> {
            let mut writer = BitWriter::new();
            (0..bytes).for_each(|_| writer.write_bits(0xff, 8));
            self.outgoing.add(channel, &mut writer, self.outbox.capacity())
        }

        /// Sends the packets of a tick. Returns the messages of each packet.
        fn send(&mut self) -> Vec<Vec<(u16, u64)>> {
            self.send_if(true)
        }

        /// Sends the packets of a tick to a side that may receive messages for viewers only if it `sees`.
        fn send_if(&mut self, sees: bool) -> Vec<Vec<(u16, u64)>> {
            let first = self.outbox.sequence();
            self.outbox.begin_pass();
            self.outgoing.begin_pass();
            self.outgoing.send(&mut self.outbox, usize::MAX, &|_, _| sees, Duration::ZERO);
            self.outbox.end_pass(Duration::ZERO);
            let sequences = (first.number()..self.outbox.sequence().number()).map(Sequence::new);
            sequences.map(|sequence| self.messages_in(sequence)).collect()
        }

        /// Makes packets smaller.
        fn fit(&mut self, bytes: usize) {
            let mut size = *self.outbox.size();
            size.agree(bytes);
            assert!(self.outbox.set_size(size));
            self.outgoing.fit(self.outbox.capacity(), &mut self.outbox.in_flight);
        }

        fn messages_in(&mut self, sequence: Sequence) -> Vec<(u16, u64)> {
            let packet = self.outbox.in_flight.get(sequence).expect("a packet in flight");
            packet.messages.iter().map(|message| (message.channel, message.number)).collect()
        }

        fn resolve(&mut self, packet: u64, delivery: Delivery) {
            let sequence = Sequence::new(packet);
            self.outbox.in_flight.resolve(sequence, delivery).expect("a packet in flight");
            let packet = self.outbox.in_flight.get(sequence).expect("a packet in flight");
            match delivery {
                Delivery::Lost => self.outgoing.lost(sequence, &packet.messages),
                _ => self.outgoing.arrived(&packet.messages),
            }
            self.outbox.in_flight.trim();
        }
    }

    #[test]
    fn a_lost_message_is_sent_again_and_an_arrived_one_is_not() {
        let mut side = Side::new(&[Channel::Ordered, Channel::Unordered]);
        (0..3).for_each(|_| side.add(0, 100).unwrap());
        side.add(1, 10).unwrap();
        assert_eq!(side.send(), [vec![(0, 0)], vec![(0, 1)], vec![(0, 2), (1, 0)]]);
        assert_eq!(side.send(), [[]; 0]);
        side.resolve(0, Delivery::Lost);
        side.resolve(1, Delivery::Arrived);
        side.resolve(2, Delivery::Lost);
        assert_eq!(side.send(), [vec![(1, 0), (0, 0)], vec![(0, 2)]], "the channels take turns");
        side.resolve(3, Delivery::Arrived);
        side.resolve(4, Delivery::Arrived);
        assert_eq!((side.send(), side.outgoing.held_bytes()), (Vec::new(), 0));
    }

    fn range(first: u64, last: u64) -> AckRange {
        AckRange { first: Sequence::new(first), last: Sequence::new(last) }
    }

    #[test]
    fn r04_a_late_ack_of_a_packet_that_counted_as_lost_counts_for_its_messages() {
        let mut side = Side::new(&[Channel::Ordered]);
        (0..3).for_each(|_| side.add(0, 100).unwrap());
        assert_eq!(side.send().len(), 3);
        (0..3).for_each(|packet| side.resolve(packet, Delivery::Lost));
        side.outgoing.arrived_late(range(0, 1));
        side.outgoing.arrived_late(range(0, 1));
        assert_eq!(side.send(), [vec![(0, 2)]], "only the last one is sent again");
        // The ack also counts if the message was sent again in the meantime.
        side.outgoing.arrived_late(range(2, 2));
        side.resolve(3, Delivery::Lost);
        assert_eq!((side.send(), side.outgoing.held_bytes()), (Vec::new(), 0));
    }

    #[test]
    fn r04_messages_that_are_lost_again_and_again_take_limited_memory_and_none_when_acked() {
        let mut side = Side::new(&[Channel::Ordered, Channel::Unreliable]);
        (0..40).for_each(|_| side.add(0, 10).unwrap());
        let stored = side.outgoing.held_bytes();
        for _ in 0..200 {
            side.add(1, 10).unwrap();
            let first = side.outbox.sequence().number();
            let packets = side.send().len() as u64;
            (first..first + packets).for_each(|packet| side.resolve(packet, Delivery::Lost));
        }
        let held = side.outgoing.held_bytes() - stored;
        assert!((20_000..80_000).contains(&held), "{held} bytes");
        let first = side.outbox.sequence().number();
        let packets = side.send().len() as u64;
        (first..first + packets).for_each(|packet| side.resolve(packet, Delivery::Arrived));
        assert_eq!(side.outgoing.held_bytes(), 0);
    }

    #[test]
    fn r09_messages_on_a_silent_link_are_sent_again_before_they_count_as_lost() {
        let mut side = Side::new(&[Channel::Ordered, Channel::Unreliable]);
        side.add(0, 10).unwrap();
        side.add(1, 10).unwrap();
        side.send();
        side.outgoing.retry(&side.outbox.in_flight, Duration::ZERO);
        assert_eq!(side.send(), [[(0, 0)]], "the reliable one");
        side.resolve(0, Delivery::Lost);
        assert_eq!(side.send(), [[]; 0], "the second packet may still arrive");
        side.resolve(1, Delivery::Lost);
        side.outgoing.arrived_late(range(0, 0));
        assert_eq!((side.send(), side.outgoing.held_bytes()), (Vec::new(), 0));
    }

    #[test]
    fn a_loss_of_an_earlier_packet_does_not_repeat_what_a_later_one_has() {
        let mut side = Side::new(&[Channel::Ordered]);
        side.add(0, 10).unwrap();
        side.send();
        side.resolve(0, Delivery::Lost);
        assert_eq!(side.send(), [[(0, 0)]]);
        // The loss is noted again, as for an old packet.
        side.outgoing.lost(Sequence::new(0), &[SentMessage { channel: 0, number: 0, part: 0 }]);
        assert_eq!(side.send(), [[]; 0]);
    }

    #[test]
    fn sequenced_messages_are_sent_in_as_many_passes_as_they_have_copies() {
        let mut side = Side::new(&[Channel::Sequenced { copies: 3 }]);
        side.add(0, 4).unwrap();
        assert_eq!(side.send(), [[(0, 0)]]);
        side.add(0, 4).unwrap();
        assert_eq!(side.send(), [[(0, 0), (0, 1)]]);
        side.resolve(0, Delivery::Lost);
        assert_eq!(side.send(), [[(0, 0), (0, 1)]]);
        assert_eq!(side.send(), [[(0, 1)]]);
        assert_eq!((side.send(), side.outgoing.held_bytes()), (Vec::new(), 0));
        // After an ack, no more copies of this message and of older messages are sent.
        (0..3).for_each(|_| side.add(0, 4).unwrap());
        assert_eq!(side.send(), [[(0, 2), (0, 3), (0, 4)]]);
        side.add(0, 4).unwrap();
        side.resolve(4, Delivery::Arrived);
        assert_eq!(side.send(), [[(0, 5)]]);
    }

    #[test]
    fn sequenced_messages_never_fill_their_channel() {
        let mut side = Side::new(&[Channel::Sequenced { copies: 0 }, Channel::Sequenced { copies: 200 }]);
        for _ in 0..5_000 {
            side.add(0, 100).unwrap();
            side.add(1, 100).unwrap();
        }
        let held = side.outgoing.held_bytes();
        assert!(held <= 2 * 1_024 * 164, "1,024 messages of 100 bytes in each channel: {held}");
        assert_eq!(side.send().concat().len(), 100, "as many as packets may be in flight");
        (0..500).for_each(|_| side.add(1, 1_000).unwrap());
        assert!(side.outgoing.held_bytes() <= 2 * MAX_BYTES, "{}", side.outgoing.held_bytes());
    }

    #[test]
    fn w14_a_full_channel_takes_messages_again_after_an_ack() {
        let mut side = Side::new(&[Channel::Unordered]);
        (0..MAX_MESSAGES).for_each(|_| side.add(0, 1).unwrap());
        assert_eq!(side.add(0, 1), Err(SendError::Full));
        let packets = side.send();
        let (first, count) = (&packets[0], packets[0].len());
        assert_eq!(first.first(), Some(&(0, 0)));
        side.resolve(1, Delivery::Arrived);
        assert_eq!(side.add(0, 1), Err(SendError::Full), "the window begins with the first message");
        side.resolve(0, Delivery::Arrived);
        let free = count + packets[1].len();
        (0..free).for_each(|_| side.add(0, 1).unwrap());
        assert_eq!(side.add(0, 1), Err(SendError::Full));
    }

    #[test]
    fn a_large_message_is_sent_in_parts_and_lost_parts_are_sent_again() {
        let mut side = Side::new(&[Channel::Ordered]);
        side.add(0, 1_000).unwrap();
        let packets = side.send();
        assert!(packets.iter().all(|messages| messages.iter().all(|message| *message == (0, 0))));
        let parts: Vec<usize> = packets.iter().map(Vec::len).collect();
        assert!(parts.len() > 6 && parts[0] > 1, "{parts:?}");
        (0..parts.len()).filter(|at| at % 2 == 0).for_each(|at| side.resolve(at as u64, Delivery::Arrived));
        side.resolve(1, Delivery::Lost);
        side.resolve(3, Delivery::Lost);
        assert_eq!(side.send().concat().len(), parts[1] + parts[3]);
        assert!(side.outgoing.held_bytes() > 1_000);
        let unresolved =
            (parts.len() as u64..side.outbox.sequence().number()).chain((5..parts.len() as u64).step_by(2));
        unresolved.for_each(|at| side.resolve(at, Delivery::Arrived));
        assert_eq!((side.send(), side.outgoing.held_bytes()), (Vec::new(), 0));
    }

    #[test]
    fn all_sequenced_messages_of_a_tick_are_sent_in_as_many_passes_as_they_have_copies() {
        let mut side = Side::new(&[Channel::Sequenced { copies: 2 }]);
        (0..5).for_each(|_| side.add(0, 4).unwrap());
        assert_eq!(side.send().concat(), [0, 1, 2, 3, 4].map(|number| (0, number)));
        (0..3).for_each(|_| side.add(0, 4).unwrap());
        assert_eq!(side.send().concat(), [0, 1, 2, 3, 4, 5, 6, 7].map(|number| (0, number)));
        assert_eq!(side.send().concat(), [5, 6, 7].map(|number| (0, number)));
        assert_eq!((side.send(), side.outgoing.held_bytes()), (Vec::new(), 0));
    }

    #[test]
    fn of_sequenced_messages_that_find_no_room_those_of_the_newest_ticks_wait() {
        let mut side = Side::new(&[Channel::Sequenced { copies: 2 }]);
        for _ in 0..10 {
            (0..3).for_each(|_| side.add(0, 4).unwrap());
            side.outgoing.begin_pass();
            side.outgoing.send(&mut side.outbox, 0, &|_, _| true, Duration::ZERO);
        }
        // They wait for as long as there is no room.
        for _ in 0..10 {
            side.outgoing.begin_pass();
            side.outgoing.send(&mut side.outbox, 0, &|_, _| true, Duration::ZERO);
        }
        assert_eq!(side.send().concat(), [24, 25, 26, 27, 28, 29].map(|number| (0, number)));
    }

    #[test]
    fn messages_are_cut_anew_for_smaller_packets_and_earlier_acks_of_their_parts_do_not_count() {
        let mut side = Side::with_packets(600, &[Channel::Ordered]);
        [450, 1_000, 20].into_iter().for_each(|bytes| side.add(0, bytes).unwrap());
        let first = side.send();
        assert!(first.len() > 2 && first[0] == [(0, 0)], "{first:?}");
        side.resolve(1, Delivery::Lost);
        side.fit(128);
        (2..first.len() as u64).for_each(|packet| side.resolve(packet, Delivery::Arrived));
        side.outgoing.arrived_late(range(1, 1));
        let again = side.send().concat();
        let count = |number| again.iter().filter(|sent| **sent == (0, number)).count();
        assert_eq!((count(0), count(1), count(2)), (450_usize.div_ceil(32), 1_000_usize.div_ceil(32), 0));
        let end = side.outbox.sequence().number();
        (first.len() as u64..end).for_each(|packet| side.resolve(packet, Delivery::Arrived));
        assert_eq!((side.send(), side.outgoing.held_bytes()), (Vec::new(), 0));
    }

    #[test]
    fn r20_of_many_messages_that_were_cut_anew_at_most_sixteen_are_unfinished() {
        for were_sent in [false, true] {
            let mut side = Side::new(&[Channel::Ordered, Channel::Unordered]);
            (0..60).for_each(|number| side.add(number % 2, 150).unwrap());
            side.add(0, 20).unwrap();
            let packets = if were_sent { side.send().len() as u64 } else { 0 };
            side.fit(128);
            (0..packets).for_each(|packet| side.resolve(packet, Delivery::Lost));
            let mut seen = std::collections::BTreeSet::new();
            while side.outgoing.held_bytes() > 0 {
                let (first, sent) = (side.outbox.sequence().number(), side.send().concat());
                let messages: std::collections::BTreeSet<_> = sent.iter().copied().collect();
                let large = messages.iter().filter(|sent| **sent != (0, 30)).count();
                assert!((1..=MAX_UNFINISHED).contains(&large), "{large} are under way");
                seen.extend(messages);
                let end = side.outbox.sequence().number();
                (first..end).for_each(|packet| side.resolve(packet, Delivery::Arrived));
            }
            assert_eq!(seen.len(), 61);
        }
    }

    #[test]
    fn the_oldest_message_does_not_wait_for_later_ones_that_have_arrived() {
        let mut side = Side::with_packets(600, &[Channel::Ordered]);
        side.add(0, 300).unwrap();
        (0..MAX_UNFINISHED + 1).for_each(|_| side.add(0, 500).unwrap());
        side.fit(400);
        side.fit(200);
        for _ in 0..10 {
            let first = side.outbox.sequence().number();
            side.send();
            let end = side.outbox.sequence().number();
            (first..end).for_each(|packet| side.resolve(packet, Delivery::Arrived));
        }
        assert_eq!(side.outgoing.held_bytes(), 0);
    }

    #[test]
    fn large_unreliable_messages_are_sent_once_and_sequenced_ones_in_copies() {
        for (channel, copies) in [(Channel::Unreliable, 1), (Channel::Sequenced { copies: 3 }, 3)] {
            let mut side = Side::new(&[channel]);
            side.add(0, 1_000).unwrap();
            let parts = side.send().concat().len();
            side.resolve(0, Delivery::Lost);
            (1..copies).for_each(|_| assert_eq!(side.send().concat().len(), parts));
            assert_eq!((side.send(), side.outgoing.held_bytes()), (Vec::new(), 0));
        }
    }

    #[test]
    fn w14_each_reliable_channel_leaves_as_much_to_the_others_as_it_takes() {
        let mut side = Side::new(&[Channel::Ordered, Channel::Unordered, Channel::Unreliable]);
        let mut large = |channel| (0..20).take_while(|_| side.add(channel, 1_000).is_ok()).count();
        assert_eq!((large(0), large(1), large(0), large(1)), (8, 4, 0, 0));
        side.add(0, 10).unwrap();
        (0..100).for_each(|_| side.add(2, 1_000).unwrap());
        let mut side = Side::new(&[Channel::Ordered, Channel::Unordered]);
        let mut small = |channel| (0..2_000).take_while(|_| side.add(channel, 136).is_ok()).count();
        assert_eq!((small(0), small(1)), (655, 328), "of 200 bytes with their state");
    }

    #[test]
    fn unreliable_messages_that_find_no_room_are_dropped_the_oldest_first() {
        let mut side = Side::new(&[Channel::Unreliable]);
        (0..5_000).for_each(|_| side.add(0, 10).unwrap());
        assert_eq!(side.send()[0][0], (0, 5_000 - 1_024));
        (0..400).for_each(|_| side.add(0, 4_000).unwrap());
        assert!(side.outgoing.held_bytes() <= MAX_BYTES);
    }

    #[test]
    fn a_message_above_its_limit_is_refused() {
        let mut side = Side::new(&[Channel::Ordered]);
        let error = side.add(0, 4_001).expect_err("the limit is 4,000");
        assert_eq!(error, SendError::TooLarge { bits: 32_008, max_bits: 32_000 });
        side.add(0, 4_000).unwrap();
    }

    fn add_for_viewers(side: &mut Side, channel: u16, bytes: usize) {
        let mut writer = BitWriter::new();
        (0..bytes).for_each(|_| writer.write_bits(0xff, 8));
        let max_bits = side.outbox.capacity();
        side.outgoing.add_for(Recipient::Viewer, channel, &mut writer, max_bits).unwrap();
    }

    #[test]
    fn marks_take_the_places_of_withdrawn_messages_until_they_are_acknowledged() {
        let mut side = Side::new(&[Channel::Ordered, Channel::Unreliable]);
        for channel in 0..2 {
            side.add(channel, 10).unwrap();
            add_for_viewers(&mut side, channel, 150);
            add_for_viewers(&mut side, channel, 1_000);
            side.add(channel, 10).unwrap();
        }
        let sent = [vec![(0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 3)]];
        assert_eq!(side.send_if(false), sent, "all in one packet, and no mark for the unreliable ones");
        side.resolve(0, Delivery::Lost);
        assert_eq!(side.send(), [[(0, 0), (0, 1), (0, 2), (0, 3)]], "a withdrawn message never comes back");
        side.resolve(1, Delivery::Arrived);
        assert_eq!((side.send(), side.outgoing.held_bytes()), (Vec::new(), 0));
    }

    #[test]
    fn r04_a_late_ack_of_a_withdrawn_message_in_one_piece_counts_for_its_mark() {
        let mut side = Side::new(&[Channel::Ordered]);
        add_for_viewers(&mut side, 0, 100);
        assert_eq!(side.send(), [[(0, 0)]]);
        side.resolve(0, Delivery::Lost);
        assert_eq!(side.send_if(false), [[(0, 0)]]);
        side.outgoing.arrived_late(range(0, 0));
        side.resolve(1, Delivery::Lost);
        assert_eq!((side.send(), side.outgoing.held_bytes()), (Vec::new(), 0));
    }

    #[test]
    fn r04_late_acks_of_parts_do_not_count_for_the_mark_of_a_withdrawn_message() {
        for lost in 0..2 {
            let mut side = Side::new(&[Channel::Ordered]);
            add_for_viewers(&mut side, 0, 1_000);
            let packets = side.send().len() as u64;
            assert!(packets > 3);
            side.resolve(1 - lost, Delivery::Arrived);
            side.resolve(lost, Delivery::Lost);
            assert_eq!(side.send_if(false), [[(0, 0)]]);
            // The mark is not known to have arrived, whatever becomes of the parts.
            side.outgoing.arrived_late(range(lost, lost));
            (2..packets).for_each(|packet| side.resolve(packet, Delivery::Arrived));
            side.resolve(packets, Delivery::Lost);
            assert_eq!(side.send(), [[(0, 0)]], "part {lost} was lost");
            side.resolve(packets + 1, Delivery::Arrived);
            assert_eq!((side.send(), side.outgoing.held_bytes()), (Vec::new(), 0));
        }
    }

    #[test]
    fn r20_a_withdrawn_message_counts_until_its_mark_is_acknowledged() {
        // The other side counts what it has received of the messages until their marks arrive.
        let mut side = Side::new(&[Channel::Ordered]);
        (0..8).for_each(|_| add_for_viewers(&mut side, 0, 1_000));
        assert_eq!(
            side.add(0, 1_000),
            Err(SendError::Full),
            "of large messages a channel takes at most half"
        );
        let held = side.outgoing.held_bytes();
        let marks = side.send_if(false);
        assert_eq!((marks.len(), side.outgoing.held_bytes()), (1, held));
        assert_eq!(side.add(0, 1_000), Err(SendError::Full));
        side.resolve(0, Delivery::Arrived);
        assert_eq!(side.outgoing.held_bytes(), 0);
        side.add(0, 1_000).unwrap();
    }
}
