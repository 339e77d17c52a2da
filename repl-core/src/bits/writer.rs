//! Writes bits to memory.
//!
//! *Invariant:* the first `settled` bytes of `bytes` are final. The last `pending_bits` bits that were
//! written are in `pending`, and the other bits of `pending` are zero. The first `finished` bytes are the
//! bytes that the last call of [`finish`](BitWriter::finish) returned. All other bytes of `bytes` are unused.

use std::io;
use std::num::NonZeroU32;
use std::ops::Range;

use bitstream_io::{
    BitCount, BitWrite, CheckedSigned, CheckedUnsigned, Endianness, LittleEndian, Primitive, SignedBitCount,
    SignedInteger, UnsignedInteger,
};

use super::{BitSlice, Rendition, load, mask, width_bits, word_of};

/// When a writer makes its vector longer, it adds at least this many bytes if the allocated memory has room.
const GROWTH: usize = 256;

/// Collects bits in memory.
///
/// A writer never fails. The caller must pass only values that fit into their widths. User code writes
/// through [`bitstream_io::BitWrite`], which checks this.
#[derive(Clone, Debug, Default)]
pub struct BitWriter {
    bytes: Vec<u8>,
    settled: usize,
    finished: usize,
    pending: u64,
    /// The number of pending bits, 0 to 63.
    pending_bits: u32,
    /// The number that is subtracted from the generations of guids, and from the numbers of assets.
    epoch: u32,
    /// What is more than bits. In a box, because few writers have it.
    aside: Option<Box<Aside>>,
}

#[derive(Clone, Debug, Default)]
struct Aside {
    /// The numbers of the assets to which the written values refer.
    named: Vec<NonZeroU32>,
    /// How the values of some properties are written, by their handles.
    renditions: Vec<(u32, Rendition)>,
}

