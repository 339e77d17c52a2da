//! The pass: what a connection sends in one tick.
//!
//! *Invariant:* every change of the tick is sent, pending, or after a stored position in the history. None is
//! forgotten (S86).

use std::time::Duration;

use repl_core::{BitSlice, BitWriter, Changelist, HandleSet, Portions};

use super::Connection;
use super::context::{OPEN_BITS, PassContext};
use super::large::pruned_part;
use crate::server::openings::SMALL_OPEN_BITS;
use crate::server::part_size::{LEAST_ITEM_BITS, LEAST_NEW_BITS};
use crate::server::tracked::Phase;
use crate::server::world::World;
use crate::session::classes::ClassList;
use crate::session::events::CloseReason;
use crate::transport::in_flight::{Content, Sent};
use crate::transport::segment::{
    ENTRY_BITS, RunHead, SegmentEntry, SegmentKind, SegmentWriter, gap_order, handles_bits,
};
use crate::transport::sequence::Sequence;
use crate::transport::slot_set::slots_of;
use crate::transport::spare::ROUND_TICKS;
use crate::transport::status::News;

/// The gap order for objects that are sent to one connection alone.
const PRIVATE_GAP_ORDER: u32 = 3;
/// At most this many items or entries are merged with other changes into one packet.
const FEW_ITEMS: usize = 64;

impl Connection {
    /// Sends what the client lacks, within the limits.
    pub(crate) fn pass(&mut self, context: &mut PassContext<'_>) {
        if !self.is_live {
            return;
        }
        self.take_evicted(context.world);
        self.limit_memory();
        self.outbox.pace(context.now, self.timeouts);
        self.begin_outbox_pass(context);
        self.route(context);
        let packets_before = self.outbox.queue.packets_sent;
        // With a limited budget, what waited is sent first, in alternating order, so that nothing starves.
        let waited = self.outbox.is_limited();
        if waited {
            let newcomers_first = context.world.frame.is_multiple_of(2);
            if newcomers_first {
                self.send_newcomers(context);
            }
            self.send_private(context);
            if !newcomers_first {
                self.send_newcomers(context);
            }
        }
        let all_in_step = context.world.changes.slots.masks_in(&self.apart).next().is_none();
        for at in 0..context.broadcast.segments().len() {
            self.send_shared(at, all_in_step, context);
        }
        self.send_parts(context.now);
        if !waited {
            self.send_newcomers(context);
            self.send_private(context);
        }
        // Settle after the shared segments, or objects that become in step are sent twice.
        while let Some(slot) = context.scratch.settling.pop() {
            self.settle(context.world, slot);
        }
        self.ask_whether_joined_is_known(context);
        self.outbox.end_pass(context.now);
        if context.world.frame.is_multiple_of(ROUND_TICKS) {
            self.end_round(context.world);
        }
        self.watch_memory(context.now);
        if self.outbox.queue.packets_sent > packets_before {
            self.last_sent = context.now;
        } else if context.now.saturating_sub(self.last_sent) >= context.keep_alive
            || self.outbox.has_unsent_news()
        {
            let received = self.outbox.received.clone();
            self.outbox.signal(&received, context.now);
            self.last_sent = context.now;
        }
    }

    fn begin_outbox_pass(&mut self, context: &PassContext<'_>) {
        let news = News { round_trip: self.round_trip.smoothed(), has_joined: self.has_joined() };
        self.outbox.begin_pass(context.world.frame, self.newest_acked, news);
    }

    /// Frees memory that was not needed recently.
    fn end_round(&mut self, world: &World) {
        if self.outbox.in_flight.len() == 0 && self.needs.is_empty() {
            // No late ack can matter any more.
            self.late.clear();
            self.forget_births(world);
        }
        self.late.end_round();
        self.outbox.end_round();
        self.tracked.end_round();
    }

    /// Finds the changes of this tick that only this connection needs.
    fn route(&mut self, context: &mut PassContext<'_>) {
        for (word, mask) in context.world.changes.slots.masks_in(&self.young) {
            for slot in slots_of(word, mask) {
                let (tracked, list) = (self.tracked.get(slot), context.world.changes.list(slot));
                if tracked.zip(list).is_some_and(|(tracked, list)| tracked.touches_births(list)) {
                    self.apart.insert(slot);
                }
            }
        }
        for (word, mask) in context.world.changes.slots.masks_in(&self.apart) {
            // An object that waits for its opening gets the change with the opening.
            self.needs.insert_mask(word, mask & self.known.word(word) & !self.newcomers.waiting_in(word));
        }
        for &slot in context.broadcast.apart() {
            if self.is_in_step(slot) {
                self.needs.insert(slot);
            }
        }
    }

