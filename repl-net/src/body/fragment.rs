//! The head of a fragment (a packet entry with one part of a blob). A blob is an update that is too large for
//! one packet. The head says which blob the part belongs to, and which part it is (R15).
//!
//! *Invariant:* a head that was read belongs to a blob that was in flight when the packet was made.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use repl_core::{BitReader, BitWriter, ReadError};
use repl_link::parts::{Cut, Sequence};

use crate::body::blob::BLOB_SPAN;

/// The head of a fragment, which is followed by the bits of the part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FragmentHead {
    pub(crate) blob: u32,
    /// The blobs in flight: the id of the oldest one, and a bit mask with one bit for this id and for each id
    /// after it. A bit is set if the blob with this id is in flight.
    pub(crate) under_way: (u32, u64),
    /// The number of the first packet of the tick in which the server wrote the values of the blob.
    pub(crate) stamp: Sequence,
    pub(crate) cut: Cut,
    pub(crate) index: usize,
}

impl FragmentHead {
    /// The greatest number of bits that a head takes.
    pub(crate) const BITS: usize = 5 * 64 + 2 * BLOB_SPAN as usize;

    pub(crate) fn write(&self, sequence: Sequence, writer: &mut BitWriter) {
        let (oldest, under_way) = self.under_way;
        writer.write_exp_golomb(oldest.into(), 4);
        writer.write_bits(under_way, BLOB_SPAN);
        writer.write_below(self.blob.wrapping_sub(oldest).into(), BLOB_SPAN.into());
        writer.write_exp_golomb(sequence.since(self.stamp), 3);
        self.cut.write(self.index, writer);
    }

    /// Reads a head from the packet `sequence`.
    ///
    /// # Errors
    /// Returns an error if the blob is not one of the blobs in flight, if its stamp is below zero, or if the
    /// blob has no such part.
    pub(crate) fn read(sequence: Sequence, reader: &mut BitReader<'_>) -> Result<Self, ReadError> {
        let oldest = u32::try_from(reader.read_exp_golomb(4)?).map_err(|_| ReadError::OutOfRange)?;
        let under_way = reader.read_bits(BLOB_SPAN)?;
        let place = reader.read_below(BLOB_SPAN.into())? as u32;
        let blob = oldest.checked_add(place).ok_or(ReadError::OutOfRange)?;
        let behind = reader.read_exp_golomb(3)?;
        let (cut, index) = Cut::read(reader)?;
        if behind > sequence.number() || under_way >> place & 1 == 0 {
            return Err(ReadError::OutOfRange);
        }
        Ok(Self { blob, under_way: (oldest, under_way), stamp: sequence.minus(behind), cut, index })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r15_a_head_is_read_as_it_was_written() {
        let cut = Cut { bit_len: 100_000, part_bits: 9_000 };
        let (sequence, stamp) = (Sequence::new(900), Sequence::new(880));
        let head = FragmentHead { blob: 70, under_way: (62, 0b1_0000_0011), stamp, cut, index: 11 };
        let mut writer = BitWriter::new();
        head.write(sequence, &mut writer);
        assert!(writer.bit_len() <= FragmentHead::BITS);
        assert_eq!(FragmentHead::read(sequence, &mut BitReader::new(writer.finish())), Ok(head));
    }
}
