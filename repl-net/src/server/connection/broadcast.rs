//! Sends the parts of the broadcast that a connection needs: shared segments, and consecutive entries of
//! tables. The broadcast is encoded once for all connections.
//!
//! *Invariant:* a connection sends shared changes only of objects with which it is in step. All other changes
//! become pending, or stay in the history of the object.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use repl_core::BitSlice;

use super::Connection;
use super::context::{PassContext, PassScratch};
use super::lists::PRIVATE_GAP_ORDER;
use crate::body::contents::{Content, Sent};
use crate::body::entry_lists::EncodedEntry;
use crate::body::segment::{ENTRY_BITS, SegmentKind, handles_bits};
use crate::body::table::Table;
use crate::body::writing::WriteState;
use crate::server::broadcast::{Piece, Tables};
use crate::server::world::World;
use crate::session::classes::ClassList;

impl Connection {
    /// Returns whether the packets of the connection are smaller than the size to which shared changes are
    /// fitted.
    pub(super) fn is_narrow(&self, context: &PassContext<'_>) -> bool {
        self.link.outbox.body_bits() < context.broadcast.max_bits()
    }

    /// Sends a shared segment: the whole segment if the connection is in step (up to date, in the default
    /// view) with all of its objects, otherwise only the entries of objects in step. The argument
    /// `all_in_step` says whether the connection is in step with all objects that changed in this tick.
    pub(super) fn send_shared(&mut self, at: usize, all_in_step: bool, context: &mut PassContext<'_>) {
        let segment = &context.broadcast.segments()[at];
        let (mut wanted, mut unwanted) = (0, 0);
        if !all_in_step {
            for (word, mask) in &segment.masks {
                let in_step = self.copies.objects.in_step_in(*word);
                wanted |= mask & in_step;
                unwanted |= mask & !in_step;
            }
            if wanted == 0 {
                return;
            }
        }
        let segment_bits = segment.bits().len();
        let fits = segment_bits <= self.link.outbox.body_bits();
        let is_whole = unwanted == 0 && fits && self.link.outbox.affords(segment_bits);
        if segment.continues {
            self.link.outbox.flush(context.now);
        }
        if is_whole && self.link.outbox.make_room(segment_bits, context.now) {
            self.link.outbox.segment(segment);
            if segment.has_new_elements() {
                self.note_new_elements(segment.entries(), context.world);
            }
            return;
        }
        for (entry, values) in segment.entries_with_values() {
            if !self.copies.objects.is_in_step(entry.slot) {
                continue;
            }
            if !self.send_shared_entry(entry, values, context.world, context.classes, context.now) {
                self.copies.postpone(entry.slot, context.world);
            }
        }
    }

    /// Copies the entries of the tables that belong to objects in the cells in sight, except the entries of
    /// objects that are out of step (R24).
    pub(super) fn send_stretches(&mut self, context: &mut PassContext<'_>) {
        let tables = context.broadcast.tables();
        let PassScratch { pieces, runs, may_be_out_of_step, .. } = &mut *context.scratch;
        self.copies.objects.cells_out_of_step(
            context.world,
            &context.world.changes.slots,
            may_be_out_of_step,
        );
        tables.pieces(self.copies.view().spans(), may_be_out_of_step, pieces);
        let is_narrow = self.link.outbox.body_bits() < context.broadcast.max_bits();
        for stretch in pieces.chunk_by(|one, other| (one.table, one.is_late) == (other.table, other.is_late))
        {
            let Some(Piece { table, is_late, .. }) = stretch.first() else { continue };
            let table = tables.table(*table);
            runs.clear();
            for piece in stretch {
                self.find_runs(table, piece, runs);
            }
            if is_narrow {
                self.take_out_large(table, runs, *is_late, context.world);
            }
            self.send_runs(table, runs, *is_late, context.world, context.now);
        }
        self.pend_due_alone(tables, context.world);
    }

    /// Appends to `runs` the entries of a piece that belong to objects in step (up to date, in the default
    /// view). If an object is out of step, its late changes (changes that far connections receive some ticks
    /// after the near connections) become pending.
    fn find_runs(&mut self, table: &Table, piece: &Piece, runs: &mut Vec<Range<u32>>) {
        let Piece { is_late, is_certain, ref entries, .. } = *piece;
        if is_certain {
            let mut slots = table.slots(entries.clone()).iter();
            debug_assert!(
                slots.all(|&slot| self.copies.objects.is_in_step(slot)),
                "objects out of step are in the listed cells"
            );
            add_run(entries.clone(), runs);
            return;
        }
        for (at, EncodedEntry { slot, list, .. }) in (entries.start..).zip(table.entries(entries.clone())) {
            let is_in_step = self.copies.objects.is_in_step(slot);
            if is_in_step && !(is_late && self.copies.objects.are_new_elements_changed(slot, list)) {
                add_run(at..at + 1, runs);
            } else if is_late {
                self.copies.pend_due(slot, list);
            }
        }
    }

