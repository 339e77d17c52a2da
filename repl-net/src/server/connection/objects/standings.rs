//! A few bits for each object: whether the client has it, whether it is in step, whether something of it must
//! be sent, encoded separately for this client, and whether its first opening is in flight.
//!
//! A *pending spawn* is an object with the default view that is sent to the client for the first time. A
//! client that joins receives thousands of objects at once. Each of them takes only bits until its opening is
//! acknowledged. If anything else happens to a pending spawn, it is [tracked](super::Tracked).
//!
//! A *plain removal* is an object that was removed from the server and for which the client must receive
//! nothing but the closing, for example a shot that never changed. It takes only bits until its closing is
//! acknowledged. If the closing is lost, the object is tracked. A subobject may be a plain removal without a
//! closing of its own: then the client removes it with its parent.
//!
//! *Invariant:* only the named transitions of [`Standings`] change these bits, and after each of them
//! [`Words::check`] holds. A pending spawn and a plain removal are sent at most once. A packet in flight
//! about their slots is about the same object, unless its generation differs.

use repl_core::__private::preload_all;
use repl_link::parts::Sequence;

use super::known::KnownObjects;
use super::tracked::Phase;
use crate::body::removal::CloseReason;
use crate::body::slot_set::{SlotSet, bit_of, word_of};
use crate::body::sparse_slots::SparseSlots;

/// The bits of 64 objects. Each word has one bit for each object, and the bit means what the word's
/// description says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Words {
    /// The client has the object, is receiving it, or must still remove it.
    pub known: u64,
    /// The object is known, but not in step. All other known objects are in step: their changes reach the
    /// client by shared segments and tables.
    pub out_of_step: u64,
    /// Data of the object must be sent, encoded separately for this client, not in shared segments or tables.
    pub to_send: u64,
    /// A pending spawn that was not sent yet.
    pub unsent: u64,
    /// A pending spawn whose opening is in flight.
    pub opening: u64,
    /// The client has removed an object from this slot, and no newborn object was shown in the slot since
    /// then. A packet about the removed object may be in flight.
    pub used: u64,
    /// A tracked object that had unacknowledged new elements when its state last changed.
    pub with_new_elements: u64,
    /// A plain removal: the object was destroyed, and only its closing must be sent. The closing waits, or is
    /// in flight for the first time.
    pub plain_removals: u64,
}

impl Words {
    /// Returns the pending spawns.
    pub(super) fn pending(self) -> u64 {
        self.unsent | self.opening
    }

    /// Asserts how the words depend on each other.
    fn check(self) {
        let Self { known, out_of_step, to_send, unsent, opening, .. } = self;
        let Self { used, with_new_elements, plain_removals, .. } = self;
        let alone = out_of_step | to_send | with_new_elements;
        assert_eq!((alone | self.pending()) & !known, 0, "only what is known is sent: {self:x?}");
        assert_eq!(self.pending() & !out_of_step, 0, "what has not arrived is out of step: {self:x?}");
        assert_eq!(to_send & unsent, 0, "the openings of pending spawns are not sent alone: {self:x?}");
        assert_eq!(unsent & opening, 0, "a pending spawn is sent once: {self:x?}");
        assert_eq!(unsent & used, 0, "a pending spawn is new to the client: {self:x?}");
        assert_eq!(plain_removals & !(known & out_of_step), 0, "what is removed is not in step: {self:x?}");
        let more = self.pending() | used | with_new_elements;
        assert_eq!(plain_removals & more, 0, "a plain removal says nothing else: {self:x?}");
    }
}

/// The bits of all objects. Each word of [`Words`] is stored in its own set. Almost all objects are known and
/// in step, and then only one set has members.
#[derive(Debug, Default)]
pub(super) struct Standings {
    known: KnownObjects,
    out_of_step: SparseSlots,
    to_send: SparseSlots,
    unsent: SparseSlots,
    opening: SparseSlots,
    with_new_elements: SparseSlots,
    /// The bits of objects that the client has removed or must remove. `None` if there are none.
    removed: Option<Box<RemovedObjects>>,
}

/// The bits of objects that the client has removed or must remove.
#[derive(Debug, Default)]
struct RemovedObjects {
    /// The slots whose objects the client has removed since `boundary` was the next packet.
    used: SparseSlots,
    /// The slots whose objects the client has removed earlier. All packets about these objects have lower
    /// numbers than `boundary`.
    used_before: SparseSlots,
    boundary: Sequence,
    plain: SparseSlots,
}

