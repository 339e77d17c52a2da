//! Blocks of an object: up to 64 bytes of plain memory, with the properties to which the bytes belong. A
//! comparison finds the properties that differ in a whole block at once, and copies the block.
//!
//! The values with a margin have blocks of their own. A comparison compares these with the seen bytes of the
//! object, and copies to these what differs.
//!
//! *Invariant:* a block begins where the value of a property begins, ends where such a value ends, and lies
//! in one of the runs of its type's plan of all properties. So all of its bytes are initialised, and
//! copying them copies values.
#![expect(unsafe_code, reason = "compares and copies plain memory")]

use std::marker::PhantomData;
use std::slice::{from_raw_parts, from_raw_parts_mut};

use super::scan::{differing_bytes_of, load, wide};
use crate::ids::handles::HandleSet;
use crate::schema::plan::{MAX_OFFSET, Plan, Planned, Run};

/// The greatest number of bytes of a block, because each byte has a bit in a mask.
const MAX_BYTES: usize = 64;

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
    /// Where the values are that are in blocks, by their handles less one.
    places: Vec<ValuePlace>,
    /// The properties whose values are copied to the shadow without a look at them, as bits of the first word
    /// of a set of handles.
    direct: u64,
}

/// Where a value in a block is.
#[derive(Clone, Copy, Debug, Default)]
struct ValuePlace {
    /// The offset of the value from the start of the object, in bytes.
    offset: u16,
    bytes: u8,
    /// See [`PlainValue::is_any_sent`].
    is_any_sent: bool,
    /// The offset of the value in the seen bytes, if it has a margin.
    seen: Option<u16>,
}

/// The memory with which an object is compared.
#[derive(Clone, Copy)]
struct Known {
    shadow: *mut u8,
    /// The seen bytes of the object, or null if the comparison has none.
    seen: *mut u8,
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
    /// Whether the whole block can be copied to the shadow.
    is_copied: bool,
    /// The offset of the block in the seen bytes, if its values have a margin.
    seen: Option<usize>,
    /// Whether each byte of the block belongs to a property.
    has_no_gaps: bool,
}

impl<T: Planned> Blocks<T> {
    /// Divides the values into blocks. Returns the blocks and the handles of the values that are in them.
    pub(crate) fn of(values: Vec<PlainValue>) -> (Self, HandleSet) {
        let (list, mapped) = BlockList::of(values, &const { T::WHOLE });
        (Self { list, objects: PhantomData }, mapped)
    }

    /// Compares the blocks of an object with those of its shadow, and adds the properties that differ to
    /// `differences`. Compares a whole block if all its values are in scope, and otherwise the values in
    /// scope one by one. Copies the values that differ and can be copied.
    ///
    /// Compares values with a margin with the seen bytes of the object, unless `seen` is empty. Copies to the
    /// seen bytes what differs.
    #[inline]
    pub(crate) fn compare(
        &self,
        live: &T,
        shadow: &mut T,
        seen: &mut [u8],
        differences: &mut Differences<'_>,
    ) {
        let is_seen = seen.len() == const { T::WHOLE.seen_bytes() };
        let seen = if is_seen { seen.as_mut_ptr() } else { std::ptr::null_mut() };
        let known = Known { shadow: std::ptr::from_mut(shadow).cast(), seen };
        // SAFETY: the blocks were made from the plan of `T`, so they are initialised bytes inside a `T`,
        // which the references lend. The seen bytes have the length that this plan states.
        unsafe { self.list.compare(std::ptr::from_ref(live).cast(), known, differences) };
    }

    /// Returns the properties that [`copy_direct`](Self::copy_direct) can copy, as bits of the first word of a
    /// set of handles.
    #[inline]
    pub(crate) fn direct(&self) -> u64 {
        self.list.direct
    }

    /// Copies to the shadow those values that differ of the [direct](Self::direct) properties whose bits are
    /// set in `scope`. Returns the bits of those that differed. Costs O(bits), and looks at nothing else.
    #[inline]
    pub(crate) fn copy_direct(&self, live: &T, shadow: &mut T, scope: u64) -> u64 {
        debug_assert!(scope & !self.list.direct == 0, "all values in scope are copied without a look");
        let (from, to) = (std::ptr::from_ref(live).cast::<u8>(), std::ptr::from_mut(shadow).cast::<u8>());
        bits(scope & self.list.direct).fold(0, |copied, bit| {
            let ValuePlace { offset, bytes, .. } = self.list.places[bit as usize];
            let (offset, bytes) = (usize::from(offset), usize::from(bytes));
            // SAFETY: a value in a block is initialised bytes inside the object.
            let value = unsafe { from_raw_parts(from.wrapping_add(offset), bytes) };
            // SAFETY: as for the previous block. The shadow is borrowed mutably, and any value of a direct
            // property can be copied to it.
            let known = unsafe { from_raw_parts_mut(to.wrapping_add(offset), bytes) };
            copied | u64::from(copy_different(value, known)) << bit
        })
    }

