//! Sends closings, which make the client remove objects.
//!
//! *Invariant:* the client removes no object before its subobjects. So the closings of a family are in one
//! packet, or the closing of a parent waits until the closings of its subobjects are acknowledged.

use std::num::NonZeroU32;
use std::time::Duration;

use repl_core::BitWriter;
use repl_link::parts::Outbox;

use super::Connection;
use super::context::PassContext;
use super::copies::Copies;
use super::lists::PRIVATE_GAP_ORDER;
use crate::body::State;
use crate::body::contents::{Cohort, Content, Sent};
use crate::body::removal::{CloseReason, Removal};
use crate::body::segment::{ENTRY_BITS, SegmentKind};
use crate::body::slot_set::{bit_of, slots_of, word_of};
use crate::body::writing::WriteState;
use crate::server::world::World;

impl Connection {
    /// Sends the closing (removal) of an object together with the closings of all other objects of its family
    /// (an object with its subobjects) that are being closed.
    pub(super) fn send_close(&mut self, slot: u32, context: &mut PassContext<'_>) {
        if context.world.subobjects.is_alone(slot) {
            return self.send_close_alone(slot, context);
        }
        let top = self.copies.objects.closing_top(context.world, slot);
        if context.scratch.large_families.contains(&top) {
            return self.send_close_after_children(slot, context);
        }
        let family = self.copies.objects.closing_below(context.world, top);
        if family.len() < 2 {
            return self.send_close_alone(slot, context);
        }
        let bits: usize =
            family.iter().map(|&slot| ENTRY_BITS + removal(&self.copies, slot, context).bits()).sum();
        let is_held = family.iter().any(|&slot| self.holds_close(slot, context.world));
        if is_held || bits > self.link.outbox.capacity() {
            context.scratch.large_families.insert(top);
            self.send_close_after_children(slot, context);
        } else if self.link.outbox.make_room(bits, context.now) {
            for slot in family {
                self.copies.objects.begin_sending(slot);
                self.write_removal_of(slot, context);
            }
        } else {
            self.copies.objects.must_send(slot);
        }
    }

    /// Sends the closing of an object whose family is not sent together, after the closings below it have
    /// arrived.
    fn send_close_after_children(&mut self, slot: u32, context: &mut PassContext<'_>) {
        if self.copies.objects.closing_below(context.world, slot).len() < 2 {
            self.send_close_alone(slot, context);
        } else {
            self.copies.objects.must_send(slot);
        }
    }

    fn holds_close(&self, slot: u32, world: &World) -> bool {
        self.copies.waits_for_path(slot, world)
            || self.waits_for_calls(slot, world)
            || self.copies.has_blob(slot)
    }

    fn send_close_alone(&mut self, slot: u32, context: &mut PassContext<'_>) {
        let bits = ENTRY_BITS + removal(&self.copies, slot, context).bits();
        if bits > self.link.outbox.capacity() {
            self.send_close_as_blob(slot, context);
        } else if self.link.outbox.make_room(bits, context.now) {
            self.write_removal_of(slot, context);
        } else {
            self.copies.objects.must_send(slot);
        }
    }

    /// Writes a closing for a slot in which the client has no object, so that the client acks the packet.
    /// Does nothing if the packets have no room for it.
    pub(super) fn write_close_of_none(&mut self, slot: u32, now: Duration) {
        // The mask is empty, because the ack says nothing about an object.
        let closed = Cohort { word: word_of(slot), mask: 0, generation: NonZeroU32::MIN };
        self.write_bare_close(slot, CloseReason::Relevancy, closed, now);
    }

    /// Writes a closing (removal) that has a reason and nothing else. Returns `false` if the packets have no
    /// room for it.
    fn write_bare_close(&mut self, slot: u32, reason: CloseReason, closed: Cohort, now: Duration) -> bool {
        let removal = Removal { reason, path: None, last_state: None };
        let has_room = self.link.outbox.make_room(ENTRY_BITS + removal.bits(), now);
        if has_room {
            write_removal(&mut self.link.outbox, slot, closed, removal);
        }
        has_room
    }

    fn write_removal_of(&mut self, slot: u32, context: &PassContext<'_>) {
        let removal = removal(&self.copies, slot, context);
        write_removal(&mut self.link.outbox, slot, cohort_of(slot, context.world), removal);
        self.copies.objects.close_sent(slot, self.link.outbox.sequence(), context.now);
    }

    /// Sends the plain removals that were not sent yet: closings without a last state and without a path.
    pub(super) fn send_plain_removals(&mut self, context: &PassContext<'_>) {
        for (word, mask) in self.copies.objects.waiting_removals() {
            if !self.send_removals_of(word, mask, context) {
                return;
            }
        }
    }

    /// Sends one plain removal, if the packets have room for it.
    pub(super) fn send_plain_removal(&mut self, slot: u32, context: &PassContext<'_>) {
        self.copies.objects.must_send(slot);
        self.send_removals_of(word_of(slot), bit_of(slot), context);
    }

    /// Sends the plain removals in `mask`, whose slots are in word number `word`. Returns `false` if the
    /// packets have no room for all of them.
    fn send_removals_of(&mut self, word: usize, mask: u64, context: &PassContext<'_>) -> bool {
        let mut sent = 0;
        for slot in slots_of(word, mask) {
            let closed = cohort_of(slot, context.world);
            if !self.write_bare_close(slot, CloseReason::Destroyed, closed, context.now) {
                break;
            }
            sent |= bit_of(slot);
        }
        self.copies.objects.removals_sent(word, sent);
        sent == mask
    }

    fn send_close_as_blob(&mut self, slot: u32, context: &mut PassContext<'_>) {
        let mut entry = BitWriter::new();
        removal(&self.copies, slot, context).write(&mut entry);
        context.scratch.values.clear();
        context.scratch.values.append(entry.as_slice());
        let generation = context.world.store.occupant(slot).generation;
        let sent = Sent { slot, generation, content: Content::Close };
        self.send_blob(SegmentKind::Close, sent, context, |segment, writer, values| {
            segment.slot(slot, writer);
            writer.append(values);
        });
        // If too many blobs are in flight, the blob has not begun, and the closing waits.
        if self.copies.has_blob(slot) {
            self.copies.objects.close_begins(slot, context.now);
        }
    }
}

fn cohort_of(slot: u32, world: &World) -> Cohort {
    Cohort { word: word_of(slot), mask: bit_of(slot), generation: world.store.occupant(slot).generation }
}

fn write_removal(outbox: &mut Outbox<State>, slot: u32, closed: Cohort, removal: Removal<'_>) {
    outbox.close(PRIVATE_GAP_ORDER, slot, closed, |segment, writer| {
        segment.slot(slot, writer);
        removal.write(writer);
    });
}

/// Returns the removal of an object that is being closed.
fn removal<'a>(copies: &'a Copies, slot: u32, context: &'a PassContext<'_>) -> Removal<'a> {
    let reason = copies.objects.close_reason(slot);
    let path = copies.path_to_close(slot, context).filter(|_| reason.is_destruction());
    let last_state = copies.objects.last_state(slot).map(|state| state.as_slice());
    Removal { reason, path: path.map(|path| &**path), last_state }
}
