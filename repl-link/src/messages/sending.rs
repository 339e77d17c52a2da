//! The outgoing messages of one channel, and which parts of them were sent.
//!
//! A message whose receiver lost the right to it before it was sent is *withdrawn*: its content is freed. In
//! a reliable channel a mark, which is a message without content, is sent in its place, so that later
//! messages need not wait for it.
//!
//! *Invariant:* messages are removed only from the front of the list, so the number of a message is computed
//! from its index. The content of a withdrawn message is in no later packet.

use std::collections::VecDeque;
use std::time::Duration;

use repl_core::BitSlice;

use crate::frame::cut::{Cut, LEAST_PART_BITS};
use crate::frame::message::{MESSAGE_HEAD_BITS, NEXT_PART_BITS, PART_HEAD_BITS, SentMessage};
use crate::frame::sequence::Sequence;
use crate::messages::channel::{
    Channel, ChannelConfig, LARGEST_MESSAGE_BYTES, MAX_BYTES, MAX_MESSAGES, SendError, held_bytes,
};
use crate::messages::content_buffer::ContentBuffer;
use crate::messages::recipient::{MayReceive, Recipient};
use crate::outbox::{Outbox, SEGMENT_BITS};
use crate::sent::payload::Payload;
use crate::spare::shrink_sparse;

/// How many parts of a large message fit into a packet. Small parts can use the room that other content
/// leaves in a packet.
const PARTS_IN_PACKET: usize = 4;

/// The messages of a channel that are not acknowledged, or must still be sent.
#[derive(Debug)]
pub(super) struct SendingChannel {
    config: ChannelConfig,
    /// The number of the first stored message.
    first: u64,
    messages: VecDeque<Message>,
    contents: ContentBuffer,
    pub stored: Stored,
    /// The message and the part at which sending continues in this tick. No part is sent twice in a tick.
    cursor: (u64, u16),
    /// The number of ticks that have begun to send.
    passes: u64,
    /// How many bits the channel may still send in its turn. Negative after a message that was larger than
    /// the rest of the turn.
    deficit_bits: i64,
    /// Whether `contents` has contents of messages that were withdrawn.
    has_withdrawn: bool,
}

/// Why a channel has stopped sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// Nothing more waits to be sent in this tick.
    Empty,
    /// The channel has sent its share.
    Turn,
    /// The limits do not allow more.
    NoRoom,
}

/// What a channel stores.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stored {
    /// The bytes of all stored messages.
    pub bytes: usize,
    /// How many parts must be sent in the next tick. A message in one piece counts as one part.
    pub waiting: usize,
    /// How many messages are larger than a packet.
    pub large: usize,
}

/// A message and the states of its parts.
#[derive(Debug)]
pub(super) struct Message {
    /// The position of its content.
    position: u64,
    /// The value of [`SendingChannel::passes`] when it was added.
    added: u64,
    /// How the message is cut, even if it was withdrawn: the other side may store what it has received of it,
    /// so its size counts until its mark is acknowledged.
    cut: Cut,
    /// The states of the first part and of the others. A message in one piece has only the first part. If the
    /// message was withdrawn, `state` is the state of its mark.
    state: State,
    others: Box<[State]>,
    recipient: Recipient,
    is_withdrawn: bool,
    /// Whether a part of it was sent.
    has_begun: bool,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Message>() <= 72);

/// What identifies the mark of a withdrawn message in a packet that was sent, instead of the index of a part.
/// No message has so many parts.
const MARK: u16 = u16::MAX;
const _: () = assert!(LARGEST_MESSAGE_BYTES * 8 / LEAST_PART_BITS < MARK as usize);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It must be sent this many more times: one time, or once for each copy of a sequenced message.
    Waiting(u8),
    /// It was sent in this packet, which may still arrive.
    InFlight(Sequence),
    Done,
}

