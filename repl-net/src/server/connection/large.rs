//! Sends the changes of an object, also those that do not fit into one packet: the items of a collection are
//! spread over several packets, and each other property that is too large is sent as a blob (R15).
//!
//! *Invariant:* changes that cannot be sent yet are stored in `pending` or `waiting`.

use repl_core::{Changelist, Portions};

use super::Connection;
use super::context::PassContext;
use crate::body::blob::MAX_BLOBS;
use crate::body::contents::{Content, Sent};
use crate::body::segment::SegmentKind;
use crate::server::occupant::Occupant;
use crate::server::part_size::{LEAST_ITEM_BITS, PartSize, Verdict};

/// The greatest number of bytes of a blob (data in several parts) with several items. The limit is lower if
/// [`MAX_BLOBS`] blobs of this size would together exceed the limit for all blobs of a connection.
const MAX_SHARED_BLOB_BYTES: usize = 32 << 10;

impl Connection {
    /// Sends a changelist that does not fit into a packet, and the changes of collections and maps from
    /// earlier ticks in `waiting`.
    pub(super) fn send_large_list(
        &mut self,
        slot: u32,
        list: Changelist,
        mut waiting: Vec<Portions>,
        context: &mut PassContext<'_>,
    ) {
        let mut large = Vec::new();
        for mut part in self.send_small_properties(slot, list, context) {
            match part.take_portions() {
                Some(portions) => waiting.push(portions),
                None => large.push(part),
            }
        }
        let mut cut = None;
        for (at, portions) in waiting.iter_mut().enumerate() {
            let before = portions.len();
            large.extend(self.send_items(slot, portions, context));
            if portions.len() < before && !portions.is_empty() {
                cut = Some(at);
            }
        }
        // The collections take turns, so that no collection waits forever.
        if let Some(at) = cut {
            let mut portions = waiting.remove(at);
            portions.rotate();
            waiting.push(portions);
        }
        waiting.retain(|portions| !portions.is_empty());
        // Only one large property of an object is sent at a time. The large properties of an object take
        // turns in the order of their handles, so that no property waits forever.
        let after = self.copies.objects.last_large(slot).wrapping_add(1);
        let turn = |list: &Changelist| first_handle(list).wrapping_sub(after);
        if let Some((next, _)) = large.iter().enumerate().min_by_key(|(_, list)| turn(list)) {
            self.send_property_as_blob(slot, large.swap_remove(next), context);
        }
        large.iter().for_each(|list| self.copies.objects.add_pending(slot, list));
        self.copies.objects.add_waiting(slot, &mut waiting);
    }

    /// Sends the changes of one collection in several packets. The oldest changes are sent first (R15). If an
    /// item is larger than a packet, returns the changes of this item and of the items that are sent together
    /// with it as a blob.
    fn send_items(
        &mut self,
        slot: u32,
        portions: &mut Portions,
        context: &mut PassContext<'_>,
    ) -> Option<Changelist> {
        let mut size = PartSize::new(self.link.outbox.capacity());
        while !portions.is_empty() && !self.link.outbox.is_exhausted() {
            let count = size.count().min(portions.len());
            let (part, bits) = self.write_list(slot, pruned_part(slot, portions, count, context), context);
            match size.judge(count, bits, portions.len()) {
                Verdict::Send => {
                    if part.items().is_some() && !self.link.outbox.make_room(bits, context.now) {
                        return None;
                    }
                    portions.skip(count);
                    // The part is empty if all of its items were removed in the meantime.
                    if part.items().is_some() {
                        self.send_written(slot, part, bits, context);
                    }
                    // A packet must not contain an object twice, so the next part goes into another packet.
                    self.link.outbox.flush(context.now);
                }
                Verdict::TryAgain => {}
                Verdict::TooLarge => {
                    let count = self.items_of_blob(slot, portions, bits, context);
                    let blob = pruned_part(slot, portions, count, context);
                    portions.skip(count);
                    return Some(blob);
                }
            }
        }
        None
    }

