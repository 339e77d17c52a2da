//! The pass: what a connection sends in one tick.
//!
//! Invariant: every change of the tick is sent, or pending, or behind a remembered place in the history; none is forgotten (S86).

use std::num::NonZeroU32;
use std::time::Duration;

use repl_core::{BitSlice, BitWriter, Changelist, ViewFlags};

use super::{Connection, Stage};
use crate::blob::{BLOB_SPAN, MAX_BLOBS};
use crate::broadcast::Broadcast;
use crate::classes::ClassList;
use crate::events::CloseReason;
use crate::in_flight::{Content, Sent};
use crate::segment::{
    Birth, ITEM_BITS, Origin, SegmentItem, SegmentKind, SegmentWriter, gap_order, handles_bits,
};
use crate::sequence::Sequence;
use crate::slot_set::slots_of;
use crate::tracked::Phase;
use crate::world::World;

/// An opening up to this size goes again whole when the object changes before it is acked; a larger one is waited for (R2).
pub(super) const SMALL_OPEN_BITS: usize = 1_024;
/// The order of gaps between objects that are sent to one connection alone.
const PRIVATE_GAP_ORDER: u32 = 3;
/// What an opening takes beside its handles and values: what tells where it comes from, and how many such follow.
const OPEN_BITS: usize = 64 + 32 + 64 + 3;
/// What a part of a blob takes beside its bits.
const PART_BITS: usize = 5 * 64 + 2 * BLOB_SPAN as usize;

/// What a pass needs of the server.
pub(crate) struct PassContext<'a> {
    pub(crate) world: &'a mut World,
    pub(crate) broadcast: &'a mut Broadcast,
    pub(crate) classes: &'a ClassList,
    pub(crate) now: Duration,
    /// How long the connection may be silent (R9).
    pub(crate) keep_alive: Duration,
}

impl Connection {
    /// Sends what the client lacks, as far as the limits allow.
    pub(crate) fn pass(&mut self, context: &mut PassContext<'_>) {
        if self.stage != Stage::Connected {
            return;
        }
        self.take_evicted(context.world);
        self.give_up_lost(context.world, context.now);
        self.outbox.begin_pass();
        self.route(context);
        let packets_before = self.outbox.packets_sent;
        // What waited goes first where there is a budget to wait for, and by turns, so that nothing starves.
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
        // Not before: what is in step gets the shared segments, and would have its share of them twice.
        while let Some(slot) = self.scratch.settling.pop() {
            self.settle(context.world, slot);
        }
        self.outbox.flush(context.now);
        if self.outbox.packets_sent > packets_before {
            self.last_sent = context.now;
        } else if context.now.saturating_sub(self.last_sent) >= context.keep_alive {
            let received = self.outbox.received.clone();
            self.outbox.signal(&received, context.now);
            self.last_sent = context.now;
        }
    }

