//! Sends everything that a connection sends in one tick. This is called the pass of the connection.
//!
//! *Invariant:* every change of a tick is sent, pending, or in the history of the object after the position
//! that the connection stores. Because of this, no change is forgotten (S86).

use std::time::Duration;

use repl_link::parts::Extension;

use super::Connection;
use super::context::PassContext;
use crate::body::status::{ConnectionStatus, StatusSource};
use crate::server::world::World;

/// After this many ticks, the connection checks again whether its client has all objects that exist.
const COMPLETE_TICKS: u64 = 64;

impl Connection {
    /// Sends the changes that the client lacks, within the limits of the connection.
    pub(crate) fn pass(&mut self, context: &mut PassContext<'_>) {
        if !self.copies.is_live {
            return;
        }
        self.link.outbox.swap_draft(&mut context.scratch.draft);
        context.scratch.large_families.clear();
        self.take_evicted(context);
        self.limit_memory();
        let owes_ack = self.link.begin_pass(context.now);
        self.begin_status(context);
        self.copies.objects.wake_changed(&context.world.dormancies);
        if self.is_paused() {
            self.postpone_all(context);
        } else {
            self.route(context);
            self.finish_tear_offs(context);
            self.hold_paused(context.world);
        }
        let packets_before = self.link.outbox.queue.packets_sent;
        // The client may have lost the right to some waiting calls since the last tick. These calls are
        // dropped here.
        self.calls.unsettle();
        self.settle_calls(context.world);
        self.send_messages_and_state(context);
        self.calls.unsettle();
        // Objects become in step only after the shared segments, because otherwise changes of this tick would
        // be sent twice: alone and in a shared segment.
        while let Some(slot) = context.scratch.maybe_in_step.pop() {
            let ring = self.copies.view().ring_of(context.world, slot);
            debug_assert!(
                !self.copies.view().is_shared(slot)
                    || self.copies.view().is_shared_now(context.world, slot, ring),
                "shared data is taken only of what is seen like everyone sees it"
            );
            self.copies.objects.update_step(slot);
        }
        self.request_join_ack(context);
        self.link.outbox.end_pass(context.now);
        self.copies.objects.end_sleep_pass(self.link.outbox.sequence());
        if context.world.frame.is_multiple_of(COMPLETE_TICKS) {
            self.copies.objects.find_complete(&context.world.store.alive, context.world.store.spawned);
        }
        if context.world.ends_round() {
            self.end_round(context.world);
        }
        self.measure_memory();
        let is_over_memory = !self.is_paused() && self.link.outbox.is_over_memory();
        self.link.health.watch_memory(is_over_memory, context.now);
        if self.link.outbox.queue.packets_sent > packets_before {
            self.link.health.last_sent = context.now;
        } else if self.is_keep_alive_due(context) || self.has_unsent_news() || owes_ack {
            self.signal(owes_ack, context.now);
        }
        self.copies.next = self.link.outbox.sequence();
        self.link.outbox.swap_draft(&mut context.scratch.draft);
    }

    /// Returns whether the connection has been silent for so long that it must send a packet (R9).
    fn is_keep_alive_due(&self, context: &PassContext<'_>) -> bool {
        context.now >= self.link.silent_until(context.timeout)
    }

    /// Returns whether the client has joined (has all initial objects) and no packet has reported this to the
    /// client yet.
    fn has_unsent_news(&self) -> bool {
        self.link.outbox.extension.as_ref().is_some_and(StatusSource::is_join_unsent)
    }

    /// Returns whether both of these are true: it is not certain that the client knows that it has joined,
    /// and no ack that can still arrive would show that the client knows it.
    fn is_unsure_of_join(&self) -> bool {
        self.link.outbox.in_flight.unresolved() == 0
            && self.link.outbox.extension.as_ref().is_some_and(StatusSource::is_urgent)
    }

