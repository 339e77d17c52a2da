//! Encodes the changes of one object separately for one connection.
//!
//! *Invariant:* each change that is written is sent, or becomes pending.

use repl_core::Changelist;

use super::Connection;
use super::context::PassContext;
use super::copies::bases::Carrier;
use crate::body::contents::{Content, Sent};
use crate::body::segment::{ENTRY_BITS, SegmentKind, handles_bits};
use crate::body::writing::WriteState;
use crate::server::occupant::Occupant;

/// The order of the Exp-Golomb code for gaps between the slots of objects that are sent to one connection
/// alone.
pub(super) const PRIVATE_GAP_ORDER: u32 = 3;

impl Connection {
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
        self.copies.objects.add_pending(slot, &refused);
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
        let refused = context.scratch.write_values(slot, list, &self.copies.bases, context.world);
        let count = context.world.store.column_of(slot).program().handles();
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
        let Occupant { generation, class, .. } = context.world.store.occupant(slot);
        if !self.link.outbox.make_room(bits, context.now) {
            self.copies.objects.add_pending(slot, &list);
            self.copies.objects.must_send(slot);
            return;
        }
        let handles = list.handles().clone();
        let count = context.world.store.column_of(slot).program().handles();
        let class = context.classes.wire(class.into()) as usize;
        let elements = list.new_elements();
        let sent = Sent { slot, generation, content: Content::Update(list) };
        let values = context.scratch.values.as_slice();
        self.link.outbox.entry(SegmentKind::Update, PRIVATE_GAP_ORDER, sent, |segment, writer| {
            segment.update(slot, class, count, &handles, values, writer);
        });
        let sequence = self.link.outbox.sequence();
        self.copies.objects.new_elements_sent(context.world, slot, sequence, elements);
        self.note_bases(slot, Carrier::Packet(sequence), context);
    }

    /// Records which of the values that were written last the client keeps, and what carries them.
    pub(super) fn note_bases(&mut self, slot: u32, carrier: Carrier, context: &PassContext<'_>) {
        let renditions = &context.scratch.renditions;
        if !renditions.is_empty() {
            self.copies.bases.sent(slot, renditions, carrier, &context.world.revisions);
        }
    }

    /// Does the same as [`note_bases`](Self::note_bases) for the blob of an object that has just begun.
    pub(super) fn note_bases_of_blob(&mut self, slot: u32, context: &PassContext<'_>) {
        if let Some(blob) = self.copies.objects.get(slot).and_then(|tracked| tracked.blob) {
            self.note_bases(slot, Carrier::Blob(blob), context);
        }
    }
}
