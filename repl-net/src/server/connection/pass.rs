//! Sends everything that a connection sends in one tick. This is called the pass of the connection.
//!
//! *Invariant:* every change of a tick is sent, pending, or in the history of the object after the position
//! that the connection stores. Because of this, no change is forgotten (S86).

use std::time::Duration;

use super::Connection;
use super::context::PassContext;
use crate::server::world::World;
use crate::transport::acks::Received;
use crate::transport::removal::CloseReason;
use crate::transport::status::ConnectionStatus;

/// Whether a client has all objects that exist is found out again after so many ticks.
const COMPLETE_TICKS: u64 = 64;

impl Connection {
    /// Sends the changes that the client lacks, within the limits of the connection.
    pub(crate) fn pass(&mut self, context: &mut PassContext<'_>) {
        if !self.is_live {
            return;
        }
        self.outbox.swap_draft(&mut context.scratch.draft);
        self.take_evicted(context);
        self.limit_memory();
        self.outbox.pace(context.now, self.link.timeouts);
        self.begin_outbox_pass(context);
        let owes_ack = self.ack_pace.is_due();
        self.outbox.set_received(owes_ack.then_some(&self.received));
        self.objects.wake_changed(&context.world.dormancies);
        if self.is_paused() {
            self.postpone_all(context);
        } else {
            self.route(context);
            self.finish_tear_offs(context);
        }
        let packets_before = self.outbox.queue.packets_sent;
        // Since the last time, the client may have lost the right to some calls, which are dropped.
        self.unsettle_calls();
        self.settle_calls(context.world);
        self.send_messages_and_state(context);
        self.unsettle_calls();
        // Objects become in step only after the shared segments, because otherwise they would be sent twice.
        while let Some(slot) = context.scratch.maybe_in_step.pop() {
            let ring = self.view().ring_of(context.world, slot);
            debug_assert!(
                !self.view().is_shared(slot) || self.view().is_shared_now(context.world, slot, ring),
                "shared data is taken only of what is seen like everyone sees it"
            );
            self.objects.update_step(slot);
        }
        self.request_join_ack(context);
        self.outbox.end_pass(context.now);
        self.objects.end_sleep_pass(self.outbox.sequence());
        if context.world.frame.is_multiple_of(COMPLETE_TICKS) {
            self.objects.find_complete(&context.world.alive, context.world.spawned);
        }
        if context.world.ends_round() {
            self.end_round(context.world);
        }
        self.measure_memory();
        let is_over_memory = !self.is_paused() && self.outbox.is_over_memory();
        self.link.watch_memory(is_over_memory, context.now);
        if self.outbox.queue.packets_sent > packets_before {
            self.link.last_sent = context.now;
        } else if self.is_keep_alive_due(context) || self.outbox.has_unsent_news() || owes_ack {
            self.signal(owes_ack, context.now);
        }
        self.outbox.swap_draft(&mut context.scratch.draft);
    }

    /// Returns whether the connection has been silent for so long that it must send a packet (R9).
    fn is_keep_alive_due(&self, context: &PassContext<'_>) -> bool {
        context.now.saturating_sub(self.link.last_sent) >= context.keep_alive
    }

    /// Sends a packet without state, in a tick in which nothing else is sent.
    fn signal(&mut self, owes_ack: bool, now: Duration) {
        let received = if owes_ack { self.received.clone() } else { Received::default() };
        self.outbox.signal(&received, now);
        self.link.last_sent = now;
    }

    /// Sends a keep-alive packet if one is due, with acks if the connection owes any. This function is for
    /// ticks without a pass.
    fn keep_alive(&mut self, context: &mut PassContext<'_>) {
        if !self.is_keep_alive_due(context) {
            return;
        }
        self.outbox.swap_draft(&mut context.scratch.draft);
        self.begin_outbox_pass(context);
        let owes_ack = self.ack_pace.is_due();
        self.signal(owes_ack, context.now);
        self.outbox.swap_draft(&mut context.scratch.draft);
    }

    /// Sends messages up to their share, then state, and then the other messages if there is room left.
    fn send_messages_and_state(&mut self, context: &mut PassContext<'_>) {
        let budget_bits = self.shares.message_bytes(self.outbox.budget_bytes()).saturating_mul(8);
        self.exchange.outgoing.begin_pass();
        let mut message_bits = self.send_messages(context.world, budget_bits, context.now);
        self.outbox.take_refused();
        if !self.is_paused() {
            self.send_state(context);
        }
        let is_contended = self.outbox.take_refused();
        if self.exchange.outgoing.is_waiting() {
            message_bits += self.send_messages(context.world, usize::MAX, context.now);
        }
        self.shares.end_pass(message_bits / 8, self.outbox.written_bytes(), is_contended);
    }

    /// Sends the changes that the client lacks.
    fn send_state(&mut self, context: &mut PassContext<'_>) {
        let is_limited = self.outbox.is_limited();
        if is_limited || self.is_short() {
            self.send_what_fits(context);
        } else {
            self.send_shared_changes(context);
            self.send_parts(context.now);
            self.send_spawns(context);
            self.send_private(context);
        }
        self.send_sleep(context);
        self.end_backlog(is_limited);
    }

