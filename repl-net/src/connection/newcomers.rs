//! Newcomers: objects on their way to a client that sees them like most, of which nothing need be known but that.
//!
//! A client that joins gets thousands at once. They cost a bit in one of two sets until their opening is acknowledged; whatever else
//! happens to one of them makes it a tracked object like others.
//!
//! Invariant: a newcomer is known, apart and not tracked; it is sent at most once, and never in a slot that this client had in use before,
//! so that what is under way of a slot tells nothing of another object.

use repl_core::{Changelist, ViewFlags};

use super::{Connection, PassContext};
use crate::in_flight::Content;
use crate::openings::SMALL_OPEN_BITS;
use crate::segment::Birth;
use crate::sequence::Sequence;
use crate::slot_set::{SlotSet, masks_between, slots_of};
use crate::tracked::{Phase, Tracked};
use crate::world::World;

/// The newcomers of a connection.
#[derive(Debug, Default)]
pub(crate) struct Newcomers {
    /// Those of which nothing was sent.
    waiting: SlotSet,
    /// Those whose opening is under way.
    opening: SlotSet,
    /// Slots that the client has had in use.
    used: SlotSet,
}

impl Newcomers {
    /// The newcomers of a word of slots of which nothing was sent.
    pub(super) fn waiting_in(&self, word: usize) -> u64 {
        self.waiting.word(word)
    }

    /// The newcomers of a word of slots.
    pub(super) fn in_word(&self, word: usize) -> u64 {
        self.waiting.word(word) | self.opening.word(word)
    }

    pub(super) fn contains(&self, slot: u32) -> bool {
        self.waiting.contains(slot) || self.opening.contains(slot)
    }

    pub(super) fn is_waiting(&self, slot: u32) -> bool {
        self.waiting.contains(slot)
    }

    /// Takes in an object that is new to the client; `false` if its slot is not.
    pub(super) fn welcome(&mut self, slot: u32) -> bool {
        let is_new = !self.used.contains(slot);
        if is_new {
            self.waiting.insert(slot);
        }
        is_new
    }

    /// Takes in the objects of a word of slots; none of them was in use.
    pub(super) fn welcome_mask(&mut self, word: usize, mask: u64) {
        debug_assert!(self.used.word(word) & mask == 0, "a slot that was in use");
        self.waiting.insert_mask(word, mask);
    }

    /// Lets an object go: how far it has come.
    pub(super) fn part(&mut self, slot: u32) -> Option<Phase> {
        if self.waiting.contains(slot) {
            self.waiting.remove(slot);
            return Some(Phase::Unsent);
        }
        let is_opening = self.opening.contains(slot);
        self.opening.remove(slot);
        is_opening.then_some(Phase::Opening)
    }

    /// The client has had the slot in use, and has not any more.
    pub(super) fn retire(&mut self, slot: u32) {
        self.part(slot);
        self.used.insert(slot);
    }

    fn sent(&mut self, word: usize, mask: u64) {
        self.waiting.remove_mask(word, mask);
        self.opening.insert_mask(word, mask);
    }
}

impl Connection {
    /// What is remembered of an object that the client has or is getting.
    pub(super) fn track(&mut self, world: &World, slot: u32) -> &mut Tracked {
        let phase = self.newcomers.part(slot);
        if phase == Some(Phase::Unsent) {
            self.needs.insert(slot);
        }
        let generation = world.objects[slot as usize].generation;
        self.tracked.entry(slot, || {
            let mut tracked = Tracked::new(slot, generation, phase.unwrap_or(Phase::Open));
            // Only small ones are sent as newcomers.
            tracked.open_bits = usize::from(tracked.phase == Phase::Opening);
            tracked.opened_with_items = tracked.phase == Phase::Opening;
            tracked
        })
    }

    /// Before a comparison: openings that go again with each change until one is acknowledged tell what goes with openings alone as it is by
    /// then (S40). O(objects apart), if any class has such properties.
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

    /// Sends the newcomers, in runs that are the same for whoever lacks the same.
    pub(super) fn send_newcomers(&mut self, context: &mut PassContext<'_>) {
        if self.newcomers.waiting.is_empty() || self.outbox.is_exhausted() {
            return;
        }
        let mut slots = std::mem::take(&mut context.scratch.slots);
        slots.clear();
        slots.extend(self.newcomers.waiting.iter());
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
            let birth = Birth {
                origin: run.head.origin,
                handles: &run.head.handles,
                count: context.world.column(run.head.class).program().handles(),
                classes: classes.len(),
            };
            let Some(sent) = self.outbox.run(run.first, &birth, run.sizes(), context.now) else { break };
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

    /// A packet arrived that opened newcomers: the client has them.
    pub(super) fn newcomers_arrived(
        &mut self,
        world: &mut World,
        sequence: Sequence,
        word: usize,
        mask: u64,
    ) {
        let here = mask & self.newcomers.opening.word(word);
        self.newcomers.opening.remove_mask(word, here);
        self.apart.remove_mask(word, here & !self.own_view.word(word));
        // The others are tracked by now.
        let others = mask & !here & self.known.word(word) & !self.newcomers.used.word(word);
        for slot in slots_of(word, others) {
            let generation = world.objects[slot as usize].generation;
            self.content_arrived(world, sequence, slot, generation, &Content::Open(Changelist::new()));
        }
    }

    /// A packet was lost that opened newcomers: from here on they are tracked.
    pub(super) fn newcomers_lost(&mut self, world: &mut World, sequence: Sequence, word: usize, mask: u64) {
        for slot in slots_of(word, mask & self.known.word(word) & !self.newcomers.used.word(word)) {
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
