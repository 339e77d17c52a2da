//! Limits that hold where no attribute sets another.
//!
//! Invariant: each is checked on the sending side when a value is taken over, and on the receiving side before memory is taken.

/// Elements of a `Vec`.
pub const MAX_ELEMENTS: u32 = 2_048;

/// Items of a keyed collection.
pub const MAX_ITEMS: u32 = 1 << 20;

/// Bytes of a `String`.
pub const MAX_STRING_BYTES: u32 = 4_096;
