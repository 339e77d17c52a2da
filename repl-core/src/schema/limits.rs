//! Limits that apply if no attribute sets another.
//!
//! *Invariant:* the sender checks each limit before it copies a value into a shadow, the receiver before it
//! allocates memory.

/// Elements of a `Vec`.
pub const MAX_ELEMENTS: u32 = 2_048;

/// Items of a keyed collection.
pub const MAX_ITEMS: u32 = 1 << 20;

/// Bytes of a `String`.
pub const MAX_STRING_BYTES: u32 = 4_096;
