//! Plain values: the values of an object that are plain memory, and their offsets. Blocks and stripes compare
//! many values at once. This module compares and copies values one by one if a block or stripe cannot be
//! copied whole.
//!
//! Values with a margin (quantised values that are sent only after they have moved by more than the margin)
//! are compared with the seen bytes of the object: their bytes at the last comparison. If a value differs, it
//! is copied to the seen bytes.
//!
//! *Invariant:* the bytes of a value lie in one run of the type's plan of all properties. So all of them are
//! initialised, and copying them copies the value.
#![expect(unsafe_code, reason = "compares and copies plain memory")]

use std::slice::{from_raw_parts, from_raw_parts_mut};

use super::differing::MAX_BYTES;
use crate::ids::handles::HandleSet;
use crate::schema::plan::{MAX_OFFSET, Plan, Run};

/// A property whose value is plain memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlainValue {
    pub(crate) handle: u32,
    /// The offset of the value from the start of the object, in bytes.
    pub(crate) offset: usize,
    pub(crate) bytes: usize,
    /// Whether the property is compared in every tick.
    pub(crate) is_ordinary: bool,
    /// Whether every value of the type has its own wire form. If so, a value can be copied to a shadow
    /// without a check.
    pub(crate) is_any_sent: bool,
}

impl PlainValue {
    /// Returns the offset of the end of the value from the start of the object, in bytes.
    #[inline]
    pub(super) fn end(&self) -> usize {
        self.offset + self.bytes
    }
}

/// The properties that a comparison of bytes has found to differ.
pub(crate) struct Differences<'a> {
    /// The properties that are compared.
    pub(crate) scope: &'a HandleSet,
    /// The differing properties with values that were copied to the shadow.
    pub(crate) copied: &'a mut HandleSet,
    /// The properties that must still be compared by their commands.
    pub(crate) left: &'a mut HandleSet,
}

impl Differences<'_> {
    /// Returns `copied` if the values are copied, and otherwise `left`.
    #[inline]
    pub(crate) fn list(&mut self, is_copied: bool) -> &mut HandleSet {
        if is_copied { self.copied } else { self.left }
    }
}

/// The memory with which an object is compared: the shadow, and the seen bytes.
#[derive(Clone, Copy)]
pub(super) struct Known {
    pub(super) shadow: *mut u8,
    /// The seen bytes of the object, or null if the comparison has none.
    pub(super) seen: *mut u8,
}

impl Known {
    /// Returns the memory with which the bytes at an offset of the object are compared, and whether this
    /// memory is in the seen bytes. `seen` is the offset in the seen bytes, if the bytes have a margin.
    #[inline(always)]
    pub(super) fn at(self, offset: usize, seen: Option<usize>) -> (*mut u8, bool) {
        match seen {
            Some(at) if !self.seen.is_null() => (self.seen.wrapping_add(at), true),
            _ => (self.shadow.wrapping_add(offset), false),
        }
    }
}

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

/// The plain values of a type, and their places.
#[derive(Debug)]
pub(super) struct PlainValues {
    /// The values in ascending order of their offsets.
    list: Vec<PlainValue>,
    /// The places of the values. The index is the handle minus one.
    places: Vec<ValuePlace>,
    /// The properties with values that can be copied to the shadow without a check, as bits of the first word
    /// of a set of handles.
    direct: u64,
}

impl PlainValues {
    /// Returns the values that lie in a run of `plan`, the plan of all properties.
    pub(super) fn of(mut values: Vec<PlainValue>, plan: &Plan) -> Self {
        values.retain(|value| value.bytes > 0 && value.bytes <= MAX_BYTES && value.end() <= MAX_OFFSET);
        let runs: Vec<Run> = plan.all_runs().collect();
        values.retain(|value| runs.iter().any(|run| run.has(value.offset, value.bytes)));
        values.sort_unstable_by_key(|value| value.offset);
        let mut places = Vec::new();
        for value in &values {
            let at = value.handle as usize - 1;
            places.resize(places.len().max(at + 1), ValuePlace::default());
            places[at] = ValuePlace::of(value, plan.seen_at(value.offset, value.bytes));
        }
        let is_direct = |place: &ValuePlace| place.is_any_sent && place.seen.is_none();
        let direct = (0..64).zip(&places).filter(|(_, place)| is_direct(place));
        let direct = direct.fold(0, |direct, (bit, _)| direct | 1 << bit);
        Self { list: values, places, direct }
    }

    /// Returns the values in ascending order of their offsets.
    pub(super) fn as_slice(&self) -> &[PlainValue] {
        &self.list
    }

