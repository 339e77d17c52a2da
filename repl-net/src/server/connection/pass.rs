//! Sends everything that a connection sends in one tick. This is called the pass of the connection.
//!
//! *Invariant:* every change of a tick is sent, pending, or in the history of the object after the position
//! that the connection stores. Because of this, no change is forgotten (S86).

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use repl_core::{BitSlice, BitWriter, Changelist, HandleSet, Portions};

use super::Connection;
use super::context::{OPEN_BITS, PassContext, PassScratch};
use super::large::pruned_part;
use super::objects::{OpeningRest, Phase};
use crate::server::broadcast::{Piece, Tables};
use crate::server::openings::SMALL_OPEN_BITS;
use crate::server::part_size::{LEAST_ITEM_BITS, LEAST_NEW_BITS};
use crate::server::world::World;
use crate::session::classes::ClassList;
use crate::session::events::CloseReason;
use crate::transport::acks::Received;
use crate::transport::in_flight::{Content, Sent};
use crate::transport::path::{path_bits, write_path};
use crate::transport::segment::{
    ENTRY_BITS, RunHeader, SegmentEntry, SegmentKind, SegmentWriter, gap_order, handles_bits,
};
use crate::transport::spare::ROUND_TICKS;
use crate::transport::status::ConnectionStatus;
use crate::transport::table::Table;

