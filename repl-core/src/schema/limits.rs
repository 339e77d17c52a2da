//! Limits of lengths that apply if no attribute sets another limit.
//!
//! *Invariant:* the sender checks each limit before it copies a value into a shadow, and the receiver checks
//! each limit before it allocates memory.

/// The greatest number of elements of a `Vec`.
pub const MAX_ELEMENTS: u32 = 2_048;

/// The greatest number of items of a fast array, and of entries of a map.
pub const MAX_ITEMS: u32 = 1 << 20;

/// The greatest number of bytes of a `String`.
pub const MAX_STRING_BYTES: u32 = 4_096;
