//! Limits of lengths that apply if no attribute sets another limit.
//!
//! *Invariant:* the sender checks each limit before it copies a value into a shadow, the receiver before it
//! allocates memory.

/// The most elements of a `Vec`.
pub const MAX_ELEMENTS: u32 = 2_048;

/// The most items of a fast array, and entries of a map.
pub const MAX_ITEMS: u32 = 1 << 20;

/// The most bytes of a `String`.
pub const MAX_STRING_BYTES: u32 = 4_096;