    /// Sends a shared segment: the whole segment if the connection is in step with all of its objects,
    /// otherwise only the items in step. `all_in_step`: the connection is in step with all objects that
    /// changed.
    fn send_shared(&mut self, at: usize, all_in_step: bool, context: &mut PassContext<'_>) {
        let segment = &context.broadcast.segments()[at];
        let (mut wanted, mut unwanted) = (0, 0);
        if !all_in_step {
            for (word, mask) in &segment.masks {
                let apart = self.apart.word(*word);
                wanted |= mask & !apart;
                unwanted |= mask & apart;
            }
            if wanted == 0 {
                return;
            }
        }
        let is_whole = unwanted == 0;
        if segment.continues {
            self.outbox.flush(context.now);
        }
        if is_whole && self.outbox.make_room(segment.bits().len(), context.now) {
            self.outbox.segment(segment);
            if segment.has_births {
                let sequence = self.outbox.sequence();
                for entry in segment.entries.iter().filter(|entry| entry.list.has_births()) {
                    self.watch_over(context.world, entry.slot, sequence, &entry.list);
                }
            }
            return;
        }
        for entry in &segment.entries {
            if !self.is_in_step(entry.slot) {
                continue;
            }
            let Some(values) = segment.bits().slice(entry.values.clone()) else { continue };
            if !self.send_shared_entry(entry, values, context.world, context.classes, context.now) {
                self.fall_behind(context.world, entry.slot);
            }
        }
    }

