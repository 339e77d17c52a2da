//! The messages that one side of a connection sends: each is stored until it is acknowledged or no longer
//! needed.
//!
//! *Invariant:* a reliable message is waiting or in flight until a packet with it is acknowledged, so it is
//! never lost.

use std::collections::VecDeque;
use std::time::Duration;

use repl_core::{BitSlice, BitWriter};

use super::channel::{Channel, MAX_BYTES, MAX_MESSAGES, SendError, held_bytes};
use crate::transport::message::{MESSAGE_HEAD_BITS, SentMessage};
use crate::transport::outbox::Outbox;
use crate::transport::sequence::Sequence;

/// The outgoing messages of a connection.
#[derive(Debug, Default)]
pub(crate) struct Outgoing {
    channels: Vec<SendingChannel>,
    /// The bytes of all stored messages.
    bytes: usize,
    /// How many stored messages must be sent in the next pass.
    waiting: usize,
    /// The channel that is served first in the next pass.
    first: usize,
}

#[derive(Debug)]
struct SendingChannel {
    channel: Channel,
    /// The number of the first stored message.
    first: u64,
    messages: VecDeque<Message>,
}

#[derive(Debug)]
struct Message {
    bytes: Vec<u8>,
    bits: usize,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It must be sent this many more times: once, or the copies of a sequenced message.
    Waiting(u8),
    /// It was sent in this packet, which may still arrive.
    InFlight(Sequence),
    Done,
}

impl Outgoing {
    /// Begins a connection with these channels. Messages of an earlier connection are dropped.
    pub(crate) fn begin(&mut self, channels: impl Iterator<Item = Channel>) {
        let new = |channel| SendingChannel { channel, first: 0, messages: VecDeque::new() };
        *self = Self { channels: channels.map(new).collect(), ..Self::default() };
    }

    /// Returns about how many bytes of memory the messages take.
    pub(crate) fn held_bytes(&self) -> usize {
        self.bytes
    }

    /// Adds a message, which is sent in the next pass. `max_bits` is the room of a packet.
    pub(crate) fn add(
        &mut self,
        channel: u16,
        writer: &mut BitWriter,
        max_bits: usize,
    ) -> Result<(), SendError> {
        let bits = writer.bit_len();
        Self::check_size(bits, max_bits)?;
        let sending = self.channels.get_mut(channel as usize).ok_or(SendError::NotConnected)?;
        let bytes = writer.finish().to_vec();
        let held = held_bytes(bytes.len());
        let state = match sending.channel {
            Channel::Sequenced { copies } => {
                while sending.messages.len() >= usize::from(copies.max(1)) {
                    sending.drop_first(&mut self.bytes, &mut self.waiting);
                }
                State::Waiting(copies.max(1))
            }
            _ if sending.messages.len() >= MAX_MESSAGES => return Err(SendError::Full),
            _ if self.bytes.saturating_add(held) > MAX_BYTES => return Err(SendError::Full),
            _ => State::Waiting(1),
        };
        self.bytes = self.bytes.saturating_add(held);
        self.waiting = self.waiting.saturating_add(1);
        sending.messages.push_back(Message { bytes, bits, state });
        Ok(())
    }

    /// Checks whether a message can be sent. `max_bits` is the room of a packet.
    pub(crate) fn check_size(bits: usize, max_bits: usize) -> Result<(), SendError> {
        let max_bits = max_bits.saturating_sub(MESSAGE_HEAD_BITS);
        if bits > max_bits { Err(SendError::TooLarge { bits, max_bits }) } else { Ok(()) }
    }

    /// Puts the waiting messages into packets, as far as there is room. The channels take turns to be first.
    pub(crate) fn send(&mut self, outbox: &mut Outbox, now: Duration) {
        if self.waiting == 0 {
            return;
        }
        let count = self.channels.len();
        let order = (self.first..count).chain(0..self.first);
        for at in order {
            let Some(sending) = self.channels.get_mut(at) else { continue };
            let has_room = sending.send(at as u16, count as u16, &mut self.waiting, outbox, now);
            sending.trim(&mut self.bytes, &mut self.waiting);
            if !has_room {
                break;
            }
        }
        self.first = self.first.saturating_add(1).checked_rem(count).unwrap_or(0);
    }

    /// Handles the ack of a packet with these messages.
    pub(crate) fn arrived(&mut self, messages: &[SentMessage]) {
        for message in messages {
            let Some(sending) = self.channels.get_mut(message.channel as usize) else { continue };
            // A newer sequenced message makes the older ones useless.
            let numbers = match sending.channel {
                Channel::Sequenced { .. } => sending.first..=message.number,
                _ => message.number..=message.number,
            };
            for number in numbers {
                sending.set_done(number, &mut self.waiting);
            }
            sending.trim(&mut self.bytes, &mut self.waiting);
        }
    }

    /// Handles the loss of the packet `sequence` with these messages: reliable ones are sent again.
    pub(crate) fn lost(&mut self, sequence: Sequence, messages: &[SentMessage]) {
        for message in messages {
            let Some(sending) = self.channels.get_mut(message.channel as usize) else { continue };
            if let Some(lost) = sending.get_mut(message.number)
                && lost.state == State::InFlight(sequence)
            {
                lost.state = State::Waiting(1);
                self.waiting = self.waiting.saturating_add(1);
            }
        }
    }
}

impl SendingChannel {
    fn get_mut(&mut self, number: u64) -> Option<&mut Message> {
        self.messages.get_mut(usize::try_from(number.checked_sub(self.first)?).ok()?)
    }