/// The order of the Exp-Golomb code for gaps between the slots of objects that are sent to one connection
/// alone.
const PRIVATE_GAP_ORDER: u32 = 3;
/// The reason of the closing of a destroyed object if the closing names the path of the object.
const DESTROYED_PATH: u64 = 3;
/// Up to this many waiting items or entries are sent together with other changes of the object.
const FEW_ITEMS: usize = 64;

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
        self.outbox.set_received(owes_ack.then_some(&self.heard));
        self.objects.rouse_changed(&context.world.dormancies);
        if self.is_paused() {
            self.postpone_all(context);
        } else {
            self.route(context);
            self.finish_tear_offs(context);
        }
        let packets_before = self.outbox.queue.packets_sent;
        self.release_calls(context.world);
        self.send_messages_and_state(context);
        // Objects become in step only after the shared segments, because otherwise they would be sent twice.
        while let Some(slot) = context.scratch.settling.pop() {
            let ring = self.view().ring_of(context.world, slot);
            debug_assert!(
                !self.view().is_shared(slot) || self.view().is_shared_now(context.world, slot, ring),
                "shared data is taken only of what is seen like everyone sees it"
            );
            self.objects.update_step(slot);
        }
        self.request_join_ack(context);
        self.outbox.end_pass(context.now);
        self.objects.end_sleep_pass(self.outbox.next());
        if context.world.frame.is_multiple_of(ROUND_TICKS) {
            self.end_round(context.world);
        }
        self.weigh();
        let is_over_memory = !self.is_paused() && self.outbox.is_over_memory();
        self.link.watch_memory(is_over_memory, context.now);
        if self.outbox.queue.packets_sent > packets_before {
            self.link.last_sent = context.now;
        } else if context.now.saturating_sub(self.link.last_sent) >= context.keep_alive
            || self.outbox.has_unsent_news()
            || owes_ack
        {
            let received = if owes_ack { self.heard.clone() } else { Received::default() };
            self.outbox.signal(&received, context.now);
            self.link.last_sent = context.now;
        }
        self.outbox.swap_draft(&mut context.scratch.draft);
    }

    /// Sends messages up to their share, then state, and then the other messages if there is room left.
    fn send_messages_and_state(&mut self, context: &mut PassContext<'_>) {
        let budget_bits = self.shares.message_bytes(self.outbox.budget_bytes()).saturating_mul(8);
        let outgoing = &mut self.exchange.outgoing;
        outgoing.begin_pass();
        let mut message_bits = outgoing.send(&mut self.outbox, budget_bits, context.now);
        self.outbox.take_refused();
        if !self.is_paused() {
            self.send_state(context);
        }
        let is_contended = self.outbox.take_refused();
        if self.exchange.outgoing.is_waiting() {
            message_bits += self.exchange.outgoing.send(&mut self.outbox, usize::MAX, context.now);
        }
        self.shares.end_pass(message_bits / 8, self.outbox.written_bytes(), is_contended);
    }

    /// Sends the changes that the client lacks.
    fn send_state(&mut self, context: &mut PassContext<'_>) {
        // If not everything can be sent in a tick, what this client alone lacks is sent before the shared
        // segments. The order of pending spawns and other private changes alternates, so that neither of the
        // two waits forever. With a budget, ticks in which nothing was sent do not count, because a small
        // budget may allow a packet only in every second tick.
        let is_limited = self.outbox.is_limited();
        let waited = is_limited || self.is_short();
        if waited {
            self.begin_backlog(context);
            let before = self.outbox.written_bits();
            let spawns_first = match self.outbox.has_budget() {
                true => self.backlog_mut().spawns_first,
                false => context.world.frame.is_multiple_of(2),
            };
            if spawns_first {
                self.send_spawns(context);
            }
            self.send_by_priority(context);
            if !spawns_first {
                self.send_spawns(context);
            }
            self.backlog_mut().spawns_first ^= self.outbox.written_bits() != before;
        }
        if !waited || !self.is_short() {
            let segments = context.broadcast.segments().len();
            let all_in_step = segments > 0 && self.objects.are_in_step(&context.world.changes.slots);
            for at in 0..segments {
                self.send_shared(at, all_in_step, context);
            }
            self.send_stretches(context);
        }
        self.send_parts(context.now);
        if !waited {
            self.send_spawns(context);
            self.send_private(context);
        }
        self.send_sleep(context);
        self.end_backlog(is_limited);
    }

    fn begin_outbox_pass(&mut self, context: &PassContext<'_>) {
        let has_joined = self.objects.has_joined(self.outbox.in_flight.floor(), self.outbox.next());
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
            if distance.includes(self.view().is_far(slot)) {
                self.objects.changed_alone(slot);
            }
        }
    }

    /// Sends a shared segment: the whole segment if the connection is in step with all of its objects,
    /// otherwise only the entries of objects in step. The argument `all_in_step` says whether the connection
    /// is in step with all objects that changed in this tick.
    fn send_shared(&mut self, at: usize, all_in_step: bool, context: &mut PassContext<'_>) {
        let segment = &context.broadcast.segments()[at];
        let (mut wanted, mut unwanted) = (0, 0);
        if !all_in_step {
            for (word, mask) in &segment.masks {
                let in_step = self.objects.in_step_in(*word);
                wanted |= mask & in_step;
                unwanted |= mask & !in_step;
            }
            if wanted == 0 {
                return;
            }
        }
        let is_whole = unwanted == 0 && self.outbox.affords(segment.bits().len());
        if segment.continues {
            self.outbox.flush(context.now);
        }
        if is_whole && self.outbox.make_room(segment.bits().len(), context.now) {
            self.outbox.segment(segment);
            if segment.has_new_elements {
                let sequence = self.outbox.sequence();
                for entry in segment.entries.iter().filter(|entry| entry.list.has_new_elements()) {
                    let elements = entry.list.new_elements();
                    self.objects.new_elements_sent(context.world, entry.slot, sequence, elements);
                }
            }
            return;
        }
        for entry in segment.entries.iter() {
            if !self.objects.is_in_step(entry.slot) {
                continue;
            }
            let Some(values) = segment.bits().slice(entry.values.clone()) else { continue };
            if !self.send_shared_entry(entry, values, context.world, context.classes, context.now) {
                self.postpone(entry.slot, context.world);
            }
        }
    }

    /// Copies the entries of the tables that belong to objects in the cells in sight, except the entries of
    /// objects that are out of step (R24).
    fn send_stretches(&mut self, context: &mut PassContext<'_>) {
        let tables = context.broadcast.tables();
        let PassScratch { pieces, runs, doubtful, .. } = &mut *context.scratch;
        self.objects.doubtful_cells(context.world, &context.world.changes.slots, doubtful);
        tables.pieces(self.view().spans(), doubtful, pieces);
        for stretch in pieces.chunk_by(|one, other| (one.table, one.is_late) == (other.table, other.is_late))
        {
            let Some(Piece { table, is_late, .. }) = stretch.first() else { continue };
            let table = tables.table(*table);
            runs.clear();
            for piece in stretch {
                self.find_runs(table, piece, runs);
            }
            self.send_runs(table, runs, *is_late, context.world, context.now);
        }
        self.catch_up_due_alone(tables, context.world);
    }

    /// Appends to `runs` the entries of a piece that belong to objects in step. The late changes of the other
    /// objects become pending.
    fn find_runs(&mut self, table: &Table, piece: &Piece, runs: &mut Vec<Range<u32>>) {
        let Piece { is_late, is_certain, ref entries, .. } = *piece;
        if is_certain {
            let mut slots = table.slots(entries.clone()).iter();
            debug_assert!(slots.all(|&slot| self.objects.is_in_step(slot)), "others are in doubtful cells");
            add_run(entries.clone(), runs);
            return;
        }
        for (at, (slot, change)) in (entries.start..).zip(table.entries(entries.clone())) {
            let is_in_step = self.objects.is_in_step(slot);
            if is_in_step && !(is_late && self.objects.are_new_elements_changed(slot, &change.list)) {
                add_run(at..at + 1, runs);
            } else if is_late {
                self.catch_up_due(slot, &change.list);
            }
        }
    }

    /// Makes the changes pending that are due in this tick and are in no table.
    pub(super) fn catch_up_due_alone(&mut self, tables: &Tables, world: &World) {
        for due in tables.due_alone() {
            if due.is_for(|cell| self.view().band_of(world, cell)) {
                self.catch_up_due(due.slot, &due.list);
            }
        }
    }

    /// Makes changes of earlier ticks pending which this connection did not receive yet, because it has a
    /// long period for the cell of the object.
    pub(super) fn catch_up_due(&mut self, slot: u32, list: &Changelist) {
        if self.objects.has_arrived(slot) {
            self.objects.add_pending(slot, list);
            self.objects.must_send(slot);
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
            let (whole, part) = self.outbox.copy(table, left, now);
            if (whole, part) == (0, 0) {
                for (slot, change) in left.iter().flat_map(|run| table.entries(run.clone())) {
                    if is_late {
                        self.catch_up_due(slot, &change.list);
                    } else {
                        self.postpone(slot, world);
                    }
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
                for run in copied.iter().chain([&part]) {
                    self.note_new_elements(table, run.clone(), world);
                }
            }
            left = rest;
        }
    }

    /// Records that the packet that is being filled contains these entries of a table.
    fn note_new_elements(&mut self, table: &Table, entries: Range<u32>, world: &World) {
        let sequence = self.outbox.sequence();
        for (slot, change) in table.entries(entries).filter(|(_, change)| change.list.has_new_elements()) {
            self.objects.new_elements_sent(world, slot, sequence, change.list.new_elements());
        }
    }

    /// Sends one entry of a shared segment. Returns `false` if the packets have no room for the entry.
    fn send_shared_entry(
        &mut self,
        entry: &SegmentEntry,
        values: BitSlice<'_>,
        world: &World,
        classes: &ClassList,
        now: Duration,
    ) -> bool {
        let SegmentEntry { slot, generation, list, .. } = entry;
        let class = world.objects[*slot as usize].class;
        let count = world.column(class).program().handles();
        let wire_class = classes.wire(class.into()) as usize;
        if !self.outbox.make_room(ENTRY_BITS + handles_bits(count) + values.len(), now) {
            return false;
        }
        let sent = Sent { slot: *slot, generation: *generation, content: Content::Update(list.clone()) };
        self.outbox.entry(SegmentKind::Update, PRIVATE_GAP_ORDER, sent, |segment, writer| {
            segment.update(*slot, wire_class, count, list.handles(), values, writer);
        });
        if list.has_new_elements() {
            self.objects.new_elements_sent(world, *slot, self.outbox.sequence(), list.new_elements());
        }
        true
    }

    /// Sends everything that must be sent to this connection alone.
    fn send_private(&mut self, context: &mut PassContext<'_>) {
        let mut slots = std::mem::take(&mut context.scratch.slots);
        self.objects.turns(&mut slots);
        for &slot in &slots {
            if self.objects.is_pending_spawn(slot) {
                self.objects.leave_spawns(slot);
            }
            if self.outbox.is_exhausted() {
                if context.world.changes.slots.contains(slot) {
                    self.postpone(slot, context.world);
                }
                continue;
            }
            self.objects.take_turn(slot);
            self.send_object(slot, context);
        }
        context.scratch.slots = slots;
    }

    pub(super) fn send_object(&mut self, slot: u32, context: &mut PassContext<'_>) {
        let tracked = self.objects.get(slot);
        match tracked.map_or(Phase::Open, |tracked| tracked.phase) {
            _ if tracked.is_some_and(|tracked| tracked.blob.is_some()) => self.postpone(slot, context.world),
            Phase::Closing(_) | Phase::Unsent if self.waits_for_path(slot, context.world) => {
                self.objects.must_send(slot)
            }
            Phase::Closing(reason) => self.send_close(slot, reason, context),
            Phase::Unsent if self.waits_for_parent(slot, context.world) => self.objects.must_send(slot),
            Phase::Unsent => self.send_open(slot, context),
            Phase::Opening if tracked.is_some_and(|tracked| tracked.open_bits <= SMALL_OPEN_BITS) => {
                self.send_open(slot, context)
            }
            Phase::Open if self.send_proxy(slot, context) => self.send_update(slot, context),
            Phase::Opening | Phase::Open => self.postpone(slot, context.world),
        }
    }

    fn send_close(&mut self, slot: u32, reason: CloseReason, context: &PassContext<'_>) {
        let path = self.path_to_close(slot, context).filter(|_| reason == CloseReason::Destroyed);
        if self.write_close(slot, reason, path.map(|path| &**path), context.now) {
            self.objects.close_sent(slot, self.outbox.sequence(), context.now);
        } else {
            self.objects.must_send(slot);
        }
    }

    /// Writes the closing of an object, which makes the client remove the object. The closing of a destroyed
    /// object may name its path. Returns `false` if the packets have no room for the closing.
    fn write_close(&mut self, slot: u32, reason: CloseReason, path: Option<&str>, now: Duration) -> bool {
        let has_room = self.outbox.make_room(ENTRY_BITS + 2 + path.map_or(0, path_bits), now);
        if has_room {
            self.outbox.close(PRIVATE_GAP_ORDER, slot, |segment, writer| {
                segment.slot(slot, writer);
                match path {
                    Some(path) => {
                        writer.write_bits(DESTROYED_PATH, 2);
                        write_path(path, writer);
                    }
                    None => writer.write_bits(reason as u64, 2),
                }
            });
        }
        has_room
    }

    /// Sends the opening (first update) of an object, which contains every property that has ever changed and
    /// that the connection may see (R2, S69).
    fn send_open(&mut self, slot: u32, context: &mut PassContext<'_>) {
        let mut handles = self.objects.opening_mask(context.world, slot);
        handles.intersect(context.world.objects[slot as usize].history.ever());
        let may_have_items = self.objects.get(slot).is_some_and(|tracked| tracked.opened_with_items);
        let Opening { list, mut later, refused } =
            write_opening(slot, &handles, may_have_items, self.outbox.capacity(), context);
        let (origin, path) = (self.origin(slot, context), context.world.paths.path(slot).cloned());
        let world = context.world;
        let object = &world.objects[slot as usize];
        let column = world.column_of(slot);
        let values = &mut context.scratch.values;
        let run_header = RunHeader {
            origin,
            handles: list.handles(),
            count: column.program().handles(),
            classes: context.classes.len(),
            name: self.name_of(slot, path.as_deref()),
        };
        let estimate = ENTRY_BITS
            + OPEN_BITS
            + run_header.name_bits()
            + handles_bits(run_header.count)
            + values.bit_len();
        let sent = Sent { slot, generation: object.generation, content: Content::Open(list.clone()) };
        let write = |segment: &mut SegmentWriter, writer: &mut BitWriter, values: BitSlice<'_>| {
            segment.run(slot, 1, &run_header, writer);
            writer.append(values);
        };
        let is_sent = if estimate > self.outbox.capacity() {
            self.send_blob(SegmentKind::Open, sent, context, write);
            self.has_blob(slot)
        } else if self.outbox.make_room(estimate, context.now) {
            let values = values.as_slice();
            self.outbox.entry(SegmentKind::Open, gap_order(slot, 1), sent, |segment, writer| {
                write(segment, writer, values);
            });
            true
        } else {
            self.objects.must_send(slot);
            false
        };
        if !is_sent {
            // An earlier opening of the object, without this change, may still arrive.
            self.postpone(slot, context.world);
            return;
        }
        let sequence = self.outbox.sequence();
        let has_items = later.is_empty();
        let mut owed = later.handles().clone();
        owed.intersect(context.world.conditions(slot).may_end_with_opening());
        later.merge(&refused);
        // If items are sent later, the opening counts as large, so it is sent again only when it is lost, and
        // not with each change.
        let bits = if later.is_empty() { estimate } else { estimate.max(SMALL_OPEN_BITS + 1) };
        let position =
            self.objects.opening_sent(slot, sequence, bits, OpeningRest { later, owed, has_items });
        let unneeded = Self::catch_up(context.world, slot, position, None);
        context.free_later(slot, unneeded);
        self.objects.new_elements_sent(context.world, slot, sequence, list.new_elements());
        if !self.has_blob(slot) {
            self.objects.proxy_sent(slot, sequence);
        }
    }

    /// Sends the changes of an object that the client has, and everything else that the client lacks of this
    /// object.
    fn send_update(&mut self, slot: u32, context: &mut PassContext<'_>) {
        let mut list = self.gather(slot, context);
        let waiting = self.take_waiting(slot, &mut list, context);
        if !waiting.is_empty() {
            self.send_large_list(slot, list, waiting, context);
        } else if !list.is_empty() {
            self.send_list(slot, list, context);
        }
        context.scratch.settling.push(slot);
    }

    /// Takes the waiting changes, which did not fit into packets in earlier ticks. `take_waiting` moves the
    /// changes in `list` of the same collections and maps to the waiting changes. If only a few items wait,
    /// `take_waiting` moves their changes to `list` instead.
    fn take_waiting(&mut self, slot: u32, list: &mut Changelist, context: &PassContext<'_>) -> Vec<Portions> {
        let mut waiting = self.objects.take_waiting(slot);
        waiting.retain_mut(|portions| {
            portions.add(list);
            if portions.len() > FEW_ITEMS {
                return true;
            }
            list.merge(&pruned_part(slot, portions, portions.len(), context));
            false
        });
        waiting
    }

    /// Collects all changes of an object that the client lacks and may see, except the changes in `waiting`.
    fn gather(&mut self, slot: u32, context: &mut PassContext<'_>) -> Changelist {
        let world = context.world;
        let is_conditional = world.conditions(slot).is_conditional();
        let (mut list, position) = self.objects.take_pending(slot);
        if is_conditional && !list.is_empty() {
            list.retain(&self.objects.mask(world, slot));
        }
        let mut changed = Changelist::new();
        let unneeded = Self::catch_up(world, slot, position, Some(&mut changed));
        context.free_later(slot, unneeded);
        if position.is_none()
            && let Some(list) = world.changes.list(slot)
        {
            changed.merge(list);
        }
        if is_conditional {
            changed.retain(&self.view().mask(world, slot));
        }
        if list.is_empty() {
            list = changed;
        } else {
            list.merge(&changed);
        }
        if let Some(tracked) = self.objects.get(slot) {
            tracked.new_elements.extend(&mut list);
        }
        // Elements that wait for the band of the connection are new, too. Without them, a lost change of an
        // array would be sent again with the new length, but without the new elements.
        if !list.is_empty()
            && let Some(band) = self.view().band_of_object(world, slot)
            && let Some(later) = world.later.lacking(band.period, slot)
        {
            list.extend_new_elements(&later.new_elements());
        }
        // The changelist is pruned last, because new elements may have been removed.
        world.prune(slot, &mut list);
        list
    }

    /// Sends a changelist in one packet, or property by property in several packets, or as a blob (R15).
    pub(super) fn send_list(&mut self, slot: u32, list: Changelist, context: &mut PassContext<'_>) {
        if list.items().is_some_and(|items| items * LEAST_ITEM_BITS > self.outbox.capacity()) {
            self.send_large_list(slot, list, Vec::new(), context);
            return;
        }
        let (list, bits) = self.write_list(slot, list, context);
        if bits > self.outbox.capacity() {
            self.send_large_list(slot, list, Vec::new(), context);
        } else if !list.is_empty() {
            self.send_written(slot, list, bits, context);
        }
    }

    /// Writes the values of the properties in a changelist to the scratch buffer. `write_list` returns the
    /// changes that were written, and the greatest number of bits that an update with these changes takes. If
    /// a hand-written serialiser refuses a value, the change of this value becomes pending.
    pub(super) fn write_list(
        &mut self,
        slot: u32,
        mut list: Changelist,
        context: &mut PassContext<'_>,
    ) -> (Changelist, usize) {
        let (refused, bits) = self.measure(slot, &mut list, context);
        self.objects.add_pending(slot, &refused);
        (list, bits)
    }

    /// Writes the values of the properties in a changelist to the scratch buffer. If a hand-written
    /// serialiser refuses a value, the change of this value is removed from `list`. `measure` returns the
    /// removed changes, and the greatest number of bits that an update with the remaining changes takes.
    pub(super) fn measure(
        &mut self,
        slot: u32,
        list: &mut Changelist,
        context: &mut PassContext<'_>,
    ) -> (Changelist, usize) {
        context.scratch.values.clear();
        let refused = context.world.write_values(slot, list, &mut context.scratch.values);
        let count = context.world.column_of(slot).program().handles();
        (refused, ENTRY_BITS + handles_bits(count) + context.scratch.values.bit_len())
    }

    /// Sends a changelist whose values are in the scratch buffer. If there is no room in a packet, the
    /// changelist becomes pending.
    pub(super) fn send_written(
        &mut self,
        slot: u32,
        list: Changelist,
        bits: usize,
        context: &mut PassContext<'_>,
    ) {
        let object = &context.world.objects[slot as usize];
        if !self.outbox.make_room(bits, context.now) {
            self.objects.add_pending(slot, &list);
            self.objects.must_send(slot);
            return;
        }
        let (generation, handles) = (object.generation, list.handles().clone());
        let count = context.world.column_of(slot).program().handles();
        let class = context.classes.wire(object.class.into()) as usize;
        let elements = list.new_elements();
        let sent = Sent { slot, generation, content: Content::Update(list) };
        let values = context.scratch.values.as_slice();
        self.outbox.entry(SegmentKind::Update, PRIVATE_GAP_ORDER, sent, |segment, writer| {
            segment.update(slot, class, count, &handles, values, writer);
        });
        self.objects.new_elements_sent(context.world, slot, self.outbox.sequence(), elements);
    }
}

