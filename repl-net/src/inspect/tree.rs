//! The body of a packet as text, for logs: a line for each object, and below it a line for each property.
//!
//! *Invariant:* the text has no more lines than [`MOST_LINES`].

use std::fmt::{self, Write};

use repl_core::{BitReader, BitSlice};
use repl_link::parts::Sequence;

use super::survey::{Account, Catalog, Entry, Subject, survey};
use crate::body::reassembly::Part;

/// A packet of an object that joins can have thousands of properties.
const MOST_LINES: usize = 500;

/// What a body consists of, as text.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    text: String,
    lines: usize,
}

impl Tree {
    /// Adds the lines of a body. Returns the parts of large updates that the body has.
    pub(crate) fn add(
        &mut self,
        sequence: Sequence,
        reader: &mut BitReader<'_>,
        catalog: &impl Catalog,
    ) -> Vec<Part> {
        survey(sequence, reader, catalog, self).unwrap_or_else(|error| {
            self.line(format_args!("{error:?}"));
            Vec::new()
        })
    }

    /// Returns whether nothing was added.
    pub(crate) fn is_empty(&self) -> bool {
        self.lines == 0
    }

    fn line(&mut self, line: fmt::Arguments<'_>) {
        self.lines = self.lines.saturating_add(1);
        // Writing to a `String` never fails.
        let _ = match self.lines {
            ..MOST_LINES => write!(self.text, "\n{line}"),
            MOST_LINES => write!(self.text, "\n…"),
            _ => Ok(()),
        };
    }
}

impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Account for Tree {
    fn entry(&mut self, entry: Entry, subject: Subject<'_>, head_bits: usize) {
        let object = subject.label();
        match entry {
            Entry::Opening => self.line(format_args!("{object} opened, {head_bits} bits")),
            Entry::Update => self.line(format_args!("{object} updated, {head_bits} bits")),
            Entry::Removal(reason) => self.line(format_args!("{object} removed, {reason:?}")),
            Entry::LastState(reason) => {
                self.line(format_args!("{object} removed, {reason:?}, last state, {head_bits} bits"));
            }
            Entry::Part(index, parts) => {
                self.line(format_args!("{object}, part {} of {parts}", index.wrapping_add(1)));
            }
        }
    }

    fn property(&mut self, subject: Subject<'_>, handle: u32, bits: BitSlice<'_>) {
        self.line(format_args!("  {}, {} bits", subject.program.property_text(handle, bits), bits.len()));
    }
}