impl BitWriter {
    /// Returns an empty writer that has allocated nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            bytes: Vec::new(),
            settled: 0,
            finished: 0,
            pending: 0,
            pending_bits: 0,
            epoch: 0,
            aside: None,
        }
    }

    /// Returns an empty writer with room for `bytes` bytes.
    #[must_use]
    pub fn with_capacity(bytes: usize) -> Self {
        // Adds room for one more word, because pending bits are stored eight bytes at a time.
        Self { bytes: Vec::with_capacity(bytes.saturating_add(8)), ..Self::new() }
    }

    /// Drops all bits and keeps the memory.
    #[inline]
    pub fn clear(&mut self) {
        (self.settled, self.finished, self.pending, self.pending_bits) = (0, 0, 0, 0);
        self.forget_named_assets();
    }

    /// Records that a written value refers to the asset with this number.
    #[cold]
    pub(crate) fn name_asset(&mut self, number: NonZeroU32) {
        let named = &mut self.aside.get_or_insert_default().named;
        if named.last() != Some(&number) {
            named.push(number);
        }
    }

    /// Returns the numbers of the assets to which the written values refer, in the order of writing, since
    /// the last [`clear`](Self::clear) or [`forget_named_assets`](Self::forget_named_assets). Values that
    /// were truncated count, too.
    #[inline]
    #[must_use]
    pub fn named_assets(&self) -> &[NonZeroU32] {
        self.aside.as_ref().map_or(&[], |aside| &aside.named)
    }

    /// Sets how the values of properties with differences are written, by the handles of the properties. All
    /// others are written whole. [`clear`](Self::clear) does not change it.
    pub fn set_renditions(&mut self, renditions: &[(u32, Rendition)]) {
        if self.aside.is_some() || !renditions.is_empty() {
            renditions.clone_into(&mut self.aside.get_or_insert_default().renditions);
        }
    }

    /// Returns how the value of the property at a handle is written.
    pub(crate) fn rendition(&self, handle: u32) -> Rendition {
        let mut all = self.aside.iter().flat_map(|aside| &aside.renditions);
        all.find(|(of, _)| *of == handle).map(|(_, rendition)| rendition.clone()).unwrap_or_default()
    }

    /// Forgets to which assets what was written refers.
    #[inline]
    pub fn forget_named_assets(&mut self) {
        if let Some(aside) = &mut self.aside {
            aside.named.clear();
        }
    }

    /// Sets the [epoch](crate::Epoch) of the references that are written: the number that is subtracted from
    /// the generations of guids and from the numbers of assets. It is zero at first, and
    /// [`clear`](Self::clear) does not change it.
    pub const fn set_epoch(&mut self, offset: u32) {
        self.epoch = offset;
    }

    pub(crate) const fn epoch(&self) -> u32 {
        self.epoch
    }

    /// Returns how many bits have been written.
    #[inline]
    #[must_use]
    pub const fn bit_len(&self) -> usize {
        self.settled * 8 + self.pending_bits as usize
    }

    /// Returns whether nothing has been written.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.bit_len() == 0
    }

    /// Writes the lowest `bits` bits of `value`. `bits` is 0 to 64. The higher bits of `value` must be zero.
    ///
    /// # Panics
    /// Panics in debug builds if `value` is wider than `bits`, or if `bits` is above 64. In release builds,
    /// such a call corrupts the bits that are written after it.
    #[inline]
    pub fn write_bits(&mut self, value: u64, bits: u32) {
        debug_assert!(bits <= 64 && value <= mask(bits), "{value} does not fit {bits} bits");
        self.pending |= value << self.pending_bits;
        let end = self.pending_bits + bits;
        if end < 64 {
            self.pending_bits = end;
        } else {
            self.settle_word(value, end);
        }
    }

    /// Moves the 64 bits of the full pending word to the bytes, and keeps the rest of `value` pending. `end`
    /// is the position at which `value` ends, counted in bits from the start of the pending word.
    // This function is not inlined, so that `write_bits` stays short enough to be inlined. Most values do not
    // fill a word.
    #[inline(never)]
    fn settle_word(&mut self, value: u64, end: u32) {
        let full = self.pending.to_le_bytes();
        if let Some(word) = self.room(8).first_chunk_mut() {
            *word = full;
        }
        self.settled += 8;
        // Shifts twice, because one shift by 64 would overflow when no bits were pending.
        self.pending = value >> 1 >> (63 - self.pending_bits);
        self.pending_bits = end - 64;
    }

    /// Returns the `count` bytes after the settled bytes.
    #[inline]
    fn room(&mut self, count: usize) -> &mut [u8] {
        let end = self.settled + count;
        if self.bytes.len() < end {
            self.grow(end);
        }
        &mut self.bytes[self.settled..end]
    }

    /// Makes `bytes` at least `end` bytes long, and longer if the allocated memory has room.
    #[inline(never)]
    fn grow(&mut self, end: usize) {
        self.bytes.reserve(end - self.bytes.len());
        self.bytes.resize(self.bytes.capacity().min(end + GROWTH), 0);
    }

    /// Writes whole words, the lowest byte of each word first.
    #[inline]
    pub(crate) fn write_words(&mut self, words: &[[u8; 8]]) {
        let (mut pending, pending_bits) = (self.pending, self.pending_bits);
        let bytes = self.room(words.len() * 8);
        for (to, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
            let word = u64::from_le_bytes(*word);
            *to = (pending | word << pending_bits).to_le_bytes();
            // Shifts twice, because one shift by 64 would overflow when no bits were pending.
            pending = word >> 1 >> (63 - pending_bits);
        }
        self.pending = pending;
        self.settled += words.len() * 8;
    }

    /// Writes one bit.
    #[inline]
    pub fn write_flag(&mut self, flag: bool) {
        self.write_bits(u64::from(flag), 1);
    }

    /// Writes an integer in an Exp-Golomb code of order `order`, which is 0 to 63. Numbers below 2^`order`
    /// take `order` + 1 bits; each doubling of the number takes two more bits. Use this code for numbers that
    /// are mostly small.
    ///
    /// With w = `value` + 2^`order` and m = ⌊log₂ w⌋, the code is m − `order` zeros, a one, and the m bits of
    /// w below its highest bit.
    ///
    /// # Panics
    /// Panics in debug builds if `order` is above 63.
    #[inline]
    pub fn write_exp_golomb(&mut self, value: u64, order: u32) {
        debug_assert!(order < 64, "an order of {order} is over 63");
        let (sum, overflown) = value.overflowing_add(1 << order);
        let width = if overflown { 64 } else { sum.ilog2() };
        let zeros = width - order;
        if zeros + 1 + width <= 64 {
            self.write_bits((sum & mask(width)) << (zeros + 1) | 1 << zeros, zeros + 1 + width);
        } else {
            self.write_long_exp_golomb(sum, width, zeros);
        }
    }

    /// Returns the bits that [`write_exp_golomb`](Self::write_exp_golomb) writes, and their number, so that a
    /// caller can write them together with other bits. Returns `None` if the code has more than 62 bits.
    ///
    /// # Panics
    /// Panics in debug builds if `order` is above 31.
    #[inline]
    #[must_use]
    pub const fn short_exp_golomb(value: u32, order: u32) -> Option<(u64, u32)> {
        debug_assert!(order < 32, "an order over 31");
        let sum = value as u64 + (1 << order);
        let width = sum.ilog2();
        let zeros = width - order;
        if zeros + 1 + width > 62 {
            return None;
        }
        Some(((sum ^ 1 << width) << (zeros + 1) | 1 << zeros, zeros + 1 + width))
    }

    /// Writes an Exp-Golomb code of more than 64 bits: `zeros` zeros, a one, and the `width` bits of `sum`
    /// below its highest bit.
    #[cold]
    fn write_long_exp_golomb(&mut self, sum: u64, width: u32, zeros: u32) {
        self.write_bits(0, zeros);
        self.write_flag(true);
        self.write_bits(sum & mask(width), width);
    }

    /// Writes a number below `bound` in ⌈log₂ `bound`⌉ bits.
    ///
    /// # Panics
    /// Panics in debug builds if `value` is not below `bound`.
    #[inline]
    pub fn write_below(&mut self, value: u64, bound: u64) {
        debug_assert!(value < bound, "{value} is not below {bound}");
        self.write_bits(value, width_bits(bound));
    }

    /// Writes all bits of a slice. Takes a fraction of a nanosecond for each 8 bytes, at any alignment of the
    /// slice and the writer.
    #[inline]
    pub fn append(&mut self, bits: BitSlice<'_>) {
        let mut at = 0;
        // Most slices are too short for the block copy to pay off.
        if bits.len() > 320 {
            // Completes the last byte of the writer, so that whole bytes can be appended after it.
            let head = (8 - self.pending_bits % 8) % 8;
            self.write_bits(bits.word(0) & mask(head), head);
            at = self.append_words(bits, head as usize);
        }
        let words = (bits.len() - at) / 64;
        if words > 0 {
            self.write_windows(bits, at, words);
            at += words * 64;
        }
        if at < bits.len() {
            self.write_bits(bits.word(at), (bits.len() - at) as u32);
        }
    }

    /// Writes `count` words of `bits` from bit `at` on.
    #[inline]
    fn write_windows(&mut self, bits: BitSlice<'_>, at: usize, count: usize) {
        let (mut pending, pending_bits) = (self.pending, self.pending_bits);
        bits.each_word(at, self.room(count * 8).as_chunks_mut().0, |word| {
            let full = pending | word << pending_bits;
            // Shifts twice, because one shift by 64 would overflow when no bits were pending.
            pending = word >> 1 >> (63 - pending_bits);
            full
        });
        self.pending = pending;
        self.settled += count * 8;
    }

    #[inline]
    pub(crate) fn append_bytes(&mut self, bytes: &[u8]) {
        // The same limit as in `append`.
        if bytes.len() > 40 {
            return self.append(bytes.into());
        }
        let (words, rest) = bytes.as_chunks();
        self.write_words(words);
        self.write_bits(word_of(rest), rest.len() as u32 * 8);
    }

    /// Appends the bits of `bits` from bit `at` on as whole words. The writer must be at a byte boundary.
    /// Returns the index of the first bit that was not appended.
    fn append_words(&mut self, bits: BitSlice<'_>, at: usize) -> usize {
        debug_assert!(self.pending_bits.is_multiple_of(8), "the writer stands within a byte");
        self.settled = self.finish().len();
        (self.pending, self.pending_bits) = (0, 0);

        let (bytes, start) = bits.parts();
        let (first, shift) = ((start + at) / 8, (start + at) % 8);
        let source = &bytes[first..];
        // If the bits must be shifted, each word also needs the byte after it. So the last words of a slice
        // are not appended here, but by the caller.
        let words =
            ((bits.len() - at) / 64).min(if shift == 0 { usize::MAX } else { (source.len() - 1) / 8 });
        let room = self.room(words * 8);
        if shift == 0 {
            room.copy_from_slice(&source[..words * 8]);
        } else {
            shift_words(room, source, shift as u32);
        }
        self.settled += words * 8;
        at + words * 64
    }

    /// Drops the bits from `bit_len` on. Does nothing if the writer has at most `bit_len` bits.
    pub fn truncate(&mut self, bit_len: usize) {
        if bit_len >= self.bit_len() {
            return;
        }
        if bit_len < self.settled * 8 {
            self.settled = bit_len / 8;
            self.pending = u64::from(self.bytes[self.settled]);
        }
        self.pending_bits = (bit_len - self.settled * 8) as u32;
        self.pending &= mask(self.pending_bits);
        self.finished = self.finished.min(self.settled);
    }

    /// Returns all bytes that were written. The last of the returned bytes is padded with zeros. Later writes
    /// to the writer continue after the last bit, as if this function had not been called.
    #[inline]
    pub fn finish(&mut self) -> &[u8] {
        let pending = self.pending.to_le_bytes();
        // Storing all eight bytes costs less than storing only the bytes that are used.
        if let Some(word) = self.room(8).first_chunk_mut() {
            *word = pending;
        }
        self.finished = self.settled + self.pending_bits.div_ceil(8) as usize;
        self.finished()
    }

    /// Returns the bytes that [`finish`](Self::finish) has returned, if nothing was written since then.
    /// Otherwise the last bits may be missing.
    #[inline]
    #[must_use]
    pub fn finished(&self) -> &[u8] {
        &self.bytes[..self.finished]
    }

    /// Returns all bytes that were written. The last of the returned bytes is padded with zeros.
    #[must_use]
    pub fn into_bytes(mut self) -> Vec<u8> {
        let len = self.finish().len();
        self.bytes.truncate(len);
        self.bytes
    }

    /// Returns all bytes that were written. Afterwards the writer is empty, and has no memory for bits. The
    /// last of the returned bytes is padded with zeros.
    #[must_use]
    pub fn take_bytes(&mut self) -> Vec<u8> {
        let aside = self.aside.take();
        let empty = Self { epoch: self.epoch, aside, ..Self::new() };
        std::mem::replace(self, empty).into_bytes()
    }

    /// Returns the bits in a range. Returns `None` if some of these bits have not been written.
    #[inline]
    pub fn slice(&mut self, range: Range<usize>) -> Option<BitSlice<'_>> {
        let len = range.end.checked_sub(range.start)?;
        if range.end > self.bit_len() {
            return None;
        }
        BitSlice::new(self.finish(), range.start, len)
    }

    /// Returns all bits as a slice.
    #[inline]
    pub fn as_slice(&mut self) -> BitSlice<'_> {
        let len = self.bit_len();
        BitSlice::new(self.finish(), 0, len).unwrap_or_default()
    }

    /// Returns the byte at index `at`. At least one bit of this byte must have been written.
    fn byte(&self, at: usize) -> u8 {
        match at.checked_sub(self.settled) {
            None => self.bytes[at],
            Some(at) => (self.pending >> (at * 8)) as u8,
        }
    }
}

