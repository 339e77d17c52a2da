//! The outgoing messages of one channel, and which parts of them were sent.
//!
//! *Invariant:* messages leave the list at its front, so their numbers follow from their places.

use std::collections::VecDeque;
use std::time::Duration;

use repl_core::BitWriter;

use super::channel::{Channel, ChannelConfig, MAX_BYTES, MAX_MESSAGES, SendError, held_bytes};
use crate::transport::message::{MESSAGE_HEAD_BITS, NEXT_PART_BITS, PART_HEAD_BITS, SentMessage};
use crate::transport::outbox::Outbox;
use crate::transport::parts::{Cut, LEAST_PART_BITS};
use crate::transport::segment::SEGMENT_BITS;
use crate::transport::sequence::Sequence;

/// How many parts of a large message fit into a packet. Small parts fill packets beside other content.
const PARTS_IN_PACKET: usize = 4;

/// The messages of a channel that are not acknowledged, or must still be sent.
#[derive(Debug)]
pub(crate) struct SendingChannel {
    config: ChannelConfig,
    /// The number of the first stored message.
    first: u64,
    messages: VecDeque<Message>,
    pub(crate) stored: Stored,
}

/// What a channel stores.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stored {
    /// The bytes of all stored messages.
    pub(crate) bytes: usize,
    /// How many parts must be sent in the next pass. A message in one piece counts as one part.
    pub(crate) waiting: usize,
    /// How many messages are larger than a packet.
    pub(crate) large: usize,
}

/// A message and the states of its parts.
#[derive(Debug)]
pub(crate) struct Message {
    content: Vec<u8>,
    cut: Cut,
    /// The states of the first part and of the others. A message in one piece has only the first.
    state: State,
    others: Vec<State>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It must be sent this many more times: once, or the copies of a sequenced message.
    Waiting(u8),
    /// It was sent in this packet, which may still arrive.
    InFlight(Sequence),
    Done,
}

impl Message {
    /// Returns a message that must be sent this many times. `max_bits` is the room of a packet.
    pub(crate) fn new(writer: &mut BitWriter, max_bits: usize, times: u8) -> Self {
        let bit_len = writer.bit_len();
        let cut = if bit_len.saturating_add(MESSAGE_HEAD_BITS) <= max_bits {
            Cut::whole(bit_len)
        } else {
            let head_bits = PART_HEAD_BITS + (PARTS_IN_PACKET - 1) * NEXT_PART_BITS + 2 * SEGMENT_BITS;
            let part_bits = max_bits.saturating_sub(head_bits) / PARTS_IN_PACKET;
            Cut { bit_len, part_bits: part_bits.max(LEAST_PART_BITS) }
        };
        let others = vec![State::Waiting(times); cut.parts().saturating_sub(1)];
        Self { content: writer.finish().to_vec(), cut, state: State::Waiting(times), others }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.content.len()
    }

    /// Returns whether the message is larger than a packet.
    pub(crate) fn is_large(&self) -> bool {
        !self.others.is_empty()
    }

    fn states(&self) -> impl Iterator<Item = &State> {
        std::iter::once(&self.state).chain(&self.others)
    }

    fn state_mut(&mut self, part: u16) -> Option<&mut State> {
        match part.checked_sub(1) {
            None => Some(&mut self.state),
            Some(other) => self.others.get_mut(other as usize),
        }
    }

    fn is_done(&self) -> bool {
        self.states().all(|state| *state == State::Done)
    }

    fn waiting(&self) -> usize {
        self.states().filter(|state| matches!(state, State::Waiting(_))).count()
    }
}

impl SendingChannel {
    pub(crate) fn new(config: ChannelConfig) -> Self {
        Self { config, first: 0, messages: VecDeque::new(), stored: Stored::default() }
    }

    pub(crate) fn is_reliable(&self) -> bool {
        self.config.channel.is_reliable()
    }

    /// Returns how many messages are stored.
    pub(crate) fn len(&self) -> usize {
        self.messages.len()
    }

    /// Returns how many times each message is sent, if no packet is lost.
    pub(crate) fn times(&self) -> u8 {
        match self.config.channel {
            Channel::Sequenced { copies } => copies.max(1),
            Channel::Ordered | Channel::Unordered | Channel::Unreliable => 1,
        }
    }

