//! Finds out whether the functions of a `with` module apply to a field itself or to each value inside the
//! field.
//!
//! *Invariant:* the wire form of a map does not depend on the order of its entries in memory. Reading a value
//! allocates memory only for elements that take at least eight bits each.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::BuildHasher;
use std::marker::PhantomData;

use crate::bits::count::LEAST_BITS;
use crate::bits::{BitReader, BitWriter, ReadError, WriteError, count};
use crate::ids::key::KeyBits;
use crate::ids::reference::ReferenceMap;
use crate::object::collection::is_outdated;
use crate::object::whole;
use crate::schema::limits::{MAX_ELEMENTS, MAX_ITEMS};
use crate::schema::map::{HashKey, SortKey};
use crate::schema::property::Property;
use crate::schema::shape::{Around, Field};

/// The functions of the `with` module apply to the field itself.
pub enum Itself {}

/// The functions of the `with` module apply to the values in an `Option`, a `Vec`, an array or a map, or to
/// values deeper inside.
pub struct Within<D>(PhantomData<D>);

/// The functions of the `with` module do not fit the field at any depth. `Nowhere` only improves compile
/// errors: because of it, the compiler reports the trait itself, and not the bounds of one implementation.
pub enum Nowhere {}

/// A trait that no type implements.
pub trait Unreachable {}

/// The function `write` of a `with` module, for a field of type `Field`. The compiler always infers `Depth`.
#[diagnostic::on_unimplemented(
    message = "the module's `write` does not fit a field of type `{Field}`",
    label = "`write` has another signature",
    note = "write `pub fn write(value: &{Field}, writer: &mut repl::BitWriter) -> Result<(), repl::WriteError>`",
    note = "for an `Option`, a `Vec`, an array or a map the functions may also be for one value in it"
)]
pub trait WritesField<Field, Depth> {
    /// The collections around the module's values.
    const AROUND: &'static Around;

    /// Writes the field with the function of the `with` module.
    ///
    /// # Errors
    /// Returns an error if a value has no wire form.
    fn write_field(&self, field: &Field, writer: &mut BitWriter) -> Result<(), WriteError>;
}

/// The function `read` of a `with` module, for a field of type `Field`. The compiler always infers `Depth`.
#[diagnostic::on_unimplemented(
    message = "the module's `read` does not fit a field of type `{Field}`",
    label = "`read` has another signature",
    note = "write `pub fn read(reader: &mut repl::BitReader<'_>, references: &mut repl::ReferenceMap<'_>) -> Result<{Field}, repl::ReadError>`",
    note = "for an `Option`, a `Vec`, an array or a map the functions may also be for one value in it"
)]
pub trait ReadsField<Field, Depth> {
    /// Reads a field with the function of the `with` module.
    ///
    /// # Errors
    /// Returns an error if the bits are not a valid field.
    fn read_field(
        &self,
        reader: &mut BitReader<'_>,
        references: &mut ReferenceMap<'_>,
    ) -> Result<Field, ReadError>;
}

/// Returns the collections around the values of a `with` module that has this function `write`.
#[must_use]
pub const fn around<F, D, W: WritesField<F, D>>(_: &W) -> &'static Around {
    W::AROUND
}

/// Writes `field` with the function `write` of a `with` module.
///
/// # Errors
/// Returns an error if a value has no wire form.
pub fn write_with<F, D>(
    write: impl WritesField<F, D>,
    field: &F,
    writer: &mut BitWriter,
) -> Result<(), WriteError> {
    write.write_field(field, writer)
}

/// Reads a field with the function `read` of a `with` module.
///
/// # Errors
/// Returns an error if the bits are not a valid field.
pub fn read_with<F, D>(
    read: impl ReadsField<F, D>,
    reader: &mut BitReader<'_>,
    references: &mut ReferenceMap<'_>,
) -> Result<F, ReadError> {
    read.read_field(reader, references)
}

impl<F, W: Fn(&F, &mut BitWriter) -> Result<(), WriteError>> WritesField<F, Itself> for W {
    const AROUND: &'static Around = &Around::Nothing;