static NONE_REMOVED: RemovedObjects = RemovedObjects {
    used: SparseSlots::EMPTY,
    used_before: SparseSlots::EMPTY,
    boundary: Sequence::new(0),
    plain: SparseSlots::EMPTY,
};

impl RemovedObjects {
    fn used_in(&self, word: usize) -> u64 {
        self.used.word(word) | self.used_before.word(word)
    }
}

impl Standings {
    pub(super) fn words(&self, word: usize) -> Words {
        Words {
            known: self.known.word(word),
            out_of_step: self.out_of_step.word(word),
            to_send: self.to_send.word(word),
            unsent: self.unsent.word(word),
            opening: self.opening.word(word),
            used: self.removed().used_in(word),
            with_new_elements: self.with_new_elements.word(word),
            plain_removals: self.removed().plain.word(word),
        }
    }

    pub(super) fn known(&self) -> &KnownObjects {
        &self.known
    }

    pub(super) fn out_of_step(&self) -> &SparseSlots {
        &self.out_of_step
    }

    pub(super) fn to_send(&self) -> &SparseSlots {
        &self.to_send
    }

    pub(super) fn unsent(&self) -> &SparseSlots {
        &self.unsent
    }

    pub(super) fn with_new_elements(&self) -> &SparseSlots {
        &self.with_new_elements
    }

    fn removed(&self) -> &RemovedObjects {
        self.removed.as_deref().unwrap_or(&NONE_REMOVED)
    }

    pub(super) fn plain_removals(&self) -> &SparseSlots {
        &self.removed().plain
    }

    #[inline]
    pub(super) fn is_in_step(&self, slot: u32) -> bool {
        self.known.contains(slot) && (self.out_of_step.is_empty() || !self.out_of_step.contains(slot))
    }

    /// Returns the objects in a word (of 64 slots) that are in step (up to date, in the default view).
    #[inline]
    pub(super) fn in_step_in(&self, word: usize) -> u64 {
        self.known.word(word) & !self.out_of_step.word(word)
    }

    pub(super) fn pending_in(&self, word: usize) -> u64 {
        self.unsent.word(word) | self.opening.word(word)
    }

    pub(super) fn is_pending(&self, slot: u32) -> bool {
        self.unsent.contains(slot) || self.opening.contains(slot)
    }

    /// Returns the phase of a pending spawn (an object new to the client) or a plain removal (a closing
    /// without other data).
    fn phase(&self, slot: u32) -> Option<Phase> {
        if self.unsent.contains(slot) {
            return Some(Phase::Unsent);
        }
        if self.removed().plain.contains(slot) {
            return Some(Phase::Closing(CloseReason::Destroyed));
        }
        self.opening.contains(slot).then_some(Phase::Opening)
    }

    /// Preloads the sets that every pass reads, without their members.
    pub(super) fn preload(&self) {
        let Self { known, out_of_step, to_send, unsent, with_new_elements, .. } = self;
        preload_all(known);
        [out_of_step, to_send, unsent, with_new_elements].into_iter().for_each(preload_all);
    }

    fn check(&self, word: usize) {
        if cfg!(debug_assertions) {
            self.words(word).check();
        }
    }
}

/// The transitions: each method records the event that its description states.
impl Standings {
    /// The session begins, and the objects of `spawns` are its first pending spawns (objects new to the
    /// client).
    pub(super) fn begin(&mut self, word: usize, spawns: u64) {
        self.known.insert_mask(word, spawns);
        self.out_of_step.insert_mask(word, spawns);
        self.unsent.insert_mask(word, spawns);
        self.check(word);
    }

    /// An object becomes known. It becomes a pending spawn if `may_be_pending` is true and the object is new
    /// to the client: either its slot was not used before, or `is_newborn` is true. Otherwise its opening
    /// must be encoded separately for this client. Returns whether it is a pending spawn.
    pub(super) fn show(&mut self, slot: u32, may_be_pending: bool, is_newborn: bool) -> bool {
        let mut is_pending = may_be_pending;
        let (word, bit) = (word_of(slot), bit_of(slot));
        if let Some(removed) = self.removed.as_mut().filter(|removed| removed.used_in(word) & bit != 0) {
            is_pending &= is_newborn;
            if is_pending {
                removed.used.remove_mask(word, bit);
                removed.used_before.remove_mask(word, bit);
            }
        }
        self.known.insert(slot);
        self.out_of_step.insert(slot);
        if is_pending {
            self.unsent.insert(slot);
        } else {
            self.to_send.insert(slot);
        }
        self.check(word_of(slot));
        is_pending
    }