    /// Removes the entries from `runs` that are too large for the packets of this connection. Their changes
    /// become pending.
    fn take_out_large(&mut self, table: &Table, runs: &mut Vec<Range<u32>>, is_late: bool, world: &World) {
        let most = self.link.outbox.capacity().saturating_sub(table.head().len());
        for at in std::mem::take(runs).into_iter().flatten() {
            if table.bits(at..at + 1).len() <= most {
                add_run(at..at + 1, runs);
                continue;
            }
            for entry in table.entries(at..at + 1) {
                self.leave_out(entry, is_late, world);
            }
        }
    }

    fn leave_out(&mut self, entry: EncodedEntry<'_>, is_late: bool, world: &World) {
        if is_late {
            self.copies.pend_due(entry.slot, entry.list);
        } else {
            self.copies.postpone(entry.slot, world);
        }
    }

    /// Makes the changes pending that are due in this tick and are in no table.
    pub(super) fn pend_due_alone(&mut self, tables: &Tables, world: &World) {
        for due in tables.due_alone() {
            if due.is_for(|cell| self.copies.view().band_of(world, cell)) {
                self.copies.pend_due(due.slot, &due.list);
            }
        }
    }

    /// Copies runs of entries of a table into packets. Postpones the changes for which there is no room.
    fn send_runs(
        &mut self,
        table: &Arc<Table>,
        runs: &mut [Range<u32>],
        is_late: bool,
        world: &World,
        now: Duration,
    ) {
        let mut left = runs;
        while !left.is_empty() {
            let (whole, part) = self.link.outbox.copy(table, left, now);
            if (whole, part) == (0, 0) {
                for entry in left.iter().flat_map(|run| table.entries(run.clone())) {
                    self.leave_out(entry, is_late, world);
                }
                return;
            }
            let (copied, rest) = left.split_at_mut(whole);
            let part = rest.first_mut().map_or(0..0, |next| {
                let start = next.start;
                next.start += part;
                start..next.start
            });
            if table.has_new_elements() {
                let runs = copied.iter().chain([&part]);
                self.note_new_elements(runs.flat_map(|run| table.entries(run.clone())), world);
            }
            left = rest;
        }
    }

    /// Records that the packet that is being filled contains the new elements of these entries.
    fn note_new_elements<'e>(&mut self, entries: impl Iterator<Item = EncodedEntry<'e>>, world: &World) {
        let sequence = self.link.outbox.sequence();
        for EncodedEntry { slot, list, .. } in entries.filter(|entry| entry.list.has_new_elements()) {
            self.copies.objects.new_elements_sent(world, slot, sequence, list.new_elements());
        }
    }

    /// Sends one entry of a shared segment. Returns `false` if the packets have no room for the entry, or no
    /// packet is large enough.
    fn send_shared_entry(
        &mut self,
        entry: EncodedEntry<'_>,
        values: BitSlice<'_>,
        world: &World,
        classes: &ClassList,
        now: Duration,
    ) -> bool {
        let EncodedEntry { slot, generation, list } = entry;
        let class = world.store.occupant(slot).class;
        let count = world.store.column(class).program().handles();
        let wire_class = classes.wire(class.into()) as usize;
        let bits = ENTRY_BITS + handles_bits(count) + values.len();
        if bits > self.link.outbox.capacity() || !self.link.outbox.make_room(bits, now) {
            return false;
        }
        let sent = Sent { slot, generation, content: Content::Update(list.clone()) };
        self.link.outbox.entry(SegmentKind::Update, PRIVATE_GAP_ORDER, sent, |segment, writer| {
            segment.update(slot, wire_class, count, list.handles(), values, writer);
        });
        self.note_new_elements(std::iter::once(entry), world);
        true
    }
}

/// Appends the range `entries` to `runs`. If it begins where the last range ends, extends this range instead.
fn add_run(entries: Range<u32>, runs: &mut Vec<Range<u32>>) {
    match runs.last_mut() {
        Some(last) if last.end == entries.start => last.end = entries.end,
        _ => runs.push(entries),
    }
}
