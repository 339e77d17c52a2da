//! Differences of texts and of lists: what both have in common at their beginnings and at their ends is not
//! sent.
//!
//! *Invariant:* what is read from a difference is never longer than a value may be.

use crate::bits::{BitReader, BitWriter, ReadError, WriteError, count, width_bits};
use crate::ids::reference::ReferenceMap;
use crate::schema::delta::Delta;
use crate::schema::limits::{MAX_ELEMENTS, MAX_STRING_BYTES};
use crate::schema::value::NetSerialize;

/// A type that can be sent as differences: `#[replicated(delta)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot have `delta` alone",
    label = "neither a `String` nor a `Vec`",
    note = "write `#[replicated(delta = module)]`, where the module has the functions that write and read differences",
    note = "a struct is sent by its fields, and a fast array or map by its elements, without `delta`"
)]
pub trait ByDifference: Sized {
    /// How the differences are written.
    type Delta: Delta<Self>;
}

impl ByDifference for String {
    type Delta = TextDelta;
}

impl<T: NetSerialize + Clone + Send + Sync> ByDifference for Vec<T> {
    type Delta = ListDelta;
}

/// A stretch that replaces another: so many units are the same before it, so many are removed, and new ones
/// follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Splice {
    same_before: usize,
    removed: usize,
    same_after: usize,
}

impl Splice {
    /// Finds what two lists of these lengths have in common at their beginnings and at their ends.
    fn between(old: usize, new: usize, is_same: impl Fn(usize, usize) -> bool) -> Self {
        let most = old.min(new);
        let same_before = (0..most).take_while(|&at| is_same(at, at)).count();
        let left = most.saturating_sub(same_before);
        let from_end = |len: usize, at: usize| len.wrapping_sub(1).wrapping_sub(at);
        let same_after = (0..left).take_while(|&at| is_same(from_end(old, at), from_end(new, at))).count();
        Self { same_before, removed: old.saturating_sub(same_before).saturating_sub(same_after), same_after }
    }

    /// Writes the places in a list of `old` units.
    fn write(&self, old: usize, writer: &mut BitWriter) {
        writer.write_bits(self.same_before as u64, width_bits((old as u64).saturating_add(1)));
        writer.write_exp_golomb(self.removed as u64, 0);
    }

    fn read(old: usize, reader: &mut BitReader<'_>) -> Result<Self, ReadError> {
        let same_before = reader.read_bits(width_bits((old as u64).saturating_add(1)))? as usize;
        let left = old.checked_sub(same_before).ok_or(ReadError::OutOfRange)?;
        let removed = usize::try_from(reader.read_exp_golomb(0)?).map_err(|_| ReadError::OutOfRange)?;
        let same_after = left.checked_sub(removed).ok_or(ReadError::OutOfRange)?;
        Ok(Self { same_before, removed, same_after })
    }
}

/// How texts are sent as differences.
pub enum TextDelta {}

impl Delta<String> for TextDelta {
    const NAME: &'static str = "text delta";
    const VERSION: u32 = 1;
    type State = String;

    fn state(value: &String) -> String {
        value.clone()
    }

    fn is_same(one: &String, other: &String) -> bool {
        one == other
    }

    fn write(base: &String, value: &String, writer: &mut BitWriter) -> Result<(), WriteError> {
        if value.len() > MAX_STRING_BYTES as usize {
            return Err(WriteError::TooLong { len: value.len(), max: MAX_STRING_BYTES as usize });
        }
        let (old, new) = (base.as_bytes(), value.as_bytes());
        let splice = Splice::between(old.len(), new.len(), |one, other| old.get(one) == new.get(other));
        splice.write(old.len(), writer);
        let end = new.len().saturating_sub(splice.same_after);
        let inserted = new.get(splice.same_before..end).unwrap_or_default();
        writer.write_exp_golomb(inserted.len() as u64, 0);
        writer.append_bytes(inserted);
        Ok(())
    }

    fn read(
        base: &String,
        reader: &mut BitReader<'_>,
        _: &mut ReferenceMap<'_>,
    ) -> Result<String, ReadError> {
        let old = base.as_bytes();
        let splice = Splice::read(old.len(), reader)?;
        let most = reader.remaining() / 8;
        let len = usize::try_from(reader.read_exp_golomb(0)?).unwrap_or(usize::MAX);
        let kept = splice.same_before.saturating_add(splice.same_after);
        let max = most.min((MAX_STRING_BYTES as usize).saturating_sub(kept));
        if len > max {
            return Err(ReadError::TooLong { len, max });
        }
        let mut bytes = Vec::with_capacity(kept.saturating_add(len));
        bytes.extend_from_slice(old.get(..splice.same_before).unwrap_or_default());
        for _ in 0..len {
            bytes.push(reader.read_bits(8)? as u8);
        }
        bytes.extend_from_slice(old.get(old.len().saturating_sub(splice.same_after)..).unwrap_or_default());
        String::from_utf8(bytes).map_err(|_| ReadError::InvalidUtf8)
    }

    fn bytes(state: &String) -> usize {
        state.capacity().saturating_add(size_of::<String>())
    }
}

/// How lists are sent as differences. Elements are the same if their wire forms are.
pub enum ListDelta {}

impl<T: NetSerialize + Clone + Send + Sync> Delta<Vec<T>> for ListDelta {
    const NAME: &'static str = "list delta";
    const VERSION: u32 = 1;
    type State = Vec<T>;

    fn state(value: &Vec<T>) -> Vec<T> {
        value.clone()
    }

    fn is_same(one: &Vec<T>, other: &Vec<T>) -> bool {
        one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one.identical(other))
    }

    fn write(base: &Vec<T>, value: &Vec<T>, writer: &mut BitWriter) -> Result<(), WriteError> {
        let is_same = |one: usize, other: usize| {
            base.get(one).zip(value.get(other)).is_some_and(|(one, other)| one.identical(other))
        };
        let splice = Splice::between(base.len(), value.len(), is_same);
        splice.write(base.len(), writer);
        let end = value.len().saturating_sub(splice.same_after);
        let inserted = value.get(splice.same_before..end).unwrap_or_default();
        count::write_count(inserted.len(), MAX_ELEMENTS, writer)?;
        count::write_elements(inserted, count::LEAST_BITS, writer, |value, writer| value.write(writer))
    }

    fn read(
        base: &Vec<T>,
        reader: &mut BitReader<'_>,
        references: &mut ReferenceMap<'_>,
    ) -> Result<Vec<T>, ReadError> {
        let splice = Splice::read(base.len(), reader)?;
        let len = count::read_new_count(MAX_ELEMENTS, count::LEAST_BITS, reader)?;
        let kept = splice.same_before.saturating_add(splice.same_after);
        let max = (MAX_ELEMENTS as usize).saturating_sub(kept);
        if len > max {
            return Err(ReadError::TooLong { len, max });
        }
        let mut list = Vec::with_capacity(kept.saturating_add(len));
        list.extend_from_slice(base.get(..splice.same_before).unwrap_or_default());
        for _ in 0..len {
            let start = reader.position();
            let read = |reader: &mut BitReader<'_>| T::read(reader, references);
            list.push(count::read_element(start, count::LEAST_BITS, reader, read)?);
        }
        list.extend_from_slice(base.get(base.len().saturating_sub(splice.same_after)..).unwrap_or_default());
        Ok(list)
    }

    fn bytes(state: &Vec<T>) -> usize {
        state.capacity().saturating_mul(size_of::<T>()).saturating_add(size_of::<Vec<T>>())
    }
}
