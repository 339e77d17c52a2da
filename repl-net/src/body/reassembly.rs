//! Reassembly: a client collects the parts of blobs until it has all parts of a blob (R15). A blob is an
//! update that is too large for one packet.
//!
//! *Invariant:* the stored parts never take more bytes than configured. Their buffers take at most 1.5 times
//! as many bytes plus 4 KiB. Memory is never allocated for a length that a peer only claims.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::collections::{BTreeMap, BTreeSet};

use repl_core::{BitReader, BitWriter, ReadError};
use repl_link::parts::{Partial, Sequence};

use crate::body::fragment::FragmentHead;

#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) slot: u32,
    pub(crate) head: FragmentHead,
    bits: BitWriter,
}

impl Part {
    pub(crate) fn read(slot: u32, sequence: Sequence, reader: &mut BitReader<'_>) -> Result<Self, ReadError> {
        let head = FragmentHead::read(sequence, reader)?;
        let mut bits = BitWriter::new();
        bits.append(reader.take(head.cut.bits_of(head.index))?);
        Ok(Self { slot, head, bits })
    }
}

/// The blobs of which the client has only some parts.
#[derive(Debug, Default)]
pub(crate) struct Reassembly {
    /// The incomplete blobs by their ids, each with the slot of its object.
    partial: BTreeMap<u32, (u32, Partial)>,
    bytes: usize,
    /// All blobs with ids below this one are complete, or the server has stopped sending them.
    floor: u32,
    /// The ids from `floor` on of blobs that are complete or that the server has stopped sending.
    done: BTreeSet<u32>,
}

impl Reassembly {
    /// Stores a part of a blob. Returns the bits of the whole blob if this was the last missing part.
    pub(crate) fn take(&mut self, part: Part, max_bytes: usize) -> Result<Option<BitWriter>, ReadError> {
        let Part { slot, head, mut bits } = part;
        let FragmentHead { blob, under_way, cut, index, .. } = head;
        self.drop_abandoned(under_way);
        if blob < self.floor || self.done.contains(&blob) {
            return Ok(None);
        }
        if cut.bit_len / 8 > max_bytes {
            return Err(ReadError::TooLong { len: cut.bit_len / 8, max: max_bytes });
        }
        let (of, partial) = self.partial.entry(blob).or_insert_with(|| (slot, Partial::new(cut)));
        if (*of, partial.cut) != (slot, cut) {
            return Err(ReadError::OutOfRange);
        }
        if partial.insert(index, &mut bits) {
            self.bytes = self.bytes.saturating_add(bits.bit_len() / 8);
        }
        if partial.is_whole() {
            let whole = partial.whole();
            self.drop_blob(blob);
            return Ok(Some(whole));
        }
        if self.bytes > max_bytes {
            return Err(ReadError::TooLong { len: self.bytes, max: max_bytes });
        }
        Ok(None)
    }

    /// Drops the blobs that were not in flight when the server sent a part. The server has stopped sending
    /// these blobs, or knows that the client has all their parts. Such a blob is never in flight again, so
    /// the result does not depend on the order in which parts arrive.
    fn drop_abandoned(&mut self, (oldest, under_way): (u32, u64)) {
        let newest = oldest.saturating_add(63_u32.saturating_sub(under_way.leading_zeros()));
        self.floor = self.floor.max(oldest);
        self.done.retain(|&id| id >= self.floor);
        let is_under_way =
            |id: u32| under_way.checked_shr(id.saturating_sub(oldest)).is_some_and(|mask| mask & 1 == 1);
        self.done.extend((self.floor..newest).filter(|&id| !is_under_way(id)));
        while let Some((&id, _)) =
            self.partial.iter().find(|(id, _)| **id < self.floor || self.done.contains(id))
        {
            self.drop_blob(id);
        }
    }

    fn drop_blob(&mut self, id: u32) {
        if let Some((_, partial)) = self.partial.remove(&id) {
            self.bytes = self.bytes.saturating_sub(partial.size());
        }
        if id >= self.floor {
            self.done.insert(id);
        }
    }
}

#[cfg(test)]
mod tests {
    use repl_link::parts::{Cut, LEAST_PART_BITS};

    use super::*;
    use crate::body::blob::BLOB_SPAN;

    const PART_BYTES: usize = LEAST_PART_BITS / 8;

    /// Returns the part `index` of the blob `blob`, which has `parts` parts. `under_way` lists the ids of the
    /// blobs that were in flight when the part was sent.
    fn part(blob: u32, index: usize, parts: usize, under_way: &[u32]) -> Part {
        let oldest = under_way.iter().copied().min().unwrap_or(blob);
        let mask = under_way.iter().fold(0, |mask, id| mask | 1_u64 << (id - oldest));
        let mut bits = BitWriter::new();
        (0..LEAST_PART_BITS / 64).for_each(|_| bits.write_bits(index as u64, 64));
        let cut = Cut { bit_len: parts * LEAST_PART_BITS, part_bits: LEAST_PART_BITS };
        let head = FragmentHead { blob, under_way: (oldest, mask), stamp: Sequence::default(), cut, index };
        Part { slot: blob, head, bits }
    }

    fn too_long(len: usize, max: usize) -> ReadError {
        ReadError::TooLong { len, max }
    }

