//! The reasons why a value cannot be written, and why bits cannot be read.
//!
//! *Invariant:* an error states the problem with a value, but not the path of the value. The code that walks
//! through an object adds the path.

/// The reason why a value cannot be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// A quantised float is a NaN or infinite. Remove the attribute `quantize`, or avoid values that are NaN
    /// or infinite.
    #[error("the value is not finite")]
    NotFinite,
    /// The value is outside the range that the field declares. Widen the range of the field, or add
    /// `saturate` to its attribute.
    #[error("the value is outside its range")]
    OutOfRange,
    /// A string or array is longer than its `max_len`.
    #[error("a length of {len} is over the limit of {max}")]
    TooLong {
        /// The length of the value: the number of bytes of a string, or the number of elements of an array.
        len: usize,
        /// The limit on the length, in the unit of `len`.
        max: usize,
    },
    /// With this value the object would be larger than the server's `max_object_bytes`, so clients could not
    /// receive it. Make the value smaller, or raise the limit on both sides.
    #[error("a value of {bytes} bytes would make the object larger than the limit of {max}")]
    TooLarge {
        /// The greatest number of bytes that the value can take on the wire.
        bytes: usize,
        /// The greatest number of bytes that the whole object may take.
        max: usize,
    },
    /// The error text that a hand-written [`NetSerialize`](crate::NetSerialize) returned.
    #[error("{0}")]
    Other(&'static str),
}

/// The reason why bits are not a valid value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The input ended inside the value.
    #[error("the input ends inside a value")]
    End,
    /// A number is outside the declared range, or was not written in its shortest form.
    #[error("a number is outside its range")]
    OutOfRange,
    /// The bits are not a valid variant of the enum, or not a valid `char`.
    #[error("no such variant")]
    UnknownVariant,
    /// A string is not UTF-8.
    #[error("a string is not UTF-8")]
    InvalidUtf8,
    /// A string or array is longer than its limit, or longer than the rest of the input can be.
    #[error("a length of {len} is over the limit of {max}")]
    TooLong {
        /// The length that the input claims.
        len: usize,
        /// The limit on the length, in the unit of `len`.
        max: usize,
    },
    /// The error text that a hand-written [`NetSerialize`](crate::NetSerialize) returned.
    #[error("{0}")]
    Other(&'static str),
}

/// A [`BitWriter`](super::BitWriter) writes to memory, so the only error is a value that does not fit in its
/// width.
impl From<std::io::Error> for WriteError {
    fn from(_: std::io::Error) -> Self {
        Self::OutOfRange
    }
}

/// A [`BitReader`](super::BitReader) fails only at the end of its input.
impl From<std::io::Error> for ReadError {
    fn from(_: std::io::Error) -> Self {
        Self::End
    }
}
