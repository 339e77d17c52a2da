//! Cuts content that is too large for one packet into parts of equal length, except for the last part, which
//! may be shorter.
//!
//! *Invariant:* the memory for incomplete content depends on the parts that have arrived, and not on the
//! length that a peer claims.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::cmp::Ordering;

use repl_core::{BitReader, BitSlice, BitWriter, ReadError};

/// The smallest size of a part, except for the last part of the content. Each stored part costs memory in
/// addition to its bits. The smallest size limits the number of parts, and thus this memory.
pub const LEAST_PART_BITS: usize = 256;

/// How content is cut into parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The number of bits of the whole content.
    pub bit_len: usize,
    /// The number of bits of each part except the last part.
    pub part_bits: usize,
}

impl Cut {
    /// The greatest number of bits that [`write`](Self::write) writes, for content of up to 16 MiB.
    pub const BITS: usize = 43 + 27 + 36;

    /// Returns a `Cut` for content in one piece.
    pub const fn whole(bit_len: usize) -> Self {
        Self { bit_len, part_bits: bit_len }
    }

    /// Returns the number of parts, which is at least 1.
    pub fn parts(self) -> usize {
        if self.bit_len <= self.part_bits { 1 } else { self.bit_len.div_ceil(self.part_bits) }
    }

    /// Compares the size of the parts with the size of the parts of another `Cut` of the same content. If
    /// packets become smaller, the sender cuts the content again, into smaller parts. So smaller parts are
    /// newer.
    ///
    /// # Errors
    /// Returns an error if the content of the other `Cut` has another length.
    pub fn compare(self, other: Self) -> Result<Ordering, ReadError> {
        if self.bit_len == other.bit_len {
            Ok(self.part_bits.cmp(&other.part_bits))
        } else {
            Err(ReadError::OutOfRange)
        }
    }

    /// Returns the number of bits of a part.
    pub fn bits_of(self, index: usize) -> usize {
        self.part_bits.min(self.bit_len.saturating_sub(index.saturating_mul(self.part_bits)))
    }

    /// Returns the bits of a part of the content. `bytes` is the whole content.
    pub fn part(self, index: usize, bytes: &[u8]) -> BitSlice<'_> {
        let start = index.saturating_mul(self.part_bits);
        BitSlice::new(bytes, start, self.bits_of(index)).unwrap_or_default()
    }

    /// Returns the bits of the whole content. Returns `None` if `bytes` is shorter than the content.
    pub fn whole_of(self, bytes: &[u8]) -> Option<BitSlice<'_>> {
        BitSlice::new(bytes, 0, self.bit_len)
    }

    /// Writes how the content is cut into parts, and which part follows.
    pub fn write(self, index: usize, writer: &mut BitWriter) {
        writer.write_exp_golomb(self.bit_len as u64, 12);
        writer.write_exp_golomb(self.part_bits as u64, 12);
        writer.write_exp_golomb(index as u64, 3);
    }

    /// Reads how the content is cut into parts, and the index of the part that follows.
    ///
    /// # Errors
    /// Returns an error if the content has no part with this index, or if the parts are too small.
    pub fn read(reader: &mut BitReader<'_>) -> Result<(Self, usize), ReadError> {
        let mut number =
            |order| usize::try_from(reader.read_exp_golomb(order)?).map_err(|_| ReadError::OutOfRange);
        let cut = Self { bit_len: number(12)?, part_bits: number(12)? };
        let index = number(3)?;
        let is_there = index.checked_mul(cut.part_bits).is_some_and(|start| start < cut.bit_len);
        if is_there && cut.part_bits >= LEAST_PART_BITS {
            Ok((cut, index))
        } else {
            Err(ReadError::OutOfRange)
        }
    }
}

/// Content that arrives in parts, and the parts that have arrived so far.
#[derive(Debug)]
pub struct Partial {
    /// How the content is cut.
    pub cut: Cut,
    /// The bits of the arrived parts, in the order in which they arrived. In `bytes`, each part begins at a
    /// whole byte.
    bytes: Vec<u8>,
    /// The index of each part that has arrived, and the position in `bytes` at which it begins. The entries
    /// are sorted by the index of the part.
    starts: Vec<(u32, u32)>,
}

/// Reserves room for `more` elements. In addition, reserves at most an eighth of the current length.
fn reserve<T>(list: &mut Vec<T>, more: usize) {
    if list.capacity().saturating_sub(list.len()) < more {
        list.reserve_exact(more.max(list.len() / 8));
    }
}

impl Partial {
    /// Returns content without parts: no part has arrived yet.
    pub const fn new(cut: Cut) -> Self {
        Self { cut, bytes: Vec::new(), starts: Vec::new() }
    }

    /// Stores a part of the content. Returns `false` if the part has arrived before.
    pub fn insert(&mut self, index: usize, part: &mut BitWriter) -> bool {
        let index = index as u32;
        let Err(at) = self.starts.binary_search_by_key(&index, |&(index, _)| index) else { return false };
        let bytes = part.finish();
        reserve(&mut self.starts, 1);
        self.starts.insert(at, (index, self.bytes.len() as u32));
        reserve(&mut self.bytes, bytes.len());
        self.bytes.extend_from_slice(bytes);
        true
    }

    /// Returns whether all parts have arrived.
    pub fn is_whole(&self) -> bool {
        self.starts.len() == self.cut.parts()
    }

    /// Returns the whole content if all its parts have arrived.
    pub fn whole(&self) -> BitWriter {
        let mut whole = BitWriter::new();
        for &(index, start) in &self.starts {
            let bytes = self.bytes.get(start as usize..).unwrap_or_default();
            whole.append(BitSlice::new(bytes, 0, self.cut.bits_of(index as usize)).unwrap_or_default());
        }
        whole
    }

    /// Returns the whole content if `more` contains all missing parts: the index and the bits of each part,
    /// in ascending order. Does not store these parts.
    pub fn whole_with(&self, more: &[(usize, BitSlice<'_>)]) -> Option<BitWriter> {
        let new = more.iter().filter(|(index, _)| !self.has(*index)).count();
        if self.starts.len().saturating_add(new) < self.cut.parts() {
            return None;
        }
        let mut whole = BitWriter::new();
        let mut more = more.iter().copied().peekable();
        for index in 0..self.cut.parts() {
            let new = more.next_if(|(new, _)| *new == index).map(|(_, bits)| bits);
            whole.append(self.part(index).or(new)?);
        }
        Some(whole)
    }

    /// Returns whether a part has arrived.
    pub fn has(&self, index: usize) -> bool {
        self.start_of(index).is_some()
    }

    /// Returns the position in `bytes` of a part that has arrived.
    fn start_of(&self, index: usize) -> Option<u32> {
        let at = self.starts.binary_search_by_key(&index, |&(index, _)| index as usize).ok()?;
        self.starts.get(at).map(|&(_, start)| start)
    }

    /// Returns a part that has arrived.
    fn part(&self, index: usize) -> Option<BitSlice<'_>> {
        let bytes = self.bytes.get(self.start_of(index)? as usize..)?;
        BitSlice::new(bytes, 0, self.cut.bits_of(index))
    }

    /// Returns how many bytes the stored parts occupy.
    pub fn size(&self) -> usize {
        self.starts.iter().map(|&(index, _)| self.cut.bits_of(index as usize) / 8).sum()
    }
}