    #[test]
    fn r15_a_blob_is_whole_when_it_has_all_parts_in_any_order() {
        let mut reassembly = Reassembly::default();
        for index in [2, 0, 2, 3] {
            let taken = reassembly.take(part(0, index, 4, &[0]), 1_000);
            assert!(matches!(taken, Ok(None)), "part {index}");
        }
        let whole = reassembly.take(part(0, 1, 4, &[0]), 1_000).expect("it has room").expect("it is whole");
        let words: Vec<u8> = whole.into_bytes().into_iter().step_by(8).collect();
        assert_eq!(words, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3]);
        assert!(reassembly.partial.is_empty() && reassembly.bytes == 0);
        // A late part does not start a complete blob again. This is true while the blob is still in flight,
        // and also when it is older than all blobs in flight.
        for (late, under_way, waiting) in [(0, &[0, 9][..], 0), (9, &[9], 1), (3, &[3, 9], 1)] {
            assert!(matches!(reassembly.take(part(late, 0, 4, under_way), 1_000), Ok(None)));
            assert_eq!(reassembly.partial.len(), waiting, "after a part of blob {late}");
        }
    }

    #[test]
    fn r15_parts_take_the_configured_bytes_and_not_one_more() {
        let max = 2 * PART_BYTES;
        let mut reassembly = Reassembly::default();
        let taken = reassembly.take(part(0, 0, 3, &[0]), max);
        assert_eq!(taken.err(), Some(too_long(3 * PART_BYTES, max)), "the blob alone is too large");
        let all = [0, 1, 2];
        assert!(matches!(reassembly.take(part(0, 0, 2, &all), max), Ok(None)));
        assert!(matches!(reassembly.take(part(0, 0, 2, &all), max), Ok(None)), "it has come before");
        assert!(matches!(reassembly.take(part(1, 0, 2, &all), max), Ok(None)), "now the limit is reached");
        let taken = reassembly.take(part(2, 0, 2, &all), max);
        assert_eq!(taken.err(), Some(too_long(3 * PART_BYTES, max)));
    }

    #[test]
    fn r15_blobs_that_are_whole_or_given_up_take_no_room_and_do_not_come_back() {
        let max = 2 * PART_BYTES;
        let mut reassembly = Reassembly::default();
        for blob in (0..2_000).step_by(4) {
            // The first of four blobs becomes complete. The server stops sending the second while the third
            // is in flight. The third is older than all blobs in flight when the next part arrives.
            let [first, second, third] = [blob, blob + 1, blob + 2];
            assert!(matches!(reassembly.take(part(first, 0, 2, &[first, second]), max), Ok(None)));
            let whole = reassembly.take(part(first, 1, 2, &[first, second]), max);
            assert!(matches!(whole, Ok(Some(_))), "blob {first}");
            assert!(matches!(reassembly.take(part(second, 0, 2, &[second]), max), Ok(None)));
            assert_eq!(reassembly.bytes, PART_BYTES);
            assert!(matches!(reassembly.take(part(third, 0, 2, &[first, third]), max), Ok(None)));
            assert_eq!((reassembly.bytes, reassembly.partial.len()), (PART_BYTES, 1));
            for (late, under_way) in [(first, [first, third]), (second, [second, third])] {
                for index in [0, 1] {
                    let taken = reassembly.take(part(late, index, 2, &under_way), max);
                    assert!(matches!(taken, Ok(None)), "part {index} of blob {late}");
                }
            }
            assert_eq!((reassembly.bytes, reassembly.partial.len()), (PART_BYTES, 1));
            assert!(reassembly.done.len() <= 4, "{:?}", reassembly.done);
        }
    }

    #[test]
    fn r15_parts_that_contradict_each_other_are_refused() {
        let mut reassembly = Reassembly::default();
        assert!(matches!(reassembly.take(part(0, 0, 3, &[0]), 1_000), Ok(None)));
        let contradictions = [Part { slot: 1, ..part(0, 1, 3, &[0]) }, part(0, 1, 2, &[0]), {
            let mut other = part(0, 1, 3, &[0]);
            other.head.cut.part_bits = LEAST_PART_BITS * 2;
            other
        }];
        for part in contradictions {
            assert_eq!(reassembly.take(part, 1_000).err(), Some(ReadError::OutOfRange));
        }
    }

    /// Writes a part of a blob into packet 3 and reads it again.
    fn read(
        oldest: u32,
        under_way: u64,
        behind: u64,
        sizes: [u64; 2],
        index: u64,
    ) -> Result<Part, ReadError> {
        let mut writer = BitWriter::new();
        writer.write_exp_golomb(oldest.into(), 4);
        writer.write_bits(under_way, BLOB_SPAN);
        writer.write_below(2, BLOB_SPAN.into());
        writer.write_exp_golomb(behind, 3);
        sizes.into_iter().for_each(|bits| writer.write_exp_golomb(bits, 12));
        writer.write_exp_golomb(index, 3);
        (0..20).for_each(|_| writer.write_bits(0, 64));
        Part::read(7, Sequence::new(3), &mut writer.as_slice().reader())
    }

    #[test]
    fn r15_parts_of_blobs_that_cannot_be_are_refused() {
        let part = read(5, 0b101, 3, [600, 256], 2).expect("all of it is possible");
        assert_eq!(
            (part.head.blob, part.head.stamp, part.bits.bit_len()),
            (7, Sequence::new(0), 600 - 2 * 256)
        );
        for part in [
            read(5, 0b011, 3, [600, 256], 2),
            read(5, 0b101, 4, [600, 256], 2),
            read(5, 0b101, 3, [600, 255], 2),
            read(5, 0b101, 3, [512, 256], 2),
            read(u32::MAX - 1, 0b101, 3, [600, 256], 2),
        ] {
            assert_eq!(part.err(), Some(ReadError::OutOfRange));
        }
    }
}
