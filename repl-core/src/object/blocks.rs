//! Blocks of an object: up to 64 bytes of plain memory, with the properties to which the bytes belong. A
//! comparison finds the properties that differ in a whole block at once, and copies the block.
//!
//! *Invariant:* a block begins where the value of a property begins, ends where such a value ends, and lies
//! in one of the runs of its type's plan of all properties. So all of its bytes are initialised, and
//! copying them copies values.
#![expect(unsafe_code, reason = "compares and copies plain memory")]

use std::marker::PhantomData;
use std::ops::Range;

use super::scan::{differing_bytes_of, load, wide};
use crate::ids::handles::HandleSet;
use crate::schema::plan::{Planned, Run};

/// The greatest number of bytes of a block, because each byte has a bit in a mask.
const MAX_BYTES: usize = 64;
/// The bytes of an object after this number are in no block, so that the table of their properties stays
/// small.
const MAX_OFFSET: usize = 16 << 10;

/// The blocks of the type `T`.
#[derive(Debug)]
pub(crate) struct Blocks<T> {
    list: BlockList,
    objects: PhantomData<fn(&mut T)>,
}

/// The blocks of some type.
#[derive(Debug)]
struct BlockList {
    blocks: Vec<Block>,
    /// For each byte of an object, the bit of the property to which it belongs, if it is in a block. See
    /// [`Block::handles`].
    bits: Vec<u8>,
}

/// A property whose value is plain memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlainValue {
    pub(crate) handle: u32,
    /// The offset of the value from the start of the object, in bytes.
    pub(crate) offset: usize,
    pub(crate) bytes: usize,
    /// Whether the property is compared in every tick.
    pub(crate) is_ordinary: bool,
    /// Whether all values have wire forms, which differ if the values differ. So a value can be copied to a
    /// shadow without a look at it.
    pub(crate) is_any_sent: bool,
}

/// The properties that a comparison of bytes has found to differ.
pub(crate) struct Differences<'a> {
    /// The properties that are compared.
    pub(crate) scope: &'a HandleSet,
    /// Those whose values were copied to the shadow.
    pub(crate) copied: &'a mut HandleSet,
    /// Those that must still be compared by their commands.
    pub(crate) left: &'a mut HandleSet,
}

impl Differences<'_> {
    /// Returns the set of the properties whose values are copied, or of those whose values are not.
    #[inline]
    pub(crate) fn list(&mut self, is_copied: bool) -> &mut HandleSet {
        if is_copied { self.copied } else { self.left }
    }
}

/// All properties of a block have their handles in the same word of a set of handles, and all or none of them
/// are compared in every tick.
#[derive(Debug)]
struct Block {
    offset: usize,
    bytes: usize,
    /// Whether the properties are compared in every tick.
    is_ordinary: bool,
    /// A bit for each byte that belongs to a property.
    owned: u64,
    /// A bit for the last byte of each property.
    last: u64,
    /// The index of the word of a set of handles.
    word: usize,
    /// The bits of the properties in this word.
    handles: u64,
    /// A bit for the last byte of each property of which any value can be copied to a shadow.
    any_sent: u64,
    /// Whether the whole block can be copied.
    is_copied: bool,
}

impl<T: Planned> Blocks<T> {
    /// Divides the values into blocks. Returns the blocks and the handles of the values that are in them.
    pub(crate) fn of(values: Vec<PlainValue>) -> (Self, HandleSet) {
        let (list, mapped) = BlockList::of(values, const { T::WHOLE }.runs());
        (Self { list, objects: PhantomData }, mapped)
    }

    /// Compares the blocks of an object with those of its shadow, and adds the properties that differ to
    /// `differences`. Copies a whole block if all its values can be copied and are in scope, and otherwise
    /// those of its values that can be copied, differ and are in scope.
    #[inline]
    pub(crate) fn compare(&self, live: &T, shadow: &mut T, differences: &mut Differences<'_>) {
        let (from, to) = (std::ptr::from_ref(live).cast(), std::ptr::from_mut(shadow).cast());
        // SAFETY: the blocks were made from the plan of `T`, so they are initialised bytes inside a `T`,
        // which the references lend.
        unsafe { self.list.compare(from, to, differences) };
    }
}

