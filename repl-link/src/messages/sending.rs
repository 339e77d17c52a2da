//! The outgoing messages of one channel, and which parts of them were sent.
//!
//! A message is *withdrawn* if its receiver loses the right to it before it is sent. Its content is freed. In
//! a reliable channel a *mark*, which is a message without content, replaces it, so that later messages need
//! not wait for it.
//!
//! A message is *held* if packets became smaller than the message, but the other side does not accept parts
//! of one more message.
//!
//! *Invariant:* messages are removed only from the front of the list, so the number of a message can be
//! computed from its index. After a message is withdrawn, no packet contains its content.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use repl_core::BitSlice;

use crate::frame::cut::Cut;
use crate::frame::message::{MESSAGE_HEAD_BITS, SentMessage};
use crate::frame::sequence::Sequence;
use crate::messages::channel::{
    Channel, ChannelConfig, MAX_BYTES, MAX_MESSAGES, SendError, held_bytes, is_bulk,
};
use crate::messages::content_buffer::ContentBuffer;
use crate::messages::lane::{ByLane, Lane};
use crate::messages::parts::{Parts, cut_for};
use crate::messages::progress::Progress;
use crate::messages::recipient::{MayReceive, Recipient};
use crate::messages::written::Written;
use crate::outbox::Outbox;
use crate::sent::payload::Payload;
use crate::spare::shrink_sparse;

/// The messages of a channel that are not acknowledged, or must still be sent.
#[derive(Debug)]
pub(super) struct SendingChannel {
    config: ChannelConfig,
    /// The number of the first stored message.
    first: u64,
    messages: VecDeque<Message>,
    /// The contents of the messages in one piece.
    contents: ContentBuffer,
    pub stored: Stored,
    /// The numbers of the stored bulk messages, which have more than 64 KiB.
    bulk: VecDeque<u64>,
    /// The message at which sending continues in this tick. No message or part is sent twice in a tick.
    cursor: u64,
    /// The number of ticks that have begun to send.
    passes: u64,
    /// How many bits the channel may still send in its turn. Negative after a message that was larger than
    /// the rest of the turn.
    deficit_bits: ByLane<i64>,
    /// The numbers of the held messages, which are not sent yet, because the other side does not accept parts
    /// of more messages. Only reliable messages are held.
    held: BTreeSet<u64>,
    /// Whether `contents` stores contents that no message needs any more.
    has_gaps: bool,
}

/// The reason why a channel has stopped sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// Nothing more waits to be sent in this tick.
    Empty,
    /// The channel has sent its share.
    Turn,
    /// The limits of the connection do not allow more.
    NoRoom,
}

/// The amounts of data that a channel stores.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stored {
    /// The bytes of all stored messages, except bulk messages.
    pub bytes: usize,
    pub bulk_bytes: usize,
    /// How many messages must be sent in the next tick, in whole or in part. Bulk messages do not count.
    pub waiting: usize,
    /// How many messages are larger than a packet.
    pub large: usize,
}

/// A message, and which parts of it must be sent.
#[derive(Debug)]
struct Message {
    /// The value of [`SendingChannel::passes`] when the message was added.
    added: u64,
    /// The length of the message in bits, even if it was withdrawn. The other side may store parts of a
    /// withdrawn message, so its size counts until its mark is acknowledged.
    bit_len: usize,
    recipient: Recipient,
    content: Content,
}

/// The form in which a message is stored and sent.
#[derive(Debug)]
enum Content {
    /// The message fits into a packet. The number is the position of its content in the buffer.
    Whole(u64, State),
    /// The message is larger than a packet.
    Parts(Box<Parts>),
    /// The message was withdrawn. `mark` is the state of the empty message that replaces it.
    Withdrawn { mark: State, was_large: bool },
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Message>() <= 56);

