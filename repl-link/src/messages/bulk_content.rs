//! The content of a bulk message (more than 64 KiB), which arrives part by part, in any order.
//!
//! *Invariant:* a part costs O(log parts that arrived too early), however many parts the message has. The
//! memory depends on the parts that have arrived, and not on the length that a peer claims.

use std::collections::BTreeMap;

use repl_core::{BitSlice, BitWriter};

use crate::frame::cut::{Cut, Partial};
use crate::messages::progress::Progress;

/// How many parts a chunk has. With larger chunks, fewer chunks are stored. With smaller chunks, inserting a
/// part is faster. The number is a multiple of 8, so that each chunk begins at a whole byte.
const CHUNK_PARTS: usize = 64;

/// The parts of a bulk message that have arrived. They are collected in chunks. The complete chunks at the
/// front of the content are joined in one buffer.
#[derive(Debug)]
pub(super) struct BulkContent {
    pub cut: Cut,
    /// The chunks at the front of the content. All their parts have arrived.
    front: Vec<u8>,
    /// The index of the chunk after the front.
    next: usize,
    /// The chunks after the front, by index, that have received some of their parts.
    chunks: BTreeMap<usize, Partial>,
    arrived_parts: usize,
    arrived_bits: usize,
}

impl BulkContent {
    /// Returns content without parts: no part has arrived yet.
    pub(super) const fn new(cut: Cut) -> Self {
        Self { cut, front: Vec::new(), next: 0, chunks: BTreeMap::new(), arrived_parts: 0, arrived_bits: 0 }
    }

    /// Returns whether a part has arrived.
    fn has(&self, index: usize) -> bool {
        let (chunk, place) = place_of(index);
        chunk < self.next || self.chunks.get(&chunk).is_some_and(|partial| partial.has(place))
    }

    /// Stores a part of the content. Returns `false` if the part has arrived before.
    pub(super) fn insert(&mut self, index: usize, part: BitSlice<'_>) -> bool {
        if self.has(index) {
            return false;
        }
        let (chunk, place) = place_of(index);
        let cut = self.cut_of(chunk);
        let mut bits = BitWriter::new();
        bits.append(part);
        self.chunks.entry(chunk).or_insert_with(|| Partial::new(cut)).insert(place, &mut bits);
        self.arrived_parts = self.arrived_parts.saturating_add(1);
        self.arrived_bits = self.arrived_bits.saturating_add(part.len());
        while let Some(entry) = self.chunks.first_entry().filter(|entry| *entry.key() == self.next)
            && entry.get().is_whole()
        {
            let mut whole = entry.remove().whole();
            self.add_to_front(whole.finish());
        }
        true
    }

    fn cut_of(&self, chunk: usize) -> Cut {
        let part_bits = self.cut.part_bits;
        let chunk_bits = part_bits.saturating_mul(CHUNK_PARTS);
        let before = chunk_bits.saturating_mul(chunk);
        Cut { bit_len: chunk_bits.min(self.cut.bit_len.saturating_sub(before)), part_bits }
    }

    /// Adds the bytes of the next chunk to the front. The capacity of the front grows by an eighth at a time,
    /// and never beyond the length of the content.
    fn add_to_front(&mut self, bytes: &[u8]) {
        let free = self.front.capacity().saturating_sub(self.front.len());
        if free < bytes.len() {
            let left = self.cut.bit_len.div_ceil(8).saturating_sub(self.front.len());
            self.front.reserve_exact(bytes.len().max((self.front.len() / 8).min(left)));
        }
        self.front.extend_from_slice(bytes);
        self.next = self.next.saturating_add(1);
    }

    /// Returns whether `parts`, the index and the bits of each part, contains all missing parts.
    pub(super) fn lacks_only(&self, parts: &[(usize, BitSlice<'_>)]) -> bool {
        let new = parts.iter().filter(|(index, _)| !self.has(*index)).count();
        self.arrived_parts.saturating_add(new) == self.cut.parts()
    }

    /// Returns the bits of the content if all its parts have arrived.
    pub(super) fn whole(&self) -> Option<BitSlice<'_>> {
        if self.arrived_parts == self.cut.parts() { self.cut.whole_of(&self.front) } else { None }
    }

    /// Returns the bytes of the content, whose parts have all arrived.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.front
    }

    /// Returns how much of the content has arrived.
    pub(super) fn progress(&self) -> Progress {
        Progress::of_bits(self.arrived_bits, self.cut.bit_len)
    }
}

/// Returns the index of the chunk that contains a part, and the index of the part within this chunk.
const fn place_of(index: usize) -> (usize, usize) {
    (index / CHUNK_PARTS, index % CHUNK_PARTS)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn parts_in_any_order_are_one_content(
            bit_len in 300..400_000_usize,
            part_bits in 256..3_000_usize,
            steps in 1..1_000_usize,
        ) {
            let cut = Cut { bit_len, part_bits };
            let bytes: Vec<u8> = (0..bit_len.div_ceil(8)).map(|at| (at * at / 7) as u8).collect();
            let mut content = BulkContent::new(cut);
            let (mut index, mut arrived) = (0, std::collections::BTreeSet::new());
            while arrived.len() < cut.parts() {
                prop_assert_eq!(content.whole(), None);
                index = (index + steps) % cut.parts();
                while arrived.contains(&index) {
                    prop_assert!(!content.insert(index, cut.part(index, &bytes)));
                    index = (index + 1) % cut.parts();
                }
                arrived.insert(index);
                prop_assert_eq!(
                    content.lacks_only(&[(index, cut.part(index, &bytes))]),
                    arrived.len() == cut.parts(),
                );
                prop_assert!(content.insert(index, cut.part(index, &bytes)));
            }
            let whole = content.whole().expect("all parts");
            prop_assert_eq!(whole.len(), bit_len);
            prop_assert!(whole.reader().take(bit_len).unwrap() == cut.whole_of(&bytes).unwrap());
            prop_assert!(content.front.capacity() <= bit_len.div_ceil(8) + 8);
            prop_assert_eq!(content.progress().done_bytes, bit_len.div_ceil(8));
        }
    }

    #[test]
    fn the_front_takes_at_most_an_eighth_more_than_what_has_arrived() {
        let cut = Cut { bit_len: 16 << 23, part_bits: 2_312 };
        let bytes = [7_u8; 289];
        let mut content = BulkContent::new(cut);
        for index in 0..20_000 {
            content.insert(index, BitSlice::new(&bytes, 0, 2_312).unwrap());
            let arrived = (index + 1) * 289;
            assert!(content.front.capacity() <= arrived * 9 / 8, "{index}");
        }
    }
}