impl Message {
    /// Returns a message of this size, which must be sent this many times. `max_bits` is the room of a
    /// packet.
    pub(super) fn new(bit_len: usize, max_bits: usize, times: u8, recipient: Recipient) -> Self {
        let cut = if bit_len.saturating_add(MESSAGE_HEAD_BITS) <= max_bits {
            Cut::whole(bit_len)
        } else {
            let head_bits = PART_HEAD_BITS + (PARTS_IN_PACKET - 1) * NEXT_PART_BITS + 2 * SEGMENT_BITS;
            let part_bits = max_bits.saturating_sub(head_bits) / PARTS_IN_PACKET;
            Cut { bit_len, part_bits: part_bits.max(LEAST_PART_BITS) }
        };
        let others = vec![State::Waiting(times); cut.parts().saturating_sub(1)].into_boxed_slice();
        let state = State::Waiting(times);
        Self { position: 0, added: 0, cut, state, others, recipient, is_withdrawn: false, has_begun: false }
    }

    /// Returns whether each part, or the whole message, fits into a packet with room for `max_bits`.
    fn fits(&self, max_bits: usize) -> bool {
        let head_bits = if self.is_large() { PART_HEAD_BITS } else { MESSAGE_HEAD_BITS };
        self.cut.bits_of(0).saturating_add(head_bits) <= max_bits
    }

    /// Returns whether the other side may have some parts of it and not all.
    fn is_unfinished(&self) -> bool {
        self.is_large() && self.has_begun && !self.is_done()
    }

    pub(super) fn bytes(&self) -> usize {
        self.cut.bit_len.div_ceil(8)
    }

    /// Returns how many bytes of content are stored for the message.
    fn content_bytes(&self) -> usize {
        if self.is_withdrawn { 0 } else { self.bytes() }
    }

    /// Returns whether the message is larger than a packet.
    pub(super) fn is_large(&self) -> bool {
        self.cut.parts() > 1
    }

    fn states(&self) -> impl Iterator<Item = &State> {
        std::iter::once(&self.state).chain(&self.others)
    }

    /// Returns the state of a part, or of the mark if `part` is [`MARK`].
    ///
    /// If a message in one piece was withdrawn, but has arrived nevertheless, its mark is not needed. Of a
    /// message in parts more than one part would have to arrive, so those do not count any more.
    fn part_mut(&mut self, part: u16) -> Option<&mut State> {
        match part.checked_sub(1) {
            _ if self.is_withdrawn => (part == MARK || !self.is_large()).then_some(&mut self.state),
            None => Some(&mut self.state),
            Some(other) => self.others.get_mut(other as usize),
        }
    }

    /// Withdraws the message. Its mark must be sent if the channel is reliable.
    fn withdraw(&mut self, is_reliable: bool) {
        self.is_withdrawn = true;
        self.others = Box::default();
        self.state = if is_reliable { State::Waiting(1) } else { State::Done };
    }

    fn is_done(&self) -> bool {
        self.states().all(|state| *state == State::Done)
    }

    fn waiting(&self) -> usize {
        self.states().filter(|state| matches!(state, State::Waiting(_))).count()
    }
}

impl SendingChannel {
    pub(super) fn new(config: ChannelConfig) -> Self {
        let (messages, contents, stored) = (VecDeque::new(), ContentBuffer::default(), Stored::default());
        Self {
            config,
            first: 0,
            messages,
            contents,
            stored,
            cursor: (0, 0),
            passes: 0,
            deficit_bits: 0,
            has_withdrawn: false,
        }
    }

    pub(super) fn is_reliable(&self) -> bool {
        self.config.channel.is_reliable()
    }

    /// Returns how many messages are stored.
    pub(super) fn len(&self) -> usize {
        self.messages.len()
    }

    /// Returns the number of the first message that is stored.
    pub(super) fn first(&self) -> u64 {
        self.first
    }

    /// Returns the number of the next message.
    pub(super) fn end(&self) -> u64 {
        self.first.saturating_add(self.messages.len() as u64)
    }

