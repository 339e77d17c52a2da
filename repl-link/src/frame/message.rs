//! The wire form of messages in packets. Messages do not belong to objects, and come after the segments with
//! state in a packet.
//!
//! After the zero bit that ends the list of segments, messages may follow. A message consists of a bit that
//! is 1, its header, the length of its content in bits (in Exp-Golomb code of order 6), and its content. The
//! header consists of the message's channel and the low 16 bits of its number in this channel. The header of
//! each message except the first in a packet begins with a bit. If this bit is set, the message is the next
//! message of the same channel, and the header has no further bits. The messages end where only the padding
//! of the packet remains.
//!
//! A message that is too large for a packet is sent in parts. A part of a message begins with a zero bit. The
//! next part of the same message needs only two bits in addition to its content.
//!
//! *Invariant:* a packet without messages has no additional bits for messages, and a message that is not cut
//! into parts has no additional bits for parts.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use repl_core::{BitReader, BitSlice, BitWriter, ReadError};

use crate::frame::cut::Cut;
use crate::frame::packet::read_end;

/// The order of the Exp-Golomb code for lengths of messages. It is 6, because most messages take 4 to 24
/// bytes.
const LENGTH_ORDER: u32 = 6;

/// The greatest number of bits of the head of a message. The head is everything before the content: two
/// flags, the channel, the number and the length.
pub(crate) const MESSAGE_HEAD_BITS: usize = 1 + 1 + 16 + 16 + 34;

/// The greatest number of bits of the head of a message part. The head is everything before the content: two
/// flags, the channel, the number, how the message is cut, and the index of the part.
pub(crate) const PART_HEAD_BITS: usize = 1 + 1 + 16 + 16 + Cut::BITS;

/// The number of bits of the head of a message part that directly follows the previous part of the same
/// message in the packet. The head is then only two flags.
pub(crate) const NEXT_PART_BITS: usize = 2;

/// Identifies a message or a part of a message that was sent: by its channel, its number in the channel, and
/// the index of the part. For a message in one piece, the index of the part is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentMessage {
    /// The channel of the message.
    pub channel: u16,
    /// The number of the message in its channel.
    pub number: u64,
    /// The index of the part. Zero if the message is in one piece.
    pub part: u32,
}

/// Collects the messages of a packet, while the segments of the packet are written to another buffer.
#[derive(Debug, Default)]
pub(crate) struct MessageWriter {
    bits: BitWriter,
    /// The message that was written last, and whether it was a part of a message.
    last: Option<(SentMessage, bool)>,
}

impl MessageWriter {
    pub(crate) fn bit_len(&self) -> usize {
        self.bits.bit_len()
    }

    /// Returns whether `part` is the next part after the part that was written last.
    pub(crate) fn continues(&self, part: SentMessage) -> bool {
        let next = |last: SentMessage| SentMessage { part: last.part.saturating_add(1), ..last };
        self.last.is_some_and(|(last, is_part)| is_part && next(last) == part)
    }

    /// Writes a message, or a part of it if it is cut into parts. The message belongs to one of `channels`
    /// channels. The argument `content` has the bits of the message or part.
    pub(crate) fn write(&mut self, message: SentMessage, channels: u16, cut: Cut, content: BitSlice<'_>) {
        let is_part = cut.parts() > 1;
        self.bits.write_flag(!is_part);
        let is_next = self.last.map(|(last, was_part)| {
            let is_next_number =
                last.channel == message.channel && last.number.checked_add(1) == Some(message.number);
            if is_part && was_part { self.continues(message) } else { is_next_number }
        });
        is_next.into_iter().for_each(|is_next| self.bits.write_flag(is_next));
        if is_next != Some(true) {
            self.bits.write_below(message.channel.into(), channels.into());
            self.bits.write_bits(message.number & 0xffff, 16);
        }
        if !is_part {
            self.bits.write_exp_golomb(content.len() as u64, LENGTH_ORDER);
        } else if !self.continues(message) {
            cut.write(message.part as usize, &mut self.bits);
        }
        self.bits.append(content);
        self.last = Some((message, is_part));
    }

    /// Appends the messages to the end of a packet, and begins to collect messages for the next packet.
    pub(crate) fn end_packet(&mut self, packet: &mut BitWriter) {
        packet.append(self.bits.as_slice());
        self.bits.clear();
        self.last = None;
    }
}

