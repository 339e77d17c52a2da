//! The order of the messages that one side of a connection receives.
//!
//! *Invariant:* each message of a reliable channel is delivered once. What is stored for messages that must
//! wait for earlier ones is limited, whatever the peer sends.

use std::collections::{BTreeMap, BTreeSet};

use repl_core::{BitSlice, BitWriter, ReadError};

use super::channel::{Channel, MAX_BYTES, MAX_MESSAGES, held_bytes};
use crate::transport::message::ReceivedMessage;
use crate::transport::sequence::Sequence;

/// The incoming messages of a connection.
#[derive(Debug, Default)]
pub(crate) struct Incoming {
    channels: Vec<ReceivingChannel>,
    /// The bytes of all messages that wait for earlier ones.
    bytes: usize,
}

#[derive(Debug)]
struct ReceivingChannel {
    channel: Channel,
    /// The first number that has not arrived; of a sequenced channel, the number after the newest.
    next: u64,
    /// The numbers after `next` that have arrived. In an ordered channel with their messages.
    early: Early,
}

#[derive(Debug)]
enum Early {
    Ordered(BTreeMap<u64, BitWriter>),
    Unordered(BTreeSet<u64>),
    Sequenced,
}

impl Incoming {
    /// Begins a connection with these channels.
    pub(crate) fn begin(&mut self, channels: impl Iterator<Item = Channel>) {
        *self = Self { channels: channels.map(ReceivingChannel::new).collect(), bytes: 0 };
    }

    /// Returns about how many bytes of memory the waiting messages take.
    pub(crate) fn held_bytes(&self) -> usize {
        self.bytes
    }

    /// Checks the messages of a packet, before anything of it is applied.
    ///
    /// # Errors
    /// If an honest peer cannot have sent them.
    pub(crate) fn check(&self, messages: &[ReceivedMessage<'_>]) -> Result<(), ReadError> {
        // An honest peer never exceeds the limit. Another peer exceeds it by at most one packet.
        if self.bytes > MAX_BYTES {
            return Err(ReadError::TooLong { len: self.bytes, max: MAX_BYTES });
        }
        for message in messages {
            let receiving = self.channels.get(message.channel as usize).ok_or(ReadError::OutOfRange)?;
            let number = receiving.number_of(message);
            if receiving.is_reliable() && number >= receiving.next.saturating_add(MAX_MESSAGES as u64) {
                return Err(ReadError::OutOfRange);
            }
        }
        Ok(())
    }

    /// Takes a message that was checked. Calls `deliver` with each message that can be delivered now: this
    /// one, and those that have waited for it.
    pub(crate) fn take(&mut self, message: &ReceivedMessage<'_>, mut deliver: impl FnMut(BitSlice<'_>)) {
        let Some(receiving) = self.channels.get_mut(message.channel as usize) else { return };
        let number = receiving.number_of(message);
        if number < receiving.next {
            return;
        }
        match &mut receiving.early {
            Early::Sequenced => {
                receiving.next = number.saturating_add(1);
                deliver(message.content);
            }
            Early::Unordered(early) => {
                if early.insert(number) {
                    deliver(message.content);
                }
                while early.remove(&receiving.next) {
                    receiving.next = receiving.next.saturating_add(1);
                }
            }
            Early::Ordered(early) if number > receiving.next => {
                early.entry(number).or_insert_with(|| {
                    let mut content = BitWriter::new();
                    content.append(message.content);
                    self.bytes = self.bytes.saturating_add(held_bytes(content.bit_len().div_ceil(8)));
                    content
                });
            }
            Early::Ordered(early) => {
                deliver(message.content);
                receiving.next = receiving.next.saturating_add(1);
                while let Some(mut content) = early.remove(&receiving.next) {
                    self.bytes = self.bytes.saturating_sub(held_bytes(content.bit_len().div_ceil(8)));
                    deliver(content.as_slice());
                    receiving.next = receiving.next.saturating_add(1);
                }
            }
        }
    }
}

impl ReceivingChannel {
    fn new(channel: Channel) -> Self {
        let early = match channel {
            Channel::Ordered => Early::Ordered(BTreeMap::new()),
            Channel::Unordered => Early::Unordered(BTreeSet::new()),
            Channel::Sequenced { .. } => Early::Sequenced,
        };
        Self { channel, next: 0, early }
    }

