//! The bit writer and reader of the hand-written encoder. Packets are written one after another, each bit
//! after bit from the lowest bit of a byte up.
//!
//! *Invariant:* all bits after the last written bit are zero, both in the word `scratch` and in the result of
//! `finish`.

/// The greatest size of a packet, in bytes.
pub(crate) const PACKET_BYTES: usize = 1_200;
const STORAGE_BYTES: usize = PACKET_BYTES + 16;

/// Writes one packet after another into the same memory.
pub(crate) struct BitWriter {
    bytes: Box<[u8; STORAGE_BYTES]>,
    /// How many whole bytes were written.
    len: usize,
    scratch: u64,
    /// How many bits of `scratch` are used, 0 to 7. These bits follow the whole bytes.
    scratch_bits: u32,
}

/// A position between written bits, to which a writer can return.
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    len: usize,
    scratch: u64,
    scratch_bits: u32,
}

impl BitWriter {
    pub(crate) fn new() -> Self {
        Self { bytes: Box::new([0; STORAGE_BYTES]), len: 0, scratch: 0, scratch_bits: 0 }
    }

    /// Discards everything that was written.
    pub(crate) fn clear(&mut self) {
        (self.len, self.scratch, self.scratch_bits) = (0, 0, 0);
    }

    /// Writes the lowest `width` bits of `value`, 1 to 56. The other bits must be zero.
    ///
    /// Always stores eight bytes, because a branch on a full word would be hard to predict.
    #[inline]
    pub(crate) fn write(&mut self, value: u64, width: u32) {
        debug_assert!((1..=56).contains(&width) && value >> width == 0);
        self.scratch |= value << self.scratch_bits;
        self.bytes[self.len..self.len + 8].copy_from_slice(&self.scratch.to_le_bytes());
        let end = self.scratch_bits + width;
        self.len += (end / 8) as usize;
        self.scratch >>= end / 8 * 8;
        self.scratch_bits = end % 8;
    }

    /// Writes whole bytes, beginning at any bit position.
    pub(crate) fn write_bytes(&mut self, bytes: &[u8]) {
        let mut chunks = bytes.chunks_exact(4);
        for chunk in &mut chunks {
            self.write(u32::from_le_bytes(chunk.try_into().expect("a chunk of four")).into(), 32);
        }
        for byte in chunks.remainder() {
            self.write(u64::from(*byte), 8);
        }
    }

    #[inline]
    pub(crate) fn bit_len(&self) -> usize {
        self.len * 8 + self.scratch_bits as usize
    }

    /// Returns the position after the last written bit.
    #[inline]
    pub(crate) fn mark(&self) -> Mark {
        Mark { len: self.len, scratch: self.scratch, scratch_bits: self.scratch_bits }
    }

    /// Discards what was written after a mark.
    #[inline]
    pub(crate) fn rewind(&mut self, mark: Mark) {
        (self.len, self.scratch, self.scratch_bits) = (mark.len, mark.scratch, mark.scratch_bits);
    }

    /// Returns how many bytes the written bits take, rounded up.
    #[inline]
    pub(crate) fn byte_len(&self) -> usize {
        self.len + usize::from(self.scratch_bits > 0)
    }

    /// Returns the written bytes. The last byte is padded with zeros.
    pub(crate) fn finish(&mut self) -> &mut [u8] {
        let len = self.byte_len();
        self.bytes[self.len] = self.scratch as u8;
        &mut self.bytes[..len]
    }
}

/// Reads bits that a [`BitWriter`] wrote. The reader trusts its input, because it reads only packets of this
/// program.
pub(crate) struct BitReader<'a> {
    bytes: &'a [u8],
    /// The index of the next bit.
    at: usize,
}

impl<'a> BitReader<'a> {
    /// Returns a reader at the first bit of `bytes`.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Reads `width` bits, 1 to 56.
    ///
    /// # Panics
    /// Panics if fewer bits remain.
    #[inline]
    pub(crate) fn read(&mut self, width: u32) -> u64 {
        let (first, shift) = (self.at / 8, self.at % 8);
        self.at += width as usize;
        assert!(self.at <= self.bytes.len() * 8, "the packet ended");
        let word = match self.bytes[first..].first_chunk() {
            Some(bytes) => u64::from_le_bytes(*bytes),
            None => {
                let mut last = [0; 8];
                last[..self.bytes.len() - first].copy_from_slice(&self.bytes[first..]);
                u64::from_le_bytes(last)
            }
        };
        word >> shift & ((1 << width) - 1)
    }

    /// Returns how many bits have not been read.
    pub(crate) fn remaining(&self) -> usize {
        self.bytes.len() * 8 - self.at
    }
}