    /// Makes the seen bytes of a property those of the shadow, so that a scan finds the object as long as the
    /// property has another value. Does nothing for a property without seen bytes.
    #[cold]
    pub(crate) fn forget_seen(&self, handle: u32, shadow: &T, seen: &mut [u8]) {
        let Some(place) = self.list.places.get(handle.wrapping_sub(1) as usize) else { return };
        let (offset, bytes) = (usize::from(place.offset), usize::from(place.bytes));
        let seen = place.seen.and_then(|at| seen.get_mut(at.into()..usize::from(at) + bytes));
        let value = std::ptr::from_ref(shadow).cast::<u8>().wrapping_add(offset);
        // SAFETY: a value in a block is initialised bytes inside the object.
        seen.into_iter().for_each(|seen| seen.copy_from_slice(unsafe { from_raw_parts(value, bytes) }));
    }
}

impl Known {
    /// Returns the memory with which the bytes at an offset of the object are compared, and whether these are
    /// seen bytes. `seen` is the offset of the bytes in the seen bytes.
    #[inline(always)]
    fn at(self, offset: usize, seen: Option<usize>) -> (*mut u8, bool) {
        match seen {
            Some(at) if !self.seen.is_null() => (self.seen.wrapping_add(at), true),
            _ => (self.shadow.wrapping_add(offset), false),
        }
    }
}

impl BlockList {
    /// Divides the values that lie in one of the runs of `plan` into blocks, and leaves out all others.
    /// Returns the blocks, and the handles of the values in them.
    fn of(mut values: Vec<PlainValue>, plan: &Plan) -> (Self, HandleSet) {
        values.sort_unstable_by_key(|value| value.offset);
        let runs: Vec<Run> =
            plan.runs().iter().copied().chain(plan.seen_runs().iter().map(|seen| seen.run)).collect();
        let (mut blocks, mut bits, mut places) = (Vec::<Block>::new(), Vec::new(), Vec::new());
        let (mut mapped, mut run_of_last) = (HandleSet::new(), None);
        for value in values {
            let end = value.offset + value.bytes;
            let is_run = |run: &Run| run.offset <= value.offset && end <= run.offset + run.len;
            let run = runs.iter().position(is_run);
            if value.bytes == 0 || value.bytes > MAX_BYTES || end > MAX_OFFSET || run.is_none() {
                continue;
            }
            let seen = plan.seen_at(value.offset, value.bytes);
            let is_next = |block: &&mut Block| run == run_of_last && block.has_room_for(value);
            match blocks.last_mut().filter(is_next) {
                Some(block) => block.add(value),
                None => blocks.push(Block::of(value, seen)),
            }
            bits.resize(end, 0);
            bits[value.offset..].fill(place_of(value.handle).1);
            let at = value.handle as usize - 1;
            places.resize(places.len().max(at + 1), ValuePlace::default());
            places[at] = ValuePlace::of(value, seen);
            run_of_last = run;
            mapped.insert(value.handle);
        }
        for block in &mut blocks {
            block.has_no_gaps = block.owned == u64::MAX >> (MAX_BYTES - block.bytes);
            block.is_copied = block.has_no_gaps && block.any_sent == block.last;
        }
        let is_direct = |place: &ValuePlace| place.is_any_sent && place.seen.is_none();
        let direct = (0..64).zip(&places).filter(|(_, place)| is_direct(place));
        let direct = direct.fold(0, |direct, (bit, _)| direct | 1 << bit);
        (Self { blocks, bits, places, direct }, mapped)
    }

