//! Differences of texts and of lists: which stretches are removed, and what is inserted in their places.
//!
//! *Invariant:* what is read from a difference is never longer than a value may be.

use std::collections::HashMap;
use std::ops::Range;

use imara_diff::{Algorithm, Diff, Token};

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

/// A stretch of the old list that is replaced by a stretch of the new one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Hunk {
    /// How many units are the same since the end of the hunk before, or since the beginning.
    same: usize,
    /// How many units of the old list are removed.
    removed: usize,
    /// The units of the new list that are inserted.
    inserted: Range<usize>,
}

/// Two hunks with fewer units between them are one, because each hunk takes about 20 bits.
const LEAST_BETWEEN: u32 = 3;

/// Finds how a new list differs from an old one. `tokens` returns numbers for the units in a range of the old
/// list and in one of the new list: equal numbers for equal units.
fn hunks(
    (old, new): (usize, usize),
    is_same: impl Fn(usize, usize) -> bool,
    tokens: impl FnOnce(Range<usize>, Range<usize>) -> (Vec<Token>, Vec<Token>),
) -> Vec<Hunk> {
    let most = old.min(new);
    let before = (0..most).take_while(|&at| is_same(at, at)).count();
    let from_end = |len: usize, at: usize| len.wrapping_sub(1).wrapping_sub(at);
    let left = most.saturating_sub(before);
    let after = (0..left).take_while(|&at| is_same(from_end(old, at), from_end(new, at))).count();
    let (old, new) = (before..old.saturating_sub(after), before..new.saturating_sub(after));
    if old.is_empty() && new.is_empty() {
        return Vec::new();
    }
    if old.is_empty() || new.is_empty() {
        return vec![Hunk { same: before, removed: old.len(), inserted: new }];
    }
    let (old, new) = tokens(old, new);
    let mut diff = Diff::default();
    diff.compute_with(Algorithm::Myers, &old, &new, 0);
    let mut found: Vec<imara_diff::Hunk> = Vec::new();
    for hunk in diff.hunks() {
        match found.last_mut() {
            Some(last) if hunk.before.start.saturating_sub(last.before.end) < LEAST_BETWEEN => {
                (last.before.end, last.after.end) = (hunk.before.end, hunk.after.end);
            }
            _ => found.push(hunk),
        }
    }
    let (mut end, start) = (0, before);
    let hunk = |hunk: imara_diff::Hunk| {
        let first = start.saturating_add(hunk.before.start as usize);
        let same = first.saturating_sub(end);
        end = start.saturating_add(hunk.before.end as usize);
        let inserted = |at: u32| start.saturating_add(at as usize);
        Hunk {
            same,
            removed: hunk.before.len(),
            inserted: inserted(hunk.after.start)..inserted(hunk.after.end),
        }
    };
    found.into_iter().map(hunk).collect()
}

/// Writes hunks. `write` writes the units of the new list in a range.
fn write_hunks(
    old: usize,
    hunks: &[Hunk],
    writer: &mut BitWriter,
    mut write: impl FnMut(Range<usize>, &mut BitWriter) -> Result<(), WriteError>,
) -> Result<(), WriteError> {
    let mut left = old;
    for Hunk { same, removed, inserted } in hunks {
        writer.write_flag(true);
        writer.write_bits(*same as u64, width_bits((left as u64).saturating_add(1)));
        writer.write_exp_golomb(*removed as u64, 0);
        write(inserted.clone(), writer)?;
        left = left.saturating_sub(*same).saturating_sub(*removed);
    }
    writer.write_flag(false);
    Ok(())
}

