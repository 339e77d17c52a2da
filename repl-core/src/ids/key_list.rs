//! Lists of keys on the wire, in ascending order. In a list, the content of an entry follows its key.
//!
//! *Invariant:* keys ascend in every list, so no key occurs twice.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::borrow::Borrow;

use crate::bits::{BitReader, BitSlice, BitWriter, ReadError, WriteError, count};
use crate::ids::guid::Guid;
use crate::ids::identity::{Identity, KeyPass, ReadIds, ReadKey, WriteIds};
use crate::ids::key::KeyBits;
use crate::ids::key_set::KeySet;

/// Writes a list of keys of a map. A list of keys has one of two forms. In the first form, it begins with the
/// number of keys. In the second form, a set bit comes before each key, and a zero bit ends the list.
pub(crate) struct KeyWriter {
    is_counted: bool,
}

impl WriteIds<KeyBits> for KeyWriter {
    fn id(&mut self, key: &KeyBits, writer: &mut BitWriter) -> Option<usize> {
        if !self.is_counted {
            writer.write_flag(true);
        }
        let start = writer.bit_len();
        writer.append(key.as_slice());
        Some(start)
    }

    fn end(self, writer: &mut BitWriter) {
        if !self.is_counted {
            writer.write_flag(false);
        }
    }
}

/// Reads a list of keys that a [`KeyWriter`] wrote.
#[derive(Clone)]
pub(crate) struct KeyReader {
    read: ReadKey,
    last: Option<KeyBits>,
    /// The position in the input, in bits, at which the last key began.
    start: usize,
    /// The number of keys that are still to be read, if the list began with the number of keys.
    left: Option<usize>,
}

impl KeyReader {
    /// Reads the next key with `key`, if the list has another key.
    fn next_by(
        &mut self,
        reader: &mut BitReader<'_>,
        key: impl FnOnce(ReadKey, &mut BitReader<'_>) -> Result<KeyBits, ReadError>,
    ) -> Result<Option<KeyBits>, ReadError> {
        let is_there = match &mut self.left {
            Some(left) => left.checked_sub(1).map(|less| *left = less).is_some(),
            None => reader.read_flag()?,
        };
        if !is_there {
            return Ok(None);
        }
        self.start = reader.position();
        let key = key(self.read, reader)?;
        if self.last.as_ref().is_some_and(|last| *last >= key) {
            return Err(ReadError::OutOfRange);
        }
        self.last = Some(key.clone());
        Ok(Some(key))
    }
}

impl ReadIds<KeyBits> for KeyReader {
    fn next(
        &mut self,
        reader: &mut BitReader<'_>,
        pass: &mut impl KeyPass,
    ) -> Result<Option<KeyBits>, ReadError> {
        self.next_by(reader, |read, reader| pass.key(reader, read))
    }

    fn next_again(&mut self, reader: &mut BitReader<'_>) -> Result<Option<KeyBits>, ReadError> {
        self.next_by(reader, |read, reader| read(reader, &mut Vec::new()))
    }

    fn began_at(&self) -> Option<usize> {
        Some(self.start)
    }
}

/// The part of the shape of a collection that only maps have.
#[derive(Clone, Copy)]
pub(crate) struct KeyForm {
    pub(crate) read: ReadKey,
    /// Whether keys may refer to objects or assets.
    pub(crate) may_refer: bool,
}

impl Identity for KeyBits {
    const IS_KEY: bool = true;

    type Set = KeySet;
    type Form = KeyForm;
    type Writer = KeyWriter;
    type Reader = KeyReader;

    fn is_ordered(_: &KeyForm) -> bool {
        false
    }

    fn mentions(&self, form: &KeyForm) -> Vec<Guid> {
        let mut guids = Vec::new();
        (form.read)(&mut self.as_slice().reader(), &mut guids).ok();
        guids
    }

    fn name_assets(&self, form: &KeyForm, writer: &mut BitWriter) {
        if form.may_refer {
            let numbers = self.mentions(form).into_iter().filter_map(Guid::asset_number);
            numbers.for_each(|number| writer.name_asset(number));
        }
    }

    fn as_bits(&self) -> Option<BitSlice<'_>> {
        Some(self.as_slice())
    }

    fn steps(&self) -> impl Iterator<Item = u32> + Clone {
        self.steps()
    }

    fn from_steps(path: &[u32]) -> Option<(Self, &[u32])> {
        Self::from_steps(path)
    }

    fn number_of(&self) -> Option<u32> {
        None
    }

    fn most_bits(&self, _: &[Self]) -> u64 {
        self.as_slice().len() as u64
    }

    fn list(_: impl Iterator<Item: Borrow<Self>>) -> KeyWriter {
        KeyWriter { is_counted: false }
    }

    fn list_of_all(ids: &[Self], max_len: u32, writer: &mut BitWriter) -> Result<KeyWriter, WriteError> {
        count::write_count(ids.len(), max_len, writer)?;
        Ok(KeyWriter { is_counted: true })
    }

    fn read_list(form: &KeyForm) -> KeyReader {
        KeyReader { read: form.read, last: None, start: 0, left: None }
    }

    fn read_list_of_all(
        form: &KeyForm,
        max_len: u32,
        reader: &mut BitReader<'_>,
    ) -> Result<KeyReader, ReadError> {
        let len = count::read_new_count(max_len, count::LEAST_BITS, reader)?;
        Ok(KeyReader { left: Some(len), ..Self::read_list(form) })
    }
}
