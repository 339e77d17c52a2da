//! Reassembly: the parts of blobs on a client, until they are whole (R15).
//!
//! Invariant: what is held never exceeds the configured bytes; a claimed length allocates nothing.

use std::collections::{BTreeMap, BTreeSet};

use repl_core::{BitReader, BitWriter, ReadError};

use crate::blob::MAX_BLOBS;
use crate::sequence::Sequence;

/// A part of a blob as it arrived.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) slot: u32,
    blob: u32,
    /// The pass that the blob's values are of.
    pub(crate) stamp: Sequence,
    bit_len: usize,
    part_bits: usize,
    index: usize,
    bits: BitWriter,
}

impl Part {
    /// Reads a part from a packet numbered `sequence`.
    pub(crate) fn read(slot: u32, sequence: Sequence, reader: &mut BitReader<'_>) -> Result<Self, ReadError> {
        let blob = u32::try_from(reader.read_exp_golomb(4)?).map_err(|_| ReadError::OutOfRange)?;
        let behind = reader.read_exp_golomb(3)?;
        let bit_len = usize::try_from(reader.read_exp_golomb(12)?).map_err(|_| ReadError::OutOfRange)?;
        let part_bits = usize::try_from(reader.read_exp_golomb(12)?).map_err(|_| ReadError::OutOfRange)?;
        let index = usize::try_from(reader.read_exp_golomb(3)?).map_err(|_| ReadError::OutOfRange)?;
        let start =
            index.checked_mul(part_bits).filter(|&start| start < bit_len).ok_or(ReadError::OutOfRange)?;
        let len = part_bits.min(bit_len.saturating_sub(start));
        if behind > sequence.number() || part_bits == 0 {
            return Err(ReadError::OutOfRange);
        }
        let mut bits = BitWriter::new();
        bits.append(reader.take(len)?);
        Ok(Self { slot, blob, stamp: sequence.minus(behind), bit_len, part_bits, index, bits })
    }
}

/// A blob of which some parts are there.
#[derive(Debug)]
struct Partial {
    slot: u32,
    bit_len: usize,
    part_bits: usize,
    parts: BTreeMap<usize, BitWriter>,
}

/// The blobs that are not whole yet.
#[derive(Debug, Default)]
pub(crate) struct Reassembly {
    partial: BTreeMap<u32, Partial>,
    bytes: usize,
    /// Blobs that are whole or given up, the newest of them.
    done: BTreeSet<u32>,
}

impl Reassembly {
    /// Takes a part; gives the blob's bits if it was the last.
    pub(crate) fn take(&mut self, part: Part, max_bytes: usize) -> Result<Option<BitWriter>, ReadError> {
        if self.done.contains(&part.blob) {
            return Ok(None);
        }
        // A newer blob of an object replaces the one before, which the server gave up.
        let replaced = self.partial.iter().find(|(id, known)| **id < part.blob && known.slot == part.slot);
        if let Some(id) = replaced.map(|(&id, _)| id) {
            self.drop_blob(id);
        }
        if part.bit_len / 8 > max_bytes {
            return Err(ReadError::TooLong { len: part.bit_len / 8, max: max_bytes });
        }
        let Part { slot, bit_len, part_bits, .. } = part;
        let partial = self.partial.entry(part.blob).or_insert_with(|| Partial {
            slot,
            bit_len,
            part_bits,
            parts: BTreeMap::new(),
        });
        if (partial.slot, partial.bit_len, partial.part_bits) != (slot, bit_len, part_bits) {
            return Err(ReadError::OutOfRange);
        }
        let size = part.bits.bit_len() / 8;
        if partial.parts.insert(part.index, part.bits).is_none() {
            self.bytes = self.bytes.saturating_add(size);
        }
        if partial.parts.len() == bit_len.div_ceil(part_bits) {
            let mut whole = BitWriter::new();
            for bits in partial.parts.values_mut() {
                whole.append(bits.as_slice());
            }
            self.drop_blob(part.blob);
            return Ok(Some(whole));
        }
        if self.bytes > max_bytes || self.partial.len() > 2 * MAX_BLOBS {
            return Err(ReadError::TooLong { len: self.bytes, max: max_bytes });
        }
        Ok(None)
    }

    fn drop_blob(&mut self, id: u32) {
        if let Some(partial) = self.partial.remove(&id) {
            let size: usize = partial.parts.values().map(|bits| bits.bit_len() / 8).sum();
            self.bytes = self.bytes.saturating_sub(size);
        }
        self.done.insert(id);
        while self.done.len() > 1_024 {
            self.done.pop_first();
        }
    }
}