/// Two writers are equal if the same bits were written to them.
impl PartialEq for BitWriter {
    fn eq(&self, other: &Self) -> bool {
        if self.bit_len() != other.bit_len() {
            return false;
        }
        if self.settled == other.settled {
            return self.pending == other.pending
                && self.bytes[..self.settled] == other.bytes[..self.settled];
        }
        (0..self.bit_len().div_ceil(8)).all(|at| self.byte(at) == other.byte(at))
    }
}

impl Eq for BitWriter {}

/// The size of a block: four words.
const BLOCK: usize = 32;

/// Shifts each word of `low` down by `shift` bits, 1 to 63, and fills its upper bits from the word of `high`
/// at the same index.
#[inline]
fn shift_block(low: &[u8; BLOCK], high: &[u8; BLOCK], shift: u32) -> [u8; BLOCK] {
    let word = |bytes: &[u8; BLOCK], at: usize| u64::from_le_bytes(bytes.as_chunks().0[at]);
    let mut block = [0; BLOCK];
    for (at, bytes) in block.as_chunks_mut().0.iter_mut().enumerate() {
        *bytes = (word(low, at) >> shift | word(high, at) << (64 - shift)).to_le_bytes();
    }
    block
}

/// Fills `to`, which has a whole number of words, with the bits of `from` that begin at bit `shift` of its
/// first byte. `shift` is 1 to 7, and `from` has at least one byte more than `to`.
fn shift_words(to: &mut [u8], from: &[u8], shift: u32) {
    // Full blocks are shifted first. Because their length is known, the compiler shifts several words at a
    // time.
    let (blocks, _) = to.as_chunks_mut::<BLOCK>();
    let (first_blocks, _) = from.as_chunks::<BLOCK>();
    let (next_blocks, _) = from.get(8..).unwrap_or_default().as_chunks::<BLOCK>();
    let count = blocks.len().min(next_blocks.len());
    for (block, (low, high)) in blocks.iter_mut().zip(first_blocks.iter().zip(next_blocks)) {
        *block = shift_block(low, high, shift);
    }
    let (to, from) = (&mut to[count * BLOCK..], &from[count * BLOCK..]);
    let (first_bytes, _) = from.as_chunks::<8>();
    let (next_bytes, _) = from.get(8..).unwrap_or_default().as_chunks::<8>();
    let (words, _) = to.as_chunks_mut::<8>();
    let pairs = first_bytes.iter().zip(next_bytes);
    let paired = pairs.len().min(words.len());
    for (word, (low, high)) in words.iter_mut().zip(pairs) {
        let (low, high) = (u64::from_le_bytes(*low), u64::from_le_bytes(*high));
        *word = (low >> shift | high << (64 - shift)).to_le_bytes();
    }
    // The last word may be followed by fewer than eight bytes.
    for (index, word) in words.iter_mut().enumerate().skip(paired) {
        *word = load(from, index * 64 + shift as usize).to_le_bytes();
    }
}

