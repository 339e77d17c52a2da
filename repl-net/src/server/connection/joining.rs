//! Whether everything has arrived that was there when the client joined.
//!
//! *Invariant:* nothing counts as arrived before the packet with it is acknowledged: the opening, and the items and entries that followed
//! it in packets of their own.

use std::collections::BTreeMap;

use super::newcomers::Newcomers;
use crate::server::tracked::{Phase, Tracked, TrackedObjects};
use crate::transport::sequence::Sequence;
use crate::transport::slot_set::{SlotSet, slots_of};

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

    /// Whether everything has arrived; all packets before `floor` are resolved, and `next` is made next. O(objects
    /// that have not).
    pub(super) fn is_over(
        &mut self,
        newcomers: &Newcomers,
        tracked: &TrackedObjects,
        floor: Sequence,
        next: Sequence,
    ) -> bool {
        let Self { lacking, all_sent, is_over } = self;
        if *is_over {
            return true;
        }
        let mut arrived = Vec::new();
        for (word, mask) in lacking.masks() {
            for slot in slots_of(word, mask & !newcomers.in_word(word)) {
                if tracked.get(slot).is_none_or(|tracked| is_there(tracked, all_sent, floor, next)) {
                    arrived.push(slot);
                }
            }
        }
        arrived.into_iter().for_each(|slot| lacking.remove(slot));
        if lacking.is_empty() {
            *self = Self { is_over: true, ..Self::default() };
        }
        self.is_over
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
