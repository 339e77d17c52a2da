//! Sending: how the states of objects change when data is sent or must wait.
//!
//! *Invariant:* each change of a tick is sent, pending, waiting, or in the history of the object after the
//! position that the connection stores (S86).

use std::time::Duration;

use repl_core::{Changelist, HandleSet, Portions};
use repl_link::parts::Sequence;

use super::tracked::{Phase, ProxyState};
use super::{ObjectStates, View};
use crate::body::slot_set::{SlotSet, bit_of, bits, slots_of, word_of};
use crate::body::sparse_slots::SparseSlots;
use crate::server::not_sent::NotSent;
use crate::server::world::World;

/// The data that an opening (first update) does not contain.
#[derive(Debug)]
pub(crate) struct OpeningRemainder {
    /// Changes that are sent after the ack of the opening.
    pub(crate) after_ack: Changelist,
    /// The collections in `after_ack` that conditions may hide after the opening. They are sent nevertheless,
    /// because the opening did not contain their items.
    pub(crate) owed: HandleSet,
    pub(crate) has_items: bool,
}

impl ObjectStates {
    /// Records the objects that changed in this tick. The changes of objects out of step must be encoded
    /// separately for this client, because it lacks more of these objects than the changes of this tick, or
    /// does not see them in the default view. Skips pending spawns that were not sent yet (their openings
    /// contain the changes) and the objects that `later` returns (their changes
    /// [wait for their band](Self::wait_for_band)).
    pub(crate) fn changed<'a>(
        &mut self,
        slots: &SlotSet,
        list: impl Fn(u32) -> Option<&'a Changelist>,
        later: impl Fn(&Self, usize, u64) -> u64,
    ) {
        for (at, summary) in slots.summaries() {
            for word in bits(summary & self.standings.with_new_elements().summary(at)).map(word_in(at)) {
                let mask = slots.word(word) & self.standings.with_new_elements().word(word);
                for slot in slots_of(word, mask) {
                    let tracked = self.tracked.get(slot).zip(list(slot));
                    if tracked.is_some_and(|(tracked, list)| tracked.new_elements.are_changed_by(list)) {
                        self.standings.leave_step(slot);
                    }
                }
            }
            for word in bits(summary & self.standings.out_of_step().summary(at)).map(word_in(at)) {
                let alone = self.standings.out_of_step().word(word) & !self.standings.unsent().word(word);
                let changed = slots.word(word) & alone;
                if changed != 0 {
                    let later = later(self, word, changed);
                    self.standings.send_alone(word, changed & !later);
                }
            }
        }
    }

    /// Returns the objects of the mask `changed` whose changes of this tick the client receives later,
    /// because the connection has a long period for their cells. These changes [wait](crate::server::later)
    /// together with the changes of earlier ticks, and are sent when they are due. Only objects that the
    /// client sees like most clients wait. Costs O(1) if there are no long periods.
    pub(crate) fn wait_for_band(&self, world: &World, word: usize, changed: u64) -> u64 {
        if !world.cells.have_bands() {
            return 0;
        }
        let waits = slots_of(word, changed).filter(|&slot| self.waits_for_band(world, slot));
        waits.fold(0, |mask, slot| mask | bit_of(slot))
    }

    /// Returns whether a change of an object [waits for its band](Self::wait_for_band).
    pub(crate) fn waits_for_band(&self, world: &World, slot: u32) -> bool {
        let is_shared = || self.has_arrived(slot) && self.view.is_shared(slot);
        let band = || self.view.band_of_object(world, slot);
        world.cells.have_bands() && is_shared() && band().is_some_and(|band| band.period > 1)
    }

    /// Returns whether a changelist changes new elements of an object that the client may lack, so that these
    /// elements must be sent whole (R2).
    pub(crate) fn are_new_elements_changed(&self, slot: u32, list: &Changelist) -> bool {
        self.standings.with_new_elements().contains(slot)
            && self.tracked.get(slot).is_some_and(|tracked| tracked.new_elements.are_changed_by(list))
    }

    /// Records that neither a shared segment nor a table contains the change of an object, so that the change
    /// must be encoded separately for this client.
    pub(crate) fn changed_alone(&mut self, slot: u32) {
        if self.is_in_step(slot) {
            self.standings.send_alone(word_of(slot), bit_of(slot));
        }
    }

    /// Replaces `slots` by the objects of which something must be sent, encoded separately for this client.
    /// If a blob waits until it can begin, the order of the objects rotates from tick to tick. Without the
    /// rotation, the objects in the first slots would begin all blobs.
    pub(crate) fn order_to_send(&mut self, slots: &mut Vec<u32>) {
        slots.clear();
        slots.extend(self.standings.to_send().iter());
        if self.take_blob_waits() && !slots.is_empty() {
            let start = slots.partition_point(|&slot| slot <= self.last_blob) % slots.len();
            slots.rotate_left(start);
        }
    }

    /// Returns whether data of an object must be sent, encoded separately for this client, or whether the
    /// object is a pending spawn (an object new to the client) that was not sent yet.
    pub(crate) fn must_be_sent(&self, slot: u32) -> bool {
        self.waiting_sets().into_iter().any(|waiting| waiting.contains(slot))
    }

    /// Returns the objects of which something must be sent, encoded separately for this client, and the
    /// pending spawns that were not sent yet.
    pub(crate) fn waiting_sets(&self) -> [&SparseSlots; 2] {
        [self.standings.to_send(), self.standings.unsent()]
    }

    pub(crate) fn waiting_count(&self) -> usize {
        let masks = self.waiting_sets().into_iter().flat_map(SparseSlots::masks);
        masks.map(|(_, mask)| mask.count_ones() as usize).sum()
    }

    /// Returns whether the opening (first update) of an object is still to be sent, encoded separately for
    /// this client.
    pub(crate) fn is_unsent(&self, slot: u32) -> bool {
        self.tracked.get(slot).is_some_and(|tracked| tracked.phase == Phase::Unsent)
    }

    /// Returns why waiting data of an object is not sent, or `None` if nothing waits.
    pub(crate) fn why_not_sent(&self, slot: u32) -> Option<NotSent> {
        let is_held = self.tracked.get(slot).is_some_and(|tracked| {
            let is_opening = tracked.phase == Phase::Opening && !tracked.repeats_opening();
            tracked.blob.is_some() || is_opening || tracked.is_closing()
        });
        let waits = self.waiting_sets().into_iter().any(|waiting| waiting.contains(slot));
        match (is_held, waits) {
            (true, _) => Some(NotSent::Unacknowledged),
            (false, true) => Some(NotSent::Budget),
            (false, false) => None,
        }
    }

    /// Returns the objects of `slots` that are in step (up to date, in the default view), as words with bit
    /// masks, without the objects of which something must be sent, encoded separately for this client.
    pub(crate) fn shared_words<'a>(&'a self, slots: &'a SlotSet) -> impl Iterator<Item = (usize, u64)> + 'a {
        let (out_of_step, to_send) = (self.standings.out_of_step(), self.standings.to_send());
        let alone = |word| out_of_step.word(word) | to_send.word(word);
        self.standings.known().masks_in(slots).map(move |(word, mask)| (word, mask & !alone(word)))
    }

    /// Returns the objects of `slots` that are known, as words with bit masks, without the pending spawns
    /// that were not sent yet.
    pub(crate) fn known_in<'a>(&'a self, slots: &'a SlotSet) -> impl Iterator<Item = (usize, u64)> + 'a {
        let waiting = self.standings.unsent();
        self.standings.known().masks_in(slots).map(|(word, mask)| (word, mask & !waiting.word(word)))
    }

    /// Begins to send the waiting data of an object. After this call, the caller sends the object, or
    /// [marks](Self::must_send) it again.
    pub(crate) fn begin_sending(&mut self, slot: u32) {
        self.standings.begin_sending(slot);
        self.wake_to_send(slot);
    }

    /// Records that an object must be sent as a blob (data in several parts) of `bytes` bytes, but that the
    /// blob cannot begin yet.
    pub(crate) fn wait_for_blob(&mut self, slot: u32, bytes: usize) {
        self.must_send(slot);
        self.track(slot).waiting_blob_bytes = bytes;
        self.blob_waits = true;
    }

    /// Ends the wait of an object until its blob begins. Returns the number of bytes of the blob. Returns
    /// `None` if the object did not wait, or if it now has something else to send. `is_unchanged` says
    /// whether the object has no changes since it began to wait.
    pub(crate) fn take_waiting_blob(&mut self, slot: u32, is_unchanged: bool) -> Option<usize> {
        let tracked = self.tracked.get_mut(slot)?;
        let bytes = std::mem::take(&mut tracked.waiting_blob_bytes);
        let has_nothing_else = match tracked.phase {
            Phase::Unsent => true,
            Phase::Open => is_unchanged && tracked.proxy == ProxyState::UpToDate,
            Phase::Opening | Phase::Closing(_) => false,
        };
        (has_nothing_else && bytes > 0).then_some(bytes)
    }

    /// Returns whether any object has waited for the start of its blob since the last call.
    pub(crate) fn take_blob_waits(&mut self) -> bool {
        std::mem::take(&mut self.blob_waits)
    }

    /// Makes an object tracked if it is a pending spawn (an object new to the client). If a pending spawn was
    /// not sent yet, it must be encoded separately for this client.
    pub(crate) fn leave_spawns(&mut self, slot: u32) {
        if self.is_pending_spawn(slot) {
            self.track(slot);
            self.check(slot);
        }
    }

    pub(crate) fn spawns_sent(&mut self, word: usize, mask: u64) {
        self.standings.spawns_sent(word, mask);
    }

    /// Records that the packet `sequence` contains the opening (first update) of an object. The argument
    /// `bits` is the number of bits of the opening, and `remainder` is the data that the opening does not
    /// contain. Returns the connection's position in the history of the object, which the caller must
    /// release.
    pub(crate) fn opening_sent(
        &mut self,
        slot: u32,
        sequence: Sequence,
        bits: usize,
        remainder: OpeningRemainder,
    ) -> Option<u64> {
        let tracked = self.tracked.get_mut(slot)?;
        tracked.carried = sequence;
        tracked.opened_with_items |= remainder.has_items;
        tracked.open_bits = bits;
        tracked.pending = remainder.after_ack;
        // An earlier opening may arrive and this one may be lost, so the collections of earlier openings
        // remain in `owed`.
        if !remainder.owed.is_empty() {
            tracked.owed.get_or_insert_default().union(&remainder.owed);
        }
        tracked.portions.clear();
        tracked.phase = Phase::Opening;
        tracked.position.take()
    }

    /// Records that the packet `sequence` contains the closing of an object, which makes the client remove
    /// the object.
    pub(crate) fn close_sent(&mut self, slot: u32, sequence: Sequence, now: Duration) {
        if let Some(tracked) = self.tracked.get_mut(slot) {
            tracked.carried = sequence;
            tracked.closing_since.get_or_insert(now);
        }
    }

    /// Records that the closing of an object waits, for example until the client has acknowledged the calls
    /// on the object.
    pub(crate) fn close_waits(&mut self, slot: u32, now: Duration) {
        self.close_begins(slot, now);
        self.must_send(slot);
    }

    /// Records that the closing of an object is being sent from now on.
    pub(crate) fn close_begins(&mut self, slot: u32, now: Duration) {
        if let Some(tracked) = self.tracked.get_mut(slot) {
            tracked.closing_since.get_or_insert(now);
        }
    }

    /// Records that the packet `sequence` contains the owner and role of an object.
    pub(crate) fn proxy_sent(&mut self, slot: u32, sequence: Sequence) {
        if let Some(tracked) = self.tracked.get_mut(slot)
            && let ProxyState::Unsent(since) | ProxyState::Sent(since, _) = tracked.proxy
        {
            tracked.proxy = ProxyState::Sent(since, sequence);
        }
    }

    /// Records that the packet `sequence` contains new elements of an object.
    pub(crate) fn new_elements_sent(
        &mut self,
        world: &World,
        slot: u32,
        sequence: Sequence,
        elements: Changelist,
    ) {
        if elements.is_empty() {
            return;
        }
        let tracked = self.track(slot);
        tracked.new_elements.sent(sequence, elements);
        if tracked.new_elements.are_many() {
            tracked.new_elements.prune(|list| world.store.prune(slot, list));
        }
        if !tracked.is_up_to_date() {
            self.standings.leave_step(slot);
        }
        self.standings.note_new_elements(slot);
        self.check(slot);
    }

    /// Records that an update of the object is now being sent as a blob (data in several parts). While a blob
    /// with an update of an object is in flight, nothing else of the object is sent.
    pub(crate) fn blob_begun(&mut self, slot: u32, blob: u32) {
        self.track(slot).blob = Some(blob);
        self.last_blob = slot;
        self.standings.leave_step(slot);
    }

    /// Returns the handle of the property that was last sent as a blob, or zero. The handle of a property is
    /// its first handle.
    pub(crate) fn last_large(&self, slot: u32) -> u32 {
        self.tracked.get(slot).map_or(0, |tracked| tracked.last_large)
    }

    /// Records that a property of an object is sent as a blob. `handle` is the first handle of the property.
    pub(crate) fn large_sent(&mut self, slot: u32, handle: u32) {
        self.track(slot).last_large = handle;
    }

    /// Records that the packet `sequence` contains a part of the blob with an update of the object.
    pub(crate) fn blob_part_sent(&mut self, slot: u32, sequence: Sequence) {
        if let Some(tracked) = self.tracked.get_mut(slot) {
            tracked.carried = sequence;
        }
    }

    /// Records that the blob with an update of the object is no longer sent. Returns the id of the blob, if
    /// there was one.
    pub(crate) fn take_blob(&mut self, slot: u32) -> Option<u32> {
        self.tracked.get_mut(slot)?.blob.take()
    }

    /// Records that a blob with the opening (first update) of an object is no longer sent, so the opening
    /// must be sent again. Returns `false` if the client has the object from another opening, and lacks the
    /// values of this opening.
    pub(crate) fn opening_withdrawn(&mut self, slot: u32) -> bool {
        match self.tracked.get_mut(slot) {
            Some(tracked) if tracked.phase != Phase::Open => tracked.phase = Phase::Unsent,
            _ => return false,
        }
        self.must_send(slot);
        true
    }

    /// Returns whether the connection is behind: it has not sent all changelists in the history of an object.
    pub(crate) fn is_behind(&self, slot: u32) -> bool {
        self.tracked.get(slot).is_some_and(|tracked| tracked.position.is_some())
    }

    /// Records that the connection falls behind: the changes of an object in this tick and later ticks are
    /// not sent now. The argument `position` is the end of the history of the object, and `changed` contains
    /// the changes of this tick that the client may see.
    pub(crate) fn fall_behind(&mut self, slot: u32, position: u64, changed: Changelist) {
        let tracked = self.track(slot);
        debug_assert!(tracked.position.is_none(), "the connection was not behind before");
        tracked.position = Some(position);
        if tracked.pending.is_empty() {
            tracked.pending = changed;
        } else {
            tracked.pending.merge(&changed);
        }
        self.must_send(slot);
        self.check(slot);
    }

    /// Records that the changelist at the position `dropped` was dropped from the full history of an object.
    /// If the connection has not sent this changelist, its changes become pending (R10). Changes of
    /// properties that are not in the result of `mask` are dropped.
    pub(crate) fn evicted(
        &mut self,
        slot: u32,
        dropped: u64,
        list: &Changelist,
        mask: impl FnOnce(&View) -> HandleSet,
    ) {
        if let Some(tracked) = self.tracked.get_mut(slot)
            && let Some(position) = &mut tracked.position
            && *position <= dropped
        {
            *position = dropped + 1;
            let mut list = list.clone();
            list.retain(&mask(&self.view));
            tracked.pending.merge(&list);
        }
    }

    /// Removes and returns the pending changes of an object, and the connection's position in the history of
    /// the object, so that the caller can send the changes.
    pub(crate) fn take_pending(&mut self, slot: u32) -> (Changelist, Option<u64>) {
        let tracked = self.tracked.get_mut(slot);
        tracked.map_or_else(Default::default, |tracked| {
            (std::mem::take(&mut tracked.pending), tracked.position.take())
        })
    }

    /// Removes and returns the waiting changes of the object's collections and maps, so that the caller can
    /// send them.
    pub(crate) fn take_waiting(&mut self, slot: u32) -> Vec<Portions> {
        self.tracked.get_mut(slot).map_or_else(Vec::new, |tracked| std::mem::take(&mut tracked.portions))
    }

    /// Adds a changelist that could not be sent to the pending changes.
    pub(crate) fn add_pending(&mut self, slot: u32, list: &Changelist) {
        if !list.is_empty() {
            self.track(slot).pending.merge(list);
            self.standings.leave_step(slot);
        }
    }

    /// Adds changes of collections and maps that could not be sent to the waiting changes.
    pub(crate) fn add_waiting(&mut self, slot: u32, waiting: &mut Vec<Portions>) {
        let tracked = self.track(slot);
        tracked.portions.append(waiting);
        if tracked.lacks_something() {
            self.must_send(slot);
        }
    }
}

/// Returns a function that converts the position of a word, among the 64 words that begin at index `64 * at`,
/// to the index of the word.
fn word_in(at: u32) -> impl Fn(u32) -> usize {
    move |bit| at as usize * 64 + bit as usize
}