    /// Sends one entry of a shared segment. Returns `false` if there is no room.
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
        if list.has_births() {
            self.watch_over(world, *slot, self.outbox.sequence(), list);
        }
        true
    }

    /// Records the new elements in the packet `sequence` until it is acked.
    fn watch_over(&mut self, world: &World, slot: u32, sequence: Sequence, list: &Changelist) {
        self.add_births(world, slot, sequence, list.births());
        self.young.insert(slot);
        if self.tracked.get(slot).is_some_and(|tracked| !tracked.is_settled()) {
            self.apart.insert(slot);
        }
    }

    /// Sends what only this connection needs.
    fn send_private(&mut self, context: &mut PassContext<'_>) {
        let blob_waits = std::mem::take(&mut self.blob_waits);
        if self.needs.is_empty() {
            return;
        }
        let mut slots = std::mem::take(&mut context.scratch.slots);
        slots.clear();
        slots.extend(self.needs.iter());
        if self.outbox.is_limited() || blob_waits {
            // Rotate the slots, or the first ones would take the whole budget, or all blobs.
            let last = if blob_waits { self.last_blob } else { self.last_private };
            let start = slots.partition_point(|&slot| slot <= last) % slots.len();
            slots.rotate_left(start);
        }
        for &slot in &slots {
            if self.newcomers.contains(slot) {
                self.track(context.world, slot);
            }
            if self.outbox.is_exhausted() {
                if self.known.contains(slot) && context.world.changes.slots.contains(slot) {
                    self.postpone(slot, context.world);
                }
                continue;
            }
            self.last_private = slot;
            self.needs.remove(slot);
            self.send_object(slot, context);
        }
        context.scratch.slots = slots;
    }

    /// Stores a change of this tick for later.
    fn postpone(&mut self, slot: u32, world: &mut World) {
        let phase = self.tracked.get(slot).map_or(Phase::Open, |tracked| tracked.phase);
        if matches!(phase, Phase::Open | Phase::Opening) {
            self.fall_behind(world, slot);
        }
    }

    fn send_object(&mut self, slot: u32, context: &mut PassContext<'_>) {
        let (phase, open_bits, has_blob) = match self.tracked.get(slot) {
            Some(tracked) => (tracked.phase, tracked.open_bits, tracked.blob.is_some()),
            None => (Phase::Open, 0, false),
        };
        match phase {
            _ if has_blob => self.postpone(slot, context.world),
            Phase::Closing(reason) => self.send_close(slot, reason, context.now),
            Phase::Unsent => self.send_open(slot, context),
            Phase::Opening if open_bits <= SMALL_OPEN_BITS => self.send_open(slot, context),
            Phase::Opening => self.postpone(slot, context.world),
            Phase::Open if self.send_proxy(slot, context) => self.send_update(slot, context),
            Phase::Open => self.postpone(slot, context.world),
        }
    }

    fn send_close(&mut self, slot: u32, reason: CloseReason, now: Duration) {
        if self.write_close(slot, reason, now) {
            self.tracked.end_sent(slot, self.outbox.sequence(), now);
        } else {
            self.needs.insert(slot);
        }
    }

    /// Writes the close of an object. Returns `false` if there is no room.
    pub(super) fn write_close(&mut self, slot: u32, reason: CloseReason, now: Duration) -> bool {
        let has_room = self.outbox.make_room(ENTRY_BITS + 2, now);
        if has_room {
            self.outbox.close(PRIVATE_GAP_ORDER, slot, |segment, writer| {
                segment.slot(slot, writer);
                writer.write_bits(reason as u64, 2);
            });
        }
        has_room
    }

    /// Sends a whole object: every property that ever changed and that the connection may see (R2, S69).
    fn send_open(&mut self, slot: u32, context: &mut PassContext<'_>) {
        let mut handles = self.opening_mask(context.world, slot);
        handles.intersect(context.world.objects[slot as usize].history.ever());
        let may_have_items = self.tracked.get(slot).is_some_and(|tracked| tracked.opened_with_items);
        let Opening { list, later, refused } =
            write_opening(slot, &handles, may_have_items, self.outbox.capacity(), context);
        let origin = self.origin(slot, context);
        let world = &mut *context.world;
        let object = &world.objects[slot as usize];
        let column = world.column_of(slot);
        let values = &mut context.scratch.values;
        let run_head = RunHead {
            origin,
            handles: list.handles(),
            count: column.program().handles(),
            classes: context.classes.len(),
        };
        let estimate = ENTRY_BITS + OPEN_BITS + handles_bits(run_head.count) + values.bit_len();
        let sent = Sent { slot, generation: object.generation, content: Content::Open(list.clone()) };
        let write = |segment: &mut SegmentWriter, writer: &mut BitWriter, values: BitSlice<'_>| {
            segment.run(slot, 1, &run_head, writer);
            writer.append(values);
        };
        let is_sent = if estimate > self.outbox.capacity() {
            self.send_blob(SegmentKind::Open, sent, context, write);
            self.tracked.get(slot).is_some_and(|tracked| tracked.blob.is_some())
        } else if self.outbox.make_room(estimate, context.now) {
            let values = values.as_slice();
            self.outbox.entry(SegmentKind::Open, gap_order(slot, 1), sent, |segment, writer| {
                write(segment, writer, values);
            });
            true
        } else {
            self.needs.insert(slot);
            false
        };
        if !is_sent {
            // An earlier opening, from before this change, may still arrive.
            self.postpone(slot, context.world);
            return;
        }
        let sequence = self.outbox.sequence();
        let Some(tracked) = self.tracked.get_mut(slot) else { return };
        tracked.carried = sequence;
        Self::catch_up(context.world, tracked, None);
        tracked.opened_with_items |= later.is_empty();
        tracked.pending = later;
        tracked.pending.merge(&refused);
        tracked.waiting.clear();
        tracked.phase = Phase::Opening;
        // If items follow, it counts as large: it is sent again when it is lost, not with each change.
        tracked.open_bits =
            if tracked.pending.is_empty() { estimate } else { estimate.max(SMALL_OPEN_BITS + 1) };
        let has_blob = tracked.blob.is_some();
        self.add_births(context.world, slot, sequence, list.births());
        if !has_blob {
            self.proxy_sent(slot);
        }
    }

    /// Sends what changed of an object that the client has, and what else the client lacks.
    fn send_update(&mut self, slot: u32, context: &mut PassContext<'_>) {
        let mut list = Changelist::new();
        self.gather(slot, context.world, &mut list);
        let waiting = self.take_waiting(slot, &mut list, context);
        if !waiting.is_empty() {
            self.send_large_list(slot, list, waiting, context);
        } else if !list.is_empty() {
            self.send_list(slot, list, context);
        }
        context.scratch.settling.push(slot);
    }

    /// Takes what did not fit in earlier ticks, and adds the changes in `list` of the same collections and
    /// maps. If only few items wait, they are moved to the list.
    fn take_waiting(&mut self, slot: u32, list: &mut Changelist, context: &PassContext<'_>) -> Vec<Portions> {
        let Some(tracked) = self.tracked.get_mut(slot) else { return Vec::new() };
        let mut waiting = std::mem::take(&mut tracked.waiting);
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

    /// Collects what the client lacks of an object and may see, except for what already waits.
    fn gather(&mut self, slot: u32, world: &mut World, list: &mut Changelist) {
        let mut has_position = false;
        if let Some(tracked) = self.tracked.get_mut(slot) {
            std::mem::swap(list, &mut tracked.pending);
            tracked.pending.clear();
            has_position = Self::catch_up(world, tracked, Some(list));
        }
        if !has_position && let Some(changed) = world.changes.list(slot) {
            list.merge(changed);
        }
        if world.lifetime(slot).is_conditional() {
            list.retain(&self.mask(world, slot));
        }
        if let Some(tracked) = self.tracked.get(slot) {
            tracked.extend_births(list);
        }
        // Last, because births may name items that were removed.
        let object = &world.objects[slot as usize];
        world.column_of(slot).prune(object.row, list);
    }

    /// Sends a list in one packet, property by property in several packets, or as a blob (R15).
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

    /// Writes the values of a list to the scratch buffer. Returns what was written, and the most bits that an
    /// update with it takes. What a hand-written serialiser refuses is pending.
    pub(super) fn write_list(
        &mut self,
        slot: u32,
        mut list: Changelist,
        context: &mut PassContext<'_>,
    ) -> (Changelist, usize) {
        let (refused, bits) = self.measure(slot, &mut list, context);
        if !refused.is_empty() {
            let generation = context.world.objects[slot as usize].generation;
            self.tracked.open(slot, generation).pending.merge(&refused);
        }
        (list, bits)
    }

    /// Writes the values of a list to the scratch buffer. Returns what a serialiser refused, which `list`
    /// loses, and the most bits that an update with the rest takes.
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

    /// Sends a list whose values are in the scratch buffer. It is pending if there is no room.
    pub(super) fn send_written(
        &mut self,
        slot: u32,
        list: Changelist,
        bits: usize,
        context: &mut PassContext<'_>,
    ) {
        let object = &context.world.objects[slot as usize];
        if !self.outbox.make_room(bits, context.now) {
            self.tracked.open(slot, object.generation).pending.merge(&list);
            self.apart.insert(slot);
            self.needs.insert(slot);
            return;
        }
        let (generation, handles) = (object.generation, list.handles().clone());
        let count = context.world.column_of(slot).program().handles();
        let class = context.classes.wire(object.class.into()) as usize;
        let births = list.births();
        let sent = Sent { slot, generation, content: Content::Update(list) };
        let values = context.scratch.values.as_slice();
        self.outbox.entry(SegmentKind::Update, PRIVATE_GAP_ORDER, sent, |segment, writer| {
            segment.update(slot, class, count, &handles, values, writer);
        });
        self.add_births(context.world, slot, self.outbox.sequence(), births);
    }
}

