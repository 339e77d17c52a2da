//! Leaves that serialise themselves: one command, whatever they hold.
//!
//! Invariant: the four functions of a leaf were made for one type, and the shape that holds the leaf is that type's.
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

use crate::bits::{BitReader, BitWriter, ReadError, WriteError};
use crate::ids::reference::ReferenceMap;

/// A leaf whose type is known only to its functions.
#[derive(Clone, Copy)]
pub(crate) struct OpaqueLeaf {
    pub(crate) checksum: u64,
    /// The version of its form, for those who read the table.
    pub(crate) version: u32,
    pub(crate) identical: unsafe fn(*const u8, *const u8) -> bool,
    pub(crate) copy: unsafe fn(*const u8, *mut u8),
    pub(crate) write: unsafe fn(*const u8, &mut BitWriter) -> Result<(), WriteError>,
    pub(crate) read: unsafe fn(*mut u8, &mut BitReader<'_>, &mut ReferenceMap<'_>) -> Result<(), ReadError>,
    /// Reads and drops: whether the bits are a value.
    pub(crate) validate: fn(&mut BitReader<'_>, &mut ReferenceMap<'_>) -> Result<(), ReadError>,
}