    /// Checks whether a message of so many bits may be sent.
    pub(crate) fn check_size(&self, bits: usize) -> Result<(), SendError> {
        let max_bits = self.config.options.max_bytes.saturating_mul(8);
        if bits > max_bits { Err(SendError::TooLarge { bits, max_bits }) } else { Ok(()) }
    }

    /// Adds a message. If an unreliable channel stores too much, drops the oldest messages.
    pub(crate) fn add(&mut self, message: Message) {
        let held = held_bytes(message.bytes());
        let most = match self.config.channel {
            Channel::Sequenced { .. } => usize::from(self.times()),
            Channel::Ordered | Channel::Unordered | Channel::Unreliable => MAX_MESSAGES,
        };
        while !self.is_reliable()
            && !self.messages.is_empty()
            && (self.messages.len() >= most || self.stored.bytes.saturating_add(held) > MAX_BYTES)
        {
            self.drop_first();
        }
        self.stored.bytes = self.stored.bytes.saturating_add(held);
        self.stored.waiting = self.stored.waiting.saturating_add(message.waiting());
        self.stored.large = self.stored.large.saturating_add(usize::from(message.is_large()));
        self.messages.push_back(message);
    }

    /// Sends what waits in this channel. Returns whether there was room for all of it.
    pub(crate) fn send(&mut self, channel: u16, channels: u16, outbox: &mut Outbox, now: Duration) -> bool {
        let is_reliable = self.is_reliable();
        let mut has_room = true;
        'messages: for (message, number) in self.messages.iter_mut().zip(self.first..) {
            let Message { content, cut, state, others } = message;
            for (state, part) in std::iter::once(state).chain(others).zip(0_u16..) {
                let State::Waiting(times) = *state else { continue };
                let sent = SentMessage { channel, number, part };
                let content = cut.part(part.into(), content);
                let Some(sequence) = outbox.message(sent, channels, *cut, content, now) else {
                    has_room = false;
                    break 'messages;
                };
                *state = match times {
                    2.. => State::Waiting(times.saturating_sub(1)),
                    _ if is_reliable => State::InFlight(sequence),
                    _ => State::Done,
                };
                if !matches!(state, State::Waiting(_)) {
                    self.stored.waiting = self.stored.waiting.saturating_sub(1);
                }
            }
        }
        self.trim();
        has_room
    }

    /// Handles the ack of a packet with a message or part.
    pub(crate) fn arrived(&mut self, sent: SentMessage) {
        self.set_done(sent);
        let is_whole = self.get_mut(sent.number).is_some_and(|message| !message.is_large());
        if is_whole && matches!(self.config.channel, Channel::Sequenced { .. }) {
            // A newer sequenced message makes the older ones useless.
            while self.first < sent.number && !self.messages.is_empty() {
                self.drop_first();
            }
        }
        self.trim();
    }

    fn set_done(&mut self, sent: SentMessage) {
        let Some(state) = self.get_mut(sent.number).and_then(|message| message.state_mut(sent.part)) else {
            return;
        };
        if let State::Waiting(_) = std::mem::replace(state, State::Done) {
            self.stored.waiting = self.stored.waiting.saturating_sub(1);
        }
    }

    /// Handles the loss of the packet `sequence` with a message or part.
    pub(crate) fn lost(&mut self, sequence: Sequence, sent: SentMessage) {
        if let Some(state) = self.get_mut(sent.number).and_then(|message| message.state_mut(sent.part))
            && *state == State::InFlight(sequence)
        {
            *state = State::Waiting(1);
            self.stored.waiting = self.stored.waiting.saturating_add(1);
        }
    }

    fn get_mut(&mut self, number: u64) -> Option<&mut Message> {
        self.messages.get_mut(usize::try_from(number.checked_sub(self.first)?).ok()?)
    }

    /// Drops the messages at the front that nobody needs any more.
    fn trim(&mut self) {
        while self.messages.front().is_some_and(Message::is_done) {
            self.drop_first();
        }
    }

    fn drop_first(&mut self) {
        let Some(message) = self.messages.pop_front() else { return };
        self.first = self.first.saturating_add(1);
        self.stored.bytes = self.stored.bytes.saturating_sub(held_bytes(message.bytes()));
        self.stored.waiting = self.stored.waiting.saturating_sub(message.waiting());
        self.stored.large = self.stored.large.saturating_sub(usize::from(message.is_large()));
    }
}