/// Adds entries after all those in `runs`, or joins them with the last ones.
fn add_run(entries: Range<u32>, runs: &mut Vec<Range<u32>>) {
    match runs.last_mut() {
        Some(last) if last.end == entries.start => last.end = entries.end,
        _ => runs.push(entries),
    }
}

/// The content of an opening, which is the first update of an object. The values of the opening are in the
/// scratch buffer.
struct Opening {
    list: Changelist,
    /// Items and entries that do not fit into the opening and are sent after the opening was acked (R15).
    later: Changelist,
    /// The properties whose values a hand-written serialiser refuses.
    refused: Changelist,
}

/// Writes the values of an opening (the first update of an object) to the scratch buffer. If collections are
/// large, their items are sent later in several packets (R15). An opening whose items are sent later makes
/// the client empty its collections. If an earlier opening with items may have arrived, the opening instead
/// makes the client keep the items that still exist.
fn write_opening(
    slot: u32,
    handles: &HandleSet,
    may_have_items: bool,
    capacity_bits: usize,
    context: &mut PassContext<'_>,
) -> Opening {
    let (world, values) = (context.world, &mut context.scratch.values);
    let (column, row) = (world.column_of(slot), world.objects[slot as usize].row);
    let large_bits = capacity_bits / 2;
    let mut list = world.whole(slot, handles);
    if column.items_of(row, handles) * LEAST_NEW_BITS <= large_bits {
        world.prune(slot, &mut list);
        values.clear();
        let refused = world.write_values(slot, &mut list, values);
        if values.bit_len() <= large_bits {
            return Opening { list, later: Changelist::new(), refused };
        }
        list.merge(&refused);
    }
    let later = list.take_items();
    if may_have_items && !later.is_empty() {
        list.forget_resets();
    }
    world.prune(slot, &mut list);
    values.clear();
    let refused = world.write_values(slot, &mut list, values);
    Opening { list, later, refused }
}