    fn write_field(&self, field: &F, writer: &mut BitWriter) -> Result<(), WriteError> {
        self(field, writer)
    }
}

impl<F, R: Fn(&mut BitReader<'_>, &mut ReferenceMap<'_>) -> Result<F, ReadError>> ReadsField<F, Itself>
    for R
{
    fn read_field(
        &self,
        reader: &mut BitReader<'_>,
        references: &mut ReferenceMap<'_>,
    ) -> Result<F, ReadError> {
        self(reader, references)
    }
}

impl<F, W: Unreachable> WritesField<F, Nowhere> for W {
    const AROUND: &'static Around = &Around::Nothing;

    fn write_field(&self, _: &F, _: &mut BitWriter) -> Result<(), WriteError> {
        Ok(())
    }
}

impl<F, R: Unreachable> ReadsField<F, Nowhere> for R {
    fn read_field(&self, _: &mut BitReader<'_>, _: &mut ReferenceMap<'_>) -> Result<F, ReadError> {
        Err(ReadError::OutOfRange)
    }
}

impl<F, D, W: WritesField<F, D>> WritesField<Option<F>, Within<D>> for W {
    const AROUND: &'static Around = &Around::Sequence("Option", W::AROUND);

    fn write_field(&self, field: &Option<F>, writer: &mut BitWriter) -> Result<(), WriteError> {
        writer.write_flag(field.is_some());
        field.iter().try_for_each(|value| self.write_field(value, writer))
    }
}

impl<F, D, R: ReadsField<F, D>> ReadsField<Option<F>, Within<D>> for R {
    fn read_field(
        &self,
        reader: &mut BitReader<'_>,
        references: &mut ReferenceMap<'_>,
    ) -> Result<Option<F>, ReadError> {
        if reader.read_flag()? { self.read_field(reader, references).map(Some) } else { Ok(None) }
    }
}

impl<F, D, W: WritesField<F, D>, const N: usize> WritesField<[F; N], Within<D>> for W {
    const AROUND: &'static Around = &Around::Array(N, W::AROUND);

    fn write_field(&self, field: &[F; N], writer: &mut BitWriter) -> Result<(), WriteError> {
        field.iter().try_for_each(|value| self.write_field(value, writer))
    }
}

impl<F, D, R: ReadsField<F, D>, const N: usize> ReadsField<[F; N], Within<D>> for R {
    fn read_field(
        &self,
        reader: &mut BitReader<'_>,
        references: &mut ReferenceMap<'_>,
    ) -> Result<[F; N], ReadError> {
        let read: Result<Vec<F>, _> = (0..N).map(|_| self.read_field(reader, references)).collect();
        read?.try_into().map_err(|_| ReadError::OutOfRange)
    }
}

/// Implements [`WritesField`] and [`ReadsField`] for collections without keys. A collection is written as its
/// length, and then each value with its padding.
macro_rules! sequences {
    ($($sequence:ident)*) => {$(
        impl<F, D, W: WritesField<F, D>> WritesField<$sequence<F>, Within<D>> for W {
            const AROUND: &'static Around = &Around::Sequence("Vec", W::AROUND);

            fn write_field(&self, field: &$sequence<F>, writer: &mut BitWriter) -> Result<(), WriteError> {
                count::write_count(field.len(), MAX_ELEMENTS, writer)?;
                count::write_elements(field, LEAST_BITS, writer, |value, writer| self.write_field(value, writer))
            }
        }

        impl<F, D, R: ReadsField<F, D>> ReadsField<$sequence<F>, Within<D>> for R {
            fn read_field(
                &self,
                reader: &mut BitReader<'_>,
                references: &mut ReferenceMap<'_>,
            ) -> Result<$sequence<F>, ReadError> {
                let len = count::read_new_count(MAX_ELEMENTS, LEAST_BITS, reader)?;
                let read = |_| read_padded(self, reader.position(), reader, references);
                (0..len).map(read).collect()
            }
        }
    )*};
}

sequences!(Vec VecDeque);

