//! Blocks of an object: a block is up to 64 bytes of plain memory, with the properties to which the bytes
//! belong. A comparison finds all differing properties of a block at once, and copies the block.
//!
//! Values with a margin (quantised values that are sent only after they have moved by more than the margin)
//! have separate blocks. A comparison compares these blocks with the seen bytes of the object (the bytes of
//! these values at the last comparison), and copies the differing bytes to the seen bytes.
//!
//! *Invariant:* a block begins at the start of a property's value, ends at the end of a property's value, and
//! lies in one run (initialised memory without padding) of the type's plan of all properties. So all bytes of
//! the block are initialised, and copying a block copies whole values.
#![expect(unsafe_code, reason = "compares and copies plain memory")]

use std::marker::PhantomData;

use super::differing::{MAX_BYTES, differing_bytes, last_of_values};
use super::plain_values::{Differences, Known, PlainValue, PlainValues, bits, place_of};
use super::stripes::Stripes;
use crate::ids::handles::HandleSet;
use crate::schema::plan::{Plan, Planned, Run};

#[derive(Debug)]
pub(crate) struct Blocks<T> {
    list: BlockList,
    stripes: Stripes,
    values: PlainValues,
    objects: PhantomData<fn(&mut T)>,
}

/// The blocks of some type.
#[derive(Debug)]
struct BlockList {
    blocks: Vec<Block>,
    /// The index is the offset of a byte in the object. If the byte is in a block, the value is the position
    /// of its property's bit in [`Block::handles`].
    bits: Vec<u8>,
}

/// A block. The handles of all its properties are in the same word of a set of handles. Either all these
/// properties are compared in every tick, or none.
#[derive(Debug)]
struct Block {
    offset: usize,
    bytes: usize,
    /// Whether the properties are compared in every tick.
    is_ordinary: bool,
    /// A mask of the bytes that belong to a property.
    owned: u64,
    /// A mask of the last bytes of the properties.
    last: u64,
    /// The index of the word of a set of handles that contains the properties.
    word: usize,
    /// The bits of the properties in this word.
    handles: u64,
    /// A mask of the last bytes of those properties whose values can all be sent, so that they are copied to
    /// a shadow without a check.
    any_sent: u64,
    /// Whether the whole block can be copied to the shadow without a check.
    is_copied: bool,
    /// The offset of the block in the seen bytes, if its values have a margin.
    seen: Option<usize>,
    /// Whether each byte of the block belongs to a property.
    has_no_gaps: bool,
}

impl<T: Planned> Blocks<T> {
    /// Divides the values into blocks. Returns the blocks and the handles of the values that are in them.
    pub(crate) fn of(values: Vec<PlainValue>) -> (Self, HandleSet) {
        let values = PlainValues::of(values, &const { T::WHOLE });
        let list = BlockList::of(&values, &const { T::WHOLE });
        let handles = values.as_slice().iter().map(|value| value.handle).collect();
        let stripes = Stripes::of(&values, &const { T::PLAN });
        (Self { list, stripes, values, objects: PhantomData }, handles)
    }

    /// Compares the blocks of an object with the blocks of its shadow, and adds the properties that differ to
    /// `differences`. Compares a whole block if all its values are in `differences.scope`, and otherwise the
    /// values in this scope one by one. Copies the values that differ and need no check before they are
    /// copied.
    ///
    /// Compares values with a margin with the seen bytes of the object, and copies the differing bytes to the
    /// seen bytes. If `seen` is empty, compares these values with the shadow.
    #[inline]
    pub(crate) fn compare(
        &self,
        live: &T,
        shadow: &mut T,
        seen: &mut [u8],
        differences: &mut Differences<'_>,
    ) {
        let known = Self::known(shadow, seen);
        // SAFETY: the blocks were made from the plan of `T`, so they are initialised bytes inside a `T`,
        // which the references lend. The seen bytes have the length that this plan states.
        unsafe { self.list.compare(std::ptr::from_ref(live).cast(), known, &self.values, differences) };
    }

    /// Does the same as [`compare`](Self::compare) for the properties that are compared in every tick. Adds
    /// the handles to `copied` and `left` as described at [`Differences`].
    #[inline(always)]
    pub(crate) fn compare_ordinary(
        &self,
        live: &T,
        shadow: &mut T,
        seen: &mut [u8],
        copied: &mut HandleSet,
        left: &mut HandleSet,
    ) {
        let known = Self::known(shadow, seen);
        // SAFETY: the stripes were made from the plan of `T`, so they are initialised bytes inside a `T`,
        // which the references lend. The seen bytes have the length that the plan of all properties states.
        unsafe {
            self.stripes.compare::<T>(std::ptr::from_ref(live).cast(), known, &self.values, copied, left);
        }
    }