    fn set_done(&mut self, number: u64, waiting: &mut usize) {
        let Some(message) = self.get_mut(number) else { return };
        if let State::Waiting(_) = std::mem::replace(&mut message.state, State::Done) {
            *waiting = waiting.saturating_sub(1);
        }
    }

    /// Sends what waits in this channel. Returns whether there was room for all of it.
    fn send(
        &mut self,
        number: u16,
        channels: u16,
        waiting: &mut usize,
        outbox: &mut Outbox,
        now: Duration,
    ) -> bool {
        for (message, at) in self.messages.iter_mut().zip(self.first..) {
            let State::Waiting(times) = message.state else { continue };
            if !outbox.make_room(MESSAGE_HEAD_BITS.saturating_add(message.bits), now) {
                return false;
            }
            let content = BitSlice::new(&message.bytes, 0, message.bits).unwrap_or_default();
            outbox.message(SentMessage { channel: number, number: at }, channels, content);
            message.state = match self.channel {
                Channel::Sequenced { .. } if times > 1 => State::Waiting(times.saturating_sub(1)),
                Channel::Sequenced { .. } => State::Done,
                _ => State::InFlight(outbox.sequence()),
            };
            if !matches!(message.state, State::Waiting(_)) {
                *waiting = waiting.saturating_sub(1);
            }
        }
        true
    }

    /// Drops the messages at the front that nobody needs any more.
    fn trim(&mut self, bytes: &mut usize, waiting: &mut usize) {
        while self.messages.front().is_some_and(|message| message.state == State::Done) {
            self.drop_first(bytes, waiting);
        }
    }

    fn drop_first(&mut self, bytes: &mut usize, waiting: &mut usize) {
        let Some(message) = self.messages.pop_front() else { return };
        self.first = self.first.saturating_add(1);
        *bytes = bytes.saturating_sub(held_bytes(message.bytes.len()));
        if let State::Waiting(_) = message.state {
            *waiting = waiting.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::in_flight::Delivery;
    use crate::transport::outbox::Limits;

    /// Messages that are sent by packets of a small size, without a network.
    struct Side {
        outgoing: Outgoing,
        outbox: Outbox,
    }

    impl Side {
        fn new(channels: &[Channel]) -> Self {
            let limits = Limits {
                mtu_bytes: 200,
                packets_in_flight: 100,
                bytes_in_flight: usize::MAX,
                bytes_per_pass: usize::MAX,
                memory_bytes: usize::MAX,
            };
            let mut outgoing = Outgoing::default();
            outgoing.begin(channels.iter().copied());
            Self { outgoing, outbox: Outbox::new(Sequence::new(0), limits) }
        }

        fn add(&mut self, channel: u16, bytes: usize) -> Result<(), SendError> {
            let mut writer = BitWriter::new();
            (0..bytes).for_each(|_| writer.write_bits(0xff, 8));
            self.outgoing.add(channel, &mut writer, self.outbox.capacity())
        }

        /// Runs a pass. Returns the messages of each packet.
        fn send(&mut self) -> Vec<Vec<(u16, u64)>> {
            let first = self.outbox.next();
            self.outbox.begin_pass();
            self.outgoing.send(&mut self.outbox, Duration::ZERO);
            self.outbox.end_pass(Duration::ZERO);
            let sequences = (first.number()..self.outbox.next().number()).map(Sequence::new);
            sequences.map(|sequence| self.messages_in(sequence)).collect()
        }

        fn messages_in(&mut self, sequence: Sequence) -> Vec<(u16, u64)> {
            let contents = self.outbox.in_flight.take_contents(sequence).expect("a packet in flight");
            let messages =
                contents.messages.iter().map(|message| (message.channel, message.number)).collect();
            self.outbox.in_flight.put_contents(sequence, contents);
            messages
        }

        fn resolve(&mut self, packet: u64, delivery: Delivery) {
            let sequence = Sequence::new(packet);
            let contents = self.outbox.in_flight.take_contents(sequence).expect("a packet in flight");
            self.outbox.in_flight.resolve(sequence, delivery).expect("a packet in flight");
            match delivery {
                Delivery::Lost => self.outgoing.lost(sequence, &contents.messages),
                _ => self.outgoing.arrived(&contents.messages),
            }
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

    #[test]
    fn a_loss_of_an_earlier_packet_does_not_repeat_what_a_later_one_has() {
        let mut side = Side::new(&[Channel::Ordered]);
        side.add(0, 10).unwrap();
        side.send();
        side.resolve(0, Delivery::Lost);
        assert_eq!(side.send(), [[(0, 0)]]);
        // The loss is noted again, as for an old packet.
        side.outgoing.lost(Sequence::new(0), &[SentMessage { channel: 0, number: 0 }]);
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
        // An ack ends the copies of this message and of older ones.
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
        assert!(side.outgoing.held_bytes() < 201 * 200, "{}", side.outgoing.held_bytes());
        assert_eq!(side.send().concat().len(), 100, "as many as packets may be in flight");
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
    fn a_message_that_fits_into_no_packet_is_refused() {
        let mut side = Side::new(&[Channel::Ordered]);
        let error = side.add(0, 200).expect_err("a packet has 200 bytes");
        let SendError::TooLarge { bits: 1_600, max_bits } = error else { panic!("{error}") };
        side.add(0, max_bits / 8).unwrap();
        assert!(side.add(0, max_bits / 8 + 1).is_err());
        assert_eq!(side.send().len(), 1);
    }
}