    /// A closing must be sent for an object, although the client may not have it.
    pub(super) fn remove_there(&mut self, slot: u32) {
        self.known.insert(slot);
        self.must_send(slot);
    }

    /// Data of an object must be sent, encoded separately for this client, not in shared segments or tables.
    pub(super) fn must_send(&mut self, slot: u32) {
        self.out_of_step.insert(slot);
        self.to_send.insert(slot);
        self.check(word_of(slot));
    }

    /// Changes of known objects must be sent, encoded separately for this client. Objects that are in step
    /// stay in step.
    pub(super) fn send_alone(&mut self, word: usize, mask: u64) {
        self.to_send.insert_mask(word, mask);
        self.check(word);
    }

    /// The waiting data of an object is sent now.
    pub(super) fn begin_sending(&mut self, slot: u32) {
        self.to_send.remove(slot);
    }

    /// The openings of pending spawns (objects new to the client) were sent.
    pub(super) fn spawns_sent(&mut self, word: usize, mask: u64) {
        self.unsent.remove_mask(word, mask);
        self.opening.insert_mask(word, mask);
        self.check(word);
    }

    /// The openings of the objects in `mask` have arrived. The pending spawns among them are in step from now
    /// on, except those in `own`. Returns these pending spawns.
    pub(super) fn spawns_arrived(&mut self, word: usize, mask: u64, own: u64) -> u64 {
        let here = mask & self.opening.word(word);
        self.opening.remove_mask(word, here);
        self.out_of_step.remove_mask(word, here & !own);
        self.check(word);
        here
    }

    /// Returns whether an object can become a plain removal (a closing without other data) now: it is in step
    /// (up to date, in the default view), or a pending spawn that was sent, and its slot is new to the
    /// client.
    pub(super) fn is_removable_plainly(&self, slot: u32) -> bool {
        let (word, bit) = (word_of(slot), bit_of(slot));
        let lacking = self.to_send.word(word) | self.with_new_elements.word(word);
        let others = lacking | self.out_of_step.word(word) & !self.opening.word(word);
        bit & self.known.word(word) & !(others | self.removed().used_in(word)) != 0
    }

    /// An object that is [removable plainly](Self::is_removable_plainly) is destroyed, and becomes a plain
    /// removal. If `goes_with_parent` is true, it has no closing of its own, because the closing of its
    /// parent also removes it.
    pub(super) fn remove_plainly(&mut self, slot: u32, goes_with_parent: bool) {
        debug_assert!(self.is_removable_plainly(slot), "slot {slot}");
        self.opening.remove(slot);
        self.out_of_step.insert(slot);
        self.removed.get_or_insert_default().plain.insert(slot);
        if !goes_with_parent {
            self.to_send.insert(slot);
        }
        self.check(word_of(slot));
    }

    /// The plain removals in `mask` were sent.
    pub(super) fn removals_sent(&mut self, word: usize, mask: u64) {
        self.to_send.remove_mask(word, mask);
    }

    /// The client has removed the objects in `mask`. Forgets the plain removals among them, and returns them.
    pub(super) fn plain_removals_arrived(&mut self, word: usize, mask: u64) -> u64 {
        let removed = mask & self.removed().plain.word(word);
        if removed != 0 {
            self.forget(word, removed);
        }
        removed
    }

    /// An object is tracked from now on: the connection stores more than these bits about it. Returns its
    /// phase if it was a pending spawn or a plain removal.
    pub(super) fn track(&mut self, slot: u32) -> Option<Phase> {
        let phase = self.phase(slot)?;
        self.unsent.remove(slot);
        self.opening.remove(slot);
        self.removed.iter_mut().for_each(|removed| removed.plain.remove(slot));
        if phase == Phase::Unsent {
            self.to_send.insert(slot);
        }
        self.check(word_of(slot));
        Some(phase)
    }