    /// Compares the values with a set bit in `scope`, one by one. `scope` is a mask of the 64 handles in the
    /// word with the index `word`. If a differing value has seen bytes, it is copied to the seen bytes.
    /// Otherwise it is copied to the shadow if it needs no check. Adds the properties that were copied to the
    /// shadow to `in_shadow`, and the other differing properties to `to_do`.
    ///
    /// # Safety
    /// `from` and the shadow are objects of the type to which the values belong. The shadow and the seen
    /// bytes are borrowed mutably. All the handles belong to plain values.
    // This function is not inlined, so that the code for most comparisons stays short.
    #[inline(never)]
    pub(super) unsafe fn compare(
        &self,
        word: usize,
        scope: u64,
        from: *const u8,
        known: Known,
        in_shadow: &mut HandleSet,
        to_do: &mut HandleSet,
    ) {
        let (mut copied, mut left) = (0, 0);
        for bit in bits(scope) {
            let ValuePlace { offset, bytes, is_any_sent, seen } = self.places[word * 64 + bit as usize];
            let (offset, bytes) = (offset.into(), bytes.into());
            let (to, is_seen) = known.at(offset, seen.map(usize::from));
            // SAFETY: a plain value is initialised bytes inside the object.
            let value = unsafe { from_raw_parts(from.wrapping_add(offset), bytes) };
            // SAFETY: as for the previous block. The shadow and the seen bytes are borrowed mutably, and only
            // a value of the same property is written to them.
            let known = unsafe { from_raw_parts_mut(to, bytes) };
            if is_seen {
                left |= u64::from(copy_different(value, known)) << bit;
            } else if is_any_sent {
                copied |= u64::from(copy_different(value, known)) << bit;
            } else {
                left |= u64::from(value != known) << bit;
            }
        }
        in_shadow.insert_word(word, copied);
        to_do.insert_word(word, left);
    }

    /// Returns the properties that [`copy_direct`](Self::copy_direct) can copy, as bits of the first word
    /// of a set of handles.
    #[inline]
    pub(super) fn direct(&self) -> u64 {
        self.direct
    }

    /// Compares the [direct](Self::direct) properties with a set bit in `scope`, and copies the values that
    /// differ. Returns the bits of the properties that differed.
    ///
    /// # Safety
    /// `from` and `to` are objects of the type to which the values belong, and `to` is borrowed mutably.
    #[inline]
    pub(super) unsafe fn copy_direct(&self, scope: u64, from: *const u8, to: *mut u8) -> u64 {
        debug_assert!(scope & !self.direct == 0, "all values in scope are copied without a look");
        bits(scope & self.direct).fold(0, |copied, bit| {
            let ValuePlace { offset, bytes, .. } = self.places[bit as usize];
            let (offset, bytes) = (usize::from(offset), usize::from(bytes));
            // SAFETY: a plain value is initialised bytes inside the object.
            let value = unsafe { from_raw_parts(from.wrapping_add(offset), bytes) };
            // SAFETY: as for the previous block. `to` is borrowed mutably, and any value of a direct property
            // can be copied to it.
            let known = unsafe { from_raw_parts_mut(to.wrapping_add(offset), bytes) };
            copied | u64::from(copy_different(value, known)) << bit
        })
    }

    /// Sets the seen bytes of a property to the bytes of the shadow. Then each comparison of the object finds
    /// the property again, as long as it differs from the shadow. Does nothing for a property without seen
    /// bytes.
    ///
    /// # Safety
    /// `shadow` is an object of the type to which the values belong.
    #[cold]
    pub(super) unsafe fn forget_seen(&self, handle: u32, shadow: *const u8, seen: &mut [u8]) {
        let Some(place) = self.places.get(handle.wrapping_sub(1) as usize) else { return };
        let (offset, bytes) = (usize::from(place.offset), usize::from(place.bytes));
        let seen = place.seen.and_then(|at| seen.get_mut(at.into()..usize::from(at) + bytes));
        let value = shadow.wrapping_add(offset);
        // SAFETY: a plain value is initialised bytes inside the object.
        seen.into_iter().for_each(|seen| seen.copy_from_slice(unsafe { from_raw_parts(value, bytes) }));
    }
}

impl ValuePlace {
    fn of(value: &PlainValue, seen: Option<usize>) -> Self {
        debug_assert!(value.offset <= MAX_OFFSET && value.bytes <= MAX_BYTES, "the value is plain");
        let &PlainValue { offset, bytes, is_any_sent, .. } = value;
        Self { offset: offset as u16, bytes: bytes as u8, is_any_sent, seen: seen.map(|at| at as u16) }
    }
}

/// Returns the index of the word that contains a handle in a set of handles, and the position of the handle's
/// bit in this word.
pub(super) fn place_of(handle: u32) -> (usize, u8) {
    let bit = handle - 1;
    ((bit / 64) as usize, (bit % 64) as u8)
}

/// Returns the positions of the bits that are set, in ascending order.
#[inline]
pub(super) fn bits(mask: u64) -> impl Iterator<Item = u32> {
    let mut left = mask;
    std::iter::from_fn(move || {
        let at = (left != 0).then(|| left.trailing_zeros())?;
        left &= left - 1;
        Some(at)
    })
}

/// Makes `to` equal to `from`. Both have the same length. Returns whether they differed. For the lengths of
/// numbers, the compiled code calls no function.
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