    /// Sends as much as the limits of this tick allow, if that may not be everything. What this client alone
    /// lacks is sent before the shared changes. In every second tick, parts of large updates and pending
    /// spawns come before the other changes, and in the ticks between they come after them. So none of these
    /// waits forever. Ticks in which nothing was sent do not count, because a small budget may allow a packet
    /// only in every second tick.
    fn send_what_fits(&mut self, context: &mut PassContext<'_>) {
        self.begin_backlog(context);
        let before = self.outbox.written_bits();
        let spawns_first = self.backlog_mut().spawns_first;
        if spawns_first {
            self.send_parts(context.now);
            self.send_spawns(context);
        }
        self.send_by_priority(context);
        if !spawns_first {
            self.send_spawns(context);
        }
        self.backlog_mut().spawns_first ^= self.outbox.written_bits() != before;
        if !self.is_short() {
            self.send_shared_changes(context);
        }
        self.send_parts(context.now);
    }

    /// Sends the changes of this tick that the client shares with others.
    fn send_shared_changes(&mut self, context: &mut PassContext<'_>) {
        let segments = context.broadcast.segments().len();
        let World { spawned, changes, .. } = context.world;
        let all_in_step = segments > 0 && self.objects.are_in_step(&changes.slots, *spawned);
        for at in 0..segments {
            self.send_shared(at, all_in_step, context);
        }
        self.send_stretches(context);
    }

    fn begin_outbox_pass(&mut self, context: &PassContext<'_>) {
        let has_joined = self.objects.has_joined(self.outbox.in_flight.floor(), self.outbox.sequence());
        let connection = ConnectionStatus { round_trip: self.link.round_trip.smoothed(), has_joined };
        self.outbox.begin_pass();
        self.outbox.set_status(context.world.frame, self.link.newest_acked, connection);
    }

    /// Makes sure that the client acks a packet soon after it has joined. A client acks only packets that
    /// need an ack. If this tick sent none to the client, none is in flight, and the client may not know yet
    /// that it has joined, sends a closing (the removal of an object) for a slot in which the client has no
    /// object. A closing for an empty slot has no effect (R5). If the client has an object in each slot,
    /// there is no empty slot, and the next keep-alive packets report the join instead.
    fn request_join_ack(&mut self, context: &PassContext<'_>) {
        if self.is_paused() || !self.outbox.is_pass_empty() || !self.outbox.is_unsure_of_join() {
            return;
        }
        let slot = self.objects.first_unknown();
        if (slot as usize) < context.world.limits.max_objects {
            self.write_close(slot, CloseReason::Relevancy, None, context.now);
        }
    }

    /// Frees memory that was not needed recently.
    fn end_round(&mut self, world: &World) {
        if self.outbox.in_flight.len() == 0 && self.objects.has_nothing_to_send() {
            // A late ack can no longer change anything.
            self.late.clear();
            self.objects.forget_used_slots();
            self.objects.prune_new_elements(world);
        }
        self.late.end_round();
        self.outbox.end_round();
        self.exchange.outgoing.end_round();
        self.objects.end_round();
        self.end_backlog_round();
    }

    /// Finds the changes of this tick that must be sent to this connection alone.
    fn route(&mut self, context: &mut PassContext<'_>) {
        let changes = &context.world.changes;
        self.objects.changed(
            &changes.slots,
            |slot| changes.list(slot),
            |objects, word, changed| objects.wait_for_band(context.world, word, changed),
        );
        for &(slot, distance) in context.broadcast.unshared() {
            let is_for_this = distance.includes(self.view().is_far(slot));
            if is_for_this && !self.objects.waits_for_band(context.world, slot) {
                self.objects.changed_alone(slot);
            }
        }
    }

    /// Sends the pending spawns in runs of openings, whose bits all connections share.
    fn send_spawns(&mut self, context: &mut PassContext<'_>) {
        if !self.objects.has_waiting_spawns() || self.outbox.is_exhausted() {
            return;
        }
        let mut slots = std::mem::take(&mut context.scratch.slots);
        if self.outbox.is_limited() {
            self.send_spawns_by_priority(&mut slots, context);
        } else {
            slots.clear();
            // Takes a quarter of the time of `extend`, which asks for one slot after another.
            self.objects.waiting_spawns().for_each(|slot| slots.push(slot));
            self.send_openings(&slots, context);
        }
        context.scratch.slots = slots;
    }

    /// Passes a tick in which it is not this connection's turn. The changes of the tick are postponed. A
    /// keep-alive packet is sent if one is due, but nothing else.
    pub(crate) fn skip_pass(&mut self, context: &mut PassContext<'_>) {
        if !self.is_live {
            return;
        }
        self.take_evicted(context);
        self.objects.wake_changed(&context.world.dormancies);
        self.postpone_all(context);
        if context.world.ends_round() {
            self.end_round(context.world);
        }
        self.keep_alive(context);
    }
}
