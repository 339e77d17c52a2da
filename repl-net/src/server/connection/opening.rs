//! Sends openings: the first updates of objects, which create them on the client.
//!
//! *Invariant:* values that the client may see and that an opening does not contain are sent after the ack of
//! the opening.

use repl_core::{BitSlice, BitWriter, Changelist, HandleSet};

use super::Connection;
use super::context::{OPEN_BITS, PassContext};
use super::copies::Copies;
use super::copies::bases::{Carrier, ClientBases};
use super::objects::OpeningRemainder;
use crate::body::contents::{Content, Sent};
use crate::body::segment::{ENTRY_BITS, RunHeader, SegmentKind, SegmentWriter, gap_order, handles_bits};
use crate::body::writing::WriteState;
use crate::server::openings::{OpeningRun, SMALL_OPEN_BITS, Written};
use crate::server::part_size::LEAST_NEW_BITS;

impl Connection {
    /// Sends the opening (first update) of an object, which contains every property that has ever changed and
    /// that the connection may see (R2, S69).
    pub(super) fn send_open(&mut self, slot: u32, context: &mut PassContext<'_>) {
        self.send_opening(slot, false, context);
    }

    /// Does the same as [`send_open`](Self::send_open). `has_room` says that the packet that is being filled
    /// has room for the opening.
    pub(super) fn send_opening(&mut self, slot: u32, has_room: bool, context: &mut PassContext<'_>) {
        let Opening { list, mut later, refused } = self.write_opening(slot, context);
        let path = context.world.paths.path(slot).cloned();
        let run_header = self.opening_header(slot, &list, path.as_deref(), context);
        let world = context.world;
        let values = &mut context.scratch.values;
        let estimate = opening_bits(&run_header, values.bit_len());
        let sent = Sent {
            slot,
            generation: world.store.occupant(slot).generation,
            content: Content::Open(list.clone()),
        };
        let write = |segment: &mut SegmentWriter, writer: &mut BitWriter, values: BitSlice<'_>| {
            segment.run(slot, 1, &run_header, writer);
            writer.append(values);
        };
        let is_sent = if estimate > self.link.outbox.capacity() {
            self.send_blob(SegmentKind::Open, sent, context, write);
            self.copies.has_blob(slot)
        } else if has_room || self.link.outbox.make_room(estimate, context.now) {
            let values = values.as_slice();
            self.link.outbox.entry(SegmentKind::Open, gap_order(slot, 1), sent, |segment, writer| {
                write(segment, writer, values);
            });
            true
        } else {
            self.copies.objects.must_send(slot);
            false
        };
        if !is_sent {
            // The opening was not sent. An earlier opening without this change may still arrive, so the
            // change is postponed.
            self.copies.postpone(slot, context.world);
            return;
        }
        let sequence = self.link.outbox.sequence();
        if self.copies.has_blob(slot) {
            self.note_bases_of_blob(slot, context);
        } else {
            self.note_bases(slot, Carrier::Packet(sequence), context);
        }
        let has_items = later.is_empty();
        let mut owed = later.handles().clone();
        owed.intersect(context.world.store.conditions(slot).may_end_with_opening());
        later.merge(&refused);
        // If items are sent later, the opening counts as large, so it is sent again only when it is lost, and
        // not with each change.
        let bits = if later.is_empty() { estimate } else { estimate.max(SMALL_OPEN_BITS + 1) };
        let position = self.copies.objects.opening_sent(
            slot,
            sequence,
            bits,
            OpeningRemainder { after_ack: later, owed, has_items },
        );
        let unneeded = Copies::release_position(context.world, slot, position, None);
        context.free_later(slot, unneeded);
        self.copies.objects.new_elements_sent(context.world, slot, sequence, list.new_elements());
        if !self.copies.has_blob(slot) {
            self.copies.objects.proxy_sent(slot, sequence);
        }
    }

    /// Writes the values of the first `count` openings (first updates) of a run, whose header was written.
    /// `values` are the values of all openings in the cache.
    pub(super) fn append_openings(
        &mut self,
        run: &OpeningRun<'_>,
        count: u32,
        written: Written<'_>,
        values: BitSlice<'_>,
        context: &PassContext<'_>,
    ) {
        run.pieces(count as usize)
            .filter_map(|piece| values.slice(piece))
            .for_each(|bits| self.link.outbox.append(bits));
        let named = written.named_assets(run.first..run.first + count);
        named.for_each(|number| self.assets.need(&[number], &context.world.store.assets));
    }

    /// Writes the values of an object's opening for this client to the scratch buffer.
    fn write_opening(&self, slot: u32, context: &mut PassContext<'_>) -> Opening {
        let mut handles = self.copies.objects.opening_mask(context.world, slot);
        handles.intersect(context.world.store.objects[slot as usize].history.ever());
        let may_have_items = self.copies.objects.get(slot).is_some_and(|tracked| tracked.opened_with_items);
        let bases = &self.copies.bases;
        write_opening(slot, &handles, may_have_items, self.link.outbox.capacity(), bases, context)
    }

    /// Returns the header of an object's opening (first update) with the properties in `list`. `path` is the
    /// path of the object if it is static.
    fn opening_header<'a>(
        &self,
        slot: u32,
        list: &'a Changelist,
        path: Option<&'a str>,
        context: &PassContext<'_>,
    ) -> RunHeader<'a> {
        RunHeader {
            origin: self.origin(slot, context),
            handles: list.handles(),
            count: context.world.store.column_of(slot).program().handles(),
            classes: context.classes.len(),
            name: self.copies.name_of(slot, path),
        }
    }

    /// Returns how many bits the opening of an object takes at most. Returns `None` if the opening must wait,
    /// or if it does not contain all items of collections.
    pub(super) fn whole_opening_bits(&self, slot: u32, context: &mut PassContext<'_>) -> Option<usize> {
        if self.copies.waits_for_path(slot, context.world) || self.copies.has_blob(slot) {
            return None;
        }
        let Opening { list, later, .. } = self.write_opening(slot, context);
        let path = context.world.paths.path(slot);
        let run_header = self.opening_header(slot, &list, path.map(|path| &**path), context);
        later.is_empty().then(|| opening_bits(&run_header, context.scratch.values.bit_len()))
    }
}