/// The number that identifies the mark of a withdrawn message in the record of a sent packet. It replaces the
/// index of a part, because no message has this many parts.
const MARK: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The message must be sent this many more times: one time, or once for each copy of a sequenced message.
    Waiting(u8),
    /// The message was sent in this packet, which may still arrive.
    InFlight(Sequence),
    Done,
}

impl State {
    fn is_waiting(self) -> bool {
        matches!(self, Self::Waiting(_))
    }

    /// Records that the message was sent in a packet.
    fn sent(&mut self, sequence: Sequence, is_reliable: bool) {
        *self = match *self {
            Self::Waiting(times @ 2..) => Self::Waiting(times.saturating_sub(1)),
            _ if is_reliable => Self::InFlight(sequence),
            _ => Self::Done,
        };
    }

    /// Records that the packet `sequence` was lost. Returns whether the message is not acknowledged.
    fn lost(&mut self, sequence: Sequence) -> bool {
        if *self == Self::InFlight(sequence) {
            *self = Self::Waiting(1);
        }
        *self != Self::Done
    }
}

impl Message {
    fn bytes(&self) -> usize {
        self.bit_len.div_ceil(8)
    }

    fn is_bulk(&self) -> bool {
        is_bulk(self.bit_len)
    }

    fn is_large(&self) -> bool {
        match self.content {
            Content::Whole(..) => false,
            Content::Parts(_) => true,
            Content::Withdrawn { was_large, .. } => was_large,
        }
    }

    /// Returns whether each part, or the whole message, fits into a packet with room for `max_bits`.
    fn fits(&self, max_bits: usize) -> bool {
        match &self.content {
            Content::Whole(..) => self.bit_len.saturating_add(MESSAGE_HEAD_BITS) <= max_bits,
            Content::Parts(parts) => parts.fit(max_bits),
            Content::Withdrawn { .. } => true,
        }
    }

    fn release(&mut self) {
        if let Content::Parts(parts) = &mut self.content {
            parts.is_held = false;
        }
    }

    /// Returns how many bytes the message occupies in the buffer of the channel.
    fn buffered_bytes(&self) -> usize {
        if matches!(self.content, Content::Whole(..)) { self.bytes() } else { 0 }
    }

    /// Returns what must be sent next: a part, 0 for a message in one piece, or [`MARK`].
    fn next(&self) -> Option<u32> {
        match &self.content {
            Content::Whole(_, state) => state.is_waiting().then_some(0),
            Content::Parts(parts) => parts.next(),
            Content::Withdrawn { mark, .. } => mark.is_waiting().then_some(MARK),
        }
    }

    /// Records that the [next](Self::next) part or message was sent. Returns whether this tick must not send
    /// more of the message.
    fn sent(&mut self, sequence: Sequence, is_reliable: bool) -> bool {
        match &mut self.content {
            Content::Parts(parts) => parts.sent(sequence),
            Content::Whole(_, state) | Content::Withdrawn { mark: state, .. } => {
                state.sent(sequence, is_reliable);
                true
            }
        }
    }

    /// Returns the state of a message in one piece, or of the mark if `part` is [`MARK`].
    ///
    /// If a message in one piece was withdrawn, but an earlier copy has arrived, its mark is not needed. For
    /// a withdrawn message in parts, acks of single parts no longer count.
    fn state_mut(&mut self, part: u32) -> Option<&mut State> {
        match &mut self.content {
            Content::Whole(_, state) => (part == 0).then_some(state),
            Content::Withdrawn { mark, was_large } => (part == MARK || !*was_large).then_some(mark),
            Content::Parts(_) => None,
        }
    }

    /// Records that the message, a part of it or its mark has arrived.
    fn arrived(&mut self, part: u32) {
        match &mut self.content {
            Content::Parts(parts) => parts.arrived(part),
            _ => self.state_mut(part).into_iter().for_each(|state| *state = State::Done),
        }
    }