/// Implements [`WritesField`] and [`ReadsField`] for maps. A map is written as the number of entries, and
/// then each entry: its key, its value, and padding. Entries are written in the order of the wire forms of
/// their keys.
macro_rules! maps {
    ($([$($hasher:ident: $bound:ident)?] $map:ty, $key:ident;)*) => {$(
        impl<K: $key, F, D, W: WritesField<F, D>, $($hasher)?> WritesField<$map, Within<D>> for W {
            const AROUND: &'static Around = &Around::Map(K::SHAPE, W::AROUND);

            fn write_field(&self, field: &$map, writer: &mut BitWriter) -> Result<(), WriteError> {
                write_entries(self, field.iter(), writer)
            }
        }

        impl<K: $key, F, D, R: ReadsField<F, D>, $($hasher: $bound + Default)?> ReadsField<$map, Within<D>>
            for R
        {
            fn read_field(
                &self,
                reader: &mut BitReader<'_>,
                references: &mut ReferenceMap<'_>,
            ) -> Result<$map, ReadError> {
                let mut map = <$map>::default();
                read_entries(self, reader, references, |key, value| drop(map.insert(key, value)))?;
                Ok(map)
            }
        }
    )*};
}

maps! {
    [S: BuildHasher] HashMap<K, F, S>, HashKey;
    [] BTreeMap<K, F>, SortKey;
}

/// Reads a value and its padding. `start` is the bit at which the value begins, or for an entry of a map the
/// bit at which its key begins.
fn read_padded<F, D>(
    read: &impl ReadsField<F, D>,
    start: usize,
    reader: &mut BitReader<'_>,
    references: &mut ReferenceMap<'_>,
) -> Result<F, ReadError> {
    count::read_element(start, LEAST_BITS, reader, |reader| read.read_field(reader, references))
}

/// Writes the entries of a map. An entry whose key refers to an object of an earlier epoch is left out.
fn write_entries<'a, K: Property + PartialEq, F: 'a, D>(
    write: &impl WritesField<F, D>,
    entries: impl ExactSizeIterator<Item = (&'a K, &'a F)>,
    writer: &mut BitWriter,
) -> Result<(), WriteError> {
    let mut sorted = Vec::with_capacity(entries.len());
    for (key, value) in entries {
        let mut form = BitWriter::new();
        form.set_epoch(writer.epoch());
        if is_outdated(key, &mut form) {
            continue;
        }
        form.clear();
        whole::write(key, &Field::new("", 0, K::SHAPE), &mut form)?;
        form.named_assets().iter().for_each(|&number| writer.name_asset(number));
        sorted.push((KeyBits::new(form.as_slice()), value));
    }
    count::write_count(sorted.len(), MAX_ITEMS, writer)?;
    sorted.sort_by(|(one, _), (other, _)| one.cmp(other));
    for (key, value) in sorted {
        let start = writer.bit_len();
        writer.append(key.as_slice());
        count::write_element(start, LEAST_BITS, writer, |writer| write.write_field(value, writer))?;
    }
    Ok(())
}

/// Reads the entries of a map. The keys must ascend, so that each map has only one wire form. An entry whose
/// key refers to an object that does not exist on this side is left out.
fn read_entries<K: Property, F, D>(
    read_value: &impl ReadsField<F, D>,
    reader: &mut BitReader<'_>,
    references: &mut ReferenceMap<'_>,
    mut insert: impl FnMut(K, F),
) -> Result<(), ReadError> {
    let len = count::read_new_count(MAX_ITEMS, LEAST_BITS, reader)?;
    let mut last: Option<KeyBits> = None;
    for _ in 0..len {
        let start = reader.position();
        let mut form = reader.clone();
        let read = |references: &mut ReferenceMap<'_>| {
            whole::read::<K>(&Field::new("", 0, K::SHAPE), reader, references)
        };
        let (key, is_shown) = references.read_all_known(read);
        let key = key?;
        let bits = reader.position().saturating_sub(start);
        let form = KeyBits::new(form.take(bits)?);
        if last.as_ref().is_some_and(|last| *last >= form) {
            return Err(ReadError::OutOfRange);
        }
        last = Some(form);
        let value = read_padded(read_value, start, reader, references)?;
        if is_shown {
            insert(key, value);
        }
    }
    Ok(())
}