impl BlockList {
    /// Divides the values that lie in one of `runs` into blocks, and leaves out all others. Returns the
    /// blocks, and the handles of the values in them.
    fn of(mut values: Vec<PlainValue>, runs: &[Run]) -> (Self, HandleSet) {
        values.sort_unstable_by_key(|value| value.offset);
        let (mut blocks, mut bits) = (Vec::<Block>::new(), Vec::new());
        let (mut mapped, mut run_of_last) = (HandleSet::new(), None);
        for value in values {
            let end = value.offset + value.bytes;
            let is_run = |run: &Run| run.offset <= value.offset && end <= run.offset + run.len;
            let run = runs.iter().position(is_run);
            if value.bytes == 0 || value.bytes > MAX_BYTES || end > MAX_OFFSET || run.is_none() {
                continue;
            }
            let is_next = |block: &&mut Block| run == run_of_last && block.has_room_for(value);
            match blocks.last_mut().filter(is_next) {
                Some(block) => block.add(value),
                None => blocks.push(Block::of(value)),
            }
            bits.resize(end, 0);
            bits[value.offset..].fill(place_of(value.handle).1);
            run_of_last = run;
            mapped.insert(value.handle);
        }
        for block in &mut blocks {
            let has_no_gaps = block.owned == u64::MAX >> (MAX_BYTES - block.bytes);
            block.is_copied = has_no_gaps && block.any_sent == block.last;
        }
        (Self { blocks, bits }, mapped)
    }

    /// Does the same as [`Blocks::compare`].
    ///
    /// # Safety
    /// Both pointers point to objects of the type to which the blocks belong. The object at `to` is borrowed
    /// mutably.
    #[inline(always)]
    unsafe fn compare(&self, from: *const u8, to: *mut u8, differences: &mut Differences<'_>) {
        for block in &self.blocks {
            let scope = block.handles & differences.scope.word(block.word);
            if scope == 0 {
                continue;
            }
            let is_copied = block.is_copied && scope == block.handles;
            let (from, to) = (from.wrapping_add(block.offset), to.wrapping_add(block.offset));
            // SAFETY: blocks are initialised bytes inside the objects, by the caller. If they are copied,
            // they are values of the same properties.
            let bytes = unsafe { differing_bytes(from, to, block.bytes, is_copied) } & block.owned;
            if bytes == 0 {
                continue;
            }
            let last = block.last_of_values(bytes);
            if !is_copied {
                // SAFETY: as for this function.
                let (copied, left) = unsafe { self.copy_values(block, last, scope, (from, to)) };
                differences.copied.insert_word(block.word, copied);
                differences.left.insert_word(block.word, left);
                continue;
            }
            let differing = if last == block.last {
                block.handles
            } else {
                bits(last).fold(0, |found, at| found | self.property(block, at))
            };
            differences.copied.insert_word(block.word, differing);
        }
    }

    /// Copies those values of a block that differ, are in scope and can be copied without a look at them.
    /// `last` has a bit for the last byte of each value that differs, and `scope` a bit for each property in
    /// scope. Returns the bits of the properties that were copied, and of the others that differ.
    ///
    /// # Safety
    /// Both pointers point to the bytes of this block in two objects of the type to which the blocks belong.
    /// The object at `to` is borrowed mutably.
    // Not inlined, so that the code for most blocks stays short.
    #[inline(never)]
    unsafe fn copy_values(
        &self,
        block: &Block,
        last: u64,
        scope: u64,
        (from, to): (*const u8, *mut u8),
    ) -> (u64, u64) {
        let (mut copied, mut left) = (0, 0);
        for at in bits(last) {
            let property = self.property(block, at) & scope;
            if block.any_sent >> at & 1 == 0 {
                left |= property;
            } else if property != 0 {
                copied |= property;
                let value = block.value_up_to(at);
                let (from, to) = (from.wrapping_add(value.start), to.wrapping_add(value.start));
                // SAFETY: the value lies in the block, so its bytes are initialised in both objects. The
                // objects are different, and both values are of the same property.
                unsafe { std::ptr::copy_nonoverlapping(from, to, value.len()) };
            }
        }
        (copied, left)
    }