    /// Returns how many times each message is sent, if no packet is lost.
    pub(super) fn times(&self) -> u8 {
        match self.config.channel {
            Channel::Sequenced { copies } => copies.max(1),
            Channel::Ordered | Channel::Unordered | Channel::Unreliable => 1,
        }
    }

    /// Checks whether a message of `bits` bits may be sent.
    pub(super) fn check_size(&self, bits: usize) -> Result<(), SendError> {
        let max_bits = self.config.options.max_bytes.saturating_mul(8);
        if bits > max_bits { Err(SendError::TooLarge { bits, max_bits }) } else { Ok(()) }
    }

    /// Adds a message with its content. If an unreliable channel stores too much, drops the oldest messages.
    pub(super) fn add(&mut self, message: Message, content: &[u8]) {
        let held = held_bytes(message.bytes());
        let is_first = self.messages.back().is_some_and(|newest| newest.added < self.passes);
        if is_first && self.config.channel.replaces_older() {
            self.drop_old_ticks();
        }
        while !self.is_reliable()
            && !self.messages.is_empty()
            && (self.messages.len() >= MAX_MESSAGES || self.stored.bytes.saturating_add(held) > MAX_BYTES)
        {
            self.drop_first();
        }
        self.stored.bytes = self.stored.bytes.saturating_add(held);
        self.stored.waiting = self.stored.waiting.saturating_add(message.waiting());
        self.stored.large = self.stored.large.saturating_add(usize::from(message.is_large()));
        let position = self.contents.add(content);
        self.messages.push_back(Message { position, added: self.passes, ..message });
    }

    /// Cuts the messages anew that do not fit into packets with room for `max_bits`. They are sent again from
    /// the beginning. Returns their numbers.
    pub(super) fn fit(&mut self, max_bits: usize) -> Vec<u64> {
        let (times, mut numbers) = (self.times(), Vec::new());
        for (message, number) in self.messages.iter_mut().zip(self.first..) {
            if message.is_withdrawn || message.fits(max_bits) || message.is_done() {
                continue;
            }
            let (waiting, was_large) = (message.waiting(), message.is_large());
            let Message { cut, state, others, .. } =
                Message::new(message.cut.bit_len, max_bits, times, message.recipient);
            (message.cut, message.state, message.others) = (cut, state, others);
            let stored = &mut self.stored;
            stored.waiting = stored.waiting.saturating_sub(waiting).saturating_add(message.waiting());
            stored.large = stored.large.saturating_add(usize::from(!was_large));
            numbers.push(number);
        }
        numbers
    }

    /// Returns how many messages the other side may have in part.
    pub(super) fn unfinished(&self) -> usize {
        self.messages.iter().filter(|message| message.is_unfinished()).count()
    }

    /// Frees memory if the channel stores little.
    pub(super) fn shrink(&mut self) {
        shrink_sparse(&mut self.messages);
        self.contents.shrink();
    }

    /// Begins the packets of a tick.
    pub(super) fn begin_pass(&mut self) {
        self.passes = self.passes.saturating_add(1);
        self.cursor = (self.first, 0);
    }

    /// Drops old messages before the first message of a tick is added, so that a sequenced channel stores
    /// messages of at most as many ticks as each message has copies.
    fn drop_old_ticks(&mut self) {
        let (mut kept, mut first) = (1, self.passes);
        for message in self.messages.iter().rev() {
            if message.added < first {
                if kept == self.times() {
                    break;
                }
                (kept, first) = (kept.saturating_add(1), message.added);
            }
        }
        while self.messages.front().is_some_and(|message| message.added < first) {
            self.drop_first();
        }
    }

    /// Returns whether something waits that was not sent in this tick.
    pub(super) fn is_waiting(&self) -> bool {
        self.stored.waiting > 0 && self.cursor.0 < self.end()
    }

    /// Begins a turn: the channel may send as much as its weight says.
    pub(super) fn begin_turn(&mut self) {
        self.deficit_bits = self.deficit_bits.saturating_add(self.config.options.quantum_bits());
    }

