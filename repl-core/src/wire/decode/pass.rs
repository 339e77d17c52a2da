//! The two passes over an update: the first pass validates the update, and the second applies it.
//!
//! *Invariant:* the apply pass cannot stop early. It runs only on updates that validation has read to the
//! end.

use std::convert::Infallible;

use crate::bits::{BitReader, ReadError};
use crate::ids::identity::{KeyPass, ReadKey};
use crate::ids::key::KeyBits;
use crate::wire::checked::{Checked, Ends};

/// One of the two passes over an update: validation or applying.
pub(crate) trait Pass: KeyPass {
    /// The error that stops the pass before the end.
    type Stop;

    const VALIDATES: bool;

    /// Stops the pass if a value could not be read.
    fn check<R: Default>(read: Result<R, ReadError>) -> Result<R, Self::Stop>;

    /// Reads a value with user code. `read` calls the user code, and returns whether the user code resolved a
    /// reference.
    fn opaque(
        &mut self,
        reader: &mut BitReader<'_>,
        read: impl FnOnce(&mut BitReader<'_>) -> Result<bool, ReadError>,
    ) -> Result<(), Self::Stop>;

    /// Returns whether keys of the update refer to objects. Only the apply pass knows this, so the validation
    /// pass returns false.
    fn keys_refer(&self) -> bool {
        false
    }
}

/// Validates an update, and records where values end.
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

/// Applies an update that was validated.
pub(crate) struct Applying<'w>(pub(crate) Ends<'w>);

impl Pass for Applying<'_> {
    type Stop = Infallible;

    const VALIDATES: bool = false;

    /// Returns the value that was read. Validation has read the same bits in the same way before, so there is
    /// no error to return.
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
        // If a hand-written serialiser now refuses bits that it accepted before, the value does not change.
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
