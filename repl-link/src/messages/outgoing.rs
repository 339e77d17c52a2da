//! The messages that one side of a connection sends: each is stored until it is acknowledged or no longer
//! needed.
//!
//! *Invariant:* a reliable message waits or is in flight until packets with all its parts are acknowledged,
//! so it is never lost. The same is true for the mark (an empty message) that replaces a withdrawn message.

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

/// The messages that one side of a connection sends, until they are acknowledged or no longer needed.
#[derive(Debug, Default)]
pub struct Outgoing {
    channels: Vec<SendingChannel>,
    /// The messages in packets that counted as lost. `None` if all messages are acknowledged.
    declared_lost: Option<Box<LateLog<SentMessage, MAX_MESSAGES>>>,
    turns: ByLane<Turn>,
    bulk_share: BulkShare,
    /// Whether there may be held messages. A held message is not sent yet, because the other side does not
    /// accept parts of more messages.
    has_held: bool,
}

/// Which channel sends next in a lane.
#[derive(Clone, Copy, Debug, Default)]
struct Turn {
    /// The channel that has the next turn.
    first: u16,
    /// Whether this turn has already begun.
    resumes: bool,
}

impl Outgoing {
    /// Begins a connection with these channels. Messages of an earlier connection are dropped.
    pub fn begin(&mut self, channels: impl Iterator<Item = ChannelConfig>) {
        *self = Self { channels: channels.map(SendingChannel::new).collect(), ..Self::default() };
    }

    /// Returns about how many bytes of memory the messages occupy, without bulk messages (of more than 64
    /// KiB). Costs O(channels).
    pub fn held_bytes(&self) -> usize {
        let stored = self.channels.iter().map(|sending| sending.stored.bytes);
        stored.fold(
            self.declared_lost.as_ref().map_or(0, |log| log.held_bytes().saturating_add(size_of_val(&**log))),
            usize::saturating_add,
        )
    }

    /// Adds a message for anyone, which is sent in the next tick. `max_bits` is the room for messages in a
    /// packet, in bits.
    pub fn add(&mut self, channel: u16, writer: &mut BitWriter, max_bits: usize) -> Result<(), SendError> {
        self.add_for(Recipient::Anyone, channel, writer, max_bits)
    }

    /// Adds a message for a recipient, which is sent in the next tick. `max_bits` is the room for messages in
    /// a packet, in bits.
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
    /// `written` with all connections to which it is added. `max_bits` is the room for messages in a packet,
    /// in bits.
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

    /// Returns whether a reliable channel may store one more message. A channel may store at most as much as
    /// is still free after all channels are counted, so no channel can fill the memory alone: the dynamic
    /// thresholds of Choudhury and Hahne (*Dynamic Queue Length Thresholds for Shared-Memory Packet
    /// Switches*, 1998).
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

    /// Returns whether a message of a reliable channel is acknowledged, together with all messages before it.
    pub fn has_arrived(&self, channel: u16, number: u64) -> bool {
        self.channels.get(channel as usize).is_none_or(|sending| number < sending.first())
    }

    /// Frees unused memory of channels that store few messages. Called once in a round of ticks.
    pub fn end_round(&mut self) {
        self.channels.iter_mut().for_each(SendingChannel::shrink);
    }

    /// Begins the packets of a tick.
    pub fn begin_pass(&mut self) {
        self.channels.iter_mut().for_each(SendingChannel::begin_pass);
    }

    /// Returns whether messages that were not sent in this tick wait.
    pub fn is_waiting(&self) -> bool {
        self.waits_in(Lane::Usual) || self.waits_in(Lane::Bulk)
    }

    /// Returns whether messages wait that were not sent in this tick. Bulk messages do not count.
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
    /// Before each message or part with a restricted recipient, calls `may_receive`. Withdraws the message if
    /// the other side may not receive it now.
    pub fn send<P: Payload>(
        &mut self,
        outbox: &mut Outbox<P>,
        budget_bits: usize,
        may_receive: MayReceive<'_>,
        now: Duration,
    ) -> usize {
        self.send_lane(Lane::Usual, outbox, budget_bits, may_receive, now)
    }

    /// Sends the guaranteed share of bulk messages, before anything else of a tick is sent.
    pub fn send_bulk_share<P: Payload>(&mut self, outbox: &mut Outbox<P>, now: Duration) {
        let bits = self.send_lane(Lane::Bulk, outbox, self.bulk_share.bits(), &|_, _| true, now);
        self.bulk_share.spend(bits);
    }

    /// Sends bulk messages in the room that all other data of a tick has left. Only bulk messages may be sent
    /// in this tick from now on.
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

    /// Packets have become smaller: messages that do not fit into packets with room for `max_bits` are cut
    /// again. Acks and losses of the parts that were sent before are ignored. Costs O(messages).
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

    /// Releases held messages, one of each channel in turn, as long as the other side accepts parts of more
    /// messages. Only messages that were cut again can be held.
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

    /// Handles acks of packets that counted as lost: the messages of these packets have arrived, so they are
    /// not sent again.
    pub fn arrived_late(&mut self, range: AckRange) {
        if let Some(declared_lost) = &mut self.declared_lost {
            let messages: Vec<_> =
                declared_lost.take(range).into_iter().map(|(_, message)| message).collect();
            self.arrived(&messages);
        }
    }

    /// Sends reliable messages again because the link has not answered for a long time. Affects the messages
    /// of packets that were sent by the time `sent_by` and may still arrive. The message is acknowledged when
    /// any of its copies is acknowledged.
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

    /// Sends a message again, unless a later packet than `sequence` contains it. Returns whether the message
    /// is reliable and not acknowledged.
    fn send_again(&mut self, sequence: Sequence, message: SentMessage) -> bool {
        let sending = self.channels.get_mut(message.channel as usize);
        sending.is_some_and(|sending| sending.send_again(sequence, message))
    }
}

#[cfg(test)]
mod tests;