    /// Records that the packet `sequence` with the message, a part of it or its mark was lost. Returns
    /// whether the lost content is not acknowledged. The message belongs to a reliable channel.
    fn lost(&mut self, sequence: Sequence, part: u32) -> bool {
        match &mut self.content {
            Content::Parts(parts) => parts.lost(sequence, part),
            _ => self.state_mut(part).is_some_and(|state| state.lost(sequence)),
        }
    }

    /// Withdraws the message. Its mark must be sent if the channel is reliable.
    fn withdraw(&mut self, is_reliable: bool) {
        let mark = if is_reliable { State::Waiting(1) } else { State::Done };
        self.content = Content::Withdrawn { mark, was_large: self.is_large() };
    }

    fn is_done(&self, is_reliable: bool) -> bool {
        match &self.content {
            Content::Parts(parts) => parts.is_done(is_reliable),
            Content::Whole(_, state) | Content::Withdrawn { mark: state, .. } => *state == State::Done,
        }
    }
}

impl SendingChannel {
    pub(super) fn new(config: ChannelConfig) -> Self {
        Self {
            config,
            first: 0,
            messages: VecDeque::new(),
            contents: ContentBuffer::default(),
            stored: Stored::default(),
            bulk: VecDeque::new(),
            cursor: 0,
            passes: 0,
            deficit_bits: ByLane::default(),
            held: BTreeSet::new(),
            has_gaps: false,
        }
    }

    pub(super) fn is_reliable(&self) -> bool {
        self.config.channel.is_reliable()
    }

    /// Returns how many bytes the bulk messages may have together.
    pub(super) fn max_bulk_bytes(&self) -> usize {
        self.config.options.max_bytes
    }

    pub(super) fn len(&self) -> usize {
        self.messages.len()
    }

    pub(super) fn first(&self) -> u64 {
        self.first
    }

    /// Returns the number of the next message.
    pub(super) fn end(&self) -> u64 {
        self.first.saturating_add(self.messages.len() as u64)
    }

    /// Returns how many times each message is sent, without repetitions after losses.
    fn times(&self) -> u8 {
        match self.config.channel {
            Channel::Sequenced { copies } => copies.max(1),
            Channel::Ordered | Channel::Unordered | Channel::Unreliable | Channel::Inputs => 1,
        }
    }

    pub(super) fn check_size(&self, bits: usize) -> Result<(), SendError> {
        self.config.check_size(bits)
    }

    /// Returns how much of the oldest message that is larger than a packet is acknowledged. Costs O(messages
    /// before it).
    pub(super) fn progress(&self) -> Option<Progress> {
        self.messages.iter().find_map(|message| match &message.content {
            Content::Parts(parts) if !parts.is_done(true) => Some(parts.progress()),
            _ => None,
        })
    }

    /// Adds a message that is cut as `cut` says. If an unreliable channel stores too much, drops the oldest
    /// messages.
    pub(super) fn add(&mut self, written: &mut Written<'_>, cut: Cut, recipient: Recipient) {
        let bytes = cut.bit_len.div_ceil(8);
        let is_first = self.messages.back().is_some_and(|newest| newest.added < self.passes);
        if is_first && self.config.channel.replaces_older() {
            self.drop_old_ticks();
        }
        while !self.is_reliable() && !self.messages.is_empty() && !self.has_room(bytes) {
            self.drop_first();
        }
        let times = self.times();
        let content = match cut.parts() {
            1 => Content::Whole(self.contents.add(written.bytes()), State::Waiting(times)),
            _ => Content::Parts(Box::new(Parts::new(cut, written.shared(), times))),
        };
        let message = Message { added: self.passes, bit_len: cut.bit_len, recipient, content };
        self.stored.large = self.stored.large.saturating_add(usize::from(message.is_large()));
        if message.is_bulk() {
            self.stored.bulk_bytes = self.stored.bulk_bytes.saturating_add(bytes);
            self.bulk.push_back(self.end());
        } else {
            self.stored.bytes = self.stored.bytes.saturating_add(held_bytes(bytes));
            self.stored.waiting = self.stored.waiting.saturating_add(1);
        }
        self.messages.push_back(message);
    }

