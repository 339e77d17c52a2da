//! A value that counts how often it is written.
//!
//! *Invariant:* each thread counts its own values.

use std::cell::Cell;

use repl::prelude::*;
use repl::{BitReader, BitWriter, ReadError, ReferenceMap, WriteError};

thread_local! {
    static WRITTEN: Cell<usize> = const { Cell::new(0) };
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Counted(pub(crate) u32);

impl NetSerialize for Counted {
    const WIRE_NAME: &'static str = "Counted";

    fn write(&self, writer: &mut BitWriter) -> Result<(), WriteError> {
        WRITTEN.set(WRITTEN.get() + 1);
        self.0.write(writer)
    }

    fn read(reader: &mut BitReader<'_>, references: &mut ReferenceMap<'_>) -> Result<Self, ReadError> {
        u32::read(reader, references).map(Self)
    }
}
repl::leaf!(Counted);

/// Returns how many values were written since the last call.
pub(crate) fn take_written() -> usize {
    WRITTEN.replace(0)
}