    /// A known object is not in step any more.
    pub(super) fn leave_step(&mut self, slot: u32) {
        self.out_of_step.insert(slot);
        self.check(word_of(slot));
    }

    /// A tracked object has new elements in flight.
    pub(super) fn note_new_elements(&mut self, slot: u32) {
        self.with_new_elements.insert(slot);
        self.check(word_of(slot));
    }

    /// Everything of an object that can be sent was sent. `is_in_step` says whether the object is in step
    /// now.
    pub(super) fn settle(&mut self, slot: u32, is_in_step: bool, has_new_elements: bool) {
        self.with_new_elements.set(slot, has_new_elements);
        self.out_of_step.set(slot, self.known.contains(slot) && !is_in_step);
        if is_in_step {
            // From now on, shared segments contain the object's changes. If the connection also sent these
            // changes alone, one packet would contain the object twice.
            self.to_send.remove(slot);
        }
        self.check(word_of(slot));
    }

    /// The client has removed the objects in `mask`.
    pub(super) fn forget(&mut self, word: usize, mask: u64) {
        self.known.remove_mask(word, mask);
        let Self { out_of_step, to_send, unsent, opening, with_new_elements, removed, .. } = self;
        let removed = removed.get_or_insert_default();
        removed.used.insert_mask(word, mask);
        [out_of_step, to_send, unsent, opening, with_new_elements, &mut removed.plain]
            .into_iter()
            .for_each(|set| set.remove_mask(word, mask));
        self.check(word);
    }

    /// No packet is in flight, and late acks (of packets that counted as lost) have no effect any more.
    /// Therefore no packet can be about an earlier object, and all used slots are forgotten.
    pub(super) fn forget_used(&mut self) {
        if let Some(removed) = &mut self.removed {
            (removed.used, removed.used_before) = (SparseSlots::default(), SparseSlots::default());
        }
        self.removed.take_if(|removed| removed.plain.is_empty());
    }

    /// Forgets the used slots if all packets about their former objects are older than `floor`, the oldest
    /// packet that is neither acknowledged nor counted as lost. `next` is the next packet. Returns the packet
    /// before which late acks may have no effect any more, if slots were forgotten.
    pub(super) fn forget_used_before(&mut self, floor: Sequence, next: Sequence) -> Option<Sequence> {
        let removed = self.removed.as_mut().filter(|removed| removed.boundary <= floor)?;
        removed.used_before = std::mem::take(&mut removed.used);
        Some(std::mem::replace(&mut removed.boundary, next))
    }

    /// Checks whether the client has all objects that exist, and stores the result, as
    /// [`KnownObjects::find_complete`] describes.
    pub(super) fn find_complete(&mut self, alive: &SlotSet, spawned: u64) {
        self.known.find_complete(alive, spawned);
    }

    /// Frees memory that was not needed recently.
    pub(super) fn end_round(&mut self) {
        self.known.shrink();
        let Self { out_of_step, to_send, unsent, opening, with_new_elements, removed, .. } = self;
        let removed = removed.iter_mut().flat_map(|removed| {
            let RemovedObjects { used, used_before, plain, .. } = &mut **removed;
            [used, used_before, plain]
        });
        let sets = [out_of_step, to_send, unsent, opening, with_new_elements];
        sets.into_iter().chain(removed).for_each(SparseSlots::shrink);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r17_what_the_client_may_have_had_is_no_pending_spawn_while_something_is_in_flight() {
        let mut standings = Standings::default();
        assert!(standings.show(3, true, false));
        standings.forget(0, bit_of(3));
        assert!(!standings.show(3, true, false) && !standings.is_pending(3));
        standings.forget(0, bit_of(3));
        assert!(standings.show(3, true, true) && standings.is_pending(3));
        assert_eq!(standings.words(0).used, 0);
        standings.forget(0, bit_of(3));
        assert_eq!(standings.words(0).used, bit_of(3));
        standings.forget_used();
        assert!(standings.show(3, true, false) && standings.is_pending(3));
    }

    #[test]
    #[should_panic = "a pending spawn is new to the client"]
    fn a_pending_spawn_in_a_slot_that_was_in_use_is_a_mistake() {
        let mut standings = Standings::default();
        standings.show(3, false, false);
        standings.forget(0, bit_of(3));
        standings.begin(word_of(3), bit_of(3));
    }
}