    /// Returns the properties that [`copy_direct`](Self::copy_direct) can copy, as bits of the first word
    /// of a set of handles.
    #[inline]
    pub(crate) fn direct(&self) -> u64 {
        self.values.direct()
    }

    /// Compares the [direct](Self::direct) properties with a set bit in `scope`, and copies the values that
    /// differ to the shadow. Returns the bits of the properties that differed. Costs O(bits set in `scope`).
    #[inline]
    pub(crate) fn copy_direct(&self, live: &T, shadow: &mut T, scope: u64) -> u64 {
        let (from, to) = (std::ptr::from_ref(live).cast(), std::ptr::from_mut(shadow).cast());
        // SAFETY: the values belong to `T`, and the shadow is borrowed mutably.
        unsafe { self.values.copy_direct(scope, from, to) }
    }

    /// Returns the memory (shadow and seen bytes) with which an object is compared.
    #[inline(always)]
    fn known(shadow: &mut T, seen: &mut [u8]) -> Known {
        let is_seen = seen.len() == const { T::WHOLE.seen_bytes() };
        let seen = if is_seen { seen.as_mut_ptr() } else { std::ptr::null_mut() };
        Known { shadow: std::ptr::from_mut(shadow).cast(), seen }
    }

    /// Sets the seen bytes of a property to the bytes of the shadow. Then each comparison of the object finds
    /// the property again, as long as it differs from the shadow. Does nothing for a property without seen
    /// bytes.
    #[cold]
    pub(crate) fn forget_seen(&self, handle: u32, shadow: &T, seen: &mut [u8]) {
        // SAFETY: the values belong to `T`.
        unsafe { self.values.forget_seen(handle, std::ptr::from_ref(shadow).cast(), seen) };
    }
}

impl BlockList {
    fn of(values: &PlainValues, plan: &Plan) -> Self {
        let runs: Vec<Run> = plan.all_runs().collect();
        let (mut blocks, mut bits, mut run_of_last) = (Vec::<Block>::new(), Vec::new(), None);
        for &value in values.as_slice() {
            let run = runs.iter().position(|run| run.has(value.offset, value.bytes));
            let is_next = |block: &&mut Block| run == run_of_last && block.has_room_for(value);
            match blocks.last_mut().filter(is_next) {
                Some(block) => block.add(value),
                None => blocks.push(Block::of(value, plan.seen_at(value.offset, value.bytes))),
            }
            bits.resize(value.end(), 0);
            bits[value.offset..].fill(place_of(value.handle).1);
            run_of_last = run;
        }
        for block in &mut blocks {
            block.has_no_gaps = block.owned == u64::MAX >> (MAX_BYTES - block.bytes);
            block.is_copied = block.has_no_gaps && block.any_sent == block.last;
        }
        Self { blocks, bits }
    }

    /// Does the same as [`Blocks::compare`].
    ///
    /// # Safety
    /// `from` and the shadow are objects of the type to which the blocks belong. The shadow and the seen
    /// bytes are borrowed mutably.
    #[inline]
    unsafe fn compare(
        &self,
        from: *const u8,
        known: Known,
        values: &PlainValues,
        differences: &mut Differences<'_>,
    ) {
        for block in &self.blocks {
            let scope = block.handles & differences.scope.word(block.word);
            if scope == 0 {
                continue;
            }
            if scope != block.handles {
                // SAFETY: as for this function.
                unsafe {
                    values.compare(block.word, scope, from, known, differences.copied, differences.left)
                };
                continue;
            }
            let first = from.wrapping_add(block.offset);
            let (known_first, is_seen) = known.at(block.offset, block.seen);
            let is_copied = if is_seen { block.has_no_gaps } else { block.is_copied };
            // SAFETY: blocks are initialised bytes inside the objects, by the caller.
            let bytes = unsafe { differing_bytes(first, known_first, block.bytes) };
            let last = last_of_values(bytes & block.owned, block.last);
            if last == 0 {
                continue;
            }
            let differing = if last == block.last {
                block.handles
            } else {
                bits(last).fold(0, |found, at| found | self.property(block, at))
            };
            if is_copied {
                // SAFETY: as for the previous `unsafe` block. The shadow and the seen bytes are borrowed
                // mutably, and a block that is copied consists of values of the same properties.
                unsafe { std::ptr::copy_nonoverlapping(first, known_first, block.bytes) };
                differences.list(!is_seen).insert_word(block.word, differing);
            } else {
                // SAFETY: as for this function.
                unsafe {
                    values.compare(block.word, differing, from, known, differences.copied, differences.left)
                };
            }
        }
    }

    /// Returns the bit of the property to which this byte of the block belongs.
    #[inline]
    fn property(&self, block: &Block, byte: u32) -> u64 {
        1 << self.bits[block.offset + byte as usize]
    }
}

impl Block {
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
}
