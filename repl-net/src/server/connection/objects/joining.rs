//! Tracks the progress of joining: whether all objects that existed when the client joined have arrived, and
//! whether the client knows which static objects were destroyed before.
//!
//! *Invariant:* an object counts as arrived only when all packets with its opening and with its first items
//! and entries are acknowledged.

use std::collections::BTreeMap;

use repl_link::parts::Sequence;

use super::standings::Standings;
use super::tracked::{Phase, Tracked};
use super::tracked_objects::TrackedObjects;
use crate::body::slot_set::{bit_of, slots_of};
use crate::body::sparse_slots::SparseSlots;

/// The data that a client lacks until it has joined: objects, and news of destroyed static objects. `None` if
/// it lacks nothing. In a box, because a connection needs it only for a short time.
#[derive(Debug)]
pub(super) struct Joining(Option<Box<Missing>>);

/// The data that has not arrived yet.
#[derive(Debug, Default)]
struct Missing {
    /// Objects of which the client still lacks some content that existed when the client connected.
    lacking: SparseSlots,
    /// Objects of which all content that existed when the client connected was sent, each with the number of
    /// the next packet after this content.
    all_sent: BTreeMap<u32, Sequence>,
    /// Slots of destroyed static objects that the client must still be told about.
    news: SparseSlots,
}

impl Joining {
    /// Returns the state at the start, in which nothing has arrived.
    pub(super) fn new() -> Self {
        Self(Some(Box::default()))
    }

    /// Adds the objects of `mask`, which the client must receive before it has joined.
    pub(super) fn begin(&mut self, word: usize, mask: u64) {
        self.0.iter_mut().for_each(|missing| missing.lacking.insert_mask(word, mask));
    }

    /// Adds the slot of a destroyed static object that the client must still be told about.
    pub(super) fn await_news(&mut self, slot: u32) {
        self.0.iter_mut().for_each(|missing| missing.news.insert(slot));
    }

    /// Returns whether all objects that existed when the client connected have arrived, and whether the
    /// client was told of the static objects that were destroyed before. The caller states that all packets
    /// before `floor` were acknowledged or counted as lost, and that `next` is the next packet to send. Costs
    /// O(objects and news that have not arrived).
    pub(super) fn is_over(
        &mut self,
        standings: &Standings,
        tracked: &TrackedObjects,
        floor: Sequence,
        next: Sequence,
    ) -> bool {
        let Some(missing) = &mut self.0 else { return true };
        let Missing { lacking, all_sent, news } = &mut **missing;
        let mut arrived = Vec::new();
        for (word, mask) in lacking.masks() {
            let sent = mask & !standings.pending_in(word);
            let is_absent = |&slot: &u32| {
                tracked.get(slot).is_some_and(|tracked| !is_there(slot, tracked, all_sent, floor, next))
            };
            let absent = slots_of(word, sent).filter(is_absent).fold(0, |mask, slot| mask | bit_of(slot));
            arrived.push((word, sent & !absent));
        }
        arrived.into_iter().for_each(|(word, mask)| lacking.remove_mask(word, mask));
        let is_told = |slot: &u32| !tracked.get(*slot).is_some_and(Tracked::is_closing);
        let told: Vec<u32> = news.iter().filter(is_told).collect();
        told.into_iter().for_each(|slot| news.remove(slot));
        if lacking.is_empty() && news.is_empty() {
            self.0 = None;
        }
        self.0.is_none()
    }
}

/// Returns whether the client has everything that the object had when the client connected. The caller states
/// that all packets before `floor` were acknowledged or counted as lost, and that `next` is the next packet
/// to send.
fn is_there(
    slot: u32,
    tracked: &Tracked,
    all_sent: &mut BTreeMap<u32, Sequence>,
    floor: Sequence,
    next: Sequence,
) -> bool {
    match tracked.phase {
        Phase::Unsent | Phase::Opening => false,
        Phase::Closing(_) => true,
        Phase::Open if tracked.lacks_new_elements() => {
            all_sent.remove(&slot);
            false
        }
        Phase::Open => {
            let end = all_sent.entry(slot).or_insert(next);
            // New elements that were sent again are recorded only for the newest packet that contains them,
            // so this packet must also arrive.
            *end = (*end).max(tracked.new_elements.repeated.map_or(*end, Sequence::next));
            tracked.new_elements.oldest(floor).is_none_or(|oldest| oldest >= *end)
        }
    }
}
