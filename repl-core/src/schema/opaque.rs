//! Leaves (values that are sent as a unit) that have their own serialisers. A leaf with its own serialiser
//! has one command in the program, for any content.
//!
//! *Invariant:* all functions of a leaf belong to the same type, and only the shape of this type contains the
//! leaf.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use crate::bits::{BitReader, BitWriter, ReadError, Rendition, WriteError};
use crate::ids::delta_base::DeltaBase;
use crate::ids::reference::ReferenceMap;

/// A leaf whose type is known only to the functions in this struct.
#[derive(Clone, Copy)]
pub(crate) struct OpaqueLeaf {
    pub(crate) checksum: u64,
    pub(crate) identical: unsafe fn(*const u8, *const u8) -> bool,
    pub(crate) copy: unsafe fn(*const u8, *mut u8),
    pub(crate) write: unsafe fn(*const u8, &mut BitWriter) -> Result<(), WriteError>,
    pub(crate) read: unsafe fn(*mut u8, &mut BitReader<'_>, &mut ReferenceMap<'_>) -> Result<(), ReadError>,
    /// Reads a value without storing it, to check that its bits are valid.
    pub(crate) validate: fn(&mut BitReader<'_>, &mut ReferenceMap<'_>) -> Result<(), ReadError>,
    /// How its differences are written, if it is sent as differences.
    pub(crate) delta: Option<&'static DeltaLeaf>,
}

/// The functions of a leaf that is sent as differences. Each value pointer points to an aligned value of the
/// leaf's type.
#[derive(Clone, Copy)]
pub(crate) struct DeltaLeaf {
    /// Whether the values are of the type `String`, and have the same state if and only if they are equal.
    pub(crate) is_string: bool,
    /// Writes a value as a connection needs it.
    pub(crate) write: unsafe fn(*const u8, &Rendition, &mut BitWriter) -> Result<(), WriteError>,
    /// Returns what is stored of a value to make differences to it.
    pub(crate) base: unsafe fn(*const u8) -> DeltaBase,
    /// Writes how a value differs from a base.
    pub(crate) difference: unsafe fn(&DeltaBase, *const u8, &mut BitWriter) -> Result<(), WriteError>,
}
