//! Writes into the packets of an outbox: segments, entries about single objects, openings and messages.
//!
//! *Invariant:* what is written is in the record of the same packet.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use repl_core::{BitSlice, BitWriter};

use super::Outbox;
use crate::transport::in_flight::Sent;
use crate::transport::message::{MESSAGE_HEAD_BITS, NEXT_PART_BITS, PART_HEAD_BITS, SentMessage};
use crate::transport::parts::Cut;
use crate::transport::segment::{RunHeader, SEGMENT_BITS, Segment, SegmentKind, SegmentWriter};
use crate::transport::sequence::Sequence;
use crate::transport::slot_set::masks_between;
use crate::transport::table::Table;

impl Outbox {
    /// Appends a whole shared segment, for which the caller has [made room](Self::make_room).
    pub(crate) fn segment(&mut self, segment: &Arc<Segment>) {
        self.open_packet().contents.shared.push(Arc::clone(segment));
        self.draft.end_segment();
        self.draft.writer.append(segment.bits());
    }

    /// Copies the entries in `runs` (ranges of entry numbers) into this packet, or into the next if this one
    /// is full. Copying begins with the first run. Returns how many runs were copied as a whole, and how many
    /// entries of the next one. Copies nothing only if there are no entries or the limits of the connection
    /// do not allow another packet.
    pub(crate) fn copy(&mut self, table: &Arc<Table>, runs: &[Range<u32>], now: Duration) -> (usize, u32) {
        let Some(first) = runs.first() else { return (0, 0) };
        let first_bits = table.bits(first.start..first.start + 1).len();
        if !self.make_room(table.head().len() + first_bits, now) {
            return (0, 0);
        }
        let is_continued = self.is_copying(table);
        self.open_packet();
        if !is_continued {
            self.draft.segment.begin_table(table.head(), &mut self.draft.writer);
        }
        let mut room = self.room().saturating_sub(SEGMENT_BITS);
        // The first entry of a packet may exceed the budget.
        let mut most = self.packet_room().saturating_sub(SEGMENT_BITS).min(first_bits);
        let Self { record, draft, .. } = self;
        let Some(record) = record else { return (0, 0) };
        let before = draft.writer.bit_len();
        let mut whole = 0;
        for bits in runs.iter().map(|run| table.bits(run.clone())) {
            if bits.len() > room.max(most) {
                break;
            }
            draft.writer.append(bits);
            (room, most) = (room.saturating_sub(bits.len()), 0);
            whole += 1;
        }
        let (copied, rest) = runs.split_at(whole);
        let fitting = |run: &Range<u32>| run.start..run.start + table.fitting(run.clone(), room.max(most));
        let part = rest.first().map_or(0..0, fitting);
        if whole == 0 && part.is_empty() {
            return (0, 0);
        }
        draft.writer.append(table.bits(part.clone()));
        let bits = draft.writer.bit_len() - before;
        record.contents.copied.push(table, copied, part.clone(), bits, is_continued);
        (whole, part.len() as u32)
    }

    /// Returns whether the last entries of the packet that is being filled were copied from this table.
    fn is_copying(&self, table: &Arc<Table>) -> bool {
        self.draft.segment.is_table()
            && self.record.as_ref().is_some_and(|record| record.contents.copied.ends_with(table))
    }

    /// Writes an entry about one object into a segment of its kind. The caller has [made
    /// room](Self::make_room) for the entry.
    pub(crate) fn entry(
        &mut self,
        kind: SegmentKind,
        gap_order: u32,
        sent: Sent,
        write: impl FnOnce(&mut SegmentWriter, &mut BitWriter),
    ) {
        let slot = sent.slot;
        self.open_packet().contents.sent.push(sent);
        self.write_entry(kind, gap_order, slot, write);
    }

    /// Writes that the client must remove an object, if there is [room](Self::make_room) for this.
    pub(crate) fn close(
        &mut self,
        gap_order: u32,
        slot: u32,
        write: impl FnOnce(&mut SegmentWriter, &mut BitWriter),
    ) {
        self.open_packet().contents.close(slot);
        self.write_entry(SegmentKind::Close, gap_order, slot, write);
    }

    fn write_entry(
        &mut self,
        kind: SegmentKind,
        gap_order: u32,
        slot: u32,
        write: impl FnOnce(&mut SegmentWriter, &mut BitWriter),
    ) {
        self.entries = self.entries.wrapping_add(1);
        if !self.draft.segment.accepts(kind, slot) {
            self.draft.segment.begin(kind, gap_order, &mut self.draft.writer);
        }
        write(&mut self.draft.segment, &mut self.draft.writer);
    }

    /// Writes a message, or a part of it if it is cut into parts. The message belongs to one of `channels`
    /// channels. The argument `content` has the bits of the message or part. Returns the number of the packet
    /// that contains the message and the bits that were written, or `None` if the limits of the connection do
    /// not allow another packet.
    pub(crate) fn message(
        &mut self,
        message: SentMessage,
        channels: u16,
        cut: Cut,
        content: BitSlice<'_>,
        now: Duration,
    ) -> Option<(Sequence, usize)> {
        let header_bits = match cut.parts() {
            1 => MESSAGE_HEAD_BITS,
            _ if self.draft.messages.continues(message) => NEXT_PART_BITS,
            _ => PART_HEAD_BITS,
        };
        if !self.make_room(header_bits.saturating_add(content.len()), now) {
            return None;
        }
        self.open_packet().contents.messages.push(message);
        let before = self.draft.messages.bit_len();
        self.draft.messages.write(message, channels, cut, content);
        Some((self.next, self.draft.messages.bit_len() - before))
    }

    /// Begins a run: the openings of objects in consecutive slots from `first` on. Takes as many objects into
    /// the run as fit into the packet. Returns the number of objects in the run, which is zero only if an
    /// empty packet is too small for one object. Returns `None` if the limits of the connection do not allow
    /// another packet. The caller must then [append](Self::append) the values of each object in turn, which
    /// take `sizes` bits.
    pub(crate) fn run(
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
        self.open_packet();
        let mut left = self.room().saturating_sub(header_bits);
        let mut is_first = true;
        let fits = |bits: &usize| {
            // There is room for the first object, even if its packet exceeds the budget.
            let fits = std::mem::take(&mut is_first) || *bits <= left;
            left = left.saturating_sub(*bits);
            fits
        };
        let count = sizes.take_while(fits).count() as u32;
        self.open_packet().contents.opened.extend(masks_between(first, first + count));
        if !self.draft.segment.accepts(SegmentKind::Open, first) {
            self.draft.segment.begin_openings(first, &mut self.draft.writer);
        }
        self.draft.segment.run(first, count, run_header, &mut self.draft.writer);
        Some(count)
    }

    /// Appends the encoded values of an object to the packet that is being filled.
    pub(crate) fn append(&mut self, values: BitSlice<'_>) {
        self.draft.writer.append(values);
    }
}
