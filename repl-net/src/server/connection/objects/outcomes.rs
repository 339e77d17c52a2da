//! The outcomes of packets: how arrived and lost packets change the states of objects (R4).
//!
//! *Invariant:* an ack or a loss of a packet affects the state of an object only if the object is still in
//! the phase in which the packet was sent.

use repl_core::{Changelist, PropertyIndex};
use repl_link::parts::Sequence;

use super::ObjectStates;
use super::tracked::{AfterClosing, Phase, ProxyState};
use crate::body::slot_set::slots_of;
use crate::server::world::World;

/// What the connection must do after the loss of an opening (first update).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LostOpening {
    /// Nothing, because the opening belongs to an earlier object in the slot, or because a later packet also
    /// contains the opening.
    Ignored,
    /// The whole object must be sent again.
    Unsent,
    /// The client has the object from another opening, and may lack the values of the lost opening.
    Values,
}

impl ObjectStates {
    /// Records that the packet `sequence` with openings has arrived. These are openings of pending spawns. If
    /// the packet already counted as lost, they may be openings of any objects. Some of the pending spawns
    /// may be tracked by now. Each tracked object stores the number of the first packet that may contain its
    /// opening. So the acks of earlier packets do not count as acks of this opening.
    pub(crate) fn openings_arrived(&mut self, sequence: Sequence, word: usize, mask: u64) {
        let here = self.standings.spawns_arrived(word, mask, self.view.own.word(word));
        for slot in slots_of(word, mask & !here & self.standings.known().word(word)) {
            self.proxy_arrived(slot, sequence);
            self.opening_arrived(slot, sequence, &Changelist::new());
        }
    }

    /// Returns the objects of `mask` that are known, whose slots this client has not used before, and that
    /// are not plain removals (closings without other data).
    pub(crate) fn spawns_in(&self, word: usize, mask: u64) -> u64 {
        let words = self.standings.words(word);
        mask & words.known & !(words.used | words.plain_removals)
    }

    /// Records that the packet `sequence` with the changes `list` of an object has arrived.
    pub(crate) fn list_arrived(&mut self, slot: u32, sequence: Sequence, list: &Changelist) {
        if let Some(tracked) = self.tracked.get_mut(slot) {
            tracked.new_elements.arrived(sequence, list);
            self.update_step(slot);
        }
    }

    /// Records that the packet `sequence` with an opening of an object has arrived. The argument `list`
    /// contains the properties in the opening.
    pub(crate) fn opening_arrived(&mut self, slot: u32, sequence: Sequence, list: &Changelist) {
        match self.tracked.get_mut(slot).filter(|tracked| tracked.since <= sequence) {
            Some(tracked) if tracked.phase == Phase::Opening => {
                tracked.phase = Phase::Open;
                if tracked.lacks_something() {
                    self.standings.must_send(slot);
                }
            }
            Some(tracked) if tracked.phase == Phase::Unsent => tracked.arrived_late = true,
            _ => {}
        }
        self.list_arrived(slot, sequence, list);
    }

    /// Handles the loss of a packet with the opening of an object.
    pub(crate) fn opening_lost(&mut self, slot: u32, sequence: Sequence) -> LostOpening {
        let opening = self.tracked.get(slot).filter(|tracked| tracked.phase == Phase::Opening);
        let Some(since) = opening.map(|tracked| tracked.since) else {
            self.proxy_lost(slot, sequence);
            return LostOpening::Values;
        };
        if sequence < since {
            return LostOpening::Ignored;
        }
        // A blob with an opening of the object also contains the owner and the role. Such a blob may be
        // dropped, although the client has the object from an earlier opening.
        self.proxy_lost(slot, sequence);
        // A blob with the opening may have begun in a packet that had no room for any part of the blob. A
        // blob without sent parts still counts as an opening in flight.
        match self.tracked.get_mut(slot) {
            Some(tracked) if tracked.blob.is_none() && tracked.carried <= sequence => {
                tracked.phase = Phase::Unsent;
            }
            _ => return LostOpening::Ignored,
        }
        self.must_send(slot);
        LostOpening::Unsent
    }

    /// Handles the loss of a packet with closings, which make the client remove objects. The closing of an
    /// object must be sent again, unless a later packet also contains it.
    pub(crate) fn closes_lost(&mut self, sequence: Sequence, word: usize, mask: u64) {
        for slot in slots_of(word, mask & self.standings.plain_removals().word(word)) {
            let tracked = self.track(slot);
            (tracked.since, tracked.carried) = (sequence, sequence);
            tracked.after_closing = AfterClosing::FamilyIsGone;
        }
        for slot in slots_of(word, mask & self.standings.known().word(word)) {
            let is_carried_later = self.tracked.get(slot).is_some_and(|tracked| tracked.carried > sequence);
            if self.is_closing(slot, sequence) && !is_carried_later {
                self.must_send(slot);
            }
        }
    }

    /// Records that a packet has arrived that may have contained the owner and role of an object.
    pub(crate) fn proxy_arrived(&mut self, slot: u32, sequence: Sequence) {
        if let Some(tracked) = self.tracked.get_mut(slot)
            && let ProxyState::Unsent(since) | ProxyState::Sent(since, _) = tracked.proxy
            && since <= sequence
        {
            tracked.proxy = ProxyState::UpToDate;
        }
    }

    /// Handles the loss of a packet with the owner and role of an object. If no later packet contains the
    /// owner and role, they must be sent again.
    pub(crate) fn proxy_lost(&mut self, slot: u32, sequence: Sequence) {
        if let Some(tracked) = self.tracked.get_mut(slot)
            && let ProxyState::Sent(since, last) = tracked.proxy
            && last <= sequence
        {
            tracked.proxy = ProxyState::Unsent(since);
            self.must_send(slot);
        }
    }

    /// Records that the blob (data in several parts) with an update of an object has arrived. If no newer
    /// blob of the object has begun, the waiting changes of the object may be sent.
    pub(crate) fn blob_arrived(&mut self, slot: u32, blob: u32) {
        if let Some(tracked) = self.tracked.get_mut(slot)
            && tracked.blob == Some(blob)
        {
            tracked.blob = None;
            if tracked.lacks_something() {
                self.must_send(slot);
            }
        }
    }

    /// Makes lost changes pending again, if the client may see them. The argument `unseen` contains the lost
    /// properties that the client may not see now. The argument `prune` removes changes of elements that do
    /// not exist any more from a changelist.
    pub(crate) fn return_to_pending(
        &mut self,
        slot: u32,
        mut list: Changelist,
        unseen: impl Iterator<Item = PropertyIndex>,
        prune: impl FnOnce(&mut Changelist),
    ) {
        let tracked = self.track(slot);
        unseen.for_each(|property| tracked.set_left(property, 0));
        prune(&mut tracked.pending);
        // The pending changelist is newer than the lost changelist, so its changes replace lost changes.
        list.merge(&tracked.pending);
        tracked.pending = list;
        tracked.waiting_blob_bytes = 0;
        self.must_send(slot);
    }

    /// Drops unacknowledged new elements that were removed from their objects. Call `prune_new_elements` when
    /// no ack can show any more that the elements have arrived.
    pub(crate) fn prune_new_elements(&mut self, world: &World) {
        let slots: Vec<u32> = self.standings.with_new_elements().iter().collect();
        for slot in slots {
            if let Some(tracked) = self.tracked.get_mut(slot)
                && !tracked.is_closing()
            {
                tracked.new_elements.prune(|list| world.store.prune(slot, list));
                self.update_step(slot);
            }
        }
    }
}