    /// Sends a packet with acks at most, in a tick in which nothing else is sent.
    fn signal(&mut self, owes_ack: bool, now: Duration) {
        self.link.signal(owes_ack, now);
        self.link.health.last_sent = now;
    }

    /// Sends a keep-alive packet if one is due, with acks if the connection owes any. This function is for
    /// ticks without a pass.
    fn keep_alive(&mut self, context: &mut PassContext<'_>) {
        if !self.is_keep_alive_due(context) {
            return;
        }
        self.link.outbox.swap_draft(&mut context.scratch.draft);
        let owes_ack = self.link.begin_signal();
        self.begin_status(context);
        self.signal(owes_ack, context.now);
        self.copies.next = self.link.outbox.sequence();
        self.link.outbox.swap_draft(&mut context.scratch.draft);
    }

    /// Sends messages up to their share of the budget, then state, and then the remaining messages if there
    /// is room. Bulk messages receive a small share at the start, and the remaining room at the end.
    fn send_messages_and_state(&mut self, context: &mut PassContext<'_>) {
        self.link.send_bulk_share(context.now);
        let budget_bits = self.shares.message_bytes(self.link.outbox.budget_bytes()).saturating_mul(8);
        self.name_shared_assets(context);
        let mut message_bits = self.send_messages(context.world, budget_bits, context.now);
        self.link.outbox.take_refused();
        if !self.is_paused() {
            self.send_state(context);
        }
        let is_contended = self.link.outbox.take_refused();
        self.name_own_assets(context);
        if self.link.exchange.outgoing.is_usual_waiting() {
            message_bits += self.send_messages(context.world, usize::MAX, context.now);
        }
        self.shares.end_pass(message_bits / 8, self.link.outbox.written_bytes(), is_contended);
        self.link.send_bulk_rest(context.now);
    }

    fn send_state(&mut self, context: &mut PassContext<'_>) {
        let is_limited = self.link.outbox.is_limited();
        if is_limited || self.is_short() {
            self.send_what_fits(context);
        } else {
            self.send_shared_changes(context);
            self.send_parts(context.now);
            self.send_spawns(context);
            self.send_plain_removals(context);
            self.send_private(context);
        }
        self.send_sleep(context);
        self.end_backlog(is_limited);
    }

    /// Sends as much as the limits of this tick allow. Called if not everything may fit. The data that is
    /// encoded separately for this client is sent before the shared changes. In every second tick, parts of
    /// large updates and pending spawns come before the other changes, and in the other ticks they come after
    /// the other changes. So none of these waits forever. Ticks in which nothing was sent do not count,
    /// because a small budget may allow a packet only in every second tick.
    fn send_what_fits(&mut self, context: &mut PassContext<'_>) {
        self.begin_backlog(context);
        let before = self.link.outbox.written_bits();
        let spawns_first = self.backlog_mut().spawns_first;
        if spawns_first {
            self.send_parts(context.now);
            self.send_spawns(context);
        }
        self.send_by_priority(context);
        if !spawns_first {
            self.send_spawns(context);
        }
        self.backlog_mut().spawns_first ^= self.link.outbox.written_bits() != before;
        if !self.is_short() {
            self.send_shared_changes(context);
        }
        self.send_parts(context.now);
    }

    /// Sends the changes of this tick that the client shares with others.
    fn send_shared_changes(&mut self, context: &mut PassContext<'_>) {
        let segments = context.broadcast.segments().len();
        let World { store, changes, .. } = context.world;
        // A narrow connection (one with small packets) may send an entry alone, and is then out of step with
        // its object.
        let may_be_whole = segments > 0 && !self.is_narrow(context);
        let all_in_step = may_be_whole && self.copies.objects.are_in_step(&changes.slots, store.spawned);
        for at in 0..segments {
            self.send_shared(at, all_in_step, context);
        }
        self.send_stretches(context);
    }

