//! The writer of the body of the packet that is being filled.
//!
//! *Invariant:* between two packets, no segment is open.

use repl_core::BitWriter;
use repl_link::parts::BodyWriter;

use super::segment::SegmentWriter;

/// The segment that is being written, and the number of entries about single objects that were written so
/// far.
#[derive(Debug, Default)]
pub(crate) struct EntryWriter {
    pub(super) segment: SegmentWriter,
    /// This number may wrap around.
    pub(super) entries: u32,
}

impl EntryWriter {
    /// Returns a number that changes with each written entry about a single object.
    pub(crate) fn entries(&self) -> u32 {
        self.entries
    }
}

impl BodyWriter for EntryWriter {
    fn end(&mut self, writer: &mut BitWriter) {
        self.segment.end(writer);
    }
}