    /// Returns whether an unreliable channel has room for one more message.
    fn has_room(&self, bytes: usize) -> bool {
        self.messages.len() < MAX_MESSAGES && self.stored.bytes.saturating_add(held_bytes(bytes)) <= MAX_BYTES
    }

    /// Cuts messages again that do not fit into packets with room for `max_bits`. They are sent again from
    /// the beginning. In a reliable channel, messages that were in one piece are held until they are
    /// [released](Self::release). Returns the numbers of all messages that were cut again.
    pub(super) fn fit(&mut self, max_bits: usize) -> Vec<u64> {
        let is_reliable = self.is_reliable();
        let is_too_large = |message: &Message| !message.fits(max_bits) && !message.is_done(is_reliable);
        let numbered = self.messages.iter().zip(self.first..);
        let numbers: Vec<u64> =
            numbered.filter(|(message, _)| is_too_large(message)).map(|(_, number)| number).collect();
        numbers.iter().for_each(|&number| self.cut_anew(number, max_bits));
        self.close_gaps();
        numbers
    }

    fn cut_anew(&mut self, number: u64, max_bits: usize) {
        let (rounds, is_reliable) = (self.times(), self.is_reliable());
        let Some(message) = self.get(number) else { return };
        let content = match &message.content {
            Content::Whole(position, _) => Arc::new(self.contents.get(*position, message.bytes()).to_vec()),
            Content::Parts(parts) => parts.shared(),
            Content::Withdrawn { .. } => return,
        };
        let (cut, was_whole) = (cut_for(message.bit_len, max_bits), !message.is_large());
        if was_whole {
            self.stored.large = self.stored.large.saturating_add(1);
            self.has_gaps = true;
            _ = is_reliable && self.held.insert(number);
        }
        let mut parts = Parts::new(cut, content, rounds);
        parts.is_held = self.held.contains(&number);
        self.change(number, |message| message.content = Content::Parts(Box::new(parts)));
    }

    /// Releases the oldest held message, so that it is sent. Returns whether there was a held message.
    pub(super) fn release(&mut self) -> bool {
        let Some(number) = self.held.pop_first() else { return false };
        self.change(number, Message::release);
        true
    }

    /// Returns how many messages may have arrived only in part. Costs O(messages).
    pub(super) fn under_way(&self) -> usize {
        let is_reliable = self.is_reliable();
        let is_partial = |message: &&Message| match &message.content {
            Content::Parts(parts) => !parts.is_held && !parts.is_done(is_reliable),
            Content::Whole(..) | Content::Withdrawn { .. } => false,
        };
        self.messages.iter().filter(is_partial).count()
    }

    pub(super) fn shrink(&mut self) {
        shrink_sparse(&mut self.messages);
        self.contents.shrink();
    }