/// The content of an opening, which is the first update of an object. The values of the opening are in the
/// scratch buffer.
struct Opening {
    list: Changelist,
    /// Items and entries that do not fit into the opening (first update) and are sent after the opening was
    /// acked (R15).
    later: Changelist,
    refused: Changelist,
}

/// Returns how many bits an opening with this header takes at most. `value_bits` is the number of bits of its
/// values.
pub(super) fn opening_bits(run_header: &RunHeader<'_>, value_bits: usize) -> usize {
    ENTRY_BITS + OPEN_BITS + run_header.name_bits() + handles_bits(run_header.count) + value_bits
}

/// Writes the values of an opening to the scratch buffer. If collections are large, their items are sent
/// later in several packets (R15). An opening without its items tells the client to empty the
/// collections of this object. If `may_have_items` is true, an earlier opening with items may have arrived,
/// and the client removes only the items that no longer exist.
fn write_opening(
    slot: u32,
    handles: &HandleSet,
    may_have_items: bool,
    capacity_bits: usize,
    bases: &ClientBases,
    context: &mut PassContext<'_>,
) -> Opening {
    let (world, scratch) = (context.world, &mut *context.scratch);
    let (column, row) = (world.store.column_of(slot), world.store.occupant(slot).row);
    let large_bits = capacity_bits / 2;
    let mut list = world.store.whole(slot, handles);
    if column.items_of(row, handles) * LEAST_NEW_BITS <= large_bits {
        world.store.prune(slot, &mut list);
        let refused = scratch.write_values(slot, &mut list, bases, world);
        if scratch.values.bit_len() <= large_bits {
            return Opening { list, later: Changelist::new(), refused };
        }
        list.merge(&refused);
    }
    let later = list.take_items();
    if may_have_items && !later.is_empty() {
        list.forget_resets();
    }
    world.store.prune(slot, &mut list);
    let refused = scratch.write_values(slot, &mut list, bases, world);
    Opening { list, later, refused }
}