/// Reads hunks, and calls `same` for each range of the old list that stays, and `insert` to read what is
/// inserted after it.
fn read_hunks<B>(
    old: usize,
    reader: &mut BitReader<'_>,
    built: &mut B,
    same: impl Fn(&mut B, Range<usize>),
    mut insert: impl FnMut(&mut B, &mut BitReader<'_>) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    let mut at = 0_usize;
    while reader.read_flag()? {
        let left = old.saturating_sub(at);
        let stay = reader.read_bits(width_bits((left as u64).saturating_add(1)))? as usize;
        let removed = usize::try_from(reader.read_exp_golomb(0)?).map_err(|_| ReadError::OutOfRange)?;
        let end = stay.checked_add(removed).filter(|end| *end <= left).ok_or(ReadError::OutOfRange)?;
        same(built, at..at.saturating_add(stay));
        insert(built, reader)?;
        at = at.saturating_add(end);
    }
    same(built, at..old);
    Ok(())
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
        let (len, max) = (value.len(), MAX_STRING_BYTES as usize);
        if len > max {
            return Err(WriteError::TooLong { len, max });
        }
        let (old, new) = (base.as_bytes(), value.as_bytes());
        let tokens = |range: Range<usize>, bytes: &[u8]| -> Vec<Token> {
            bytes.get(range).unwrap_or_default().iter().map(|byte| Token(u32::from(*byte))).collect()
        };
        let hunks = hunks(
            (old.len(), new.len()),
            |one, other| old.get(one) == new.get(other),
            |one, other| (tokens(one, old), tokens(other, new)),
        );
        write_hunks(old.len(), &hunks, writer, |inserted, writer| {
            writer.write_exp_golomb(inserted.len() as u64, 0);
            writer.append_bytes(new.get(inserted).unwrap_or_default());
            Ok(())
        })
    }

    fn read(
        base: &String,
        reader: &mut BitReader<'_>,
        _: &mut ReferenceMap<'_>,
    ) -> Result<String, ReadError> {
        let (old, mut bytes) = (base.as_bytes(), Vec::new());
        let same = |bytes: &mut Vec<u8>, range| bytes.extend_from_slice(old.get(range).unwrap_or_default());
        read_hunks(old.len(), reader, &mut bytes, same, |bytes, reader| {
            let len = usize::try_from(reader.read_exp_golomb(0)?).unwrap_or(usize::MAX);
            let max = (reader.remaining() / 8).min((MAX_STRING_BYTES as usize).saturating_sub(bytes.len()));
            if len > max {
                return Err(ReadError::TooLong { len, max });
            }
            (0..len).try_for_each(|_| reader.read_bits(8).map(|byte| bytes.push(byte as u8)))
        })?;
        let (len, max) = (bytes.len(), MAX_STRING_BYTES as usize);
        if len > max {
            return Err(ReadError::TooLong { len, max });
        }
        String::from_utf8(bytes).map_err(|_| ReadError::InvalidUtf8)
    }

    fn bytes(state: &String) -> usize {
        state.capacity().saturating_add(size_of::<String>())
    }
}

/// How lists are sent as differences. Elements are the same if their wire forms are.
pub enum ListDelta {}

/// Numbers the wire forms of elements.
#[derive(Default)]
struct Forms {
    numbers: HashMap<Vec<u8>, u32>,
    writer: BitWriter,
}

impl Forms {
    fn tokens<T: NetSerialize>(&mut self, elements: &[T]) -> Vec<Token> {
        elements.iter().map(|element| self.token(element)).collect()
    }

    fn token<T: NetSerialize>(&mut self, element: &T) -> Token {
        self.writer.clear();
        let next = self.numbers.len() as u32;
        // An element without a wire form is equal to none.
        let is_written = element.write(&mut self.writer).is_ok();
        let mut form = self.writer.bit_len().to_le_bytes().to_vec();
        form.extend_from_slice(self.writer.finish());
        if !is_written {
            form.extend_from_slice(&next.to_le_bytes());
        }
        Token(*self.numbers.entry(form).or_insert(next))
    }
}

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
        let hunks = hunks((base.len(), value.len()), is_same, |one, other| {
            let mut forms = Forms::default();
            let old = forms.tokens(base.get(one).unwrap_or_default());
            (old, forms.tokens(value.get(other).unwrap_or_default()))
        });
        write_hunks(base.len(), &hunks, writer, |inserted, writer| {
            count::write_count(inserted.len(), MAX_ELEMENTS, writer)?;
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
            let len = count::read_new_count(MAX_ELEMENTS, count::LEAST_BITS, reader)?;
            check_len(list.len().saturating_add(len))?;
            for _ in 0..len {
                let start = reader.position();
                let read = |reader: &mut BitReader<'_>| T::read(reader, references);
                list.push(count::read_element(start, count::LEAST_BITS, reader, read)?);
            }
            Ok(())
        })?;
        check_len(list.len()).map(|()| list)
    }

    fn bytes(state: &Vec<T>) -> usize {
        state.capacity().saturating_mul(size_of::<T>()).saturating_add(size_of::<Vec<T>>())
    }
}

/// Checks that a list is not longer than a list may be.
fn check_len(len: usize) -> Result<(), ReadError> {
    let max = MAX_ELEMENTS as usize;
    if len > max { Err(ReadError::TooLong { len, max }) } else { Ok(()) }
}
