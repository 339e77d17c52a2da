//! Writes bodies into the packets of an outbox: segments, entries about single objects, and openings.
//!
//! *Invariant:* for everything that is written into a packet, the record of this packet has an entry.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use repl_core::{BitSlice, BitWriter};
use repl_link::parts::{Body, Outbox, SEGMENT_BITS};

use super::State;
use super::contents::{Cohort, Sent};
use super::entry_writer::EntryWriter;
use super::segment::{RunHeader, Segment, SegmentKind, SegmentWriter};
use super::slot_set::masks_between;
use super::table::Table;

/// Writes the state of objects into packets.
pub(crate) trait WriteState {
    /// Appends a whole shared segment. The caller has already [made room](Outbox::make_room) for it in the
    /// packet.
    fn segment(&mut self, segment: &Arc<Segment>);

    /// Copies the entries in `runs` (ranges of entry numbers) into the current packet, or into the next
    /// packet if the current one is full. The runs are copied in order, beginning with the first one. Returns
    /// the number of runs that were copied completely, and the number of copied entries of the run after
    /// them. Copies nothing only if there are no entries, or if the limits of the connection do not allow
    /// another packet.
    fn copy(&mut self, table: &Arc<Table>, runs: &[Range<u32>], now: Duration) -> (usize, u32);

    /// Writes an entry about one object into a segment of the kind `kind`. The caller has already [made
    /// room](Outbox::make_room) for it in the packet.
    fn entry(
        &mut self,
        kind: SegmentKind,
        gap_order: u32,
        sent: Sent,
        write: impl FnOnce(&mut SegmentWriter, &mut BitWriter),
    );

    /// Writes that the client must remove an object. The caller has already [made room](Outbox::make_room)
    /// for the entry in the packet. The record of the packet stores `closed`, so that the ack confirms the
    /// removal.
    fn close(
        &mut self,
        gap_order: u32,
        slot: u32,
        closed: Cohort,
        write: impl FnOnce(&mut SegmentWriter, &mut BitWriter),
    );

