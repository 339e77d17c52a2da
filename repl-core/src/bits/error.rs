//! Why a value cannot be written, and why bits cannot be read.
//!
//! *Invariant:* an error says what is wrong with the value. The code that walks an object adds where the
//! value is.

/// Why a value cannot be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// A NaN or an infinity in a quantised float. Send the float raw, or keep such values out.
    #[error("the value is not finite")]
    NotFinite,
    /// Outside the range that the field declares. Widen the range, or write `saturate`.
    #[error("the value is outside its range")]
    OutOfRange,
    /// A string or array longer than its `max_len`.
    #[error("a length of {len} is over the limit of {max}")]
    TooLong {
        /// The length: bytes of a string, elements of an array.
        len: usize,
        /// The limit in the same unit.
        max: usize,
    },
    /// The object would take more than the server's `max_object_bytes`, so no client could hold it. Make the
    /// value smaller, or raise the limit on both sides.
    #[error("a value of {bytes} bytes would make the object larger than the limit of {max}")]
    TooLarge {
        /// The most bytes that the value takes on the wire.
        bytes: usize,
        /// The most bytes that the whole object may take.
        max: usize,
    },
    /// The reason that a hand-written [`NetSerialize`](crate::NetSerialize) returned.
    #[error("{0}")]
    Other(&'static str),
}

/// Why bits are not a valid value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The input ended inside the value.
    #[error("the input ends inside a value")]
    End,
    /// A number outside the declared range, or not in its shortest form.
    #[error("a number is outside its range")]
    OutOfRange,
    /// An enum variant, a `char` or a `bool` that does not exist.
    #[error("no such variant")]
    UnknownVariant,
    /// A string that is not UTF-8.
    #[error("a string is not UTF-8")]
    InvalidUtf8,
    /// A string or array that is longer than its limit, or longer than the rest of the input could hold.
    #[error("a length of {len} is over the limit of {max}")]
    TooLong {
        /// The claimed length.
        len: usize,
        /// The limit in the same unit.
        max: usize,
    },
    /// The reason that a hand-written [`NetSerialize`](crate::NetSerialize) returned.
    #[error("{0}")]
    Other(&'static str),
}

/// A [`BitWriter`](super::BitWriter) writes to memory and fails only for a value that is too wide for its
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
