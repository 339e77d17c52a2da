//! Reads the handles of changed values in the existing elements of an array. The handles are read one by one,
//! together with their values.
//!
//! *Invariant:* reading a list of handles never allocates memory, independently of the length that the list
//! claims.

use std::ops::Range;

use crate::bits::{BitReader, ReadError};

/// The handles of changed values in the existing elements of an array.
#[derive(Default)]
pub(super) enum Edits<'b> {
    #[default]
    None,
    /// The list is a mask with one bit for each handle. In this form, `bits` contains the bits that are still
    /// to be read, and `word` contains the bits of the handles from `first` on.
    Mask { bits: BitReader<'b>, first: u32, word: u64 },
    /// The list consists of stretches of handles. In this form, `list` contains the stretches that are not
    /// read yet, and `range` is the rest of the stretch that was read last.
    Ranges { list: RangeList<'b>, range: Range<u32> },
}

impl<'b> Edits<'b> {
    /// Begins to read a list of handles below `limit`, and moves `reader` past it.
    pub(super) fn read(limit: u32, reader: &mut BitReader<'b>) -> Result<Self, ReadError> {
        if limit == 0 || !reader.read_flag()? {
            return Ok(Self::None);
        }
        if reader.read_flag()? {
            let list = RangeList { reader: reader.clone(), next: 0, limit, more: true };
            let mut ahead = list.clone();
            while ahead.next()?.is_some() {}
            *reader = ahead.reader;
            return Ok(Self::Ranges { list, range: 0..0 });
        }
        let mut edits = Self::Mask { bits: reader.take(limit as usize)?.reader(), first: 0, word: 0 };
        // An array without changed handles has a shorter form.
        let Some(first) = edits.next()? else { return Err(ReadError::OutOfRange) };
        if let Self::Mask { first: base, word, .. } = &mut edits {
            *word |= 1_u64.wrapping_shl(first.wrapping_sub(*base));
        }
        Ok(edits)
    }

    /// Returns the next handle, counted from zero.
    pub(super) fn next(&mut self) -> Result<Option<u32>, ReadError> {
        match self {
            Self::None => Ok(None),
            Self::Mask { bits, first, word } => {
                while *word == 0 {
                    let width = bits.remaining().min(64) as u32;
                    if width == 0 {
                        return Ok(None);
                    }
                    *first = bits.position() as u32;
                    *word = bits.read_bits(width)?;
                }
                let bit = word.trailing_zeros();
                *word &= word.wrapping_sub(1);
                Ok(Some(first.saturating_add(bit)))
            }
            Self::Ranges { list, range } => {
                if range.start >= range.end {
                    match list.next()? {
                        Some(next) => *range = next,
                        None => return Ok(None),
                    }
                }
                Ok(range.next())
            }
        }
    }
}

/// Ascending stretches of handles, with a gap of at least one handle between any two.
#[derive(Clone)]
pub(super) struct RangeList<'b> {
    reader: BitReader<'b>,
    /// The lowest handle at which the next stretch may begin.
    next: u32,
    limit: u32,
    more: bool,
}

impl RangeList<'_> {
    fn next(&mut self) -> Result<Option<Range<u32>>, ReadError> {
        if !self.more {
            return Ok(None);
        }
        let left = self.limit.saturating_sub(self.next);
        let start = self.next.saturating_add(self.reader.read_below(left.into())? as u32);
        let more = u32::try_from(self.reader.read_exp_golomb(0)?).map_err(|_| ReadError::OutOfRange)?;
        let end =
            start.checked_add(more).and_then(|last| last.checked_add(1)).filter(|&end| end <= self.limit);
        let end = end.ok_or(ReadError::OutOfRange)?;
        self.next = end.saturating_add(1);
        self.more = self.next < self.limit && self.reader.read_flag()?;
        Ok(Some(start..end))
    }
}
