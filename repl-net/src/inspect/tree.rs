//! Prints the state in a packet as text, for logs: a line for each object, and below it a line for each
//! property.
//!
//! *Invariant:* the text has at most [`MOST_LINES`] lines. Each value has at most about [`MOST_CHARS`]
//! characters.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use repl_core::{BitReader, BitSlice};
use repl_link::parts::Sequence;

use super::survey::{Account, Catalog, Entry, Subject, survey};
use crate::body::reassembly::Part;

/// The greatest number of lines. A packet to a client that joins can contain thousands of properties.
const MOST_LINES: usize = 500;

/// The greatest number of characters that are printed of a value.
const MOST_CHARS: usize = 200;

/// Prints the entries of a body as text.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    text: String,
    lines: usize,
    /// The paths of all properties of each class.
    paths: BTreeMap<u16, Vec<String>>,
}

impl Tree {
    /// Adds the lines of a body. Returns those parts of large updates that the body contains.
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

    pub(crate) fn is_empty(&self) -> bool {
        self.lines == 0
    }

    fn is_full(&self) -> bool {
        self.lines >= MOST_LINES
    }

    fn line(&mut self, line: fmt::Arguments<'_>) {
        if self.is_full() {
            return;
        }
        self.lines = self.lines.saturating_add(1);
        // Writing to a `String` never fails.
        let _ = if self.is_full() { write!(self.text, "\n…") } else { write!(self.text, "\n{line}") };
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
        if self.is_full() {
            return;
        }
        let program = subject.program;
        let paths = self.paths.entry(subject.class).or_insert_with(|| program.layout().paths());
        let path = paths.get(handle.wrapping_sub(1) as usize).cloned().unwrap_or_default();
        let mut value = program.value_text(handle, bits, subject.epoch);
        if let Some((end, _)) = value.char_indices().nth(MOST_CHARS) {
            value.truncate(end);
            value.push('…');
        }
        self.line(format_args!("  {path}: {value}, {} bits", bits.len()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_ends_with_its_last_line() {
        let mut tree = Tree::default();
        assert!(tree.is_empty());
        (0..2 * MOST_LINES).for_each(|line| tree.line(format_args!("{line}")));
        let text = tree.to_string();
        let lines: Vec<_> = text.lines().skip(1).collect();
        assert_eq!((lines.len(), lines[0], lines[MOST_LINES - 2]), (MOST_LINES, "0", "498"));
        assert_eq!(lines[MOST_LINES - 1], "…");
    }
}