    fn is_reliable(&self) -> bool {
        !matches!(self.channel, Channel::Sequenced { .. })
    }

    /// Returns the whole number of a message: the nearest to the expected one with these low 16 bits.
    fn number_of(&self, message: &ReceivedMessage<'_>) -> u64 {
        Sequence::from_wire(message.number, Sequence::new(self.next)).number()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn incoming(channel: Channel) -> Incoming {
        let mut incoming = Incoming::default();
        incoming.begin([channel].into_iter());
        incoming
    }

    /// Takes a message whose content is its number. Returns the numbers that were delivered.
    fn take(incoming: &mut Incoming, number: u64) -> Result<Vec<u64>, ReadError> {
        let content = number.to_le_bytes();
        let content = BitSlice::new(&content, 0, 64).expect("64 bits");
        let message = ReceivedMessage { channel: 0, number: number as u16, content };
        incoming.check(&[message])?;
        let mut delivered = Vec::new();
        incoming.take(&message, |content| delivered.push(content.reader().read_bits(64).expect("64 bits")));
        Ok(delivered)
    }

    #[test]
    fn ordered_messages_wait_for_earlier_ones() {
        let mut incoming = incoming(Channel::Ordered);
        let taken = [1, 2, 1, 4, 0, 0, 2, 3, 5].map(|number| take(&mut incoming, number));
        let expected = [vec![], vec![], vec![], vec![], vec![0, 1, 2], vec![], vec![], vec![3, 4], vec![5]];
        assert_eq!(taken, expected.map(Ok));
        assert_eq!(incoming.held_bytes(), 0);
    }

    #[test]
    fn unordered_messages_are_delivered_once_at_once() {
        let mut incoming = incoming(Channel::Unordered);
        let taken = [1, 2, 1, 4, 0, 0, 2, 3, 5].map(|number| take(&mut incoming, number));
        let expected = [vec![1], vec![2], vec![], vec![4], vec![0], vec![], vec![], vec![3], vec![5]];
        assert_eq!(taken, expected.map(Ok));
    }

    #[test]
    fn of_sequenced_messages_only_newer_ones_are_delivered() {
        let mut incoming = incoming(Channel::Sequenced { copies: 1 });
        let taken = [1, 2, 1, 4, 0, 3, 30_000, 50_000].map(|number| take(&mut incoming, number));
        let expected = [vec![1], vec![2], vec![], vec![4], vec![], vec![], vec![30_000], vec![50_000]];
        assert_eq!(taken, expected.map(Ok));
    }

    #[test]
    fn r20_numbers_that_no_honest_peer_sends_are_refused() {
        for channel in [Channel::Ordered, Channel::Unordered] {
            let mut incoming = incoming(channel);
            (0..70_000).for_each(|number| assert_eq!(take(&mut incoming, number), Ok(vec![number])));
            assert!(take(&mut incoming, 70_000 + 1_023).is_ok());
            assert_eq!(take(&mut incoming, 70_000 + 1_024), Err(ReadError::OutOfRange));
            assert_eq!(take(&mut incoming, 69_999), Ok(vec![]), "an old one may be repeated");
        }
    }

    #[test]
    fn r20_what_waits_for_earlier_messages_is_bounded() {
        let mut incoming = Incoming::default();
        incoming.begin([Channel::Ordered; 400].into_iter());
        let bytes = [0; 1_000];
        let content = BitSlice::new(&bytes, 0, 8_000).expect("8,000 bits");
        let mut messages = (0..400).flat_map(|channel| (1..9).map(move |number| (channel, number)));
        let refused = messages.find(|&(channel, number)| {
            let message = ReceivedMessage { channel, number, content };
            let is_refused = incoming.check(&[message]).is_err();
            incoming.take(&message, |_| panic!("the first message of the channel is missing"));
            is_refused
        });
        assert!(refused.is_some());
        assert!(incoming.held_bytes() < MAX_BYTES + 4_000, "{}", incoming.held_bytes());
    }

    #[test]
    fn r20_a_channel_that_does_not_exist_is_refused() {
        let message = ReceivedMessage { channel: 1, number: 0, content: BitSlice::default() };
        assert_eq!(incoming(Channel::Ordered).check(&[message]), Err(ReadError::OutOfRange));
    }
}
