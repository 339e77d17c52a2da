//! The header of a packet with state: its number, its stamp, the floor, an extension of the sender, and acks.
//!
//! *Invariant:* if a header acks a packet that this side has not sent, reading the header fails.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::fmt;

use repl_core::{BitReader, BitWriter, ReadError};

use super::acks::{AckRanges, Received};
use super::sequence::Sequence;

/// The header of a packet with state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The number of the packet.
    pub sequence: Sequence,
    /// The number of the first packet that the sender sent in the same tick.
    pub stamp: Sequence,
    /// The oldest packet for which the sender does not know whether it has arrived. Only some packets contain
    /// the floor.
    pub floor: Option<Sequence>,
}

/// Data that one side of a link adds to the headers of its packets, for example the number of its tick.
pub trait Extension: fmt::Debug + Default {
    /// The data of the extension, as the other side reads it.
    type Content: fmt::Debug;

    /// The greatest number of bits that the extension occupies in a header.
    const BITS: usize;

    /// Returns whether the extension contains data that the other side may not know yet. Then each packet
    /// contains the long form of the extension.
    fn is_urgent(&self) -> bool;

    /// Writes the extension of a header. `is_long` says whether to write the long form.
    fn write(&mut self, header: &Header, is_long: bool, writer: &mut BitWriter);

    /// Reads what [`write`](Self::write) wrote.
    ///
    /// # Errors
    /// Returns an error if `write` never writes these bits.
    fn read(reader: &mut BitReader<'_>, is_long: bool) -> Result<Self::Content, ReadError>;
}

/// No extension.
impl Extension for () {
    type Content = ();

    const BITS: usize = 0;

    fn is_urgent(&self) -> bool {
        false
    }

    fn write(&mut self, _: &Header, _: bool, _: &mut BitWriter) {}

    fn read(_: &mut BitReader<'_>, _: bool) -> Result<(), ReadError> {
        Ok(())
    }
}

impl Header {
    /// Writes the header of a packet, with an extension if this side has one, and as many acks as fit into
    /// `max_ack_bits`. Returns whether all acks fitted into the header.
    pub(crate) fn write<E: Extension>(
        &self,
        extension: Option<&mut E>,
        acks: &Received,
        max_ack_bits: usize,
        writer: &mut BitWriter,
    ) -> bool {
        writer.write_bits(self.sequence.to_wire().into(), 16);
        let offset = self.sequence.since(self.stamp);
        writer.write_flag(offset > 0);
        if offset > 0 {
            writer.write_exp_golomb(offset.saturating_sub(1), 2);
        }
        writer.write_flag(self.floor.is_some());
        if let Some(floor) = self.floor {
            writer.write_exp_golomb(self.sequence.since(floor), 5);
        }
        if let Some(extension) = extension {
            extension.write(self, self.floor.is_some(), writer);
        }
        acks.write(writer, max_ack_bits)
    }

    /// Reads the rest of the header of the packet `sequence`, which follows the packet's number. Returns the
    /// header, the extension if the sender has one, and the acks. The argument `next` is the number of the
    /// next packet that this side sends: a peer cannot have received this packet or a later packet.
    ///
    /// # Errors
    /// Returns an error if no honest peer sends such a header.
    pub(crate) fn read<'a, E: Extension>(
        reader: &mut BitReader<'a>,
        sequence: Sequence,
        next: Sequence,
        is_extended: bool,
    ) -> Result<(Self, Option<E::Content>, AckRanges<'a>), ReadError> {
        let offset = if reader.read_flag()? { reader.read_exp_golomb(2)?.checked_add(1) } else { Some(0) };
        let offset = offset.filter(|&offset| offset <= sequence.number()).ok_or(ReadError::OutOfRange)?;
        let floor = if reader.read_flag()? {
            let behind = reader.read_exp_golomb(5)?;
            if behind > sequence.number() {
                return Err(ReadError::OutOfRange);
            }
            Some(sequence.minus(behind))
        } else {
            None
        };
        let extension = if is_extended { Some(E::read(reader, floor.is_some())?) } else { None };
        let acks = AckRanges::read(reader, next)?;
        Ok((Self { sequence, stamp: sequence.minus(offset), floor }, extension, acks))
    }
}
