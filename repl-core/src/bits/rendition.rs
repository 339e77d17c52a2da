//! How a value is written that can be sent as a difference: whole, or as a difference to an earlier
//! value that the reader has kept.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::num::NonZeroU32;
use std::sync::Arc;

use super::BitSlice;

/// The number of a value of one property of an object, which counts its changes.
pub type Revision = u16;

/// How the next value of a property with differences is written for a connection.
#[derive(Clone, Debug, Default)]
pub struct Rendition {
    /// The revision of the value, if the client is to keep the value as a base.
    pub keeps: Option<Revision>,
    /// The difference that is sent. The value is sent whole without it.
    pub difference: Option<Difference>,
}

/// A difference that was written.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The revision of the value to which it was made.
    pub base: Revision,
    /// The bits of the difference, which connections share.
    pub bits: Arc<DifferenceBits>,
}

/// The bits of a difference, which is written once for all connections with the same base.
#[derive(Debug, Default)]
pub struct DifferenceBits {
    pub(super) bytes: Vec<u8>,
    pub(super) len: usize,
    /// The assets to which the difference refers.
    pub(super) named_assets: Box<[NonZeroU32]>,
}

impl DifferenceBits {
    /// Returns the bits.
    #[must_use]
    pub fn as_slice(&self) -> BitSlice<'_> {
        BitSlice::new(&self.bytes, 0, self.len).unwrap_or_default()
    }
}
