//! Sends the objects with the greatest product of priority and age first, if not everything fits into a tick
//! (S189).
//!
//! *Invariant:* the age of each object that waits and is not sent grows in each tick.

use super::Connection;
use super::backlog::{Backlog, select};
use super::context::PassContext;
use crate::body::slot_set::slots_of;
use crate::server::world::World;

/// At least this many objects are selected and sorted at a time.
const LEAST_SELECTED: usize = 32;
/// Fewer objects than this are sent in the exact order of their ranks.
const FEW: usize = 8;

impl Connection {
    /// Returns the backlog of this connection, which also stores the pause and the view directions. Creates
    /// it if necessary.
    pub(crate) fn backlog_mut(&mut self) -> &mut Backlog {
        self.backlog.get_or_insert_default()
    }

    /// Frees memory of the backlog that was not needed recently.
    pub(super) fn end_backlog_round(&mut self) {
        if let Some(backlog) = self.backlog.as_mut().filter(|backlog| backlog.waiting_objects == 0) {
            backlog.ages = None;
            if backlog.is_default() {
                self.backlog = None;
            }
        }
    }

    /// Begins to send the state of a tick in which not everything may fit.
    pub(super) fn begin_backlog(&mut self, context: &mut PassContext<'_>) {
        if self.is_short() {
            self.pend_all_due(context);
        }
        let world = context.world;
        context.scratch.fresh.clear();
        if self.is_short() {
            // Changes that could be sent in shared segments are ranked together with all others, so that
            // objects with the greatest priorities are sent first.
            for (word, mask) in self.copies.objects.shared_words(&world.changes.slots) {
                let now = mask & !self.copies.objects.wait_for_band(world, word, mask);
                context.scratch.fresh.insert_mask(word, now);
            }
        }
        self.note_waiting(world);
    }

    /// Records since when the objects wait that are to be encoded separately for this client.
    fn note_waiting(&mut self, world: &World) {
        let waiting = self.copies.objects.waiting_sets();
        let backlog = self.backlog.get_or_insert_default();
        if waiting.iter().all(|set| set.is_empty()) {
            backlog.ages = None;
        } else {
            backlog.ages.get_or_insert_default().begin(world.frame, waiting);
        }
    }

    /// Ends the sending of the state of a tick, and counts what waits because of the limits. `is_limited`
    /// says whether the budget or the link was too narrow from the start.
    ///
    /// If only the memory limit delays objects, they do not take turns. Otherwise the server would have to
    /// store the unacknowledged new elements of all of them.
    pub(super) fn end_backlog(&mut self, is_limited: bool) {
        let has_refused = self.link.outbox.has_refused();
        if self.backlog.is_none() && !has_refused {
            return;
        }
        let waiting = if has_refused { self.copies.objects.waiting_count() } else { 0 };
        if self.backlog.is_none() && waiting == 0 {
            return;
        }
        let takes_turns = is_limited || waiting > 0 && !self.link.outbox.is_over_memory();
        let backlog = self.backlog_mut();
        backlog.is_short = has_refused && takes_turns;
        backlog.waiting_objects = waiting;
    }

    /// Returns whether the changes of this tick that other connections share are sent to this connection
    /// alone, because its limits delayed something in the last tick.
    pub(super) fn is_short(&self) -> bool {
        self.backlog.as_ref().is_some_and(|backlog| backlog.is_short)
    }

    /// Sends what must be encoded separately for this connection, until the limits are reached. The objects
    /// with the greatest product of priority and age are sent first (S189).
    ///
    /// The objects that probably fit are sent in the order of their slots, which takes fewer bits, and the
    /// following objects in the order of their ranks. If fewer objects fit than expected, the next tick sends
    /// all objects in the order of their ranks. So no object starves because of its slot.
    pub(super) fn send_by_priority(&mut self, context: &mut PassContext<'_>) {
        let mut order = std::mem::take(&mut context.scratch.order);
        let (view, waiting) = (self.copies.objects.view(), self.copies.objects.waiting_sets()[0]);
        let backlog = self.backlog.get_or_insert_default();
        backlog.rank(view, waiting, self.copies.objects.asleep(), context.world, &mut order);
        backlog.rank_fresh(view, &context.scratch.fresh, context.world, &mut order);
        // If blobs wait, the exact order is used: in the order of slots, the objects in the first slots would
        // begin all blobs.
        let is_exact = std::mem::take(&mut backlog.was_overestimated) | self.copies.objects.take_blob_waits();
        let mut left = order.as_mut_slice();
        while !left.is_empty() && !self.link.outbox.is_exhausted() {
            let bytes = self.link.outbox.budget_bytes();
            let expected = self.backlog_mut().expected_count(bytes);
            let selected = expected.saturating_mul(2).max(LEAST_SELECTED).min(left.len());
            let sure = if is_exact || expected < FEW { 0 } else { expected.min(selected) };
            select(left, sure, selected);
            let mut done = 0;
            while done < selected && !self.link.outbox.is_exhausted() {
                self.send_ranked(left[done] as u32, context);
                done += 1;
            }
            self.backlog_mut().was_overestimated |= done < sure;
            left = &mut left[selected..];
        }
        let changes: Vec<(usize, u64)> =
            self.copies.objects.waiting_sets()[0].masks_in(&context.world.changes.slots).collect();
        for (word, mask) in changes.into_iter().chain(context.scratch.fresh.masks()) {
            for slot in slots_of(word, mask) {
                // Most waiting objects are behind already and remain so.
                if !self.copies.objects.is_behind(slot) {
                    self.copies.postpone(slot, context.world);
                }
            }
        }
        if !context.scratch.fresh.is_empty() {
            self.note_waiting(context.world);
        }
        context.scratch.order = order;
    }