    /// Returns how many items are sent in one blob (data in several parts). The first item takes `first_bits`
    /// bits. The blob contains the large item and as many other items as fit, because nothing else of the
    /// object is sent until the blob has arrived.
    fn items_of_blob(
        &mut self,
        slot: u32,
        portions: &Portions,
        first_bits: usize,
        context: &mut PassContext<'_>,
    ) -> usize {
        let room_bits =
            MAX_SHARED_BLOB_BYTES.min(context.world.store.limits.max_object_bytes / MAX_BLOBS) * 8;
        let mut size = PartSize::new(room_bits);
        let (mut count, mut bits) = (1, first_bits);
        loop {
            match size.judge(count, bits, portions.len()) {
                Verdict::Send => return count,
                Verdict::TryAgain => {}
                Verdict::TooLarge => return 1,
            }
            count = size.count().min(portions.len());
            let refused;
            (refused, bits) = self.measure(slot, &mut pruned_part(slot, portions, count, context), context);
            if !refused.is_empty() {
                return 1;
            }
        }
    }

    /// Sends the properties of a changelist that fit into a packet, several properties in one packet. Returns
    /// the properties that do not fit into a packet.
    fn send_small_properties(
        &mut self,
        slot: u32,
        list: Changelist,
        context: &mut PassContext<'_>,
    ) -> Vec<Changelist> {
        if list.items().is_some() {
            return vec![list];
        }
        let (mut large, mut group, mut group_bits) = (Vec::new(), Changelist::new(), 0);
        let mut left = list;
        loop {
            let conditions = context.world.store.conditions(slot);
            let first = left.handles().iter().next();
            let Some(property) = first.and_then(|first| conditions.property_of(first)) else { break };
            let (mut part, mut rest) = (left, Changelist::new());
            part.split(conditions.handles_of(property), &mut rest);
            left = rest;
            let bits = match part.items() {
                Some(items) if items * LEAST_ITEM_BITS > self.link.outbox.capacity() => usize::MAX,
                _ => self.measure(slot, &mut part.clone(), context).1,
            };
            if bits > self.link.outbox.capacity() {
                large.push(part);
                continue;
            }
            if group_bits + bits > self.link.outbox.capacity() {
                self.send_list(slot, std::mem::take(&mut group), context);
                // A packet must not contain an object twice, so the next group goes into another packet.
                self.link.outbox.flush(context.now);
                group_bits = 0;
            }
            group.merge(&part);
            group_bits += bits;
        }
        if !group.is_empty() {
            self.send_list(slot, group, context);
            self.link.outbox.flush(context.now);
        }
        large
    }

    fn send_property_as_blob(&mut self, slot: u32, part: Changelist, context: &mut PassContext<'_>) {
        let (part, _) = self.write_list(slot, part, context);
        if part.is_empty() {
            return;
        }
        let Occupant { generation, class, .. } = context.world.store.occupant(slot);
        let count = context.world.store.column_of(slot).program().handles();
        let class = context.classes.wire(class.into()) as usize;
        let sent = Sent { slot, generation, content: Content::Update(part.clone()) };
        self.send_blob(SegmentKind::Update, sent, context, |segment, writer, values| {
            segment.update(slot, class, count, part.handles(), values, writer);
        });
        if self.copies.has_blob(slot) {
            self.note_bases_of_blob(slot, context);
            self.copies.objects.large_sent(slot, first_handle(&part));
            self.copies.objects.new_elements_sent(
                context.world,
                slot,
                self.link.outbox.sequence(),
                part.new_elements(),
            );
        } else {
            self.copies.objects.add_pending(slot, &part);
        }
    }

    /// Sends a changelist in one packet, or property by property in several packets, or as a blob (R15).
    pub(super) fn send_list(&mut self, slot: u32, list: Changelist, context: &mut PassContext<'_>) {
        if list.items().is_some_and(|items| items * LEAST_ITEM_BITS > self.link.outbox.capacity()) {
            self.send_large_list(slot, list, Vec::new(), context);
            return;
        }
        let (list, bits) = self.write_list(slot, list, context);
        if bits > self.link.outbox.capacity() {
            self.send_large_list(slot, list, Vec::new(), context);
        } else if !list.is_empty() {
            self.send_written(slot, list, bits, context);
        }
    }
}

fn first_handle(list: &Changelist) -> u32 {
    list.handles().iter().next().unwrap_or(0)
}

/// Returns the waiting changes of the first `count` items or entries, without items and entries that were
/// removed in the meantime.
pub(super) fn pruned_part(
    slot: u32,
    portions: &Portions,
    count: usize,
    context: &PassContext<'_>,
) -> Changelist {
    let mut part = portions.part(count);
    context.world.store.prune(slot, &mut part);
    part
}