    /// Sends what waits in this channel, until its turn is over or all channels together have sent
    /// `budget_bits`. Withdraws each message whose turn comes and that `may_receive` does not allow. Call
    /// [`end_sending`](Self::end_sending) afterwards. Begins at most `may_begin` large messages, if the channel
    /// is reliable.
    pub(super) fn send<P: Payload>(
        &mut self,
        (channel, channels): (u16, u16),
        outbox: &mut Outbox<P>,
        (sent_bits, budget_bits): (&mut usize, usize),
        may_begin: &mut usize,
        may_receive: MayReceive<'_>,
        now: Duration,
    ) -> Stop {
        let is_reliable = self.is_reliable();
        loop {
            if !self.is_waiting() {
                self.deficit_bits = 0;
                return Stop::Empty;
            }
            if self.cursor.0 < self.first {
                self.cursor = (self.first, 0);
            }
            let (number, part) = self.cursor;
            let at = usize::try_from(number.saturating_sub(self.first)).unwrap_or(usize::MAX);
            let Some(message) = self.messages.get_mut(at) else { return Stop::Empty };
            let (cut, recipient) = (message.cut, message.recipient);
            let content = self.contents.get(message.position, message.content_bytes());
            let part = if message.is_withdrawn { MARK } else { part };
            let begins = is_reliable && message.is_large() && !message.has_begun && part != MARK;
            if begins && *may_begin == 0 {
                self.cursor = (self.end(), 0);
                return Stop::Empty;
            }
            let Some(state) = message.part_mut(part) else {
                self.cursor = (number.saturating_add(1), 0);
                continue;
            };
            if let State::Waiting(times) = *state {
                if *sent_bits >= budget_bits {
                    return Stop::NoRoom;
                }
                if self.deficit_bits <= 0 {
                    return Stop::Turn;
                }
                if part != MARK && recipient != Recipient::Anyone && !may_receive(recipient, content) {
                    self.withdraw(at);
                    continue;
                }
                let sent = SentMessage { channel, number, part };
                let (cut, content) = match part {
                    MARK => (Cut::whole(0), BitSlice::default()),
                    _ => (cut, cut.part(part.into(), content)),
                };
                let Some((sequence, bits)) = outbox.message(sent, channels, cut, content, now) else {
                    return Stop::NoRoom;
                };
                *sent_bits = sent_bits.saturating_add(bits);
                self.deficit_bits = self.deficit_bits.saturating_sub(bits as i64);
                *state = match times {
                    2.. => State::Waiting(times.saturating_sub(1)),
                    _ if is_reliable => State::InFlight(sequence),
                    _ => State::Done,
                };
                if !matches!(state, State::Waiting(_)) {
                    self.stored.waiting = self.stored.waiting.saturating_sub(1);
                }
                message.has_begun = true;
                *may_begin = may_begin.saturating_sub(usize::from(begins));
            }
            self.cursor =
                if part == MARK { (number.saturating_add(1), 0) } else { (number, part.saturating_add(1)) };
        }
    }

    /// Withdraws the message with this index.
    fn withdraw(&mut self, at: usize) {
        let is_reliable = self.is_reliable();
        let Some(message) = self.messages.get_mut(at) else { return };
        let before = message.waiting();
        message.withdraw(is_reliable);
        self.stored.waiting = self.stored.waiting.saturating_sub(before).saturating_add(message.waiting());
        self.has_withdrawn = true;
    }

    /// Removes the messages that are not needed any more, and frees the contents of withdrawn messages. Costs
    /// O(bytes of the channel's messages) if messages were withdrawn since the last time.
    pub(super) fn end_sending(&mut self) {
        if std::mem::take(&mut self.has_withdrawn) {
            let mut kept = ContentBuffer::default();
            for message in &mut self.messages {
                message.position = kept.add(self.contents.get(message.position, message.content_bytes()));
            }
            self.contents = kept;
        }
        self.trim();
    }