impl BitWrite for BitWriter {
    #[inline]
    fn write_bit(&mut self, bit: bool) -> io::Result<()> {
        self.write_flag(bit);
        Ok(())
    }

    #[inline]
    fn write_unsigned_counted<const MAX: u32, U: UnsignedInteger>(
        &mut self,
        bits: BitCount<MAX>,
        value: U,
    ) -> io::Result<()> {
        let (count, value) = CheckedUnsigned::new(bits, value)?.into_count_value();
        self.write_integer(value, count.into());
        Ok(())
    }

    #[inline]
    fn write_signed_counted<const MAX: u32, S: SignedInteger>(
        &mut self,
        bits: impl TryInto<SignedBitCount<MAX>>,
        value: S,
    ) -> io::Result<()> {
        let bits = bits.try_into().map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
        let (count, value) = CheckedSigned::<MAX, S>::new(bits, value)?.into_count_value();
        let bits = u32::from(count);
        // `as_non_negative` casts to two's complement. Only the lowest `bits` bits are written.
        self.write_integer(value.as_non_negative() & (S::Unsigned::ALL >> (S::BITS_SIZE - bits)), bits);
        Ok(())
    }

    #[inline]
    fn write_from<V: Primitive>(&mut self, value: V) -> io::Result<()> {
        self.write_as_from::<LittleEndian, V>(value)
    }