    /// Notes which of the changes of this tick are for this connection alone.
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
            // The opening of an object that waits for it will have the change.
            self.needs.insert_mask(word, mask & self.known.word(word) & !self.newcomers.waiting_in(word));
        }
        for &slot in context.broadcast.apart() {
            if self.is_in_step(slot) {
                self.needs.insert(slot);
            }
        }
    }

    /// Sends a shared segment: whole, if the connection is in step with all of its objects, else those of which it is. `all_in_step`: it is
    /// known to be with all that changed.
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
        if is_whole && !self.outbox.is_exhausted() {
            self.outbox.segment(segment, context.now);
            if segment.has_births {
                let sequence = self.outbox.sequence();
                for item in segment.items.iter().filter(|item| item.list.has_births()) {
                    self.watch_over(item.slot, item.generation, sequence, &item.list);
                }
            }
            return;
        }
        for item in &segment.items {
            if !self.is_in_step(item.slot) {
                continue;
            }
            if self.outbox.is_exhausted() {
                self.fall_behind(context.world, item.slot);
            } else if let Some(values) = segment.bits().slice(item.values.clone()) {
                self.send_shared_item(item, values, context.world, context.classes, context.now);
            }
        }
    }

    fn send_shared_item(
        &mut self,
        item: &SegmentItem,
        values: BitSlice<'_>,
        world: &World,
        classes: &ClassList,
        now: Duration,
    ) {
        let SegmentItem { slot, generation, list, .. } = item;
        let class = world.objects[*slot as usize].class;
        let count = world.column(class).program().handles();
        let wire_class = classes.wire(class.into()) as usize;
        let sent = Sent { slot: *slot, generation: *generation, content: Content::Update(list.clone()) };
        let estimate = ITEM_BITS + handles_bits(count) + values.len();
        self.outbox.item(SegmentKind::Update, PRIVATE_GAP_ORDER, sent, estimate, now, |segment, writer| {
            segment.update(*slot, wire_class, count, list.handles(), values, writer);
        });
        if list.has_births() {
            self.watch_over(*slot, *generation, self.outbox.sequence(), list);
        }
    }

    /// Remembers what came into being in the packet `sequence`, until that is acked.
    fn watch_over(&mut self, slot: u32, generation: NonZeroU32, sequence: Sequence, list: &Changelist) {
        let tracked = self.tracked.open(slot, generation);
        tracked.add_births(sequence, list);
        self.young.insert(slot);
        if !tracked.is_settled() {
            self.apart.insert(slot);
        }
    }

    /// Sends what this connection alone needs.
    fn send_private(&mut self, context: &mut PassContext<'_>) {
        let mut slots = std::mem::take(&mut self.scratch.slots);
        slots.clear();
        slots.extend(self.needs.iter());
        let blob_waits = std::mem::take(&mut self.blob_waits);
        if !slots.is_empty() && (self.outbox.is_limited() || blob_waits) {
            // A budget goes round, or the first slots would take it all; so do the places of blobs.
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
        self.scratch.slots = slots;
    }

    /// Keeps a change of this tick for later.
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
            Phase::Open => self.send_update(slot, context),
        }
    }

    fn send_close(&mut self, slot: u32, reason: CloseReason, now: Duration) {
        let Some(tracked) = self.tracked.get(slot) else { return };
        let sent = Sent { slot, generation: tracked.generation, content: Content::Close };
        self.outbox.item(
            SegmentKind::Close,
            PRIVATE_GAP_ORDER,
            sent,
            ITEM_BITS + 2,
            now,
            |segment, writer| {
                segment.slot(slot, writer);
                writer.write_bits(reason as u64, 2);
            },
        );
    }

    /// Sends an object whole: every property that ever changed and may be seen (R2, S69).
    fn send_open(&mut self, slot: u32, context: &mut PassContext<'_>) {
        let world = &mut *context.world;
        let object = &world.objects[slot as usize];
        let column = world.column_of(slot);
        let mut handles = object.mask(column.lifetime(), self.flags(object).with(ViewFlags::INITIAL));
        handles.intersect(object.history.ever());
        if let Some(off) = self.switched_off.get(&slot) {
            handles.difference(off);
        }
        let mut list = world.whole(slot, &handles);
        column.prune(object.row, &mut list);
        let values = &mut self.scratch.values;
        values.clear();
        let mut refused = world.write_values(slot, &mut list, values);
        if values.bit_len() > self.outbox.capacity() / 2 {
            // Collections begin empty where they are large; their items follow in as many packets as they need (R15).
            let later = list.take_items();
            if !later.is_empty() {
                refused.merge(&later);
                values.clear();
                refused.merge(&world.write_values(slot, &mut list, values));
            }
        }
        let birth = Birth {
            origin: Origin {
                generation: object.generation,
                class: context.classes.wire(object.class.into()),
                archetype: object.archetype,
            },
            handles: list.handles(),
            count: column.program().handles(),
            classes: context.classes.len(),
        };
        let estimate = ITEM_BITS + OPEN_BITS + handles_bits(birth.count) + values.bit_len();
        let sent = Sent { slot, generation: object.generation, content: Content::Open(list.clone()) };
        let write = |segment: &mut SegmentWriter, writer: &mut BitWriter, values: BitSlice<'_>| {
            segment.run(slot, 1, &birth, writer);
            writer.append(values);
        };
        if estimate > self.outbox.capacity() {
            self.send_blob(SegmentKind::Open, sent, context, write);
        } else {
            let values = values.as_slice();
            self.outbox.item(
                SegmentKind::Open,
                gap_order(slot, 1),
                sent,
                estimate,
                context.now,
                |segment, writer| {
                    write(segment, writer, values);
                },
            );
        }
        let sequence = self.outbox.sequence();
        let Some(tracked) = self.tracked.get_mut(slot) else { return };
        if tracked.blob.is_none() && estimate > self.outbox.capacity() {
            // An opening from before this change may arrive all the same.
            self.postpone(slot, context.world);
            return;
        }
        Self::catch_up(context.world, tracked, None);
        tracked.pending = refused;
        tracked.phase = Phase::Opening;
        tracked.open_bits = estimate;
        tracked.add_births(sequence, &list);
    }

    /// Sends what changed of an object that the client has, and what it lacks beside.
    fn send_update(&mut self, slot: u32, context: &mut PassContext<'_>) {
        let mut list = std::mem::take(&mut self.scratch.list);
        list.clear();
        self.gather(slot, context.world, &mut list);
        if !list.is_empty() {
            self.send_list(slot, &mut list, context);
        }
        self.scratch.settling.push(slot);
        self.scratch.list = list;
    }

    /// Collects what the client lacks of an object and may see.
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
        // Last, for births may name items that are gone.
        let object = &world.objects[slot as usize];
        world.column_of(slot).prune(object.row, list);
    }

    /// Sends a list in one packet, or property by property in several, or as a blob (R15).
    fn send_list(&mut self, slot: u32, list: &mut Changelist, context: &mut PassContext<'_>) {
        let world = &*context.world;
        let (object, column) = (&world.objects[slot as usize], world.column_of(slot));
        let generation = object.generation;
        let values = &mut self.scratch.values;
        values.clear();
        let refused = world.write_values(slot, list, values);
        if !refused.is_empty() {
            self.tracked.open(slot, generation).pending.merge(&refused);
            if list.is_empty() {
                return;
            }
        }
        let count = column.program().handles();
        let estimate = ITEM_BITS + handles_bits(count) + values.bit_len();
        let class = context.classes.wire(object.class.into()) as usize;
        if estimate > self.outbox.capacity() {
            self.send_large_list(slot, list, context);
            return;
        }
        let sent = Sent { slot, generation, content: Content::Update(list.clone()) };
        let values = values.as_slice();
        self.outbox.item(
            SegmentKind::Update,
            PRIVATE_GAP_ORDER,
            sent,
            estimate,
            context.now,
            |segment, writer| {
                segment.update(slot, class, count, list.handles(), values, writer);
            },
        );
        if list.has_births() {
            self.tracked.open(slot, generation).add_births(self.outbox.sequence(), list);
        }
    }

    fn send_large_list(&mut self, slot: u32, list: &Changelist, context: &mut PassContext<'_>) {
        let (mut large, mut waiting) = (Vec::new(), Vec::new());
        for mut part in self.send_small_properties(slot, list, context) {
            if part.items().is_some() {
                large.extend(self.send_items(slot, &mut part, context));
                waiting.push(part);
            } else {
                large.push(part);
            }
        }
        // One large property at a time, and not always the same one, or those behind it would never get their turn.
        let turn = context.world.frame as usize % large.len().max(1);
        if turn < large.len() {
            self.send_property_as_blob(slot, &large.swap_remove(turn), context);
        }
        let generation = context.world.objects[slot as usize].generation;
        for waiting in large.iter().chain(&waiting).filter(|list| !list.is_empty()) {
            self.tracked.open(slot, generation).pending.merge(waiting);
            self.needs.insert(slot);
        }
    }

    /// Sends what changed of one collection in several packets, the oldest changes first (R15); what is left of `list` has no room now. Gives what concerns
    /// an item that needs more than a packet, if it comes upon one.
    fn send_items(
        &mut self,
        slot: u32,
        list: &mut Changelist,
        context: &mut PassContext<'_>,
    ) -> Option<Changelist> {
        let bits = self.estimate(slot, list, context);
        let mut count = list.items().unwrap_or(0) * self.outbox.capacity() / bits.max(1);
        while !list.is_empty() && !self.outbox.is_exhausted() {
            count = count.max(1);
            let mut part = list.split_off_items(count);
            if self.estimate(slot, &part, context) > self.outbox.capacity() {
                if count == 1 {
                    return Some(part);
                }
                list.merge(&part);
                count /= 2;
                continue;
            }
            self.send_list(slot, &mut part, context);
            // An object stands once in a packet.
            self.outbox.flush(context.now);
        }
        None
    }

    /// Sends the properties of a list that fit a packet, as many together as one holds; gives the others.
    fn send_small_properties(
        &mut self,
        slot: u32,
        list: &Changelist,
        context: &mut PassContext<'_>,
    ) -> Vec<Changelist> {
        let (mut large, mut group, mut group_bits) = (Vec::new(), Changelist::new(), 0);
        let mut left = list.clone();
        loop {
            let lifetime = context.world.lifetime(slot);
            let first = left.handles().iter().next();
            let Some(property) = first.and_then(|first| lifetime.property_of(first)) else { break };
            let (mut part, mut rest) = (left, Changelist::new());
            part.split(&lifetime.handles_of(property), &mut rest);
            left = rest;
            let bits = self.estimate(slot, &part, context);
            if bits > self.outbox.capacity() {
                large.push(part);
                continue;
            }
            if group_bits + bits > self.outbox.capacity() {
                self.send_list(slot, &mut group, context);
                // An object stands once in a packet.
                self.outbox.flush(context.now);
                (group, group_bits) = (Changelist::new(), 0);
            }
            group.merge(&part);
            group_bits += bits;
        }
        if !group.is_empty() {
            self.send_list(slot, &mut group, context);
            self.outbox.flush(context.now);
        }
        large
    }

    /// What an update takes at most, in bits.
    fn estimate(&mut self, slot: u32, list: &Changelist, context: &PassContext<'_>) -> usize {
        self.scratch.values.clear();
        context.world.write_values(slot, &mut list.clone(), &mut self.scratch.values);
        let count = context.world.column_of(slot).program().handles();
        ITEM_BITS + handles_bits(count) + self.scratch.values.bit_len()
    }

    fn send_property_as_blob(&mut self, slot: u32, part: &Changelist, context: &mut PassContext<'_>) {
        let object = &context.world.objects[slot as usize];
        let generation = object.generation;
        let count = context.world.column_of(slot).program().handles();
        let class = context.classes.wire(object.class.into()) as usize;
        let sent = Sent { slot, generation, content: Content::Update(part.clone()) };
        self.scratch.values.clear();
        context.world.write_values(slot, &mut part.clone(), &mut self.scratch.values);
        self.send_blob(SegmentKind::Update, sent, context, |segment, writer, values| {
            segment.update(slot, class, count, part.handles(), values, writer);
        });
        let sequence = self.outbox.sequence();
        let tracked = self.tracked.open(slot, generation);
        if tracked.blob.is_some() {
            tracked.add_births(sequence, part);
        } else {
            tracked.pending.merge(part);
        }
    }

    /// Begins a blob of one item whose values are in the scratch; waits if too many are under way.
    fn send_blob(
        &mut self,
        kind: SegmentKind,
        sent: Sent,
        context: &mut PassContext<'_>,
        write: impl FnOnce(&mut SegmentWriter, &mut BitWriter, BitSlice<'_>),
    ) {
        let Sent { slot, generation, content } = sent;
        let count = context.world.column_of(slot).program().handles();
        let head_bits = ITEM_BITS + OPEN_BITS + handles_bits(count);
        let bytes = (head_bits + self.scratch.values.bit_len()).div_ceil(8);
        if !self.blobs.has_room(bytes, context.world.limits.max_object_bytes) {
            self.needs.insert(slot);
            self.blob_waits = true;
            return;
        }
        let (mut body, mut segment) = (BitWriter::new(), SegmentWriter::default());
        segment.begin(kind, 0, &mut body);
        write(&mut segment, &mut body, self.scratch.values.as_slice());
        segment.end(&mut body);
        body.write_bits(0, 1);
        let part_bits = self.outbox.capacity() - ITEM_BITS - PART_BITS;
        let stamp = self.outbox.stamp();
        let id = self.blobs.begin((slot, generation), stamp, content, &mut body, part_bits);
        self.tracked.open(slot, generation).blob = Some(id);
        self.last_blob = slot;
        self.apart.insert(slot);
        // An object stands once in a packet, and so does a blob that the packet completes.
        self.outbox.flush(context.now);
        self.send_parts(context.now);
    }

    /// Sends the parts of blobs that are neither under way nor there.
    fn send_parts(&mut self, now: Duration) {
        if self.blobs.is_empty() {
            return;
        }
        let (oldest, under_way) = self.blobs.under_way();
        let mut sent_parts: Vec<(u32, u32)> = Vec::with_capacity(MAX_BLOBS);
        for blob in self.blobs.iter() {
            for index in blob.unsent() {
                if self.outbox.is_exhausted() {
                    break;
                }
                let part = blob.part(index);
                let content = Content::Fragment { blob: blob.id, index };
                let sent = Sent { slot: blob.slot, generation: blob.generation, content };
                let estimate = ITEM_BITS + PART_BITS + part.len();
                self.outbox.make_room(estimate, now);
                let behind = self.outbox.sequence().since(blob.stamp);
                self.outbox.item(SegmentKind::Fragment, 0, sent, estimate, now, |segment, writer| {
                    segment.slot(blob.slot, writer);
                    writer.write_exp_golomb(oldest.into(), 4);
                    writer.write_bits(under_way, BLOB_SPAN);
                    writer.write_below(blob.id.wrapping_sub(oldest).into(), BLOB_SPAN.into());
                    writer.write_exp_golomb(behind, 3);
                    writer.write_exp_golomb(blob.bit_len() as u64, 12);
                    writer.write_exp_golomb(blob.part_bits() as u64, 12);
                    writer.write_exp_golomb(index.into(), 3);
                    writer.append(part);
                });
                sent_parts.push((blob.id, index));
            }
        }
        for (id, index) in sent_parts {
            self.blobs.sent(id, index);
        }
    }
}
