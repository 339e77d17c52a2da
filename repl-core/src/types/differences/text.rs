//! Differences of texts, byte by byte.
//!
//! *Invariant:* what is read is UTF-8, although a hunk may begin inside a character.

use super::hunks::{hunks, read_hunks, write_hunks};
use super::limit::{check_len, limited};
use crate::bits::{BitReader, BitWriter, ReadError, WriteError};
use crate::ids::reference::ReferenceMap;
use crate::object::whole;
use crate::schema::delta::{Delta, Strings};

/// How texts of at most `MAX_LEN` bytes are sent as differences.
pub enum TextDelta<const MAX_LEN: u32> {}

impl<const MAX_LEN: u32> Delta<String> for TextDelta<MAX_LEN> {
    const NAME: &'static str = "text delta";
    const VERSION: u32 = 1;
    const MAX_LEN: u32 = MAX_LEN;
    const STRINGS: Option<Strings<String>> = Some(Strings::PROOF);
    type State = String;

    fn write_whole(value: &String, writer: &mut BitWriter) -> Result<(), WriteError> {
        whole::write(value, const { &limited::<String>(MAX_LEN) }, writer)
    }

    fn read_whole(
        reader: &mut BitReader<'_>,
        references: &mut ReferenceMap<'_>,
    ) -> Result<String, ReadError> {
        whole::read(const { &limited::<String>(MAX_LEN) }, reader, references)
    }

    fn state(value: &String) -> String {
        value.clone()
    }

    fn is_same(one: &String, other: &String) -> bool {
        one == other
    }

    fn write(base: &String, value: &String, writer: &mut BitWriter) -> Result<(), WriteError> {
        let (len, max) = (value.len(), MAX_LEN as usize);
        if len > max {
            return Err(WriteError::TooLong { len, max });
        }
        let (old, new) = (base.as_bytes(), value.as_bytes());
        let hashes = |bytes: &[u8], (start, end): (usize, usize)| -> Vec<u64> {
            bytes.get(start..end).unwrap_or_default().iter().map(|byte| u64::from(*byte)).collect()
        };
        let hunks = hunks(
            (old.len(), new.len()),
            |one, other| old.get(one) == new.get(other),
            |area| (hashes(old, area.old), hashes(new, area.new)),
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
            let max = (reader.remaining() / 8).min((MAX_LEN as usize).saturating_sub(bytes.len()));
            if len > max {
                return Err(ReadError::TooLong { len, max });
            }
            (0..len).try_for_each(|_| reader.read_bits(8).map(|byte| bytes.push(byte as u8)))
        })?;
        check_len(bytes.len(), MAX_LEN)?;
        String::from_utf8(bytes).map_err(|_| ReadError::InvalidUtf8)
    }

    fn bytes(state: &String) -> usize {
        state.capacity().saturating_add(size_of::<String>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::reference::NoObjects;

    #[test]
    fn s228_no_difference_makes_a_text_that_is_too_long() {
        let base = "eight by".to_owned();
        for value in ["more eight by", "eight, no, by", "eight by more"] {
            let mut writer = BitWriter::new();
            TextDelta::<100>::write(&base, &value.to_owned(), &mut writer).expect("it fits");
            let read = |reader: &mut BitReader<'_>, is_limited: bool| {
                let references = &mut ReferenceMap::new(&NoObjects);
                if is_limited {
                    TextDelta::<12>::read(&base, reader, references)
                } else {
                    TextDelta::<13>::read(&base, reader, references)
                }
            };
            let bits = writer.as_slice();
            assert_eq!(read(&mut bits.reader(), false).as_deref(), Ok(value));
            let refused = read(&mut bits.reader(), true);
            assert!(matches!(refused, Err(ReadError::TooLong { .. })), "{value}: {refused:?}");
        }
    }
}
