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

use crate::access::opaque as access;
use crate::bits::{BitReader, BitWriter};
use crate::checksum::Checksum;
use crate::reference::ReferenceMap;
use crate::value::{NetSerialize, ReadError, With, WriteError, form_checksum};

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

impl OpaqueLeaf {
    pub(crate) const fn of<T: NetSerialize + Clone>() -> Self {
        Self {
            checksum: T::WIRE_CHECKSUM,
            version: T::WIRE_VERSION,
            identical: access::opaque_identical::<T>,
            copy: access::opaque_copy::<T>,
            write: access::opaque_write::<T>,
            read: access::opaque_read::<T>,
            validate: |reader, references| T::read(reader, references).map(drop),
        }
    }

    pub(crate) const fn with<T: Clone + 'static, W: With<T>>() -> Self {
        Self {
            checksum: match W::AROUND {
                0 => form_checksum(W::WIRE_NAME, W::WIRE_VERSION),
                around => Checksum::new()
                    .number(form_checksum(W::WIRE_NAME, W::WIRE_VERSION))
                    .number(around)
                    .finish(),
            },
            version: W::WIRE_VERSION,
            identical: access::with_identical::<T, W>,
            copy: access::opaque_copy::<T>,
            write: access::with_write::<T, W>,
            read: access::with_read::<T, W>,
            validate: |reader, references| W::read(reader, references).map(drop),
        }
    }
}