/// The content of an opening. Its values are in the scratch buffer.
struct Opening {
    list: Changelist,
    /// Items and entries that do not fit in it and follow after the ack (R15).
    later: Changelist,
    /// What a hand-written serialiser refuses.
    refused: Changelist,
}

/// Writes the values of an opening to the scratch buffer. If collections are large, their items follow later
/// in several packets (R15). Then the opening resets the collections, unless an opening with items may have
/// arrived before: then the client keeps the items that still exist.
fn write_opening(
    slot: u32,
    handles: &HandleSet,
    may_have_items: bool,
    capacity_bits: usize,
    context: &mut PassContext<'_>,
) -> Opening {
    let (world, values) = (&*context.world, &mut context.scratch.values);
    let (column, row) = (world.column_of(slot), world.objects[slot as usize].row);
    let large_bits = capacity_bits / 2;
    let mut list = world.whole(slot, handles);
    if column.items_of(row, handles) * LEAST_NEW_BITS <= large_bits {
        column.prune(row, &mut list);
        values.clear();
        let refused = world.write_values(slot, &mut list, values);
        if values.bit_len() <= large_bits {
            return Opening { list, later: Changelist::new(), refused };
        }
        list.merge(&refused);
    }
    let later = list.take_items();
    if may_have_items && !later.is_empty() {
        list.soften();
    }
    column.prune(row, &mut list);
    values.clear();
    let refused = world.write_values(slot, &mut list, values);
    Opening { list, later, refused }
}