/// A message or a part of a message, as it arrived.
#[derive(Clone, Copy, Debug)]
pub struct ReceivedMessage<'a> {
    /// The channel of the message.
    pub channel: u16,
    /// The low 16 bits of the number of the message in its channel.
    pub number: u16,
    /// How the message is cut into parts, and the index of this part. `part` is `None` if the message came in
    /// one piece.
    pub part: Option<(Cut, usize)>,
    /// The content of the message or part.
    pub content: BitSlice<'a>,
}

/// The greatest number of messages for which memory is reserved after the first message of a packet.
const MAX_RESERVED: usize = 127;

/// Returns whether a packet has only its padding left.
pub(crate) fn is_at_end(reader: &BitReader<'_>) -> bool {
    read_end(&mut reader.clone()).is_ok()
}

/// Returns whether a packet asks for an ack, because it has segments or messages (R8). The reader is at the
/// body of the packet.
///
/// # Errors
/// Returns an error if the packet has no body.
pub(crate) fn asks_for_ack(reader: &BitReader<'_>) -> Result<bool, ReadError> {
    let mut body = reader.clone();
    Ok(body.read_flag()? || !is_at_end(&body))
}

/// Reads the messages of a packet after its segments, up to the end of the packet. The connection has
/// `channels` channels for messages.
pub(crate) fn read_messages<'a>(
    reader: &mut BitReader<'a>,
    channels: u16,
) -> Result<Vec<ReceivedMessage<'a>>, ReadError> {
    let mut messages: Vec<ReceivedMessage<'a>> = Vec::new();
    let start = reader.remaining();
    while !is_at_end(reader) {
        let is_whole = reader.read_flag()?;
        if channels == 0 {
            return Err(ReadError::OutOfRange);
        }
        let last = match messages.last() {
            Some(last) if reader.read_flag()? => Some((last.channel, last.number, last.part)),
            _ => None,
        };
        let message = match last {
            Some((channel, number, Some((cut, index)))) if !is_whole => {
                let index = index.saturating_add(1);
                if index >= cut.parts() {
                    return Err(ReadError::OutOfRange);
                }
                let content = reader.take(cut.bits_of(index))?;
                ReceivedMessage { channel, number, part: Some((cut, index)), content }
            }
            Some((channel, number, _)) => read_content(channel, number.wrapping_add(1), is_whole, reader)?,
            None => {
                let channel = reader.read_below(channels.into())? as u16;
                let number = reader.read_bits(16)? as u16;
                read_content(channel, number, is_whole, reader)?
            }
        };
        if messages.is_empty() {
            // Most messages of a packet are about as large as the first one.
            let first_bits = start.saturating_sub(reader.remaining());
            let others = reader.remaining().checked_div(first_bits).unwrap_or(0);
            messages.reserve_exact(others.min(MAX_RESERVED).saturating_add(1));
        }
        messages.push(message);
    }
    read_end(reader)?;
    Ok(messages)
}