    /// Does the same as [`Blocks::compare`].
    ///
    /// # Safety
    /// `from` and the shadow are objects of the type to which the blocks belong. The shadow and the seen
    /// bytes are borrowed mutably.
    #[inline(always)]
    unsafe fn compare(&self, from: *const u8, known: Known, differences: &mut Differences<'_>) {
        for block in &self.blocks {
            let scope = block.handles & differences.scope.word(block.word);
            if scope == 0 {
                continue;
            }
            if scope != block.handles {
                // SAFETY: as for this function.
                unsafe { self.compare_values(block.word, scope, from, known, differences) };
                continue;
            }
            let first = from.wrapping_add(block.offset);
            let (known_first, is_seen) = known.at(block.offset, block.seen);
            let is_copied = if is_seen { block.has_no_gaps } else { block.is_copied };
            // SAFETY: blocks are initialised bytes inside the objects, by the caller. If they are copied to
            // the shadow, they are values of the same properties.
            let bytes = unsafe { differing_bytes(first, known_first, block.bytes, is_copied) };
            let last = block.last_of_values(bytes & block.owned);
            if last == 0 {
                continue;
            }
            let differing = if last == block.last {
                block.handles
            } else {
                bits(last).fold(0, |found, at| found | self.property(block, at))
            };
            if is_copied {
                differences.list(!is_seen).insert_word(block.word, differing);
            } else {
                // SAFETY: as for this function.
                unsafe { self.compare_values(block.word, differing, from, known, differences) };
            }
        }
    }

    /// Compares those values of a word of handles whose bits are set in `scope`, one by one. Copies those
    /// that differ and can be copied without a look at them, and those with seen bytes to these. Adds what
    /// differs to `differences`.
    ///
    /// # Safety
    /// As for [`compare`](Self::compare). All the values are in blocks.
    // Not inlined, so that the code for most blocks stays short.
    #[inline(never)]
    unsafe fn compare_values(
        &self,
        word: usize,
        scope: u64,
        from: *const u8,
        known: Known,
        differences: &mut Differences<'_>,
    ) {
        let (mut copied, mut left) = (0, 0);
        for bit in bits(scope) {
            let ValuePlace { offset, bytes, is_any_sent, seen } = self.places[word * 64 + bit as usize];
            let (offset, bytes) = (offset.into(), bytes.into());
            let (to, is_seen) = known.at(offset, seen.map(usize::from));
            // SAFETY: a value in a block is initialised bytes inside the object.
            let value = unsafe { from_raw_parts(from.wrapping_add(offset), bytes) };
            // SAFETY: as for the previous block. The shadow and the seen bytes are borrowed mutably, and if a
            // value of the shadow is written, it is by a value of the same property.
            let known = unsafe { from_raw_parts_mut(to, bytes) };
            if is_seen {
                left |= u64::from(copy_different(value, known)) << bit;
            } else if is_any_sent {
                copied |= u64::from(copy_different(value, known)) << bit;
            } else {
                left |= u64::from(value != known) << bit;
            }
        }
        differences.copied.insert_word(word, copied);
        differences.left.insert_word(word, left);
    }

    /// Returns the bit of the property whose value in the block has this byte.
    #[inline]
    fn property(&self, block: &Block, byte: u32) -> u64 {
        1 << self.bits[block.offset + byte as usize]
    }
}

impl ValuePlace {
    /// Returns the place of a value that is in a block.
    fn of(value: PlainValue, seen: Option<usize>) -> Self {
        debug_assert!(value.offset <= MAX_OFFSET && value.bytes <= MAX_BYTES, "the value is in a block");
        let PlainValue { offset, bytes, is_any_sent, .. } = value;
        Self { offset: offset as u16, bytes: bytes as u8, is_any_sent, seen: seen.map(|at| at as u16) }
    }
}

/// Returns the index of the word of a set of handles in which a handle is, and its bit in the word.
fn place_of(handle: u32) -> (usize, u8) {
    let bit = handle - 1;
    ((bit / 64) as usize, (bit % 64) as u8)
}

impl Block {
    /// Returns the block that begins with this value.
    fn of(value: PlainValue, seen: Option<usize>) -> Self {
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
            seen,
            has_no_gaps: false,
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

/// Makes `to` equal to `from`, which is as long. Returns whether they differed. No function is called for the
/// lengths of numbers.
#[inline]
fn copy_different(from: &[u8], to: &mut [u8]) -> bool {
    #[inline]
    fn copy<const N: usize>(from: &[u8], to: &mut [u8]) -> Option<bool> {
        let (from, to) = (from.first_chunk::<N>()?, to.first_chunk_mut::<N>()?);
        let differs = from != to;
        *to = *from;
        Some(differs)
    }
    let number = match from.len() {
        1 => copy::<1>(from, to),
        2 => copy::<2>(from, to),
        4 => copy::<4>(from, to),
        8 => copy::<8>(from, to),
        _ => None,
    };
    number.unwrap_or_else(|| {
        let differs = from != to;
        to.copy_from_slice(from);
        differs
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
        let mut block = Block::of(values.next().unwrap(), None);
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
