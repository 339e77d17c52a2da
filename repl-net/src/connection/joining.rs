//! Whether everything has arrived that was there when the client joined.
//!
//! *Invariant:* nothing counts as arrived before the packet with it is acknowledged: the opening, and the items and entries that followed
//! it in packets of their own.

use std::collections::BTreeMap;

use super::{Connection, PassContext};
use crate::events::CloseReason;
use crate::sequence::Sequence;
use crate::slot_set::{SlotSet, slots_of};
use crate::tracked::{Phase, Tracked};

/// What was there when the client joined and has not arrived.
#[derive(Debug, Default)]
pub(super) struct Joining {
    /// Objects of which something has not arrived.
    lacking: SlotSet,
    /// For objects of which all was sent: from which packet on what they carry came later.
    all_sent: BTreeMap<u32, Sequence>,
    /// Whether the client has joined, and has everything.
    is_over: bool,
}

impl Joining {
    /// The client is to have these objects of a word of slots.
    pub(super) fn begin(&mut self, word: usize, mask: u64) {
        self.lacking.insert_mask(word, mask);
    }
}

/// Whether the client has all that the object had when the client joined; all packets before `floor` are resolved, and
/// `next` is made next.
fn is_there(
    tracked: &Tracked,
    all_sent: &mut BTreeMap<u32, Sequence>,
    floor: Sequence,
    next: Sequence,
) -> bool {
    match tracked.phase {
        Phase::Unsent | Phase::Opening => false,
        Phase::Closing(_) => true,
        Phase::Open if tracked.lacks_births() => {
            all_sent.remove(&tracked.slot);
            false
        }
        Phase::Open => {
            let end = all_sent.entry(tracked.slot).or_insert(next);
            // What is sent once more is held for that packet alone, which is to arrive then.
            *end = (*end).max(tracked.reborn.map_or(*end, Sequence::next));
            tracked.oldest_birth(floor).is_none_or(|oldest| oldest >= *end)
        }
    }
}

impl Connection {
    /// Whether everything has arrived that was there when the client joined. O(objects that have not).
    pub(super) fn has_joined(&mut self) -> bool {
        let Joining { lacking, all_sent, is_over } = &mut self.joining;
        if *is_over {
            return true;
        }
        let (floor, next) = (self.outbox.in_flight.floor(), self.outbox.next());
        let mut arrived = Vec::new();
        for (word, mask) in lacking.masks() {
            for slot in slots_of(word, mask & !self.newcomers.in_word(word)) {
                if self.tracked.get(slot).is_none_or(|tracked| is_there(tracked, all_sent, floor, next)) {
                    arrived.push(slot);
                }
            }
        }
        arrived.into_iter().for_each(|slot| lacking.remove(slot));
        if lacking.is_empty() {
            self.joining = Joining { is_over: true, ..Joining::default() };
        }
        self.joining.is_over
    }

    /// Asks for an ack of the news that the client has joined, where nothing else is sent or in flight that does: with the end of an object in a
    /// slot that is empty there, which does nothing (R5). Where the client has an object in each slot, signs of life tell it.
    pub(super) fn ask_whether_joined_is_known(&mut self, context: &PassContext<'_>) {
        if !self.outbox.is_pass_empty() || !self.outbox.is_unsure_of_news() {
            return;
        }
        let slot = self.known.first_absent();
        if (slot as usize) < context.world.limits.max_objects {
            self.write_close(slot, CloseReason::Relevancy, context.now);
        }
    }
}