    #[inline]
    fn write_as_from<F: Endianness, V: Primitive>(&mut self, value: V) -> io::Result<()> {
        let bytes = F::primitive_to_bytes(value);
        self.write_wide(bytes.as_ref(), bytes.as_ref().len() as u32 * 8);
        Ok(())
    }

    #[inline]
    fn write_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.append(BitSlice::from(bytes));
        Ok(())
    }

    #[inline]
    fn byte_aligned(&self) -> bool {
        self.pending_bits.is_multiple_of(8)
    }
}

impl BitWriter {
    /// Writes an integer of up to 128 bits in `bits` bits. The integer must fit into `bits` bits.
    #[inline]
    fn write_integer<U: UnsignedInteger>(&mut self, value: U, bits: u32) {
        self.write_wide(value.to_le_bytes().as_ref(), bits);
    }

    /// Writes the lowest `bits` bits of up to 16 bytes. The higher bits of the value must be zero.
    #[inline]
    fn write_wide(&mut self, bytes: &[u8], bits: u32) {
        let mut words = [0; 16];
        words[..bytes.len()].copy_from_slice(bytes);
        let value = u128::from_le_bytes(words);
        self.write_bits(value as u64, bits.min(64));
        if bits > 64 {
            self.write_bits((value >> 64) as u64, bits - 64);
        }
    }
}

#[cfg(test)]
mod tests;
