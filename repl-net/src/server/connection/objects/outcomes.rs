//! What arrived or was lost, as far as it changes the states of objects (R4).
//!
//! *Invariant:* an ack or a loss changes only what the packet carried of the object in its current phase.

use repl_core::{Changelist, PropertyIndex};

use super::ObjectStates;
use super::tracked::{Phase, ProxyNews};
use crate::server::world::World;
use crate::transport::sequence::Sequence;
use crate::transport::slot_set::slots_of;

/// What the loss of an opening means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LostOpening {
    /// Nothing: it is older than the object, or a later packet carries the object too.
    Ignored,
    /// The whole object must be sent again.
    Unsent,
    /// The client has the object by another opening, and may lack the values of this one.
    Values,
}

impl ObjectStates {
    /// The packet `sequence` arrived with openings of pending spawns, or of any objects if it had been given
    /// up. Some of the pending spawns may be tracked by now. Each tracked object has the first packet that may
    /// have opened it, so earlier packets about the same slot have no effect.
    pub(crate) fn openings_arrived(&mut self, sequence: Sequence, word: usize, mask: u64) {
        let here = self.pending_spawns.arrived(word, mask);
        self.out_of_step.remove_mask(word, here & !self.view.own.word(word));
        for slot in slots_of(word, mask & !here & self.known.word(word)) {
            self.proxy_arrived(slot, sequence);
            self.opening_arrived(slot, sequence, &Changelist::new());
        }
    }

    /// The objects of `mask` in a word of slots that the client knows from their first spawn.
    pub(crate) fn spawns_in(&self, word: usize, mask: u64) -> u64 {
        mask & self.known.word(word) & !self.pending_spawns.used.word(word)
    }

    /// The packet `sequence` arrived with `list` of an object.
    pub(crate) fn list_arrived(&mut self, slot: u32, sequence: Sequence, list: &Changelist) {
        if let Some(tracked) = self.tracked.get_mut(slot) {
            tracked.new_elements.arrived(sequence, list);
            self.settle(slot);
        }
    }

    /// The packet `sequence` arrived with the whole object, or what its list says of it.
    pub(crate) fn opening_arrived(&mut self, slot: u32, sequence: Sequence, list: &Changelist) {
        match self.tracked.get_mut(slot).filter(|tracked| tracked.since <= sequence) {
            Some(tracked) if tracked.phase == Phase::Opening => {
                tracked.phase = Phase::Open;
                if tracked.lacks_something() {
                    self.to_send.insert(slot);
                }
            }
            Some(tracked) if tracked.phase == Phase::Unsent => tracked.has_arrived = true,
            _ => {}
        }
        self.list_arrived(slot, sequence, list);
    }

    /// A packet with the opening of an object was lost.
    pub(crate) fn opening_lost(&mut self, slot: u32, sequence: Sequence) -> LostOpening {
        let opening = self.tracked.get(slot).filter(|tracked| tracked.phase == Phase::Opening);
        let Some(since) = opening.map(|tracked| tracked.since) else {
            self.proxy_lost(slot, sequence);
            return LostOpening::Values;
        };
        if sequence < since {
            return LostOpening::Ignored;
        }
        // A blob contains them too, but the blob may be dropped while the client has the object by an earlier
        // opening.
        self.proxy_lost(slot, sequence);
        // A blob may have begun without room for any of its parts. It still counts as an opening in flight.
        match self.tracked.get_mut(slot) {
            Some(tracked) if tracked.blob.is_none() && tracked.carried <= sequence => {
                tracked.phase = Phase::Unsent;
            }
            _ => return LostOpening::Ignored,
        }
        self.must_send(slot);
        LostOpening::Unsent
    }

    /// A packet with the closes of objects was lost: those that no later packet closes must be closed again.
    pub(crate) fn closes_lost(&mut self, sequence: Sequence, word: usize, mask: u64) {
        for slot in slots_of(word, mask & self.known.word(word)) {
            let is_carried_later = self.tracked.get(slot).is_some_and(|tracked| tracked.carried > sequence);
            if self.is_closing(slot, sequence) && !is_carried_later {
                self.must_send(slot);
            }
        }
    }

    /// A packet arrived that may have contained owner and role of an object.
    pub(crate) fn proxy_arrived(&mut self, slot: u32, sequence: Sequence) {
        if let Some(tracked) = self.tracked.get_mut(slot)
            && let ProxyNews::Unsent(since) | ProxyNews::Sent(since, _) = tracked.proxy
            && since <= sequence
        {
            tracked.proxy = ProxyNews::Settled;
        }
    }

    /// A packet with owner and role of an object was lost. If no later packet has them, they must be sent
    /// again.
    pub(crate) fn proxy_lost(&mut self, slot: u32, sequence: Sequence) {
        if let Some(tracked) = self.tracked.get_mut(slot)
            && let ProxyNews::Sent(since, last) = tracked.proxy
            && last <= sequence
        {
            tracked.proxy = ProxyNews::Unsent(since);
            self.must_send(slot);
        }
    }

    /// The blob of an object arrived. If the object has no other one by now, what waited may be sent.
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

    /// Lost changes are pending again, as far as the client may see them; it lacks the `unseen` properties.
    /// `prune` removes from a list what does not exist any more.
    pub(crate) fn put_back(
        &mut self,
        slot: u32,
        mut list: Changelist,
        unseen: impl Iterator<Item = PropertyIndex>,
        prune: impl FnOnce(&mut Changelist),
    ) {
        let tracked = self.track(slot);
        unseen.for_each(|property| tracked.set_left(property, 0));
        prune(&mut tracked.pending);
        // The pending list is newer, so it wins.
        list.merge(&tracked.pending);
        tracked.pending = list;
        self.must_send(slot);
    }

    /// No packet in flight can show that new elements arrived: those that were removed are forgotten.
    pub(crate) fn prune_new_elements(&mut self, world: &World) {
        let slots: Vec<u32> = self.with_new_elements.iter().collect();
        for slot in slots {
            if let Some(tracked) = self.tracked.get_mut(slot)
                && !tracked.is_closing()
            {
                tracked.new_elements.prune(|list| world.prune(slot, list));
                self.settle(slot);
            }
        }
    }
}