/// Reads the rest of a message or of a part, which follows the channel and the number.
fn read_content<'a>(
    channel: u16,
    number: u16,
    is_whole: bool,
    reader: &mut BitReader<'a>,
) -> Result<ReceivedMessage<'a>, ReadError> {
    let part = if is_whole { None } else { Some(Cut::read(reader)?) };
    if part.is_some_and(|(cut, _)| cut.parts() < 2) {
        return Err(ReadError::OutOfRange);
    }
    let bits = match part {
        Some((cut, index)) => cut.bits_of(index),
        None => usize::try_from(reader.read_exp_golomb(LENGTH_ORDER)?).map_err(|_| ReadError::End)?,
    };
    Ok(ReceivedMessage { channel, number, part, content: reader.take(bits)? })
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// Returns a packet with the messages `messages`. Each tuple contains the channel, the number, and the
    /// number of content bits of a message.
    fn packet(messages: &[(u16, u64, usize)], channels: u16) -> (Vec<u8>, usize) {
        let (mut writer, mut packet) = (MessageWriter::default(), BitWriter::new());
        for &(channel, number, bits) in messages {
            let bytes = vec![0xa5; bits.div_ceil(8)];
            let content = BitSlice::new(&bytes, 0, bits).unwrap_or_default();
            writer.write(SentMessage { channel, number, part: 0 }, channels, Cut::whole(bits), content);
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
        assert!(read_messages(&mut BitReader::new(&[0x81]), 0).is_err(), "a message without channels");
    }

    /// Writes messages of three channels. Each tuple contains the channel, number and part of a message, and
    /// how the message is cut.
    fn mixed(messages: &[(u16, u64, u16, Cut)]) -> (Vec<u8>, usize) {
        let (mut writer, mut packet) = (MessageWriter::default(), BitWriter::new());
        for &(channel, number, part, cut) in messages {
            let bytes = vec![number as u8; cut.bit_len.div_ceil(8)];
            writer.write(
                SentMessage { channel, number, part: part.into() },
                3,
                cut,
                cut.part(part.into(), &bytes),
            );
        }
        let bits = writer.bit_len();
        writer.end_packet(&mut packet);
        (packet.into_bytes(), bits)
    }

    #[test]
    fn parts_beside_messages_are_read_as_they_were_written() {
        let (large, other) = (Cut { bit_len: 1_000, part_bits: 300 }, Cut { bit_len: 257, part_bits: 256 });
        let small = Cut::whole(9);
        let messages = [
            (0, 7, 0, small),
            (0, 8, 0, large),
            (0, 8, 1, large),
            (0, 8, 3, large),
            (0, 9, 0, small),
            (0, 10, 1, other),
            (0, 11, 0, other),
            (2, 11, 0, small),
            (2, 65_536, 2, large),
            (2, 65_536, 3, large),
        ];
        let (bytes, _) = mixed(&messages);
        let read = read_messages(&mut BitReader::new(&bytes), 3).expect("what was written");
        let read = read.iter().map(|read| {
            (read.channel, read.number, read.part.map(|(cut, index)| (cut, index as u16)), read.content.len())
        });
        let written = messages.iter().map(|&(channel, number, part, cut)| {
            let is_part = cut.parts() > 1;
            (channel, number as u16, is_part.then_some((cut, part)), cut.bits_of(part.into()))
        });
        assert_eq!(read.collect::<Vec<_>>(), written.collect::<Vec<_>>());
    }

    #[test]
    fn the_next_part_takes_two_bits_beside_its_content() {
        let cut = Cut { bit_len: 1_200, part_bits: 300 };
        let size = |parts: u16| mixed(&(0..parts).map(|part| (1, 5, part, cut)).collect::<Vec<_>>()).1;
        assert!(size(1) - 300 <= PART_HEAD_BITS);
        assert_eq!(size(3) - size(2), 300 + NEXT_PART_BITS);
        let widest = Cut { bit_len: 65_536 * 8, part_bits: 65_507 * 8 };
        assert!(mixed(&[(2, 70_000, 1, widest)]).1 - widest.bits_of(1) <= PART_HEAD_BITS);
        let narrow = Cut { bit_len: 65_536 * 8, part_bits: 256 };
        assert!(mixed(&[(2, 70_000, 2_047, narrow)]).1 - 256 <= PART_HEAD_BITS);
    }

    #[test]
    fn r20_parts_that_cannot_be_are_refused() {
        let refused = |cut: Cut, index: u64| {
            let mut bits = BitWriter::new();
            bits.write_bits(0, 1);
            bits.write_below(1, 3);
            bits.write_bits(5, 16);
            bits.write_exp_golomb(cut.bit_len as u64, 12);
            bits.write_exp_golomb(cut.part_bits as u64, 12);
            bits.write_exp_golomb(index, 3);
            (0..20).for_each(|_| bits.write_bits(u64::MAX, 64));
            read_messages(&mut BitReader::new(&bits.into_bytes()), 3).err()
        };
        // This cut is valid, so the part is accepted. The bits after it are then read as further messages,
        // and refused for another reason.
        assert_ne!(refused(Cut { bit_len: 600, part_bits: 256 }, 1), Some(ReadError::OutOfRange));
        assert_eq!(refused(Cut { bit_len: 600, part_bits: 255 }, 1), Some(ReadError::OutOfRange));
        assert_eq!(refused(Cut { bit_len: 600, part_bits: 256 }, 3), Some(ReadError::OutOfRange));
        assert_eq!(refused(Cut { bit_len: 256, part_bits: 256 }, 0), Some(ReadError::OutOfRange));
        assert_eq!(
            refused(Cut { bit_len: usize::MAX, part_bits: usize::MAX }, 2),
            Some(ReadError::OutOfRange)
        );
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
