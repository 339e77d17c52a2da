//! Sends pending spawns, and handles the ack or loss of their packets.
//!
//! *Invariant:* an object is a pending spawn or tracked, never both.

use repl_core::{Changelist, ViewFlags};

use super::Connection;
use super::context::PassContext;
use crate::server::openings::SMALL_OPEN_BITS;
use crate::server::tracked::{Phase, Tracked};
use crate::server::world::World;
use crate::transport::in_flight::Content;
use crate::transport::segment::RunHead;
use crate::transport::sequence::Sequence;
use crate::transport::slot_set::{masks_between, slots_of};

impl Connection {
    /// The tracked state of an object that the client has or is receiving. Turns a pending spawn into a
    /// tracked object.
    pub(super) fn track(&mut self, world: &World, slot: u32) -> &mut Tracked {
        let phase = self.newcomers.part(slot);
        if phase == Some(Phase::Unsent) {
            self.needs.insert(slot);
        }
        let generation = world.objects[slot as usize].generation;
        self.tracked.entry(slot, || {
            let mut tracked = Tracked::new(slot, generation, phase.unwrap_or(Phase::Open));
            // Only small openings are sent as pending spawns.
            tracked.open_bits = usize::from(tracked.phase == Phase::Opening);
            tracked.opened_with_items = tracked.phase == Phase::Opening;
            tracked
        })
    }

    /// Before a comparison: marks the objects whose openings are sent again with each change until the ack.
    /// Then properties that only openings contain are compared too (S40). O(objects apart) if any class has
    /// such properties.
    pub(crate) fn note_repeated_openings(&self, world: &mut World) {
        if !world.asks_at_open() {
            return;
        }
        for (word, mask) in self.apart.masks_in(&self.known) {
            for slot in slots_of(word, mask & !self.newcomers.waiting_in(word)) {
                let is_repeated = self.newcomers.contains(slot)
                    || self.tracked.get(slot).is_some_and(|tracked| {
                        tracked.phase == Phase::Opening && tracked.open_bits <= SMALL_OPEN_BITS
                    });
                if is_repeated {
                    world.compare_for_repeated_open(slot);
                }
            }
        }
    }

    /// Sends the pending spawns, in runs that all connections share.
    pub(super) fn send_newcomers(&mut self, context: &mut PassContext<'_>) {
        if !self.newcomers.has_waiting() || self.outbox.is_exhausted() {
            return;
        }
        let mut slots = std::mem::take(&mut context.scratch.slots);
        slots.clear();
        slots.extend(self.newcomers.waiting());
        let (classes, openings) = (context.classes, context.broadcast.openings());
        openings.write(&slots, context.world, |class| classes.wire(class.into()));
        let (written, values) = openings.lend();
        let mut at = 0;
        while at < slots.len() && !self.outbox.is_exhausted() {
            let Some(run) = written.run(&slots[at..], self.outbox.capacity(), SMALL_OPEN_BITS) else {
                self.track(context.world, slots[at]);
                at += 1;
                continue;
            };
            let run_head = RunHead {
                origin: run.head.origin,
                handles: &run.head.handles,
                count: context.world.column(run.head.class).program().handles(),
                classes: classes.len(),
            };
            let Some(sent) = self.outbox.run(run.first, &run_head, run.sizes(), context.now) else { break };
            if sent == 0 {
                self.track(context.world, run.first);
                at += 1;
                continue;
            }
            run.pieces(sent as usize)
                .filter_map(|piece| values.slice(piece))
                .for_each(|bits| self.outbox.append(bits));
            for (word, mask) in masks_between(run.first, run.first + sent) {
                self.newcomers.sent(word, mask);
            }
            at += sent as usize;
        }
        context.scratch.slots = slots;
    }

    /// Notes that a packet with openings of pending spawns arrived.
    pub(super) fn newcomers_arrived(
        &mut self,
        world: &mut World,
        sequence: Sequence,
        word: usize,
        mask: u64,
    ) {
        let here = self.newcomers.arrived(word, mask);
        self.apart.remove_mask(word, here & !self.own_view.word(word));
        // The others are tracked by now.
        let others = mask & !here & self.known.word(word) & self.newcomers.unused_in(word);
        for slot in slots_of(word, others) {
            let generation = world.objects[slot as usize].generation;
            self.content_arrived(world, sequence, slot, generation, &Content::Open(Changelist::new()));
        }
    }

    /// Notes that a packet with openings of pending spawns was lost. From now on they are tracked.
    pub(super) fn newcomers_lost(&mut self, world: &mut World, sequence: Sequence, word: usize, mask: u64) {
        for slot in slots_of(word, mask & self.known.word(word) & self.newcomers.unused_in(word)) {
            if self.newcomers.contains(slot) {
                self.track(world, slot);
            }
            let object = &world.objects[slot as usize];
            let generation = object.generation;
            let flags = object.common_flags().with(ViewFlags::INITIAL);
            let mut handles = object.mask(world.lifetime(slot), flags, None);
            handles.intersect(object.history.ever());
            let content = Content::Open(world.whole(slot, &handles));
            self.content_lost(world, sequence, slot, generation, &content);
        }
    }
}
