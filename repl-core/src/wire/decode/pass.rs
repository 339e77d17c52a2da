//! The two passes over an update: one sees that all is well, one applies it.
//!
//! Invariant: a pass that applies cannot stop; it is only made of what the other walked to its end.
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

use std::convert::Infallible;

use crate::bits::{BitReader, ReadError};
use crate::ids::identity::{KeyPass, ReadKey};
use crate::ids::key::KeyBits;
use crate::wire::checked::{Checked, Ends};

/// Which pass a walk is.
pub(crate) trait Pass: KeyPass {
    /// Why a walk stops before its end.
    type Stop;

    /// Whether this pass sees to it that all is well.
    const VALIDATES: bool;

    /// Stops at what could not be read.
    fn check<R: Default>(read: Result<R, ReadError>) -> Result<R, Self::Stop>;

    /// Reads a value by a reader of the user's own, which says whether it has asked for a reference.
    fn opaque(
        &mut self,
        reader: &mut BitReader<'_>,
        read: impl FnOnce(&mut BitReader<'_>) -> Result<bool, ReadError>,
    ) -> Result<(), Self::Stop>;

    /// Whether keys of an update that is applied mention objects.
    fn keys_refer(&self) -> bool {
        false
    }
}

/// Sees that all is well, and writes down where values end.
pub(crate) struct Validating<'w>(pub(crate) &'w mut Checked);

impl Pass for Validating<'_> {
    type Stop = ReadError;

    const VALIDATES: bool = true;

    fn check<R: Default>(read: Result<R, ReadError>) -> Result<R, ReadError> {
        read
    }

    fn opaque(
        &mut self,
        reader: &mut BitReader<'_>,
        read: impl FnOnce(&mut BitReader<'_>) -> Result<bool, ReadError>,
    ) -> Result<(), ReadError> {
        let has_asked = read(reader)?;
        self.0.value(reader.position(), has_asked);
        Ok(())
    }
}

impl KeyPass for Validating<'_> {
    fn key(&mut self, reader: &mut BitReader<'_>, read: ReadKey) -> Result<KeyBits, ReadError> {
        let mut guids = Vec::new();
        let key = read(reader, &mut guids)?;
        self.0.value(reader.position(), false);
        if !guids.is_empty() {
            self.0.key_refers();
        }
        Ok(key)
    }
}

/// Applies what was validated.
pub(crate) struct Applying<'w>(pub(crate) Ends<'w>);

impl Pass for Applying<'_> {
    type Stop = Infallible;

    const VALIDATES: bool = false;

    /// Both passes read the same bits in the same way, so whatever this reads was read before.
    fn check<R: Default>(read: Result<R, ReadError>) -> Result<R, Infallible> {
        debug_assert!(read.is_ok(), "an update that was validated");
        Ok(read.unwrap_or_default())
    }

    fn opaque(
        &mut self,
        reader: &mut BitReader<'_>,
        read: impl FnOnce(&mut BitReader<'_>) -> Result<bool, ReadError>,
    ) -> Result<(), Infallible> {
        let value = Self::check(self.0.take(reader))?;
        // A reader that refuses what it took before leaves the value as it is.
        read(&mut value.reader()).ok();
        Ok(())
    }

    fn keys_refer(&self) -> bool {
        self.0.refers
    }
}

impl KeyPass for Applying<'_> {
    fn key(&mut self, reader: &mut BitReader<'_>, _: ReadKey) -> Result<KeyBits, ReadError> {
        self.0.take(reader).map(KeyBits::new)
    }
}