    /// Returns the bit of the property whose value in the block has this byte.
    #[inline]
    fn property(&self, block: &Block, byte: u32) -> u64 {
        1 << self.bits[block.offset + byte as usize]
    }
}

/// Returns the index of the word of a set of handles in which a handle is, and its bit in the word.
fn place_of(handle: u32) -> (usize, u8) {
    let bit = handle - 1;
    ((bit / 64) as usize, (bit % 64) as u8)
}

impl Block {
    /// Returns the block that begins with this value.
    fn of(value: PlainValue) -> Self {
        let mut block = Self {
            offset: value.offset,
            bytes: 0,
            is_ordinary: value.is_ordinary,
            owned: 0,
            last: 0,
            word: place_of(value.handle).0,
            handles: 0,
            any_sent: 0,
            is_copied: false,
        };
        block.add(value);
        block
    }

    /// Returns whether a value that comes after the other values of the block can be added.
    fn has_room_for(&self, value: PlainValue) -> bool {
        let end = value.offset + value.bytes;
        let is_like = place_of(value.handle).0 == self.word && value.is_ordinary == self.is_ordinary;
        is_like && end <= self.offset + MAX_BYTES
    }

    /// Adds a value that comes after the other values of the block.
    fn add(&mut self, value: PlainValue) {
        let at = value.offset - self.offset;
        self.bytes = at + value.bytes;
        self.owned |= u64::MAX >> (MAX_BYTES - value.bytes) << at;
        self.last |= 1 << (self.bytes - 1);
        self.any_sent |= u64::from(value.is_any_sent) << (self.bytes - 1);
        self.handles |= 1 << place_of(value.handle).1;
    }

    /// Returns the bytes of the value whose last byte is `last`.
    fn value_up_to(&self, last: u32) -> Range<usize> {
        let before = self.last & ((1 << last) - 1);
        let end_before = u64::BITS - before.leading_zeros();
        let gap = (self.owned >> end_before).trailing_zeros();
        (end_before + gap) as usize..last as usize + 1
    }

    /// Returns the bit of the last byte of each value of which any byte is in `bytes`.
    #[inline]
    fn last_of_values(&self, bytes: u64) -> u64 {
        // The sum adds a one to each bit of a value but the last one. It carries into the last one if any of
        // them is set.
        ((bytes & !self.last).wrapping_add(!self.last) | bytes) & self.last
    }
}

/// Returns the positions of the bits that are set, in ascending order.
#[inline]
fn bits(mask: u64) -> impl Iterator<Item = u32> {
    let mut left = mask;
    std::iter::from_fn(move || {
        let at = (left != 0).then(|| left.trailing_zeros())?;
        left &= left - 1;
        Some(at)
    })
}

/// Returns a bit for each byte that differs. Copies the bytes from `one` to `other` if `is_copied` is true.
///
/// # Safety
/// Both pointers point to `len` initialised bytes. `len` is 1 to 64. If the bytes are copied, `other` is
/// valid for writes, does not overlap `one`, and the bytes are values of the same types.
#[inline(always)]
unsafe fn differing_bytes(one: *const u8, other: *mut u8, len: usize, is_copied: bool) -> u64 {
    if len < 16 {
        // SAFETY: as for this function.
        return unsafe { few_differing_bytes(one, other, len, is_copied) };
    }
    let at = |offset: usize| (one.wrapping_add(offset), other.wrapping_add(offset));
    let found = |offset: usize| {
        let (one, other) = at(offset);
        // SAFETY: `offset + 16` is at most `len`.
        unsafe { wide::differing_bytes(one, other) << offset }
    };
    let copy = |offset: usize| {
        let (one, other) = at(offset);
        // SAFETY: `offset + 16` is at most `len`. The caller guarantees that `other` can be written and does
        // not overlap `one`.
        unsafe { std::ptr::copy_nonoverlapping(one, other, 16) };
    };
    // The last 16 bytes may overlap those before them. They are read first, because the processor waits long
    // for bytes of which it has written a part just before.
    let last = len - 16;
    let (mut sum, mut offset) = (found(last), 0);
    while offset < last {
        sum |= found(offset);
        if is_copied {
            copy(offset);
        }
        offset += 16;
    }
    if is_copied {
        copy(last);
    }
    sum
}

