//! Messages in packets: their form on the wire. They are not about objects, and come after the segments.
//!
//! The zero bit that ends the list of segments may be followed by messages. A message is a one bit, its head,
//! the length of its content in bits (in Exp-Golomb code of order 6), and its content. The head is the
//! channel and the low 16 bits of the number in that channel. If another message of the packet came before, a
//! bit says whether this message is the next one of the same channel; then the rest of the head is left out.
//! The messages end where the packet has only its padding left.
//!
//! *Invariant:* a packet without messages takes no bit for them.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use repl_core::{BitReader, BitSlice, BitWriter, ReadError};

use super::packet::read_end;

/// The Exp-Golomb order of the lengths: most messages take 4 to 24 bytes.
const LENGTH_ORDER: u32 = 6;

/// The most bits that a message takes without its content: two flags, the channel, the number, the length.
pub(crate) const MESSAGE_HEAD_BITS: usize = 1 + 1 + 16 + 16 + 34;

/// A message that was sent: its channel, and its number in the channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SentMessage {
    pub(crate) channel: u16,
    pub(crate) number: u64,
}

/// Writes the messages of a packet, while its segments are written elsewhere.
#[derive(Debug, Default)]
pub(crate) struct MessageWriter {
    bits: BitWriter,
    last: Option<SentMessage>,
}

impl MessageWriter {
    pub(crate) fn bit_len(&self) -> usize {
        self.bits.bit_len()
    }

    /// Writes a message of one of `channels` channels.
    pub(crate) fn write(&mut self, message: SentMessage, channels: u16, content: BitSlice<'_>) {
        self.bits.write_flag(true);
        let next = |last: SentMessage| SentMessage { number: last.number.saturating_add(1), ..last };
        let is_next = self.last.map(|last| next(last) == message);
        is_next.into_iter().for_each(|is_next| self.bits.write_flag(is_next));
        if is_next != Some(true) {
            self.bits.write_below(message.channel.into(), channels.into());
            self.bits.write_bits(message.number & 0xffff, 16);
        }
        self.bits.write_exp_golomb(content.len() as u64, LENGTH_ORDER);
        self.bits.append(content);
        self.last = Some(message);
    }

    /// Appends the messages to the end of a packet, and begins with the next packet.
    pub(crate) fn end_packet(&mut self, packet: &mut BitWriter) {
        packet.append(self.bits.as_slice());
        self.bits.clear();
        self.last = None;
    }
}

/// A message as it arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReceivedMessage<'a> {
    pub(crate) channel: u16,
    /// The low 16 bits of its number.
    pub(crate) number: u16,
    pub(crate) content: BitSlice<'a>,
}

/// Returns whether a packet has only its padding left.
pub(crate) fn is_at_end(reader: &BitReader<'_>) -> bool {
    read_end(&mut reader.clone()).is_ok()
}

/// Reads the messages after the segments, up to the end of the packet. There are `channels` channels.
pub(crate) fn read_messages<'a>(
    reader: &mut BitReader<'a>,
    channels: u16,
) -> Result<Vec<ReceivedMessage<'a>>, ReadError> {
    let mut messages: Vec<ReceivedMessage<'a>> = Vec::new();
    while !is_at_end(reader) {
        if !reader.read_flag()? || channels == 0 {
            return Err(ReadError::OutOfRange);
        }
        let last = messages.last().map(|last| (last.channel, last.number));
        let (channel, number) = match last {
            Some((channel, number)) if reader.read_flag()? => (channel, number.wrapping_add(1)),
            _ => (reader.read_below(channels.into())? as u16, reader.read_bits(16)? as u16),
        };
        let bits = usize::try_from(reader.read_exp_golomb(LENGTH_ORDER)?).map_err(|_| ReadError::End)?;
        messages.push(ReceivedMessage { channel, number, content: reader.take(bits)? });
    }
    read_end(reader)?;
    Ok(messages)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// A packet with these messages: each has a channel, a number and a content of so many bits.
    fn packet(messages: &[(u16, u64, usize)], channels: u16) -> (Vec<u8>, usize) {
        let (mut writer, mut packet) = (MessageWriter::default(), BitWriter::new());
        for &(channel, number, bits) in messages {
            let bytes = vec![0xa5; bits.div_ceil(8)];
            let content = BitSlice::new(&bytes, 0, bits).unwrap_or_default();
            writer.write(SentMessage { channel, number }, channels, content);
        }
        let bits = writer.bit_len();
        writer.end_packet(&mut packet);
        assert_eq!((packet.bit_len(), writer.bit_len()), (bits, 0));
        (packet.into_bytes(), bits)
    }

    #[test]
    fn a_packet_without_messages_takes_no_bit() {
        assert_eq!(packet(&[], 3).1, 0);
        assert!(read_messages(&mut BitReader::new(&[]), 3).is_ok_and(|messages| messages.is_empty()));
    }

    #[test]
    fn the_next_message_of_a_channel_takes_a_few_bits() {
        let heads = |messages: &[(u16, u64, usize)]| packet(messages, 5).1;
        assert_eq!(heads(&[(4, 70_000, 32)]) - 32, 1 + 3 + 16 + 7);
        assert_eq!(heads(&[(4, 70_000, 32), (4, 70_001, 32)]) - heads(&[(4, 70_000, 32)]) - 32, 1 + 1 + 7);
        let most = heads(&[(4, 70_000, 0), (3, 70_001, 65_507 * 8)]) - heads(&[(4, 70_000, 0)]) - 65_507 * 8;
        assert!(most <= MESSAGE_HEAD_BITS, "{most}");
    }

    #[test]
    fn padding_that_is_no_padding_is_refused() {
        assert!(read_messages(&mut BitReader::new(&[0]), 3).is_err(), "eight bits of padding");
        assert!(read_messages(&mut BitReader::new(&[0x80]), 0).is_err(), "a message without channels");
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(
            messages in vec((0..7_u16, prop_oneof![0..9_u64, 65_530..65_540_u64], 0..200_usize), 0..20),
        ) {
            let (bytes, _) = packet(&messages, 7);
            let read = read_messages(&mut BitReader::new(&bytes), 7).expect("what was written");
            let read: Vec<_> = read.iter().map(|read| (read.channel, read.number, read.content.len())).collect();
            let written: Vec<_> = messages.iter().map(|&(channel, number, bits)| (channel, number as u16, bits)).collect();
            prop_assert_eq!(read, written);
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in vec(any::<u8>(), 0..60), channels in 0..9_u16) {
            if let Ok(messages) = read_messages(&mut BitReader::new(&bytes), channels) {
                prop_assert!(messages.iter().all(|message| message.channel < channels));
                prop_assert!(messages.len() <= bytes.len());
            }
        }
    }
}
