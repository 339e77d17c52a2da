//! Differences of lists, element by element.
//!
//! *Invariant:* elements are the same if they are identical.

use std::hash::{DefaultHasher, Hasher};

use super::area::Area;
use super::hunks::{hunks, read_hunks, write_hunks};
use super::limit::{check_len, limited};
use crate::bits::{BitReader, BitWriter, ReadError, WriteError, count};
use crate::ids::reference::ReferenceMap;
use crate::object::whole;
use crate::schema::delta::Delta;
use crate::schema::property::Property;
use crate::schema::value::NetSerialize;

/// How lists of at most `MAX_LEN` elements are sent as differences. Elements are the same if they are
/// identical.
pub enum ListDelta<const MAX_LEN: u32> {}

/// Returns hashes of the wire forms of elements.
fn hashes<T: NetSerialize>(elements: &[T]) -> Vec<u64> {
    let mut writer = BitWriter::new();
    let hash = |element: &T| {
        writer.clear();
        // A hash only says what may be the same. So it does not matter if an element has no wire form.
        _ = element.write(&mut writer);
        let mut hasher = DefaultHasher::new();
        hasher.write(writer.finish());
        hasher.finish()
    };
    elements.iter().map(hash).collect()
}

impl<T: Property + NetSerialize + Clone + Send + Sync, const MAX_LEN: u32> Delta<Vec<T>>
    for ListDelta<MAX_LEN>
{
    const NAME: &'static str = "list delta";
    const VERSION: u32 = 1;
    const MAX_LEN: u32 = MAX_LEN;
    type State = Vec<T>;

    fn write_whole(value: &Vec<T>, writer: &mut BitWriter) -> Result<(), WriteError> {
        whole::write(value, const { &limited::<Vec<T>>(MAX_LEN) }, writer)
    }

    fn read_whole(
        reader: &mut BitReader<'_>,
        references: &mut ReferenceMap<'_>,
    ) -> Result<Vec<T>, ReadError> {
        whole::read(const { &limited::<Vec<T>>(MAX_LEN) }, reader, references)
    }

    fn state(value: &Vec<T>) -> Vec<T> {
        value.clone()
    }

    fn is_same(one: &Vec<T>, other: &Vec<T>) -> bool {
        match (whole::bytes_of_all(one), whole::bytes_of_all(other)) {
            (Some(one), Some(other)) => one == other,
            _ => one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one.identical(other)),
        }
    }

    fn write(base: &Vec<T>, value: &Vec<T>, writer: &mut BitWriter) -> Result<(), WriteError> {
        let (len, max) = (value.len(), MAX_LEN as usize);
        if len > max {
            return Err(WriteError::TooLong { len, max });
        }
        let is_same = |one: usize, other: usize| {
            base.get(one).zip(value.get(other)).is_some_and(|(one, other)| one.identical(other))
        };
        let hunks = hunks((base.len(), value.len()), is_same, |Area { old, new }| {
            let of = |list: &[T], (start, end)| hashes(list.get(start..end).unwrap_or_default());
            (of(base, old), of(value, new))
        });
        write_hunks(base.len(), &hunks, writer, |inserted, writer| {
            count::write_count(inserted.len(), MAX_LEN, writer)?;
            let inserted = value.get(inserted).unwrap_or_default();
            count::write_elements(inserted, count::LEAST_BITS, writer, |value, writer| value.write(writer))
        })
    }

    fn read(
        base: &Vec<T>,
        reader: &mut BitReader<'_>,
        references: &mut ReferenceMap<'_>,
    ) -> Result<Vec<T>, ReadError> {
        let mut list = Vec::new();
        let same = |list: &mut Vec<T>, range| list.extend_from_slice(base.get(range).unwrap_or_default());
        read_hunks(base.len(), reader, &mut list, same, |list, reader| {
            let len = count::read_new_count(MAX_LEN, count::LEAST_BITS, reader)?;
            check_len(list.len().saturating_add(len), MAX_LEN)?;
            for _ in 0..len {
                let start = reader.position();
                let read = |reader: &mut BitReader<'_>| T::read(reader, references);
                list.push(count::read_element(start, count::LEAST_BITS, reader, read)?);
            }
            Ok(())
        })?;
        check_len(list.len(), MAX_LEN).map(|()| list)
    }

    fn bytes(state: &Vec<T>) -> usize {
        state.capacity().saturating_mul(size_of::<T>()).saturating_add(size_of::<Vec<T>>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::reference::NoObjects;

    fn difference(base: &Vec<u32>, value: &Vec<u32>) -> BitWriter {
        let mut writer = BitWriter::new();
        ListDelta::<20_000>::write(base, value, &mut writer).expect("it fits");
        writer
    }

    fn read<const MAX_LEN: u32>(base: &Vec<u32>, bits: &mut BitWriter) -> Result<Vec<u32>, ReadError> {
        let references = &mut ReferenceMap::new(&NoObjects);
        ListDelta::<MAX_LEN>::read(base, &mut bits.as_slice().reader(), references)
    }

    #[test]
    fn s228_no_difference_makes_a_list_that_is_too_long() {
        let base: Vec<u32> = (0..80).collect();
        for at in [0, 40, 80] {
            let mut value = base.clone();
            value.splice(at..at, 100..120);
            let mut bits = difference(&base, &value);
            assert_eq!(read::<100>(&base, &mut bits), Ok(value));
            let refused = read::<99>(&base, &mut bits);
            assert!(matches!(refused, Err(ReadError::TooLong { .. })), "at {at}: {refused:?}");
        }
    }

    #[test]
    fn blocks_that_are_inserted_into_a_long_list_cost_only_their_elements() {
        let base: Vec<u32> = (0..9_000).map(|at| at * 7_919).collect();
        let mut value = base.clone();
        for at in (0..30).rev() {
            value.splice(at * 300..at * 300, (0..50).map(|element| (1 << 31) | (at as u32 * 997 + element)));
        }
        let mut bits = difference(&base, &value);
        assert!(bits.bit_len() < 30 * 50 * 33, "{} bits", bits.bit_len());
        assert_eq!(read::<20_000>(&base, &mut bits), Ok(value));
    }
}