/// Does the same as [`differing_bytes`] for fewer than 16 bytes.
///
/// # Safety
/// As for [`differing_bytes`].
// Not inlined, so that the code for most blocks stays short.
#[inline(never)]
unsafe fn few_differing_bytes(one: *const u8, other: *mut u8, len: usize, is_copied: bool) -> u64 {
    let width = match len {
        0..4 => 1,
        4..8 => 4,
        _ => 8,
    };
    let mut found = 0;
    for at in (0..len).step_by(width) {
        // The last word may overlap the word before it.
        let at = at.min(len - width);
        // SAFETY: `at + width` is at most `len`.
        let ours = unsafe { load(one.wrapping_add(at), width) };
        // SAFETY: as for the previous `unsafe` block.
        let theirs = unsafe { load(other.wrapping_add(at), width) };
        found |= differing_bytes_of(ours, theirs) << at;
    }
    if is_copied && found != 0 {
        // SAFETY: the caller guarantees that `other` is valid for writes and does not overlap `one`.
        unsafe { std::ptr::copy_nonoverlapping(one, other, len) };
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a block with values of these lengths, each after a gap.
    fn block_of(values: &[(usize, usize)]) -> Block {
        let mut offset = 8;
        let mut values = values.iter().zip(1..).map(|(&(gap, bytes), handle)| {
            offset += gap + bytes;
            PlainValue { handle, offset: offset - bytes, bytes, is_ordinary: true, is_any_sent: true }
        });
        let mut block = Block::of(values.next().unwrap());
        values.for_each(|value| block.add(value));
        block
    }

    #[test]
    fn a_value_differs_if_any_of_its_bytes_differs() {
        let values = [(0, 4), (0, 1), (3, 8), (1, 2), (0, 1), (0, 16), (4, 12), (0, 8), (3, 1)];
        let block = block_of(&values);
        assert_eq!(block.bytes, 64);
        let mut ranges = Vec::new();
        let mut end = 0;
        for (gap, bytes) in values {
            end += gap + bytes;
            ranges.push(end - bytes..end);
        }
        for one in 0..64 {
            for other in 0..64 {
                let bytes = (1 << one | 1 << other) & block.owned;
                let differing =
                    ranges.iter().filter(|range| (range.start..range.end).any(|at| bytes >> at & 1 == 1));
                let expected = differing.fold(0, |mask, range| mask | 1 << (range.end - 1));
                assert_eq!(block.last_of_values(bytes), expected, "bytes {one} and {other}");
            }
        }
    }

    #[test]
    fn each_byte_that_differs_is_found() {
        let one: [u8; 64] = std::array::from_fn(|at| at as u8);
        for len in 1..=64 {
            for (first, second) in (0..len).flat_map(|first| (0..len).map(move |second| (first, second))) {
                let mut other = one;
                other[first] ^= 0x80;
                other[second] ^= 0x01;
                let was = other;
                for is_copied in [false, true] {
                    // SAFETY: both arrays have 64 bytes.
                    let found = unsafe { differing_bytes(one.as_ptr(), other.as_mut_ptr(), len, is_copied) };
                    assert_eq!(found, 1 << first | 1 << second, "{len} bytes");
                    assert_eq!(other[..len], if is_copied { one } else { was }[..len]);
                    assert_eq!(other[len..], was[len..], "bytes after the block stay");
                }
            }
        }
    }

    #[test]
    fn words_differ_in_the_same_bytes_as_their_vectors() {
        for (one, other) in [(0, 0), (0, u64::MAX), (0x0100_ff00_0000_8001, 0), (0x80, 0x8000_0000_0000_0000)]
        {
            let bytes = (0..8).filter(|at| (one ^ other) >> (at * 8) & 0xff != 0);
            assert_eq!(differing_bytes_of(one, other), bytes.fold(0, |mask, at| mask | 1 << at));
        }
    }
}
