//! Labels on the wire, each told by what differs from the one before it.
//!
//! *Invariant:* a label has one form beside a given other, and no form takes more memory than [`Label::MAX_BYTES`].
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

use super::Label;
use crate::bits::{BitReader, BitWriter, ReadError};

/// Small numbers of digits have the shortest forms.
const ORDER: u32 = 1;

impl Label {
    /// Writes this after `previous`, which for the first of an update is [`Label::START`].
    ///
    /// One bit says that it is the next with as many digits, a second that it is the one before. Else follow how many digits of the previous go
    /// and how many come, both in an Exp-Golomb code of order 1, and those that come, in 8 bits each.
    pub fn write(&self, previous: &Self, writer: &mut BitWriter) {
        debug_assert!(!self.as_bytes().is_empty(), "an item has a label");
        if previous.successor().as_ref() == Some(self) {
            writer.write_flag(true);
            return;
        }
        writer.write_flag(false);
        let is_predecessor = previous.predecessor().as_ref() == Some(self);
        writer.write_flag(is_predecessor);
        if is_predecessor {
            return;
        }
        let shared = self.shared(previous);
        let coming = self.as_bytes().get(shared..).unwrap_or_default();
        writer.write_exp_golomb(previous.as_bytes().len().saturating_sub(shared) as u64, ORDER);
        writer.write_exp_golomb(coming.len() as u64, ORDER);
        coming.iter().for_each(|&digit| writer.write_bits(digit.into(), 8));
    }

    /// Reads what [`write`](Self::write) wrote after the same label.
    ///
    /// # Errors
    /// [`ReadError::TooLong`] if it has too many digits, [`ReadError::OutOfRange`] if it has none or another form than the shortest,
    /// [`ReadError::End`] if the input ends.
    pub fn read(previous: &Self, reader: &mut BitReader<'_>) -> Result<Self, ReadError> {
        if reader.read_flag()? {
            return previous.successor().ok_or(ReadError::OutOfRange);
        }
        if reader.read_flag()? {
            return previous.predecessor().ok_or(ReadError::OutOfRange);
        }
        let going = usize::try_from(reader.read_exp_golomb(ORDER)?).unwrap_or(usize::MAX);
        let shared = previous.as_bytes().len().checked_sub(going).ok_or(ReadError::OutOfRange)?;
        let coming = usize::try_from(reader.read_exp_golomb(ORDER)?).unwrap_or(usize::MAX);
        let len = shared.saturating_add(coming);
        let mut digits = [0; Self::MAX_BYTES];
        let Some(digits) = digits.get_mut(..len) else {
            return Err(ReadError::TooLong { len, max: Self::MAX_BYTES });
        };
        for (at, digit) in digits.iter_mut().enumerate() {
            *digit = match previous.as_bytes().get(at) {
                Some(&same) if at < shared => same,
                _ => reader.read_bits(8)? as u8,
            };
        }
        let label = Self::new(digits);
        let is_shortest = label.as_bytes().len() == len
            && label.shared(previous) == shared
            && previous.successor().as_ref() != Some(&label)
            && previous.predecessor().as_ref() != Some(&label);
        if len == 0 || !is_shortest {
            return Err(ReadError::OutOfRange);
        }
        Ok(label)
    }

    /// How many of the first digits are the same.
    fn shared(&self, other: &Self) -> usize {
        self.as_bytes().iter().zip(other.as_bytes()).take_while(|(a, b)| a == b).count()
    }
}