    pub(super) fn begin_pass(&mut self) {
        self.passes = self.passes.saturating_add(1);
        self.cursor = self.first;
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

    /// Returns whether a message in a lane waits and was not sent in this tick.
    pub(super) fn is_waiting(&self, lane: Lane) -> bool {
        match lane {
            Lane::Usual => self.stored.waiting > 0 && self.cursor < self.end(),
            Lane::Bulk => self.next_bulk().is_some(),
        }
    }

    /// Begins a turn: the channel may send as much as its weight says.
    pub(super) fn begin_turn(&mut self, lane: Lane) {
        let quantum = self.config.options.quantum_bits();
        let deficit = self.deficit_bits.of(lane);
        *deficit = deficit.saturating_add(quantum);
    }

    /// Sends waiting messages in a lane of this channel, until its turn is over or all channels together have
    /// sent `budget_bits`. Withdraws each message that `may_receive` does not allow when it is about to be
    /// sent. Call [`end_sending`](Self::end_sending) afterwards.
    pub(super) fn send<P: Payload>(
        &mut self,
        lane: Lane,
        place: (u16, u16),
        outbox: &mut Outbox<P>,
        (sent_bits, budget_bits): (&mut usize, usize),
        may_receive: MayReceive<'_>,
        now: Duration,
    ) -> Stop {
        while let Some(number) = self.next_message(lane) {
            if *sent_bits >= budget_bits {
                return Stop::NoRoom;
            }
            if *self.deficit_bits.of(lane) <= 0 {
                return Stop::Turn;
            }
            if !self.may_leave(number, may_receive) {
                self.withdraw(number);
                continue;
            }
            let Some(bits) = self.send_next(number, place, outbox, now) else { return Stop::NoRoom };
            *sent_bits = sent_bits.saturating_add(bits);
            let deficit = self.deficit_bits.of(lane);
            *deficit = deficit.saturating_sub(bits as i64);
        }
        *self.deficit_bits.of(lane) = 0;
        Stop::Empty
    }

    /// Returns the number of the message that sends next in a lane.
    fn next_message(&mut self, lane: Lane) -> Option<u64> {
        if lane == Lane::Bulk {
            return self.next_bulk();
        }
        self.cursor = self.cursor.max(self.first);
        while self.is_waiting(Lane::Usual) {
            let message = self.get(self.cursor)?;
            if !message.is_bulk() && message.next().is_some() {
                return Some(self.cursor);
            }
            self.cursor = self.cursor.saturating_add(1);
        }
        None
    }

    fn next_bulk(&self) -> Option<u64> {
        let mut waiting =
            self.bulk.iter().filter(|&&number| self.get(number).is_some_and(|bulk| bulk.next().is_some()));
        waiting.next().copied()
    }

    /// Returns whether the other side may receive a message now.
    fn may_leave(&self, number: u64, may_receive: MayReceive<'_>) -> bool {
        let Some(message) = self.get(number) else { return true };
        let content = match &message.content {
            Content::Whole(position, _) => self.contents.get(*position, message.bytes()),
            Content::Parts(parts) => parts.content(),
            Content::Withdrawn { .. } => return true,
        };
        message.recipient == Recipient::Anyone || may_receive(message.recipient, content)
    }

    /// Sends the next part of a message, or the whole message. Returns how many bits this takes, or `None` if
    /// there is no room.
    fn send_next<P: Payload>(
        &mut self,
        number: u64,
        (channel, channels): (u16, u16),
        outbox: &mut Outbox<P>,
        now: Duration,
    ) -> Option<usize> {
        let message = self.get(number)?;
        let part = message.next()?;
        let (cut, content) = match &message.content {
            Content::Whole(position, _) => {
                let bytes = self.contents.get(*position, message.bytes());
                (Cut::whole(message.bit_len), Cut::whole(message.bit_len).part(0, bytes))
            }
            Content::Parts(parts) => parts.part(part),
            Content::Withdrawn { .. } => (Cut::whole(0), BitSlice::default()),
        };
        let sent = SentMessage { channel, number, part };
        let (sequence, bits) = outbox.message(sent, channels, cut, content, now)?;
        let is_reliable = self.is_reliable();
        let is_over = self.change(number, |message| message.sent(sequence, is_reliable));
        if is_over == Some(true) && self.cursor == number {
            self.cursor = number.saturating_add(1);
        }
        Some(bits)
    }

    /// Changes a message, and updates the count of waiting messages.
    fn change<R>(&mut self, number: u64, change: impl FnOnce(&mut Message) -> R) -> Option<R> {
        let at = self.index(number)?;
        let message = self.messages.get_mut(at)?;
        let before = message.next().is_some();
        let result = change(message);
        if !message.is_bulk() {
            let after = usize::from(message.next().is_some());
            self.stored.waiting = self.stored.waiting.saturating_add(after).saturating_sub(before.into());
        }
        Some(result)
    }

    fn withdraw(&mut self, number: u64) {
        let is_reliable = self.is_reliable();
        self.change(number, |message| message.withdraw(is_reliable));
        self.has_gaps = true;
    }

    /// Removes the messages that are not needed any more, and frees the contents of withdrawn messages. Costs
    /// O(bytes of the channel's messages) if messages were withdrawn since the last time.
    pub(super) fn end_sending(&mut self) {
        self.close_gaps();
        self.trim();
    }

    fn close_gaps(&mut self) {
        if std::mem::take(&mut self.has_gaps) {
            let mut kept = ContentBuffer::default();
            for message in &mut self.messages {
                let bytes = message.buffered_bytes();
                if let Content::Whole(position, _) = &mut message.content {
                    *position = kept.add(self.contents.get(*position, bytes));
                }
            }
            self.contents = kept;
        }
    }

    /// Handles the ack of a packet with a message or part.
    pub(super) fn arrived(&mut self, sent: SentMessage) {
        self.change(sent.number, |message| message.arrived(sent.part));
        let is_whole = self.get(sent.number).is_some_and(|message| !message.is_large());
        if is_whole && self.config.channel.replaces_older() {
            while self.first < sent.number && !self.messages.is_empty() {
                self.drop_first();
            }
        }
        self.trim();
    }

    /// Sends a message or part again, unless a later packet than `sequence` contains it. Returns whether the
    /// message is reliable and the message or part is not acknowledged.
    pub(super) fn send_again(&mut self, sequence: Sequence, sent: SentMessage) -> bool {
        self.is_reliable()
            && self.change(sent.number, |message| message.lost(sequence, sent.part)) == Some(true)
    }

    fn index(&self, number: u64) -> Option<usize> {
        usize::try_from(number.checked_sub(self.first)?).ok()
    }

    fn get(&self, number: u64) -> Option<&Message> {
        self.messages.get(self.index(number)?)
    }

    /// Drops the messages at the front that are not needed any more.
    fn trim(&mut self) {
        let is_reliable = self.is_reliable();
        while self.messages.front().is_some_and(|message| message.is_done(is_reliable)) {
            self.drop_first();
        }
    }

    fn drop_first(&mut self) {
        let Some(message) = self.messages.pop_front() else { return };
        self.contents.remove_first(message.buffered_bytes());
        self.first = self.first.saturating_add(1);
        let stored = &mut self.stored;
        stored.large = stored.large.saturating_sub(usize::from(message.is_large()));
        if message.is_bulk() {
            self.bulk.pop_front();
            stored.bulk_bytes = stored.bulk_bytes.saturating_sub(message.bytes());
        } else {
            stored.bytes = stored.bytes.saturating_sub(held_bytes(message.bytes()));
            stored.waiting = stored.waiting.saturating_sub(usize::from(message.next().is_some()));
        }
    }
}

#[cfg(test)]
mod tests {
    use repl_core::BitWriter;

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
                let mut writer = BitWriter::new();
                (0..100).for_each(|_| writer.write_bits(number.into(), 8));
                sending.add(&mut Written::new(&mut writer), Cut::whole(800), recipient);
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
                sending.begin_turn(Lane::Usual);
                sending.send(Lane::Usual, (0, 1), &mut outbox, (&mut 0, 20_000), &may_receive, Duration::ZERO)
                    == Stop::Turn
            } {}
            sending.end_sending();
            let viewers: Vec<u8> = (0..40).filter(|number| number % 4 != 0).collect();
            assert_eq!(asked.into_inner(), viewers, "each is asked about once, with its own content");
            let kept = if channel == Channel::Ordered { 20 } else { 0 };
            assert_eq!(sending.contents.stored_bytes(), kept * 100, "{channel:?}");
            for (message, number) in sending.messages.iter().zip(0..) {
                if let Content::Whole(position, _) = message.content {
                    assert_eq!(sending.contents.get(position, 100), [number; 100]);
                }
            }
        }
    }
}