    fn send_ranked(&mut self, slot: u32, context: &mut PassContext<'_>) {
        let before = (self.link.outbox.body_writer().entries(), self.link.outbox.written_bits());
        if context.scratch.fresh.take(slot) {
            self.send_fresh(slot, context);
        } else if self.copies.objects.must_be_sent(slot) {
            self.copies.objects.leave_spawns(slot);
            self.copies.objects.begin_sending(slot);
            self.send_object(slot, context);
        }
        if self.link.outbox.body_writer().entries() != before.0 {
            let bits = (self.link.outbox.written_bits() - before.1) as f32;
            let backlog = self.backlog_mut();
            backlog.ages.iter_mut().for_each(|ages| ages.sent(slot));
            backlog.object_bits += (bits - backlog.object_bits) / 16.0;
        }
    }

    /// Sends pending spawns (objects new to the client), until the limits are reached. The spawns with the
    /// greatest product of priority and age are sent first. If fewer fit than expected, the next tick uses
    /// the exact order, as for [changes](Self::send_by_priority).
    pub(super) fn send_spawns_by_priority(&mut self, slots: &mut Vec<u32>, context: &mut PassContext<'_>) {
        let mut order = std::mem::take(&mut context.scratch.order);
        let (view, waiting) = (self.copies.objects.view(), self.copies.objects.waiting_sets()[1]);
        self.backlog.get_or_insert_default().rank(view, waiting, None, context.world, &mut order);
        let is_exact = std::mem::take(&mut self.backlog_mut().spawns_overestimated);
        let mut left = order.as_mut_slice();
        while !left.is_empty() && !self.link.outbox.is_exhausted() {
            // Openings are sent in runs of consecutive slots, so all openings that may fit are sorted by
            // slot.
            let bytes = self.link.outbox.budget_bytes();
            let count = self.backlog_mut().expected_count(bytes).max(FEW).min(left.len());
            let sure = if is_exact { 0 } else { count };
            select(left, sure, count);
            for run in left[..count].chunk_by(|&one, &next| (one as u32) < next as u32) {
                slots.clear();
                slots.extend(run.iter().map(|&rank| rank as u32));
                self.send_openings(slots, context);
            }
            let waiting = self.copies.objects.waiting_sets();
            let is_left = |slot: u32| waiting.iter().any(|set| set.contains(slot));
            let are_left = left[..count].iter().any(|&rank| is_left(rank as u32));
            self.backlog_mut().spawns_overestimated |= are_left;
            left = &mut left[count..];
        }
        context.scratch.order = order;
    }

    /// Returns how many objects waited at the end of the last tick because of the limits.
    pub(crate) fn waiting_objects(&self) -> usize {
        self.backlog.as_ref().map_or(0, |backlog| backlog.waiting_objects)
    }

    /// Makes pending the changes of earlier ticks that are due in this tick. They were delayed, because the
    /// connection receives changes from the cells of their objects only once in several ticks.
    fn pend_all_due(&mut self, context: &mut PassContext<'_>) {
        let tables = context.broadcast.tables();
        let mut pieces = std::mem::take(&mut context.scratch.pieces);
        tables.pieces(self.copies.view().spans(), &[], &mut pieces);
        for piece in pieces.drain(..).filter(|piece| piece.is_late) {
            for entry in tables.table(piece.table).entries(piece.entries) {
                self.copies.pend_due(entry.slot, entry.list);
            }
        }
        context.scratch.pieces = pieces;
        self.pend_due_alone(tables, context.world);
    }

    /// Postpones all changes of this tick, because the connection is paused or has no turn in this tick.
    /// Counts the objects that wait.
    pub(super) fn postpone_all(&mut self, context: &mut PassContext<'_>) {
        self.pend_all_due(context);
        let changed: Vec<(usize, u64)> = self.copies.objects.known_in(&context.world.changes.slots).collect();
        self.postpone_words(&changed, context.world);
        self.backlog_mut().waiting_objects = self.copies.objects.waiting_count();
    }

    /// Postpones the changes of this tick of the objects in some words (of 64 slots), except the changes that
    /// a band delays anyway.
    fn postpone_words(&mut self, words: &[(usize, u64)], world: &World) {
        for &(word, mask) in words {
            let now = mask & !self.copies.objects.wait_for_band(world, word, mask);
            slots_of(word, now).for_each(|slot| self.copies.postpone(slot, world));
        }
    }
}
