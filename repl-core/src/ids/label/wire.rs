//! Labels on the wire: each label is written as its difference from the label before it.
//!
//! *Invariant:* relative to a given label, each label has exactly one form. Reading one label allocates at
//! most [`Label::MAX_BYTES`] bytes.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use super::Label;
use crate::bits::{BitReader, BitWriter, ReadError};

/// The order of the Exp-Golomb codes for counts of digits. In these codes, small counts have the shortest
/// forms.
const ORDER: u32 = 1;

impl Label {
    /// Writes this label relative to `previous`. For the first label of an update, `previous` is
    /// [`Label::START`].
    ///
    /// The first bit is set if this label is the successor of `previous`. If the first bit of a label is not
    /// set, a second bit is set if the label is the predecessor of `previous`. If neither bit is set, three
    /// parts follow: the number of digits of `previous` to drop, the number of new digits, and the new
    /// digits. The two numbers are Exp-Golomb codes of order 1. Each digit takes 8 bits.
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

    /// Reads a label that [`write`](Self::write) wrote relative to the same `previous`.
    ///
    /// # Errors
    /// Returns [`ReadError::TooLong`] if the label has too many digits, [`ReadError::OutOfRange`] if it has
    /// no digits or is not in its shortest form, and [`ReadError::End`] if the input ends within the label.
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

    /// Returns how many digits at the start are the same in both labels.
    fn shared(&self, other: &Self) -> usize {
        self.as_bytes().iter().zip(other.as_bytes()).take_while(|(a, b)| a == b).count()
    }
}