    /// Begins the openings of `objects` objects in consecutive slots, beginning at `first`. The caller has
    /// already [made room](Outbox::make_room) for them in the packet. The caller must then
    /// [append](Self::append) the values of each object, one after another.
    fn openings(&mut self, first: u32, objects: u32, run_header: &RunHeader<'_>);

    /// Begins a run: the openings of objects in consecutive slots, beginning at `first`. `sizes` contains the
    /// number of bits of each object's values. The run contains as many objects as fit into the packet.
    /// Returns the number of objects in the run, which is zero only if an empty packet is too small for one
    /// object. Returns `None` if the limits of the connection do not allow another packet. The caller must
    /// then [append](Self::append) the values of each object in the run, one after another.
    fn run(
        &mut self,
        first: u32,
        run_header: &RunHeader<'_>,
        sizes: impl Iterator<Item = usize>,
        now: Duration,
    ) -> Option<u32>;

    /// Appends the encoded values of an object to the current packet.
    fn append(&mut self, values: BitSlice<'_>);
}

impl WriteState for Outbox<State> {
    fn segment(&mut self, segment: &Arc<Segment>) {
        let Body { record, body, writer } = self.body();
        record.shared.push(Arc::clone(segment));
        body.segment.end(writer);
        writer.append(segment.bits());
    }

    fn copy(&mut self, table: &Arc<Table>, runs: &[Range<u32>], now: Duration) -> (usize, u32) {
        let Some(first) = runs.first() else { return (0, 0) };
        let first_bits = table.bits(first.start..first.start + 1).len();
        if !self.make_room(table.head().len() + first_bits, now) {
            return (0, 0);
        }
        let is_continued = is_copying(self, table);
        if !is_continued {
            let Body { body, writer, .. } = self.body();
            body.segment.begin_table(table.head(), writer);
        }
        let mut room = self.room().saturating_sub(SEGMENT_BITS);
        // The first entry of a packet may be larger than the remaining budget.
        let mut most = self.packet_room().saturating_sub(SEGMENT_BITS).min(first_bits);
        let Body { record, writer, .. } = self.body();
        let before = writer.bit_len();
        let mut whole = 0;
        for bits in runs.iter().map(|run| table.bits(run.clone())) {
            if bits.len() > room.max(most) {
                break;
            }
            writer.append(bits);
            (room, most) = (room.saturating_sub(bits.len()), 0);
            whole += 1;
        }
        let (copied, rest) = runs.split_at(whole);
        let fitting = |run: &Range<u32>| run.start..run.start + table.fitting(run.clone(), room.max(most));
        let part = rest.first().map_or(0..0, fitting);
        if whole == 0 && part.is_empty() {
            return (0, 0);
        }
        writer.append(table.bits(part.clone()));
        let bits = writer.bit_len() - before;
        record.copied.push(table, copied, part.clone(), bits, is_continued);
        (whole, part.len() as u32)
    }

    fn entry(
        &mut self,
        kind: SegmentKind,
        gap_order: u32,
        sent: Sent,
        write: impl FnOnce(&mut SegmentWriter, &mut BitWriter),
    ) {
        let slot = sent.slot;
        let body = self.body();
        body.record.sent.push(sent);
        write_entry(body, kind, gap_order, slot, write);
    }

    fn close(
        &mut self,
        gap_order: u32,
        slot: u32,
        closed: Cohort,
        write: impl FnOnce(&mut SegmentWriter, &mut BitWriter),
    ) {
        let body = self.body();
        body.record.close(closed);
        write_entry(body, SegmentKind::Close, gap_order, slot, write);
    }

    fn openings(&mut self, first: u32, objects: u32, run_header: &RunHeader<'_>) {
        write_run(self.body(), first, objects, run_header);
    }

    fn run(
        &mut self,
        first: u32,
        run_header: &RunHeader<'_>,
        sizes: impl Iterator<Item = usize>,
        now: Duration,
    ) -> Option<u32> {
        let mut sizes = sizes.peekable();
        let header_bits = run_header.bits(self.max_bits()) + SEGMENT_BITS + 1;
        let first_bits = header_bits + sizes.peek().copied().unwrap_or(0);
        if first_bits > self.capacity() {
            return Some(0);
        }
        if !self.make_room(first_bits, now) {
            return None;
        }
        self.body();
        let mut left = self.room().saturating_sub(header_bits);
        let mut is_first = true;
        let fits = |bits: &usize| {
            // The first object is always written, even if its packet exceeds the budget.
            let fits = std::mem::take(&mut is_first) || *bits <= left;
            left = left.saturating_sub(*bits);
            fits
        };
        let count = sizes.take_while(fits).count() as u32;
        write_run(self.body(), first, count, run_header);
        Some(count)
    }

    fn append(&mut self, values: BitSlice<'_>) {
        self.body().writer.append(values);
    }
}

/// Returns whether the newest entries of the current packet were copied from `table`.
fn is_copying(outbox: &Outbox<State>, table: &Arc<Table>) -> bool {
    outbox.body_writer().segment.is_table()
        && outbox.record().is_some_and(|contents| contents.copied.ends_with(table))
}

fn write_run(body: Body<'_, State>, first: u32, count: u32, run_header: &RunHeader<'_>) {
    let Body { record, body, writer } = body;
    let generation = run_header.origin.generation;
    for (word, mask) in masks_between(first, first + count) {
        record.open(Cohort { word, mask, generation });
    }
    if !body.segment.accepts(SegmentKind::Open, first) {
        body.segment.begin_openings(first, writer);
    }
    body.segment.run(first, count, run_header, writer);
}

fn write_entry(
    body: Body<'_, State>,
    kind: SegmentKind,
    gap_order: u32,
    slot: u32,
    write: impl FnOnce(&mut SegmentWriter, &mut BitWriter),
) {
    let Body { body: EntryWriter { segment, entries }, writer, .. } = body;
    *entries = entries.wrapping_add(1);
    if !segment.accepts(kind, slot) {
        segment.begin(kind, gap_order, writer);
    }
    write(segment, writer);
}
