//! The greatest length of a value that is sent as a difference.

use crate::bits::ReadError;
use crate::schema::property::Property;
use crate::schema::shape::Field;

/// Returns the entry of a field of at most this length.
pub(super) const fn limited<T: Property>(max_len: u32) -> Field {
    Field::new("", 0, T::SHAPE).max_len(max_len)
}

/// Checks the length of a value that was read.
pub(super) fn check_len(len: usize, max_len: u32) -> Result<(), ReadError> {
    let max = max_len as usize;
    if len > max { Err(ReadError::TooLong { len, max }) } else { Ok(()) }
}