    /// Handles the ack of a packet with a message or part.
    pub(super) fn arrived(&mut self, sent: SentMessage) {
        self.set_done(sent);
        let is_whole = self.get_mut(sent.number).is_some_and(|message| !message.is_large());
        if is_whole && self.config.channel.replaces_older() {
            while self.first < sent.number && !self.messages.is_empty() {
                self.drop_first();
            }
        }
        self.trim();
    }

    fn set_done(&mut self, sent: SentMessage) {
        let found = self.get_mut(sent.number).and_then(|message| message.part_mut(sent.part));
        let Some(state) = found else { return };
        if let State::Waiting(_) = std::mem::replace(state, State::Done) {
            self.stored.waiting = self.stored.waiting.saturating_sub(1);
        }
    }

    /// Sends a message or part again, unless a later packet than `sequence` contains it. Returns whether the
    /// message is reliable and the message or part is not acknowledged.
    pub(super) fn send_again(&mut self, sequence: Sequence, sent: SentMessage) -> bool {
        let is_reliable = self.is_reliable();
        let found = self.get_mut(sent.number).and_then(|message| message.part_mut(sent.part));
        let Some(state) = found else { return false };
        if *state == State::InFlight(sequence) {
            *state = State::Waiting(1);
            self.stored.waiting = self.stored.waiting.saturating_add(1);
            return true;
        }
        is_reliable && *state != State::Done
    }

    fn get_mut(&mut self, number: u64) -> Option<&mut Message> {
        self.messages.get_mut(usize::try_from(number.checked_sub(self.first)?).ok()?)
    }

    /// Drops the messages at the front that are not needed any more.
    fn trim(&mut self) {
        while self.messages.front().is_some_and(Message::is_done) {
            self.drop_first();
        }
    }

    fn drop_first(&mut self) {
        let Some(message) = self.messages.pop_front() else { return };
        self.contents.remove_first(message.content_bytes());
        self.first = self.first.saturating_add(1);
        self.stored.bytes = self.stored.bytes.saturating_sub(held_bytes(message.bytes()));
        self.stored.waiting = self.stored.waiting.saturating_sub(message.waiting());
        self.stored.large = self.stored.large.saturating_sub(usize::from(message.is_large()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::channel::MessageOptions;
    use crate::outbox::Limits;

    #[test]
    fn the_contents_of_withdrawn_messages_are_freed_and_all_others_stay() {
        for channel in [Channel::Ordered, Channel::Unreliable] {
            let mut sending =
                SendingChannel::new(ChannelConfig { channel, options: MessageOptions::DEFAULT });
            for number in 0..40_u8 {
                let recipient = if number % 4 == 0 { Recipient::Anyone } else { Recipient::Viewer };
                sending.add(Message::new(800, 9_000, 1, recipient), &[number; 100]);
            }
            let limits = Limits {
                packets_in_flight: 100,
                bytes_in_flight: usize::MAX,
                bytes_per_pass: usize::MAX,
                memory_bytes: usize::MAX,
            };
            let mut outbox = Outbox::<()>::new(Sequence::new(0), 1_200, limits);
            let asked = std::cell::RefCell::new(Vec::new());
            let may_receive = |_, content: &[u8]| {
                asked.borrow_mut().push(content[0]);
                content[0] % 4 == 1
            };
            outbox.begin_pass();
            sending.begin_pass();
            while {
                sending.begin_turn();
                let budget = (&mut 0, 20_000);
                sending.send((0, 1), &mut outbox, budget, &mut 1, &may_receive, Duration::ZERO) == Stop::Turn
            } {}
            sending.end_sending();
            let viewers: Vec<u8> = (0..40).filter(|number| number % 4 != 0).collect();
            assert_eq!(asked.into_inner(), viewers, "each is asked about once, with its own content");
            let kept = if channel == Channel::Ordered { 20 } else { 0 };
            assert_eq!(sending.contents.stored_bytes(), kept * 100, "{channel:?}");
            for (message, number) in sending.messages.iter().zip(0..) {
                let expected = vec![number; message.content_bytes()];
                assert_eq!(sending.contents.get(message.position, expected.len()), expected);
            }
        }
    }
}