    /// Sets the status that the packets of this tick report to the client.
    fn begin_status(&mut self, context: &PassContext<'_>) {
        let (floor, next) = (self.link.outbox.in_flight.floor(), self.link.outbox.sequence());
        let has_joined = self.copies.objects.has_joined(floor, next);
        let health = &self.link.health;
        let connection = ConnectionStatus { round_trip: health.round_trip.smoothed(), has_joined };
        if let Some(status) = &mut self.link.outbox.extension {
            status.begin_pass(context.world.frame, next, health.newest_acked, connection);
        }
    }

    /// Makes sure that the client acks a packet soon after it has joined. A client acks only packets that
    /// need an ack. If no such packet was sent in this tick or is in flight, and it is not certain that the
    /// client knows that it has joined, this method sends a closing (the removal of an object) for a slot in
    /// which the client has no object. A closing for an empty slot has no effect (R5). If the client has an
    /// object in each slot, there is no empty slot, and the next keep-alive packets report the join instead.
    fn request_join_ack(&mut self, context: &PassContext<'_>) {
        if self.is_paused() || !self.link.outbox.is_pass_empty() || !self.is_unsure_of_join() {
            return;
        }
        let slot = self.copies.objects.first_unknown();
        if (slot as usize) < context.world.store.limits.max_objects {
            self.write_close_of_none(slot, context.now);
        }
    }

    /// Frees memory that was not needed recently.
    fn end_round(&mut self, world: &World) {
        if self.link.outbox.in_flight.packets() == 0 && self.copies.objects.has_nothing_to_send() {
            // No packet is in flight and nothing must be sent, so late acks cannot change anything.
            self.link.forget_late();
            self.copies.objects.forget_used_slots();
            self.copies.objects.prune_new_elements(world);
        }
        let (floor, next) = (self.link.outbox.in_flight.floor(), self.link.outbox.sequence());
        if let Some(end) = self.copies.objects.forget_used_before(floor, next) {
            self.link.forget_late_before(end);
        }
        self.link.end_round();
        self.copies.objects.end_round();
        self.end_backlog_round();
    }

    /// Finds the changes of this tick that must be encoded separately for this connection.
    fn route(&mut self, context: &mut PassContext<'_>) {
        let changes = &context.world.changes;
        self.copies.objects.changed(
            &changes.slots,
            |slot| changes.list(slot),
            |objects, word, changed| objects.wait_for_band(context.world, word, changed),
        );
        for &(slot, distance) in context.broadcast.unshared() {
            let is_for_this = distance.includes(self.copies.view().is_far(slot));
            if is_for_this && !self.copies.objects.waits_for_band(context.world, slot) {
                self.copies.objects.changed_alone(slot);
            }
        }
    }

    /// Sends the pending spawns (objects new to the client) in runs of openings, whose bits all connections
    /// share.
    fn send_spawns(&mut self, context: &mut PassContext<'_>) {
        if !self.copies.objects.has_waiting_spawns() || self.link.outbox.is_exhausted() {
            return;
        }
        let mut slots = std::mem::take(&mut context.scratch.slots);
        if self.link.outbox.is_limited() {
            self.send_spawns_by_priority(&mut slots, context);
        } else {
            slots.clear();
            // Takes a quarter of the time of `extend`, which requests one slot after another.
            self.copies.objects.waiting_spawns().for_each(|slot| slots.push(slot));
            self.send_openings(&slots, context);
        }
        context.scratch.store_slots(slots);
    }

    /// Called instead of `pass` in a tick in which this connection has no turn. The changes of the tick are
    /// postponed. A keep-alive packet is sent if one is due, but nothing else.
    pub(crate) fn skip_pass(&mut self, context: &mut PassContext<'_>) {
        if !self.copies.is_live {
            return;
        }
        self.take_evicted(context);
        self.copies.objects.wake_changed(&context.world.dormancies);
        self.postpone_all(context);
        if context.world.ends_round() {
            self.end_round(context.world);
        }
        self.keep_alive(context);
    }
}
